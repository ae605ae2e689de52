#include "solver/newton/interior_steps.h"

#include <math.h>
#include <string.h>

bool ss_interior_prepare(ss_interior *inner, ss_arena *arena)
{
    const ss_newton_space *space = inner->newton.space;
    size_t n = (size_t)space->size;
    inner->r = ss_arena_take(arena, n, sizeof *inner->r, "r");
    inner->u = ss_arena_take(arena, n, sizeof *inner->u, "u");
    inner->rest = ss_arena_take(arena, n, sizeof *inner->rest, "rest");
    inner->rhs = ss_arena_take(arena, n, sizeof *inner->rhs, "right-hand side");
    inner->polished = ss_arena_take(arena, n, sizeof *inner->polished, "polished r");
    inner->polished_u = ss_arena_take(arena, n, sizeof *inner->polished_u, "polished u");
    if (!inner->r || !inner->u || !inner->rest || !inner->rhs || !inner->polished || !inner->polished_u) {
        return false;
    }
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += space->q[i] * space->q[i];
    inner->scale = sum > 0.0 ? sqrt(sum / (double)n) : 1.0;
    inner->is_monotone = true;
    for (int k = 0; k < space->node_count; k++) {
        if (space->nodes[k].law == SS_LAW_CONE) inner->is_monotone = false;
    }
    return ss_interior_cones_create(space, arena, &inner->cones);
}

/* ---- in the interior -------------------------------------------------------------------------------- */

static bool direction(ss_interior *inner, ss_centring centring)
{
    ss_newton *newton = &inner->newton;
    ss_interior_cones_load(&inner->cones, centring, inner->rest, inner->rhs);
    if (!ss_newton_system_solve(&newton->system, inner->rhs, newton->dr, newton->du)) return false;
    ss_interior_cones_directions(&inner->cones, centring, inner->rest, newton->dr, newton->du);
    return true;
}

/* How much of the way to the boundary a step goes. */
static double boundary_share(const ss_interior *inner, double m)
{
    return fmin(fmax(1.0 - m / (inner->scale * inner->scale), 0.9), 0.98);
}

/* The part of the longest step that keeps to the neighbourhood of the central path. Off the centre is where
 * De Saxce's term does harm. */
static double centred_length(const ss_interior *inner, double m)
{
    static const double too_short = 1e-8;
    double off_centre = inner->is_monotone ? 1e-3 : 0.1;
    double t = fmin(1.0, boundary_share(inner, m) * ss_interior_cones_longest(&inner->cones));
    while (t > too_short && !ss_interior_cones_centred(&inner->cones, t,
                                                       off_centre * ss_interior_cones_mean(&inner->cones, t)))
        t *= 0.8;
    return t;
}

/* Predictor, corrector and, when that gets nowhere, a third direction towards the centre, all with one
 * factor. Where Coulomb's law is not monotone the path may turn: then one back, to where m is larger. Returns
 * the length of the step to take, 0 when there is none. */
static double step_length(ss_interior *inner)
{
    static const double short_step = 0.1, back = 20.0;
    ss_interior_cones *cones = &inner->cones;
    double m = ss_interior_cones_mean(cones, 0.0);
    if (!direction(inner, (ss_centring){0.0, 0.0})) return 0.0;
    double affine = fmin(1.0, ss_interior_cones_longest(cones));
    double sigma = pow(fmax(ss_interior_cones_mean(cones, affine), 0.0) / m, 3.0);
    sigma = fmin(fmax(sigma, 1e-4), 1.0);
    bool is_short = affine < short_step;
    if (is_short) sigma = fmax(sigma, 0.5);
    if (ss_newton_is_late(&inner->newton)) return 0.0;
    if (!direction(inner, (ss_centring){sigma * m, is_short ? 0.0 : 1.0})) return 0.0;
    double longest = ss_interior_cones_longest(cones);
    bool to_centre = 0.98 * longest < fmin(0.3, 0.5 * affine);
    if (to_centre && !direction(inner, (ss_centring){fmax(sigma, 0.5) * m, 0.0})) return 0.0;
    if (to_centre && inner->is_monotone)
        return fmin(1.0, boundary_share(inner, m) * ss_interior_cones_longest(cones));
    double t = centred_length(inner, m);
    if (inner->is_monotone || t >= short_step) return t;
    return direction(inner, (ss_centring){back * m, 0.0}) ? centred_length(inner, m) : 0.0;
}

/* Newton steps from a copy of the point at hand. True when that was the end. */
static bool polish(ss_interior *inner, double error)
{
    size_t bytes = (size_t)inner->newton.space->size * sizeof *inner->r;
    ss_newton_plan plan = {
        .steps = 12, .alpha = fmin(1e-3, error), .shrink = 0.2, .shrink_fast = 0.03, .hasty = true};
    memcpy(inner->polished, inner->r, bytes);
    memcpy(inner->polished_u, inner->u, bytes);
    return ss_newton_steps(&inner->newton, &plan, inner->polished, inner->polished_u);
}

/* One step in the interior; returns its length, 0 when there is none. */
static double advance(ss_interior *inner)
{
    ss_newton *newton = &inner->newton;
    if (ss_run_late(newton->run)) return 0.0;
    ss_interior_cones_slacks(&inner->cones, inner->r);
    ss_interior_cones_missing(&inner->cones, inner->u, inner->rest);
    if (!ss_interior_cones_linearize(&inner->cones, &newton->system)) return 0.0;
    if (!ss_newton_system_factor(&newton->system, inner->regularization)) return 0.0;
    double t = step_length(inner);
    if (!(t > 0.0)) return 0.0;
    for (int i = 0; i < newton->space->size; i++) inner->r[i] += t * newton->dr[i];
    ss_newton_space_velocity(newton->space, inner->r, inner->u);
    ss_interior_cones_move(&inner->cones, t);
    return t;
}

/* How much of De Saxce's term the next matrix has, after a step of length t. */
static double next_share(double share, double t)
{
    if (t < 0.3) return fmax(0.0, share - 0.1);
    return t > 0.7 ? fmin(1.0, share + 0.2) : share;
}

/* Where to go on: so far inside that what is missing in the velocities can be made up on the way. */
static void resume(ss_interior *inner)
{
    ss_newton *newton = &inner->newton;
    double size = 10.0 * inner->scale, missing = inner->scale * newton->best_error;
    memcpy(inner->r, newton->best, (size_t)newton->space->size * sizeof *inner->r);
    ss_newton_space_velocity(newton->space, inner->r, inner->u);
    ss_interior_cones_resume(&inner->cones, size * missing, inner->r, inner->u);
}

/* Redundant contacts under Coulomb's law with gaps that do not fit each other: the impulses have far to go
 * along directions that W does not see. Strides do that better (newton/newton.h). */
static bool is_idle(const ss_interior *inner, int idle)
{
    enum { PATIENCE = 4 };
    return !inner->is_monotone && inner->newton.best_error < SS_INTERIOR_SMALL && idle >= PATIENCE;
}

bool ss_interior_inside(ss_interior *inner, const ss_inside_plan *plan)
{
    static const double too_short = 1e-8, rough = 1e-5;
    enum { SHORT_STEPS = 20, SHORT_STEPS_MONOTONE = 8 };
    ss_newton *newton = &inner->newton;
    double aim = fmin(1e-3, 0.1 * newton->best_error); // the error at which to polish next
    int shorts = inner->is_monotone ? SHORT_STEPS - SHORT_STEPS_MONOTONE : 0, idle = 0,
        limit = newton->system.factorizations + plan->factorizations;
    inner->cones.share = 1.0;
    if (plan->resume)
        resume(inner);
    else
        ss_interior_cones_start(&inner->cones, 10.0 * inner->scale, inner->r);
    ss_newton_space_velocity(newton->space, inner->r, inner->u);
    while (newton->system.factorizations < limit) {
        double best = newton->best_error;
        newton->system.fine = best > SS_INTERIOR_SMALL ? rough : SS_NEWTON_FINE;
        double t = advance(inner);
        newton->system.fine = SS_NEWTON_FINE;
        if (!(t > 0.0)) return ss_newton_is_late(newton);
        double error = ss_newton_note(newton, inner->r, inner->u);
        if (!isfinite(error)) return false;
        if (!ss_newton_report(newton, inner->r) || ss_newton_exact(newton)) return true;
        if (newton->best_error <= plan->enough) return false;
        if (error <= aim) {
            aim = 0.1 * error;
            if (polish(inner, error)) return true;
        }
        inner->cones.share = next_share(inner->cones.share, t);
        idle = newton->best_error < 0.9 * best ? 0 : idle + 1;
        if (is_idle(inner, idle) || t < too_short || (t < 0.2 && ++shorts >= SHORT_STEPS)) return false;
    }
    return false;
}
