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

/* How far along d: f(r + t d) = f + t slope + t^2/2 curvature may grow by `room`. Differences of f, not
 * values, so that only the slope has rounding in it. */
static double line_search(double slope, double curvature, double room)
{
    static const double enough = 1e-4, too_short = 1e-10;
    double t = 1.0;
    while (t > too_short && t * slope + 0.5 * t * t * curvature > room + enough * t * slope) {
        double exact = curvature > 0.0 ? -slope / curvature : 0.0;
        t = fmax(0.1 * t, fmin(0.5 * t, exact));
    }
    return t;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    enum { STUCK = 5000, PRODUCTS = 10, REFRESH = 64 };
    static const double span = 1e3, rounding = 1e-15;
    const spectral_options *set = options;
    int n = problem->size;
    double *r, *u;         // the iterate and its velocity
    double *d, *product;   // the way, and W d
    double *term, *target; // De Saxce's, as held fixed; P(r - alpha g)
    ss_space *space = ss_space_create(problem, run->arena);
    ss_progress progress;
    if (!space || !ss_progress_start(space, run, x, &progress) ||
        !ss_arena_take_vectors(run->arena, (size_t)n, "descent",
                               (double **[]){&r, &u, &d, &product, &term, &target, NULL}))
        return SS_FAILED;

    // The first step length, from the largest eigenvalue, and a start that obeys the laws.
    double largest = ss_gradient_slope(space, PRODUCTS, run, d, product);
    double alpha = 1.0 / largest, shortest = 1.0 / (span * largest), longest = span / largest;
    double f = 0.0, value[MEMORY_MAX] = {0}; // f, from where the term was set, now and at the last steps
    ss_space_enter(space, x, r);
    ss_gradient_project(space, r, r, r);

    for (int steps = 0;; steps++) {
        // u collects rounding; De Saxce's term is renewed now and then.
        if (steps % REFRESH == 0) ss_space_velocity(space, r, u);
        if (steps % set->frozen == 0) ss_gradient_saxce(space, u, term);
        double error = ss_newton_residual(space, 1.0, r, u, NULL);
        if (!ss_progress_report(&progress, r, error, STUCK)) return ss_progress_end(&progress);

        // d = P(r - alpha g) - r
        double slope = 0.0, size = 0.0;
        for (int i = 0; i < n; i++) target[i] = r[i] - alpha * (u[i] + term[i]);
        ss_gradient_project(space, target, r, target);
        for (int i = 0; i < n; i++) {
            d[i] = target[i] - r[i];
            slope += d[i] * (u[i] + term[i]);
            size += fabs(target[i] * (u[i] + term[i]));
        }

        // r <- r + t d, where f stays below the largest of its last values
        ss_space_apply(space, d, product);
        double square = ss_dot(n, d, d), curvature = ss_dot(n, d, product), top = value[0];
        for (int k = 1; k < set->memory; k++) top = fmax(top, value[k]);
        double t = line_search(slope, curvature, fmax(top - f, 0.0) + rounding * size);
        double speeds = ss_dot(n, product, product);
        for (int i = 0; i < n; i++) {
            r[i] += t * d[i];
            u[i] += t * product[i];
        }
        f += t * slope + 0.5 * t * t * curvature;
        value[steps % set->memory] = f;

        // The next step length, of both kinds in turn.
        double wanted = longest;
        if (curvature > 0.0) wanted = steps % 2 == 0 ? square / curvature : curvature / speeds;
        alpha = fmin(fmax(wanted, shortest), longest);
    }
}

const ss_solver ss_solver_barzilai_borwein = {
    .abi = SS_ABI,
    .name = "barzilai-borwein",
    .summary = "spectral projected gradient, one product per iteration",
    .reference = "Barzilai, Borwein 1988; Birgin, Martinez, Raydan 2000",
    .weakness = "erratic; slow on joints and large mass ratios; Coulomb's law only as a fixed point, "
                "which may not contract if many contacts slide",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = options_table,
    .options_size = sizeof(spectral_options),
    .solve = solve,
    .refusal = ss_gradient_refusal,
};
