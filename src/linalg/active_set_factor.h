/* linalg/active_set_factor.h - A_FF x_F = r_F for a set F that changes: the linear algebra of
 * active-set methods.
 *
 * F is gathered, and analysed and factorised from scratch: dense by LAPACK when it is filled, else sparse.
 * (Keeping the analysis of the whole matrix and turning rows outside F into rows of the identity saves a
 * tenth when F is everything, and costs ten times as much when F is half of it.) Symmetric matrices must be
 * positive definite on F, with the shift on the diagonal.
 */
#ifndef SS_LINALG_ACTIVE_SET_FACTOR_H
#define SS_LINALG_ACTIVE_SET_FACTOR_H

#include "linalg/factor.h"

typedef struct ss_active_set_factor {
    const ss_sparse *A;
    ss_arena *arena;
    bool symmetric, is_dense;
    double shift;        /* added to the diagonal */
    int size;            /* of F */
    int *member, *place; /* the unknowns of F, ascending; where each unknown is in F, -1 = not there */
    double *right;
    double *dense; /* A_FF, then its factor */
    size_t capacity;
    int *pivot;
    ss_sparse sparse;
    ss_ldl *ldl;
    ss_lu *lu;
    double pace;     /* s per entry that the last sparse LU took; 0 = none yet */
    double slowness; /* of the machine: time of the last piece of work over the time it should take */
} ss_active_set_factor;

/* A must stay. False when out of memory; destroy in any case. */
bool ss_active_set_factor_create(const ss_sparse *A, bool symmetric, double shift, ss_arena *arena,
                                 ss_active_set_factor *face);
void ss_active_set_factor_destroy(ss_active_set_factor *face);
/* Something that should take `expected` seconds took that long: so will the rest. Nothing is learnt from 0 s,
 * which is what runs without a deadline say. */
void ss_active_set_learn(ss_active_set_factor *face, double took, double expected);
/* F = { i : in_face[i] }. OK, SINGULAR, NOT_POSITIVE, NOT_FINITE, NO_MEMORY, or LATE when it would not end
 * before the deadline (base/deadline.h). */
ss_linalg_status ss_active_set_factorise(ss_active_set_factor *face, const bool *in_face, double deadline);
/* x_F = (A_FF + shift)^-1 right_F; the rest of x stays. x and right may be the same. */
void ss_active_set_solve(ss_active_set_factor *face, const double *right, double *x);
/* A_FF x_F = right_F, zero elsewhere: up to `rounds` of refinement remove the effect of the shift, as long as
 * each halves what is left. rest and change: scratch of the size of x. */
void ss_active_set_refine(ss_active_set_factor *face, const double *right, int rounds, double *rest,
                          double *change, double *x);

#endif
