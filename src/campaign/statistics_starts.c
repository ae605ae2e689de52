/* What warm starts are worth: every method beside itself from zero, and errors along sequences. */
#include "campaign/statistics_internal.h"

#include <math.h>
#include <string.h>

/* The same method on the same machine, from zero. -1 = there is none. */
static int find_cold(const ss_statistics_work *work, const ss_statistics *made, int series)
{
    const ss_method_entry *methods = work->results->methods, *own = &methods[made->series[series].method];
    for (int i = 0; i < made->series_count; i++) {
        const ss_method_entry *other = &methods[made->series[i].method];
        bool same = made->series[i].machine == made->series[series].machine &&
                    ss_method_start(other) == SS_START_COLD && ss_method_is_alike(other, own) &&
                    strcmp(other->plugin, own->plugin) == 0;
        if (same) return i;
    }
    return -1;
}

/* One start beside none, at one tolerance: over the frames that both were run on, and where there was
 * something to start from. */
static ss_start_score compare(const ss_statistics_work *work, const ss_statistics *made, int tolerance,
                              int series, int cold)
{
    int row = ss_statistics_row(work, &made->series[series]);
    int cold_row = ss_statistics_row(work, &made->series[cold]);
    const double *cost = ss_statistics_costs(work, tolerance, row);
    const double *cold_cost = ss_statistics_costs(work, tolerance, cold_row);
    ss_start_score score = {.iterations = NAN, .cost = NAN};
    double iterations = 0.0, costs = 0.0;
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        const ss_run_entry *from_zero = ss_statistics_run(work, cold_row, s);
        if (!run || !from_zero || ss_run_started_cold(run) || ss_run_is_refused(run, work->rule.measure) ||
            ss_run_is_refused(from_zero, work->rule.measure))
            continue;
        bool solved = !isnan(cost[s]), cold_solved = !isnan(cold_cost[s]);
        score.frames++;
        score.solved += solved;
        score.cold_solved += cold_solved;
        if (!solved || !cold_solved) {
            score.better += solved;
            score.worse += cold_solved;
            continue;
        }
        double own = ss_statistics_iterations(work, tolerance, row, s);
        double zero = ss_statistics_iterations(work, tolerance, cold_row, s);
        score.better += own < zero;
        score.worse += own > zero;
        score.both++;
        iterations += log(fmax(own, 1.0) / fmax(zero, 1.0));
        costs += log(cost[s] / cold_cost[s]);
    }
    if (score.both) score.iterations = exp(iterations / score.both), score.cost = exp(costs / score.both);
    return score;
}

/* How far each problem is from the first of its simulation that is in the ledger, in frames; problems are
 * sorted by scene, file and frame. */
static void find_positions(const ss_statistics_work *work, int *position)
{
    const ss_problem_entry *first = NULL;
    size_t folder = 0;
    for (int p = 0; p < work->results->problem_count; p++) {
        const ss_problem_entry *problem = &work->results->problems[p];
        const char *slash = strrchr(problem->place, '/');
        size_t own = slash ? (size_t)(slash - problem->place) : 0;
        bool same = first && problem->index >= first->index && strcmp(problem->file, first->file) == 0 &&
                    own == folder && strncmp(problem->place, first->place, own) == 0;
        if (!same) first = problem, folder = own;
        if (work->slot[p] >= 0) position[work->slot[p]] = problem->index - first->index;
    }
}

/* The median error of the answers of a series at each position; what was not judged is infinite. */
static bool find_drift(const ss_statistics_work *work, const int *position, int last, ss_series *series)
{
    int row = ss_statistics_row(work, series);
    ss_curve *drift = &series->drift;
    drift->x = ss_arena_take(work->arena, (size_t)last + 1, sizeof *drift->x, "drift");
    drift->y = ss_arena_take(work->arena, (size_t)last + 1, sizeof *drift->y, "drift");
    if (!drift->x || !drift->y) return false;
    drift->count = 0;
    for (int at = 0; at <= last; at++) {
        int count = 0;
        for (int s = 0; s < work->slots; s++) {
            const ss_run_entry *run = position[s] == at ? ss_statistics_run(work, row, s) : NULL;
            if (!run || ss_run_is_refused(run, work->rule.measure)) continue;
            bool judged = run->metrics && run->metrics[work->rule.measure].applies;
            double error = judged ? fabs(run->metrics[work->rule.measure].value) : INFINITY;
            work->values[count++] = isnan(error) ? INFINITY : error;
        }
        if (count == 0) continue;
        ss_statistics_sort(work->values, count);
        double median = ss_quantile(work->values, count, 0.5);
        drift->x[drift->count] = at;
        drift->y[drift->count++] = isfinite(median) ? median : NAN;
    }
    return true;
}

bool ss_statistics_starts(const ss_statistics_work *work, ss_statistics *made)
{
    int tolerances = work->options->tolerance_count, last = 0;
    made->starts = ss_arena_take(work->arena, (size_t)made->series_count, sizeof *made->starts, "starts");
    int *position = ss_arena_take(work->scratch, (size_t)work->slots, sizeof *position, "positions");
    if (!made->starts || !position) return false;
    find_positions(work, position);
    for (int s = 0; s < work->slots; s++) last = position[s] > last ? position[s] : last;

    for (int i = 0; i < made->series_count; i++) {
        ss_start start = ss_method_start(&work->results->methods[made->series[i].method]);
        int cold = start == SS_START_COLD ? -1 : find_cold(work, made, i);
        if (cold < 0) continue;
        ss_start_standing *standing = &made->starts[made->start_count++];
        *standing = (ss_start_standing){.series = i, .cold = cold, .start = start};
        standing->scores = ss_arena_take(work->arena, (size_t)tolerances, sizeof *standing->scores, "starts");
        if (!standing->scores) return false;
        for (int t = 0; t < tolerances; t++) standing->scores[t] = compare(work, made, t, i, cold);
        if (!find_drift(work, position, last, &made->series[i])) return false;
        if (made->series[cold].drift.count == 0 && !find_drift(work, position, last, &made->series[cold]))
            return false;
    }
    return true;
}
