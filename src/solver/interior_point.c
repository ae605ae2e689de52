/* Primal-dual interior point method for boxes and friction cones:
 *
 *     u = W r + q,   u = N(z),   s = T r,   s o z = m e        s, z inside their Lorentz cones, m -> 0
 *
 * where N(z) is the velocity that the duals z stand for (newton/interior_cones.h). Newton's method on these
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
 * the natural map (newton/newton.h) try to end it, and are given up when they do not converge at once.
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
#include "solver/newton/interior.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/option_rows.h"

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

/* ---- one step in the interior ----------------------------------------------------------------------- */

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

/* The direction, by up to four right-hand sides with one factor, in newton->dr and the cones; returns the
 * length of the step to take, 0 when there is none. */
static double step_length(ss_interior *inner)
{
    static const double short_step = 0.1, back = 20.0;
    ss_interior_cones *cones = &inner->cones;
    double m = ss_interior_cones_mean(cones, 0.0);

    // The predictor, towards the boundary: how far it gets decides how much to centre.
    if (!direction(inner, (ss_centring){0.0, 0.0})) return 0.0;
    double affine = fmin(1.0, ss_interior_cones_longest(cones));
    double sigma = pow(fmax(ss_interior_cones_mean(cones, affine), 0.0) / m, 3.0);
    sigma = fmin(fmax(sigma, 1e-4), 1.0);
    bool is_short = affine < short_step;
    if (is_short) sigma = fmax(sigma, 0.5);
    if (ss_newton_is_late(&inner->newton)) return 0.0;

    // The corrector and, when that gets nowhere, a third direction towards the centre.
    if (!direction(inner, (ss_centring){sigma * m, is_short ? 0.0 : 1.0})) return 0.0;
    double longest = ss_interior_cones_longest(cones);
    bool to_centre = 0.98 * longest < fmin(0.3, 0.5 * affine);
    if (to_centre && !direction(inner, (ss_centring){fmax(sigma, 0.5) * m, 0.0})) return 0.0;
    if (to_centre && inner->is_monotone)
        return fmin(1.0, boundary_share(inner, m) * ss_interior_cones_longest(cones));

    // Where Coulomb's law is not monotone the path may turn: then one back, to where m is larger.
    double t = centred_length(inner, m);
    if (inner->is_monotone || t >= short_step) return t;
    return direction(inner, (ss_centring){back * m, 0.0}) ? centred_length(inner, m) : 0.0;
}

/* Slacks, what is missing in the velocities, the matrix, the direction, the step. Returns its length, 0 when
 * there is none. */
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
    ss_space_velocity(newton->space, inner->r, inner->u);
    ss_interior_cones_move(&inner->cones, t);
    return t;
}

/* ---- the way inside --------------------------------------------------------------------------------- */

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

bool ss_interior_inside(ss_interior *inner, const ss_inside_plan *plan)
{
    static const double too_short = 1e-8, rough = 1e-5;
    enum { SHORT_STEPS = 20, SHORT_STEPS_MONOTONE = 8, PATIENCE = 4 };
    ss_newton *newton = &inner->newton;
    double aim = fmin(1e-3, 0.1 * newton->best_error); // the error at which to polish next
    int shorts = inner->is_monotone ? SHORT_STEPS - SHORT_STEPS_MONOTONE : 0, idle = 0,
        limit = newton->system.factorizations + plan->factorizations;

    // From the middle of the cones; or from the best point, so far inside that what is missing in the
    // velocities can be made up on the way.
    inner->cones.share = 1.0;
    if (plan->resume) {
        double size = 10.0 * inner->scale, missing = inner->scale * newton->best_error;
        memcpy(inner->r, newton->best, (size_t)newton->space->size * sizeof *inner->r);
        ss_space_velocity(newton->space, inner->r, inner->u);
        ss_interior_cones_resume(&inner->cones, size * missing, inner->r, inner->u);
    } else {
        ss_interior_cones_start(&inner->cones, 10.0 * inner->scale, inner->r);
    }
    ss_space_velocity(newton->space, inner->r, inner->u);

    while (newton->system.factorizations < limit) {
        double best = newton->best_error;
        newton->system.fine = best > SS_INTERIOR_SMALL ? rough : SS_NEWTON_FINE;
        double t = advance(inner);
        newton->system.fine = SS_NEWTON_FINE;
        if (!(t > 0.0)) return ss_newton_is_late(newton);

        // The point to the driver, and to Newton's method where that may end it.
        double error = ss_newton_note(newton, inner->r, inner->u);
        if (!isfinite(error)) return false;
        if (!ss_newton_report(newton, inner->r) || ss_newton_exact(newton)) return true;
        if (newton->best_error <= plan->enough) return false;
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
        // to go along directions that W does not see. Strides do that better (newton/newton.h).
        idle = newton->best_error < 0.9 * best ? 0 : idle + 1;
        bool is_idle = !inner->is_monotone && newton->best_error < SS_INTERIOR_SMALL && idle >= PATIENCE;
        if (is_idle || t < too_short || (t < 0.2 && ++shorts >= SHORT_STEPS)) return false;
    }
    return false;
}

/* ---- all of it ------------------------------------------------------------------------------------ */

/* After ss_newton_begin; false when out of memory. */
static bool prepare(ss_interior *inner, ss_arena *arena)
{
    const ss_space *space = inner->newton.space;
    size_t n = (size_t)space->size;
    if (!ss_arena_take_vectors(arena, n, "interior point",
                               (double **[]){&inner->r, &inner->u, &inner->rest, &inner->rhs,
                                             &inner->polished, &inner->polished_u, NULL}))
        return false;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) sum += space->q[i] * space->q[i];
    inner->scale = sum > 0.0 ? sqrt(sum / (double)n) : 1.0;
    inner->is_monotone = true;
    for (int k = 0; k < space->node_count; k++) {
        if (space->nodes[k].law == SS_LAW_CONE) inner->is_monotone = false;
    }
    return ss_interior_cones_create(space, arena, &inner->cones);
}

static void find_solution(ss_interior *inner, const interior_options *set)
{
    ss_newton *newton = &inner->newton;
    ss_newton_plan all = {.steps = newton->run->max_iterations};
    ss_inside_plan first = {.factorizations = set->factorizations};
    bool has_inside = inner->cones.count > 0; // free and fixed unknowns alone: a linear system
    if (has_inside && ss_interior_inside(inner, &first)) return;
    if (has_inside && !inner->is_monotone) ss_interior_persist(inner);
    if (ss_interior_is_over(newton) || ss_interior_walk_from_best(inner, all)) return;
    newton->map = SS_FISCHER_MAP;
    ss_interior_walk_from_best(inner, all);
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const interior_options *set = options;
    ss_interior inner = {.regularization = set->regularization};
    bool good =
        ss_newton_begin(problem, run, SS_NATURAL_MAP, x, &inner.newton) && prepare(&inner, run->arena);
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
