/* solver/run.h - the driver for who solves many problems in a row. */
#ifndef SS_SOLVER_RUN_H
#define SS_SOLVER_RUN_H

#include <stickslip/solver.h>

/* ss_solve_until with the memory of the caller's arena, which is left as it was; of the answer only those gauges are
 * measured whose bits (1u << gauge) are set, and what the stop rule needs; the others are NaN. */
bool ss_solve_in(ss_arena *arena, unsigned gauges, const ss_solver *solver, const void *solver_options,
                 ss_problem *problem, const ss_run_options *options, const ss_stop_test *test, ss_team *team,
                 const volatile int *cancel, double *x, ss_solve_result *result, ss_error *err);

#endif
