/* solver/face.h - A_FF x_F = r_F for a set F that changes: the linear algebra of active-set methods.
 *
 * F is gathered, and analysed and factorised from scratch: dense by LAPACK when it is filled, else sparse. (Keeping the
 * analysis of the whole matrix and turning rows outside F into rows of the identity saves a tenth when F is
 * everything, and costs ten times as much when F is half of it.) Symmetric matrices must be positive definite on F, with
 * the shift on the diagonal.
 */
#ifndef SS_SOLVER_FACE_H
#define SS_SOLVER_FACE_H

#include "linalg/factor.h"

typedef struct ss_face {
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
} ss_face;

/* A must stay. False when out of memory; destroy in any case. */
bool ss_face_create(const ss_sparse *A, bool symmetric, double shift, ss_arena *arena, ss_face *face);
void ss_face_destroy(ss_face *face);
/* F = { i : in_face[i] }. False when A_FF is singular (or not positive), or when out of memory. */
bool ss_face_factor(ss_face *face, const bool *in_face);
/* x_F = (A_FF + shift)^-1 right_F; the rest of x stays. x and right may be the same. */
void ss_face_solve(ss_face *face, const double *right, double *x);

#endif
