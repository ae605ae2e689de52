/* problem/islands.h - a problem in bodies form falls apart into independent ones: groups of bodies that no
 * row connects. The world does not connect. Unknowns, blocks and bodies keep their order within an island;
 * islands are numbered by their first block. */
#ifndef SS_PROBLEM_ISLANDS_H
#define SS_PROBLEM_ISLANDS_H

#include <stickslip/problem.h>

/* Contacts of one island from which on several threads share the work on it: starting them
 * costs more before. */
enum { SS_SHARED_LEAST_CONTACTS = 4096 };

typedef struct ss_islands {
    int count;
    ss_problem *problems; /* NULL when there is one island or none: the problem itself is it */
    int *first;           /* of count + 1: where the unknowns of an island begin in `order` */
    int *order;           /* unknowns of the problem, island by island */
} ss_islands;

/* All memory is the arena's but for matrices that solvers make, which ss_islands_release frees. A problem
 * without bodies form, or with rows between things that do not move, is one island. The team, which may be
 * NULL, shares the copying. */
bool ss_islands_split(const ss_problem *problem, ss_team *team, ss_arena *arena, ss_islands *islands,
                      ss_error *err);
/* The same, but islands of `small` unknowns or less are put together, in bundles of up to `most` unknowns:
 * work on one that small costs more for beginning than for doing. */
bool ss_islands_split_large(const ss_problem *problem, int small, int most, ss_team *team, ss_arena *arena,
                            ss_islands *islands, ss_error *err);
void ss_islands_release(ss_islands *islands);
/* x of the problem to unknowns island by island, and back. */
void ss_islands_gather(const ss_islands *islands, const double *x, double *ordered);
void ss_islands_scatter(const ss_islands *islands, const double *ordered, double *x);
/* The same of one island: different ones at the same time share nothing. */
void ss_islands_gather_one(const ss_islands *islands, int island, const double *x, double *ordered);
void ss_islands_scatter_one(const ss_islands *islands, int island, const double *ordered, double *x);

#endif
