/* How the error falls from iteration to iteration, scene by scene. */
#include "campaign/statistics_internal.h"

#include <math.h>

/* The iterations of a band: the grid, and the end of the longest run where that lies between. */
static int next_iteration(int iteration, int longest)
{
    int next = ss_history_grid(iteration);
    return next > longest ? longest : next;
}

/* The last value that a run reported by then; from its end on that of the answer, which is what is judged:
 * with --keep best, or when a method polishes at the end, it is not the last of the history. */
static double value_at(const ss_run_entry *run, int gauge, int iteration)
{
    int points = 0, high = run->history_count; // of the history up to the iteration
    while (points < high) {
        int middle = points + (high - points) / 2;
        if (run->history[middle].iteration <= iteration)
            points = middle + 1;
        else
            high = middle;
    }
    if (points == 0) return NAN;
    bool ended = points == run->history_count && !isnan(run->gauge[gauge]);
    return ended ? run->gauge[gauge] : run->history[points - 1].gauge[gauge];
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

static bool make_band(const ss_statistics_work *work, int row, const ss_stretch *where, int gauge,
                      ss_band *band)
{
    int longest = 0, points = 0;
    for (int s = where->begin; s < where->end; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        int last = run && run->history_count ? run->history[run->history_count - 1].iteration : 0;
        if (last > longest) longest = last;
    }
    for (int k = 0; k < longest; k = next_iteration(k, longest)) points++;

    double **arrays[] = {&band->mean, &band->deviation, &band->median, &band->low, &band->high, &band->most};
    band->points = points;
    band->iteration = ss_arena_take(work->arena, (size_t)points, sizeof *band->iteration, "band");
    band->count = ss_arena_take(work->arena, (size_t)points, sizeof *band->count, "band");
    bool good = band->iteration && band->count;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = ss_arena_take(work->arena, (size_t)points, sizeof **arrays[i], "band");
        good = good && *arrays[i];
    }
    if (!good) return false;

    // At each iteration the values of every run, NaN left out.
    for (int point = 0, k = 0; point < points; point++) {
        double *values = work->values;
        int count = 0;
        k = next_iteration(k, longest);
        for (int s = where->begin; s < where->end; s++) {
            const ss_run_entry *run = ss_statistics_run(work, row, s);
            double value = run ? value_at(run, gauge, k) : NAN;
            if (!isnan(value)) values[count++] = value;
        }
        band->iteration[point] = k;
        band->count[point] = count;
        mean_and_deviation(values, count, &band->mean[point], &band->deviation[point]);
        ss_statistics_sort(values, count);
        band->median[point] = ss_quantile(values, count, 0.5);
        band->low[point] = ss_quantile(values, count, 0.05);
        band->high[point] = ss_quantile(values, count, 0.95);
        band->most[point] = ss_quantile(values, count, 1.0);
    }
    return true;
}

bool ss_statistics_bands(const ss_statistics_work *work, ss_series *series)
{
    int row = ss_statistics_row(work, series);
    const ss_stretch all = {.end = work->slots};
    series->bands = ss_arena_take(work->arena, SS_BAND_SCENES + 1, sizeof *series->bands, "bands");
    if (!series->bands) return false;
    if (work->scene_count > 1) {
        ss_scene_bands *together = &series->bands[series->band_count++];
        together->scene = -1;
        if (!make_band(work, row, &all, SS_GAUGE_RELATIVE_ENERGY, &together->gauge[SS_GAUGE_RELATIVE_ENERGY]))
            return false;
    }

    // The largest scenes by number of problems, of equal ones the first.
    for (int i = 0; i < SS_BAND_SCENES && i < work->scene_count; i++) {
        int next = -1, most = 0;
        for (int k = 0; k < work->scene_count; k++) {
            int size = work->scenes[k].end - work->scenes[k].begin;
            bool is_taken = false;
            for (int b = 0; b < series->band_count; b++) is_taken |= series->bands[b].scene == k;
            if (!is_taken && size > most) next = k, most = size;
        }
        ss_scene_bands *bands = &series->bands[series->band_count++];
        bands->scene = next;
        for (int g = 0; g < SS_GAUGE_COUNT; g++)
            if (!make_band(work, row, &work->scenes[next], g, &bands->gauge[g])) return false;
    }
    return true;
}
