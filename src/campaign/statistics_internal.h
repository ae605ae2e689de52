/* campaign/statistics_internal.h - what the files of statistics share: the runs of every series in the
 * order of problems. */
#ifndef SS_CAMPAIGN_STATISTICS_INTERNAL_H
#define SS_CAMPAIGN_STATISTICS_INTERNAL_H

#include "campaign/statistics.h"

/* Slots begin .. end - 1 have the same scene: problems are sorted by it. */
typedef struct ss_stretch {
    const char *name;
    int begin, end;
} ss_stretch;

typedef struct ss_statistics_work {
    const ss_results *results;
    const ss_statistics_options *options;
    ss_arena *arena;   /* of the result */
    ss_arena *scratch; /* of the making */
    int *slot;         /* of a problem among those without a fault; -1 = it has one */
    int slots;
    ss_machine_name *machines; /* of the result */
    ss_stretch *scenes;
    int scene_count;
    int *row; /* [method][machine]: row below of a series; -1 = no run */
    int rows;
    int *run;      /* [row][slot]: run; -1 = missing */
    double *cost;  /* [tolerance][row][slot], s; NaN = not solved */
    double *best;  /* [tolerance][machine][slot]: least cost of all series there; NaN = no series solves it */
    double *worst; /* [tolerance][machine], s: largest cost of all; 0 = nothing is solved there */
    double *values; /* room for slots values, twice */
    double *more;
    ss_cost_rule rule;
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

/* What an unsolved problem counts as in means, s. */
static inline double ss_statistics_penalty(const ss_statistics_work *work, int tolerance, int machine)
{
    return SS_PENALTY * work->worst[tolerance * work->results->machine_count + machine];
}

void ss_statistics_sort(double *values, int count);
/* Median and largest value of a metric over runs, -1 = missing, and the run that has the largest; NaN and -1
 * if it applies to none. statistics_describe.c */
void ss_statistics_sum_metric(const ss_statistics_work *work, int metric, const int *runs, int count,
                              double *median, double *most, int *worst);

/* Each is false when out of memory. */
bool ss_statistics_scores(const ss_statistics_work *work, ss_series *series);   /* statistics_score.c */
bool ss_statistics_pairs(const ss_statistics_work *work, ss_statistics *made);  /* statistics_score.c */
bool ss_statistics_describe(const ss_statistics_work *work, ss_series *series); /* statistics_describe.c */
bool ss_statistics_bands(const ss_statistics_work *work, ss_series *series);    /* statistics_bands.c */
/* statistics_machines.c */
void ss_statistics_name_machines(const ss_results *results, ss_machine_name *names);
bool ss_statistics_recorded(const ss_statistics_work *work, ss_statistics *made); /* statistics_recorded.c */
bool ss_statistics_find_scenes(ss_statistics_work *work);                         /* statistics_scenes.c */
bool ss_statistics_budgets(const ss_statistics_work *work, ss_series *series);    /* statistics_budgets.c */
void ss_statistics_work_precision(const ss_statistics_work *work, ss_statistics *made); /* ... */
void ss_statistics_compare(const ss_statistics_work *work, ss_statistics *made); /* statistics_score.c */
bool ss_statistics_explain(const ss_statistics_work *work, ss_statistics *made); /* statistics_why.c */
bool ss_statistics_choose(const ss_statistics_work *work, ss_statistics *made);  /* statistics_advice.c */
bool ss_statistics_scenes(const ss_statistics_work *work, ss_statistics *made);  /* statistics_scenes.c */
bool ss_statistics_advise(const ss_statistics_work *work, ss_statistics *made);  /* statistics_advice.c */

/* Costs of slots begin .. end - 1 on common ground: those that some series of the machine solves, at the
 * penalty where this one does not. Returns how many. */
int ss_statistics_penalised(const ss_statistics_work *work, int tolerance, int row, int machine, int begin,
                            int end, double *values);
/* Does a series with this many solved at this cost come before another of its machine? */
bool ss_statistics_is_before(int solved, double cost, int other_solved, double other_cost);
/* May the series be recommended? Not one with shifted starts, which only show what it costs not to know
 * contacts again; unless no other solves anything. */
bool ss_statistics_may_recommend(const ss_statistics_work *work, const ss_statistics *made, int tolerance,
                                 int series);

/* A series beside another one; leader = -1: beside none. statistics_score.c */
ss_versus ss_statistics_versus(const ss_statistics_work *work, const ss_statistics *made, int tolerance,
                               int series, int leader);

/* Warm starts beside cold ones. statistics_starts.c */
bool ss_statistics_starts(const ss_statistics_work *work, ss_statistics *made);
bool ss_statistics_trust(const ss_statistics_work *work, ss_statistics *made); /* statistics_trust.c */
/* Iterations of a run until the tolerance was reached, or all of them. statistics_score.c */
double ss_statistics_iterations(const ss_statistics_work *work, int tolerance, int row, int slot);

/* The gauge that follows a metric from iteration to iteration; SS_GAUGE_COUNT = none. statistics_score.c */
ss_gauge ss_statistics_gauge(int measure);
/* Are its crossings in the ledger? */
bool ss_statistics_has_crossings(int measure);
/* Is the problem that the method solved the one it is judged by? statistics_score.c */
bool ss_run_is_true(const ss_results *results, const ss_run_entry *run);
/* What a second of the run for accuracy is worth when the repeats ran alone. 1 without repeats. */
double ss_run_time_scale(const ss_run_entry *run);

#endif
