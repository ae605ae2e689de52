/* solver/newton/interior.h - the interior point method (interior_point.c) and what is tried where the way
 * inside comes to an end (interior_fallbacks.c).
 */
#ifndef SS_SOLVER_NEWTON_INTERIOR_H
#define SS_SOLVER_NEWTON_INTERIOR_H

#include "solver/newton/interior_cones.h"
#include "solver/newton/newton.h"

#define SS_INTERIOR_SMALL 1e-5 /* an error at which the laws are decided, and digits count */

typedef struct ss_interior {
    ss_newton newton;
    ss_interior_cones cones;
    double *r, *u, *rest, *rhs;
    double *polished, *polished_u;
    double scale;     /* |q| / sqrt(n) */
    bool is_monotone; /* no contact under Coulomb's law */
    double regularization;
} ss_interior;

typedef struct ss_inside_plan {
    int factorizations; /* at most, Newton's included */
    bool resume;        /* from the best point, else from the middle of the cones */
    double enough;      /* an error that will do */
} ss_inside_plan;

/* True when the run has stopped or the solution is there; false when the interior leads nowhere, or far
 * enough. */
bool ss_interior_inside(ss_interior *inner, const ss_inside_plan *plan);

/* Has the run stopped, is there a ray, or nothing left but rounding? */
static inline bool ss_interior_is_over(const ss_newton *newton)
{
    return newton->stopped || newton->has_ray || ss_newton_exact(newton);
}
/* Newton steps from the best point so far, which is zero before the first, as the plan says; it does without
 * its first three numbers. True when that was the end. */
bool ss_interior_walk_from_best(ss_interior *inner, ss_newton_plan plan);
/* What is tried under Coulomb's law when the steps inside have become short: in turn inside and by Newton
 * steps from the best point, strides, a ladder of friction. The best point of all is left. */
void ss_interior_persist(ss_interior *inner);

#endif
