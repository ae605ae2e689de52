/* Coulomb's law is not monotone, and the path inside the cones may lead nowhere. What is tried then. */
#include "solver/newton/interior.h"

#include <math.h>
#include <string.h>

/* ---- from the best point so far --------------------------------------------------------------------- */

static void go_to(ss_interior *inner, const double *r)
{
    memcpy(inner->r, r, (size_t)inner->newton.space->size * sizeof *inner->r);
    ss_space_velocity(inner->newton.space, inner->r, inner->u);
}

bool ss_interior_walk_from_best(ss_interior *inner, ss_newton_plan plan)
{
    plan.alpha = fmin(fmax(inner->newton.best_error, 1e-4), 0.1);
    plan.shrink = 0.3;
    plan.shrink_fast = 0.09;
    go_to(inner, inner->newton.best);
    return ss_newton_steps(&inner->newton, &plan, inner->r, inner->u);
}

/* Once more inside from the best point, centred again, then after some Newton steps, twice; once by strides,
 * as soon as the error is small. True at the end. */
static bool take_turns(ss_interior *inner)
{
    enum { TURNS = 4, STEPS = 25, IDLE = 8 };
    static const ss_newton_plan between = {.steps = STEPS, .patience = IDLE};
    static const ss_inside_plan again = {.factorizations = 30, .resume = true};
    ss_newton *newton = &inner->newton;
    double resumed = INFINITY;
    bool has_strode = false;
    for (int k = 0; k < TURNS && isfinite(newton->best_error); k++) {
        if (newton->best_error < SS_INTERIOR_SMALL && !has_strode) {
            ss_proximal_plan strides = {.alpha = fmin(fmax(10.0 * newton->best_error, 1e-8), 1e-4),
                                        .largest = 1.0,
                                        .patience = 100,
                                        .attempts = 8};
            go_to(inner, newton->best);
            if (ss_newton_proximal(newton, &strides, inner->r, inner->u)) return true;
            has_strode = true;
        }
        if (k % 2 == 1 && ss_interior_walk_from_best(inner, between)) return true;
        if (newton->best_error == resumed) continue; // it would go the same way
        resumed = newton->best_error;
        if (ss_interior_inside(inner, &again)) return true;
    }
    return false;
}

/* ---- the ladder ----------------------------------------------------------------------------------- */

#define ENOUGH 1e-6 // error of a rung

typedef struct ladder {
    ss_node *nodes; // as they are in the problem
    double *foot;   // the solution of the rung below
    double *best;   // of the problem itself
    double best_error;
} ladder;

/* With less friction the problem is closer to a monotone one. */
static void set_friction(ss_interior *inner, const ladder *up, double share)
{
    ss_space *space = inner->newton.space;
    for (int k = 0; k < space->node_count; k++) {
        if (up->nodes[k].law != SS_LAW_CONE) continue;
        space->nodes[k].mu = share * up->nodes[k].mu;
        space->nodes[k].mu_rolling = share * up->nodes[k].mu_rolling;
    }
    ss_interior_cones_read_friction(&inner->cones);
    inner->newton.best_error = INFINITY; // what was best for another problem does not count
}

/* The problem with this friction, from the rung below: inside and, where that fails, by Newton steps.
 * Returns the error. */
static double climb_rung(ss_interior *inner, ladder *up, double share)
{
    static const ss_inside_plan inside = {.factorizations = 40, .resume = true, .enough = ENOUGH};
    static const ss_newton_plan steps = {.steps = 80, .patience = 30, .enough = ENOUGH};
    ss_newton *newton = &inner->newton;
    set_friction(inner, up, share);
    go_to(inner, up->foot);
    ss_newton_note(newton, inner->r, inner->u);
    ss_interior_inside(inner, &inside);
    if (!newton->stopped && newton->best_error > ENOUGH) ss_interior_walk_from_best(inner, steps);
    return newton->best_error;
}

/* A part of the friction first, from inside; then more and more of it. Steps are halved where that fails;
 * where they are small it goes on all the same: there the solutions leap. The best point is that of the last
 * rung then, with all of the friction; false when the run has stopped before. */
static bool climb(ss_interior *inner, ladder *up, double share)
{
    static const double least = 0.02, solved = 1e-4;
    static const ss_inside_plan first = {.factorizations = 60, .enough = ENOUGH};
    ss_newton *newton = &inner->newton;
    size_t bytes = (size_t)newton->space->size * sizeof *inner->r;
    double step = 0.1;
    set_friction(inner, up, share);
    ss_interior_inside(inner, &first);
    while (!newton->stopped && !newton->has_ray && share < 1.0) {
        if (isfinite(newton->best_error)) memcpy(up->foot, newton->best, bytes);
        for (bool is_up = false; !is_up && !newton->stopped && !newton->has_ray;) {
            double next = fmin(1.0, share + step);
            bool is_there = climb_rung(inner, up, next) <= solved;
            is_up = is_there || step <= least;
            if (is_up) share = next;
            step = is_there ? 1.5 * step : fmax(0.5 * step, least);
        }
    }

    bool is_up = !newton->stopped && !newton->has_ray && isfinite(newton->best_error);
    set_friction(inner, up, 1.0);
    if (!is_up) return false;
    go_to(inner, newton->best);
    ss_newton_note(newton, inner->r, inner->u);
    return true;
}

void ss_interior_persist(ss_interior *inner)
{
    static const ss_newton_plan some = {.steps = 100, .patience = 40}, more = {.steps = 500, .patience = 200};
    static const double feet[] = {0.5, 0.3}; // shares of the friction
    ss_newton *newton = &inner->newton;
    ss_arena *arena = newton->run->arena;
    size_t n = (size_t)newton->space->size, nodes = (size_t)newton->space->node_count;
    if (take_turns(inner) || ss_interior_is_over(newton)) return;
    if (ss_interior_walk_from_best(inner, some)) return;

    ladder up = {.nodes = ss_arena_take(arena, nodes, sizeof *up.nodes, "contacts"),
                 .foot = ss_arena_take(arena, n, sizeof *up.foot, "ladder"),
                 .best = ss_arena_take(arena, n, sizeof *up.best, "ladder"),
                 .best_error = newton->best_error};
    if (!up.nodes || !up.foot || !up.best) return;
    memcpy(up.nodes, newton->space->nodes, nodes * sizeof *up.nodes);
    memcpy(up.best, newton->best, n * sizeof *up.best);
    for (int k = 0; k < 2 && climb(inner, &up, feet[k]); k++) {
        bool over = ss_interior_is_over(newton) || take_turns(inner) || ss_interior_is_over(newton) ||
                    ss_interior_walk_from_best(inner, more);
        if (newton->best_error < up.best_error) {
            up.best_error = newton->best_error;
            memcpy(up.best, newton->best, n * sizeof *up.best);
        }
        if (over) break;
    }
    newton->best_error = up.best_error;
    memcpy(newton->best, up.best, n * sizeof *newton->best);
}
