/* solver/newton_start.h - minmap-newton and fischer-newton: the same method, with different maps. */
#ifndef SS_SOLVER_NEWTON_START_H
#define SS_SOLVER_NEWTON_START_H

#include "solver/newton_walk.h"

typedef struct ss_newton_start {
    int sweeps;
    double regularization;
} ss_newton_start;
extern const ss_option ss_newton_start_table[];

/* Sweeps from x, then Newton steps to the end. */
ss_status ss_newton_from_start(const ss_problem *problem, ss_newton_map map, const ss_newton_start *options,
                               ss_run *run, double *x);

#endif
