/* Projected Gauss-Seidel with subspace minimisation: sweeps guess which unknowns are inside their bounds,
 * the quadratic function is minimised over these by a direct solve, and what leaves its bounds on the way is
 * put back on them:
 *
 *     sweeps;  F = { l < x < u }
 *     again and again:  A_FF d = -w_F,  x <- P(x + t d) with the largest t = 1, 1/2, 1/4 ... that lowers
 *                       x . A x / 2 + b . x;  F loses what is on a bound now
 *
 * At the worst t takes x to the first bound. That is common: where more contacts are inside than bodies can
 * obey, d is huge.
 *
 * Free rows are in F for good, so that joints are solved exactly. Bounds that follow a partner stay as they
 * are in the subspace and follow again in the sweeps. Once F is right, one round ends it.
 *
 * Sweeps smooth, but bring weight down a tall stack slowly; the direct solve does that, but cannot let go of
 * a bound. Fails where the sweeps need long to find F, and where coupled bounds do not settle (large
 * friction). Redundant rows are kept apart by a little compliance in the direct solve, which refinement
 * removes; where bounds follow it is larger and stays, and a subspace that makes the error larger under the
 * new bounds is taken back.
 *
 * Reference: Morales, Nocedal, Smelyanskiy, An algorithm for the fast solution of symmetric linear
 * complementarity problems, Numer. Math. 111 (2008).
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/option_rows.h"
#include "linalg/active_set_factor.h"
#include "solver/core/run_state.h"
#include "problem/scaled.h"
#include "solver/sweep/sweep.h"

/* Of numbers of size 1. */
static const double settled = 1e-14;   // error next to 1 + max |x|: nothing is left but rounding
static const double redundancy = 1e-9; // on the diagonal of direct solves
// the same where bounds follow: redundant contacts must not pass impulses around
static const double held = 1e-6;
static const double far = 1e7; // no answer: perhaps a ray

typedef struct morales_options {
    int sweeps, steps;
} morales_options;

static const ss_option options_table[] = {
    SS_ROW_INT(morales_options, sweeps, "5", 1, 1000000,
               "projected Gauss-Seidel sweeps before each subspace"),
    SS_ROW_INT(morales_options, steps, "20", 0, 1000,
               "largest number of direct solves in a subspace; 0 = pgs"),
    {0},
};

typedef struct minimiser {
    ss_scaled s;
    ss_active_set_factor face;
    ss_sweep *sweep;
    ss_run *run;
    int n;
    double *x; // of the problem
    double *z; // scaled
    double *w, *trial, *trial_w, *step, *rest;
    double *lower, *upper;
    bool *inside;
    double error, size; // of z
    ss_best best;       // x
    double best_size;
    double *before; // x at the start of a subspace
    int pause;      // in units of the sweeps between two subspaces
} minimiser;

static bool report(minimiser *m, double energy)
{
    bool due = ss_run_due(m->run, energy);
    return ss_run_iteration(m->run, due ? m->x : NULL, NULL);
}

/* x as the sweeps left it, with its velocities, its bounds and its error */
static void look(minimiser *m)
{
    ss_scaled_start(&m->s, m->x, m->z);
    ss_scaled_bounds(&m->s, m->z, m->lower, m->upper);
    m->size = 1.0;
    for (int i = 0; i < m->n; i++) {
        m->z[i] = fmin(fmax(m->z[i], m->lower[i]), m->upper[i]);
        m->size = fmax(m->size, 1.0 + fabs(m->z[i]));
    }
    ss_scaled_apply(&m->s, m->z, m->w);
    m->error = ss_scaled_error(m->n, m->lower, m->upper, m->z, m->w);
    if (ss_best_keep(&m->best, m->n, m->x, m->error)) m->best_size = m->size;
}

/* ---- subspace --------------------------------------------------------------------------------------- */

/* A_FF step = -w_F; refinement removes the effect of the compliance, but not where bounds follow. */
static bool solve_subspace(minimiser *m)
{
    enum { REFINEMENTS = 6 };
    m->face.shift = m->s.coupled ? held : redundancy;
    while (!ss_run_factorise(m->run, &m->face, m->inside)) {
        m->face.shift *= 100.0;
        if (m->face.shift > 1.0 || ss_run_late(m->run)) return false;
    }
    for (int i = 0; i < m->n; i++) m->trial_w[i] = -m->w[i];
    ss_active_set_refine(&m->face, m->trial_w, m->s.coupled ? 1 : REFINEMENTS, m->rest, m->trial, m->step);
    return true;
}

/* z <- P(z + t step). The change of the function is written with differences, (w + w') . dx / 2: rounding
 * does not spoil it near the end. */
static bool move(minimiser *m)
{
    // The share of the step that meets the first bound: as far as the function falls for sure.
    double least = 1.0;
    for (int i = 0; i < m->n; i++) {
        double room = m->step[i] > 0.0 ? m->upper[i] - m->z[i] : m->lower[i] - m->z[i];
        if (m->inside[i] && fabs(m->step[i]) * least > fabs(room)) least = room / m->step[i];
    }
    for (double t = 1.0;; t = fmax(0.5 * t, least)) {
        double change = 0.0;
        for (int i = 0; i < m->n; i++)
            m->trial[i] = fmin(fmax(m->z[i] + t * m->step[i], m->lower[i]), m->upper[i]);
        ss_scaled_apply(&m->s, m->trial, m->trial_w);
        for (int i = 0; i < m->n; i++) change += 0.5 * (m->w[i] + m->trial_w[i]) * (m->trial[i] - m->z[i]);
        if (change < 0.0) break;
        if (!(t > least)) return false;
    }
    memcpy(m->z, m->trial, (size_t)m->n * sizeof *m->z);
    memcpy(m->w, m->trial_w, (size_t)m->n * sizeof *m->w);
    return true;
}

/* False when the run has stopped. */
static bool minimise(minimiser *m, int steps)
{
    enum { LONG = 64 };
    size_t bytes = (size_t)m->n * sizeof *m->x;
    double error_before = m->error;
    bool moved = false;
    memcpy(m->before, m->x, bytes);
    for (int k = 0; k < steps; k++) {
        // F is what is inside now; the same as last time: nothing is left to do there.
        bool any = false, changed = k == 0;
        for (int i = 0; i < m->n; i++) {
            bool now = m->z[i] > m->lower[i] && m->z[i] < m->upper[i];
            changed = changed || now != m->inside[i];
            m->inside[i] = now;
            any = any || now;
        }
        if (!any || !changed || !solve_subspace(m) || !move(m)) break;
        moved = true;

        // Half the square of the error, in J: what the rule looks at.
        double energy = 0.0;
        for (int i = 0; i < m->n; i++) {
            double gap = m->z[i] - fmin(fmax(m->z[i] - m->w[i], m->lower[i]), m->upper[i]);
            energy += 0.5 * gap * gap * m->s.unit[i] * m->s.load_unit[i];
        }
        ss_scaled_restore(&m->s, m->z, m->x);
        if (!report(m, energy)) return false;
    }
    if (!moved) return true;

    // With bounds that follow, a minimum within the old ones may be worse under the new: where contacts are
    // redundant, the direct solve moves their impulses about for nothing, and friction with them. Then the
    // sweeps are left to themselves for longer and longer.
    look(m);
    if (!m->s.coupled) return true;
    bool good = m->error < error_before;
    m->pause = good ? 1 : 2 * m->pause < LONG ? 2 * m->pause : LONG;
    if (good) return true;
    memcpy(m->x, m->before, bytes);
    look(m);
    return true;
}

/* ---- the method ------------------------------------------------------------------------------------- */

static ss_status give_up(minimiser *m)
{
    if (m->best.error < INFINITY) memcpy(m->x, m->best.x, (size_t)m->n * sizeof *m->x);
    return ss_scaled_is_solved(m->best.error, m->best_size) ? SS_CONVERGED : SS_STALLED;
}

static ss_status iterate(minimiser *m, const morales_options *set)
{
    enum { STUCK = 300 };
    ss_watch watch = {0};
    double change = 0.0;
    for (;;) {
        // Sweeps. Numbers that overflow give the last good x back.
        if (ss_run_late(m->run)) return ss_run_status(m->run);
        ss_operator_refresh(&m->sweep->A, m->x);
        for (int k = 0; k < m->pause * set->sweeps; k++) {
            change = ss_sweep_pass(m->sweep, SS_SWEEP_FORWARD, m->x);
            if (!isfinite(change)) return give_up(m), SS_FAILED;
            if (!report(m, 0.5 * change)) return ss_run_status(m->run);
        }

        // The subspace that they have found.
        look(m);
        if (!minimise(m, set->steps)) return ss_run_status(m->run);
        if (change == 0.0 || m->error <= settled * m->size) return SS_CONVERGED;
        if (m->size > far && ss_run_ray(m->run, m->x)) return give_up(m), SS_RAY;
        if (ss_watch_stalled(&watch, m->error, STUCK)) return give_up(m);
    }
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    static const double omega = 1.0;
    size_t n = (size_t)problem->size;
    minimiser m = {
        .run = run, .n = problem->size, .x = x, .best.error = INFINITY, .best_size = 1.0, .pause = 1};
    ss_status status = SS_FAILED;
    m.sweep = ss_projected_sweep(problem, &omega, run->seed, run->arena);
    m.inside = ss_arena_take(run->arena, n, sizeof *m.inside, "subspace");
    if (m.sweep && m.inside && !ss_run_lacks(run, ss_run_scaling_cost(problem)) &&
        ss_scaled_create(problem, run->arena, &m.s) &&
        ss_arena_take_vectors(run->arena, n, "vectors",
                              (double **[]){&m.z, &m.w, &m.trial, &m.trial_w, &m.step, &m.rest, &m.lower,
                                            &m.upper, &m.best.x, &m.before, NULL}) &&
        ss_active_set_factor_create(&m.s.A, true, redundancy, run->arena, &m.face))
        status = iterate(&m, options);
    ss_active_set_factor_destroy(&m.face);
    return status;
}

const ss_solver ss_solver_morales = {
    .abi = SS_ABI,
    .name = "morales",
    .summary = "projected Gauss-Seidel sweeps, then a direct solve of the unknowns inside their bounds",
    .reference = "Morales, Nocedal, Smelyanskiy 2008",
    .weakness =
        "slow if sweeps do not find the active set; coupled bounds may not converge for large friction",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .traits = SS_NEEDS_SYMMETRIC | SS_NEEDS_DIAGONAL | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(morales_options),
    .solve = solve,
};
