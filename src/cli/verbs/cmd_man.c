/* The man page, written from the same tables as the help: `stickslip man > stickslip.1`. */
#include "cli/terminal/help.h"

#include <string.h>

typedef struct man_options {
    ss_common_options common;
} man_options;

static const char page_date[] = "2026-11-15"; // of the last change in what the page says

/* Appends text for roff: no request at a line start, no character that roff would change. */
static void escape(ss_text *text, const char *words, size_t length)
{
    if (length && (words[0] == '.' || words[0] == '\'')) ss_text_append(text, "\\&");
    for (size_t i = 0; i < length; i++) {
        const char *special = words[i] == '\\'   ? "\\e"
                              : words[i] == '-'  ? "\\-"
                              : words[i] == '\'' ? "\\(aq"
                              : words[i] == '`'  ? "\\(ga"
                              : words[i] == '^'  ? "\\(ha"
                              : words[i] == '~'  ? "\\(ti"
                                                 : NULL;
        if (special)
            ss_text_append(text, special);
        else
            ss_text_append_bytes(text, words + i, 1);
    }
}

static void line(ss_text *text, const char *words)
{
    escape(text, words, strlen(words));
    ss_text_append(text, "\n");
}

/* ".TP", a bold tag, and what it means. */
static void tagged(ss_text *text, const char *tag, const char *words)
{
    ss_text_append(text, ".TP\n.B ");
    line(text, tag);
    line(text, words);
}

static void option_entry(ss_text *text, const ss_option *option)
{
    ss_text head = {0}, words = {0};
    ss_help_option_head(&head, option);
    ss_help_option_words(&words, option);
    tagged(text, ss_text_get(&head), ss_text_get(&words));
    ss_text_free(&head);
    ss_text_free(&words);
}

/* How many verbs have the table, and which is the first. */
static int count_users(const ss_option *table, const ss_verb **first)
{
    int users = 0;
    for (const ss_verb *const *verb = ss_verbs; *verb; verb++)
        for (const ss_option_group *group = (*verb)->groups; group->table; group++) {
            if (group->table != table) continue;
            if (users == 0) *first = *verb;
            users++;
            break;
        }
    return users;
}

static void verb_section(ss_text *text, const ss_verb *verb)
{
    ss_text_appendf(text, ".SS stickslip %s", verb->name);
    ss_text_append(text, *verb->arguments ? " " : "");
    line(text, verb->arguments);
    for (const char *words = verb->description; *words;) {
        const char *gap = strstr(words, "\n\n");
        size_t length = gap ? (size_t)(gap - words) : strlen(words);
        escape(text, words, length);
        ss_text_append(text, gap ? "\n.PP\n" : "\n");
        words += length + (gap ? 2 : 0);
    }

    // Options of its own, then "See also Reading and Common options" for those it shares.
    const ss_verb *first;
    const char *separator = ".PP\nSee also ";
    for (const ss_option_group *group = verb->groups; group->table; group++)
        for (const ss_option *option = group->table; option->name && count_users(group->table, &first) == 1;
             option++)
            option_entry(text, option);
    for (const ss_option_group *group = verb->groups; group->table; group++) {
        if (count_users(group->table, &first) == 1 || !group->title) continue;
        ss_text_appendf(text, "%s%s", separator, group->title);
        separator = " and ";
    }
    ss_text_append(text, ".\n");

    ss_text_append(text, ".PP\nExamples:\n");
    for (const ss_example *example = verb->examples; example->command; example++) {
        ss_text head = {0};
        ss_text_appendf(&head, "stickslip %s", example->command);
        tagged(text, ss_text_get(&head), example->purpose);
        ss_text_free(&head);
    }
}

static void meanings(ss_text *text, const char *title, const ss_meaning *list)
{
    ss_text_appendf(text, ".SH %s\n", title);
    for (; list->name; list++) tagged(text, list->name, list->meaning);
}

static int run_man(const ss_command *command)
{
    ss_text *text = &command->out->text;
    ss_text_appendf(text, ".TH STICKSLIP 1 %s \"stickslip %s\" \"User Commands\"\n", page_date, ss_version());
    ss_text_append(text, ".SH NAME\nstickslip \\- ");
    line(text, ss_program_summary);
    ss_text_append(text, ".SH SYNOPSIS\n.B stickslip\n.I VERB\n[\\fIARGUMENT\\fR]... [\\fIOPTION\\fR]...\n"
                         ".br\n.B stickslip\n.I VERB\n.B \\-\\-help\n"
                         ".br\n.B stickslip \\-\\-version\n");
    ss_text_append(text, ".SH DESCRIPTION\n");
    line(text,
         "Results go to standard output, with --json in machine-readable form; everything else goes to "
         "standard error. Values are given as --name value or --name=value; --no-flag switches a flag off; "
         "-- ends the options.");
    ss_text_append(text, ".SH VERBS\n");
    for (const ss_verb *const *verb = ss_verbs; *verb; verb++) verb_section(text, *verb);

    // Options that several verbs understand are explained once, where the first of them has them.
    ss_text_append(text, ".SH SHARED OPTIONS\n");
    const ss_verb *first;
    for (const ss_verb *const *verb = ss_verbs; *verb; verb++)
        for (const ss_option_group *group = (*verb)->groups; group->table; group++) {
            if (count_users(group->table, &first) == 1 || first != *verb) continue;
            if (group->title) ss_text_appendf(text, ".SS %s\n", group->title);
            for (const ss_option *option = group->table; option->name; option++) option_entry(text, option);
        }
    meanings(text, "EXIT STATUS", ss_exit_meanings);
    meanings(text, "ENVIRONMENT", ss_environment_meanings);
    return SS_EXIT_DONE;
}

static const ss_option_group groups[] = {SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"man > stickslip.1", "write the page to a file"}, {"man | man -l -", "read it directly"}, {0}};

const ss_verb ss_verb_man = {
    .name = "man",
    .summary = "print the manual page (roff)",
    .arguments = "",
    .description =
        "Prints the manual page of the program, with all its verbs, for man(1). An installation puts it "
        "where man finds it.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(man_options),
    .run = run_man,
};
