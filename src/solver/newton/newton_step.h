/* solver/newton/newton_step.h - one step of the Newton solvers: the map of the proximal problem
 *
 *     u = W r + q + alpha (r - centre)
 *
 * its derivative, and the search along the direction. u of these functions has the proximal term in it.
 */
#ifndef SS_SOLVER_NEWTON_NEWTON_STEP_H
#define SS_SOLVER_NEWTON_NEWTON_STEP_H

#include "solver/newton/newton.h"

/* The blocks of the Newton system, and its right-hand side -phi in newton->phi; returns |phi|. */
double ss_newton_linearize(ss_newton *newton, double alpha, const double *r, const double *u);
/* newton->trial and trial_u after a step of length t along newton->dr and du; returns |phi| there. */
double ss_newton_try(ss_newton *newton, double alpha, double t, const double *r, const double *u);
/* Halves until the map gets smaller. An eighth is taken in any case, for the way down may lead over a hill.
 * Returns the length; `ratio`: |phi| at its end over `before`. */
double ss_newton_search(ss_newton *newton, double alpha, double before, const double *r, const double *u,
                        double *ratio);

#endif
