/* Shell completion, written from the same tables as the help. */
#include "cli/verb.h"
#include "paper/paper.h"

#include <string.h>

typedef struct completion_options {
    ss_common_options common;
} completion_options;

static void put_flags(ss_text *text, const ss_verb *verb)
{
    for (const ss_option_group *group = verb->groups; group->table; group++)
        for (const ss_option *option = group->table; option->name; option++) {
            char flag[64];
            ss_option_flag(option, flag, sizeof flag);
            ss_text_appendf(text, " --%s", flag);
        }
}

static void put_words(ss_text *text, const char *words_with_bars)
{
    for (const char *c = words_with_bars; *c; c++) ss_text_append_bytes(text, *c == '|' ? " " : c, 1);
}

/* Names that stand for a word of the help, such as SOLVER; nothing for other words. */
static void put_names(ss_text *text, const char *word)
{
    for (int i = 0; strstr(word, "SOLVER") && i < ss_solver_count(); i++)
        ss_text_appendf(text, "%s ", ss_solver_at(i)->name);
    for (int i = 0; strstr(word, "FORMULATION") && i < ss_formulation_count(); i++)
        ss_text_appendf(text, "%s ", ss_formulation_at(i)->name);
    for (int i = 0; strstr(word, "METRIC") && i < ss_metric_count(); i++)
        ss_text_appendf(text, "%s ", ss_metric_at(i)->name);
    for (int i = 0; strstr(word, "ID") && ss_papers[i]; i++) ss_text_appendf(text, "%s ", ss_papers[i]->id);
}

static bool is_file(const char *word)
{
    return strstr(word, "FILE") || strstr(word, "OUT") || strstr(word, "DIR");
}

/* What may follow each option that takes a value. */
static void put_values(ss_text *text, const ss_verb *verb)
{
    for (const ss_option_group *group = verb->groups; group->table; group++)
        for (const ss_option *option = group->table; option->name; option++) {
            if (option->type == SS_OPTION_BOOL) continue;
            char flag[64];
            ss_option_flag(option, flag, sizeof flag);
            ss_text_appendf(text, "    %s:--%s) words='", verb->name, flag);
            const char *word = ss_option_value_name(option);
            if (option->type == SS_OPTION_CHOICE)
                put_words(text, option->choices);
            else
                put_names(text, word);
            ss_text_appendf(text, "' files=%s ;;\n", is_file(word) ? "yes" : "");
        }
}

static void put_verbs(ss_text *text)
{
    for (const ss_verb *const *verb = ss_verbs; *verb; verb++)
        ss_text_appendf(text, "%s%s", verb == ss_verbs ? "" : " ", (*verb)->name);
}

/* A verb's arguments are files, verbs, the name of a shell, or names of what there is. */
static void put_arguments(ss_text *text, const ss_verb *verb)
{
    ss_text_appendf(text, "    %s) flags='", verb->name);
    put_flags(text, verb);
    ss_text_append(text, "' words='");
    if (strstr(verb->arguments, "VERB")) put_verbs(text);
    if (strstr(verb->arguments, "SHELL")) ss_text_append(text, "bash");
    put_names(text, verb->arguments);
    ss_text_appendf(text, "' files=%s ;;\n", verb->reads_files ? "yes" : "");
}

static void put_bash(ss_text *text)
{
    ss_text_append(text, "# bash completion for stickslip; made by `stickslip completion bash`\n"
                         "_stickslip() {\n"
                         "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}\n"
                         "    local verb=${COMP_WORDS[1]} flags= words= files=\n"
                         "    COMPREPLY=()\n"
                         "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
                         "        COMPREPLY=($(compgen -W '");
    put_verbs(text);
    ss_text_append(text, " --help --version' -- \"$current\"))\n"
                         "        return\n"
                         "    fi\n"
                         "    [ \"$current\" != = ] || current=\n"
                         "    [ \"$before\" != = ] || before=${COMP_WORDS[COMP_CWORD-2]}\n"
                         "    case $verb:$before in\n");
    for (const ss_verb *const *verb = ss_verbs; *verb; verb++) put_values(text, *verb);
    ss_text_append(text, "    *)\n"
                         "    case $verb in\n");
    for (const ss_verb *const *verb = ss_verbs; *verb; verb++) put_arguments(text, *verb);
    ss_text_append(text, "    esac ;;\n"
                         "    esac\n"
                         "    case $current in -*) words=$flags files= ;; esac\n"
                         "    COMPREPLY=($(compgen -W \"$words\" -- \"$current\"))\n"
                         "    [ -n \"$files\" ] || return 0\n"
                         "    compopt -o filenames 2>/dev/null\n"
                         "    mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
                         "}\n"
                         "complete -F _stickslip stickslip\n");
}

static int run_completion(const ss_command *command)
{
    if (strcmp(command->arguments[0], "bash") != 0) {
        ss_complain("stickslip: completion: unknown shell '%s'; expected bash", command->arguments[0]);
        return SS_EXIT_USAGE;
    }
    put_bash(&command->out->text);
    return SS_EXIT_DONE;
}

static const ss_option_group groups[] = {SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"completion bash > ~/.local/share/bash-completion/completions/stickslip",
     "complete verbs, options and values with the Tab key in new shells"},
    {0}};

const ss_verb ss_verb_completion = {
    .name = "completion",
    .summary = "print the completion script for a shell",
    .arguments = "SHELL",
    .description =
        "Prints a script that makes a shell complete verbs, options and option values. SHELL is bash. An "
        "installation puts the script where bash finds it.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(completion_options),
    .run = run_completion,
};
