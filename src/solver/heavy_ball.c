/* Polyak's heavy ball: projected gradient steps with momentum, all contacts at once,
 *
 *     x+ = P(x - step w + beta (x - x_before)),   w = A x + b
 *
 * where apgd takes the gradient beyond x, this takes it at x. The step of each contact is that of its own
 * block of A over lambda_max(D^-1 A) (core/law.h), shortened to 2 (1 - beta), below which
 * the method converges for symmetric positive semidefinite A and convex laws. A step that turns back against
 * the last one starts again without momentum. For Coulomb's law P is Alart's and Curnier's map, and there is
 * no proof.
 *
 * One product per iteration and nothing else that is not done contact by contact: 277 iterations to 1e-4 on a
 * frame of spheres125 where jacobi takes 1697, apgd 102 and pgs 94 sweeps. Slow where bodies of very
 * different mass meet, as all gradient methods are.
 *
 * References: Polyak, Some methods of speeding up the convergence of iteration methods (1964); Ghadimi,
 * Feyzmahdavian, Johansson, Global convergence of the heavy-ball method for convex optimization (2015);
 * O'Donoghue, Candes, Adaptive restart for accelerated gradient schemes (2015).
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/option_rows.h"
#include "solver/core/law.h"
#include "solver/core/watch.h"

typedef struct heavy_ball_options {
    double momentum;
    int power_iterations;
} heavy_ball_options;

static const ss_option options_table[] = {
    SS_ROW_REAL(heavy_ball_options, momentum, "0.5", 0, 0.99,
                "beta: the share of the last move that goes on"),
    SS_ROW_INT(heavy_ball_options, power_iterations, "20", 1, 1000,
               "matrix products spent on estimating lambda_max"),
    {0},
};

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    enum { STUCK = 5000 };
    const heavy_ball_options *set = options;
    const double *a = problem->diagonal;
    size_t n = (size_t)problem->size, bytes = n * sizeof *x;
    double *w, *step, *here, *move;
    ss_operator A;
    double *scratch =
        ss_arena_take(run->arena, (size_t)ss_problem_scratch(problem), sizeof *scratch, "velocities");
    if (!scratch || !ss_operator_create(problem, 0, run->arena, &A) ||
        !ss_arena_take_vectors(run->arena, n, "heavy ball", (double **[]){&w, &step, &here, &move, NULL}))
        return SS_FAILED;

    // The law of every contact, with a step that is short enough for all of them together.
    if (!ss_law_local_steps(&A, true, run, step)) return ss_run_late(run) ? ss_run_status(run) : SS_FAILED;
    double lambda = ss_largest_eigenvalue(problem, step, set->power_iterations, run);
    if (lambda < 0.0) return SS_FAILED;
    double factor = fmin(1.0, 2.0 * (1.0 - set->momentum)) / lambda, beta = 0.0;
    if (!ss_law_use_steps(&A, step, &factor, run->arena)) return SS_FAILED;

    ss_watch watch = {0};
    for (;;) {
        // The gradient at x, momentum, the laws.
        ss_problem_apply(problem, x, scratch, w);
        memcpy(here, x, bytes);
        for (size_t i = 0; i < n; i++) x[i] += beta * move[i];
        ss_law_step_all(&A, w, x);

        // How far it went, and whether it turned back.
        double change = 0.0, along = 0.0;
        for (size_t i = 0; i < n; i++) {
            double moved = x[i] - here[i];
            change += a[i] * moved * moved;
            along += a[i] * moved * move[i];
            move[i] = moved;
        }
        if (!isfinite(change)) {
            memcpy(x, here, bytes);
            return SS_FAILED;
        }
        beta = along >= 0.0 ? set->momentum : 0.0;

        bool due = ss_run_due(run, 0.5 * change / (factor * factor));
        if (!ss_run_iteration(run, due ? x : NULL, NULL)) return ss_run_status(run);
        if (change == 0.0) return SS_CONVERGED;
        if (ss_watch_stalled(&watch, change, STUCK)) return SS_STALLED;
    }
}

const ss_solver ss_solver_heavy_ball = {
    .abi = SS_ABI,
    .name = "heavy-ball",
    .summary = "projected gradient with momentum, all contacts at once",
    .reference = "Polyak 1964; Ghadimi, Feyzmahdavian, Johansson 2015",
    .weakness = "slow on stacks and large mass ratios; no proof of convergence under Coulomb's law",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_MANY_BODIES | SS_NEEDS_DIAGONAL | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = options_table,
    .options_size = sizeof(heavy_ball_options),
    .solve = solve,
};
