/* solver/sweep/nsgs.h - block Gauss-Seidel sweeps with exact local solutions, for methods that put something
 * around them. */
#ifndef SS_SOLVER_SWEEP_NSGS_H
#define SS_SOLVER_SWEEP_NSGS_H

#include "solver/sweep/sweep.h"

typedef struct ss_nsgs {
    ss_sweep *sweep;
    struct ss_sparse_cell *sparse; /* large free blocks, each with a factorisation on the heap */
} ss_nsgs;

/* False when out of memory or when a free block cannot be factorised; ss_nsgs_free in any case. */
bool ss_nsgs_create(const ss_problem *problem, double local_tolerance, uint64_t seed, ss_arena *arena,
                    ss_nsgs *nsgs);
void ss_nsgs_free(ss_nsgs *nsgs);

#endif
