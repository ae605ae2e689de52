/* How the error falls from iteration to iteration, scene by scene. */
#include "campaign/statistics_internal.h"

#include <math.h>

static int longest_history(const ss_statistics_work *work, int row, const ss_stretch *where)
{
    int longest = 0;
    for (int s = where->begin; s < where->end; s++) {
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

/* The last value that a run reported by then; from its end on that of the answer, which is what is judged:
 * with --keep best, or when a method polishes at the end, it is not the last of the history. */
static double value_at(const ss_run_entry *run, int gauge, int iteration)
{
    int points = points_until(run, iteration);
    if (points == 0) return NAN;
    bool ended = points == run->history_count && !isnan(run->gauge[gauge]);
    return ended ? run->gauge[gauge] : run->history[points - 1].gauge[gauge];
}

/* Values of every run at an iteration, NaN left out. Returns how many. */
static int gather(const ss_statistics_work *work, int row, const ss_stretch *where, int gauge, int iteration)
{
    int count = 0;
    for (int s = where->begin; s < where->end; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        double value = run ? value_at(run, gauge, iteration) : NAN;
        if (!isnan(value)) work->values[count++] = value;
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

static void fill_point(const ss_statistics_work *work, int row, const ss_stretch *where, int gauge, int point,
                       ss_band *band)
{
    double *values = work->values;
    int count = gather(work, row, where, gauge, band->iteration[point]);
    band->count[point] = count;
    mean_and_deviation(values, count, &band->mean[point], &band->deviation[point]);
    ss_statistics_sort(values, count);
    band->median[point] = ss_quantile(values, count, 0.5);
    band->low[point] = ss_quantile(values, count, 0.05);
    band->high[point] = ss_quantile(values, count, 0.95);
    band->most[point] = ss_quantile(values, count, 1.0);
}

static bool make_band(const ss_statistics_work *work, int row, const ss_stretch *where, int gauge,
                      ss_band *band)
{
    int longest = longest_history(work, row, where);
    if (!take_band(work, count_iterations(longest), band)) return false;
    for (int point = 0, k = 0; point < band->points; point++) {
        k = next_iteration(k, longest);
        band->iteration[point] = k;
        fill_point(work, row, where, gauge, point, band);
    }
    return true;
}

/* The scene that comes next by number of problems, of equal ones the first. */
static int next_scene(const ss_statistics_work *work, const ss_scene_bands *taken, int count)
{
    int best = -1, most = 0;
    for (int i = 0; i < work->scene_count; i++) {
        int size = work->scenes[i].end - work->scenes[i].begin;
        bool is_taken = false;
        for (int k = 0; k < count; k++) is_taken |= taken[k].scene == i;
        if (!is_taken && size > most) best = i, most = size;
    }
    return best;
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
    for (int i = 0; i < SS_BAND_SCENES && i < work->scene_count; i++) {
        int scene = next_scene(work, series->bands, series->band_count);
        ss_scene_bands *bands = &series->bands[series->band_count++];
        bands->scene = scene;
        for (int g = 0; g < SS_GAUGE_COUNT; g++)
            if (!make_band(work, row, &work->scenes[scene], g, &bands->gauge[g])) return false;
    }
    return true;
}
