/* Primal-dual interior point method for boxes and friction cones:
 *
 *     u = W r + q,   u = N(z),   s = T r,   s o z = m e        s, z inside their Lorentz cones, m -> 0
 *
 * where N(z) is the velocity that the duals z stand for (interior_parts.h). Newton's method on these equations with
 * Mehrotra's predictor and corrector, in Nesterov-Todd's scaling: with y = G^-1 ds and h from complementarity,
 *
 *     (1 + G N'^-1 (W + alpha) T^-1 G) y = h - G N'^-1 (u - N(z))
 *
 * De Saxce's term is inside N' and not lagged, which makes the matrix unsymmetric and the method work for sliding
 * piles. There the matrix can become singular away from the solution, one contact leaps to and fro between both sides
 * of that, and the steps become short: then N' has a part of the term only, the less the more often it happens (without
 * it the problem is monotone and the matrix regular, but the method no longer Newton's), and all of it again after long
 * steps. The scaled form keeps digits to the end: where contacts are redundant, as in every stack of boxes, s and z
 * vanish together and the error falls like the root of m only, so that m must become very small. One common step
 * for s and z, because u = N(z) couples them.
 *
 * An interior point is never quite on the boundary: as soon as the error is small, proximal Newton steps on the
 * natural map (newton_walk.h) try to end it, and are given up when they do not converge at once. They also are the
 * last resort where Coulomb's law is not monotone and the steps in the interior become short.
 *
 * References: Mehrotra, On the implementation of a primal-dual interior point method (1992); Nesterov, Todd (1998);
 * Acary, Armand, Nguyen, Shpakovych, Second-order cone programming for frictional contact mechanics using interior
 * point algorithm (2024).
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "solver/interior_parts.h"
#include "solver/newton_walk.h"

typedef struct interior_options {
    int factorizations;
    double regularization;
} interior_options;

static const ss_option options_table[] = {
    {.name = "factorizations",
     .type = SS_OPTION_INT,
     .offset = offsetof(interior_options, factorizations),
     .default_value = "70",
     .min = 0,
     .max = 1e6,
     .help = "matrices factorised in the interior, Newton's included, before the last resort"},
    {.name = "regularization",
     .type = SS_OPTION_REAL,
     .offset = offsetof(interior_options, regularization),
     .default_value = "1e-8",
     .min = 0,
     .max = 1,
     .help =
         "proximal term in the interior, relative to the diagonal of the matrix; smaller helps the convex "
         "law, larger helps Coulomb's"},
    {0},
};

typedef struct interior {
    ss_newton_walk walk;
    ss_parts parts;
    double *r, *u, *rest, *rhs;
    double *polished, *polished_u;
    double scale;     // |q| / sqrt(n)
    bool is_monotone; // no contact under Coulomb's law
    double regularization;
} interior;

static bool prepare(interior *inner, ss_arena *arena)
{
    const ss_newton_space *space = inner->walk.space;
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
    return ss_parts_create(space, arena, &inner->parts);
}

/* ---- in the interior -------------------------------------------------------------------------------- */

static bool direction(interior *inner, ss_centring centring)
{
    ss_newton_walk *walk = &inner->walk;
    ss_parts_load(&inner->parts, centring, inner->rest, inner->rhs);
    if (!ss_newton_system_solve(&walk->system, inner->rhs, walk->dr, walk->du)) return false;
    ss_parts_directions(&inner->parts, centring, inner->rest, walk->dr, walk->du);
    return true;
}

/* Predictor, corrector and, when that gets nowhere, a third direction towards the centre, all with one factor.
 * Returns the length of the step to take, 0 when there is none. */
static double step_length(interior *inner)
{
    static const double too_short = 1e-8;
    double off_centre = inner->is_monotone ? 1e-3 : 0.1; // off the centre is where De Saxce's term does harm
    ss_parts *parts = &inner->parts;
    double m = ss_parts_mean(parts, 0.0);
    if (!direction(inner, (ss_centring){0.0, 0.0})) return 0.0;
    double affine = fmin(1.0, ss_parts_longest(parts));
    double sigma = pow(fmax(ss_parts_mean(parts, affine), 0.0) / m, 3.0);
    sigma = fmin(fmax(sigma, 1e-4), 1.0);
    bool is_short = affine < 0.1;
    if (is_short) sigma = fmax(sigma, 0.5);
    if (!direction(inner, (ss_centring){sigma * m, is_short ? 0.0 : 1.0})) return 0.0;
    double longest = ss_parts_longest(parts);
    bool to_centre = 0.98 * longest < fmin(0.3, 0.5 * affine);
    if (to_centre) {
        if (!direction(inner, (ss_centring){fmax(sigma, 0.5) * m, 0.0})) return 0.0;
        longest = ss_parts_longest(parts);
    }
    double keep = fmin(fmax(1.0 - m / (inner->scale * inner->scale), 0.9), 0.98);
    double t = fmin(1.0, keep * longest);
    if (to_centre && inner->is_monotone) return t;
    while (t > too_short && !ss_parts_centred(parts, t, off_centre * ss_parts_mean(parts, t))) t *= 0.8;
    return t;
}

/* Newton steps from a copy of the point at hand. True when that was the end. */
static bool polish(interior *inner, double error)
{
    size_t bytes = (size_t)inner->walk.space->size * sizeof *inner->r;
    ss_newton_plan plan = {
        .steps = 12, .alpha = fmin(1e-3, error), .shrink = 0.2, .shrink_fast = 0.03, .hasty = true};
    memcpy(inner->polished, inner->r, bytes);
    memcpy(inner->polished_u, inner->u, bytes);
    return ss_newton_steps(&inner->walk, &plan, inner->polished, inner->polished_u);
}

/* One step in the interior; returns its length, 0 when there is none. */
static double advance(interior *inner)
{
    ss_newton_walk *walk = &inner->walk;
    ss_parts_slacks(&inner->parts, inner->r);
    ss_parts_missing(&inner->parts, inner->u, inner->rest);
    if (!ss_parts_linearize(&inner->parts, &walk->system)) return 0.0;
    if (!ss_newton_system_factor(&walk->system, inner->regularization)) return 0.0;
    double t = step_length(inner);
    if (!(t > 0.0)) return 0.0;
    for (int i = 0; i < walk->space->size; i++) inner->r[i] += t * walk->dr[i];
    ss_newton_space_velocity(walk->space, inner->r, inner->u);
    ss_parts_move(&inner->parts, t);
    return t;
}

/* How much of De Saxce's term the next matrix has, after a step of length t. */
static double next_share(double share, double t)
{
    if (t < 0.3) return fmax(0.0, share - 0.1);
    return t > 0.7 ? fmin(1.0, share + 0.2) : share;
}

/* True when the run has stopped or the solution is there; false when the interior leads nowhere. */
static bool walk_inside(interior *inner, int limit)
{
    static const double too_short = 1e-8;
    enum { SHORT_STEPS = 8 };
    ss_newton_walk *walk = &inner->walk;
    double aim = 1e-3; // the error at which to polish next
    int shorts = 0;
    ss_parts_start(&inner->parts, 10.0 * inner->scale, inner->r);
    ss_newton_space_velocity(walk->space, inner->r, inner->u);
    while (walk->system.factorizations < limit) {
        double t = advance(inner);
        if (!(t > 0.0)) return false;
        double error = ss_newton_walk_note(walk, inner->r, inner->u);
        if (!isfinite(error)) return false;
        if (!ss_newton_walk_report(walk, inner->r) || ss_newton_walk_exact(walk)) return true;
        if (error <= aim) {
            aim = 0.1 * error;
            if (polish(inner, error)) return true;
        }
        inner->parts.share = next_share(inner->parts.share, t);
        if (t < too_short || (t < 0.2 && ++shorts >= SHORT_STEPS)) return false;
    }
    return false;
}

/* ---- and after -------------------------------------------------------------------------------------- */

static void walk_from_best(interior *inner, int steps)
{
    ss_newton_walk *walk = &inner->walk;
    ss_newton_plan plan = {
        .steps = steps, .alpha = fmin(fmax(walk->best_error, 1e-4), 0.1), .shrink = 0.3, .shrink_fast = 0.09};
    if (isfinite(walk->best_error))
        memcpy(inner->r, walk->best, (size_t)walk->space->size * sizeof *inner->r);
    else
        memset(inner->r, 0, (size_t)walk->space->size * sizeof *inner->r);
    ss_newton_space_velocity(walk->space, inner->r, inner->u);
    ss_newton_steps(walk, &plan, inner->r, inner->u);
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const interior_options *set = options;
    interior inner = {.regularization = set->regularization};
    if (!ss_newton_walk_start(problem, run, SS_NATURAL_MAP, x, &inner.walk) || !prepare(&inner, run->arena)) {
        ss_newton_walk_end(&inner.walk);
        return SS_FAILED;
    }
    bool has_inside = inner.parts.count > 0; // free and fixed unknowns alone: a linear system
    if (!has_inside || !walk_inside(&inner, set->factorizations)) walk_from_best(&inner, run->max_iterations);
    return ss_newton_walk_end(&inner.walk);
}

const ss_solver ss_solver_interior_point = {
    .abi = SS_ABI,
    .name = "interior-point",
    .summary = "primal-dual interior point on boxes and friction cones, finished by Newton steps",
    .reference = "Mehrotra 1992; Nesterov, Todd 1998; Acary et al. 2024",
    .weakness = "does not use a start; Coulomb's law with large friction can make its steps short",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE,
    .options = options_table,
    .options_size = sizeof(interior_options),
    .solve = solve,
};
