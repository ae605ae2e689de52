/* solver/pivot/coupled_bounds.h - bounds that follow a partner, for methods that solve with bounds held
 * fixed: a fixed point x -> bounds of x -> x, pass after pass.
 *
 * Passes are mixed by Anderson's method. When they do not contract (large friction), the equations of the
 * last choice of sides are solved with the bounds as unknowns, x_t = +-factor x_partner, which is Newton's
 * method for the fixed point: an unsymmetric system.
 */
#ifndef SS_SOLVER_PIVOT_COUPLED_BOUNDS_H
#define SS_SOLVER_PIVOT_COUPLED_BOUNDS_H

#include <stickslip/solver.h>

#include "problem/scaled.h"

typedef struct ss_coupled_bounds ss_coupled_bounds;

/* What a pass has found. */
typedef struct ss_pass {
    const signed char *side; /* per unknown: -1 at its lower bound, 1 at its upper, 0 inside */
    double shift;            /* inside, (A + shift) x + b - shift centre = 0 */
    const double *centre;
    double next_shift; /* the same of the next pass */
    const double *next_centre;
    double error; /* of x under the laws, with the bounds where x puts them */
} ss_pass;

/* NULL when out of memory. */
ss_coupled_bounds *ss_coupled_bounds_create(const ss_scaled *scaled, ss_run *run);
/* From here on bounds follow this x; what was learned is forgotten. */
void ss_coupled_bounds_start(ss_coupled_bounds *coupled, const double *x);
/* x: of the pass on entry, the x that the next bounds should follow on return. */
void ss_coupled_bounds_next(ss_coupled_bounds *coupled, const ss_pass *pass, double *x);

#endif
