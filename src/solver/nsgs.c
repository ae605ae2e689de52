/* Nonsmooth Gauss-Seidel: contact after contact solved exactly with the newest impulses of all others,
 *
 *     for every contact c:
 *         q_c = u_c - A_cc r_c
 *         r_c <- the solution of { u_c = A_cc r_c + q_c, Coulomb's law }
 *
 * (local/local_cone.h). Free blocks, the joints, are solved as a whole, on bodies joint by joint:
 *
 *     x_c <- x_c - (A_cc + D)^-1 w_c
 *
 * where D, 1e-10 of the diagonal, keeps redundant joints from being singular and leaves the solution alone.
 * Bounded rows are clamped one by one. On rows of A, or on the bodies' velocities without ever making A;
 * then, where there are enough of them, four contacts at a time (sweep/batched.h).
 *
 * The workhorse: robust and cheap per sweep, but linear, and slow where impulses travel far (tall stacks,
 * chains of joints in separate blocks).
 *
 * With `accelerate` the change of a sweep is taken for the gradient, and conjugate directions carry it
 * further (linalg/conjugate.h): nonsmooth nonlinear conjugate gradients, `nncg`, which is nsgs with
 * accelerate=true and sweep=forward as defaults. That costs three sums of vectors per iteration and needs a
 * fraction of the iterations on packings of spheres and on columns; where contacts start and stop sliding
 * directions are thrown away so often that little is left but the sweeps. Iterates are shown after the sweep,
 * when they obey the laws, not after the extrapolation. `batched-nncg` has only the batches, of any number of
 * contacts, and their settings.
 *
 * References: Moreau, Jean, Numerical treatment of contact and friction (1996); Jourdan, Alart, Jean (1998);
 * Silcowitz-Hansen, Niebe, Erleben, A nonsmooth nonlinear conjugate gradient method for interactive contact
 * force problems (2010).
 */
#include <math.h>
#include <string.h>

#include "base/option_rows.h"
#include "linalg/dense.h"
#include "linalg/factor.h"
#include "solver/core/law.h"
#include "solver/local/local_cone.h"
#include "solver/sweep/batched.h"
#include "linalg/conjugate.h"

typedef struct nsgs_options {
    bool accelerate;
    int sweep;
    double local_tolerance;
} nsgs_options;

#define ACCELERATE_OPTION(value) \
    SS_ROW_BOOL(nsgs_options, accelerate, value, "conjugate directions around the sweeps, as in nncg")
#define TOLERANCE_OPTION                                                                                   \
    SS_ROW_REAL(nsgs_options, local_tolerance, "1e-14", 1e-16, 0.1,                                        \
                "relative accuracy of the slip of one contact; ignored by batched sweeps, which continue " \
                "from the last visit")

static const ss_option nsgs_table[] = {
    SS_BATCHED_ORDER_OPTION(nsgs_options, sweep, "auto"), TOLERANCE_OPTION, ACCELERATE_OPTION("false"), {0}};
static const ss_option nncg_table[] = {ACCELERATE_OPTION("true"),
                                       SS_BATCHED_ORDER_OPTION(nsgs_options, sweep, "forward"),
                                       TOLERANCE_OPTION,
                                       {0}};

/* ---- free blocks ------------------------------------------------------------------------------------ */

/* Redundant joints: this share of the diagonal is added to the matrix that is inverted, not to the
 * problem. */
static const double redundancy = 1e-10;
enum { DENSE_LIMIT = 64 }; // larger blocks are sparse: joints meet few others

typedef struct dense_block {
    int size;
    double *inverse; // of A_cc + D, by columns
} dense_block;

static void step_dense(void *data, const double *w, double *r)
{
    const dense_block *block = data;
    const double *column = block->inverse;
    for (int j = 0; j < block->size; j++, column += block->size) {
        for (int i = 0; i < block->size; i++) r[i] -= column[i] * w[j];
    }
}

static bool set_dense(const ss_operator *of, ss_cell *cell, ss_arena *arena)
{
    size_t n = (size_t)cell->size;
    dense_block *block = ss_arena_take(arena, 1, sizeof *block, "joints");
    double *A = ss_arena_take(arena, n * n, sizeof *A, "joint blocks");
    double *inverse = ss_arena_take(arena, n * n, sizeof *inverse, "joint blocks");
    int *pivot = ss_arena_take(arena, n, sizeof *pivot, "pivots");
    if (!block || !A || !inverse || !pivot) return false;
    ss_operator_own(of, cell, A);
    for (size_t i = 0; i < n; i++) {
        A[i * n + i] += redundancy * A[i * n + i];
        inverse[i * n + i] = 1.0;
    }
    if (ss_dense_lu(cell->size, A, pivot) != SS_LINALG_OK) return false;
    ss_dense_lu_solve(cell->size, A, pivot, SS_AS_IS, inverse, cell->size);
    *block = (dense_block){cell->size, inverse};
    cell->data = block;
    cell->step = step_dense;
    return true;
}

typedef struct sparse_block {
    ss_lu *lu; // on the heap
    int size;
    double *work;
    struct sparse_block *next;
} sparse_block;

static void step_sparse(void *data, const double *w, double *r)
{
    sparse_block *block = data;
    ss_lu_solve(block->lu, w, block->work, SS_REFINE_NEVER);
    for (int i = 0; i < block->size; i++) r[i] -= block->work[i];
}

/* `all`: the blocks so far, to be freed by the caller. */
static bool set_sparse(const ss_sparse *A, ss_cell *cell, ss_arena *arena, sparse_block **all)
{
    int first = cell->first, end = first + cell->size;
    sparse_block *block = ss_arena_take(arena, 1, sizeof *block, "joints");
    double *work = ss_arena_take(arena, (size_t)cell->size, sizeof *work, "joint impulses");
    if (!block || !work) return false;
    *block = (sparse_block){.size = cell->size, .work = work, .next = *all};
    *all = block;
    cell->data = block;
    cell->step = step_sparse;

    // A_cc + D out of A
    ss_sparse *own = ss_sparse_create(cell->size, cell->size, A->start[end] - A->start[first], NULL);
    for (int j = first, entry = 0; own && j < end; j++) {
        for (int e = A->start[j]; e < A->start[j + 1]; e++) {
            int i = A->row[e];
            if (i < first || i >= end) continue;
            own->row[entry] = i - first;
            own->value[entry++] = i == j ? (1.0 + redundancy) * A->value[e] : A->value[e];
        }
        own->start[j + 1 - first] = entry;
    }
    block->lu = own ? ss_lu_create(own, NULL) : NULL;
    bool good = block->lu && ss_lu_factor(block->lu, own) == SS_LINALG_OK;
    ss_sparse_destroy(own);
    return good;
}

/* ---- the sweeps ------------------------------------------------------------------------------------- */

/* NULL when out of memory or when a free block cannot be factorised. */
static ss_sweep *exact_sweep(const ss_problem *problem, double local_tolerance, ss_run *run,
                             sparse_block **blocks)
{
    static const double full = 1.0;
    ss_arena *arena = run->arena;
    ss_sweep *sweep = ss_sweep_create(problem, SS_OUTER_CONES | SS_FREE_BLOCKS, run->seed, arena);
    bool good = sweep != NULL;
    for (int c = 0; good && c < sweep->A.cell_count; c++) {
        ss_cell *cell = &sweep->A.cells[c];
        const ss_block *block = &problem->blocks[cell->block];
        ss_local_cone cone;
        if (ss_block_is_cone(block)) {
            good = ss_local_cone_create(block, cell->own, local_tolerance, arena, &cone);
            if (good) cell->step = cone.solve, cell->data = cone.data;
        } else if (block->law == SS_LAW_FREE && cell->size > DENSE_LIMIT && problem->A) {
            good = set_sparse(problem->A, cell, arena, blocks);
        } else if (block->law == SS_LAW_FREE && cell->size > 1) {
            good = set_dense(&sweep->A, cell, arena);
        } else {
            good = ss_row_step_set(problem, cell, 1.0 / problem->diagonal[cell->first], &full, arena);
        }
    }
    return good ? sweep : NULL;
}

/* ---- acceleration -------------------------------------------------------------------------------------- */

/* How far the sweep went along the direction: impulses, by the diagonal of A, so that all are energies. */
static double overlap(ss_conjugate *cg)
{
    const ss_conjugate_part *x = &cg->part[0];
    const double *diagonal = cg->context;
    double sum = 0.0;
    for (size_t i = 0; i < x->size; i++) sum += diagonal[i] * (x->at[i] - x->last[i]) * x->direction[i];
    return sum;
}

/* Where there is no solution impulses grow without bound, conjugate directions in no time, until rounding
 * hides all errors. */
static bool is_lost(const ss_problem *problem, const double *x)
{
    static const double enormous = 1e9; // times what the loads ask for
    double size = 0.0, load = 0.0;
    for (int i = 0; i < problem->size; i++) {
        size += problem->diagonal[i] * x[i] * x[i];
        load += problem->b[i] * problem->b[i] / problem->diagonal[i];
    }
    return size > enormous * enormous * load;
}

/* Impulses and the velocities they make are extrapolated alike. */
static ss_conjugate conjugate_of(ss_sweep *sweep, double *x)
{
    const ss_problem *problem = sweep->A.problem;
    ss_conjugate cg = {.part = {{.size = (size_t)problem->size, .at = x}},
                       .overlap = overlap,
                       .context = problem->diagonal,
                       .extrapolate = ss_conjugate_extrapolate};
    if (sweep->A.velocity)
        cg.part[1] = (ss_conjugate_part){.size = 6 * (size_t)problem->bodies->bodies,
                                         .at = (double *)sweep->A.velocity};
    ss_operator_refresh(&sweep->A, x);
    return cg;
}

/* ---- the method --------------------------------------------------------------------------------------- */

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    enum { LOOK = 16 };
    const nsgs_options *set = options;
    ss_sweep_order order = (ss_sweep_order)set->sweep;
    sparse_block *blocks = NULL;
    ss_conjugate cg;
    ss_status status = SS_FAILED;

    // Many contacts on bodies: the same sweep, four contacts at a time.
    if (ss_sweep_batched(problem, order, SS_BATCH_EXACT, 0.0, set->accelerate, run, x, &status))
        return status;

    // One by one. A pass visits every cell: its load, its exact solution, what that moves; then, with
    // acceleration, on along the conjugate direction.
    ss_sweep *sweep = exact_sweep(problem, set->local_tolerance, run, &blocks);
    bool good = sweep != NULL;
    if (good) ss_sweep_start(sweep, order, x);
    if (good && set->accelerate) {
        cg = conjugate_of(sweep, x);
        good = ss_conjugate_start(&cg, run->arena);
    }
    status = SS_FAILED;
    for (int iteration = 1; good; iteration++) {
        double change = ss_sweep_pass(sweep, sweep->order, x);
        if (set->accelerate && iteration % LOOK == 0 && is_lost(problem, x)) {
            status = ss_run_ray(run, x) ? SS_RAY : SS_FAILED;
            if (status == SS_FAILED) memcpy(x, sweep->last_good, (size_t)problem->size * sizeof *x);
            break;
        }
        good = ss_sweep_goes_on(sweep, change, run, x);
        if (!good) status = sweep->status;
        if (good && set->accelerate) ss_conjugate_next(&cg, change);
    }
    for (; blocks; blocks = blocks->next) ss_lu_destroy(blocks->lu);
    return status;
}

const ss_solver ss_solver_nsgs = {
    .abi = SS_ABI,
    .name = "nsgs",
    .summary = "block Gauss-Seidel, every contact solved exactly",
    .reference = "Moreau, Jean 1996; Jourdan, Alart, Jean 1998",
    .weakness = "slow on tall stacks and long chains; no proof of convergence under Coulomb's law",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_MANY_BODIES | SS_NEEDS_DIAGONAL | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = nsgs_table,
    .options_size = sizeof(nsgs_options),
    .solve = solve,
};

const ss_solver ss_solver_nncg = {
    .abi = SS_ABI,
    .name = "nncg",
    .summary = "block Gauss-Seidel accelerated by nonlinear conjugate directions",
    .reference = "Silcowitz-Hansen, Niebe, Erleben 2010",
    .weakness = "no acceleration if contacts slide; slow on tall stacks; no proof of convergence",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_MANY_BODIES | SS_NEEDS_DIAGONAL | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = nncg_table,
    .options_size = sizeof(nsgs_options),
    .solve = solve,
};
