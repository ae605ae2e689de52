/* solver/newton/interior_steps.h - steps of the interior point method (interior_point.c), from a start of
 * its own or from a point that Newton's method has found.
 */
#ifndef SS_SOLVER_NEWTON_INTERIOR_STEPS_H
#define SS_SOLVER_NEWTON_INTERIOR_STEPS_H

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

/* After ss_newton_begin; false when out of memory. */
bool ss_interior_prepare(ss_interior *inner, ss_arena *arena);

typedef struct ss_inside_plan {
    int factorizations; /* at most, Newton's included */
    bool resume;        /* from the best point, else from the middle of the cones */
    double enough;      /* an error that will do */
} ss_inside_plan;

/* True when the run has stopped or the solution is there; false when the interior leads nowhere,
 * or far enough. */
bool ss_interior_inside(ss_interior *inner, const ss_inside_plan *plan);

#endif
