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

typedef struct descent {
    const ss_space *space;
    ss_row_groups groups;
    double *r, *u;         // the iterate and its velocity
    double *last, *last_u; // before
    double *y, *u_y;       // where the gradient is taken; then the next iterate and its velocity
    double *term;          // De Saxce's
    double slope, theta;   // L, and Nesterov's
    bool restarts;
} descent;

static bool take_memory(descent *at, ss_arena *arena)
{
    double **all[] = {&at->r, &at->u, &at->last, &at->last_u, &at->y, &at->u_y, &at->term};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k] = ss_arena_take_unset(arena, (size_t)at->space->size, sizeof **all[k], "descent");
        if (!*all[k]) return false;
    }
    return ss_row_groups_create(at->space, arena, &at->groups);
}

static void start(descent *at, const double *x, int power_iterations, ss_run *run)
{
    static const double from_below = 1.05;
    size_t bytes = (size_t)at->space->size * sizeof *at->r;
    at->slope = from_below * ss_gradient_slope(&at->groups, power_iterations, run, at->y, at->term);
    at->theta = 1.0;
    ss_space_enter(at->space, x, at->r);
    ss_gradient_project(at->space, at->r, at->r, at->r);
    ss_row_groups_velocity(&at->groups, at->r, at->u);
    memcpy(at->last, at->r, bytes);
    memcpy(at->last_u, at->u, bytes);
}

/* More curvature along the last step than L allows: L grows. */
static void check_slope(descent *at)
{
    double work = 0.0, square = 0.0;
    for (int i = 0; i < at->space->size; i++) {
        double moved = at->r[i] - at->last[i];
        work += moved * (at->u[i] - at->last_u[i]);
        square += moved * moved;
    }
    if (work > at->slope * square) at->slope = 1.05 * work / square;
}

static void swap(double **a, double **b)
{
    double *kept = *a;
    *a = *b;
    *b = kept;
}

/* Returns the error at y: the length of the step, times L. */
static double advance(descent *at)
{
    int n = at->space->size;
    double theta = at->theta, next = 0.5 * theta * (sqrt(theta * theta + 4.0) - theta);
    double beta = theta * (1.0 - theta) / (theta * theta + next), square = 0.0, turn = 0.0;
    for (int i = 0; i < n; i++) {
        at->y[i] = at->r[i] + beta * (at->r[i] - at->last[i]);
        at->u_y[i] = at->u[i] + beta * (at->u[i] - at->last_u[i]);
    }
    ss_gradient_saxce(at->space, at->u_y, at->term);
    double *new = at->last; // no longer needed
    for (int i = 0; i < n; i++) new[i] = at->y[i] - (at->u_y[i] + at->term[i]) / at->slope;
    ss_gradient_project(at->space, new, at->r, new);
    for (int i = 0; i < n; i++) {
        double step = new[i] - at->y[i];
        square += step * step;
        turn -= step * (new[i] - at->r[i]);
    }
    swap(&at->last, &at->r); // last: the iterate before; r: the new one
    swap(&at->last_u, &at->u);
    ss_row_groups_velocity(&at->groups, at->r, at->u);
    at->theta = at->restarts && turn > 0.0 ? 1.0 : next;
    check_slope(at);
    return at->slope * sqrt(square);
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    enum { STUCK = 5000 };
    const apgd_options *set = options;
    descent at = {.space = ss_space_create(problem, run->arena), .restarts = set->restart};
    ss_progress progress;
    if (!at.space || !take_memory(&at, run->arena) || !ss_progress_start(at.space, run, x, &progress))
        return SS_FAILED;
    start(&at, x, set->power_iterations, run);
    double error = ss_newton_residual(at.space, 1.0, at.r, at.u, NULL);
    while (ss_progress_report(&progress, at.r, error, STUCK)) error = advance(&at);
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
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(apgd_options),
    .solve = solve,
    .refusal = ss_gradient_refusal,
};
