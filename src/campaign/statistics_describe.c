/* What else is known about a series: outcomes, contacts, metrics, distributions, scaling. */
#include "campaign/statistics_internal.h"

#include <math.h>
#include <stdlib.h>

static void count_outcomes(const ss_statistics_work *work, int row, ss_series *series)
{
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        if (!run) continue;
        if ((unsigned)run->outcome < SS_OUTCOME_COUNT) series->outcomes[run->outcome]++;
        series->unsteady += run->sample_count > 0 && !run->steady;
    }
}

/* Only with something to time: a series that solves nothing has no times that could be trusted. */
static bool is_timed(const ss_statistics_work *work, int row)
{
    const double *cost = ss_statistics_costs(work, work->options->main_tolerance, row);
    bool any = false;
    for (int s = 0; s < work->slots; s++) {
        if (isnan(cost[s])) continue;
        any = true;
        if (ss_statistics_run(work, row, s)->sample_count == 0) return false;
    }
    return any;
}

/* ---- contacts ---------------------------------------------------------------------------------------- */

enum { RESTING, SLIDING, STICKING, ANOMALOUS, STATES };

/* Adds the counts of a run; nothing where one of them does not apply. */
static void add_contacts(const ss_statistics_work *work, const ss_run_entry *run, const int *metrics,
                         double *states, double *contacts)
{
    for (int i = 0; i < STATES; i++)
        if (!run->metrics || !run->metrics[metrics[i]].applies) return;
    for (int i = 0; i < STATES; i++) states[i] += run->metrics[metrics[i]].value;
    *contacts += work->results->problems[run->problem].contacts;
}

static void share_contacts(const ss_statistics_work *work, int row, ss_series *series)
{
    const int metrics[STATES] = {ss_metric_index("resting"), ss_metric_index("sliding"),
                                 ss_metric_index("sticking"), ss_metric_index("anomalous_contacts")};
    double states[STATES] = {0}, contacts = 0.0;
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        if (run) add_contacts(work, run, metrics, states, &contacts);
    }
    bool any = contacts > 0.0;
    series->sticking = any ? states[STICKING] / contacts : NAN;
    series->sliding_good = any ? (states[SLIDING] - states[ANOMALOUS]) / contacts : NAN;
    series->sliding_bad = any ? states[ANOMALOUS] / contacts : NAN;
    series->open = any ? (contacts - states[RESTING]) / contacts : NAN;
}

/* ---- metrics ----------------------------------------------------------------------------------------- */

static void sum_metric(const ss_statistics_work *work, int row, int metric, ss_series *series)
{
    int count = 0;
    series->metric_most[metric] = NAN;
    series->metric_worst[metric] = -1;
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        if (!run || !run->metrics || !run->metrics[metric].applies) continue;
        double value = run->metrics[metric].value;
        if (isnan(value)) continue;
        work->values[count++] = value;
        if (series->metric_worst[metric] >= 0 && value <= series->metric_most[metric]) continue;
        series->metric_most[metric] = value;
        series->metric_worst[metric] = (int)(run - work->results->runs);
    }
    ss_statistics_sort(work->values, count);
    series->metric_median[metric] = ss_quantile(work->values, count, 0.5);
}

static bool sum_metrics(const ss_statistics_work *work, int row, ss_series *series)
{
    size_t count = (size_t)ss_metric_count();
    series->metric_median = ss_arena_take(work->arena, count, sizeof *series->metric_median, "metrics");
    series->metric_most = ss_arena_take(work->arena, count, sizeof *series->metric_most, "metrics");
    series->metric_worst = ss_arena_take(work->arena, count, sizeof *series->metric_worst, "metrics");
    if (!series->metric_median || !series->metric_most || !series->metric_worst) return false;
    for (int m = 0; m < ss_metric_count(); m++) sum_metric(work, row, m, series);
    return true;
}

/* ---- bins of contact errors -------------------------------------------------------------------------- */

static int compare_bins(const void *a, const void *b)
{
    const ss_bin *x = a, *y = b;
    return (x->bin > y->bin) - (x->bin < y->bin);
}

static int collect_bins(const ss_statistics_work *work, int row, ss_bin *bins)
{
    int count = 0;
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        for (int i = 0; run && i < run->bin_count; i++) {
            if (bins) bins[count] = run->bins[i];
            count++;
        }
    }
    return count;
}

/* Bins of all runs, equal ones added up, ascending. */
static bool merge_bins(const ss_statistics_work *work, int row, ss_series *series)
{
    ss_arena_mark mark = ss_arena_get_mark(work->scratch);
    int count = collect_bins(work, row, NULL), merged = 0;
    ss_bin *all = ss_arena_take(work->scratch, (size_t)count, sizeof *all, "bins");
    if (!all) return false;
    collect_bins(work, row, all);
    qsort(all, (size_t)count, sizeof *all, compare_bins);
    for (int i = 0; i < count; i++) {
        if (merged > 0 && all[merged - 1].bin == all[i].bin)
            all[merged - 1].count += all[i].count;
        else
            all[merged++] = all[i];
    }
    series->bins = ss_arena_take(work->arena, (size_t)merged, sizeof *series->bins, "bins");
    if (!series->bins) return false;
    for (int i = 0; i < merged; i++) series->bins[i] = all[i];
    series->bin_count = merged;
    ss_arena_reset(work->scratch, mark);
    return true;
}

/* ---- scaling ----------------------------------------------------------------------------------------- */

static double feature_of(const ss_statistics_work *work, const ss_run_entry *run, int feature)
{
    const ss_problem_entry *problem = &work->results->problems[run->problem];
    switch (feature) {
    case SS_BY_UNKNOWNS:
        return run->unknowns;
    case SS_BY_CONTACTS:
        return problem->contacts;
    case SS_BY_MASS_RATIO:
        return problem->mass_ratio;
    case SS_BY_DENSITY:
        return problem->density;
    default:
        return problem->rank_ratio;
    }
}

static void scale(const ss_statistics_work *work, int row, ss_series *series)
{
    const double *cost = ss_statistics_costs(work, work->options->main_tolerance, row);
    for (int f = 0; f < SS_FEATURES; f++) {
        int count = 0;
        for (int s = 0; s < work->slots; s++) {
            if (isnan(cost[s])) continue;
            work->values[count] = feature_of(work, ss_statistics_run(work, row, s), f);
            work->more[count++] = cost[s];
        }
        series->scaling[f].slope =
            ss_log_slope(work->values, work->more, count, &series->scaling[f].r_squared);
    }
}

bool ss_statistics_describe(const ss_statistics_work *work, ss_series *series)
{
    int row = ss_statistics_row(work, series);
    count_outcomes(work, row, series);
    series->timed = is_timed(work, row);
    share_contacts(work, row, series);
    scale(work, row, series);
    return sum_metrics(work, row, series) && merge_bins(work, row, series);
}
