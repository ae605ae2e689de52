/* Primal-dual interior point method for boxes and friction cones. The problem, w = A x + b and a law for
 * every row and contact (pgs.c), is scaled to pure numbers and a diagonal of about 1 (problem/space.h), where
 * it is u = W r + q:
 *
 *     u = W r + q,   u = N(z),   s = T r,   s o z = m e        s, z inside their Lorentz cones, m -> 0
 *
 * T r = (mu r_N, r_T) for the disc of a contact; a bound is a cone of one number, the distance of r to it.
 * N(z) is the velocity that the duals z stand for, for a disc mu (z_0 - |z_T|^2 / z_0) and z_T (the second
 * term is De Saxce's |u_T|, absent under the convex law); o is the Jordan product, e its unit
 * (linalg/lorentz.h, newton/interior_cones.h). Newton's method on these equations with Mehrotra's predictor
 * and corrector, in Nesterov-Todd's scaling, the symmetric G with G z = G^-1 s = lambda: with y = G^-1 ds,
 *
 *     (1 + G N'^-1 (W + alpha) T^-1 G) y = h - G N'^-1 (u - N(z))
 *
 * for a cone that has its unknowns to itself (newton/interior_cones.h has the form for several on one).
 * h = lambda^-1 o (m' e - lambda o lambda - (G^-1 ds) o (G dz)), with the m' to aim at and, in the corrector,
 * ds and dz of the predictor, is what complementarity asks of y + G dz; alpha is the option regularization.
 * Bounds |x_i| <= mu |x_partner| are accepted only beside a friction cone with the partner as its normal,
 * torsional friction: where the partner may have either sign, this set is not a convex cone.
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
 * the natural map (newton/newton.h) try to end it, and are given up when they do not converge at once.
 *
 * Coulomb's law is not monotone, and the path inside may lead nowhere. What is tried then, from the best
 * point so far, except for the ladder:
 *
 *     solve            go_on, from a start; go_inside, from the middle of the cones; polish where the error
 *                      is small
 *       persist        only under Coulomb's law:
 *         take_turns   inside again, centred once more, in turn with Newton steps; strides once
 *         100 Newton steps
 *         climb        a ladder: the problem with half of the friction, then with more and more of it, each
 *                      from what the last one ended with; then turns, 500 Newton steps; once more
 *                      from 0.3 of the friction, if it came to the top
 *       Newton steps on the natural map, as many as the run allows
 *       Newton steps on the map of Fischer and Burmeister, likewise
 *
 * Strides are the steps of the proximal point method, each a problem u = W r + q + alpha (r - centre) solved
 * by a few Newton steps (ss_newton_proximal). go_inside, polish, walk_from_best and take_turns return true
 * when the run is over: the driver said stop (its rule holds, or a limit is reached), a ray was found, or
 * only rounding is left. After false the next one is tried.
 *
 * References: Mehrotra, On the implementation of a primal-dual interior point method (1992); Nesterov, Todd
 * (1998); Acary, Armand, Nguyen, Shpakovych, Second-order cone programming for frictional contact mechanics
 * using interior point algorithm (2024).
 */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/option_rows.h"
#include "linalg/vector.h"
#include "solver/newton/interior_cones.h"
#include "solver/newton/newton.h"

/* Errors are those of ss_newton_note: |natural map| relative to that of P(0). Below this one it is usually
 * decided which contacts stick, slide and open, and digits count. */
static const double decided = 1e-5;

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

typedef struct interior {
    ss_newton newton;
    ss_interior_cones cones;
    double *r, *u;                 // the point and its velocity W r + q, pure numbers
    double *rest;                  // u - N(z): what is missing in the velocities
    double *rhs;                   // of the linear system
    double *polished, *polished_u; // copies of r and u that Newton steps move
    double scale;                  // |q| / sqrt(n), or 1: what one velocity or impulse is like
    bool is_monotone;              // no contact under Coulomb's law
    double regularization;
} interior;

/* ---- one step in the interior ----------------------------------------------------------------------- */

/* dr, du and those of the cones, by the factors at hand. False when the system cannot be solved. */
static bool direction(interior *inner, ss_centring centring)
{
    ss_newton *newton = &inner->newton;
    ss_interior_cones_load(&inner->cones, centring, inner->rest, inner->rhs);
    if (!ss_newton_system_solve(&newton->system, inner->rhs, newton->dr, newton->du)) return false;
    ss_interior_cones_directions(&inner->cones, centring, inner->rest, newton->dr, newton->du);
    return true;
}

/* How much of the way to the boundary a step goes: more when m, in units of scale^2, is small. */
static double boundary_share(const interior *inner, double m)
{
    return fmin(fmax(1.0 - m / (inner->scale * inner->scale), 0.9), 0.98);
}

/* The part of the longest step that keeps to the neighbourhood of the central path: there the smaller
 * eigenvalue of lambda o lambda of every cone is at least a share, `off_centre`, of the mean of s . z. Off
 * the centre is where De Saxce's term does harm. */
static double centred_length(const interior *inner, double m)
{
    static const double too_short = 1e-8;
    double off_centre = inner->is_monotone ? 1e-3 : 0.1;
    double t = fmin(1.0, boundary_share(inner, m) * ss_interior_cones_longest(&inner->cones));
    while (t > too_short && !ss_interior_cones_centred(&inner->cones, t,
                                                       off_centre * ss_interior_cones_mean(&inner->cones, t)))
        t *= 0.8;
    return t;
}

/* The direction, by up to four right-hand sides with one factor, in newton->dr and the cones; returns the
 * length of the step to take, 0 when there is none. */
static double step_length(interior *inner)
{
    static const double short_step = 0.1, back = 20.0;
    ss_interior_cones *cones = &inner->cones;
    double m = ss_interior_cones_mean(cones, 0.0);

    // The predictor, towards the boundary: how far it gets decides how much to centre, by Mehrotra's cube of
    // what it would leave of m.
    if (!direction(inner, (ss_centring){.target = 0.0, .cross = 0.0})) return 0.0;
    double affine = fmin(1.0, ss_interior_cones_longest(cones));
    double sigma = pow(fmax(ss_interior_cones_mean(cones, affine), 0.0) / m, 3.0);
    sigma = fmin(fmax(sigma, 1e-4), 1.0);
    bool is_short = affine < short_step;
    if (is_short) sigma = fmax(sigma, 0.5);
    if (ss_newton_is_late(&inner->newton)) return 0.0;

    // The corrector and, when that gets nowhere (not 0.3, nor half as far as the predictor), a third
    // direction towards the centre, without the predictor's second-order term.
    if (!direction(inner, (ss_centring){.target = sigma * m, .cross = is_short ? 0.0 : 1.0})) return 0.0;
    double longest = ss_interior_cones_longest(cones);
    bool to_centre = 0.98 * longest < fmin(0.3, 0.5 * affine);
    if (to_centre && !direction(inner, (ss_centring){.target = fmax(sigma, 0.5) * m})) return 0.0;
    if (to_centre && inner->is_monotone)
        return fmin(1.0, boundary_share(inner, m) * ss_interior_cones_longest(cones));

    // Where Coulomb's law is not monotone the path may turn: then one back, to where m is larger.
    double t = centred_length(inner, m);
    if (inner->is_monotone || t >= short_step) return t;
    return direction(inner, (ss_centring){.target = back * m}) ? centred_length(inner, m) : 0.0;
}

/* Slacks, what is missing in the velocities, the matrix, the direction, the step. Returns its length, 0 when
 * there is none. */
static double advance(interior *inner)
{
    ss_newton *newton = &inner->newton;
    if (ss_run_late(newton->progress.run)) return 0.0;
    ss_interior_cones_slacks(&inner->cones, inner->r);
    ss_interior_cones_missing(&inner->cones, inner->u, inner->rest);
    if (!ss_interior_cones_linearize(&inner->cones, &newton->system)) return 0.0;
    if (!ss_newton_system_factor(&newton->system, inner->regularization)) return 0.0;
    double t = step_length(inner);
    if (!(t > 0.0)) return 0.0;
    for (int i = 0; i < newton->space->size; i++) inner->r[i] += t * newton->dr[i];
    ss_space_velocity(newton->space, inner->r, inner->u);
    ss_interior_cones_move(&inner->cones, t);
    return t;
}

/* ---- the way inside --------------------------------------------------------------------------------- */

/* Newton steps from a copy of the point at hand. True when the run is over. */
static bool polish(interior *inner, double error)
{
    size_t bytes = (size_t)inner->newton.space->size * sizeof *inner->r;
    ss_newton_plan plan = {
        .steps = 12, .alpha = fmin(1e-3, error), .shrink = 0.2, .shrink_fast = 0.03, .hasty = true};
    memcpy(inner->polished, inner->r, bytes);
    memcpy(inner->polished_u, inner->u, bytes);
    return ss_newton_steps(&inner->newton, &plan, inner->polished, inner->polished_u);
}

typedef struct inside_plan {
    int factorizations; // at most, Newton's included
    bool resume;        // from the best point, else from the middle of the cones
    bool hasty;         // give up at the second short step
    double enough;      // an error that will do
} inside_plan;

/* True when the run is over; false when the steps have become short or idle, the factorisations are spent, or
 * the error is small enough for the plan. */
static bool go_inside(interior *inner, const inside_plan *plan)
{
    static const double too_short = 1e-8;
    static const double coarse = 1e-5; // residual of the linear systems that will do far from a solution
    enum { SHORT_STEPS = 20, SHORT_STEPS_MONOTONE = 8, SHORT_STEPS_HASTY = 2, PATIENCE = 4 };
    int allowed = plan->hasty ? SHORT_STEPS_HASTY : inner->is_monotone ? SHORT_STEPS_MONOTONE : SHORT_STEPS;
    ss_newton *newton = &inner->newton;
    const ss_best *best = &newton->progress.best;
    double aim = fmin(1e-3, 0.1 * best->error); // the error at which to polish next
    int short_steps = 0, idle = 0, limit = newton->system.factorizations + plan->factorizations;

    // From the middle of the cones, ten times a typical impulse from the boundary. Or from the best point, so
    // far inside that what is missing in the velocities can be made up on the way: m = s o z is then this
    // impulse times the missing velocity.
    inner->cones.share = 1.0;
    if (plan->resume) {
        double size = 10.0 * inner->scale, missing = inner->scale * best->error;
        memcpy(inner->r, best->x, (size_t)newton->space->size * sizeof *inner->r);
        ss_space_velocity(newton->space, inner->r, inner->u); // before r is moved inside, which needs it
        ss_interior_cones_resume(&inner->cones, size * missing, inner->r, inner->u);
    } else {
        ss_interior_cones_start(&inner->cones, 10.0 * inner->scale, inner->r);
    }
    ss_space_velocity(newton->space, inner->r, inner->u);

    while (newton->system.factorizations < limit) {
        double before = best->error;
        newton->system.fine = before > decided ? coarse : SS_NEWTON_FINE;
        double t = advance(inner);
        newton->system.fine = SS_NEWTON_FINE;
        if (!(t > 0.0)) return ss_newton_is_late(newton);

        // The point is kept if it is the best, goes to the driver, and to Newton's method where that may end
        // it.
        double error = ss_newton_note(newton, inner->r, inner->u);
        if (!isfinite(error)) return false;
        if (!ss_newton_report(newton, inner->r) || ss_newton_exact(newton)) return true;
        if (best->error <= plan->enough) return false;
        if (error <= aim) {
            aim = 0.1 * error;
            if (polish(inner, error)) return true;
        }

        // How much of De Saxce's term the next matrix has.
        double *share = &inner->cones.share;
        if (t < 0.3)
            *share = fmax(0.0, *share - 0.1);
        else if (t > 0.7)
            *share = fmin(1.0, *share + 0.2);

        // Redundant contacts under Coulomb's law with gaps that do not fit each other: the impulses have far
        // to go along directions that W does not see. Strides do that better.
        idle = best->error < 0.9 * before ? 0 : idle + 1;
        bool is_idle = !inner->is_monotone && best->error < decided && idle >= PATIENCE;
        if (is_idle || t < too_short || (t < 0.2 && ++short_steps >= allowed)) return false;
    }
    return false;
}

/* ---- from the best point so far --------------------------------------------------------------------- */

/* Has the run stopped, is there a ray, or nothing left but rounding? */
static bool is_over(const ss_newton *newton)
{
    return ss_newton_is_over(newton) || ss_newton_exact(newton);
}

static void go_to(interior *inner, const double *r)
{
    memcpy(inner->r, r, (size_t)inner->newton.space->size * sizeof *inner->r);
    ss_space_velocity(inner->newton.space, inner->r, inner->u);
}

/* Newton steps from the best point so far, which is zero before the first, as the plan says; alpha and how
 * it shrinks are chosen here. True when the run is over. */
static bool walk_from_best(interior *inner, ss_newton_plan plan)
{
    plan.alpha = fmin(fmax(inner->newton.progress.best.error, 1e-4), 0.1);
    plan.shrink = 0.3;
    plan.shrink_fast = 0.09;
    go_to(inner, inner->newton.progress.best.x);
    return ss_newton_steps(&inner->newton, &plan, inner->r, inner->u);
}

/* Once more inside from the best point, centred again, then after some Newton steps, twice; once by strides,
 * as soon as the error is small. True when the run is over. */
static bool take_turns(interior *inner)
{
    enum { TURNS = 4, STEPS = 25, IDLE = 8 };
    static const ss_newton_plan between = {.steps = STEPS, .patience = IDLE};
    static const inside_plan again = {.factorizations = 30, .resume = true};
    ss_newton *newton = &inner->newton;
    const ss_best *best = &newton->progress.best;
    double resumed = INFINITY;
    bool has_strode = false;
    for (int k = 0; k < TURNS && isfinite(best->error); k++) {
        if (best->error < decided && !has_strode) {
            ss_proximal_plan strides = {.alpha = fmin(fmax(10.0 * best->error, 1e-8), 1e-4),
                                        .largest = 1.0,
                                        .patience = 100,
                                        .attempts = 8};
            go_to(inner, best->x);
            if (ss_newton_proximal(newton, &strides, inner->r, inner->u)) return true;
            has_strode = true;
        }
        if (k % 2 == 1 && walk_from_best(inner, between)) return true;
        if (best->error == resumed) continue; // it would go the same way
        resumed = best->error;
        if (go_inside(inner, &again)) return true;
    }
    return false;
}

/* ---- the ladder ----------------------------------------------------------------------------------- */

#define ENOUGH 1e-6 // error of a rung

typedef struct ladder {
    ss_node *nodes; // as they are in the problem
    double *foot;   // the solution of the rung below
    ss_best best;   // of the problem itself
} ladder;

/* With less friction the problem is closer to a monotone one. Only the method sees it: the driver measures
 * every point it is shown on the problem itself, so that a run that stops on a rung has stopped rightly. */
static void set_friction(interior *inner, const ladder *up, double share)
{
    ss_space *space = inner->newton.space;
    for (int k = 0; k < space->node_count; k++) {
        if (up->nodes[k].law != SS_LAW_CONE) continue;
        space->nodes[k].mu = share * up->nodes[k].mu;
        space->nodes[k].mu_rolling = share * up->nodes[k].mu_rolling;
        space->nodes[k].mu_spin = share * up->nodes[k].mu_spin;
    }
    ss_interior_cones_read_friction(&inner->cones);
    inner->newton.progress.best.error = INFINITY; // what was best for another problem does not count
}

/* A ray with less friction is one of the problem itself, whose cones are larger: the driver has confirmed it
 * there. But under Coulomb's law it proves nothing (core/ray.c), and where impulses run away with less
 * friction there may be a solution with all of it. */
static void forget_ray(ss_newton *newton)
{
    if (newton->progress.status == SS_RAY) newton->progress.status = SS_FAILED;
}

/* The problem with this friction, from the rung below: inside and, where that fails, by Newton steps.
 * Returns the error. */
static double climb_rung(interior *inner, ladder *up, double share)
{
    static const inside_plan inside = {.factorizations = 40, .resume = true, .enough = ENOUGH};
    static const ss_newton_plan steps = {.steps = 80, .patience = 30, .enough = ENOUGH};
    ss_newton *newton = &inner->newton;
    set_friction(inner, up, share);
    go_to(inner, up->foot);
    ss_newton_note(newton, inner->r, inner->u);
    go_inside(inner, &inside);
    if (!ss_newton_is_over(newton) && newton->progress.best.error > ENOUGH) walk_from_best(inner, steps);

    if (share < 1.0) forget_ray(newton);
    return newton->progress.best.error;
}

/* A part of the friction first, from inside; then more and more of it. Steps are halved where that fails;
 * where they are small it goes on all the same: there the solutions leap. The best point is that of the last
 * rung then, with all of the friction; false when the run has stopped before, or that rung had a ray. */
static bool climb(interior *inner, ladder *up, double share)
{
    static const double least = 0.02, solved = 1e-4;
    static const inside_plan first = {.factorizations = 60, .enough = ENOUGH};
    ss_newton *newton = &inner->newton;
    size_t bytes = (size_t)newton->space->size * sizeof *inner->r;
    const ss_best *best = &newton->progress.best;
    double step = 0.1;
    set_friction(inner, up, share);
    go_inside(inner, &first);
    forget_ray(newton);
    while (!ss_newton_is_over(newton) && share < 1.0) {
        if (isfinite(best->error)) memcpy(up->foot, best->x, bytes);
        for (bool is_up = false; !is_up && !ss_newton_is_over(newton);) {
            double next = fmin(1.0, share + step);
            bool is_there = climb_rung(inner, up, next) <= solved;
            is_up = is_there || step <= least;
            if (is_up) share = next;
            step = is_there ? 1.5 * step : fmax(0.5 * step, least);
        }
    }

    bool is_up = !ss_newton_is_over(newton) && isfinite(best->error);
    set_friction(inner, up, 1.0);
    if (!is_up) return false;
    go_to(inner, best->x);
    ss_newton_note(newton, inner->r, inner->u);
    return true;
}

/* What is tried under Coulomb's law when the steps inside have become short: in turn inside and by Newton
 * steps from the best point, strides, a ladder of friction. The best point of all is left. */
static void persist(interior *inner)
{
    static const ss_newton_plan some = {.steps = 100, .patience = 40}, more = {.steps = 500, .patience = 200};
    static const double feet[] = {0.5, 0.3}; // shares of the friction
    ss_newton *newton = &inner->newton;
    ss_best *best = &newton->progress.best;
    ss_arena *arena = newton->progress.run->arena;
    size_t n = (size_t)newton->space->size, nodes = (size_t)newton->space->node_count;
    if (take_turns(inner) || is_over(newton)) return;
    if (walk_from_best(inner, some)) return;

    ladder up = {.nodes = ss_arena_take(arena, nodes, sizeof *up.nodes, "contacts"),
                 .foot = ss_arena_take(arena, n, sizeof *up.foot, "ladder"),
                 .best.x = ss_arena_take(arena, n, sizeof *up.best.x, "ladder"),
                 .best.error = INFINITY};
    if (!up.nodes || !up.foot || !up.best.x) return;
    memcpy(up.nodes, newton->space->nodes, nodes * sizeof *up.nodes);
    ss_best_keep(&up.best, (int)n, best->x, best->error);
    for (int k = 0; k < 2 && climb(inner, &up, feet[k]); k++) {
        bool over = is_over(newton) || take_turns(inner) || is_over(newton) || walk_from_best(inner, more);
        ss_best_keep(&up.best, (int)n, best->x, best->error);
        if (over) break;
    }
    *best = up.best;
}

/* ---- the method ------------------------------------------------------------------------------------- */

/* A start that is better than nothing: Newton steps where it is close, else inside from there. What is
 * decided already saves a third to half of the steps; where the start is not as good as it looks the first
 * few are short. True when the run is over. */
static bool go_on(interior *inner, const double *x, int factorizations)
{
    static const double rounding = 1e-14;
    ss_newton *newton = &inner->newton;
    const ss_space *space = newton->space;
    ss_space_enter(space, x, inner->r);
    ss_space_velocity(space, inner->r, inner->u);
    bool is_zero = ss_dot(space->size, inner->r, inner->r) == 0.0;
    double off = ss_newton_residual(space, 1.0, inner->r, inner->u, NULL) / newton->start_size;
    if (!(off < (is_zero ? rounding : 1.0))) return false;
    double error = ss_newton_note(newton, inner->r, inner->u);
    if (!ss_newton_report(newton, inner->r) || ss_newton_exact(newton)) return true;
    if (error <= decided && polish(inner, error)) return true;
    inside_plan warm = {.factorizations = factorizations, .resume = true, .hasty = true};
    return inner->cones.count > 0 && go_inside(inner, &warm);
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const interior_options *set = options;
    interior inner = {.regularization = set->regularization, .scale = 1.0, .is_monotone = true};
    ss_newton *newton = &inner.newton;
    bool good = ss_newton_begin(problem, run, SS_NATURAL_MAP, x, newton);
    good = good && ss_arena_take_vectors(run->arena, (size_t)newton->space->size, "interior point",
                                         (double **[]){&inner.r, &inner.u, &inner.rest, &inner.rhs,
                                                       &inner.polished, &inner.polished_u, NULL});
    if (!good || !ss_interior_cones_create(newton->space, run->arena, &inner.cones)) {
        ss_newton_end(newton);
        return SS_FAILED;
    }
    const ss_space *space = newton->space;
    double sum = ss_dot(space->size, space->q, space->q);
    if (sum > 0.0) inner.scale = sqrt(sum / (double)space->size);
    for (int k = 0; k < space->node_count; k++) {
        if (space->nodes[k].law == SS_LAW_CONE) inner.is_monotone = false;
    }

    // From the start. Then from the middle, unless free and fixed unknowns alone make it a linear system;
    // then what else there is.
    if (go_on(&inner, x, set->factorizations)) return ss_newton_end(newton);
    bool has_inside = inner.cones.count > 0;
    inside_plan first = {.factorizations = set->factorizations};
    if (has_inside && newton->progress.best.error > decided && go_inside(&inner, &first))
        return ss_newton_end(newton);
    if (has_inside && !inner.is_monotone) persist(&inner);

    // Newton steps from the best point, by one map and then the other.
    ss_newton_plan all = {.steps = run->max_iterations};
    if (is_over(newton) || walk_from_best(&inner, all)) return ss_newton_end(newton);
    newton->map = SS_FISCHER_MAP;
    walk_from_best(&inner, all);
    return ss_newton_end(newton);
}

/* Bounds that follow another unknown are cones where that is the normal of a contact: torsional friction. */
static const char *refusal(const ss_problem *problem)
{
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; block->law == SS_LAW_COUPLED && i < block->first + block->size; i++)
            if (!ss_space_is_spin(problem, k, i))
                return "accepts bounds that follow another unknown only beside a friction cone";
    }
    return NULL;
}

const ss_solver ss_solver_interior_point = {
    .abi = SS_ABI,
    .name = "interior-point",
    .summary = "primal-dual interior-point method on boxes and friction cones, finished by Newton steps",
    .reference = "Mehrotra 1992; Nesterov, Todd 1998; Acary et al. 2024",
    .weakness = "short steps for Coulomb's law with large friction",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = options_table,
    .options_size = sizeof(interior_options),
    .solve = solve,
    .refusal = refusal,
};
