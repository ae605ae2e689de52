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
#include "solver/core/run_state.h"
#include "solver/core/scaled.h"
#include "solver/newton/active_set_factor.h"
#include "solver/sweep/sweep.h"

enum { REFINEMENTS = 6, STUCK = 300, LONG = 64 };

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
    double *best;
    double best_error, best_size;
    double *before; // x at the start of a subspace
    int pause;      // in units of the sweeps between two subspaces
    bool stopped;
} minimiser;

static bool take_memory(minimiser *m, ss_arena *arena)
{
    size_t n = (size_t)m->n;
    if (!ss_arena_take_vectors(arena, n, "vectors",
                               (double **[]){&m->z, &m->w, &m->trial, &m->trial_w, &m->step, &m->rest,
                                             &m->lower, &m->upper, &m->best, &m->before, NULL}))
        return false;
    m->inside = ss_arena_take(arena, n, sizeof *m->inside, "subspace");
    return m->inside != NULL;
}

static bool report(minimiser *m, double energy)
{
    bool due = ss_run_due(m->run, energy);
    m->stopped = !ss_run_iteration(m->run, due ? m->x : NULL, NULL);
    return !m->stopped;
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
    if (!(m->error < m->best_error)) return;
    m->best_error = m->error;
    m->best_size = m->size;
    memcpy(m->best, m->x, (size_t)m->n * sizeof *m->best);
}

/* ---- subspace --------------------------------------------------------------------------------------- */

/* True when there is something in it; `changed`: when it is another one than before. */
static bool choose_subspace(minimiser *m, bool *changed)
{
    bool any = false;
    *changed = false;
    for (int i = 0; i < m->n; i++) {
        bool now = m->z[i] > m->lower[i] && m->z[i] < m->upper[i];
        *changed = *changed || now != m->inside[i];
        m->inside[i] = now;
        any = any || now;
    }
    return any;
}

/* A_FF step = -w_F; what compliance leaves over is solved for again. */
static bool solve_subspace(minimiser *m)
{
    double last = INFINITY;
    m->face.shift = m->s.coupled ? held : redundancy;
    while (!ss_active_set_factorise(&m->face, m->inside)) {
        m->face.shift *= 100.0;
        if (m->face.shift > 1.0 || ss_run_late(m->run)) return false;
    }
    memset(m->step, 0, (size_t)m->n * sizeof *m->step);
    memset(m->trial, 0, (size_t)m->n * sizeof *m->trial);
    for (int k = 0; k < (m->s.coupled ? 1 : REFINEMENTS); k++) {
        double left = 0.0;
        for (int i = 0; i < m->n; i++) m->rest[i] = -m->w[i];
        ss_sparse_apply(&m->s.A, m->step, -1.0, m->rest);
        for (int i = 0; i < m->n; i++) left = m->inside[i] ? fmax(left, fabs(m->rest[i])) : left;
        if (!(left < 0.5 * last)) break;
        last = left;
        ss_active_set_solve(&m->face, m->rest, m->trial);
        for (int i = 0; i < m->n; i++) m->step[i] += m->trial[i];
    }
    return true;
}

/* The share of the step that meets the first bound: as far as the function falls for sure. */
static double way_to_bound(const minimiser *m)
{
    double way = 1.0;
    for (int i = 0; i < m->n; i++) {
        double room = m->step[i] > 0.0 ? m->upper[i] - m->z[i] : m->lower[i] - m->z[i];
        if (m->inside[i] && fabs(m->step[i]) * way > fabs(room)) way = room / m->step[i];
    }
    return way;
}

/* The change of the function is written with differences, (w + w') . dx / 2: rounding does not spoil
 * it near the end. */
static bool move(minimiser *m)
{
    double least = way_to_bound(m);
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

/* Half the square of the error, in J: what the rule looks at. */
static double energy_left(const minimiser *m)
{
    double sum = 0.0;
    for (int i = 0; i < m->n; i++) {
        double gap = m->z[i] - fmin(fmax(m->z[i] - m->w[i], m->lower[i]), m->upper[i]);
        sum += 0.5 * gap * gap * m->s.unit[i] * m->s.load_unit[i];
    }
    return sum;
}

/* With bounds that follow, a minimum within the old ones may be worse under the new: where contacts are
 * redundant, the direct solve moves their impulses about for nothing, and friction with them. Then the sweeps
 * are left to themselves for longer and longer. */
static void reconsider(minimiser *m, double error_before)
{
    look(m);
    if (!m->s.coupled) return;
    bool good = m->error < error_before;
    m->pause = good ? 1 : 2 * m->pause < LONG ? 2 * m->pause : LONG;
    if (good) return;
    memcpy(m->x, m->before, (size_t)m->n * sizeof *m->x);
    look(m);
}

/* False when the run has stopped. */
static bool minimise(minimiser *m, int steps)
{
    bool changed, moved = false;
    double error_before = m->error;
    memcpy(m->before, m->x, (size_t)m->n * sizeof *m->before);
    for (int k = 0; k < steps && choose_subspace(m, &changed) && (k == 0 || changed); k++) {
        if (!solve_subspace(m) || !move(m)) break;
        moved = true;
        ss_scaled_restore(&m->s, m->z, m->x);
        if (!report(m, energy_left(m))) return false;
    }
    if (moved) reconsider(m, error_before);
    return true;
}

/* ---- the loop --------------------------------------------------------------------------------------- */

/* True: go on. Numbers that overflow give the last good x back. */
static bool sweep(minimiser *m, int count, double *change)
{
    m->stopped = ss_run_late(m->run);
    if (m->stopped) return false;
    ss_operator_refresh(&m->sweep->A, m->x);
    for (int k = 0; k < count; k++) {
        *change = ss_sweep_pass(m->sweep, SS_SWEEP_FORWARD, m->x);
        if (!isfinite(*change) || !report(m, 0.5 * *change)) return false;
    }
    return true;
}

static ss_status give_up(minimiser *m)
{
    if (m->best_error < INFINITY) memcpy(m->x, m->best, (size_t)m->n * sizeof *m->x);
    return ss_scaled_is_solved(m->best_error, m->best_size) ? SS_CONVERGED : SS_STALLED;
}

static ss_status iterate(minimiser *m, const morales_options *set)
{
    ss_watch watch = {0};
    double change = 0.0;
    for (;;) {
        if (!sweep(m, m->pause * set->sweeps, &change)) {
            if (m->stopped) return ss_run_status(m->run);
            give_up(m);
            return SS_FAILED;
        }
        look(m);
        if (!minimise(m, set->steps)) return ss_run_status(m->run);
        if (change == 0.0 || m->error <= settled * m->size) return SS_CONVERGED;
        if (m->size > far && ss_run_ray(m->run, m->x)) {
            give_up(m);
            return SS_RAY;
        }
        if (ss_watch_stalled(&watch, m->error, STUCK)) return give_up(m);
    }
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    static const double omega = 1.0;
    minimiser m = {
        .run = run, .n = problem->size, .x = x, .best_error = INFINITY, .best_size = 1.0, .pause = 1};
    ss_status status = SS_FAILED;
    m.sweep = ss_projected_sweep(problem, &omega, run->seed, run->arena);
    if (m.sweep && !ss_run_lacks(run, ss_run_scaling_cost(problem)) &&
        ss_scaled_create(problem, run->arena, &m.s) && take_memory(&m, run->arena) &&
        ss_active_set_factor_create(&m.s.A, true, redundancy, run, &m.face))
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
