/* Path following on the normal map, the method behind PATH: a crash by a few steps of Newton's method on the
 * min map, then pivots along a piecewise linear path from there to the solution (normal_path.h). Where that
 * does not arrive, paths from generic rays are followed, each with another covering vector: Lemke's method
 * for any bounds.
 *
 * All of it happens with a little compliance (1e-7 of the diagonal): redundant contacts and joints leave the
 * bases nonsingular then. Proximal passes remove its effect, a few pivots each where the pieces change.
 * Bounds that follow a partner are rows of the problem (mcp.h), so that no outer loop is needed. The end is
 * judged by the laws, with the velocities computed from scratch.
 *
 * From a good start it needs hardly a pivot. Copositive matrices (Stewart-Trinkle problems, with joints or
 * without) lead to a solution where there is one, except for rounding; others may end on a ray. That is
 * reported where no path was lost to rounding. Where there is no solution compliance carries what nothing
 * else can: impulses are huge, and Farkas' lemma makes a proof of their direction.
 *
 * References: Ralph, Math. Oper. Res. 19 (1994); Dirkse, Ferris, The PATH solver, Optim. Methods Softw. 5
 * (1995); Ferris, Munson, Interfaces to PATH 3.0 (1999).
 */
#include <stickslip/solver.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/option_rows.h"
#include "linalg/active_set_factor.h"
#include "linalg/vector.h"
#include "solver/core/run_state.h"
#include "solver/core/watch.h"
#include "solver/pivot/normal_path.h"

static const double settled = 1e-14; // error next to 1 + max |z|: nothing is left but rounding
static const double close_by = 1e-3; // error of the crash: worth a path from there
/* Contacts on a plane are redundant except for the rounding of gaps: a slack above it saves most pivots of
 * such stacks. What it leaves undone is mended afterwards. */
static const double coarse = 1e-9, fine = 1e-13;
static const double nearly = 1e-6;  // error of what is no ray, but a solution that was missed
static const double neat = 1e-13;   // error next to 1 + max |z|: not worth another path
static const double push = 1e-3;    // off the ends of pieces at the start
static const double mending = 1e-9; // the same between passes
static const double least_compliance = 1e-12;
static const double missed = 1e-14; // a bound, next to 1 + max |z|: not worth a pivot

typedef struct path_options {
    int crash;
    double compliance;
    int pivot_factor;
} path_options;

static const ss_option options_table[] = {
    SS_ROW_INT(path_options, crash, "15", 0, 100000,
               "largest number of Newton steps on the min map before the first path; fewer if two steps do "
               "not halve the error"),
    SS_ROW_REAL(path_options, compliance, "1e-7", 1e-12, 1,
                "regularisation relative to the diagonal; proximal passes remove its effect"),
    SS_ROW_INT(path_options, pivot_factor, "10", 1, 100000,
               "give up a path after this many pivots per unknown"),
    {0},
};

typedef struct search {
    ss_mcp mcp;
    ss_normal_path path;
    ss_active_set_factor face;
    ss_run *run;
    int n;
    double *x;
    double *z, *w, *trial, *trial_w, *step;
    bool *inside;
    ss_best best; // z
    double size;  // 1 + max |z| of the best
    bool stopped, no_solution;
} search;

/* ---- points ----------------------------------------------------------------------------------------- */

/* The best is kept. */
static double note(search *s, const double *z, double *w)
{
    double error = ss_mcp_error(&s->mcp, z, w);
    if (ss_best_keep(&s->best, s->n, z, error)) s->size = 1.0 + ss_largest(s->n, z);
    return error;
}

static bool is_exact(const search *s)
{
    return s->best.error <= settled * s->size;
}

static bool is_solved(const search *s)
{
    return ss_scaled_is_solved(s->best.error, s->size);
}

static bool report(search *s, const double *z)
{
    bool due = ss_run_due(s->run, s->best.error * s->best.error) || ss_run_measures(s->run);
    if (due) ss_mcp_restore(&s->mcp, z, s->x);
    s->stopped = !ss_run_iteration(s->run, due ? s->x : NULL, NULL);
    return !s->stopped;
}

/* ---- crash ------------------------------------------------------------------------------------------ */

static double square_error(const search *s, const double *z, const double *w)
{
    double sum = 0.0;
    for (int i = 0; i < s->n; i++) {
        double step = z[i] - fmin(fmax(z[i] - w[i], s->mcp.lower[i]), s->mcp.upper[i]);
        sum += step * step;
    }
    return sum;
}

/* Newton steps from z on; leaves w. False when the run has stopped. */
static bool crash(search *s, int steps)
{
    enum { HASTE = 2 };
    const ss_mcp *mcp = &s->mcp;
    double checked = HUGE_VAL, proximal = s->path.eps;
    note(s, s->z, s->w);
    for (int k = 0; k < steps && !is_exact(s); k++) {
        double before = square_error(s, s->z, s->w);
        if (k % HASTE == 0 && !(before < 0.25 * checked)) break;
        if (k % HASTE == 0) checked = before;

        // Unknowns that z - w puts on a bound go there, the others where their w is zero with the proximal
        // term.
        for (int i = 0; i < s->n; i++) {
            double y = s->z[i] - s->w[i];
            s->inside[i] = y > mcp->lower[i] && y < mcp->upper[i];
            s->step[i] = s->inside[i] ? 0.0 : fmin(fmax(y, mcp->lower[i]), mcp->upper[i]) - s->z[i];
            s->trial_w[i] = -s->w[i];
        }
        s->face.shift = proximal;
        bool found = ss_run_factorise(s->run, &s->face, s->inside);
        if (found) {
            ss_sparse_apply(&mcp->A, s->step, -1.0, s->trial_w);
            ss_active_set_solve(&s->face, s->trial_w, s->step);
        }

        // The first of the full step, its half, its quarter ... that makes the error smaller; 0: none does.
        double t = found ? 1.0 : 0.0;
        for (; t > 0.0; t = t > 0.2 ? 0.5 * t : 0.0) {
            for (int i = 0; i < s->n; i++)
                s->trial[i] = fmin(fmax(s->z[i] + t * s->step[i], mcp->lower[i]), mcp->upper[i]);
            ss_mcp_apply(mcp, s->trial, s->trial_w);
            if (square_error(s, s->trial, s->trial_w) < 0.99 * before) break;
        }
        if (t == 0.0 && proximal >= 1.0) break;
        proximal = t == 1.0 ? fmax(0.1 * proximal, s->path.eps) : fmin(1.0, 10.0 * proximal);
        if (t > 0.0) {
            memcpy(s->z, s->trial, (size_t)s->n * sizeof *s->z);
            note(s, s->z, s->w);
        }
        if (!report(s, s->z)) return false;
    }
    return true;
}

/* ---- paths ------------------------------------------------------------------------------------------ */

/* From the solution with compliance to that without: pass by pass the centre moves to where the last one
 * ended. Returns how the last path ended. */
static ss_path_end polish(search *s, int64_t max_pivots, int attempt)
{
    enum { PASSES = 30, IDLE = 3 };
    ss_normal_path *path = &s->path;
    double best = INFINITY;
    for (int pass = 0, idle = 0; pass < PASSES; pass++) {
        ss_normal_path_read(path);
        double error = note(s, path->z, s->trial_w);
        if (!report(s, path->z)) return SS_PATH_STOPPED;
        idle = error < 0.5 * best ? 0 : idle + 1;
        best = fmin(best, error);
        if (error <= DBL_EPSILON * s->size) break;
        if (idle > IDLE) { // less compliance goes farther per pass, where the basis bears it
            if (error <= neat * s->size || path->eps < least_compliance) break;
            path->eps *= 0.1;
            idle = 0;
        }

        memcpy(s->step, path->centre, (size_t)s->n * sizeof *s->step);
        memcpy(path->centre, path->z, (size_t)s->n * sizeof *path->z);
        double miss = ss_normal_path_solve(path);
        if (!isfinite(miss)) return SS_PATH_LOST;
        if (miss <= missed * (1.0 + ss_largest(s->n, path->centre))) continue;
        ss_normal_path_mend(path, mending, attempt);
        ss_path_end end = ss_normal_path_follow(path, max_pivots);
        if (end != SS_PATH_SOLVED) return end;
    }
    return SS_PATH_SOLVED;
}

/* The first where the crash ended, the others from rays. */
static ss_status try_paths(search *s, const path_options *set)
{
    enum { RAYS = 5, ENOUGH = 4, SHORT_WAY = 50 };
    static const char *const end_names[] = {"solved", "another ray", "lost", "stopped"};
    const double compliance[RAYS + 1] = {set->compliance, 0.0, 0.0, 1e-10, 1e-8, 1e-6};
    ss_normal_path *path = &s->path;
    size_t bytes = (size_t)s->n * sizeof *s->z;
    int rays = 0;
    bool was_lost = false;
    for (int k = s->best.error < close_by ? 0 : 1; k <= RAYS && !is_exact(s) && !ss_run_late(s->run); k++) {
        path->eps = compliance[k];
        path->slack = k < 2 ? coarse : fine;
        memcpy(path->centre, s->best.x, bytes);
        memcpy(s->step, s->best.x, bytes);
        bool starts;
        if (k == 0) {
            ss_mcp_apply(&s->mcp, s->best.x, s->w);
            starts = ss_normal_path_from_point(path, s->best.x, s->w, push, k);
        } else {
            memset(path->centre, 0, bytes);
            starts = ss_normal_path_from_ray(path, k);
        }

        // To its end, and on to the solution without compliance.
        int64_t max_pivots = k == 0 ? SHORT_WAY + s->n / 4 : (int64_t)set->pivot_factor * s->n;
        ss_path_end end = starts ? ss_normal_path_follow(path, max_pivots) : SS_PATH_LOST;
        path->slack = fine;
        if (end == SS_PATH_SOLVED) end = polish(s, max_pivots, k);
        ss_run_note(s->run, "path from %s: %s after %lld pivots, error %.2g", k == 0 ? "a point" : "a ray",
                    end_names[end], (long long)path->pivots, s->best.error);
        s->stopped = s->stopped || end == SS_PATH_STOPPED;
        if (end == SS_PATH_STOPPED) return ss_run_status(s->run);
        if (is_solved(s) && (k >= ENOUGH || s->best.error <= neat * s->size)) break;
        rays += end == SS_PATH_RAY;
        was_lost = was_lost || (k > 0 && end == SS_PATH_LOST);

        // Impulses that grow with every pass, or that only compliance carries, may prove that none solve it.
        if (end != SS_PATH_SOLVED || !(s->best.error > nearly)) continue;
        for (int i = 0; i < s->n; i++) s->trial[i] = path->z[i] - s->step[i];
        if (ss_mcp_proves_none(&s->mcp, s->trial, s->trial_w)) return SS_RAY;
        memcpy(s->trial, path->z, bytes);
        if (ss_mcp_proves_none(&s->mcp, s->trial, s->trial_w)) return SS_RAY;
    }
    if (is_solved(s)) return SS_CONVERGED;
    // rounding ends on rays as well
    return s->best.error > nearly && rays > 0 && !was_lost ? SS_RAY : SS_STALLED;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const path_options *set = options;
    search s = {.run = run, .x = x, .best.error = INFINITY, .size = 1.0};
    double expected = ss_run_scaling_cost(problem);
    if (ss_run_lacks(run, expected)) return ss_run_status(run);
    double began = ss_run_deadline(run) < INFINITY ? ss_clock_seconds() : 0.0;
    if (!ss_mcp_create(problem, run->arena, &s.mcp)) return SS_FAILED;
    double took = began > 0.0 ? ss_clock_seconds() - began : 0.0;
    size_t n = (size_t)(s.n = s.mcp.size);
    s.inside = ss_arena_take(run->arena, n, sizeof *s.inside, "inside");
    ss_status status = SS_FAILED;
    if (s.inside && !ss_run_late(run) &&
        ss_arena_take_vectors(run->arena, n, "vectors",
                              (double **[]){&s.z, &s.w, &s.trial, &s.trial_w, &s.step, &s.best.x, NULL}) &&
        ss_normal_path_create(&s.mcp, run, x, &s.path) && !ss_run_late(run) &&
        ss_active_set_factor_create(&s.mcp.A, s.mcp.symmetric, 0.0, run->arena, &s.face)) {
        ss_active_set_learn(&s.face, took, expected);
        ss_mcp_start(&s.mcp, x, s.trial, s.z);
        s.path.eps = set->compliance;
        bool goes_on = crash(&s, set->crash);
        if (goes_on) ss_run_note(run, "crash: error %.2g", s.best.error);
        status = !goes_on ? ss_run_status(run) : is_exact(&s) ? SS_CONVERGED : try_paths(&s, set);

        // The best of all, unless the run has ended at another one.
        if (goes_on && !(s.stopped && status == SS_CONVERGED)) {
            ss_mcp_restore(&s.mcp, s.best.x, x);
            if (status == SS_CONVERGED && !ss_run_iteration(run, x, NULL)) status = ss_run_status(run);
        }
    }
    ss_active_set_factor_destroy(&s.face);
    ss_normal_path_destroy(&s.path);
    return status;
}

const ss_solver ss_solver_path = {
    .abi = SS_ABI,
    .name = "path",
    .summary = "pivots along a piecewise linear path of the normal map, from a start by Newton steps",
    .reference = "Ralph 1994; Dirkse, Ferris 1995",
    .weakness =
        "from a poor start the number of pivots grows with the number of contacts; friction must be a "
        "polygon or a box",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .traits = SS_EXACT | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(path_options),
    .solve = solve,
    .refusal = ss_mcp_refusal,
};
