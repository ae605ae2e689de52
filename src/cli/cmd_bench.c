#include "cli/bench.h"
#include "cli/interrupt.h"

static void end_by_signal(const ss_command *command, const ss_campaign_summary *summary)
{
    const ss_bench_options *options = command->options;
    if (summary->runs > 0)
        ss_complain("stickslip: interrupted: %d of %d runs are in %s; repeat the command to continue",
                    summary->before + summary->done, summary->runs, options->output);
    else
        ss_complain("stickslip: interrupted before the first run");
    ss_interrupt_die();
}

static bool execute(const ss_command *command, ss_campaign *campaign, ss_ledger *ledger,
                    ss_campaign_summary *summary, ss_error *err)
{
    ss_bench_progress progress = {command, ss_progress_line_begin(command)};
    ss_campaign_hooks hooks = {.context = &progress,
                               .say = ss_bench_say,
                               .complain = ss_bench_complain,
                               .progress = ss_bench_progress_show,
                               .stop = ss_interrupt_flag()};
    bool good = ss_campaign_execute(campaign, ledger, &hooks, summary, err);
    ss_progress_line_end(&progress.line);
    return good;
}

static int complain(ss_error *err)
{
    if (err->code == SS_ERROR_USAGE) ss_fail_in(err, "bench");
    return ss_report(err);
}

static int run_bench(const ss_command *command)
{
    const ss_bench_options *options = command->options;
    ss_campaign campaign;
    ss_campaign_summary summary = {0};
    ss_error err = {0};
    if (!ss_bench_describe(command, &campaign, &err)) return complain(&err);
    ss_interrupt_listen();
    ss_ledger *ledger = ss_ledger_open(options->output, &err);
    bool good = ledger && execute(command, &campaign, ledger, &summary, &err);
    if (good && !summary.interrupted) good = ss_bench_print(command, ledger, &summary, &err);
    ss_ledger_abandon(ledger); // a mistake leaves nothing behind
    ss_campaign_free(&campaign);
    if (good && summary.interrupted) end_by_signal(command, &summary);
    return good ? summary.exit_code : complain(&err);
}

#define FIELD(member) .offset = offsetof(ss_bench_options, member)
static const ss_option table[] = {
    {.name = "output",
     .type = SS_OPTION_TEXT,
     FIELD(output),
     .value_name = "RESULTS.db",
     .help = "The ledger to write. Existing results are kept and not recomputed.",
     .letter = 'o'},
    {.name = "campaign",
     .type = SS_OPTION_TEXT,
     FIELD(campaign),
     .value_name = "FILE.json",
     .help = "Read problems and methods from a file instead of from FILE and options."},
    {.name = "solvers",
     .type = SS_OPTION_TEXT,
     FIELD(solvers),
     .default_value = "all",
     .value_name = "SOLVER,...|all|none",
     .help = "Solvers to run; all includes those of plug-ins. none: only with --recorded.",
     .letter = 's'},
    {.name = "formulations",
     .type = SS_OPTION_TEXT,
     FIELD(formulations),
     .default_value = "cone",
     .value_name = "FORMULATION,...|all",
     .help = "Formulations to use; FCLIB problems are always solved as cone.",
     .letter = 'f'},
    {.name = "set",
     .type = SS_OPTION_LIST,
     FIELD(set),
     .value_name = "SOLVER.NAME=VALUE",
     .help = "Option of a solver; repeatable."},
    {.name = "with",
     .type = SS_OPTION_LIST,
     FIELD(with),
     .value_name = "FORMULATION.NAME=VALUE",
     .help = "Option of a formulation; repeatable."},
    {.name = "frame",
     .type = SS_OPTION_TEXT,
     FIELD(frame),
     .value_name = "PATH|N|A:B|all",
     .help = "BPMD: use only these frames of every file, as in solve."},
    {.name = "every",
     .type = SS_OPTION_INT,
     FIELD(every),
     .default_value = "1",
     .min = 1,
     .max = 1e9,
     .value_name = "K",
     .help = "BPMD: use only every K-th of these frames."},
    {.name = "jobs",
     .type = SS_OPTION_INT,
     FIELD(jobs),
     .default_value = "0",
     .min = 0,
     .max = 1024,
     .value_name = "N",
     .help = "Number of concurrent runs; 0 = one per core. Timings (--repeats) are always taken one at a "
             "time.",
     .letter = 'j'},
    {.name = "shard",
     .type = SS_OPTION_TEXT,
     FIELD(shard),
     .value_name = "I/N",
     .help = "Do only part I of N of the runs; stickslip merge combines the ledgers."},
    {.name = "json", .type = SS_OPTION_BOOL, FIELD(json), .help = "Print the counts as one JSON object."},
    {0}};

static const ss_option_group groups[] = {
    {"Options", table, 0},
    SS_SOLVER_EXTENSION_GROUP(ss_bench_options, extensions),
    {"Options of all runs", ss_campaign_option_table, offsetof(ss_bench_options, run)},
    {"Reading options", ss_read_option_table, offsetof(ss_bench_options, read)},
    {NULL, ss_limits_table, offsetof(ss_bench_options, limits)},
    SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"bench stack.h5 -o results.db", "every frame with every solver that fits"},
    {"bench stack.h5 problem.hdf5 -s nsgs,admm --repeats 5 -o results.db", "three solvers, timed five times"},
    {"bench stack.h5 -s psor --set psor.omega=1.3 -f all -o results.db", "one solver, every formulation"},
    {"bench ode.h5 --recorded -s nsgs,interior-point -o results.db",
     "the answers that an engine stored, beside two solvers"},
    {"bench --campaign study.json --shard 2/8 -o part2.db", "the second of eight parts of a campaign file"},
    {0}};

const ss_verb ss_verb_bench = {
    .name = "bench",
    .summary = "run solvers on problems and store the results in a ledger",
    .arguments = "[FILE...]",
    .description =
        "Solves every frame of the BPMD files and every problem of the FCLIB files with every method, "
        "that is, every formulation and solver with their options. Answers are judged as in solve and "
        "stored as they arrive in a ledger, a SQLite file.\n\n"
        "Runs take place in worker processes. A run that crashes, hangs or exceeds its memory limit is "
        "recorded as such, and the campaign continues. If the program is stopped, even by kill -9, "
        "repeating the command completes what is missing.\n\n"
        "With --recorded the answers that an engine, run or solve stored beside the frames are judged as "
        "well, without solving anything.\n\n"
        "With --repeats every run is repeated afterwards for timing, one at a time on one core.\n\n"
        "The exit code is 0 if all runs were made, whatever their outcome; 3 if files or frames could not "
        "be used, and 4 if memory or disk space ran out.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(ss_bench_options),
    .workers_load_plugins = true,
    .run = run_bench,
};
