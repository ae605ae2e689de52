/* The command line: finds the verb, parses its options and runs it; see verb.h. */
#include "cli/program.h"

#include "base/source.h"
#include "cli/arguments.h"
#include "cli/extensions.h"
#include "cli/sandbox.h"
#include "cli/terminal/help.h"
#include "cli/input.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* `verb`: "" for the program itself. */
static int fail_usage(const ss_error *err, const char *verb)
{
    int code = ss_report(err);
    if (code == SS_EXIT_USAGE) ss_complain("Try 'stickslip %s%s--help'.", verb, *verb ? " " : "");
    return code;
}

static int run_verb(const ss_verb *verb, int count, char *const *words)
{
    ss_out out = ss_out_open(STDOUT_FILENO);
    ss_command command = {.out = &out};
    ss_error err;
    int code;
    if (!ss_arguments_parse(verb, count, words, &command, &err)) {
        code = fail_usage(&err, verb->name);
    } else if (verb->reads_files && !((const ss_common_options *)command.options)->help) {
        // A verb that reads files does so in a process of its own, which also gives the result away.
        const ss_input_options *source = ss_input_options_of(&command);
        ss_sandbox sandbox = {.verb = verb->name,
                              .file = command.arguments[0],
                              .max_megabytes = source ? source->max_memory : 0,
                              .max_seconds = source ? source->max_time : 0};
        code = ss_sandbox_run(&sandbox, ss_run_extended, &command);
    } else {
        code = SS_EXIT_DONE;
        if (((const ss_common_options *)command.options)->help)
            ss_help_verb(&out, verb);
        else
            code = ss_run_extended(&command);
        if (!ss_out_finish(&out)) code = SS_EXIT_RESOURCES;
    }
    ss_arguments_free(&command);
    return code;
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
    const ss_verb *verb = ss_verb_find(word);
    if (verb) return run_verb(verb, argc - 2, argv + 2);

    // What the program says about itself.
    bool help = strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
    if (help || strcmp(word, "--version") == 0) {
        ss_out out = ss_out_open(STDOUT_FILENO);
        if (help)
            ss_help_program(&out);
        else
            ss_text_appendf(&out.text, "stickslip %s (%s, source %.*s)\n", ss_version(), ss_build(),
                            SS_SOURCE_DIGITS, ss_source_digest());
        return ss_out_finish(&out) ? SS_EXIT_DONE : SS_EXIT_RESOURCES;
    }

    ss_error err;
    const ss_verb *meant = ss_verb_nearest(word);
    const char *kind = word[0] == '-' ? "option" : "verb";
    if (meant)
        ss_fail(&err, SS_ERROR_USAGE, "unknown %s '%s'; did you mean %s?", kind, word, meant->name);
    else
        ss_fail(&err, SS_ERROR_USAGE, "unknown %s '%s'", kind, word);
    return fail_usage(&err, "");
}
