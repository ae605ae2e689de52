/* bench/self/kernels.h - what our own loops cost. */
#ifndef BENCH_SELF_KERNELS_H
#define BENCH_SELF_KERNELS_H

#include "machine.h"

#include <stickslip/stickslip.h>

#include "solver/sweep/batches.h"

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

/* ns per contact: setting up and one iteration; every other one. */
typedef struct cost {
    double first, iteration;
} cost;
/* The difference between many iterations and one, the smallest times of several runs, in processor time. */
cost cost_of(const iteration *of, ss_problem *problem);

/* What a sweep of batches reads and writes per contact: a batch in its layout, and the impulses twice. The
 * bodies stay in the cache: a task has few. */
#define BATCHED_BYTES ((double)sizeof(ss_batch) / SS_LANES + 2 * 3 * 8)
#define SINGLE_BYTES ((double)sizeof(ss_single_batch) / SS_SINGLE_LANES + 2 * 3 * 4)
/* What conjugate directions add to it: impulses, the last ones and the direction. */
#define NNCG_BYTES (6.0 * 3 * 8)

void print_iterations(const machine *m, int most);
/* Memory, stages and sweeps from 5,000 to a million contacts, of scenes whose names contain `only`. */
void print_scale(const machine *m, int most, const char *only);
/* Iterations, processor time and fill of accurate methods on walls and piles; seconds: limit of one run. */
void print_growth(int most, double seconds);
void print_stages(const machine *m);

#endif
