#include "solver/newton/newton.h"

#include <math.h>
#include <string.h>

#include "solver/newton/newton_natural.h"
#include "solver/newton/newton_proximal.h"
#include "solver/newton/newton_step.h"

/* ---- the run ---------------------------------------------------------------------------------------- */

static double size_at_start(ss_newton *newton)
{
    int n = newton->space->size;
    memset(newton->trial, 0, (size_t)n * sizeof *newton->trial);
    memset(newton->trial_u, 0, (size_t)n * sizeof *newton->trial_u);
    ss_newton_residual(newton->space, 1.0, newton->trial, newton->trial_u, newton->phi);
    for (int i = 0; i < n; i++) newton->trial[i] = -newton->phi[i]; // P(0)
    ss_newton_space_velocity(newton->space, newton->trial, newton->trial_u);
    double size = ss_newton_residual(newton->space, 1.0, newton->trial, newton->trial_u, NULL);
    return size > 0.0 ? size : 1.0;
}

bool ss_newton_begin(const ss_problem *problem, ss_run *run, ss_newton_map map, double *x, ss_newton *newton)
{
    size_t n = (size_t)problem->size;
    *newton = (ss_newton){.run = run, .map = map, .x = x, .best_error = INFINITY};
    newton->space = ss_newton_space_create(problem, run->arena);
    if (!newton->space || !ss_newton_system_create(newton->space, run, &newton->system)) return false;
    newton->best = ss_arena_take(run->arena, n, sizeof *newton->best, "best");
    newton->dr = ss_arena_take(run->arena, n, sizeof *newton->dr, "step");
    newton->du = ss_arena_take(run->arena, n, sizeof *newton->du, "step");
    newton->phi = ss_arena_take(run->arena, n, sizeof *newton->phi, "map");
    newton->trial = ss_arena_take(run->arena, n, sizeof *newton->trial, "trial");
    newton->trial_u = ss_arena_take(run->arena, n, sizeof *newton->trial_u, "trial");
    newton->centre = ss_arena_take(run->arena, n, sizeof *newton->centre, "centre");
    newton->shifted = ss_arena_take(run->arena, n, sizeof *newton->shifted, "shifted");
    newton->near = ss_arena_take(run->arena, n, sizeof *newton->near, "near");
    if (!newton->centre || !newton->shifted || !newton->near || !newton->best || !newton->dr || !newton->du ||
        !newton->phi || !newton->trial || !newton->trial_u)
        return false;
    newton->start_size = size_at_start(newton);
    return true;
}

bool ss_newton_exact(const ss_newton *newton)
{
    return newton->best_error <= 1e-14;
}

ss_status ss_newton_end(ss_newton *newton)
{
    static const double rounding = 1e-10; // of ill-conditioned problems
    ss_newton_system_free(&newton->system);
    if (newton->stopped && ss_run_status(newton->run) == SS_CONVERGED) return SS_CONVERGED;
    if (isfinite(newton->best_error)) ss_newton_space_leave(newton->space, newton->best, newton->x);
    if (newton->stopped) return ss_run_status(newton->run);
    if (newton->has_ray) return SS_RAY;
    if (!isfinite(newton->best_error)) return SS_FAILED;
    return newton->best_error <= rounding ? SS_CONVERGED : SS_STALLED;
}

double ss_newton_note(ss_newton *newton, const double *r, const double *u)
{
    // where there is no solution, errors fall by a hair on the way to infinity
    static const double worth_it = 0.999;
    double error = ss_newton_residual(newton->space, 1.0, r, u, NULL) / newton->start_size;
    if (error < worth_it * newton->best_error) {
        newton->best_error = error;
        memcpy(newton->best, r, (size_t)newton->space->size * sizeof *r);
    }
    return error;
}

bool ss_newton_is_late(ss_newton *newton)
{
    newton->stopped = newton->stopped || ss_run_late(newton->run);
    return newton->stopped;
}

bool ss_newton_report(ss_newton *newton, const double *r)
{
    ss_newton_space_leave(newton->space, r, newton->x);
    newton->stopped = !ss_run_iteration(newton->run, newton->x, NULL);
    return !newton->stopped;
}

/* ---- proximal Newton -------------------------------------------------------------------------------- */

/* Off into the wild, along a direction that is nearly in the null space of the matrix. The map of Fischer and
 * Burmeister, smooth where the natural map has corners, finds its way back sooner when it is let go. */
static bool is_wild(const ss_newton *newton, double alpha, double ratio)
{
    return newton->map != SS_FISCHER_MAP && ratio > 100.0 && alpha < 1.0;
}

static double next_alpha(const ss_newton *newton, const ss_newton_plan *plan, double alpha, double t,
                         double ratio)
{
    static const double largest = 10.0;
    if (is_wild(newton, alpha, ratio)) return 10.0 * alpha;
    if (t == 1.0 && ratio < 0.3) {
        return fmax(newton->system.alpha_min, alpha * (ratio < 0.03 ? plan->shrink_fast : plan->shrink));
    }
    return t < 1.0 || ratio > 0.7 ? fmin(largest, 3.0 * alpha) : alpha;
}

/* The direction at (r, u), with a larger alpha where the matrix is singular. Returns the map's size, negative
 * when there is none. */
static double direction(ss_newton *newton, double *alpha, const double *r, const double *u)
{
    enum { ATTEMPTS = 4 };
    for (int k = 0; k < ATTEMPTS && !ss_newton_is_late(newton); k++, *alpha = fmin(100.0 * *alpha, 10.0)) {
        double before = ss_newton_linearize(newton, *alpha, r, u);
        if (before == 0.0) {
            memset(newton->dr, 0, (size_t)newton->space->size * sizeof *newton->dr);
            memset(newton->du, 0, (size_t)newton->space->size * sizeof *newton->du);
            return 0.0;
        }
        if (ss_newton_system_factor(&newton->system, *alpha) &&
            ss_newton_system_solve(&newton->system, newton->phi, newton->dr, newton->du)) {
            return before;
        }
    }
    return -1.0;
}

/* How the errors of the steps develop. */
typedef struct progress {
    double best, checked;
    int count, best_at;
} progress;

static void count_step(progress *made, double error)
{
    made->count++;
    if (error >= 0.999 * made->best) return;
    made->best = error;
    made->best_at = made->count;
}

static bool is_hopeless(progress *made, bool hasty)
{
    static const double rounding = 1e-10; // below it, a few idle steps tell that no digit is left to gain
    int patience = made->count / 4 > 200 ? made->count / 4 : 200;
    if (made->best <= rounding) patience = 6;
    if (hasty && made->count % 3 == 0) {
        if (made->best > 0.5 * made->checked) return true;
        made->checked = made->best;
    }
    return made->count - made->best_at >= patience;
}

/* ---- plateaus ----------------------------------------------------------------------------------------- */

/* After a number of idle steps: strides from the best point and, where they lead nowhere, later on from the
 * point at hand. By the natural map, whose steps at a face of the cones are exact where Fischer's and
 * Burmeister's creep. */
static bool leave_plateau(ss_newton *newton, const ss_newton_plan *plan, int idle, double alpha, double *r,
                          double *u)
{
    enum { FROM_BEST = 12, FROM_HERE = 40, MANY = 400 };
    if (idle != FROM_BEST && idle != FROM_HERE) return false;
    if (idle == FROM_BEST) {
        memcpy(r, newton->best, (size_t)newton->space->size * sizeof *r);
        ss_newton_space_velocity(newton->space, r, u);
    }
    ss_proximal_plan strides = {.alpha = fmax(0.1 * alpha, 1e-4),
                                .largest = 1.0,
                                .patience = plan->patience > 0 ? plan->patience : MANY,
                                .attempts = 8,
                                .steps = plan->patience > 0 ? plan->steps : 0,
                                .enough = plan->enough};
    ss_newton_map map = newton->map;
    newton->map = SS_NATURAL_MAP;
    bool over = ss_newton_proximal(newton, &strides, r, u);
    newton->map = map;
    return over;
}

bool ss_newton_steps(ss_newton *newton, const ss_newton_plan *plan, double *r, double *u)
{
    const ss_newton_space *space = newton->space;
    progress made = {.best = INFINITY, .checked = INFINITY};
    double alpha = fmax(plan->alpha, newton->system.alpha_min);
    for (int step = 0; step < plan->steps; step++) {
        double ratio, before = direction(newton, &alpha, r, u);
        if (before < 0.0) return newton->stopped;
        double t = ss_newton_search(newton, alpha, before, r, u, &ratio);
        if (!isfinite(ratio)) return false;
        if (!is_wild(newton, alpha, ratio)) {
            memcpy(r, newton->trial, (size_t)space->size * sizeof *r);
            ss_newton_space_velocity(space, r, u);
        }
        alpha = next_alpha(newton, plan, alpha, t, ratio);
        count_step(&made, ss_newton_note(newton, r, u));
        if (!ss_newton_report(newton, r) || ss_newton_exact(newton)) return true;
        int idle = made.count - made.best_at;
        if (made.best <= plan->enough || (plan->patience > 0 && idle >= plan->patience)) return false;
        if (is_hopeless(&made, plan->hasty) || (plan->hasty && ratio > 1.0)) return false;
        if (!plan->hasty && leave_plateau(newton, plan, idle, alpha, r, u)) return true;
        if (newton->best_error <= plan->enough) return false;
    }
    return false;
}
