/* Projected Jacobi:  x <- P(x - omega D^-1 w),  w = A x + b,  all unknowns at once.
 *
 * D is the diagonal of A, for a cone one number per contact (the mean of its diagonal; rolling has its own),
 * so that P stays the nearest point. omega = scale / lambda with lambda >= lambda_max(D^-1/2 A D^-1/2) from a
 * few power iterations: a fixed omega = 1 diverges as soon as contacts share bodies. Converges for symmetric
 * positive semidefinite A and scale < 2; slowly. A baseline, and the smoother everybody can parallelise.
 *
 * Reference: Cottle, Pang, Stone, The Linear Complementarity Problem (1992), section 5.2.
 */
#include <stickslip/solver.h>

#include <math.h>

#include "base/option_rows.h"
#include "problem/laws.h"
#include "solver/core/law.h"

typedef struct jacobi_options {
    double scale;
    int power_iterations;
} jacobi_options;

static const ss_option options_table[] = {
    SS_ROW_REAL(jacobi_options, scale, "1", 1e-3, 1.99, "step relative to 1/lambda_max"),
    SS_ROW_INT(jacobi_options, power_iterations, "20", 1, 1000,
               "matrix products spent on estimating lambda_max"),
    {0},
};

/* The step of every unknown: 1/a_ii, in a cone the same for normal and tangents, and another for rolling,
 * which has another unit. */
static void inverse_diagonal(const ss_problem *problem, double *step)
{
    const double *a = problem->diagonal;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        bool is_cone = ss_block_is_cone(block);
        double mean = is_cone ? ss_block_inverse_mass(block, a) : 1.0;
        for (int i = 0; i < block->size; i++) {
            int at = block->first + i;
            step[at] = 1.0 / (is_cone ? mean : a[at]);
        }
        if (!is_cone || !ss_cone_rolls(block->size)) continue;
        int at = block->first + ss_cone_rolling(block->size);
        double moments = 0.5 * (a[at] + a[at + 1]);
        step[at] = step[at + 1] = moments > 0.0 ? 1.0 / moments : 0.0;
    }
}

/* Rolling cones first, nearest in the metric of the steps: moments in units in which their step is that of
 * the forces, where the cone is one with another mu_r. */
static void project(const ss_problem *problem, const double *step, double *x)
{
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (!ss_block_is_cone(block) || !ss_cone_rolls(block->size)) continue;
        int at = ss_cone_rolling(block->size);
        double forces = step[block->first], moments = step[block->first + at], *r = x + block->first;
        if (!(moments > 0.0)) continue; // nothing rolls here
        double unit = sqrt(forces / moments);
        ss_friction_cone cone = ss_block_cone(block);
        cone.mu_rolling *= unit;
        for (int i = at; i < at + 2; i++) r[i] *= unit;
        ss_friction_cone_project(cone, r);
        for (int i = at; i < at + 2; i++) r[i] /= unit;
    }
    ss_problem_project(problem, x);
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const jacobi_options *set = options;
    size_t n = (size_t)problem->size;
    double *w = ss_arena_take(run->arena, n, sizeof *w, "w");
    double *step = ss_arena_take(run->arena, n, sizeof *step, "step");
    double *scratch =
        ss_arena_take(run->arena, (size_t)ss_problem_scratch(problem), sizeof *scratch, "velocities");
    if (!w || !step || !scratch) return SS_FAILED;
    inverse_diagonal(problem, step);
    double lambda = ss_largest_eigenvalue(problem, step, set->power_iterations, run);
    if (lambda < 0.0) return SS_FAILED;
    if (ss_run_late(run)) return ss_run_status(run);
    double omega = set->scale / lambda;
    for (;;) {
        ss_problem_apply(problem, x, scratch, w);
        if (!ss_run_iteration(run, x, w)) return ss_run_status(run);
        for (int k = 0; k < problem->block_count; k++) {
            const ss_block *block = &problem->blocks[k];
            if (ss_block_is_cone(block)) ss_block_dual(block, w + block->first, w + block->first);
        }
        for (int i = 0; i < problem->size; i++) x[i] -= omega * step[i] * w[i];
        project(problem, step, x);
    }
}

const ss_solver ss_solver_jacobi = {
    .abi = SS_ABI,
    .name = "jacobi",
    .summary = "projected Jacobi with the step length from a power iteration",
    .reference = "Cottle, Pang, Stone 1992, section 5.2",
    .weakness = "slow; converges only for symmetric positive semidefinite matrices",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_NEEDS_DIAGONAL | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = options_table,
    .options_size = sizeof(jacobi_options),
    .solve = solve,
};
