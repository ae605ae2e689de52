#include "solver/newton_walk.h"

#include <math.h>
#include <string.h>

#include "solver/newton_natural.h"
#include "solver/newton_proximal.h"
#include "solver/newton_step.h"

/* ---- the run ---------------------------------------------------------------------------------------- */

static double size_at_start(ss_newton_walk *walk)
{
    int n = walk->space->size;
    memset(walk->trial, 0, (size_t)n * sizeof *walk->trial);
    memset(walk->trial_u, 0, (size_t)n * sizeof *walk->trial_u);
    ss_newton_residual(walk->space, 1.0, walk->trial, walk->trial_u, walk->phi);
    for (int i = 0; i < n; i++) walk->trial[i] = -walk->phi[i]; // P(0)
    ss_newton_space_velocity(walk->space, walk->trial, walk->trial_u);
    double size = ss_newton_residual(walk->space, 1.0, walk->trial, walk->trial_u, NULL);
    return size > 0.0 ? size : 1.0;
}

bool ss_newton_walk_start(const ss_problem *problem, ss_run *run, ss_newton_map map, double *x,
                          ss_newton_walk *walk)
{
    size_t n = (size_t)problem->size;
    *walk = (ss_newton_walk){.run = run, .map = map, .x = x, .best_error = INFINITY};
    walk->space = ss_newton_space_create(problem, run->arena);
    if (!walk->space || !ss_newton_system_create(walk->space, run->arena, &walk->system)) return false;
    walk->best = ss_arena_take(run->arena, n, sizeof *walk->best, "best");
    walk->dr = ss_arena_take(run->arena, n, sizeof *walk->dr, "step");
    walk->du = ss_arena_take(run->arena, n, sizeof *walk->du, "step");
    walk->phi = ss_arena_take(run->arena, n, sizeof *walk->phi, "map");
    walk->trial = ss_arena_take(run->arena, n, sizeof *walk->trial, "trial");
    walk->trial_u = ss_arena_take(run->arena, n, sizeof *walk->trial_u, "trial");
    walk->centre = ss_arena_take(run->arena, n, sizeof *walk->centre, "centre");
    walk->shifted = ss_arena_take(run->arena, n, sizeof *walk->shifted, "shifted");
    walk->near = ss_arena_take(run->arena, n, sizeof *walk->near, "near");
    if (!walk->centre || !walk->shifted || !walk->near || !walk->best || !walk->dr || !walk->du ||
        !walk->phi || !walk->trial || !walk->trial_u)
        return false;
    walk->start_size = size_at_start(walk);
    return true;
}

bool ss_newton_walk_exact(const ss_newton_walk *walk)
{
    return walk->best_error <= 1e-14;
}

ss_status ss_newton_walk_end(ss_newton_walk *walk)
{
    static const double rounding = 1e-10; // of ill-conditioned problems
    ss_newton_system_free(&walk->system);
    if (walk->stopped && ss_run_status(walk->run) == SS_CONVERGED) return SS_CONVERGED;
    if (isfinite(walk->best_error)) ss_newton_space_leave(walk->space, walk->best, walk->x);
    if (walk->stopped) return ss_run_status(walk->run);
    if (walk->has_ray) return SS_RAY;
    if (!isfinite(walk->best_error)) return SS_FAILED;
    return walk->best_error <= rounding ? SS_CONVERGED : SS_STALLED;
}

double ss_newton_walk_note(ss_newton_walk *walk, const double *r, const double *u)
{
    static const double worth_it =
        0.999; // where there is no solution, errors fall by a hair on the way to infinity
    double error = ss_newton_residual(walk->space, 1.0, r, u, NULL) / walk->start_size;
    if (error < worth_it * walk->best_error) {
        walk->best_error = error;
        memcpy(walk->best, r, (size_t)walk->space->size * sizeof *r);
    }
    return error;
}

bool ss_newton_walk_report(ss_newton_walk *walk, const double *r)
{
    ss_newton_space_leave(walk->space, r, walk->x);
    walk->stopped = !ss_run_iteration(walk->run, walk->x, NULL);
    return !walk->stopped;
}

/* ---- proximal Newton -------------------------------------------------------------------------------- */

/* Off into the wild, along a direction that is nearly in the null space of the matrix. The map of Fischer and
 * Burmeister, smooth where the natural map has corners, finds its way back sooner when it is let go. */
static bool is_wild(const ss_newton_walk *walk, double alpha, double ratio)
{
    return walk->map != SS_FISCHER_MAP && ratio > 100.0 && alpha < 1.0;
}

static double next_alpha(const ss_newton_walk *walk, const ss_newton_plan *plan, double alpha, double t,
                         double ratio)
{
    static const double largest = 10.0;
    if (is_wild(walk, alpha, ratio)) return 10.0 * alpha;
    if (t == 1.0 && ratio < 0.3) {
        return fmax(walk->system.alpha_min, alpha * (ratio < 0.03 ? plan->shrink_fast : plan->shrink));
    }
    return t < 1.0 || ratio > 0.7 ? fmin(largest, 3.0 * alpha) : alpha;
}

/* The direction at (r, u), with a larger alpha where the matrix is singular. Returns the map's size, negative when
 * there is none. */
static double direction(ss_newton_walk *walk, double *alpha, const double *r, const double *u)
{
    enum { ATTEMPTS = 4 };
    for (int k = 0; k < ATTEMPTS; k++, *alpha = fmin(100.0 * *alpha, 10.0)) {
        double before = ss_newton_linearize(walk, *alpha, r, u);
        if (before == 0.0) {
            memset(walk->dr, 0, (size_t)walk->space->size * sizeof *walk->dr);
            memset(walk->du, 0, (size_t)walk->space->size * sizeof *walk->du);
            return 0.0;
        }
        if (ss_newton_system_factor(&walk->system, *alpha) &&
            ss_newton_system_solve(&walk->system, walk->phi, walk->dr, walk->du)) {
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

/* After so many idle steps: strides from the best point and, where they lead nowhere, later on from the point at hand.
 * By the natural map, whose steps at a face of the cones are exact where Fischer's and Burmeister's creep. */
static bool leave_plateau(ss_newton_walk *walk, const ss_newton_plan *plan, int idle, double alpha, double *r,
                          double *u)
{
    enum { FROM_BEST = 12, FROM_HERE = 40, MANY = 400 };
    if (idle != FROM_BEST && idle != FROM_HERE) return false;
    if (idle == FROM_BEST) {
        memcpy(r, walk->best, (size_t)walk->space->size * sizeof *r);
        ss_newton_space_velocity(walk->space, r, u);
    }
    ss_proximal_plan strides = {.alpha = fmax(0.1 * alpha, 1e-4),
                                .largest = 1.0,
                                .patience = plan->patience > 0 ? plan->patience : MANY,
                                .attempts = 8,
                                .steps = plan->patience > 0 ? plan->steps : 0,
                                .enough = plan->enough};
    ss_newton_map map = walk->map;
    walk->map = SS_NATURAL_MAP;
    bool over = ss_newton_proximal(walk, &strides, r, u);
    walk->map = map;
    return over;
}

bool ss_newton_steps(ss_newton_walk *walk, const ss_newton_plan *plan, double *r, double *u)
{
    const ss_newton_space *space = walk->space;
    progress made = {.best = INFINITY, .checked = INFINITY};
    double alpha = fmax(plan->alpha, walk->system.alpha_min);
    for (int step = 0; step < plan->steps; step++) {
        double ratio, before = direction(walk, &alpha, r, u);
        if (before < 0.0) return false;
        double t = ss_newton_search(walk, alpha, before, r, u, &ratio);
        if (!isfinite(ratio)) return false;
        if (!is_wild(walk, alpha, ratio)) {
            memcpy(r, walk->trial, (size_t)space->size * sizeof *r);
            ss_newton_space_velocity(space, r, u);
        }
        alpha = next_alpha(walk, plan, alpha, t, ratio);
        count_step(&made, ss_newton_walk_note(walk, r, u));
        if (!ss_newton_walk_report(walk, r) || ss_newton_walk_exact(walk)) return true;
        int idle = made.count - made.best_at;
        if (made.best <= plan->enough || (plan->patience > 0 && idle >= plan->patience)) return false;
        if (is_hopeless(&made, plan->hasty) || (plan->hasty && ratio > 1.0)) return false;
        if (!plan->hasty && leave_plateau(walk, plan, idle, alpha, r, u)) return true;
        if (walk->best_error <= plan->enough) return false;
    }
    return false;
}
