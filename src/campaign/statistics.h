/* campaign/statistics.h - what a ledger says about methods. Pure functions of ss_results: no files, no clock.
 *
 * A *solver's row* is a method on one machine: a series. A run of it is *solved* at a tolerance when its
 * metric relative_energy, which is judged on the true Coulomb problem of the frame, is at most the tolerance.
 * Its *cost* is the time until then: of the first crossing of the gauge relative_energy where the method's
 * own problem is the true one (cone, FCLIB), otherwise of the whole run; when repeats were timed alone,
 * scaled by (least of the samples) / (seconds of the run). "not applicable" is neither solved nor failed: it
 * is counted by itself, and stays unsolved in profiles. */
#ifndef SS_CAMPAIGN_STATISTICS_H
#define SS_CAMPAIGN_STATISTICS_H

#include "campaign/ledger.h"

/* ---- plain numbers ---------------------------------------------------------------------------------- */

/* exp(mean(log(x + shift))) - shift; NaN for no values. */
double ss_shifted_geometric_mean(const double *values, int count, double shift);
/* Wilson's score interval for `hits` of `count`, confidence 95 %. 0..1 for count = 0. */
void ss_wilson_interval(int hits, int count, double *low, double *high);
/* Linear between order statistics (Hyndman and Fan 1996, type 7); `sorted` ascending. NaN for none. */
double ss_quantile(const double *sorted, int count, double share);
/* Least squares line through (log x, log y); points that are not positive and finite are left out. NaN when
 * fewer than three distinct x are left. */
double ss_log_slope(const double *x, const double *y, int count, double *r_squared);
/* "12.3 us", "4.56 ms", "7.89 s", "-" for NaN. */
void ss_seconds_text(double seconds, char *text, size_t size);

/* ---- series ----------------------------------------------------------------------------------------- */

typedef struct ss_statistics_options {
    double tolerances[8]; /* of relative_energy, falling */
    int tolerance_count;
    int main_tolerance; /* index: the one of the summary */
    double shift;       /* s, of shifted geometric means */
    double budgets[16]; /* s, rising */
    int budget_count;
} ss_statistics_options;
/* 1e-2 1e-4 1e-6 1e-8, main 1e-4, 1 ms, 1e-5 s ... 1 s in half decades */
ss_statistics_options ss_statistics_defaults(void);

/* A step function or curve; y belongs to x. */
typedef struct ss_curve {
    double *x, *y;
    int count;
} ss_curve;

/* One series at one tolerance. */
typedef struct ss_score {
    /* refused: not applicable; missing: no run yet. Sum: number of problems */
    int solved, failed, refused, missing;
    double rate, low, high; /* solved / (solved + failed), with Wilson's interval */
    double cost;            /* s: shifted geometric mean over what it solved; NaN = nothing */
    double cost_median, cost_most;
    /* Dolan-More: x = ratio to the best of all series of the machine, y = share of all problems */
    ss_curve profile;
    ss_curve iterations;  /* data profiles: share solved within x iterations */
    ss_curve per_unknown; /* ... within x seconds per unknown */
} ss_score;

/* Mean and spread over runs at one iteration of the grid. A run that ended earlier counts on with
 * its last value. */
typedef struct ss_band {
    int *iteration, *count;
    double *mean, *deviation;           /* of the values; deviation with count - 1 */
    double *median, *low, *high, *most; /* quantiles 0.05, 0.95; largest */
    int points;
} ss_band;

/* Best error so far at a budget of time, over problems that apply: of the gauge relative_energy where the
 * method's own problem is the true one, otherwise of the metric, once the whole run fits. Times are
 * scaled as costs are. */
typedef struct ss_budget_error {
    double median, high; /* quantiles 0.5, 0.9 of relative_energy; NaN = none */
    int count;           /* problems with an iterate by then */
} ss_budget_error;

typedef struct ss_scaling {
    double slope, r_squared; /* of cost against the feature, log-log */
} ss_scaling;
enum { SS_BY_UNKNOWNS, SS_BY_CONTACTS, SS_BY_MASS_RATIO, SS_BY_DENSITY, SS_BY_RANK_RATIO, SS_FEATURES };
const char *ss_feature_name(int feature); /* "unknowns" */

typedef struct ss_series {
    int method, machine; /* indices into the results */
    char *label;         /* of the method, and of the machine where there are several */
    int outcomes[SS_OUTCOME_COUNT];
    ss_score *scores; /* per tolerance */
    ss_band bands[SS_GAUGE_COUNT];
    ss_budget_error *budgets;
    ss_scaling scaling[SS_FEATURES]; /* of the cost at the main tolerance */
    /* shares of all contacts of runs that were judged; NaN = none */
    double sticking, sliding_good, sliding_bad, open;
    double *metric_median, *metric_most; /* per metric, over runs where it applies; NaN = none */
    int *metric_worst;                   /* run with the largest; -1 = none */
    ss_bin *bins;                        /* contact errors of all runs together */
    int bin_count;
    bool timed;   /* it solves something at the main tolerance, and all of that has samples */
    int unsteady; /* runs whose repeats gave other bits */
} ss_series;

/* Two series alone, at one tolerance: log2(cost a / cost b) of every problem that both solve, ascending. */
typedef struct ss_pair {
    int a, b;
    double *ratio;
    int both, only_a, only_b, neither;
} ss_pair;

/* A series on the problems of one scene. */
typedef struct ss_scene_score {
    int series; /* -1 = nobody solves anything */
    int solved;
    double cost; /* s: shifted geometric mean over what it solved; NaN = nothing */
} ss_scene_score;

/* Problems with the same scene, and per tolerance who solves most of them, of those the cheapest; and what
 * the first series of all does there. */
typedef struct ss_scene_standing {
    char *name;
    int problems;
    ss_scene_score *best, *first;
} ss_scene_standing;

typedef struct ss_advice {
    int series;        /* what to use; -1 = nothing solves anything */
    int fastest;       /* the cheapest among those that solve at least half of what the best one solves */
    int most_accurate; /* of the same, least median of relative_energy among those with the best rate */
    char *text;        /* a few sentences, plain */
} ss_advice;

typedef struct ss_statistics {
    ss_arena *arena; /* everything below lives in it */
    ss_statistics_options options;
    ss_series *series; /* sorted: solved at the main tolerance falling, then cost rising, then label */
    int series_count;
    ss_pair **pairs; /* [tolerance][pair]: all pairs of the first SS_PAIRED series */
    int pair_count;
    ss_scene_standing *scenes; /* in the order of problems; none without series */
    int scene_count;
    ss_advice advice;
} ss_statistics;
#define SS_PAIRED 12

/* options NULL: defaults. Problems with a fault are left out. */
bool ss_statistics_make(const ss_results *results, const ss_statistics_options *options,
                        ss_statistics *statistics, ss_error *err);
void ss_statistics_free(ss_statistics *statistics);
/* How a run that solved nothing is called: by its outcome, but "inaccurate" where it converged. */
const char *ss_failure_name(ss_outcome outcome);
/* Cost of a run at a tolerance, s; NaN = not solved. */
double ss_run_cost(const ss_results *results, const ss_run_entry *run, double tolerance);

#endif
