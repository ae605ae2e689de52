/* problem/store.h - the memory of one problem, for who makes one after the other. */
#ifndef SS_PROBLEM_STORE_H
#define SS_PROBLEM_STORE_H

#include <stickslip/problem.h>

typedef struct ss_problem_store {
    ss_problem *problem;      /* NULL: none yet */
    int size, blocks, bodies; /* what it has room for */
} ss_problem_store;

/* As ss_problem_create makes it, with bodies, but for numbers that every problem has to be given: b, factor,
 * diagonal and the rows of the bodies form are those of the last one. The store keeps it. */
ss_problem *ss_problem_store_take(ss_problem_store *store, int size, int blocks, int bodies, ss_team *team,
                                  ss_error *err);
void ss_problem_store_free(ss_problem_store *store);

#endif
