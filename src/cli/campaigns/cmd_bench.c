/* `stickslip bench`: the command line becomes a campaign, which is executed and summed up. */
#include "campaign/execute.h"
#include "campaign/ledger_scratch.h"
#include "campaign/statistics.h"
#include "cli/extensions.h"
#include "cli/interrupt.h"
#include "cli/terminal/progress.h"
#include "cli/campaigns/ranking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct bench_options {
    ss_common_options common;
    const char *campaign, *solvers, *formulations, *frame, *shard, *scratch, *output;
    ss_option_list set, with;
    ss_extension_options extensions;
    int every, jobs;
    bool claim, redo_outdated, json;
    ss_campaign_options run;
    ss_read_options read;
    ss_limits limits;
} bench_options;

/* ---- the command line becomes a campaign --------------------------------------------------------- */

static bool choose(ss_campaign *campaign, const char *list, const char ***names, int *count, bool *all,
                   ss_error *err)
{
    *all = false;
    *names = ss_campaign_words(campaign, list, count, err);
    for (int i = 0; *names && i < *count; i++) *all |= strcmp((*names)[i], "all") == 0;
    return *names != NULL;
}

/* "psor.omega=1.3" */
static bool read_sweeps(ss_campaign *campaign, const char *flag, const ss_option_list *list,
                        ss_option_sweep **sweeps, int *count, ss_error *err)
{
    *sweeps = ss_campaign_room(campaign, (size_t)list->count, sizeof **sweeps, err);
    *count = list->count;
    for (int i = 0; *sweeps && i < list->count; i++) {
        const char *text = list->items[i], *dot = strchr(text, '.'), *equals = strchr(text, '=');
        ss_option_sweep *sweep = &(*sweeps)[i];
        char where[300];
        if (!dot || !equals || dot > equals || dot == text || equals == dot + 1)
            return ss_fail(err, SS_ERROR_USAGE, "invalid value \"%s\" for %s: expected %s.NAME=VALUE", text,
                           flag, strcmp(flag, "--set") == 0 ? "SOLVER" : "FORMULATION");
        snprintf(where, sizeof where, "%s %s", flag, text);
        sweep->values = ss_campaign_room(campaign, 1, sizeof *sweep->values, err);
        if (!sweep->values) return false;
        sweep->count = 1;
        sweep->values[0] = equals + 1;
        sweep->owner = ss_campaign_copy(campaign, text, (size_t)(dot - text), err);
        sweep->name = ss_campaign_copy(campaign, dot + 1, (size_t)(equals - dot - 1), err);
        sweep->where = ss_campaign_copy(campaign, where, strlen(where), err);
        if (!sweep->owner || !sweep->name || !sweep->where) return false;
    }
    return *sweeps != NULL;
}

/* Problems and methods of FILE and options. */
static bool read_flags(const ss_command *command, ss_campaign *campaign, ss_error *err)
{
    const bench_options *options = command->options;
    campaign->options = options->run;
    campaign->plugins = options->extensions.plugins;
    if (command->argument_count == 0)
        return ss_fail(err, SS_ERROR_USAGE, "no FILE given, and no --campaign FILE.json");
    campaign->sources =
        ss_campaign_room(campaign, (size_t)command->argument_count, sizeof *campaign->sources, err);
    if (!campaign->sources) return false;
    for (int i = 0; i < command->argument_count; i++)
        campaign->sources[campaign->source_count++] =
            (ss_campaign_source){command->arguments[i], options->frame, options->every};

    ss_selection *selection = ss_campaign_room(campaign, 1, sizeof *selection, err);
    if (!selection) return false;
    selection->where = "";
    campaign->selections = selection;
    campaign->selection_count = !(options->run.recorded && strcmp(options->solvers, "none") == 0);
    if (!choose(campaign, options->solvers, &selection->solvers, &selection->solver_count,
                &selection->all_solvers, err) ||
        !choose(campaign, options->formulations, &selection->formulations, &selection->formulation_count,
                &selection->all_formulations, err) ||
        !read_sweeps(campaign, "--set", &options->set, &selection->set, &selection->set_count, err) ||
        !read_sweeps(campaign, "--with", &options->with, &selection->with, &selection->with_count, err))
        return false;

    // The command as it can be typed again.
    ss_text text = {0};
    ss_text_append(&text, "bench");
    for (int i = 0; i < command->argument_count; i++)
        ss_text_append_word(&text, command->arguments[i], strlen(command->arguments[i]));
    for (int i = 0; i < command->given_count; i++) {
        const char *value = command->given[i].value;
        char flag[64];
        ss_option_flag(command->given[i].option, flag, sizeof flag);
        if (strcmp(flag, "shard") == 0) { // whichever way it was found
            ss_text_appendf(&text, " --shard %d/%d", campaign->shard, campaign->shards);
        } else if (strcmp(flag, "claim") == 0) {
            ss_text_append(&text, options->claim ? " --claim" : "");
        } else if (command->given[i].option->type == SS_OPTION_BOOL) {
            ss_text_appendf(&text, strcmp(value, "true") == 0 ? " --%s" : " --%s=%s", flag, value);
        } else {
            ss_text_appendf(&text, " --%s", flag);
            ss_text_append_word(&text, value, strlen(value));
        }
    }
    campaign->text =
        text.out_of_memory ? NULL : ss_campaign_copy(campaign, ss_text_get(&text), text.length, err);
    ss_text_free(&text);
    return campaign->text || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the campaign");
}

/* Problems and methods of --campaign, beside which no other source of them is allowed. */
static bool read_file(const ss_command *command, ss_campaign *campaign, ss_error *err)
{
    static const char *const flags[] = {"solvers", "formulations", "set", "with", "plugin", "frame", "every"};
    const bench_options *options = command->options;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        for (int k = 0; k < command->given_count; k++)
            if (strcmp(command->given[k].option->name, flags[i]) == 0)
                return ss_fail(err, SS_ERROR_USAGE,
                               "--%s cannot be combined with --campaign; set it in the "
                               "campaign file",
                               flags[i]);
    if (command->argument_count > 0)
        return ss_fail(err, SS_ERROR_USAGE,
                       "%s: FILE cannot be combined with --campaign; name it in the "
                       "campaign file",
                       command->arguments[0]);
    if (!ss_campaign_read(campaign, options->campaign, err)) return false;

    // Limits on the command line come before those of the file.
    for (int i = 0; i < command->given_count; i++) {
        const ss_option *option = command->given[i].option;
        if (ss_options_find(ss_campaign_option_table, option->name) == option &&
            !ss_options_set(ss_campaign_option_table, &campaign->options, option->name,
                            command->given[i].value, err))
            return false;
    }

    // The file does not say which part of it was done.
    if (!options->shard) return true;
    ss_text text = {0};
    ss_text_appendf(&text, "%s\n--shard %d/%d%s", campaign->text, campaign->shard, campaign->shards,
                    options->claim ? " --claim" : "");
    campaign->text =
        text.out_of_memory ? NULL : ss_campaign_copy(campaign, ss_text_get(&text), text.length, err);
    ss_text_free(&text);
    return campaign->text || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the campaign");
}

/* *output: the name of the ledger, in the campaign's arena. */
static bool describe(const ss_command *command, ss_campaign *campaign, const char **output, ss_error *err)
{
    const bench_options *options = command->options;
    campaign->jobs = options->jobs;
    campaign->read = options->read;
    campaign->limits = options->limits;
    campaign->redo_outdated = options->redo_outdated;
    bool automatic = options->shard && strcmp(options->shard, "auto") == 0;
    if (automatic && !ss_campaign_find_shard(&campaign->shard, &campaign->shards, err)) return false;
    if (options->shard && !automatic &&
        !ss_campaign_read_shard(options->shard, &campaign->shard, &campaign->shards, err))
        return false;
    if (!(options->campaign ? read_file : read_flags)(command, campaign, err)) return false;

    // The ledger must not replace what is read.
    struct stat in, out;
    if (!options->output) return ss_fail(err, SS_ERROR_USAGE, "no -o RESULTS.db given");
    *output =
        options->shard ? ss_campaign_ledger_name(campaign, options->output, NULL, err) : options->output;
    if (!*output) return false;
    if (options->claim) {
        const ss_campaign_options *run = &campaign->options;
        if (!options->shard || !strstr(options->output, "%s"))
            return ss_fail(err, SS_ERROR_USAGE,
                           "--claim needs --shard auto or I/N, and %%s in the name of the ledger");
        if (run->repeats > 0 || run->recorded || options->redo_outdated)
            return ss_fail(
                err, SS_ERROR_USAGE,
                "--%s cannot be combined with --claim; merge the ledgers, and run bench on the result",
                run->recorded      ? "recorded"
                : run->repeats > 0 ? "repeats"
                                   : "redo-outdated");
        campaign->claim = options->output;
    }
    if (stat(*output, &out) != 0) return true;
    for (int i = 0; i < campaign->source_count; i++)
        if (stat(campaign->sources[i].path, &in) == 0 && in.st_dev == out.st_dev && in.st_ino == out.st_ino)
            return ss_fail(err, SS_ERROR_USAGE, "%s is an input file; choose another name for the output",
                           *output);
    return true;
}

/* ---- progress ------------------------------------------------------------------------------------ */

typedef struct bench_progress {
    const ss_command *command;
    ss_progress_line line;
    ss_ledger_scratch *scratch;
} bench_progress;

static void show_progress(void *context, const ss_campaign_state *state)
{
    bench_progress *progress = context;
    char failed[48] = "", facts[96];
    ss_ledger_scratch_tick(progress->scratch);
    if (!ss_progress_line_is_due(&progress->line, state->done)) return;
    double rate = state->seconds > 0 ? state->done / state->seconds : 0.0;
    if (state->failures > 0) snprintf(failed, sizeof failed, "%d failed, ", state->failures);
    snprintf(facts, sizeof facts, rate < 100 ? "%s%.3g/s" : "%s%.0f/s", failed, rate);
    ss_progress_line_tell(&progress->line, state->doing, state->done, state->total, facts);
}

static void say(void *context, const char *line)
{
    bench_progress *progress = context;
    ss_progress_line_end(&progress->line);
    ss_command_say(progress->command, "%s", line);
}

static void complain(void *context, const char *line)
{
    bench_progress *progress = context;
    ss_progress_line_end(&progress->line);
    ss_complain("stickslip: %s", line);
}

/* ---- the end ------------------------------------------------------------------------------------- */

static void print_json(const ss_command *command, const char *output, const ss_campaign_summary *summary)
{
    ss_json json = {.text = &command->out->text};
    ss_json_begin_object(&json);
    ss_json_key(&json, "ledger"), ss_json_string(&json, output);
    const struct {
        const char *name;
        int count;
    } counts[] = {{"problems", summary->problems},
                  {"faulty", summary->faulty},
                  {"methods", summary->methods},
                  {"runs", summary->runs},
                  {"before", summary->before},
                  {"done", summary->done},
                  {"missing", summary->runs - summary->before - summary->done},
                  {"timed", summary->samples},
                  {"recorded", summary->recorded},
                  {"assumed", summary->assumed},
                  {"outdated", summary->outdated}};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        ss_json_key(&json, counts[i].name), ss_json_integer(&json, counts[i].count);

    // Only those that occurred.
    ss_json_key(&json, "outcomes");
    ss_json_begin_object(&json);
    for (int i = 0; i < SS_OUTCOME_COUNT; i++) {
        if (summary->outcomes[i] == 0) continue;
        ss_json_key(&json, ss_outcome_name((ss_outcome)i)), ss_json_integer(&json, summary->outcomes[i]);
    }
    ss_json_end_object(&json);
    ss_json_end_object(&json);
    ss_text_append(&command->out->text, "\n");
}

/* The folder to write in until the end; NULL = the ledger is written where it belongs. */
static bool find_scratch(const bench_options *options, const char **folder, ss_error *err)
{
    struct stat status;
    *folder = options->scratch;
    if (!*folder) return true;
    if (strcmp(*folder, "auto") == 0) {
        *folder = getenv("SLURM_TMPDIR");
        if (!*folder || !**folder) *folder = getenv("TMPDIR");
        if (!*folder || !**folder)
            return ss_fail(err, SS_ERROR_USAGE, "--scratch auto: neither SLURM_TMPDIR nor TMPDIR is set");
    }
    if (stat(*folder, &status) == 0 && S_ISDIR(status.st_mode)) return true;
    return ss_fail(err, SS_ERROR_USAGE, "--scratch: %s is not a folder", *folder);
}

static int run_bench(const ss_command *command)
{
    const bench_options *options = command->options;
    ss_campaign campaign;
    ss_campaign_summary summary = {0};
    ss_error err = {0};
    const char *output = NULL;
    bool made = ss_campaign_create(&campaign, &err);
    bool good = made && describe(command, &campaign, &output, &err);

    ss_ledger *ledger = NULL;
    ss_ledger_scratch scratch = {.lock.file = -1};
    const char *folder = NULL;
    if (good) {
        ss_interrupt_listen();
        good = find_scratch(options, &folder, &err);
        if (good && folder) good = ss_ledger_scratch_open(&scratch, folder, output, &err);
        ledger = folder ? scratch.ledger : good ? ss_ledger_open(output, &err) : NULL;
        good = ledger != NULL;
    }
    if (good) {
        bench_progress progress = {command, ss_progress_line_begin(command), &scratch};
        ss_campaign_hooks hooks = {.context = &progress,
                                   .say = say,
                                   .complain = complain,
                                   .progress = show_progress,
                                   .stop = ss_interrupt_flag()};
        good = ss_campaign_execute(&campaign, ledger, &hooks, &summary, &err);
        ss_progress_line_end(&progress.line);
    }

    // What came of it: counts as JSON, or the standing of the methods, which takes all shards.
    bool through = good && !summary.interrupted, nothing = summary.problems == summary.faulty;
    if (through && options->json) {
        print_json(command, output, &summary);
    } else if (through && !nothing && campaign.shards == 1) {
        ss_results results = {0};
        ss_statistics statistics = {0};
        ss_statistics_options by = ss_statistics_defaults();
        good = ss_ledger_load(ledger, &results, &err);
        if (good) ss_statistics_ask(&by, &results);
        good = good && ss_statistics_make(&results, &by, &statistics, &err);
        if (good) ss_ranking_print(command->out, &results, &statistics);
        ss_statistics_free(&statistics);
        ss_results_free(&results);
    }
    int done = summary.before + summary.done;
    if (through && good && nothing && campaign.claim)
        ss_command_say(command, "%s: no runs were left for this rank", output);
    else if (through && good && nothing)
        ss_command_say(command, "nothing to solve: no file or frame can be used");
    else if (through && good)
        ss_command_say(command, "%s: %d of %d runs done (%d new, %d reused)%s", output, done, summary.runs,
                       summary.done, summary.before,
                       done != summary.runs ? "; some runs could not be started" : "");
    if (!folder || !ledger)
        ss_ledger_abandon(ledger); // a mistake leaves nothing behind
    else if (!ss_ledger_scratch_close(&scratch, good ? &err : NULL))
        good = false;
    if (good && summary.interrupted) {
        if (summary.runs > 0 && campaign.claim) // how many there are in all only the first rank knows
            ss_complain("stickslip: interrupted: %d run%s added to %s; repeat the command to continue",
                        summary.done, summary.done == 1 ? "" : "s", output);
        else if (summary.runs > 0)
            ss_complain("stickslip: interrupted: %d of %d runs are in %s; repeat the command to continue",
                        done, summary.runs, output);
        else
            ss_complain("stickslip: interrupted before the first run");
        ss_campaign_free(&campaign);
        ss_interrupt_die();
    }
    if (made) ss_campaign_free(&campaign);
    if (good) return summary.exit_code;
    if (err.code == SS_ERROR_USAGE) ss_fail_in(&err, "bench");
    return ss_report(&err);
}

static const ss_option table[] = {
    {SS_FLAG(TEXT, bench_options, output), .value_name = "RESULTS.db",
     .help = "The ledger to write. Existing results are kept and not recomputed.", .letter = 'o'},
    {SS_FLAG(TEXT, bench_options, campaign), .value_name = "FILE.json",
     .help = "Read problems and methods from a file instead of from FILE and options."},
    {SS_FLAG(TEXT, bench_options, solvers), .default_value = "all", .value_name = "SOLVER,...|all|none",
     .help = "Solvers to run; all includes those of plug-ins. none: only with --recorded.", .letter = 's'},
    {SS_FLAG(TEXT, bench_options, formulations), .default_value = "cone", .value_name = "FORMULATION,...|all",
     .help = "Formulations to use; FCLIB problems are always solved as cone.", .letter = 'f'},
    {SS_FLAG(LIST, bench_options, set), .value_name = "SOLVER.NAME=VALUE",
     .help = "Option of a solver; repeatable."},
    {SS_FLAG(LIST, bench_options, with), .value_name = "FORMULATION.NAME=VALUE",
     .help = "Option of a formulation; repeatable."},
    {SS_FLAG(TEXT, bench_options, frame), .value_name = "PATH|N|A:B|all",
     .help = "BPMD: use only these frames of every file, as in solve."},
    {SS_FLAG(INT, bench_options, every), .default_value = "1", .min = 1, .max = 1e9, .value_name = "K",
     .help = "BPMD: use only every K-th of these frames."},
    {SS_FLAG(INT, bench_options, jobs), .default_value = "0", .min = 0, .max = 1024, .value_name = "N",
     .help = "Number of concurrent runs; 0 = one per core. Timings (--repeats) are always taken one at a "
             "time.",
     .letter = 'j'},
    {SS_FLAG(TEXT, bench_options, shard), .value_name = "I/N|auto",
     .help =
         "Do only part I of N of the runs; stickslip merge combines the ledgers. auto: as mpirun, srun or "
         "the job array says. %s in the name of the ledger becomes I-of-N."},
    {SS_FLAG(BOOL, bench_options, claim),
     .help =
         "Runs are not dealt beforehand: rank 1 hands them out over the network, and a rank asks for more "
         "when it is done. With --shard auto or I/N, and %s in the name of the ledger."},
    {SS_FLAG(BOOL, bench_options, redo_outdated),
     .help =
         "Repeat the runs of the ledger that were made by another build of stickslip; each is replaced when "
         "its repetition is done. Without it they are kept, with a warning."},
    {SS_FLAG(TEXT, bench_options, scratch), .value_name = "DIR|auto",
     .help =
         "Write the ledger in this folder, on a disk of this machine, and bring it to its place every ten "
         "minutes and at the end. auto: $SLURM_TMPDIR, or else $TMPDIR."},
    {SS_FLAG(BOOL, bench_options, json), .help = "Print the counts as one JSON object."},
    {0}};

static const ss_option_group groups[] = {
    {"Options", table, 0},
    SS_SOLVER_EXTENSION_GROUP(bench_options, extensions),
    {"Options of all runs", ss_campaign_option_table, offsetof(bench_options, run)},
    {"Reading options", ss_read_option_table, offsetof(bench_options, read)},
    {NULL, ss_limits_table, offsetof(bench_options, limits)},
    SS_COMMON_GROUP};

static const ss_example examples[] = {
    {"bench stack.h5 -o results.db", "every frame with every solver that fits"},
    {"bench stack.h5 problem.hdf5 -s nsgs,admm --repeats 5 -o results.db", "three solvers, timed five times"},
    {"bench stack.h5 -s psor --set psor.omega=1.3 -f all -o results.db", "one solver, every formulation"},
    {"bench ode.h5 --recorded -s nsgs,interior-point -o results.db",
     "the answers that an engine stored, beside two solvers"},
    {"bench --campaign study.json --shard 2/8 -o part2.db", "the second of eight parts of a campaign file"},
    {"bench --campaign study.json --shard auto -o runs/%s.db",
     "the part of this rank, for instance of mpirun -n 8"},
    {"bench --campaign study.json --shard auto --claim -o runs/%s.db",
     "the same, with runs handed out by the first rank"},
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
    .options_size = sizeof(bench_options),
    .workers_load_plugins = true,
    .run = run_bench,
};
