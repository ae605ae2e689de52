/* Block principal pivoting: every unknown is at its lower bound, at its upper bound, or inside with w = 0.
 * Solve for those inside, move all that are on the wrong side at once, and go on until none is.
 *
 *     (A + eps)_FF x_F = eps c_F - b_F - A_FN x_N,   w = A x + b + eps (x - c)
 *     inside:  x < l -> lower,  x > u -> upper;   lower:  w < 0 -> inside;   upper:  w > 0 -> inside
 *
 * Redundant contacts make A singular; the compliance eps removes that, and proximal passes (c = the last x)
 * remove its effect. When ten exchanges in a row do not lower the number of wrong ones, or a choice of sides
 * comes back, eps is raised, and lowered again pass by pass. When that does not help either, only the last
 * wrong one is moved (Murty's rule), which is finite for P-matrices. Bounds that follow a partner are held
 * within a pass and renewed between passes. Usually 5 to 15 factorisations; each iteration is a basic
 * solution of its own, so that a run cut short may keep the best one.
 *
 * Fails by crawling when Murty's rule has to do the work, when coupled bounds do not settle (large friction),
 * and when the matrix is neither positive semidefinite nor a P-matrix; often it succeeds all the same.
 *
 * References: Judice, Pires, Comput. Oper. Res. 21 (1994); Enzenhoefer, Lefebvre, Andrews, 2019.
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "base/option_rows.h"
#include "solver/core/watch.h"
#include "solver/pivot/coupled_bounds.h"
#include "solver/pivot/pivoting.h"

enum { PATIENCE = SS_PIVOTING_PATIENCE };

/* Compliance next to the diagonal, which is 1. */
static const double stiff = 1e-3;             // of the first pass with coupled bounds
static const double softening = 0.3;          // from pass to pass
static const double least_compliance = 1e-11; // what double precision can do with

/* All next to 1 + max |x|: loads and diagonal are of size 1. */
static const double settled = 1e-15; // error of the laws at the end of the last pass
static const double settled_coupled = 1e-13;
static const double unfelt = 1e-14; // load that compliance adds

typedef struct block_pivot_options {
    double compliance;
    int passes;
} block_pivot_options;

static const ss_option options_table[] = {
    SS_ROW_REAL(block_pivot_options, compliance, "1e-8", 0, 1,
                "added to the diagonal, relative to it, while pivoting; proximal passes remove its effect"),
    SS_ROW_INT(block_pivot_options, passes, "100", 1, 1000000,
               "largest number of updates of the proximal centre and of coupled bounds"),
    {0},
};

typedef struct pivoting {
    ss_pivoting base;
    ss_best best; // x at the end of the best pass
    double milestone_error;
    int passes, milestone_pass;
    double compliance;          // the least, that of the options
    ss_coupled_bounds *coupled; // NULL without coupled bounds
} pivoting;

static bool is_solved(const pivoting *p)
{
    return ss_scaled_is_solved(p->best.error, p->base.size);
}

typedef enum verdict { AGAIN, DONE, STUCK } verdict;

/* No unknown is on the wrong side any more: how good is x, and what is the next pass? */
static verdict end_pass(pivoting *p, int max_passes)
{
    ss_pivoting *base = &p->base;
    int n = base->n;
    double *x = base->step, shift = base->face.shift, felt = 0.0; // x: clamped

    // The error under the laws themselves: no compliance, bounds where x puts them.
    for (int i = 0; i < n; i++) x[i] = fmin(fmax(base->x[i], base->lower[i]), base->upper[i]);
    ss_scaled_bounds(&base->s, x, base->lower, base->upper);
    ss_scaled_apply(&base->s, x, base->right);
    double error = ss_scaled_error(n, base->lower, base->upper, x, base->right);
    ss_best_keep(&p->best, n, x, error);
    if (error <= (p->coupled ? settled_coupled : settled) * base->size) return DONE;
    p->passes++;

    // Progress is a tenth off within a few passes, unless it is slow for a known reason, a stiff proximal
    // term.
    if (error < 0.9 * p->milestone_error) p->milestone_error = error, p->milestone_pass = p->passes;
    if (shift > p->compliance) p->milestone_pass = p->passes;
    if (p->passes > p->milestone_pass + (p->coupled ? 3 * PATIENCE : 3)) {
        // Equations that contradict each other by a little, and unilateral contacts that could give way:
        // forces grow with each pass by what contradicts, divided by eps, until a contact opens. So a smaller
        // eps.
        bool is_rough = p->best.error > 1e3 * settled * base->size;
        if (p->coupled || !is_rough || p->compliance < least_compliance) return is_solved(p) ? DONE : STUCK;
        p->compliance *= 0.01;
        p->milestone_pass = p->passes;
    }
    if (p->passes >= max_passes) return is_solved(p) ? DONE : STUCK;

    // A stiff proximal term is softened pass by pass.
    for (int i = 0; i < n; i++) felt = fmax(felt, fabs(x[i] - base->centre[i]));
    felt *= shift; // the load that the compliance adds
    if (shift > p->compliance) {
        base->face.shift = fmax(p->compliance, softening * shift);
        base->factor_is_old = base->sides_are_new = true;
    }

    // Where A is singular, each move of the centre adds what rounding left over, divided by eps. Coupled
    // bounds would follow that: with them the centre moves only when the compliance is felt.
    if (!p->coupled || felt > unfelt * base->size) memcpy(base->centre, x, (size_t)n * sizeof *base->centre);
    if (p->coupled) {
        ss_pass pass = {base->side, shift, base->last_centre, base->face.shift, base->centre, error};
        ss_coupled_bounds_next(p->coupled, &pass, x);
        ss_scaled_bounds(&base->s, x, base->lower, base->upper);
    }
    ss_pivoting_begin(base);
    return AGAIN;
}

static ss_status iterate(pivoting *p, int max_passes, ss_run *run, double *x)
{
    ss_pivoting *base = &p->base;

    // The start: the sides are those of x put into its bounds.
    ss_scaled_start(&base->s, x, base->centre);
    ss_scaled_bounds(&base->s, base->centre, base->lower, base->upper);
    for (int i = 0; i < base->n; i++)
        base->centre[i] = fmin(fmax(base->centre[i], base->lower[i]), base->upper[i]);
    ss_pivoting_start(base);
    if (p->coupled) { // the first bounds are wrong anyway
        base->face.shift = fmax(stiff, p->compliance);
        ss_coupled_bounds_start(p->coupled, base->centre);
    }
    ss_pivoting_begin(base);

    for (;;) {
        // Solve for those inside.
        if (!ss_pivoting_solve(base)) { // compliance too low for this precision, or not a number
            bool any = p->best.error < INFINITY;
            if (any) ss_scaled_restore(&base->s, p->best.x, x);
            return !any ? SS_FAILED : is_solved(p) ? SS_CONVERGED : SS_STALLED;
        }
        if (ss_run_measures(run)) ss_scaled_restore(&base->s, base->x, x);
        if (!ss_run_iteration(run, x, NULL)) {
            ss_scaled_restore(&base->s, base->x, x);
            return ss_run_status(run);
        }

        // Move all that are on the wrong side; when there are none, a pass is over.
        int last = -1, wrong = ss_pivoting_wrong(base, &last);
        if (wrong > 0 && ss_pivoting_exchange(base, wrong, last)) continue;
        verdict end = wrong > 0 ? STUCK : end_pass(p, max_passes);
        if (end == AGAIN) continue;
        ss_scaled_restore(&base->s, p->best.error < INFINITY ? p->best.x : base->x, x);
        return end == DONE ? SS_CONVERGED : SS_STALLED;
    }
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const block_pivot_options *set = options;
    pivoting p = {.compliance = set->compliance, .best.error = INFINITY, .milestone_error = INFINITY};
    ss_status status = SS_FAILED;
    bool good = ss_pivoting_create(problem, set->compliance, run, &p.base);
    if (good) {
        p.best.x = ss_arena_take(run->arena, (size_t)p.base.n, sizeof *p.best.x, "best x");
        if (p.base.s.coupled) p.coupled = ss_coupled_bounds_create(&p.base.s, run);
        good = p.best.x && (p.coupled || !p.base.s.coupled);
    }
    if (good) status = iterate(&p, set->passes, run, x);
    ss_pivoting_free(&p.base);
    return status;
}

const ss_solver ss_solver_block_pivot = {
    .abi = SS_ABI,
    .name = "block-pivot",
    .summary = "block principal pivoting with bounds, with Murty's rule if it stalls",
    .reference = "Judice, Pires 1994; Enzenhoefer, Lefebvre, Andrews 2019",
    .weakness = "no guarantee beyond P-matrices; coupled bounds may not converge for large friction",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .traits = SS_EXACT | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(block_pivot_options),
    .solve = solve,
};
