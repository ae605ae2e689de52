/* bench/self/kernels.h - what our own loops cost. */
#ifndef BENCH_SELF_KERNELS_H
#define BENCH_SELF_KERNELS_H

#include "machine.h"

#include <stickslip/stickslip.h>

/* An iteration of a solver. Bytes and flops are per contact: what has to be read and written at least once,
 * and done, in the layout that the solver has; 0: not known beforehand (a factorisation). */
typedef struct iteration {
    const char *name, *solver, *setting;
    double bytes, flops;
    int iterations; /* timed */
} iteration;
extern const iteration iterations[];
extern const int iteration_count;

/* Solves with this many iterations from nothing; the stop rule never holds. */
ss_solve_result solve_for(const iteration *of, ss_problem *problem, int limit, ss_team *team, double *x);

void print_iterations(const machine *m, int most);
void print_stages(const machine *m);

#endif
