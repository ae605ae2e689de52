/* campaign/statistics.h - what a ledger says about methods. Pure functions of ss_results: no files, no clock.
 *
 * A *series* is a method on one machine. A run of it is *solved* at a tolerance when the measure, a metric
 * that is judged on the true Coulomb problem of the frame, is at most the tolerance. Its *cost* is a time
 * by a clock that is the same for all runs (ss_cost_rule). Costs of several runs are compared on common
 * ground only: over the same problems with a penalty for those that are not solved, or pairwise on those
 * that both solve. "not applicable" is neither solved nor failed: it is counted by itself, and stays
 * unsolved in profiles and means. docs/report.md has the definitions. */
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
    int measure;          /* metric that decides what is solved */
    double tolerances[8]; /* of the measure, falling */
    int tolerance_count;
    int main_tolerance; /* index: the one of the summary */
    bool whole_call;    /* see ss_cost_rule */
    double shift;       /* s, of shifted geometric means */
    double budgets[16]; /* s, rising */
    int budget_count;
} ss_statistics_options;
/* relative_energy at 1e-2 1e-4 1e-6 1e-8, main 1e-4, 1 ms, 1e-5 s ... 1 s in half decades */
ss_statistics_options ss_statistics_defaults(void);
/* Keeps tolerances falling and each of them once; false when there is no room for another. */
bool ss_statistics_add_tolerance(ss_statistics_options *options, double tolerance);
/* Index of the tolerance nearest to the wanted one, by ratio. */
int ss_statistics_nearest_tolerance(const ss_statistics_options *options, double wanted);
/* The tolerance of the measure that the campaign asked for by its stop rules, the loosest where they differ;
 * 0 when it asked for none: the default rule, or rules about something else. */
double ss_statistics_asked_tolerance(const ss_results *results, int measure);
/* Makes what the campaign asked for the main tolerance. */
void ss_statistics_ask(ss_statistics_options *options, const ss_results *results);
/* Adds every tolerance of the measure that a stop rule asks for: the rungs of a ladder. False when there is
 * no room for one. */
bool ss_statistics_add_rungs(ss_statistics_options *options, const ss_results *results);

/* How runs are judged and timed, one rule for all of them. The time until the tolerance was reached is known
 * only where the iterates of every run were measured on the true problem, by a gauge whose crossings are in
 * the ledger; otherwise the whole run counts, for all. */
typedef struct ss_cost_rule {
    int measure; /* metric */
    bool until_solved;
    /* The whole call of the solver, with what its stop rule measures on the way: fair to solvers that watch
     * their error themselves, for which that is part of solving. */
    bool whole_call;
} ss_cost_rule;
ss_cost_rule ss_cost_rule_of(const ss_results *results, int measure, bool whole_call);
/* By which clock the runs were timed: "wall times", "processor times", or what to say where both occur. */
const char *ss_statistics_clock(const ss_results *results);
const char *ss_cost_rule_name(const ss_cost_rule *rule); /* "until solved", "whole run", "whole call" */

/* A step function or curve; y belongs to x. */
typedef struct ss_curve {
    double *x, *y;
    int count;
} ss_curve;

/* A series beside the leader of its machine (most solved, then cheapest) on the problems that both solve. */
typedef struct ss_versus {
    int leader;    /* series; -1 = none solves anything there */
    int shared;    /* problems that both solve */
    int faster;    /* of those, where it costs less than the leader */
    double factor; /* geometric mean of its cost over the leader's; NaN without shared ones */
} ss_versus;

/* What a tolerance costs on problems that are the same for all tolerances and all followed series of the
 * machine, by the time until solved. */
typedef struct ss_work {
    int problems;        /* solved at the loosest tolerance by any followed series of the machine */
    double mean, median; /* s: unsolved ones penalised; infinite. NaN = not followed, or nothing solved */
} ss_work;

/* One series at one tolerance. */
typedef struct ss_score {
    /* refused: not applicable; missing: no run yet. Sum: number of problems */
    int solved, failed, refused, missing;
    double rate, low, high; /* solved / (solved + failed), with Wilson's interval */
    int common;             /* problems that at least one series of its machine solves */
    /* s: shifted geometric mean over those, unsolved ones at the penalty; NaN = it solves nothing */
    double cost;
    double relative; /* cost over the least of all series of the machine: what machines can be compared by */
    double cost_solved; /* s: mean over what it solved: compares only with a series that solved the same */
    double cost_median; /* over the common problems, unsolved = infinite; NaN = infinite */
    double cost_most;   /* of what it solved */
    ss_versus versus;
    ss_work work;
    /* "fails where the mass ratio exceeds 100 (9 of 9 there, 0 of 9 elsewhere)"; NULL = nothing parts them */
    char *why;
    /* Dolan-More: x = ratio to the best of all series of the machine, y = share of all problems */
    ss_curve profile;
    ss_curve iterations;  /* data profiles: share solved within x iterations */
    ss_curve per_unknown; /* ... within x seconds per unknown */
} ss_score;

/* Mean and spread over runs at one iteration of the grid. From its end on a run counts with the gauge of its
 * answer. */
typedef struct ss_band {
    int *iteration, *count;
    double *mean, *deviation;           /* of the values; deviation with count - 1 */
    double *median, *low, *high, *most; /* quantiles 0.05, 0.95; largest */
    int points;
} ss_band;

/* Bands of the problems of one scene; of all scenes together only for relative_energy, which has no unit and
 * is 1 at the start everywhere. */
typedef struct ss_scene_bands {
    int scene; /* -1 = all together */
    ss_band gauge[SS_GAUGE_COUNT];
} ss_scene_bands;
#define SS_BAND_SCENES 6 /* scenes with bands of their own: those with most problems */

/* Best error so far at a budget of time, over all problems; one without anything to show by then counts as
 * doing nothing: relative_energy 1, other measures infinite. So the error never rises with the budget. */
typedef struct ss_budget_error {
    double median, high; /* quantiles 0.5, 0.9 of the measure; NaN = infinite */
    int count;           /* problems with something to show by then */
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
    bool followed;    /* it is known when its runs reached a tolerance, not only what they ended with */
    ss_scene_bands *bands;
    int band_count;
    ss_budget_error *budgets;
    ss_scaling scaling[SS_FEATURES]; /* of the cost at the main tolerance */
    /* shares of all contacts of runs that were judged; NaN = none */
    double sticking, sliding_good, sliding_bad, open;
    double *metric_median, *metric_most; /* per metric, over runs where it applies; NaN = none */
    int *metric_worst;                   /* run with the largest; -1 = none */
    ss_bin *bins;                        /* contact errors of all runs together */
    int bin_count;
    /* with several starts: median of the measure against the frame of the simulation */
    ss_curve drift;
    bool timed;   /* it solves something at the main tolerance, and all of that has samples */
    int unsteady; /* runs whose repeats gave other bits */
} ss_series;

/* Answers of one stored result, by its name and rules, as they were found in the files. Each problem counts
 * once, however often it was judged. They have no cost: the machine they were made on is unknown. */
typedef struct ss_recorded {
    int method;                          /* index into the results */
    int answers, incomplete;             /* all; those that were not judged */
    int assumed;                         /* those whose rules are not in the file */
    int tried;                           /* those that the measure applies to */
    int *within;                         /* per tolerance: those with an error of at most that */
    double *metric_median, *metric_most; /* per metric, over answers where it applies; NaN = none */
    int *metric_worst;                   /* run with the largest; -1 = none */
    int *run;                            /* [answers] */
} ss_recorded;

/* Two series alone, at one tolerance: log2(cost a / cost b) of every problem that both solve, ascending. */
typedef struct ss_pair {
    int a, b;
    double *ratio;
    int both, only_a, only_b, neither;
} ss_pair;

/* A series on the problems of one scene. */
typedef struct ss_scene_score {
    int series; /* -1 = none solves anything */
    int solved;
    double cost; /* s: over what any series solves there, unsolved ones at the penalty; NaN = nothing */
    double cost_solved; /* s: over what it solved */
} ss_scene_score;

/* Problems with the same scene, and per tolerance which series solves most of them, of those the cheapest;
 * and what the series to use over all scenes does there. */
typedef struct ss_scene_standing {
    char *name;
    int problems;
    ss_scene_score *best, *first;
} ss_scene_standing;

/* Runs that start from an answer to the frame before, beside runs of the same method from zero: on the frames
 * that both were made on, without those that had nothing to start from. */
typedef struct ss_start_score {
    int frames, solved, cold_solved;
    int both; /* solved by both */
    /* fewer iterations until solved than from zero, or solved where that is not; and the reverse */
    int better, worse;
    /* geometric means over those from zero, where both solve; NaN = nowhere */
    double iterations, cost;
} ss_start_score;
typedef struct ss_start_standing {
    int series, cold; /* the series, and the one from zero */
    ss_start start;
    ss_start_score *scores; /* per tolerance */
} ss_start_standing;

/* A metric over the true error that it estimates, in the same unit, over the runs measured against a
 * reference. Quantiles that are close to each other: it orders answers as the truth does. */
typedef struct ss_trust {
    int metric, truth; /* of ss_metric_at */
    int runs;
    double median, low, high; /* 50, 5 and 95 % */
    double below;             /* fraction of runs whose error it understates */
} ss_trust;

/* At one tolerance. */
typedef struct ss_advice {
    int series;       /* what to use; -1 = nothing solves anything */
    bool is_reliable; /* it solves at least half of all problems */
    /* least factor to the one to use, on at least half of what that one solves, and faster on most; or
     * itself */
    int fastest;
    /* of those that solve half as many, least median error among those with the best rate */
    int most_accurate;
    char *text; /* a few sentences, plain */
} ss_advice;

#define SS_MACHINE_NAME 48
typedef struct ss_machine_name {
    char text[SS_MACHINE_NAME];
} ss_machine_name;

typedef struct ss_statistics {
    ss_arena *arena; /* everything below lives in it */
    ss_statistics_options options;
    ss_cost_rule rule;
    ss_series *series; /* sorted at the main tolerance: solved falling, relative cost rising, label */
    int series_count;
    ss_recorded *recorded; /* in the order of methods */
    int recorded_count;
    ss_pair **pairs; /* [tolerance][pair]: all pairs of the first SS_PAIRED series */
    int pair_count;
    ss_scene_standing *scenes; /* in the order of problems; none without series */
    int scene_count;
    ss_start_standing *starts; /* in the order of series; none unless methods were run from several starts */
    int start_count;
    ss_trust *trust; /* in the order of metrics; none without a reference */
    int trust_count;
    ss_advice *advice; /* per tolerance */
    /* per machine of the results: "EPYC 7763", "EPYC 7763 (2)" for the next one with the same processor */
    ss_machine_name *machines;
} ss_statistics;
#define SS_PAIRED 12

#define SS_PENALTY 10 /* an unsolved problem costs this many times the slowest success of the machine */

/* options NULL: defaults. Problems with a fault are left out. */
bool ss_statistics_make(const ss_results *results, const ss_statistics_options *options,
                        ss_statistics *statistics, ss_error *err);
void ss_statistics_free(ss_statistics *statistics);
/* How a run that solved nothing is called: by its outcome, but "inaccurate" where it converged. */
const char *ss_failure_name(ss_outcome outcome);
/* Is there nothing to judge: the solver does not take the problem, or it converged and the measure does not
 * apply to the answer, as natural_map where nothing touches? */
bool ss_run_is_refused(const ss_run_entry *run, int measure);
/* Cost of a run at a tolerance, s; NaN = not solved. */
double ss_run_cost(const ss_run_entry *run, const ss_cost_rule *rule, double tolerance);

#endif
