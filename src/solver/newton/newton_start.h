/* solver/newton/newton_start.h - minmap-newton, fischer-newton and alart-curnier: the same method, with
 * different maps. */
#ifndef SS_SOLVER_NEWTON_NEWTON_START_H
#define SS_SOLVER_NEWTON_NEWTON_START_H

#include "solver/newton/newton.h"

typedef struct ss_newton_start {
    int sweeps;
    double regularization;
} ss_newton_start;
#define SS_NEWTON_START_OPTIONS(holder, inside)                                                              \
    {.name = "sweeps",                                                                                       \
     .type = SS_OPTION_INT,                                                                                  \
     .offset = offsetof(holder, inside.sweeps),                                                              \
     .default_value = "30",                                                                                  \
     .min = 0,                                                                                               \
     .max = 1e6,                                                                                             \
     .help = "projected Gauss-Seidel sweeps before the first Newton step; at most 4 for up to 48 unknowns"}, \
    {                                                                                                        \
        .name = "regularization", .type = SS_OPTION_REAL, .offset = offsetof(holder, inside.regularization), \
        .default_value = "0.01", .min = 0, .max = 10,                                                        \
        .help = "proximal term of the first step, relative to the diagonal of the matrix"                    \
    }
extern const ss_option ss_newton_start_table[];

/* Sweeps from x, then Newton steps to the end; and ss_newton_end. */
ss_status ss_newton_run(ss_newton *newton, const ss_newton_start *options);
/* The same, with an ss_newton of its own. */
ss_status ss_newton_from_start(const ss_problem *problem, ss_newton_map map, const ss_newton_start *options,
                               ss_run *run, double *x);

#endif
