/* Primal-dual interior point method for boxes and friction cones:
 *
 *     u = W r + q,   u = N(z),   s = T r,   s o z = m e        s, z inside their Lorentz cones, m -> 0
 *
 * where N(z) is the velocity that the duals z stand for (interior_cones.h). Newton's method on these
 * equations with Mehrotra's predictor and corrector, in Nesterov-Todd's scaling: with y = G^-1 ds and h from
 * complementarity,
 *
 *     (1 + G N'^-1 (W + alpha) T^-1 G) y = h - G N'^-1 (u - N(z))
 *
 * De Saxce's term is inside N' and not lagged, which makes the matrix unsymmetric and the method work for
 * sliding piles. There the matrix can become singular away from the solution, one contact leaps to and fro
 * between both sides of that, and the steps become short: then N' has a part of the term only, the less the
 * more often it happens (without it the problem is monotone and the matrix regular, but the method no longer
 * Newton's), and all of it again after long steps. A step that would be very short is replaced by one towards
 * a larger m. The scaled form keeps digits to the end: where contacts are redundant, as in every stack of
 * boxes, s and z vanish together and the error falls like the root of m only, so that m must become very
 * small. One common step for s and z, because u = N(z) couples them.
 *
 * An interior point is never quite on the boundary: as soon as the error is small, proximal Newton steps on
 * the natural map (newton.h) try to end it, and are given up when they do not converge at once.
 *
 * Coulomb's law is not monotone, and the path inside may lead nowhere. Then, one after the other: inside
 * again from the best point, centred once more, in turn with Newton steps from there; strides
 * (newton/newton.h) where the error is small; and a ladder: the problem with half of the friction, then
 * with more and more of it, each from the solution of the last.
 *
 * References: Mehrotra, On the implementation of a primal-dual interior point method (1992); Nesterov, Todd
 * (1998); Acary, Armand, Nguyen, Shpakovych, Second-order cone programming for frictional contact mechanics
 * using interior point algorithm (2024).
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "base/option_rows.h"
#include "solver/newton/interior_steps.h"
#include "solver/newton/newton.h"

typedef struct interior_options {
    int factorizations;
    double regularization;
} interior_options;

static const ss_option options_table[] = {
    SS_ROW_INT(
        interior_options, factorizations, "70", 0, 1e6,
        "largest number of factorisations, including those of Newton steps, before fallbacks are tried"),
    SS_ROW_REAL(interior_options, regularization, "1e-8", 0, 1,
                "proximal term relative to the diagonal of the matrix; smaller is better for the convex law, "
                "larger for Coulomb's"),
    {0},
};

/* ---- from the best point so far ----------------------------------------------------------------------- */

static void go_to(ss_interior *inner, const double *r)
{
    memcpy(inner->r, r, (size_t)inner->newton.space->size * sizeof *inner->r);
    ss_newton_space_velocity(inner->newton.space, inner->r, inner->u);
}

/* Before the first it is zero. */
static void go_to_best(ss_interior *inner)
{
    go_to(inner, inner->newton.best);
}

/* Newton steps as the plan says, which does without its first three numbers. */
static bool walk_from_best(ss_interior *inner, ss_newton_plan plan)
{
    plan.alpha = fmin(fmax(inner->newton.best_error, 1e-4), 0.1);
    plan.shrink = 0.3;
    plan.shrink_fast = 0.09;
    go_to_best(inner);
    return ss_newton_steps(&inner->newton, &plan, inner->r, inner->u);
}

static bool stride_from_best(ss_interior *inner)
{
    ss_proximal_plan plan = {.alpha = fmin(fmax(10.0 * inner->newton.best_error, 1e-8), 1e-4),
                             .largest = 1.0,
                             .patience = 100,
                             .attempts = 8};
    go_to_best(inner);
    return ss_newton_proximal(&inner->newton, &plan, inner->r, inner->u);
}

/* ---- where the steps became short ----------------------------------------------------------------- */

/* Once more inside from the best point, centred again, then after some Newton steps, twice.
 * True at the end. */
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
            if (stride_from_best(inner)) return true;
            has_strode = true;
        }
        if (k % 2 == 1 && walk_from_best(inner, between)) return true;
        if (newton->best_error == resumed) continue; // it would go the same way
        resumed = newton->best_error;
        if (ss_interior_inside(inner, &again)) return true;
    }
    return false;
}

/* ---- the ladder ----------------------------------------------------------------------------------- */

#define ENOUGH 1e-6 // error of a rung

typedef struct ladder {
    ss_newton_node *nodes; // as they are in the problem
    double *foot;          // the solution of the rung below
    double *best;          // of the problem itself
    double best_error;
} ladder;

/* With less friction the problem is closer to a monotone one. */
static void set_friction(ss_interior *inner, const ladder *up, double share)
{
    ss_newton_space *space = inner->newton.space;
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
    if (!newton->stopped && newton->best_error > ENOUGH) walk_from_best(inner, steps);
    return newton->best_error;
}

/* A part of the friction first, from inside; then more and more of it. Steps are halved where that fails;
 * where they are small it goes on all the same: there the solutions leap. Ends with all of the friction,
 * unless the run stops. */
static void climb(ss_interior *inner, ladder *up, double share)
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
}

static bool make_ladder(const ss_newton *newton, ss_arena *arena, ladder *up)
{
    size_t n = (size_t)newton->space->size, nodes = (size_t)newton->space->node_count;
    up->nodes = ss_arena_take(arena, nodes, sizeof *up->nodes, "contacts");
    up->foot = ss_arena_take(arena, n, sizeof *up->foot, "ladder");
    up->best = ss_arena_take(arena, n, sizeof *up->best, "ladder");
    if (!up->nodes || !up->foot || !up->best) return false;
    memcpy(up->nodes, newton->space->nodes, nodes * sizeof *up->nodes);
    memcpy(up->best, newton->best, n * sizeof *up->best);
    up->best_error = newton->best_error;
    return true;
}

/* The point at hand, if it is the best for the problem itself so far. */
static void keep_best(const ss_newton *newton, ladder *up)
{
    if (!(newton->best_error < up->best_error)) return;
    up->best_error = newton->best_error;
    memcpy(up->best, newton->best, (size_t)newton->space->size * sizeof *up->best);
}

/* Friction from this share on. The best point is that of the last rung then; false when the run has
 * stopped before. */
static bool use_ladder(ss_interior *inner, ladder *up, double share)
{
    ss_newton *newton = &inner->newton;
    climb(inner, up, share);
    bool is_up = !newton->stopped && !newton->has_ray && isfinite(newton->best_error);
    set_friction(inner, up, 1.0);
    if (!is_up) return false;
    go_to(inner, newton->best);
    ss_newton_note(newton, inner->r, inner->u);
    return true;
}

/* ---- all of it ------------------------------------------------------------------------------------ */

static bool is_over(const ss_newton *newton)
{
    return newton->stopped || newton->has_ray || ss_newton_exact(newton);
}

/* What is tried under Coulomb's law when the steps inside have become short. */
static void persist(ss_interior *inner)
{
    static const ss_newton_plan some = {.steps = 100, .patience = 40}, more = {.steps = 500, .patience = 200};
    static const double feet[] = {0.5, 0.3};
    ss_newton *newton = &inner->newton;
    ladder up;
    if (take_turns(inner) || is_over(newton)) return;
    if (walk_from_best(inner, some) || !make_ladder(newton, newton->run->arena, &up)) return;
    for (int k = 0; k < 2 && use_ladder(inner, &up, feet[k]); k++) {
        bool over = is_over(newton) || take_turns(inner) || is_over(newton) || walk_from_best(inner, more);
        keep_best(newton, &up);
        if (over) break;
    }
    newton->best_error = up.best_error;
    memcpy(newton->best, up.best, (size_t)newton->space->size * sizeof *newton->best);
}

static void find_solution(ss_interior *inner, const interior_options *set)
{
    ss_newton *newton = &inner->newton;
    ss_newton_plan all = {.steps = newton->run->max_iterations};
    ss_inside_plan first = {.factorizations = set->factorizations};
    bool has_inside = inner->cones.count > 0; // free and fixed unknowns alone: a linear system
    if (has_inside && ss_interior_inside(inner, &first)) return;
    if (has_inside && !inner->is_monotone) persist(inner);
    if (is_over(newton) || walk_from_best(inner, all)) return;
    newton->map = SS_FISCHER_MAP;
    walk_from_best(inner, all);
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const interior_options *set = options;
    ss_interior inner = {.regularization = set->regularization};
    bool good = ss_newton_begin(problem, run, SS_NATURAL_MAP, x, &inner.newton) &&
                ss_interior_prepare(&inner, run->arena);
    if (good) find_solution(&inner, set);
    ss_status status = ss_newton_end(&inner.newton);
    return good ? status : SS_FAILED;
}

const ss_solver ss_solver_interior_point = {
    .abi = SS_ABI,
    .name = "interior-point",
    .summary = "primal-dual interior-point method on boxes and friction cones, finished by Newton steps",
    .reference = "Mehrotra 1992; Nesterov, Todd 1998; Acary et al. 2024",
    .weakness = "no warm start; short steps for Coulomb's law with large friction",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE,
    .options = options_table,
    .options_size = sizeof(interior_options),
    .solve = solve,
};
