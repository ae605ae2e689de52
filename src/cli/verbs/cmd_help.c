#include "cli/terminal/help.h"

typedef struct help_options {
    ss_common_options common;
} help_options;

static int run_help(const ss_command *command)
{
    if (command->argument_count == 0) {
        ss_help_program(command->out);
        return SS_EXIT_DONE;
    }
    const char *name = command->arguments[0];
    const ss_verb *verb = ss_verb_find(name), *meant = ss_verb_nearest(name);
    if (verb) {
        ss_help_verb(command->out, verb);
        return SS_EXIT_DONE;
    }
    if (meant)
        ss_complain("stickslip: help: unknown verb '%s'; did you mean %s?", name, meant->name);
    else
        ss_complain("stickslip: help: unknown verb '%s'", name);
    return SS_EXIT_USAGE;
}

static const ss_option_group groups[] = {SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"help", "list the verbs"}, {"help convert", "explain one of them"}, {0}};

const ss_verb ss_verb_help = {
    .name = "help",
    .summary = "explain the program or one of its verbs",
    .arguments = "[VERB]",
    .description = "Prints the list of verbs, or the help of one verb, as stickslip VERB --help does.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(help_options),
    .run = run_help,
};
