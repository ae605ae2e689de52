/* solver/sweep/pgs.h - one piece of code behind pgs and psor. */
#ifndef SS_SOLVER_SWEEP_PGS_H
#define SS_SOLVER_SWEEP_PGS_H

#include "solver/sweep/sweep.h"

/* Projected Gauss-Seidel with relaxation, 0 < omega < 2. */
ss_status ss_pgs_solve(const ss_problem *problem, ss_sweep_order order, double omega, ss_run *run, double *x);
/* The sweep itself, for methods that put something around it. *omega is read at every step. */
ss_sweep *ss_pgs_sweep(const ss_problem *problem, const double *omega, uint64_t seed, ss_arena *arena);

#endif
