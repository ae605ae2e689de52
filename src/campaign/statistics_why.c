/* Why a series fails, as far as features of problems tell: one threshold of one feature that parts what it
 * solves from what it does not. That is what goes together, not what causes it. */
#include "campaign/statistics_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_RUNS 3    /* solved, and failed: with fewer a threshold is found by chance */
#define CLEAR_SHARE 0.9 /* of the runs beyond the threshold that must fail ... */
#define OTHER_SHARE 0.1 /* ... and of the others that may */
#define LINE_LENGTH 160

enum { MASS_RATIO, RANK_RATIO, FRICTION, DENSITY, CONTACTS, UNKNOWNS, JOINTS, FEATURES };

/* In this order: of features that part the runs equally well the first is named. Problems get harder where
 * the value is large; of ranks, where it is small. */
static const char *const names[FEATURES] = {
    "mass ratio",         "ratio of rank to rows", "coefficient of friction", "contact density",
    "number of contacts", "number of unknowns",    "number of joints"};

typedef struct outcome {
    double value;
    bool failed;
} outcome;

typedef struct threshold {
    int feature;
    double value;              /* the last one that is not beyond */
    int beyond, beyond_failed; /* runs there */
    int others, others_failed;
    double difference; /* of the shares that fail; 0 = nothing found */
} threshold;

/* Easy ones first. */
static int compare_outcomes(const void *a, const void *b)
{
    const outcome *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

/* What the series tried and has the feature, its sign turned where small is hard. Returns how many. */
static int collect(const ss_statistics_work *work, int row, int tolerance, int feature, outcome *list)
{
    const double *cost = ss_statistics_costs(work, tolerance, row);
    int count = 0;
    for (int s = 0; s < work->slots; s++) {
        const ss_run_entry *run = ss_statistics_run(work, row, s);
        if (!run || ss_run_is_refused(run, work->rule.measure)) continue;
        const ss_problem_entry *problem = &work->results->problems[run->problem];
        const double values[FEATURES] = {problem->mass_ratio, problem->rank_ratio, problem->mu_most,
                                         problem->density,    problem->contacts,   run->unknowns,
                                         problem->joints};
        double value = values[feature];
        if (!isfinite(value)) continue;
        list[count++] = (outcome){feature == RANK_RATIO ? -value : value, isnan(cost[s])};
    }
    qsort(list, (size_t)count, sizeof *list, compare_outcomes);
    return count;
}

/* Every cut between two values of the feature: the best so far is kept in `best`. */
static void try_feature(const outcome *list, int count, int feature, threshold *best)
{
    int failed = 0, before = 0;
    for (int i = 0; i < count; i++) failed += list[i].failed;
    if (failed < LEAST_RUNS || count - failed < LEAST_RUNS) return;

    for (int i = 0; i + 1 < count; i++) {
        before += list[i].failed;
        if (list[i + 1].value == list[i].value) continue;
        threshold cut = {.feature = feature,
                         .value = fabs(list[i].value),
                         .beyond = count - i - 1,
                         .beyond_failed = failed - before,
                         .others = i + 1,
                         .others_failed = before};
        double share = cut.beyond_failed / (double)cut.beyond, other = before / (double)cut.others;
        cut.difference = share - other;
        if (share >= CLEAR_SHARE && other <= OTHER_SHARE && cut.difference > best->difference) *best = cut;
    }
}

bool ss_statistics_explain(const ss_statistics_work *work, ss_statistics *made)
{
    outcome *list = ss_arena_take(work->scratch, (size_t)work->slots, sizeof *list, "outcomes");
    if (!list) return false;
    for (int i = 0; i < made->series_count; i++) {
        int row = ss_statistics_row(work, &made->series[i]);
        for (int t = 0; t < work->options->tolerance_count; t++) {
            threshold best = {0};
            for (int f = 0; f < FEATURES; f++) try_feature(list, collect(work, row, t, f, list), f, &best);
            if (best.difference == 0.0) continue;

            char line[LINE_LENGTH], **why = &made->series[i].scores[t].why;
            int length =
                snprintf(line, sizeof line, "fails where the %s %s %.3g (%d of %d there, %d of %d elsewhere)",
                         names[best.feature], best.feature == RANK_RATIO ? "is below" : "exceeds", best.value,
                         best.beyond_failed, best.beyond, best.others_failed, best.others);
            *why = ss_arena_take(work->arena, (size_t)length + 1, 1, "why");
            if (!*why) return false;
            memcpy(*why, line, (size_t)length + 1);
        }
    }
    return true;
}
