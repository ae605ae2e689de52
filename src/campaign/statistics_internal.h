/* campaign/statistics_internal.h - what the files of statistics share: the runs of every series in the
 * order of problems. */
#ifndef SS_CAMPAIGN_STATISTICS_INTERNAL_H
#define SS_CAMPAIGN_STATISTICS_INTERNAL_H

#include "campaign/statistics.h"

typedef struct ss_statistics_work {
    const ss_results *results;
    const ss_statistics_options *options;
    ss_arena *arena;   /* of the result */
    ss_arena *scratch; /* of the making */
    int *slot;         /* of a problem among those without a fault; -1 = it has one */
    int slots;
    int *row; /* [method][machine]: row below of a series; -1 = no run */
    int rows;
    int *run;       /* [row][slot]: run; -1 = missing */
    double *cost;   /* [tolerance][row][slot], s; NaN = not solved */
    double *best;   /* [tolerance][machine][slot]: least cost of all series there; NaN = nobody solves it */
    double *values; /* room for slots values, twice */
    double *more;
    int relative_energy; /* index of the metric */
} ss_statistics_work;

static inline int ss_statistics_row(const ss_statistics_work *work, const ss_series *series)
{
    return work->row[series->method * work->results->machine_count + series->machine];
}

/* The run of a series for a problem without a fault; NULL = missing. */
static inline const ss_run_entry *ss_statistics_run(const ss_statistics_work *work, int row, int slot)
{
    int run = work->run[(size_t)row * (size_t)work->slots + (size_t)slot];
    return run < 0 ? NULL : &work->results->runs[run];
}

static inline double *ss_statistics_costs(const ss_statistics_work *work, int tolerance, int row)
{
    return work->cost + ((size_t)tolerance * (size_t)work->rows + (size_t)row) * (size_t)work->slots;
}

static inline double *ss_statistics_best(const ss_statistics_work *work, int tolerance, int machine)
{
    size_t block = (size_t)tolerance * (size_t)work->results->machine_count + (size_t)machine;
    return work->best + block * (size_t)work->slots;
}

void ss_statistics_sort(double *values, int count);

/* Each is false when out of memory. */
bool ss_statistics_scores(const ss_statistics_work *work, ss_series *series);   /* statistics_score.c */
bool ss_statistics_pairs(const ss_statistics_work *work, ss_statistics *made);  /* statistics_score.c */
bool ss_statistics_describe(const ss_statistics_work *work, ss_series *series); /* statistics_describe.c */
bool ss_statistics_bands(const ss_statistics_work *work, ss_series *series);    /* statistics_bands.c */
bool ss_statistics_scenes(const ss_statistics_work *work, ss_statistics *made); /* statistics_scenes.c */
bool ss_statistics_advise(const ss_statistics_work *work, ss_statistics *made); /* statistics_advice.c */

/* Is the problem that the method solved the one it is judged by? statistics_score.c */
bool ss_run_is_true(const ss_results *results, const ss_run_entry *run);
/* What a second of the run for accuracy is worth when the repeats ran alone. 1 without repeats. */
double ss_run_time_scale(const ss_run_entry *run);

#endif
