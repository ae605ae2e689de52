/* Nonsmooth Gauss-Seidel: contact after contact solved exactly with the newest impulses of all others,
 *
 *     for every contact c:
 *         q_c = u_c - A_cc r_c
 *         r_c <- the solution of { u_c = A_cc r_c + q_c, Coulomb's law }
 *
 * (local_cone.h). Free blocks, the joints, are solved as a whole, on bodies joint by joint:
 *
 *     x_c <- x_c - (A_cc + D)^-1 w_c
 *
 * where D, 1e-10 of the diagonal, keeps redundant joints from being singular and leaves the solution alone.
 * Bounded rows are clamped one by one. On rows of A, or on the bodies' velocities without ever making A;
 * then, where there are enough of them, four contacts at a time (coloured.h).
 *
 * The workhorse: robust and cheap per sweep, but linear, and slow where impulses travel far (tall stacks,
 * chains of joints in separate blocks).
 *
 * References: Moreau, Jean, Numerical treatment of contact and friction (1996); Jourdan, Alart, Jean (1998).
 */
#include "solver/sweep/nsgs.h"

#include <math.h>

#include "base/option_rows.h"
#include "linalg/dense.h"
#include "linalg/factor.h"
#include "solver/local/local_cone.h"
#include "solver/sweep/coloured.h"
#include "solver/sweep/projected_step.h"

typedef struct nsgs_options {
    int sweep;
    double local_tolerance;
} nsgs_options;

static const ss_option options_table[] = {
    SS_BATCHED_ORDER_OPTION(nsgs_options, sweep),
    SS_ROW_REAL(
        nsgs_options, local_tolerance, "1e-14", 1e-16, 0.1,
        "relative accuracy of the slip of one contact; ignored by batched sweeps, which continue from the last visit"),
    {0},
};

/* ---- free blocks ------------------------------------------------------------------------------------ */

/* Redundant joints: this share of the diagonal is added to the matrix that is inverted, not
 * to the problem. */
static const double redundancy = 1e-10;
enum { DENSE_LIMIT = 64 }; // larger blocks are sparse: joints meet few others

typedef struct dense_cell {
    int size;
    double *inverse; // of A_cc + D, by columns
} dense_cell;

static void step_dense(void *data, const double *w, double *r)
{
    const dense_cell *cell = data;
    const double *column = cell->inverse;
    for (int j = 0; j < cell->size; j++, column += cell->size) {
        for (int i = 0; i < cell->size; i++) r[i] -= column[i] * w[j];
    }
}

static bool set_dense(const ss_sweep *sweep, ss_cell *cell, ss_arena *arena)
{
    size_t n = (size_t)cell->size;
    dense_cell *block = ss_arena_take(arena, 1, sizeof *block, "joints");
    double *A = ss_arena_take(arena, n * n, sizeof *A, "joint blocks");
    double *inverse = ss_arena_take(arena, n * n, sizeof *inverse, "joint blocks");
    int *pivot = ss_arena_take(arena, n, sizeof *pivot, "pivots");
    if (!block || !A || !inverse || !pivot) return false;
    ss_sweep_own(sweep, cell, A);
    for (size_t i = 0; i < n; i++) {
        A[i * n + i] += redundancy * A[i * n + i];
        inverse[i * n + i] = 1.0;
    }
    if (ss_dense_lu(cell->size, A, pivot) != SS_LINALG_OK) return false;
    ss_dense_lu_solve(cell->size, A, pivot, SS_AS_IS, inverse, cell->size);
    *block = (dense_cell){cell->size, inverse};
    cell->data = block;
    cell->step = step_dense;
    return true;
}

typedef struct ss_sparse_cell {
    ss_lu *lu;
    int size;
    double *work;
    struct ss_sparse_cell *next;
} ss_sparse_cell;

static void step_sparse(void *data, const double *w, double *r)
{
    ss_sparse_cell *cell = data;
    ss_lu_solve(cell->lu, w, cell->work, SS_REFINE_NEVER);
    for (int i = 0; i < cell->size; i++) r[i] -= cell->work[i];
}

/* A_cc + D out of A. */
static ss_sparse *sparse_block(const ss_sparse *A, const ss_cell *cell)
{
    int end = cell->first + cell->size;
    ss_sparse *block = ss_sparse_create(cell->size, cell->size, A->start[end] - A->start[cell->first], NULL);
    if (!block) return NULL;
    for (int j = cell->first, entry = 0; j < end; j++) {
        for (int e = A->start[j]; e < A->start[j + 1]; e++) {
            int i = A->row[e];
            if (i < cell->first || i >= end) continue;
            block->row[entry] = i - cell->first;
            block->value[entry++] = i == j ? (1.0 + redundancy) * A->value[e] : A->value[e];
        }
        block->start[j + 1 - cell->first] = entry;
    }
    return block;
}

static bool set_sparse(const ss_problem *problem, ss_cell *cell, ss_arena *arena, ss_nsgs *nsgs)
{
    ss_sparse_cell *block = ss_arena_take(arena, 1, sizeof *block, "joints");
    double *work = ss_arena_take(arena, (size_t)cell->size, sizeof *work, "joint impulses");
    if (!block || !work) return false;
    *block = (ss_sparse_cell){.size = cell->size, .work = work, .next = nsgs->sparse};
    nsgs->sparse = block;
    cell->data = block;
    cell->step = step_sparse;
    ss_sparse *matrix = sparse_block(problem->A, cell);
    block->lu = matrix ? ss_lu_create(matrix, NULL) : NULL;
    bool good = block->lu && ss_lu_factor(block->lu, matrix) == SS_LINALG_OK;
    ss_sparse_destroy(matrix);
    return good;
}

/* ---- the sweep -------------------------------------------------------------------------------------- */

static bool set_cone(const ss_sweep *sweep, ss_cell *cell, double tolerance, ss_arena *arena)
{
    ss_local_cone cone;
    const ss_block *block = &sweep->problem->blocks[cell->block];
    if (!ss_local_cone_create(block, cell->own, tolerance, arena, &cone)) return false;
    cell->step = cone.solve;
    cell->data = cone.data;
    return true;
}

static bool set_step(const ss_problem *problem, ss_cell *cell, double tolerance, ss_arena *arena,
                     ss_nsgs *nsgs)
{
    static const double full = 1.0;
    ss_law law = problem->blocks[cell->block].law;
    if (law == SS_LAW_CONE || law == SS_LAW_CONVEX) return set_cone(nsgs->sweep, cell, tolerance, arena);
    if (law == SS_LAW_FREE && cell->size > DENSE_LIMIT && problem->A)
        return set_sparse(problem, cell, arena, nsgs);
    if (law == SS_LAW_FREE && cell->size > 1) return set_dense(nsgs->sweep, cell, arena);
    return ss_row_step_set(nsgs->sweep, cell, 1.0 / problem->diagonal[cell->first], &full, arena);
}

bool ss_nsgs_create(const ss_problem *problem, double local_tolerance, uint64_t seed, ss_arena *arena,
                    ss_nsgs *nsgs)
{
    *nsgs = (ss_nsgs){.sweep = ss_sweep_create(problem, SS_OUTER_CONES | SS_FREE_BLOCKS, seed, arena)};
    bool good = nsgs->sweep != NULL;
    for (int c = 0; good && c < nsgs->sweep->cell_count; c++) {
        good = set_step(problem, &nsgs->sweep->cells[c], local_tolerance, arena, nsgs);
    }
    return good;
}

void ss_nsgs_free(ss_nsgs *nsgs)
{
    for (ss_sparse_cell *cell = nsgs->sparse; cell; cell = cell->next) ss_lu_destroy(cell->lu);
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const nsgs_options *set = options;
    ss_sweep_order order = (ss_sweep_order)set->sweep;
    ss_nsgs nsgs;
    ss_status status = SS_FAILED;
    if (ss_sweep_batched(problem, order, &(ss_coloured_method){.contact = SS_BATCH_EXACT}, run, x, &status))
        return status;
    if (ss_nsgs_create(problem, set->local_tolerance, run->seed, run->arena, &nsgs)) {
        status = ss_sweep_iterate(nsgs.sweep, order, run, x);
    }
    ss_nsgs_free(&nsgs);
    return status;
}

const ss_solver ss_solver_nsgs = {
    .abi = SS_ABI,
    .name = "nsgs",
    .summary = "block Gauss-Seidel, every contact solved exactly",
    .reference = "Moreau, Jean 1996; Jourdan, Alart, Jean 1998",
    .weakness = "slow on tall stacks and long chains; no proof of convergence under Coulomb's law",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_MANY_BODIES | SS_NEEDS_DIAGONAL | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(nsgs_options),
    .solve = solve,
};
