/* One block with all other unknowns held fixed, for block methods written outside the library. */
#include <stickslip/solver.h>

#include "linalg/dense.h"
#include "problem/laws.h"
#include "solver/local/local_cone.h"

#include <string.h>

/* This share of the diagonal is added to the matrix of a free block that is inverted, not to the problem:
 * redundant joints then do not make it singular, and the solution is the same. */
static const double redundancy = 1e-10;

struct ss_local {
    const ss_problem *problem;
    const ss_block *block;
    double *own;        /* A_kk, row by row; of free blocks its factors */
    int *pivot;         /* of free blocks */
    double *load;       /* scratch, one block */
    ss_local_cone cone; /* of cones */
};

ss_local *ss_local_create(const ss_problem *problem, const ss_block *block, double tolerance, ss_arena *arena)
{
    size_t n = (size_t)block->size;
    ss_local *local = ss_arena_take(arena, 1, sizeof *local, "a block");
    double *own = ss_arena_take(arena, n * n, sizeof *own, "a block's matrix");
    double *load = ss_arena_take(arena, n, sizeof *load, "a block's load");
    int *pivot = ss_arena_take(arena, n, sizeof *pivot, "pivots");
    if (!local || !own || !load || !pivot) return NULL;
    *local = (ss_local){.problem = problem, .block = block, .own = own, .load = load, .pivot = pivot};
    ss_block_matrix(problem, block, own);
    if (ss_law_is_cone(block->law))
        return ss_local_cone_create(block, own, tolerance, arena, &local->cone) ? local : NULL;

    // A row without inverse mass cannot be moved by its own impulse; an identity keeps its impulse as it is.
    for (size_t i = 0; block->law == SS_LAW_FREE && i < n; i++)
        own[i * n + i] += own[i * n + i] > 0.0 ? redundancy * own[i * n + i] : 1.0;
    if (block->law == SS_LAW_FREE && ss_dense_lu(block->size, own, pivot) != SS_LINALG_OK) return NULL;
    return local;
}

void ss_local_step(ss_local *local, const double *w, double *x)
{
    const ss_block *block = local->block;
    int n = block->size, first = block->first;
    const double *own = local->own;
    double *load = local->load, *r = x + first;
    memcpy(load, w + first, (size_t)n * sizeof *w);

    // A cone: q = w - A_kk r, the velocities without this block, then its own problem.
    if (ss_law_is_cone(block->law)) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) load[i] -= own[n * i + j] * r[j];
        }
        local->cone.solve(local->cone.data, load, r);
        return;
    }

    // Free rows: r <- r - A_kk^-1 w; the factors are those of A_kk by rows, that is of its transpose by
    // columns.
    if (block->law == SS_LAW_FREE) {
        ss_dense_lu_solve(n, own, local->pivot, SS_AS_IS, load, 1);
        for (int i = 0; i < n; i++) r[i] -= load[i];
        return;
    }

    // Bounds: row after row, each with what the rows before it did.
    for (int i = 0; i < n; i++) {
        double a = own[n * i + i], before = r[i], lower, upper;
        if (!(a > 0.0)) continue;
        ss_row_bounds(local->problem, x, first + i, &lower, &upper);
        r[i] = fmin(fmax(before - load[i] / a, lower), upper);
        for (int k = i + 1; k < n; k++) load[k] += own[n * k + i] * (r[i] - before);
    }
}
