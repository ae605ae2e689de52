/* campaign/against.h - methods against the best of other methods in hindsight: for every problem the least
 * cost of the ones over the least cost of the others. A ratio below 1 says that the ones are faster than the
 * others would be even for a user who knew the best of them beforehand. */
#ifndef SS_CAMPAIGN_AGAINST_H
#define SS_CAMPAIGN_AGAINST_H

#include "campaign/statistics.h"

/* A problem on a machine: times of different machines are not compared. */
typedef struct ss_against_row {
    int problem, machine;    /* indices into the results */
    int method, best_method; /* the fastest of either side that solves it; -1 = none does */
    double cost, best_cost;  /* s; NaN = not solved */
    double ratio;            /* cost / best_cost; NaN unless both sides solve it */
} ss_against_row;

/* At one tolerance. Rows of `both` + only + only_best + neither. */
typedef struct ss_against_score {
    double tolerance;
    ss_against_row *rows; /* [count] */
    int both, only, only_best, neither;
    int slower, twice; /* of `both`: ratio above 1, above 2 */
    double mean;       /* geometric, of the ratios; NaN = there is none */
    int worst;         /* row with the largest ratio; -1 = there is none */
} ss_against_score;

typedef struct ss_against {
    const char *methods, *best_of; /* patterns, as they were given */
    ss_against_score *scores;      /* per tolerance */
    int score_count;
    int count;   /* of rows: problems that methods of both sides accept */
    int refused; /* problems on a machine that no method of one side accepts, or has tried */
} ss_against;

/* Does a method belong to a set? Patterns with * and ?, separated by commas, are compared with the name of
 * its solver and with its label; those that begin with ! take methods out again. With these alone, everything
 * else belongs to the set. */
bool ss_method_matches(const ss_method_entry *method, const char *patterns);

/* By the tolerances and the cost rule of the statistics, in their arena. best_of NULL: all other methods.
 * Fails when a side is empty or the two overlap, naming the patterns. */
bool ss_against_make(const ss_results *results, const ss_statistics *statistics, const char *methods,
                     const char *best_of, ss_against *made, ss_error *err);

#endif
