/* How the error falls: convergence bands by iteration, and the error at budgets of time. */
#include "campaign/statistics_internal.h"

#include <math.h>

/* ---- bands ------------------------------------------------------------------------------------------- */

static int longest_history(const ss_statistics_work *work, int row)
{
    int longest = 0;
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        int last = run && run->history_count ? run->history[run->history_count - 1].iteration : 0;
        if (last > longest) longest = last;
    }
    return longest;
}

/* The iterations of a band: the grid, and the end of the longest run where that lies between. */
static int next_iteration(int iteration, int longest)
{
    int next = ss_history_grid(iteration);
    return next > longest ? longest : next;
}

static int count_iterations(int longest)
{
    int count = 0;
    for (int k = 0; k < longest; k = next_iteration(k, longest)) count++;
    return count;
}

static bool take_band(const ss_statistics_work *work, int points, ss_band *band)
{
    double **arrays[] = {&band->mean, &band->deviation, &band->median, &band->low, &band->high, &band->most};
    band->points = points;
    band->iteration = ss_arena_take(work->arena, (size_t)points, sizeof *band->iteration, "band");
    band->count = ss_arena_take(work->arena, (size_t)points, sizeof *band->count, "band");
    bool good = band->iteration && band->count;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = ss_arena_take(work->arena, (size_t)points, sizeof **arrays[i], "band");
        good = good && *arrays[i];
    }
    return good;
}

/* The history of a run up to an iteration: number of points. */
static int points_until(const ss_run_entry *run, int iteration)
{
    int low = 0, high = run->history_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (run->history[middle].iteration <= iteration)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The last known value of every run at an iteration, NaN left out. Returns how many. */
static int gather(const ss_statistics_work *work, int row, int gauge, int iteration, double *values)
{
    int count = 0;
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        int points = run ? points_until(run, iteration) : 0;
        double value = points ? run->history[points - 1].gauge[gauge] : NAN;
        if (!isnan(value)) values[count++] = value;
    }
    return count;
}

/* Mean, and deviation with count - 1. The second pass takes out what rounding left in the first. */
static void mean_and_deviation(const double *values, int count, double *mean, double *deviation)
{
    double sum = 0.0, rest = 0.0, squares = 0.0;
    *mean = *deviation = NAN;
    if (count == 0) return;
    for (int i = 0; i < count; i++) sum += values[i];
    *mean = sum / count;
    if (!isfinite(*mean)) return;
    for (int i = 0; i < count; i++) rest += values[i] - *mean;
    *mean += rest / count;
    rest = 0.0;
    for (int i = 0; i < count; i++) {
        double difference = values[i] - *mean;
        rest += difference;
        squares += difference * difference;
    }
    if (count > 1) *deviation = sqrt(fmax(0.0, squares - rest * rest / count) / (count - 1));
}

static void fill_point(const ss_statistics_work *work, int row, int gauge, int point, ss_band *band)
{
    double *values = work->values;
    int count = gather(work, row, gauge, band->iteration[point], values);
    band->count[point] = count;
    mean_and_deviation(values, count, &band->mean[point], &band->deviation[point]);
    ss_statistics_sort(values, count);
    band->median[point] = ss_quantile(values, count, 0.5);
    band->low[point] = ss_quantile(values, count, 0.05);
    band->high[point] = ss_quantile(values, count, 0.95);
    band->most[point] = ss_quantile(values, count, 1.0);
}

static bool make_band(const ss_statistics_work *work, int row, int gauge, int longest, ss_band *band)
{
    if (!take_band(work, count_iterations(longest), band)) return false;
    for (int point = 0, k = 0; point < band->points; point++) {
        k = next_iteration(k, longest);
        band->iteration[point] = k;
        fill_point(work, row, gauge, point, band);
    }
    return true;
}

/* ---- budgets ----------------------------------------------------------------------------------------- */

/* Least error a run has to show within a budget, NaN = nothing. Where the method's own problem is not the
 * true one its gauge would flatter it: the answer counts then, once the whole run fits into the budget. */
static double error_within(const ss_statistics_work *work, const ss_run_entry *run, double budget)
{
    double scale = ss_run_time_scale(run), least = NAN;
    if (!ss_run_is_true(work->results, run)) {
        const ss_metric_value *metric = run->metrics ? &run->metrics[work->rule.measure] : NULL;
        return metric && metric->applies && run->seconds * scale <= budget ? metric->value : NAN;
    }
    for (int i = 0; i < run->history_count && run->history[i].seconds * scale <= budget; i++)
        least = fmin(least, run->history[i].gauge[SS_GAUGE_RELATIVE_ENERGY]); // fmin: a number before NaN
    return least;
}

static void make_budget(const ss_statistics_work *work, int row, double budget, ss_budget_error *error)
{
    int count = 0;
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        double value = run ? error_within(work, run, budget) : NAN;
        if (!isnan(value)) work->values[count++] = value;
    }
    ss_statistics_sort(work->values, count);
    *error = (ss_budget_error){.median = ss_quantile(work->values, count, 0.5),
                               .high = ss_quantile(work->values, count, 0.9),
                               .count = count};
}

bool ss_statistics_bands(const ss_statistics_work *work, ss_series *series)
{
    int row = ss_statistics_row(work, series), longest = longest_history(work, row);
    for (int g = 0; g < SS_GAUGE_COUNT; g++)
        if (!make_band(work, row, g, longest, &series->bands[g])) return false;
    size_t budgets = (size_t)work->options->budget_count;
    series->budgets = ss_arena_take(work->arena, budgets, sizeof *series->budgets, "budgets");
    if (!series->budgets) return false;
    for (int b = 0; b < work->options->budget_count; b++)
        make_budget(work, row, work->options->budgets[b], &series->budgets[b]);
    return true;
}
