/* From runs to series: which run belongs where, and in which order series stand. */
#include "campaign/statistics_internal.h"

#include "base/number.h"
#include "campaign/campaign.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ss_statistics_options ss_statistics_defaults(void)
{
    return (ss_statistics_options){
        .measure = ss_metric_index("relative_energy"),
        .tolerances = {1e-2, 1e-4, 1e-6, 1e-8},
        .tolerance_count = 4,
        .main_tolerance = 1,
        .shift = 1e-3,
        .budgets = {1e-5, 3.1622776601683795e-5, 1e-4, 3.1622776601683794e-4, 1e-3, 3.1622776601683794e-3,
                    1e-2, 3.1622776601683794e-2, 1e-1, 3.1622776601683794e-1, 1.0},
        .budget_count = 11,
    };
}

/* ---- tolerances --------------------------------------------------------------------------------------- */

bool ss_statistics_add_tolerance(ss_statistics_options *options, double tolerance)
{
    const int most = (int)(sizeof options->tolerances / sizeof options->tolerances[0]);
    int place = 0;
    while (place < options->tolerance_count && options->tolerances[place] > tolerance) place++;
    if (place < options->tolerance_count && options->tolerances[place] == tolerance) return true;
    if (options->tolerance_count == most) return false;
    for (int i = options->tolerance_count++; i > place; i--)
        options->tolerances[i] = options->tolerances[i - 1];
    options->tolerances[place] = tolerance;
    return true;
}

int ss_statistics_nearest_tolerance(const ss_statistics_options *options, double wanted)
{
    const double *at = options->tolerances;
    int best = 0;
    for (int i = 1; i < options->tolerance_count; i++)
        if (fabs(log(at[i] / wanted)) < fabs(log(at[best] / wanted))) best = i;
    return best;
}

/* The tolerance of the measure that a method was asked for; 0 = none. That of the default rule counts only if
 * the text of the campaign, flags or JSON, has a stop rule of its own. */
static double rung_of(const ss_results *results, const ss_method_entry *method, int measure)
{
    static const char *const words[] = {" --stop ", " --tol ", "\"stop\"", "\"tol\""};
    const char *name = ss_metric_at(measure)->name, *stop = method->stop;
    size_t length = strlen(name);
    double below;
    bool chosen = strcmp(stop, SS_CAMPAIGN_STOP) != 0;
    for (size_t i = 0; results->campaign && i < sizeof words / sizeof *words; i++)
        chosen |= strstr(results->campaign, words[i]) != NULL;
    if (!chosen || strncmp(stop, name, length) != 0 || stop[length] != '<') return 0.0;
    return ss_number_read(stop + length + 1, &below) && isfinite(below) && below > 0.0 ? below : 0.0;
}

double ss_statistics_asked_tolerance(const ss_results *results, int measure)
{
    double asked = 0.0;
    for (int i = 0; i < results->method_count; i++)
        asked = fmax(asked, rung_of(results, &results->methods[i], measure));
    return asked;
}

bool ss_statistics_add_rungs(ss_statistics_options *options, const ss_results *results)
{
    for (int i = 0; i < results->method_count; i++) {
        double rung = rung_of(results, &results->methods[i], options->measure);
        if (rung > 0.0 && !ss_statistics_add_tolerance(options, rung)) return false;
    }
    return true;
}

void ss_statistics_ask(ss_statistics_options *options, const ss_results *results)
{
    double asked = ss_statistics_asked_tolerance(results, options->measure);
    if (!(asked > 0.0)) return;
    ss_statistics_add_tolerance(options, asked);
    ss_statistics_add_rungs(options, results); // those for which there is room
    options->main_tolerance = ss_statistics_nearest_tolerance(options, asked);
}

const char *ss_feature_name(int feature)
{
    static const char *const names[SS_FEATURES] = {"unknowns", "contacts", "mass_ratio", "density",
                                                   "rank_ratio"};
    return feature >= 0 && feature < SS_FEATURES ? names[feature] : NULL;
}

static int compare_reals(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

void ss_statistics_sort(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare_reals);
}

/* ---- whose runs -------------------------------------------------------------------------------------- */

/* Answers as recorded are no runs: they have no time that compares, and are described by themselves. */
static bool is_counted(const ss_statistics_work *work, const ss_run_entry *run)
{
    return work->slot[run->problem] >= 0 && !ss_method_is_recorded(&work->results->methods[run->method]);
}

/* Runs and costs by series and problem, and the least and the largest cost of each machine. */
static bool fill(ss_statistics_work *work)
{
    size_t cells = (size_t)work->rows * (size_t)work->slots, slots = (size_t)work->slots;
    size_t tolerances = (size_t)work->options->tolerance_count;
    size_t machines = (size_t)work->results->machine_count;
    work->run = ss_arena_take(work->scratch, cells, sizeof *work->run, "runs");
    work->cost = ss_arena_take(work->scratch, tolerances * cells, sizeof *work->cost, "costs");
    work->best = ss_arena_take(work->scratch, tolerances * machines * slots, sizeof *work->best, "best");
    work->worst = ss_arena_take(work->scratch, tolerances * machines, sizeof *work->worst, "worst");
    work->values = ss_arena_take(work->scratch, slots, sizeof *work->values, "values");
    work->more = ss_arena_take(work->scratch, slots, sizeof *work->more, "values");
    if (!work->run || !work->cost || !work->best || !work->worst || !work->values || !work->more)
        return false;
    for (size_t i = 0; i < cells; i++) work->run[i] = -1;
    for (size_t i = 0; i < tolerances * cells; i++) work->cost[i] = NAN;
    for (size_t i = 0; i < tolerances * machines * slots; i++) work->best[i] = NAN;

    for (int r = 0; r < work->results->run_count; r++) {
        const ss_run_entry *run = &work->results->runs[r];
        if (!is_counted(work, run)) continue;
        int row = work->row[run->method * work->results->machine_count + run->machine];
        int slot = work->slot[run->problem];
        work->run[(size_t)row * slots + (size_t)slot] = r;
        for (int t = 0; t < work->options->tolerance_count; t++) {
            double cost = ss_run_cost(run, &work->rule, work->options->tolerances[t]);
            double *best = &ss_statistics_best(work, t, run->machine)[slot];
            double *worst = &work->worst[t * work->results->machine_count + run->machine];
            ss_statistics_costs(work, t, row)[slot] = cost;
            *best = fmin(*best, cost); // fmin, fmax: a number before NaN
            *worst = fmax(*worst, cost);
        }
    }
    return true;
}

/* ---- series ------------------------------------------------------------------------------------------ */

/* A series for every pair of method and machine that has a run. */
static bool make_series(const ss_statistics_work *work, ss_series *list)
{
    // Labels name the machine where series of more than one are compared.
    int machines = work->results->machine_count, pairs = work->results->method_count * machines, first = -1;
    bool several = false;
    for (int i = 0; i < pairs; i++) {
        if (work->row[i] < 0) continue;
        several |= first >= 0 && i % machines != first;
        first = i % machines;
    }

    for (int i = 0; i < pairs; i++) {
        if (work->row[i] < 0) continue;
        ss_series *series = &list[work->row[i]];
        series->method = i / machines;
        series->machine = i % machines;
        const char *method = work->results->methods[series->method].label;
        const char *machine = work->machines[series->machine].text;
        size_t size = strlen(method) + sizeof " @ " + strlen(machine);
        series->label = ss_arena_take(work->arena, size, 1, "label");
        if (!series->label) return false;
        snprintf(series->label, size, "%s%s%s", method, several ? " @ " : "", several ? machine : "");
        if (!ss_statistics_scores(work, series) || !ss_statistics_describe(work, series) ||
            !ss_statistics_bands(work, series) || !ss_statistics_budgets(work, series))
            return false;
    }
    return true;
}

/* What series are ordered by. */
typedef struct rank {
    int solved;  /* not the rate: who takes one problem only, and solves it, is not the best */
    double cost; /* relative; infinity where there is none: after the others */
    const char *label;
    int row;
} rank;

static int compare_ranks(const void *a, const void *b)
{
    const rank *x = a, *y = b;
    if (x->solved != y->solved) return x->solved < y->solved ? 1 : -1;
    if (x->cost != y->cost) return x->cost > y->cost ? 1 : -1;
    int labels = strcmp(x->label, y->label);
    return labels ? labels : x->row - y->row;
}

static bool sort_series(const ss_statistics_work *work, ss_series *unsorted, ss_series *sorted)
{
    // Times of different machines do not compare: each cost is divided by the least of its machine.
    for (int t = 0; t < work->options->tolerance_count; t++) {
        for (int i = 0; i < work->rows; i++) {
            double least = NAN;
            for (int k = 0; k < work->rows; k++)
                if (unsorted[k].machine == unsorted[i].machine)
                    least = fmin(least, unsorted[k].scores[t].cost);
            unsorted[i].scores[t].relative = unsorted[i].scores[t].cost / least;
        }
    }

    rank *ranks = ss_arena_take(work->scratch, (size_t)work->rows, sizeof *ranks, "ranks");
    if (!ranks) return false;
    for (int i = 0; i < work->rows; i++) {
        const ss_score *score = &unsorted[i].scores[work->options->main_tolerance];
        ranks[i] = (rank){.solved = score->solved,
                          .cost = isnan(score->relative) ? INFINITY : score->relative,
                          .label = unsorted[i].label,
                          .row = i};
    }
    qsort(ranks, (size_t)work->rows, sizeof *ranks, compare_ranks);
    for (int i = 0; i < work->rows; i++) sorted[i] = unsorted[ranks[i].row];
    return true;
}

static bool make_all(ss_statistics_work *work, ss_statistics *made)
{
    const ss_results *results = work->results;
    size_t problems = (size_t)results->problem_count, machines = (size_t)results->machine_count;
    size_t pairs = (size_t)results->method_count * machines;
    work->slot = ss_arena_take(work->scratch, problems, sizeof *work->slot, "slots");
    work->row = ss_arena_take(work->scratch, pairs, sizeof *work->row, "rows");
    if (!work->slot || !work->row) return false;

    // Numbers problems without faults, and pairs of method and machine that have a run.
    for (int p = 0; p < results->problem_count; p++)
        work->slot[p] = results->problems[p].fault ? -1 : work->slots++;
    for (size_t i = 0; i < pairs; i++) work->row[i] = -1;
    for (int r = 0; r < results->run_count; r++) {
        const ss_run_entry *run = &results->runs[r];
        if (is_counted(work, run)) work->row[run->method * results->machine_count + run->machine] = 0;
    }
    for (size_t i = 0; i < pairs; i++)
        if (work->row[i] == 0) work->row[i] = work->rows++;

    // What each series did alone ...
    made->machines = work->machines = ss_arena_take(work->arena, machines, sizeof *made->machines, "names");
    if (!made->machines || !ss_statistics_find_scenes(work)) return false;
    ss_statistics_name_machines(results, work->machines);
    ss_series *unsorted = ss_arena_take(work->scratch, (size_t)work->rows, sizeof *unsorted, "series");
    made->series = ss_arena_take(work->arena, (size_t)work->rows, sizeof *made->series, "series");
    if (!unsorted || !made->series || !fill(work) || !make_series(work, unsorted) ||
        !sort_series(work, unsorted, made->series))
        return false;
    made->series_count = work->rows;

    // ... and beside the others.
    if (!ss_statistics_recorded(work, made)) return false;
    ss_statistics_compare(work, made);
    ss_statistics_work_precision(work, made);
    return ss_statistics_pairs(work, made) && ss_statistics_explain(work, made) &&
           ss_statistics_choose(work, made) && ss_statistics_scenes(work, made) &&
           ss_statistics_starts(work, made) && ss_statistics_trust(work, made) &&
           ss_statistics_advise(work, made);
}

bool ss_statistics_make(const ss_results *results, const ss_statistics_options *options,
                        ss_statistics *statistics, ss_error *err)
{
    *statistics = (ss_statistics){.options = options ? *options : ss_statistics_defaults()};
    options = &statistics->options;
    int most = (int)(sizeof options->tolerances / sizeof options->tolerances[0]);
    if (options->tolerance_count < 1 || options->tolerance_count > most)
        return ss_fail(err, SS_ERROR_USAGE, "statistics: %d tolerances; there must be 1 to %d",
                       options->tolerance_count, most);
    if (options->main_tolerance < 0 || options->main_tolerance >= options->tolerance_count)
        return ss_fail(err, SS_ERROR_USAGE, "statistics: the main tolerance is not one of the tolerances");
    if (options->measure < 0 || options->measure >= ss_metric_count())
        return ss_fail(err, SS_ERROR_USAGE, "statistics: the measure is not a metric");

    statistics->rule = ss_cost_rule_of(results, options->measure, options->whole_call);
    ss_statistics_work work = {.results = results, .options = options, .rule = statistics->rule};
    statistics->arena = work.arena = ss_arena_create((size_t)1 << 16, err);
    work.scratch = work.arena ? ss_arena_create((size_t)1 << 16, err) : NULL;
    bool good = work.scratch && make_all(&work, statistics);
    ss_arena_destroy(work.scratch);
    if (good) return true;
    ss_statistics_free(statistics);
    return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for statistics of %d runs", results->run_count);
}

void ss_statistics_free(ss_statistics *statistics)
{
    ss_arena_destroy(statistics->arena);
    *statistics = (ss_statistics){0};
}
