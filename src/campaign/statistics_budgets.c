/* Time against accuracy: the error at budgets of time, and the time that a tolerance takes. Both are over
 * problems that stay the same along a curve; otherwise it shows which problems are left, not how the method
 * does on them. */
#include "campaign/statistics_internal.h"

#include <math.h>
#include <string.h>

/* ---- error at a budget ------------------------------------------------------------------------------- */

/* Least error a run has to show within a budget, NaN = nothing. Where the method's own problem is not the
 * true one its gauge would flatter it: the answer counts then, once the whole run fits into the budget. */
static double error_within(const ss_statistics_work *work, const ss_run_entry *run, double budget)
{
    ss_gauge gauge = ss_statistics_gauge(work->rule.measure);
    double scale = ss_run_time_scale(run), least = NAN;
    const ss_metric_value *metric = run->metrics ? &run->metrics[work->rule.measure] : NULL;
    if (metric && metric->applies && run->seconds * scale <= budget) least = fabs(metric->value);
    if (gauge == SS_GAUGE_COUNT || !ss_run_is_true(work->results, run)) return least;
    for (int i = 0; i < run->history_count && run->history[i].seconds * scale <= budget; i++)
        least = fmin(least, run->history[i].gauge[gauge]); // fmin: a number before NaN
    return least;
}

bool ss_statistics_budgets(const ss_statistics_work *work, ss_series *series)
{
    int row = ss_statistics_row(work, series);
    size_t budgets = (size_t)work->options->budget_count;
    series->budgets = ss_arena_take(work->arena, budgets, sizeof *series->budgets, "budgets");
    if (!series->budgets) return false;

    // Without any answer the relative error is 1, that of standing still.
    double nothing = work->rule.measure == ss_metric_index("relative_energy") ? 1.0 : INFINITY;
    for (int b = 0; b < work->options->budget_count; b++) {
        ss_budget_error *error = &series->budgets[b];
        *error = (ss_budget_error){0};
        for (int s = 0; s < work->slots; s++) {
            const ss_run_entry *run = ss_statistics_run(work, row, s);
            double value = run ? error_within(work, run, work->options->budgets[b]) : NAN;
            error->count += !isnan(value);
            work->values[s] = fmin(nothing, value);
        }
        ss_statistics_sort(work->values, work->slots);
        error->median = ss_quantile(work->values, work->slots, 0.5);
        error->high = ss_quantile(work->values, work->slots, 0.9);
    }
    return true;
}

/* ---- work for a precision ---------------------------------------------------------------------------- */

static double time_until(const ss_statistics_work *work, int row, int slot, int tolerance)
{
    const ss_cost_rule rule = {.measure = work->rule.measure, .until_solved = true};
    const ss_run_entry *run = ss_statistics_run(work, row, slot);
    return run ? ss_run_cost(run, &rule, work->options->tolerances[tolerance]) : NAN;
}

/* Over the problems that work->more marks. */
static ss_work sum_work(const ss_statistics_work *work, int row, int tolerance, double penalty)
{
    ss_work sum = {.mean = NAN, .median = NAN};
    int solved = 0;
    for (int s = 0; s < work->slots; s++) {
        if (work->more[s] == 0.0) continue;
        double time = time_until(work, row, s, tolerance);
        solved += !isnan(time);
        work->values[sum.problems++] = isnan(time) ? penalty : time;
    }
    if (solved == 0) return sum;
    sum.mean = ss_shifted_geometric_mean(work->values, sum.problems, work->options->shift);
    // sorted, the unsolved ones are the last
    ss_statistics_sort(work->values, sum.problems);
    for (int i = solved; i < sum.problems; i++) work->values[i] = INFINITY;
    sum.median = ss_quantile(work->values, sum.problems, 0.5);
    return sum;
}

void ss_statistics_work_precision(const ss_statistics_work *work, ss_statistics *made)
{
    // A series is followed if all its runs solve the problem that they are judged by.
    for (int i = 0; i < made->series_count; i++) {
        int row = ss_statistics_row(work, &made->series[i]);
        bool any = false, all = true;
        for (int s = 0; s < work->slots; s++) {
            const ss_run_entry *run = ss_statistics_run(work, row, s);
            if (!run || !run->metrics) continue;
            all &= ss_run_is_true(work->results, run);
            any = true;
        }
        made->series[i].followed = any && all && ss_statistics_has_crossings(work->rule.measure);
    }

    for (int m = 0; m < work->results->machine_count; m++) {
        // Common ground of one machine: the problems that some series solves at the easiest tolerance are
        // marked by 1. The longest time of all gives the penalty.
        double most = 0.0;
        for (int s = 0; s < work->slots; s++) work->more[s] = 0.0;
        for (int i = 0; i < made->series_count; i++) {
            const ss_series *series = &made->series[i];
            int row = ss_statistics_row(work, series);
            for (int s = 0; series->machine == m && series->followed && s < work->slots; s++) {
                if (!isnan(time_until(work, row, s, 0))) work->more[s] = 1.0;
                for (int t = 0; t < work->options->tolerance_count; t++)
                    most = fmax(most, time_until(work, row, s, t)); // fmax: a number before NaN
            }
        }

        for (int i = 0; i < made->series_count; i++) {
            ss_series *series = &made->series[i];
            int row = ss_statistics_row(work, series);
            for (int t = 0; series->machine == m && t < work->options->tolerance_count; t++)
                series->scores[t].work =
                    series->followed ? sum_work(work, row, t, SS_PENALTY * most) : (ss_work){0, NAN, NAN};
        }
    }
}
