/* `stickslip diff`: what has changed between two ledgers. */
#include "campaign/ledger_difference.h"

#include "base/file.h"
#include "cli/terminal/table.h"
#include "cli/verb.h"

#include <math.h>
#include <string.h>

typedef struct diff_options {
    ss_common_options common;
    bool all, json, answers;
    const char *measure;
    double tolerance, slower;
} diff_options;

/* What is printed of it, one run after the other. */
typedef struct comparison {
    const ss_results *before, *after;
    const ss_ledger_difference_options *by;
    const ss_ledger_difference *difference;
} comparison;

static double error_of(const ss_run_entry *run, int measure)
{
    return run->metrics && run->metrics[measure].applies ? run->metrics[measure].value : NAN;
}

static bool is_worse(ss_change change)
{
    return change == SS_CHANGE_FAILS || change == SS_CHANGE_BREAKS || change == SS_CHANGE_SLOWER;
}

static void add_row(ss_table *table, const comparison *c, const ss_ledger_difference_row *row)
{
    const ss_run_entry *before = &c->before->runs[row->before], *after = &c->after->runs[row->after];
    const ss_problem_entry *problem = &c->after->problems[after->problem];
    bool bad = is_worse(row->change);
    bool good = row->change == SS_CHANGE_SOLVED || row->change == SS_CHANGE_FASTER;
    ss_table_add_styled(table,
                        bad    ? SS_STYLE_BAD
                        : good ? SS_STYLE_GOOD
                               : SS_STYLE_PLAIN,
                        ss_change_name(row->change));
    if (problem->index >= 0)
        ss_table_add(table, "%s %d", ss_path_name(problem->file), problem->index);
    else
        ss_table_add(table, "%s", ss_path_name(problem->file));
    ss_table_add(table, "%s", c->after->methods[after->method].label);
    for (int side = 0; side < 2; side++) { // the error; without one, how the run ended
        const ss_run_entry *run = side ? after : before;
        double error = error_of(run, c->by->measure);
        if (isnan(error))
            ss_table_add(table, "%s", ss_outcome_name(run->outcome));
        else
            ss_table_add(table, "%.2g", error);
    }
    ss_table_add(table, "%d", before->iterations);
    ss_table_add(table, "%d", after->iterations);
    ss_table_add(table, isnan(row->ratio) ? "-" : "%.2f", row->ratio);
}

static void print_text(const ss_command *command, const comparison *c)
{
    const diff_options *options = command->options;
    const ss_ledger_difference *d = c->difference;
    ss_text *text = &command->out->text;
    static const char *const heads[] = {"change", "problem",    "method", "error",
                                        "now",    "iterations", "now",    "time ratio"};
    static const unsigned char expendable[] = {5, 6, 3, 0};
    ss_table table = {.columns = sizeof heads / sizeof *heads, .left = 3, .expendable = expendable};
    for (int i = 0; i < table.columns; i++) ss_table_add(&table, "%s", heads[i]);

    // what is worth a line: not what stayed the same, and other answers only when asked for
    enum { LINES = 30 };
    int lines = 0, left = 0;
    for (int r = 0; r < d->row_count; r++) {
        bool shown = d->rows[r].change < SS_CHANGE_ANSWER ||
                     (options->answers && d->rows[r].change == SS_CHANGE_ANSWER);
        if (!shown) continue;
        if (lines < LINES || options->all) {
            add_row(&table, c, &d->rows[r]);
            lines++;
        } else {
            left++;
        }
    }
    if (lines) {
        ss_table_print(&table, command->out);
        if (left) ss_text_appendf(text, "  and %d more: --all\n", left);
        ss_text_append(text, "\n");
    }
    ss_text_free(&table.cells);

    ss_text_appendf(text,
                    "%d runs in both, solved at %s <= %g: %d fail now, %d break now, %d are solved now, %d "
                    "slower, %d faster, %d other answers%s\n",
                    d->row_count, ss_metric_at(c->by->measure)->name, c->by->tolerance,
                    d->count[SS_CHANGE_FAILS], d->count[SS_CHANGE_BREAKS], d->count[SS_CHANGE_SOLVED],
                    d->count[SS_CHANGE_SLOWER], d->count[SS_CHANGE_FASTER], d->count[SS_CHANGE_ANSWER],
                    d->count[SS_CHANGE_ANSWER] && !options->answers ? " (--answers lists them)" : "");
    if (d->timed)
        ss_text_appendf(text, "times of %d: geometric mean of the ratios %.3f\n", d->timed, d->mean);
    else
        ss_text_append(
            text, "no times to compare: that takes runs that both solve, with repeats (bench --repeats) on "
                  "the same processor\n");
    for (int side = 0; side < 2; side++) {
        ss_text_append(text, side ? "; of the second: " : "source of the first ledger: ");
        ss_results_print_builds(side ? c->after : c->before, -1, text);
    }
    ss_text_append(text, "\n");
    if (d->only_before || d->only_after)
        ss_text_appendf(text, "%d runs only in the first ledger, %d only in the second\n", d->only_before,
                        d->only_after);
}

static void print_json(const ss_command *command, const comparison *c)
{
    const ss_ledger_difference *d = c->difference;
    ss_json json = {.text = &command->out->text};
    ss_json_begin_object(&json);
    ss_json_member_text(&json, "before", command->arguments[0]);
    ss_json_member_text(&json, "after", command->arguments[1]);
    ss_json_builds(&json, "builds_before", c->before);
    ss_json_builds(&json, "builds_after", c->after);
    ss_json_member_text(&json, "measure", ss_metric_at(c->by->measure)->name);
    ss_json_member_real(&json, "tolerance", c->by->tolerance);
    ss_json_member_index(&json, "both", d->row_count);
    for (int change = 0; change < SS_CHANGE_COUNT; change++)
        ss_json_member_index(&json, ss_change_name((ss_change)change), d->count[change]);
    ss_json_member_index(&json, "only_before", d->only_before);
    ss_json_member_index(&json, "only_after", d->only_after);
    ss_json_member_index(&json, "timed", d->timed);
    ss_json_member_real(&json, "mean_ratio", d->mean);
    ss_json_key(&json, "changes");
    ss_json_begin_array(&json);
    for (int r = 0; r < d->row_count && d->rows[r].change != SS_CHANGE_NONE; r++) {
        const ss_ledger_difference_row *row = &d->rows[r];
        const ss_run_entry *before = &c->before->runs[row->before], *after = &c->after->runs[row->after];
        const ss_problem_entry *problem = &c->after->problems[after->problem];
        ss_json_begin_object(&json);
        ss_json_member_text(&json, "change", ss_change_name(row->change));
        ss_json_member_text(&json, "file", problem->file);
        ss_json_member_text(&json, "place", problem->place);
        ss_json_member_text(&json, "method", c->after->methods[after->method].label);
        ss_json_member_text(&json, "outcome_before", ss_outcome_name(before->outcome));
        ss_json_member_text(&json, "outcome_after", ss_outcome_name(after->outcome));
        ss_json_member_real(&json, "error_before", error_of(before, c->by->measure));
        ss_json_member_real(&json, "error_after", error_of(after, c->by->measure));
        ss_json_member_index(&json, "iterations_before", before->iterations);
        ss_json_member_index(&json, "iterations_after", after->iterations);
        ss_json_member_real(&json, "ratio", row->ratio);
        ss_json_end_object(&json);
        ss_out_drain(command->out);
    }
    ss_json_end_array(&json);
    ss_json_end_object(&json);
    ss_text_append(json.text, "\n");
}

static int run_diff(const ss_command *command)
{
    const diff_options *options = command->options;
    ss_results results[2] = {{0}};
    ss_error err = {0};
    bool good = true;
    ss_ledger_difference_options by = {.tolerance = options->tolerance, .slower = options->slower};
    by.measure = ss_metric_index(options->measure);
    if (by.measure < 0)
        good = ss_fail(&err, SS_ERROR_USAGE,
                       "diff: --measure %s: unknown metric; stickslip metrics lists them", options->measure);
    for (int side = 0; good && side < 2; side++) {
        ss_ledger *ledger = ss_ledger_read(command->arguments[side], &err);
        good = ledger && ss_ledger_load(ledger, &results[side], &err);
        ss_ledger_close(ledger);
    }

    ss_ledger_difference difference = {0};
    good = good && ss_ledger_difference_make(&results[0], &results[1], &by, &difference, &err);
    if (good && difference.row_count == 0)
        good = ss_fail(
            &err, SS_ERROR_INPUT,
            "%s and %s: no run is in both: no problem with the same numbers was solved by the same method",
            command->arguments[0], command->arguments[1]);
    bool worse = false;
    for (int change = 0; change < SS_CHANGE_COUNT; change++)
        worse |= is_worse((ss_change)change) && difference.count[change] > 0;
    if (good)
        (options->json ? print_json : print_text)(command,
                                                  &(comparison){&results[0], &results[1], &by, &difference});
    ss_ledger_difference_free(&difference);
    for (int side = 0; side < 2; side++) ss_results_free(&results[side]);
    return !good ? ss_report(&err) : worse ? SS_EXIT_FOUND : SS_EXIT_DONE;
}

static const ss_option table[] = {
    {SS_FLAG(TEXT, diff_options, measure), .default_value = "relative_energy", .value_name = "METRIC",
     .help = "The metric that decides what is solved."},
    {SS_FLAG(REAL, diff_options, tolerance), .default_value = "1e-4", .min = 0.0, .max = INFINITY,
     .value_name = "VALUE", .help = "A run is solved when the metric is at most this."},
    {SS_FLAG(REAL, diff_options, slower), .default_value = "1.1", .min = 1.0, .max = INFINITY,
     .value_name = "RATIO",
     .help = "A run is slower when its least time exceeds the least before by this ratio, and every "
             "repeat before."},
    {SS_FLAG(BOOL, diff_options, answers), .help = "Also list runs that only give other bits."},
    {SS_FLAG(BOOL, diff_options, all), .help = "List every change, not only the first 30."},
    {SS_FLAG(BOOL, diff_options, json), .help = "Print one JSON object with every change."},
    {0}};
static const ss_option_group groups[] = {{"Options", table, 0}, SS_COMMON_GROUP};
static const ss_example examples[] = {
    {"diff before.db after.db", "what a change of the solver did, for people"},
    {"diff before.db after.db --answers --all", "also what only gives other bits: is the change neutral?"},
    {"diff before.db after.db --tolerance 1e-8 --json", "the same for a script; the exit code decides"},
    {0}};

const ss_verb ss_verb_diff = {
    .name = "diff",
    .summary = "compare two ledgers: new failures, gains, slower runs",
    .arguments = "BEFORE AFTER",
    .description =
        "Compares the runs that two ledgers have in common: the same problem, known by its numbers, and the "
        "same method with the same options. A plug-in is the same method after it was built again.\n\n"
        "Times are compared where both ledgers have repeats (bench --repeats) on the same processor. A run "
        "is slower when its least time exceeds --slower times the least before and every repeat before.\n\n"
        "A run breaks when it was not solved before either, but ended by itself, and now crashes, hangs, "
        "runs out of memory or sends no valid answer. Runs that only give other bits are counted, and listed "
        "with --answers.\n\n"
        "The exit code is 1 if a run fails that was solved before, breaks, or is slower; otherwise 0.",
    .examples = examples,
    .groups = groups,
    .options_size = sizeof(diff_options),
    .reads_files = true,
    .run = run_diff,
};
