/* The command line: finds the verb, parses its options and runs it; see verb.h. */
#include "cli/program.h"

#include "cli/arguments.h"
#include "cli/extensions.h"
#include "cli/sandbox.h"
#include "cli/help.h"
#include "cli/input.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

static int fail_usage(const ss_error *err, const char *verb)
{
    int code = ss_report(err);
    if (code == SS_EXIT_USAGE) ss_complain("Try 'stickslip %s%s--help'.", verb, *verb ? " " : "");
    return code;
}

static int unknown_word(const char *word)
{
    ss_error err;
    const ss_verb *meant = ss_verb_nearest(word);
    const char *kind = word[0] == '-' ? "option" : "verb";
    if (meant)
        ss_fail(&err, SS_ERROR_USAGE, "unknown %s '%s'; did you mean %s?", kind, word, meant->name);
    else
        ss_fail(&err, SS_ERROR_USAGE, "unknown %s '%s'", kind, word);
    return fail_usage(&err, "");
}

/* Runs in one process and gives the result away. */
static int run_here(int (*work)(const ss_command *), const ss_command *command)
{
    int code = work(command);
    return ss_out_finish(command->out) ? code : SS_EXIT_RESOURCES;
}

static int explain(const ss_command *command)
{
    ss_help_verb(command->out, command->verb);
    return SS_EXIT_DONE;
}

static int run(const ss_command *command)
{
    if (((const ss_common_options *)command->options)->help) return run_here(explain, command);
    if (!command->verb->reads_files) return run_here(ss_run_extended, command);
    const ss_input_options *source = ss_input_options_of(command);
    ss_sandbox sandbox = {.verb = command->verb->name,
                          .file = command->arguments[0],
                          .max_megabytes = source ? source->max_memory : 0,
                          .max_seconds = source ? source->max_time : 0};
    return ss_sandbox_run(&sandbox, ss_run_extended, command);
}

static int run_verb(const ss_verb *verb, int count, char *const *words)
{
    ss_out out = ss_out_open(STDOUT_FILENO);
    ss_command command = {.out = &out};
    ss_error err;
    int code =
        ss_arguments_parse(verb, count, words, &command, &err) ? run(&command) : fail_usage(&err, verb->name);
    ss_arguments_free(&command);
    return code;
}

static int print(void (*content)(ss_out *out))
{
    ss_out out = ss_out_open(STDOUT_FILENO);
    content(&out);
    return ss_out_finish(&out) ? SS_EXIT_DONE : SS_EXIT_RESOURCES;
}

static void print_version(ss_out *out)
{
    ss_text_appendf(&out->text, "stickslip %s (%s)\n", ss_version(), ss_build());
}

int ss_program_main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN); // a reader that leaves early is a failed write, see ss_out_finish
    if (argc < 2) {
        ss_complain("stickslip: no verb given");
        ss_help_verbs_on_stderr();
        return SS_EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) return print(print_version);
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return print(ss_help_program);
    const ss_verb *verb = ss_verb_find(word);
    return verb ? run_verb(verb, argc - 2, argv + 2) : unknown_word(word);
}
