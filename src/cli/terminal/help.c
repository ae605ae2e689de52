#include "cli/terminal/help.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#define COLUMNS 79
#define OPTION_INDENT 6

const char ss_program_summary[] = "create, solve and judge frictional contact problems of multibody systems";

const ss_meaning ss_exit_meanings[] = {
    {"0", "success"},
    {"1", "completed, but problems were found"},
    {"2", "usage: an unknown verb or option, or an invalid value"},
    {"3", "bad input: a file that cannot be read, or whose contents are wrong"},
    {"4", "out of resources: memory, disk space, a set limit, or the output pipe was closed"},
    {0}};

const ss_meaning ss_environment_meanings[] = {
    {"NO_COLOR", "if set and not empty, terminal output is not coloured"},
    {"SS_NO_SANDBOX",
     "if 1, files are read in the main process, for debuggers and sanitizers; normally a child process "
     "reads them, so that a file that crashes the HDF5 library does no harm"},
    {0}};

/* ---- text in columns ----------------------------------------------------------------------------- */

static void wrap(ss_text *text, const char *words, size_t length, size_t indent, size_t column)
{
    ss_text_wrap(text, words, length, indent, column, COLUMNS);
}

void ss_help_wrap(ss_text *text, const char *words, size_t indent)
{
    ss_text_appendf(text, "%*s", (int)indent, "");
    wrap(text, words, strlen(words), indent, indent);
}

void ss_help_entry(ss_text *text, const char *name, size_t name_columns, const char *words)
{
    ss_text_appendf(text, "  %-*s  ", (int)name_columns, name);
    wrap(text, words, strlen(words), name_columns + 4, name_columns + 4);
}

static void heading(ss_out *out, const char *title)
{
    ss_text_appendf(&out->text, "%s%s%s\n", ss_out_style(out, SS_STYLE_HEADING), title,
                    ss_out_style(out, SS_STYLE_PLAIN));
}

/* ---- options ------------------------------------------------------------------------------------- */

void ss_help_option_head(ss_text *text, const ss_option *option)
{
    char flag[64];
    ss_option_flag(option, flag, sizeof flag);
    if (option->letter) ss_text_appendf(text, "-%c, ", option->letter);
    ss_text_appendf(text, "--%s", flag);
    if (ss_option_value_name(option)) ss_text_appendf(text, " %s", ss_option_value_name(option));
}

void ss_help_option_words(ss_text *text, const ss_option *option)
{
    size_t length = strlen(option->help);
    if (length) ss_text_appendf(text, "%c%s", toupper((unsigned char)option->help[0]), option->help + 1);
    if (length && option->help[length - 1] != '.') ss_text_append(text, ".");
    if (!option->default_value) return;
    if (option->type != SS_OPTION_BOOL) {
        ss_text_appendf(text, " Default: %s.", option->default_value);
    } else if (strcmp(option->default_value, "true") == 0) {
        char flag[64];
        ss_option_flag(option, flag, sizeof flag);
        ss_text_appendf(text, " On unless --no-%s is given.", flag);
    }
}

/* ---- pages --------------------------------------------------------------------------------------- */

void ss_help_verb(ss_out *out, const ss_verb *verb)
{
    ss_text *text = &out->text;
    ss_text_appendf(text, "stickslip %s - %s\n\n", verb->name, verb->summary);
    heading(out, "Usage");
    ss_text_appendf(text, "  stickslip %s%s%s [OPTION]...\n\n", verb->name, *verb->arguments ? " " : "",
                    verb->arguments);

    // The description, paragraph by paragraph.
    for (const char *words = verb->description; *words;) {
        const char *gap = strstr(words, "\n\n");
        size_t length = gap ? (size_t)(gap - words) : strlen(words);
        wrap(text, words, length, 0, 0);
        ss_text_append(text, "\n");
        words += length + (gap ? 2 : 0);
    }

    // The options, under the headings of their groups.
    for (const ss_option_group *group = verb->groups; group->table; group++) {
        if (group->title && group != verb->groups) ss_text_append(text, "\n");
        if (group->title) heading(out, group->title);
        for (const ss_option *option = group->table; option->name; option++) {
            ss_text words = {0};
            ss_text_append(text, "  ");
            ss_help_option_head(text, option);
            ss_text_append(text, "\n");
            ss_help_option_words(&words, option);
            ss_help_wrap(text, ss_text_get(&words), OPTION_INDENT);
            ss_text_free(&words);
        }
    }

    ss_text_append(text, "\n");
    heading(out, "Examples");
    for (const ss_example *example = verb->examples; example->command; example++) {
        ss_text_appendf(text, "  stickslip %s\n", example->command);
        ss_help_wrap(text, example->purpose, OPTION_INDENT);
    }
}

static void list_verbs(ss_text *text)
{
    for (const ss_verb *const *verb = ss_verbs; *verb; verb++)
        ss_help_entry(text, (*verb)->name, 12, (*verb)->summary);
}

void ss_help_program(ss_out *out)
{
    ss_text *text = &out->text;
    ss_text_appendf(text, "stickslip - %s\n\n", ss_program_summary);
    heading(out, "Usage");
    ss_text_append(text, "  stickslip VERB [ARGUMENT]... [OPTION]...\n"
                         "  stickslip VERB --help\n"
                         "  stickslip --help | --version\n\n");
    heading(out, "Verbs");
    list_verbs(text);
    ss_text_append(text, "\nResults go to standard output (--json: machine-readable), everything else\n"
                         "to standard error (--quiet: errors only).\n\n");
    heading(out, "Exit codes");
    for (const ss_meaning *exit = ss_exit_meanings; exit->name; exit++)
        ss_help_entry(text, exit->name, 12, exit->meaning);
    ss_text_append(text, "\n");
    heading(out, "Environment");
    for (const ss_meaning *variable = ss_environment_meanings; variable->name; variable++)
        ss_help_entry(text, variable->name, 13, variable->meaning);
}

void ss_help_verbs_on_stderr(void)
{
    ss_out out = ss_out_open(STDERR_FILENO);
    ss_text_append(&out.text, "Verbs:\n");
    list_verbs(&out.text);
    ss_text_append(&out.text, "Try 'stickslip --help'.\n");
    ss_out_finish(&out);
}
