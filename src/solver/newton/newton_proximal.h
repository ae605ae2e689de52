/* solver/newton/newton_proximal.h - the proximal point method over Newton steps: the centre stays while a
 * few steps solve
 *
 *     u = W r + q + alpha (r - centre)
 *
 * then the answer is the next centre. alpha falls as long as few steps will do and grows where they do not.
 *
 * Where more contacts are closed than the bodies can obey at once (four feet on a plane, their gaps rounded),
 * the impulses have a long way to go in directions that W does not see, and nothing but an error of 1e-8
 * pushes them: a proximal step moves them by that error over alpha. One Newton step for each centre cannot
 * follow the turning of the friction forces and keeps alpha too large; several can.
 */
#ifndef SS_SOLVER_NEWTON_NEWTON_PROXIMAL_H
#define SS_SOLVER_NEWTON_NEWTON_PROXIMAL_H

#include "solver/newton/newton.h"

typedef struct ss_proximal_plan {
    double alpha;   /* of the first problem, relative to the diagonal of W */
    double largest; /* alpha beyond which it is given up */
    int patience;   /* steps without progress, and */
    int attempts;   /* problems in a row that could not be solved, until it is given up */
    int steps;      /* at most; 0: any number */
    double enough;  /* an error that will do */
} ss_proximal_plan;

/* From r on; r and u follow. Every step is reported. True when the run has stopped, a ray was found, or
 * nothing but rounding is left. */
bool ss_newton_proximal(ss_newton *newton, const ss_proximal_plan *plan, double *r, double *u);

#endif
