/* solver/pivot/active_manifold.h - where a feasible point lies on the boundary of its set: which bounds it
 * touches, which cones it is on, and in which directions it can move without leaving them. Boxes, free
 * unknowns and cones of the convex law.
 *
 *     bound             nothing moves
 *     cone, apex        nothing moves
 *     cone, surface     along the surface: t . v_T = mu v_N with t = r_T / |r_T|; the same for rolling
 *
 * On the surface of a cone the quadratic function bends with it: the Lagrangian has the extra term
 * lambda/|r_T| (1 - t t') with lambda = -t . g_T, g the gradient.
 */
#ifndef SS_SOLVER_PIVOT_ACTIVE_MANIFOLD_H
#define SS_SOLVER_PIVOT_ACTIVE_MANIFOLD_H

#include <stickslip/solver.h>

#include "problem/scaled.h"

typedef struct ss_active_manifold {
    const ss_scaled *s;
    const double *x, *g;  /* the point and the gradient there; kept by the caller */
    unsigned char *where; /* per unknown */
    uint64_t hash;        /* of `where`: which face this is */
} ss_active_manifold;

/* False when out of memory. */
bool ss_active_manifold_create(const ss_scaled *scaled, ss_arena *arena, ss_active_manifold *manifold);
/* Looks at x, which must have been projected. */
void ss_active_manifold_find(ss_active_manifold *manifold, const double *x, const double *g);
/* v := its nearest along the manifold */
void ss_active_manifold_flatten(const ss_active_manifold *manifold, double *v);
/* product += the bending term times v */
void ss_active_manifold_bend(const ss_active_manifold *manifold, const double *v, double *product);
/* v := (1 + bending)^-1 v, the preconditioner that goes with it; v is flat and stays so */
void ss_active_manifold_unbend(const ss_active_manifold *manifold, double *v);
/* Coordinates along the manifold: the columns of Q, orthonormal and none where nothing moves (in_face tells);
 * and the stiffness that bending gives each of them. NULL when out of memory. */
ss_sparse *ss_active_manifold_coordinates(const ss_active_manifold *manifold, bool *in_face,
                                          double *stiffness);
/* x := the nearest point that obeys bounds and cones */
void ss_active_manifold_project(const ss_scaled *scaled, double *x);
/* Cones that x has left through the apex are put there. (The nearest point of a wide cone is on its far side,
 * from where a step along the surface leads through the apex again.) */
void ss_active_manifold_catch_apex(const ss_scaled *scaled, double *x);

#endif
