/* Shell completion, written from the same tables as the help. */
#include "base/words.h"
#include "cli/verb.h"
#include "conformance/checks.h"
#include "paper/paper.h"
#include "report/report_figures.h"

#include <string.h>

typedef struct completion_options {
    ss_common_options common;
} completion_options;

/* ---- what may follow ----------------------------------------------------------------------------- */

/* Names that stand for a word of the help, such as SOLVER, with a separator after each; none for others. */
static void put_names(ss_text *text, const char *word, const char *separator)
{
    for (int i = 0; strstr(word, "SOLVER") && i < ss_solver_count(); i++)
        ss_text_appendf(text, "%s%s", ss_solver_at(i)->name, separator);
    for (int i = 0; strstr(word, "FORMULATION") && i < ss_formulation_count(); i++)
        ss_text_appendf(text, "%s%s", ss_formulation_at(i)->name, separator);
    for (int i = 0; strstr(word, "METRIC") && i < ss_metric_count(); i++)
        ss_text_appendf(text, "%s%s", ss_metric_at(i)->name, separator);
    for (int i = 0; strstr(word, "SCENE") && i < ss_scene_count(); i++)
        ss_text_appendf(text, "%s%s", ss_scene_at(i)->name, separator);
    for (int i = 0; strstr(word, "ID") && ss_papers[i]; i++)
        ss_text_appendf(text, "%s%s", ss_papers[i]->id, separator);
    if (strstr(word, "ID")) ss_text_appendf(text, "all%s", separator);
    for (const ss_verb *const *verb = ss_verbs; strstr(word, "VERB") && *verb; verb++)
        ss_text_appendf(text, "%s%s", (*verb)->name, separator);
    for (const ss_report_figure *figure = ss_report_figures; strstr(word, "FIGURE") && figure->name; figure++)
        ss_text_appendf(text, "%s%s", figure->name, separator);
    if (strstr(word, "FIGURE")) ss_text_appendf(text, "list%s", separator);
    for (int i = 0; strstr(word, "CHECK") && i < ss_check_count(); i++)
        ss_text_appendf(text, "%s%s", ss_check_at(i)->name, separator);
    if (strstr(word, "SHELL")) ss_text_appendf(text, "bash%szsh%sfish%s", separator, separator, separator);
}

/* The values of an option, as far as they are known. */
static void put_values(ss_text *text, const ss_option *option)
{
    if (option->type == SS_OPTION_BOOL) return;
    if (option->type != SS_OPTION_CHOICE) {
        put_names(text, ss_option_value_name(option), " ");
        return;
    }
    for (const char *c = option->choices; *c; c++) ss_text_append_bytes(text, *c == '|' ? " " : c, 1);
}

/* Several names in one word, with commas: "-s pgs,nsgs". */
static bool is_list(const ss_option *option)
{
    const char *word = option->type == SS_OPTION_BOOL ? "" : ss_option_value_name(option);
    return strstr(word, ",...") != NULL;
}

static bool names_files(const char *word)
{
    static const char *const words[] = {"FILE", "OUT", "IN", "DIR", "LEDGER", ".db", "MODEL"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(word, words[i])) return true;
    return false;
}

static bool takes_file(const ss_option *option)
{
    return option->type != SS_OPTION_BOOL && option->type != SS_OPTION_CHOICE &&
           names_files(ss_option_value_name(option));
}

/* The first sentence of the help, without what means something to a shell. */
static void put_help(ss_text *text, const ss_option *option)
{
    const char *end = strstr(option->help, ". "), *semicolon = strchr(option->help, ';');
    size_t length = end ? (size_t)(end - option->help) : strlen(option->help);
    if (semicolon && (size_t)(semicolon - option->help) < length) length = (size_t)(semicolon - option->help);
    while (length && option->help[length - 1] == '.') length--;
    for (size_t i = 0; i < length; i++)
        if (!strchr("'\"\\[]`$\n", option->help[i])) ss_text_append_bytes(text, option->help + i, 1);
}

/* ---- bash ---------------------------------------------------------------------------------------- */

static void put_bash(ss_text *text)
{
    ss_text_append(text, "# bash completion for stickslip; made by `stickslip completion bash`\n"
                         "_stickslip() {\n"
                         "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                         "    local verb=${COMP_WORDS[1]} flags= words= files= list= head=\n"
                         "    COMPREPLY=()\n"
                         "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                         "        COMPREPLY=($(compgen -W '");
    put_names(text, "VERB", " ");
    ss_text_append(text, "--help --version' -- \"$current\"))\n"
                         "        return\n"
                         "    fi\n"
                         "    [ \"$current\" != = ] || current=\n"
                         "    [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}\n"
                         "    case $verb:$before in\n");

    // After an option: its values.
    for (const ss_verb *const *verb = ss_verbs; *verb; verb++)
        for (const ss_option_group *group = (*verb)->groups; group->table; group++)
            for (const ss_option *option = group->table; option->name; option++) {
                char flag[64];
                if (option->type == SS_OPTION_BOOL) continue;
                ss_option_flag(option, flag, sizeof flag);
                ss_text_appendf(text, "    %s:--%s", (*verb)->name, flag);
                if (option->letter) ss_text_appendf(text, "|%s:-%c", (*verb)->name, option->letter);
                ss_text_append(text, ") words='");
                put_values(text, option);
                ss_text_appendf(text, "' files=%s list=%s ;;\n", takes_file(option) ? "yes" : "",
                                is_list(option) ? "yes" : "");
            }

    // Elsewhere: the options and arguments of the verb.
    ss_text_append(text, "    *)\n"
                         "    case $verb in\n");
    for (const ss_verb *const *verb = ss_verbs; *verb; verb++) {
        ss_text_appendf(text, "    %s) flags='", (*verb)->name);
        for (const ss_option_group *group = (*verb)->groups; group->table; group++)
            for (const ss_option *option = group->table; option->name; option++) {
                char flag[64];
                ss_option_flag(option, flag, sizeof flag);
                ss_text_appendf(text, " --%s", flag);
                if (option->letter) ss_text_appendf(text, " -%c", option->letter);
            }
        ss_text_append(text, "' words='");
        put_names(text, (*verb)->arguments, " ");
        ss_text_appendf(text, "' files=%s ;;\n", names_files((*verb)->arguments) ? "yes" : "");
    }

    ss_text_append(text, "    esac\n"
                         "    case $current in -*) words=$flags files= ;; esac ;;\n"
                         "    esac\n"
                         "    if [ -n \"$list\" ] && [[ $current == *,* ]]; then\n"
                         "        head=${current%,*}, current=${current##*,}\n"
                         "    fi\n"
                         "    COMPREPLY=($(compgen -P \"$head\" -W \"$words\" -- \"$current\"))\n"
                         "    [ -n \"$files\" ] || return 0\n"
                         "    compopt -o filenames 2>/dev/null\n"
                         "    local found\n"
                         "    mapfile -t found < <(compgen -f -- \"$current\")\n"
                         "    COMPREPLY+=(\"${found[@]}\")\n"
                         "}\n"
                         "complete -F _stickslip stickslip\n");
}

/* ---- zsh ----------------------------------------------------------------------------------------- */

/* "*{-s,--solver}[solver of the problem]:SOLVER:(pgs nsgs)" as _arguments has it; may be given again. */
static void put_zsh_option(ss_text *text, const ss_option *option)
{
    char flag[64];
    ss_option_flag(option, flag, sizeof flag);
    bool has_value = option->type != SS_OPTION_BOOL;
    const char *forms[2] = {flag, NULL};
    char letter[2] = {option->letter, '\0'};
    if (option->letter) forms[1] = letter;

    // Once by its name, once by its letter.
    for (int i = 0; i < 2 && forms[i]; i++) {
        ss_text_appendf(text, " \\\n            '*-%s%s%s[", i == 0 ? "-" : "", forms[i],
                        !has_value ? ""
                        : i == 0   ? "="
                                   : "+");
        put_help(text, option);
        ss_text_append(text, "]");
        if (has_value) {
            ss_text values = {0};
            put_values(&values, option);
            if (takes_file(option))
                ss_text_append(text, ":file:_files");
            else if (is_list(option))
                ss_text_appendf(text, ":name:_values -s , name %s", ss_text_get(&values));
            else
                ss_text_appendf(text, ":value:(%s)", ss_text_get(&values));
            text->out_of_memory |= values.out_of_memory;
            ss_text_free(&values);
        }
        ss_text_append(text, "'");
    }
}

static void put_zsh(ss_text *text)
{
    ss_text_append(text, "#compdef stickslip\n"
                         "# zsh completion for stickslip; made by `stickslip completion zsh`\n"
                         "_stickslip() {\n"
                         "    local -a verbs=(\n");
    for (const ss_verb *const *verb = ss_verbs; *verb; verb++)
        ss_text_appendf(text, "        '%s:%s'\n", (*verb)->name, (*verb)->summary);
    ss_text_append(text, "    )\n"
                         "    if (( CURRENT == 2 )); then\n"
                         "        _describe -t verbs verb verbs\n"
                         "        return\n"
                         "    fi\n"
                         "    shift words\n"
                         "    (( CURRENT-- ))\n"
                         "    case $words[1] in\n");

    // One call of _arguments for each verb.
    for (const ss_verb *const *at = ss_verbs; *at; at++) {
        const ss_verb *verb = *at;
        bool with_files = names_files(verb->arguments);
        ss_text names = {0};
        put_names(&names, verb->arguments, " ");
        ss_text_appendf(text, "    %s)\n        _arguments -s", verb->name);
        for (const ss_option_group *group = verb->groups; group->table; group++)
            for (const ss_option *option = group->table; option->name; option++) put_zsh_option(text, option);
        if (names.length && with_files)
            ss_text_appendf(
                text, " \\\n            '*:argument:_alternative \"names:name:(%s)\" \"files:file:_files\"'",
                ss_text_get(&names));
        else if (names.length)
            ss_text_appendf(text, " \\\n            '*:name:(%s)'", ss_text_get(&names));
        else if (with_files)
            ss_text_append(text, " \\\n            '*:file:_files'");
        ss_text_append(text, " ;;\n");
        text->out_of_memory |= names.out_of_memory;
        ss_text_free(&names);
    }

    ss_text_append(text,
                   "    esac\n"
                   "}\n"
                   "if [ \"$funcstack[1]\" = _stickslip ]; then _stickslip \"$@\"; else compdef _stickslip "
                   "stickslip; fi\n");
}

/* ---- fish ---------------------------------------------------------------------------------------- */

static void put_fish(ss_text *text)
{
    ss_text_append(text,
                   "# fish completion for stickslip; made by `stickslip completion fish`\n"
                   "complete -c stickslip -f\n"
                   "complete -c stickslip -n __fish_use_subcommand -l help -d 'explain the program'\n"
                   "complete -c stickslip -n __fish_use_subcommand -l version -d 'print the version'\n");
    for (const ss_verb *const *at = ss_verbs; *at; at++) {
        const ss_verb *verb = *at;
        ss_text_appendf(text, "complete -c stickslip -n __fish_use_subcommand -a %s -d '%s'\n", verb->name,
                        verb->summary);

        // Its arguments, then its options.
        ss_text names = {0};
        put_names(&names, verb->arguments, " ");
        if (names.length)
            ss_text_appendf(text, "complete -c stickslip -n '__fish_seen_subcommand_from %s' -a '%s'\n",
                            verb->name, ss_text_get(&names));
        if (names_files(verb->arguments))
            ss_text_appendf(text, "complete -c stickslip -n '__fish_seen_subcommand_from %s' -F\n",
                            verb->name);
        for (const ss_option_group *group = verb->groups; group->table; group++)
            for (const ss_option *option = group->table; option->name; option++) {
                char flag[64];
                ss_option_flag(option, flag, sizeof flag);
                ss_text_appendf(text, "complete -c stickslip -n '__fish_seen_subcommand_from %s' -l %s",
                                verb->name, flag);
                if (option->letter) ss_text_appendf(text, " -s %c", option->letter);
                if (takes_file(option))
                    ss_text_append(text, " -rF");
                else if (is_list(option)) {
                    ss_text_append(text, " -xa '(__fish_complete_list , \"printf %s\\\\\\\\n ");
                    put_values(text, option);
                    ss_text_append(text, "\")'");
                } else if (option->type != SS_OPTION_BOOL) {
                    ss_text_append(text, " -xa '");
                    put_values(text, option);
                    ss_text_append(text, "'");
                }
                ss_text_append(text, " -d '");
                put_help(text, option);
                ss_text_append(text, "'\n");
            }
        text->out_of_memory |= names.out_of_memory;
        ss_text_free(&names);
    }
}

/* ---- the verb ------------------------------------------------------------------------------------ */

static const struct {
    const char *name;
    void (*put)(ss_text *text);
} shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};

static int run_completion(const ss_command *command)
{
    ss_unknown unknown = ss_unknown_start("shell", command->arguments[0]);
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, command->arguments[0]) == 0) {
            shells[i].put(&command->out->text);
            return SS_EXIT_DONE;
        }
        ss_unknown_offer(&unknown, shells[i].name);
    }
    ss_error err = {0};
    ss_unknown_fail(&unknown, &err);
    ss_fail_in(&err, "completion");
    return ss_report(&err);
}

static const ss_option_group groups[] = {SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"completion bash >> ~/.bash_completion",
     "complete verbs, options and values with the Tab key in new shells"},
    {"completion zsh > ~/.zfunc/_stickslip", "for zsh, if ~/.zfunc is in fpath"},
    {"completion fish > ~/.config/fish/completions/stickslip.fish", "for fish"},
    {0}};

const ss_verb ss_verb_completion = {
    .name = "completion",
    .summary = "print the completion script for a shell",
    .arguments = "SHELL",
    .description =
        "Prints a script that makes a shell complete verbs, options, their values, the names of scenes, "
        "solvers, formulations, metrics and papers, and files. SHELL is bash, zsh or fish. An installation "
        "puts the scripts where the shells find them.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(completion_options),
    .run = run_completion,
};
