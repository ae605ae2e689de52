/* statistics_book.h - results of a campaign that were never run: a ledger in memory, for tests of
 * statistics. */
#ifndef STATISTICS_BOOK_H
#define STATISTICS_BOOK_H

#include "kit.h"

#include "campaign/statistics.h"

#include <string.h>

#define MOST 8
#define MOST_PROBLEMS 20
#define MOST_RUNS 64

static struct {
    ss_results results;
    ss_machine machines[2];
    ss_problem_entry problems[MOST_PROBLEMS];
    ss_method_entry methods[MOST];
    ss_run_entry runs[MOST_RUNS];
    ss_metric_value metrics[MOST_RUNS][64];
    ss_history_point history[MOST_RUNS][16];
    ss_crossing crossings[MOST_RUNS][4];
    ss_bin bins[MOST_RUNS][4];
    ss_sample samples[MOST_RUNS][4];
} book;

static inline char *word(const char *text)
{
    return (char *)text; // nothing of a book is freed
}

static inline void book_open(int problems, int methods, int machines)
{
    static const char *const labels[] = {"alpha",   "beta", "gamma", "delta",
                                         "epsilon", "zeta", "eta",   "theta"};
    static const char *const keys[] = {"0123456789abcdef0123456789abcdef",
                                       "fedcba9876543210fedcba9876543210"};
    static const char *const processors[] = {"Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz",
                                             "AMD Ryzen 9 7950X 16-Core Processor"};
    memset(&book, 0, sizeof book);
    for (int i = 0; i < machines; i++) {
        memcpy(book.machines[i].key, keys[i], sizeof book.machines[i].key);
        book.machines[i].cpu = word(processors[i]);
        book.machines[i].system = book.machines[i].version = word("x");
        book.machines[i].compiler = book.machines[i].build = word("x");
    }
    for (int i = 0; i < problems; i++)
        book.problems[i] = (ss_problem_entry){.place = word("/frame"),
                                              .file = word("some/wall.h5"),
                                              .format = word("bpmd"),
                                              .index = i,
                                              .scene = word("wall"),
                                              .contacts = 10,
                                              .mass_ratio = 1.0,
                                              .density = NAN,
                                              .rank_ratio = NAN};
    for (int i = 0; i < methods; i++)
        book.methods[i] = (ss_method_entry){.label = word(labels[i]),
                                            .formulation = word("cone"),
                                            .with = word(""),
                                            .solver = word("nsgs"),
                                            .set = word(""),
                                            .plugin = word(""),
                                            .stop = word("natural_map<1e-8"),
                                            .keep = word("last"),
                                            .reference = word("")};
    book.results = (ss_results){.machines = book.machines,
                                .problems = book.problems,
                                .methods = book.methods,
                                .runs = book.runs,
                                .machine_count = machines,
                                .problem_count = problems,
                                .method_count = methods};
}

/* A run that was not judged. */
static inline ss_run_entry *book_end(int problem, int method, ss_outcome outcome)
{
    ss_run_entry *run = &book.runs[book.results.run_count++];
    *run = (ss_run_entry){.problem = problem, .method = method, .outcome = outcome, .seconds = 1.0};
    for (int g = 0; g < SS_GAUGE_COUNT; g++) run->gauge[g] = NAN;
    return run;
}

static inline ss_metric_value *book_metric(ss_run_entry *run, const char *name)
{
    return &run->metrics[ss_metric_index(name)];
}

/* A run with an error, after a number of seconds. */
static inline ss_run_entry *book_run(int problem, int method, double error, double seconds)
{
    ss_run_entry *run = book_end(problem, method, (ss_outcome)SS_CONVERGED);
    run->seconds = seconds;
    run->iterations = 10;
    run->unknowns = 30;
    run->metrics = book.metrics[run - book.runs];
    for (int m = 0; m < ss_metric_count(); m++)
        run->metrics[m] = (ss_metric_value){.why = "n/a", .worst_contact = -1};
    *book_metric(run, "relative_energy") =
        (ss_metric_value){.applies = true, .value = error, .worst_contact = 3};
    return run;
}

static inline void book_cross(ss_run_entry *run, int decade, int iteration, double seconds)
{
    run->crossings = book.crossings[run - book.runs];
    run->crossings[run->crossing_count++] =
        (ss_crossing){SS_GAUGE_RELATIVE_ENERGY, decade, iteration, seconds};
}

/* The same error in all gauges. */
static inline void book_history(ss_run_entry *run, int iteration, double seconds, double error)
{
    run->history = book.history[run - book.runs];
    ss_history_point *point = &run->history[run->history_count++];
    *point = (ss_history_point){.iteration = iteration, .seconds = seconds};
    for (int g = 0; g < SS_GAUGE_COUNT; g++) point->gauge[g] = error;
}

static inline void book_sample(ss_run_entry *run, double seconds)
{
    run->samples = book.samples[run - book.runs];
    run->samples[run->sample_count++] = (ss_sample){seconds, 2.0 * seconds};
}

static inline const ss_series *named(const ss_statistics *made, const char *label)
{
    for (int i = 0; i < made->series_count; i++)
        if (strcmp(made->series[i].label, label) == 0) return &made->series[i];
    return NULL;
}

/* At the main tolerance. */
static inline const ss_score *score(const ss_statistics *made, const char *label)
{
    const ss_series *series = named(made, label);
    return series ? &series->scores[made->options.main_tolerance] : NULL;
}

/* Value of a step function at x; 0 before its first step. */
static inline double step_at(const ss_curve *curve, double x)
{
    double y = 0.0;
    for (int i = 0; i < curve->count && curve->x[i] <= x; i++) y = curve->y[i];
    return y;
}

#define MAKE(made)             \
    ss_statistics made;        \
    ss_error made##_err = {0}; \
    ENSURE(ss_statistics_make(&book.results, NULL, &made, &made##_err))

#define ADVICE(made) ((made).advice[(made).options.main_tolerance])

/* By the clock of the book. */
static inline double cost_of(const ss_run_entry *run, double tolerance)
{
    ss_cost_rule rule = ss_cost_rule_of(&book.results, ss_metric_index("relative_energy"), false);
    return ss_run_cost(run, &rule, tolerance);
}

static const double rounding = 1e-15;

/* Seconds:      alpha  beta  gamma
 * problem 0       1      2     4
 * problem 1       6      3     -      gamma fails
 * problem 2       -     10     5      alpha crashes
 * Ratios to the best: alpha 1, 2; beta 2, 1, 2; gamma 4, 1. */
static inline void three_by_three(void)
{
    book_open(3, 3, 1);
    book_run(0, 0, 1e-5, 1.0);
    book_run(0, 1, 1e-6, 2.0);
    book_run(0, 2, 1e-7, 4.0);
    book_run(1, 0, 1e-5, 6.0);
    book_run(1, 1, 1e-6, 3.0);
    book_run(1, 2, 1e-1, 1.0)->outcome = (ss_outcome)SS_STALLED;
    book_end(2, 0, SS_OUTCOME_CRASHED);
    book_run(2, 1, 1e-6, 10.0);
    book_run(2, 2, 1e-7, 5.0);
}

#endif
