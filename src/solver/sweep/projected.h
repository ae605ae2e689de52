/* solver/sweep/projected.h - the sweep of projected Gauss-Seidel (pgs.c), for methods built around it. */
#ifndef SS_SOLVER_SWEEP_PROJECTED_H
#define SS_SOLVER_SWEEP_PROJECTED_H

#include "solver/sweep/sweep.h"

/* *omega, the relaxation, is read at every step. NULL when out of memory. */
ss_sweep *ss_projected_sweep(const ss_problem *problem, const double *omega, uint64_t seed, ss_arena *arena);

#endif
