/* solver/core/spectrum.h - how long a step may be. */
#ifndef SS_SOLVER_CORE_SPECTRUM_H
#define SS_SOLVER_CORE_SPECTRUM_H

#include <stickslip/solver.h>

/* lambda_max(D^-1 A) with D^-1 given as one step (impulse per velocity) per unknown, by `iterations` power
 * iterations from a fixed start; 5 % on top, because the estimate comes from below. Negative when out of
 * memory. A run that is late gets what is known so far. */
double ss_largest_eigenvalue(const ss_problem *problem, const double *step, int iterations, ss_run *run);

#endif
