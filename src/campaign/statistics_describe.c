/* What else is known about a series: outcomes, contacts, metrics, distributions, scaling. */
#include "campaign/statistics_internal.h"

#include <math.h>
#include <stdlib.h>

/* ---- contacts ---------------------------------------------------------------------------------------- */

enum { RESTING, SLIDING, STICKING, ANOMALOUS, STATES };

/* Shares of contacts that stick, slide, and are open; of sliding ones those that slide as they should. Runs
 * to which one of the metrics does not apply are left out. */
static void share_contacts(const ss_statistics_work *work, int row, ss_series *series)
{
    const int metrics[STATES] = {ss_metric_index("resting"), ss_metric_index("sliding"),
                                 ss_metric_index("sticking"), ss_metric_index("anomalous_contacts")};
    double states[STATES] = {0}, contacts = 0.0;
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        bool applies = run && run->metrics;
        for (int i = 0; i < STATES; i++) applies = applies && run->metrics[metrics[i]].applies;
        if (!applies) continue;
        for (int i = 0; i < STATES; i++) states[i] += run->metrics[metrics[i]].value;
        contacts += work->results->problems[run->problem].contacts;
    }

    bool any = contacts > 0.0;
    series->sticking = any ? states[STICKING] / contacts : NAN;
    series->sliding_good = any ? (states[SLIDING] - states[ANOMALOUS]) / contacts : NAN;
    series->sliding_bad = any ? states[ANOMALOUS] / contacts : NAN;
    series->open = any ? (contacts - states[RESTING]) / contacts : NAN;
}

/* ---- metrics ----------------------------------------------------------------------------------------- */

void ss_statistics_sum_metric(const ss_statistics_work *work, int metric, const int *runs, int count,
                              double *median, double *most, int *worst)
{
    int used = 0;
    *most = NAN;
    *worst = -1;
    for (int i = 0; i < count; i++) {
        const ss_run_entry *run = runs[i] < 0 ? NULL : &work->results->runs[runs[i]];
        if (!run || !run->metrics || !run->metrics[metric].applies) continue;
        double value = run->metrics[metric].value;
        if (isnan(value)) continue;
        work->values[used++] = value;
        if (*worst >= 0 && value <= *most) continue;
        *most = value;
        *worst = runs[i];
    }
    ss_statistics_sort(work->values, used);
    *median = ss_quantile(work->values, used, 0.5);
}

/* ---- bins of contact errors -------------------------------------------------------------------------- */

static int compare_bins(const void *a, const void *b)
{
    const ss_bin *x = a, *y = b;
    return (x->bin > y->bin) - (x->bin < y->bin);
}

/* Bins of all runs, equal ones added up, ascending. */
static bool merge_bins(const ss_statistics_work *work, int row, ss_series *series)
{
    ss_arena_mark mark = ss_arena_get_mark(work->scratch);
    int most = 0, count = 0, merged = 0;
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        most += run ? run->bin_count : 0;
    }
    ss_bin *all = ss_arena_take(work->scratch, (size_t)most, sizeof *all, "bins");
    if (!all) return false;
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        for (int i = 0; run && i < run->bin_count; i++) all[count++] = run->bins[i];
    }

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

/* ---- all of it ---------------------------------------------------------------------------------------- */

bool ss_statistics_describe(const ss_statistics_work *work, ss_series *series)
{
    int row = ss_statistics_row(work, series);
    const double *cost = ss_statistics_costs(work, work->options->main_tolerance, row);
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        if (!run) continue;
        if ((unsigned)run->outcome < SS_OUTCOME_COUNT) series->outcomes[run->outcome]++;
        series->unsteady += run->sample_count > 0 && !run->steady;
    }

    // Only with something to time: a series that solves nothing has no times that could be trusted.
    int solved = 0, sampled = 0;
    for (int s = 0; s < work->slots; s++) {
        if (isnan(cost[s])) continue;
        solved++;
        sampled += ss_statistics_run(work, row, s)->sample_count > 0;
    }
    series->timed = solved > 0 && sampled == solved;
    share_contacts(work, row, series);

    // How the cost grows with features of problems.
    for (int f = 0; f < SS_FEATURES; f++) {
        int count = 0;
        for (int s = 0; s < work->slots; s++) {
            if (isnan(cost[s])) continue;
            const ss_run_entry *run = ss_statistics_run(work, row, s);
            const ss_problem_entry *problem = &work->results->problems[run->problem];
            const double features[SS_FEATURES] = {
                [SS_BY_UNKNOWNS] = run->unknowns,         [SS_BY_CONTACTS] = problem->contacts,
                [SS_BY_MASS_RATIO] = problem->mass_ratio, [SS_BY_DENSITY] = problem->density,
                [SS_BY_RANK_RATIO] = problem->rank_ratio,
            };
            work->values[count] = features[f];
            work->more[count++] = cost[s];
        }
        series->scaling[f].slope =
            ss_log_slope(work->values, work->more, count, &series->scaling[f].r_squared);
    }

    size_t count = (size_t)ss_metric_count();
    series->metric_median = ss_arena_take(work->arena, count, sizeof *series->metric_median, "metrics");
    series->metric_most = ss_arena_take(work->arena, count, sizeof *series->metric_most, "metrics");
    series->metric_worst = ss_arena_take(work->arena, count, sizeof *series->metric_worst, "metrics");
    if (!series->metric_median || !series->metric_most || !series->metric_worst) return false;
    for (int m = 0; m < ss_metric_count(); m++)
        ss_statistics_sum_metric(work, m, work->run + (size_t)row * (size_t)work->slots, work->slots,
                                 &series->metric_median[m], &series->metric_most[m],
                                 &series->metric_worst[m]);
    return merge_bins(work, row, series);
}
