/* Spectral projected gradient (Barzilai-Borwein steps, nonmonotone line search of Grippo,
 * Lampariello and Lucidi):
 *
 *     d = P(r - alpha g) - r,   r <- r + t d,   alpha = s.s / s.y  or  s.y / y.y  in turn,  s = t d, y = W s
 *
 * One product per iteration: W d gives f along the way, the next velocity and the next alpha. f may grow
 * within the largest of its last values when `memory` says so; by default it must not, which is no slower
 * here. The error curve is erratic.
 *
 * The convex problem is solved with a proof. For Coulomb's law De Saxce's term is held fixed during a step
 * (or for some, `frozen`), so that there is an f to descend on: a fixed point iteration that need not
 * contract where much slides.
 *
 * References: Barzilai, Borwein (1988); Birgin, Martinez, Raydan, Nonmonotone spectral projected gradient
 * methods on convex sets (2000).
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/option_rows.h"
#include "solver/newton/maps.h"
#include "solver/core/progress.h"
#include "solver/splitting/gradient.h"

typedef struct spectral_options {
    int memory, frozen;
} spectral_options;

enum { MEMORY_MAX = 64 };

static const ss_option options_table[] = {
    SS_ROW_INT(spectral_options, memory, "1", 1, MEMORY_MAX,
               "number of recent function values whose largest a step must not exceed; 1 = monotone"),
    SS_ROW_INT(spectral_options, frozen, "1", 1, 1e6,
               "iterations between updates of De Saxce's term (Coulomb's law only)"),
    {0},
};

typedef struct spectral {
    const ss_space *space;
    ss_row_groups groups;
    double *r, *u;         // the iterate and its velocity
    double *d, *product;   // the way, and W d
    double *term, *target; // De Saxce's, as held fixed; P(r - alpha g)
    double alpha, shortest, longest;
    double value[MEMORY_MAX]; // f, from where the term was set
    double f;
    int memory, steps;
} spectral;

static bool take_memory(spectral *at, ss_arena *arena)
{
    double **all[] = {&at->r, &at->u, &at->d, &at->product, &at->term, &at->target};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        *all[k] = ss_arena_take_unset(arena, (size_t)at->space->size, sizeof **all[k], "descent");
        if (!*all[k]) return false;
    }
    return ss_row_groups_create(at->space, arena, &at->groups);
}

static void start(spectral *at, const double *x, ss_run *run)
{
    enum { PRODUCTS = 10 };
    static const double span = 1e3;
    double slope = ss_gradient_slope(&at->groups, PRODUCTS, run, at->d, at->product);
    at->alpha = 1.0 / slope;
    at->shortest = 1.0 / (span * slope);
    at->longest = span / slope;
    ss_space_enter(at->space, x, at->r);
    ss_gradient_project(at->space, at->r, at->r, at->r);
}

/* Brings De Saxce's term up to date and, now and then, u, which collects rounding. */
static void refresh(spectral *at, int frozen)
{
    enum { ROUNDING = 64 };
    if (at->steps % ROUNDING == 0) ss_row_groups_velocity(&at->groups, at->r, at->u);
    if (at->steps % frozen == 0) ss_gradient_saxce(at->space, at->u, at->term);
}

/* How far along d: f(r + t d) = f + t slope + t^2/2 curvature. Differences of f, not values, so that only the
 * slope has rounding in it, `noise`. */
static double line_search(const spectral *at, double slope, double curvature, double noise)
{
    static const double enough = 1e-4, too_short = 1e-10;
    double largest = at->value[0], t = 1.0;
    for (int k = 1; k < at->memory; k++) largest = fmax(largest, at->value[k]);
    double room = fmax(largest - at->f, 0.0) + noise;
    while (t > too_short && t * slope + 0.5 * t * t * curvature > room + enough * t * slope) {
        double exact = curvature > 0.0 ? -slope / curvature : 0.0;
        t = fmax(0.1 * t, fmin(0.5 * t, exact));
    }
    return t;
}

/* r + t d; alpha for the next step. */
static void move(spectral *at, double t, double square, double curvature)
{
    int n = at->space->size;
    double speeds = ss_dot(n, at->product, at->product);
    for (int i = 0; i < n; i++) {
        at->r[i] += t * at->d[i];
        at->u[i] += t * at->product[i];
    }
    double alpha = at->longest;
    if (curvature > 0.0) alpha = at->steps % 2 == 0 ? square / curvature : curvature / speeds;
    at->alpha = fmin(fmax(alpha, at->shortest), at->longest);
}

static void advance(spectral *at)
{
    static const double rounding = 1e-15;
    int n = at->space->size;
    double slope = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) at->target[i] = at->r[i] - at->alpha * (at->u[i] + at->term[i]);
    ss_gradient_project(at->space, at->target, at->r, at->target);
    for (int i = 0; i < n; i++) {
        at->d[i] = at->target[i] - at->r[i];
        slope += at->d[i] * (at->u[i] + at->term[i]);
        size += fabs(at->target[i] * (at->u[i] + at->term[i]));
    }
    ss_row_groups_apply(&at->groups, at->d, at->product);
    double square = ss_dot(n, at->d, at->d), curvature = ss_dot(n, at->d, at->product);
    double t = line_search(at, slope, curvature, rounding * size);
    move(at, t, square, curvature);
    at->f += t * slope + 0.5 * t * t * curvature;
    at->value[at->steps++ % at->memory] = at->f;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    enum { STUCK = 5000 };
    const spectral_options *set = options;
    spectral at = {.space = ss_space_create(problem, run->arena), .memory = set->memory};
    ss_progress progress;
    if (!at.space || !take_memory(&at, run->arena) || !ss_progress_start(at.space, run, x, &progress))
        return SS_FAILED;
    start(&at, x, run);
    refresh(&at, set->frozen);
    double error = ss_newton_residual(at.space, 1.0, at.r, at.u, NULL);
    while (ss_progress_report(&progress, at.r, error, STUCK)) {
        advance(&at);
        refresh(&at, set->frozen);
        error = ss_newton_residual(at.space, 1.0, at.r, at.u, NULL);
    }
    return ss_progress_end(&progress);
}

const ss_solver ss_solver_barzilai_borwein = {
    .abi = SS_ABI,
    .name = "barzilai-borwein",
    .summary = "spectral projected gradient, one product per iteration",
    .reference = "Barzilai, Borwein 1988; Birgin, Martinez, Raydan 2000",
    .weakness = "erratic; slow on joints and large mass ratios; Coulomb's law only as a fixed point, "
                "which may not contract if many contacts slide",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(spectral_options),
    .solve = solve,
    .refusal = ss_gradient_refusal,
};
