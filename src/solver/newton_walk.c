#include "solver/newton_walk.h"

#include <math.h>
#include <string.h>

#include "solver/newton_fischer.h"
#include "solver/newton_natural.h"

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

/* ---- maps ------------------------------------------------------------------------------------------- */

/* phi of a node at (r, u) and, unless F is NULL, its derivative F dr + B du. */
static void evaluate(const ss_newton_walk *walk, int k, double rho, const double *r, const double *u,
                     double *phi, double *F, double *B)
{
    const ss_newton_node *node = &walk->space->nodes[k];
    if (walk->map == SS_FISCHER_MAP)
        ss_newton_fischer(walk->space, node, r, u, phi, F, B);
    else
        ss_newton_natural(walk->space, node, rho, r, u, phi, F, B);
}

/* The blocks of the Newton system and its right-hand side, -phi; returns |phi|. */
static double linearize(ss_newton_walk *walk, double rho, const double *r, const double *u)
{
    ss_newton_system *system = &walk->system;
    double sum = 0.0;
    system->uses_right = false;
    for (int k = 0; k < walk->space->node_count; k++) {
        const ss_newton_node *node = &walk->space->nodes[k];
        double *phi = walk->phi + node->first;
        evaluate(walk, k, rho, r, u, phi, system->F + system->square[k], system->B + system->square[k]);
        for (int i = 0; i < node->size; i++) {
            sum += phi[i] * phi[i];
            phi[i] = -phi[i];
        }
    }
    return sqrt(sum);
}

static double map_size(const ss_newton_walk *walk, double rho, const double *r, const double *u)
{
    double sum = 0.0;
    for (int k = 0; k < walk->space->node_count; k++) {
        double phi[SS_NODE_MAX];
        evaluate(walk, k, rho, r, u, phi, NULL, NULL);
        for (int i = 0; i < walk->space->nodes[k].size; i++) sum += phi[i] * phi[i];
    }
    return sqrt(sum);
}

/* ---- proximal Newton -------------------------------------------------------------------------------- */

/* The size of the map of the proximal problem after a step of length t; du has the proximal term in it. */
static double try_step(ss_newton_walk *walk, double rho, double t, const double *r, const double *u)
{
    for (int i = 0; i < walk->space->size; i++) {
        walk->trial[i] = r[i] + t * walk->dr[i];
        walk->trial_u[i] = u[i] + t * walk->du[i];
    }
    return map_size(walk, rho, walk->trial, walk->trial_u);
}

/* Halves until the map gets smaller. An eighth is taken in any case, for the way down may lead over a hill; alpha
 * grows then. */
static double search(ss_newton_walk *walk, double rho, double before, const double *r, const double *u,
                     double *ratio)
{
    double t = 1.0, after = try_step(walk, rho, t, r, u);
    while (!(after <= before) && t > 0.125) {
        t *= 0.5;
        after = try_step(walk, rho, t, r, u);
    }
    *ratio = before > 0.0 ? after / before : 0.0;
    return t;
}

/* Off into the wild, along a direction that is nearly in the null space of the matrix. The map of Fischer and
 * Burmeister, smooth where the natural map has corners, finds its way back sooner when it is let go. */
static bool is_wild(const ss_newton_walk *walk, double alpha, double ratio)
{
    return walk->map == SS_NATURAL_MAP && ratio > 100.0 && alpha < 1.0;
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
        double before = linearize(walk, 1.0 / (1.0 + *alpha), r, u);
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

/* ---- strides ---------------------------------------------------------------------------------------- */

/* Where more contacts are closed than the bodies can obey at once (four feet on a plane, their gaps rounded), the
 * impulses have a long way to go in directions that W does not see, and nothing but an error of 1e-8 pushes them: a
 * proximal step moves them by that error over alpha, and one Newton step per proximal step, which cannot follow the
 * turning of the friction forces, keeps alpha too large. So the centre of the proximal term stays while several
 * Newton steps solve the proximal problem; alpha falls as long as few of them will do. */
typedef enum outcome { ARRIVED, LOST, ENDED } outcome;

/* shifted = u + alpha (r - centre); returns alpha |r - centre| */
static double shift(ss_newton_walk *walk, double alpha, const double *r, const double *u)
{
    double sum = 0.0;
    for (int i = 0; i < walk->space->size; i++) {
        double push = alpha * (r[i] - walk->centre[i]);
        walk->shifted[i] = u[i] + push;
        sum += push * push;
    }
    return sqrt(sum);
}

/* One proximal problem, from its centre r on. The first step goes off the cones and is taken as it is: the others
 * come back. */
static outcome stride(ss_newton_walk *walk, double alpha, double *r, double *u, int *steps)
{
    static const double too_far = 0.05, solved = 0.1, rounding = 1e-14;
    enum { STEPS = 10 };
    size_t bytes = (size_t)walk->space->size * sizeof *r;
    double rho = 1.0 / (1.0 + alpha);
    memcpy(walk->centre, r, bytes);
    for (*steps = 1; *steps <= STEPS; ++*steps) {
        shift(walk, alpha, r, u);
        double before = linearize(walk, rho, r, walk->shifted), ratio;
        if (!ss_newton_system_factor(&walk->system, alpha) ||
            !ss_newton_system_solve(&walk->system, walk->phi, walk->dr, walk->du)) {
            return LOST;
        }
        if (*steps == 1)
            ratio = try_step(walk, rho, 1.0, r, walk->shifted) / before;
        else
            search(walk, rho, before, r, walk->shifted, &ratio);
        if (!isfinite(ratio) || (ratio > 1.0 && *steps > 1)) return LOST;
        memcpy(r, walk->trial, bytes);
        ss_newton_space_velocity(walk->space, r, u);
        ss_newton_walk_note(walk, r, u);
        if (!ss_newton_walk_report(walk, r) || ss_newton_walk_exact(walk)) return ENDED;
        double rest = ratio * before, drift = shift(walk, alpha, r, u);
        if (rest <= fmax(solved * drift, rounding)) return ARRIVED;
        if (*steps == 1 && rest > too_far * walk->start_size) return LOST;
    }
    return LOST;
}

/* Impulses that grow for ever along a direction W does not see, against which q works: then there is no solution
 * (or none of a size that means anything). The driver judges whether it is so. */
static bool is_ray(ss_newton_walk *walk, const double *r)
{
    static const double far = 1e6;
    const ss_newton_space *space = walk->space;
    double square = 0.0;
    for (int i = 0; i < space->size; i++) {
        walk->trial[i] = r[i] - walk->centre[i];
        square += walk->trial[i] * walk->trial[i];
    }
    if (!(square > far * far)) return false;
    for (int i = 0; i < space->size; i++) walk->trial_u[i] = walk->trial[space->number[i]] * space->unit[i];
    return ss_run_ray(walk->run, walk->trial_u);
}

/* True when the run has stopped, a ray was found, or nothing but rounding is left. */
static bool follow_drift(ss_newton_walk *walk, double alpha, double *r, double *u)
{
    static const double largest = 1.0;
    enum { PATIENCE = 400, ATTEMPTS = 8 };
    size_t bytes = (size_t)walk->space->size * sizeof *r;
    double best = walk->best_error;
    memcpy(walk->near, walk->best, bytes);
    for (int idle = 0, failures = 0; idle <= PATIENCE && failures < ATTEMPTS && alpha <= largest;) {
        int steps;
        outcome how = stride(walk, alpha, r, u, &steps);
        if (how == ENDED) return true;
        idle = walk->best_error < 0.99 * best ? 0 : idle + steps;
        best = fmin(best, walk->best_error);
        if (how == LOST) {
            failures++;
            alpha *= 4.0;
            memcpy(r, walk->centre, bytes);
            ss_newton_space_velocity(walk->space, r, u);
            continue;
        }
        failures = 0;
        if (is_ray(walk, r)) {
            memcpy(walk->best, walk->near, bytes); // what is out there is better by a hair at most
            return walk->has_ray = true;
        }
        if (steps <= 3) alpha = fmax(alpha * (steps <= 2 ? 0.25 : 0.5), walk->system.alpha_min);
    }
    return false;
}

/* After so many idle steps: strides from the best point and, where they lead nowhere, later on from the point at hand.
 * By the natural map, whose steps at a face of the cones are exact where Fischer's and Burmeister's creep. */
static bool leave_plateau(ss_newton_walk *walk, int idle, double alpha, double *r, double *u)
{
    enum { FROM_BEST = 12, FROM_HERE = 40 };
    if (idle != FROM_BEST && idle != FROM_HERE) return false;
    if (idle == FROM_BEST) {
        memcpy(r, walk->best, (size_t)walk->space->size * sizeof *r);
        ss_newton_space_velocity(walk->space, r, u);
    }
    ss_newton_map map = walk->map;
    walk->map = SS_NATURAL_MAP;
    bool over = follow_drift(walk, fmax(0.1 * alpha, 1e-4), r, u);
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
        double t = search(walk, 1.0 / (1.0 + alpha), before, r, u, &ratio);
        if (!isfinite(ratio)) return false;
        if (!is_wild(walk, alpha, ratio)) {
            memcpy(r, walk->trial, (size_t)space->size * sizeof *r);
            ss_newton_space_velocity(space, r, u);
        }
        alpha = next_alpha(walk, plan, alpha, t, ratio);
        count_step(&made, ss_newton_walk_note(walk, r, u));
        if (!ss_newton_walk_report(walk, r) || ss_newton_walk_exact(walk)) return true;
        if (is_hopeless(&made, plan->hasty) || (plan->hasty && ratio > 1.0)) return false;
        if (!plan->hasty && leave_plateau(walk, made.count - made.best_at, alpha, r, u)) return true;
    }
    return false;
}
