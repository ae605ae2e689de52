/* A solver as a plug-in: damped projected Richardson, x <- P(x - step w), w = A x + b. Start here for your
 * own.
 *
 * One number, damping / |A|_inf, is the step of all unknowns. It converges for symmetric positive
 * semidefinite A and damping < 2, and is about as slow as a method can be.
 */
#include <stickslip/plugin.h>

#include <math.h>

/* ---- options: a struct and a table that describes it ------------------------------------------------ */

typedef struct richardson_options {
    double damping;
} richardson_options;

static const ss_option options_table[] = {{.name = "damping",
                                           .type = SS_OPTION_REAL,
                                           .offset = offsetof(richardson_options, damping),
                                           .default_value = "1",
                                           .min = 1e-3,
                                           .max = 1.99,
                                           .help = "step relative to 1/|A|_inf"},
                                          {0}};

/* ---- the method ------------------------------------------------------------------------------------- */

/* |A|_inf = |A|_1 of a symmetric matrix: the largest sum of a column. The driver has made A for us. */
static double norm_of(const ss_sparse *A)
{
    double largest = 0.0;
    for (int j = 0; j < A->cols; j++) {
        double sum = 0.0;
        for (int k = A->start[j]; k < A->start[j + 1]; k++) sum += fabs(A->value[k]);
        largest = fmax(largest, sum);
    }
    return largest;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const richardson_options *set = options;
    double *w = ss_arena_take(run->arena, (size_t)problem->size, sizeof *w, "w");
    double *scratch =
        ss_arena_take(run->arena, (size_t)ss_problem_scratch(problem), sizeof *scratch, "scratch");
    double norm = norm_of(problem->A);
    if (!w || !scratch) return SS_FAILED;
    for (;;) {
        ss_problem_apply(problem, x, scratch, w);
        if (!ss_run_iteration(run, x, w)) return ss_run_status(run);
        for (int k = 0; k < problem->block_count; k++) { // Coulomb's law: w~ in the place of w
            const ss_block *block = &problem->blocks[k];
            if (ss_block_is_cone(block)) ss_block_dual(block, w + block->first, w + block->first);
        }
        for (int i = 0; norm > 0.0 && i < problem->size; i++) x[i] -= set->damping / norm * w[i];
        ss_problem_project(problem, x);
    }
}

/* ---- what the program finds ------------------------------------------------------------------------- */

static const ss_solver richardson = {
    .abi = SS_ABI,
    .name = "richardson",
    .summary = "damped projected Richardson, one step for all unknowns",
    .reference = "Richardson 1911",
    .weakness = "slow; needs a symmetric positive semidefinite matrix",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_NEEDS_SYMMETRIC | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(richardson_options),
    .solve = solve,
};

static const ss_solver *const solvers[] = {&richardson, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .solvers = solvers};
