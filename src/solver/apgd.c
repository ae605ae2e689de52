/* Accelerated projected gradient descent (Nesterov), the method of Chrono for granular matter:
 *
 *     r+ = P(y - u(y) / L),   y+ = r+ + beta (r+ - r),   u(y+) = u(r+) + beta (u(r+) - u(r))
 *
 * with beta from Nesterov's sequence. One product per iteration, no line search: f is quadratic, so that L,
 * the largest eigenvalue of W in pure numbers, is known from a few products, and raised when a step shows
 * more curvature. (The published test by values of f cancels at 1e-7.) When a step turns back against y the
 * sequence starts again.
 *
 * The convex problem is solved with a proof, the error falling like 1/k^2 at least. Coulomb's law: De
 * Saxce's term is that of y, new in every iteration, which is no gradient any more; it works as long as
 * little slides.
 *
 * References: Nesterov (1983); O'Donoghue, Candes, Adaptive restart for accelerated gradient schemes (2015);
 * Mazhar, Heyn, Negrut, Tasora, Using Nesterov's method to accelerate multibody dynamics with friction and
 * contact (2015).
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/option_rows.h"
#include "solver/newton/maps.h"
#include "solver/core/progress.h"
#include "solver/splitting/gradient.h"

typedef struct apgd_options {
    int power_iterations;
    bool restart;
} apgd_options;

static const ss_option options_table[] = {
    SS_ROW_INT(apgd_options, power_iterations, "15", 0, 1000,
               "matrix products spent on estimating the largest eigenvalue before the first step"),
    SS_ROW_BOOL(apgd_options, restart, "true", "restart the acceleration if a step reverses direction"),
    {0},
};

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    enum { STUCK = 5000 };
    static const double from_below = 1.05; // estimates of L are
    const apgd_options *set = options;
    int n = problem->size;
    size_t bytes = (size_t)n * sizeof *x;
    double *r, *u;         // the iterate and its velocity
    double *last, *last_u; // before
    double *y, *u_y;       // where the gradient is taken
    double *term;          // De Saxce's
    ss_space *space = ss_space_create(problem, run->arena);
    ss_progress progress;
    if (!space || !ss_progress_start(space, run, x, &progress) ||
        !ss_arena_take_vectors(run->arena, (size_t)n, "descent",
                               (double **[]){&r, &u, &last, &last_u, &y, &u_y, &term, NULL}))
        return SS_FAILED;

    // L, and a start that obeys the laws.
    double L = from_below * ss_gradient_slope(space, set->power_iterations, run, y, term), theta = 1.0;
    ss_space_enter(space, x, r);
    ss_gradient_project(space, r, r, r);
    ss_space_velocity(space, r, u);
    memcpy(last, r, bytes);
    memcpy(last_u, u, bytes);

    double error = ss_newton_residual(space, 1.0, r, u, NULL);
    while (ss_progress_report(&progress, r, error, STUCK)) {
        // y beyond r, its velocity by the same combination, and the gradient there.
        double next = 0.5 * theta * (sqrt(theta * theta + 4.0) - theta);
        double beta = theta * (1.0 - theta) / (theta * theta + next);
        for (int i = 0; i < n; i++) {
            y[i] = r[i] + beta * (r[i] - last[i]);
            u_y[i] = u[i] + beta * (u[i] - last_u[i]);
        }
        ss_gradient_saxce(space, u_y, term);

        // The step from y, into the place of the iterate before.
        double *stepped = last, *speed = last_u, square = 0.0, turn = 0.0;
        for (int i = 0; i < n; i++) stepped[i] = y[i] - (u_y[i] + term[i]) / L;
        ss_gradient_project(space, stepped, r, stepped);
        for (int i = 0; i < n; i++) {
            double step = stepped[i] - y[i];
            square += step * step;
            turn -= step * (stepped[i] - r[i]);
        }
        last = r, last_u = u;
        r = stepped, u = speed;
        ss_space_velocity(space, r, u);
        theta = set->restart && turn > 0.0 ? 1.0 : next;

        // More curvature along the last step than L allows: L grows.
        double work = 0.0, moved_square = 0.0;
        for (int i = 0; i < n; i++) {
            double moved = r[i] - last[i];
            work += moved * (u[i] - last_u[i]);
            moved_square += moved * moved;
        }
        if (work > L * moved_square) L = from_below * work / moved_square;
        error = L * sqrt(square); // at y
    }
    return ss_progress_end(&progress);
}

const ss_solver ss_solver_apgd = {
    .abi = SS_ABI,
    .name = "apgd",
    .summary = "accelerated projected gradient with restarts, one product per iteration",
    .reference = "Nesterov 1983; O'Donoghue, Candes 2015; Mazhar, Heyn, Negrut, Tasora 2015",
    .weakness =
        "slow on joints and large mass ratios; may oscillate if many contacts slide, because Coulomb's "
        "law has no potential",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = options_table,
    .options_size = sizeof(apgd_options),
    .solve = solve,
    .refusal = ss_gradient_refusal,
};
