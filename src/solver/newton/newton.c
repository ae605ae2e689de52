#include "solver/newton/newton.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/add_scaled.h"
#include "problem/laws.h"
#include "solver/core/run_state.h"

/* ---- the run ---------------------------------------------------------------------------------------- */

bool ss_newton_begin(const ss_problem *problem, ss_run *run, ss_newton_map map, double *x, ss_newton *newton)
{
    size_t n = (size_t)problem->size;
    *newton = (ss_newton){.map = map, .progress = {.best.error = INFINITY, .status = SS_FAILED}};
    newton->space = ss_space_create(problem, run->arena);
    if (!newton->space || !ss_newton_system_create(newton->space, run, &newton->system) ||
        !ss_progress_start(newton->space, run, x, &newton->progress))
        return false;
    if (!ss_arena_take_vectors(run->arena, n, "Newton vectors",
                               (double **[]){&newton->dr, &newton->du, &newton->phi, &newton->trial,
                                             &newton->trial_u, &newton->centre, &newton->shifted,
                                             &newton->near, NULL}))
        return false;

    // Errors are relative to that of P(0).
    ss_newton_residual(newton->space, 1.0, newton->trial, newton->trial_u, newton->phi);
    for (size_t i = 0; i < n; i++) newton->trial[i] = -newton->phi[i];
    ss_space_velocity(newton->space, newton->trial, newton->trial_u);
    double size = ss_newton_residual(newton->space, 1.0, newton->trial, newton->trial_u, NULL);
    newton->start_size = size > 0.0 ? size : 1.0;
    return true;
}

bool ss_newton_exact(const ss_newton *newton)
{
    return newton->progress.best.error <= 1e-14;
}

ss_status ss_newton_end(ss_newton *newton)
{
    static const double rounding = 1e-10; // of ill-conditioned problems
    ss_newton_system_free(&newton->system);
    ss_status status = ss_progress_end(&newton->progress);
    if (status != SS_FAILED || !isfinite(newton->progress.best.error)) return status;
    return newton->progress.best.error <= rounding ? SS_CONVERGED : SS_STALLED;
}

double ss_newton_note(ss_newton *newton, const double *r, const double *u)
{
    // where there is no solution, errors fall by a hair on the way to infinity
    static const double worth_it = 0.999;
    double error = ss_newton_residual(newton->space, 1.0, r, u, NULL) / newton->start_size;
    ss_best *best = &newton->progress.best;
    if (error < worth_it * best->error) ss_best_keep(best, newton->space->size, r, error);
    return error;
}

bool ss_newton_is_late(ss_newton *newton)
{
    ss_progress *progress = &newton->progress;
    if (!ss_newton_is_over(newton) && ss_run_late(progress->run))
        progress->status = ss_run_status(progress->run);
    return ss_newton_is_over(newton);
}

bool ss_newton_report(ss_newton *newton, const double *r)
{
    ss_progress *progress = &newton->progress;
    ss_space_leave(newton->space, r, progress->x);
    if (ss_run_iteration(progress->run, progress->x, NULL)) return true;
    progress->status = ss_run_status(progress->run);
    return false;
}

/* ---- sweeps ----------------------------------------------------------------------------------------- */

bool ss_sweeper_create(const ss_space *space, double alpha, const double *centre, bool is_exact,
                       ss_arena *arena, ss_sweeper *sweeper)
{
    *sweeper = (ss_sweeper){.space = space, .alpha = alpha, .centre = centre};
    if (!is_exact) return true;
    size_t nodes = (size_t)space->node_count;
    sweeper->cones = ss_arena_take(arena, nodes, sizeof *sweeper->cones, "contacts");
    sweeper->own = ss_arena_take_unset(arena, nodes, sizeof *sweeper->own, "contacts");
    bool good = sweeper->cones && sweeper->own;
    for (int k = 0; good && k < space->node_count; k++) {
        static const double tolerance = 1e-14;
        const ss_node *node = &space->nodes[k];
        int n = node->size;
        double shifted[SS_CONE_MAX * SS_CONE_MAX];
        if (!ss_law_is_cone(node->law) || node->spins) continue;
        ss_block block = {.law = node->law, .size = n, .mu = node->mu, .mu_rolling = node->mu_rolling};
        ss_space_own(space, k, sweeper->own[k]);
        memcpy(shifted, sweeper->own[k], (size_t)(n * n) * sizeof *shifted);
        for (int i = 0; i < n; i++) shifted[i * n + i] += alpha;
        good = ss_local_cone_create(&block, shifted, tolerance, arena, &sweeper->cones[k]);
    }
    return good;
}

double ss_sweeper_sweep(const ss_sweeper *sweeper, double *r)
{
    const ss_space *space = sweeper->space;
    const ss_levers *levers = space->levers;
    const double *q = space->q, *centre = sweeper->centre;
    double moved = 0.0, alpha = sweeper->alpha;
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        int n = node->size, first = node->first;
        double u[SS_NODE_MAX], p[SS_NODE_MAX], y[SS_NODE_MAX] = {0};

        // u = W r of the node; with a full matrix or levers from what is kept up to date
        if (space->W) ss_block_rows_apply_node(space->W, k, r, u);
        for (int i = first; !space->W && i < first + n; i++)
            u[i - first] =
                levers ? ss_levers_pull_row(levers, i, levers->velocity) + levers->compliance[i] * r[i]
                       : space->kept[i];

        // p: the contact solved with the load of the others, u + q - W_kk r - alpha centre
        if (sweeper->cones && sweeper->cones[k].solve) {
            const double *own = sweeper->own[k];
            for (int i = 0; i < n; i++, own += n) {
                y[i] = u[i] + q[first + i];
                for (int j = 0; j < n; j++) y[i] -= own[j] * r[first + j];
                if (centre) y[i] -= alpha * centre[first + i];
                p[i] = r[first + i];
            }
            sweeper->cones[k].solve(sweeper->cones[k].data, y, p);
        } else { // or a step of the natural map
            for (int i = 0; i < n; i++) {
                int at = first + i;
                double speed = u[i] + q[at];
                if (centre) speed = (speed + alpha * (r[at] - centre[at])) / (1.0 + alpha);
                y[i] = r[at] - speed;
            }
            ss_newton_project(space, node, y, r, p, NULL);
        }

        for (int i = 0; i < n; i++) {
            int at = first + i;
            double change = p[i] - r[at];
            if (change != 0.0 && levers) ss_levers_push_row(levers, at, change, levers->velocity);
            if (change != 0.0 && space->full)
                ss_add_scaled(space->size, change, space->full + at * space->size, space->kept);
            r[at] = p[i];
            moved += change * change;
        }
    }
    return moved;
}

void ss_sweeper_begin(const ss_sweeper *sweeper, const double *r)
{
    const ss_space *space = sweeper->space;
    const ss_levers *levers = space->levers;
    if (space->full) {
        ss_space_apply(space, r, space->kept);
    } else if (levers) {
        memset(levers->velocity, 0, (size_t)levers->bodies * sizeof *levers->velocity);
        ss_levers_push(levers, r, levers->velocity);
    }
}

/* ---- before the first Newton step ------------------------------------------------------------------- */

/* In a small problem nothing has far to travel, and a few sweeps tell what a Newton step must know. Its
 * contacts are solved exactly, their own blocks of W being at hand. */
void ss_newton_sweeps(ss_newton *newton, int count, double *r, double *u)
{
    enum { FEW = 4 };
    const ss_space *space = newton->space;
    ss_run *run = newton->progress.run;
    size_t bytes = (size_t)space->size * sizeof *r;
    ss_sweeper sweeper;
    double before = ss_newton_note(newton, r, u);
    if (!ss_sweeper_create(space, 0.0, NULL, space->full != NULL, run->arena, &sweeper)) return;
    memcpy(newton->trial, r, bytes);
    ss_sweeper_begin(&sweeper, newton->trial);
    if (space->full && count > FEW) count = FEW;
    bool is_timed = ss_run_deadline(run) < INFINITY;
    double began = is_timed ? ss_clock_seconds() : 0.0, cost = 0.0; // s of a sweep
    for (int k = 0; k < count; k++) {
        // what comes after the last one, velocities and errors, takes up to twice as long
        if (ss_run_late(run) || ss_run_lacks(run, 3.0 * cost)) break;
        if (!(ss_sweeper_sweep(&sweeper, newton->trial) > 0.0)) break;
        if (is_timed) cost = ss_clock_seconds() - began, began += cost;
    }
    ss_space_velocity(space, newton->trial, newton->trial_u);
    if (!(ss_newton_note(newton, newton->trial, newton->trial_u) < before)) return;
    memcpy(r, newton->trial, bytes);
    memcpy(u, newton->trial_u, bytes);
}

/* ---- one step ---------------------------------------------------------------------------------------
 *
 * u of these functions has the proximal term in it. */

/* phi of a node at (r, u) and, unless F is NULL, its derivative F dr + B du. */
static void evaluate(const ss_newton *newton, int k, double alpha, const double *r, const double *u,
                     double *phi, double *F, double *B)
{
    const ss_node *node = &newton->space->nodes[k];
    if (newton->map == SS_NATURAL_MAP)
        ss_newton_natural(newton->space, node, 1.0 / (1.0 + alpha), r, u, phi, F, B);
    else if (newton->map == SS_FISCHER_MAP)
        ss_newton_fischer(newton->space, node, r, u, phi, F, B);
    else
        ss_newton_alart(&newton->alart, newton->space, k, alpha, r, u, phi, F, B);
}

/* The blocks of the Newton system, and its right-hand side -phi in newton->phi; returns |phi|. */
static double linearize(ss_newton *newton, double alpha, const double *r, const double *u)
{
    ss_newton_system *system = &newton->system;
    double sum = 0.0;
    system->uses_right = false;
    for (int k = 0; k < newton->space->node_count; k++) {
        const ss_node *node = &newton->space->nodes[k];
        double *phi = newton->phi + node->first;
        evaluate(newton, k, alpha, r, u, phi, system->F + system->square[k], system->B + system->square[k]);
        for (int i = 0; i < node->size; i++) {
            sum += phi[i] * phi[i];
            phi[i] = -phi[i];
        }
    }
    return sqrt(sum);
}

/* newton->trial and trial_u after a step of length t along newton->dr and du; returns |phi| there. */
static double try_step(ss_newton *newton, double alpha, double t, const double *r, const double *u)
{
    double sum = 0.0;
    for (int i = 0; i < newton->space->size; i++) {
        newton->trial[i] = r[i] + t * newton->dr[i];
        newton->trial_u[i] = u[i] + t * newton->du[i];
    }
    for (int k = 0; k < newton->space->node_count; k++) {
        double phi[SS_NODE_MAX];
        evaluate(newton, k, alpha, newton->trial, newton->trial_u, phi, NULL, NULL);
        for (int i = 0; i < newton->space->nodes[k].size; i++) sum += phi[i] * phi[i];
    }
    return sqrt(sum);
}

/* Halves until the map gets smaller. An eighth is taken in any case, for the way down may lead over a hill.
 * Returns the length; `ratio`: |phi| at its end over `before`. */
static double search(ss_newton *newton, double alpha, double before, const double *r, const double *u,
                     double *ratio)
{
    double t = 1.0, after = try_step(newton, alpha, t, r, u);
    while (!(after <= before) && t > 0.125) {
        t *= 0.5;
        after = try_step(newton, alpha, t, r, u);
    }
    *ratio = before > 0.0 ? after / before : 0.0;
    return t;
}

/* ---- proximal points -------------------------------------------------------------------------------- */

/* shifted = u + alpha (r - centre); returns alpha |r - centre| */
static double shift(ss_newton *newton, double alpha, const double *r, const double *u)
{
    double sum = 0.0;
    for (int i = 0; i < newton->space->size; i++) {
        double push = alpha * (r[i] - newton->centre[i]);
        newton->shifted[i] = u[i] + push;
        sum += push * push;
    }
    return sqrt(sum);
}

typedef enum outcome { ARRIVED, LOST, ENDED } outcome;

/* One proximal problem, from its centre r on. The first step goes off the cones and is taken as it is: the
 * others come back. Solved is it when its map is a hundred times alpha |r - centre| or less: more would be
 * in vain, because the next problem differs by about that. */
static outcome stride(ss_newton *newton, double alpha, double *r, double *u, int *steps)
{
    static const double solved = 100.0, rounding = 1e-14;
    enum { STEPS = 10 };
    size_t bytes = (size_t)newton->space->size * sizeof *r;
    memcpy(newton->centre, r, bytes);
    for (*steps = 1; *steps <= STEPS; ++*steps) {
        shift(newton, alpha, r, u);
        double before = linearize(newton, alpha, r, newton->shifted), ratio;
        if (!ss_newton_system_factor(&newton->system, alpha) ||
            !ss_newton_system_solve(&newton->system, newton->phi, newton->dr, newton->du)) {
            return ss_newton_is_late(newton) ? ENDED : LOST;
        }
        if (*steps == 1)
            ratio = try_step(newton, alpha, 1.0, r, newton->shifted) / before;
        else
            search(newton, alpha, before, r, newton->shifted, &ratio);
        if (!isfinite(ratio) || (ratio > 1.0 && *steps > 1)) return LOST;
        memcpy(r, newton->trial, bytes);
        ss_space_velocity(newton->space, r, u);
        ss_newton_note(newton, r, u);
        if (!ss_newton_report(newton, r) || ss_newton_exact(newton)) return ENDED;
        double rest = ratio * before, drift = shift(newton, alpha, r, u);
        if (rest <= fmax(solved * drift, rounding)) return ARRIVED;
    }
    return LOST;
}

/* Impulses that grow without bound along a direction W does not see, against which q works: then there is no
 * solution (or none of a size that means anything). The driver judges whether it is so. */
static bool is_ray(ss_newton *newton, const double *r)
{
    static const double far = 1e6;
    double square = 0.0;
    for (int i = 0; i < newton->space->size; i++) {
        double way = r[i] - newton->centre[i];
        square += way * way;
    }
    return square > far * far && ss_progress_drifts(&newton->progress, newton->centre, r);
}

bool ss_newton_proximal(ss_newton *newton, const ss_proximal_plan *plan, double *r, double *u)
{
    static const double grow = 10.0, shrink = 0.3, shrink_less = 0.5; // after one or two steps, after three
    static const double not_much = 1.2;
    size_t bytes = (size_t)newton->space->size * sizeof *r;
    ss_best *kept = &newton->progress.best;
    double alpha = plan->alpha, best = kept->error, near = best;
    memcpy(newton->near, kept->x, bytes);
    for (int idle = 0, failures = 0, taken = 0;
         idle <= plan->patience && failures < plan->attempts && alpha <= plan->largest;) {
        int steps;
        outcome how = stride(newton, alpha, r, u, &steps);
        if (how == ENDED) return true;
        taken += steps;
        if (kept->error <= plan->enough || (plan->steps > 0 && taken >= plan->steps)) return false;
        idle = kept->error < 0.99 * best ? 0 : idle + steps;

        // Back to the centre, unless the point is not much worse than the best so far: then the steps were
        // not in vain.
        if (how == LOST) {
            failures++;
            alpha *= grow;
            if (!(ss_newton_note(newton, r, u) < not_much * best)) {
                memcpy(r, newton->centre, bytes);
                ss_space_velocity(newton->space, r, u);
            }
            best = fmin(best, kept->error);
            continue;
        }

        best = fmin(best, kept->error);
        failures = 0;
        if (is_ray(newton, r)) {
            memcpy(kept->x, newton->near, bytes); // what is out there is better by a hair at most
            return true;
        }
        if (best < 0.5 * near) {
            near = best;
            memcpy(newton->near, kept->x, bytes);
        }
        if (steps <= 3) alpha = fmax(alpha * (steps <= 2 ? shrink : shrink_less), newton->system.alpha_min);
    }
    return false;
}

/* ---- a Newton step for every proximal step ------------------------------------------------------- */

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
    if (t == 1.0 && ratio < 0.3)
        return fmax(newton->system.alpha_min, alpha * (ratio < 0.03 ? plan->shrink_fast : plan->shrink));
    return t < 1.0 || ratio > 0.7 ? fmin(largest, 3.0 * alpha) : alpha;
}

/* The direction at (r, u), with a larger alpha where the matrix is singular. Returns the map's size, negative
 * when there is none. */
static double direction(ss_newton *newton, double *alpha, const double *r, const double *u)
{
    enum { ATTEMPTS = 4 };
    for (int k = 0; k < ATTEMPTS && !ss_newton_is_late(newton); k++, *alpha = fmin(100.0 * *alpha, 10.0)) {
        double before = linearize(newton, *alpha, r, u);
        if (before == 0.0) {
            memset(newton->dr, 0, (size_t)newton->space->size * sizeof *newton->dr);
            memset(newton->du, 0, (size_t)newton->space->size * sizeof *newton->du);
            return 0.0;
        }
        if (ss_newton_system_factor(&newton->system, *alpha) &&
            ss_newton_system_solve(&newton->system, newton->phi, newton->dr, newton->du))
            return before;
    }
    return -1.0;
}

/* After a number of idle steps: strides from the best point and, where they lead nowhere, later on from the
 * point at hand. By the natural map, whose steps at a face of the cones are exact where Fischer's and
 * Burmeister's creep. */
static bool leave_plateau(ss_newton *newton, const ss_newton_plan *plan, int idle, double alpha, double *r,
                          double *u)
{
    enum { FROM_BEST = 12, FROM_HERE = 40, MANY = 400 };
    if (idle != FROM_BEST && idle != FROM_HERE) return false;
    if (idle == FROM_BEST) {
        memcpy(r, newton->progress.best.x, (size_t)newton->space->size * sizeof *r);
        ss_space_velocity(newton->space, r, u);
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
    static const double rounding = 1e-10; // below it, a few idle steps show that no digit is left to gain
    const ss_space *space = newton->space;
    double alpha = fmax(plan->alpha, newton->system.alpha_min), best = INFINITY, checked = INFINITY;
    for (int step = 0, best_at = 0; step < plan->steps; step++) {
        // Direction and search; a step into the wild is not taken, but alpha grows.
        double ratio, before = direction(newton, &alpha, r, u);
        if (before < 0.0) return ss_newton_is_over(newton);
        double t = search(newton, alpha, before, r, u, &ratio);
        if (!isfinite(ratio)) return false;
        if (!is_wild(newton, alpha, ratio)) {
            memcpy(r, newton->trial, (size_t)space->size * sizeof *r);
            ss_space_velocity(space, r, u);
        }
        alpha = next_alpha(newton, plan, alpha, t, ratio);
        double error = ss_newton_note(newton, r, u);
        if (!ss_newton_report(newton, r) || ss_newton_exact(newton)) return true;

        // Enough, or no progress for long: the hasty leave unless the error halves in three steps.
        int count = step + 1, patience = count / 4 > 200 ? count / 4 : 200;
        if (error < 0.999 * best) best = error, best_at = count;
        int idle = count - best_at;
        if (best <= plan->enough || (plan->patience > 0 && idle >= plan->patience)) return false;
        if (best <= rounding) patience = 6;
        if (plan->hasty && count % 3 == 0) {
            if (best > 0.5 * checked) return false;
            checked = best;
        }
        if (idle >= patience || (plan->hasty && ratio > 1.0)) return false;

        if (!plan->hasty && leave_plateau(newton, plan, idle, alpha, r, u)) return true;
        if (newton->progress.best.error <= plan->enough) return false;
    }
    return false;
}
