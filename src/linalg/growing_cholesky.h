/* linalg/growing_cholesky.h - A_CC = L L' of a set C that gains and loses one unknown at a time,
 * O(|C|^2) each. */
#ifndef SS_LINALG_GROWING_CHOLESKY_H
#define SS_LINALG_GROWING_CHOLESKY_H

#include <stickslip/base.h>

typedef struct ss_growing_cholesky {
    int size;     /* of C */
    int capacity; /* also the distance between rows */
    int *member;  /* the unknowns of C, in the order they came */
    double *lower;
    double *cosine, *sine; /* scratch */
} ss_growing_cholesky;

/* False when out of memory. */
bool ss_growing_cholesky_create(int capacity, ss_arena *arena, ss_growing_cholesky *factor);
/* Takes in `unknown`; column: A_Ck in the order of C, destroyed. False, with nothing changed, when what is
 * left of the diagonal is below `smallest`: it depends on the others. */
bool ss_growing_cholesky_add(ss_growing_cholesky *factor, int unknown, double *column, double diagonal,
                             double smallest);
void ss_growing_cholesky_remove(ss_growing_cholesky *factor, int unknown);
/* b := A_CC^-1 b, in the order of C */
void ss_growing_cholesky_solve(const ss_growing_cholesky *factor, double *b);

#endif
