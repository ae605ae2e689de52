/* Proximal point method: instead of the problem itself a series of better ones is solved,
 *
 *     u = W r + q + alpha (r - r_k),   the laws as they are,   r_k+1 = its solution
 *
 * W + alpha is regular however redundant the contacts are, and closer to a problem of separate contacts. At a
 * fixed point the term is gone: nothing is regularised away. Each of them is solved only as far as it is
 * worth: until what is left is about alpha |r - r_k|, by which the next one differs anyway.
 *
 *   inner=newton   semismooth Newton on the natural map (newton/newton.h). alpha falls as long as one or
 *                  two steps will do, grows where ten do not; what such steps have brought is kept when it is
 *                  not worse. Where that leads nowhere, the same with the function of Fischer and Burmeister,
 *                  from the best point
 *   inner=sweeps   Gauss-Seidel with exact contacts. Nothing is factorised
 *
 * The first reaches 1e-8 wherever there is a solution, on all problems that were tried. To that it takes half
 * the factorisations of minmap-newton on log-pile and box-pyramid, a sixth fewer on rock-pile and
 * masonry-arch, a third more on what few steps solve anyway. interior-point needs fewer on piles, a fifth of
 * them on rock-pile, but takes no bounds that follow others. For Coulomb's law, which is not
 * monotone, there is no proof that the series converges.
 *
 * References: Rockafellar, Monotone operators and the proximal point algorithm (1976); Acary, Bremond, Huber,
 * On solving contact problems with Coulomb friction: formulations and numerical comparisons (2018).
 */
#include "base/option_rows.h"
#include "linalg/vector.h"
#include "solver/newton/newton.h"
#include "solver/core/progress.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

typedef struct proximal_point_options {
    int inner; // 0: Newton steps, 1: sweeps
    int sweeps;
    double regularization;
} proximal_point_options;

static const ss_option options_table[] = {
    SS_ROW_CHOICE(proximal_point_options, inner, "newton", "newton|sweeps",
                  "inner solver of the proximal problems: Newton steps, or Gauss-Seidel with exact contacts"),
    SS_ROW_INT(proximal_point_options, sweeps, "30", 0, 1e6,
               "projected Gauss-Seidel sweeps before the first Newton step; at most 4 for up to 48 unknowns"),
    SS_ROW_REAL(proximal_point_options, regularization, "0.01", 1e-8, 10,
                "proximal term of the first problem, at most, relative to the diagonal of the matrix"),
    {0},
};

static ss_status solve_by_newton(const ss_problem *problem, const proximal_point_options *set, ss_run *run,
                                 double *x)
{
    ss_newton newton;
    ss_proximal_plan plan = {.alpha = set->regularization, .largest = 1e3, .patience = 500, .attempts = 20};
    size_t n = (size_t)problem->size;
    double *r = ss_arena_take(run->arena, n, sizeof *r, "r"),
           *u = ss_arena_take(run->arena, n, sizeof *u, "u");
    if (!ss_newton_begin(problem, run, SS_NATURAL_MAP, x, &newton) || !r || !u) {
        ss_newton_end(&newton);
        return SS_FAILED;
    }
    ss_space_enter(newton.space, x, r);
    ss_space_velocity(newton.space, r, u);
    ss_newton_sweeps(&newton, set->sweeps, r, u);
    // A good start needs little of the term: more would only slow the steps down.
    static const double least = 1e-8;
    plan.alpha = fmin(plan.alpha, fmax(newton.progress.best.error, least));
    if (!ss_newton_report(&newton, r) || ss_newton_exact(&newton) || ss_newton_proximal(&newton, &plan, r, u))
        return ss_newton_end(&newton);

    // The same with the other map, from the best point.
    const ss_best *best = &newton.progress.best;
    if (isfinite(best->error)) memcpy(r, best->x, n * sizeof *r);
    ss_space_velocity(newton.space, r, u);
    newton.map = SS_FISCHER_MAP;
    ss_newton_proximal(&newton, &plan, r, u);
    return ss_newton_end(&newton);
}

static ss_status solve_by_sweeps(const ss_problem *problem, const proximal_point_options *set, ss_run *run,
                                 double *x)
{
    enum { SWEEPS = 100, STUCK = 5000 }; // for one proximal problem; of the run
    static const double solved = 0.5, least = 1e-6, largest = 10.0;
    size_t n = (size_t)problem->size;
    ss_progress progress;
    ss_sweeper sweeper;
    ss_space *space = ss_space_create(problem, run->arena);
    double *r = ss_arena_take(run->arena, n, sizeof *r, "r"),
           *centre = ss_arena_take(run->arena, n, sizeof *centre, "centre");
    if (!space || !r || !centre || !ss_progress_start(space, run, x, &progress)) return SS_FAILED;
    ss_space_enter(space, x, r);
    ss_arena_mark mark = ss_arena_get_mark(run->arena);
    for (double alpha = set->regularization, made = 0.0;;) {
        // The contacts are made again when alpha has changed.
        if (alpha != made) {
            ss_arena_reset(run->arena, mark);
            if (!ss_sweeper_create(space, alpha, centre, true, run->arena, &sweeper)) return SS_FAILED;
            made = alpha;
        }

        // One proximal problem, until what a sweep moves is a part of how far it has come.
        int count = 0;
        memcpy(centre, r, n * sizeof *r);
        ss_sweeper_begin(&sweeper, r);
        for (bool is_solved = false; !is_solved && count < SWEEPS;) {
            double moved = sqrt(ss_sweeper_sweep(&sweeper, r));
            double drift = alpha * ss_distance(problem->size, r, centre);
            if (!ss_progress_report(&progress, r, moved + drift, STUCK)) return ss_progress_end(&progress);
            count++;
            is_solved = moved <= solved * drift;
        }

        // Less of the term where that was easy, more where it was not solved.
        double factor = count <= SWEEPS / 10 ? 0.3 : count < SWEEPS ? 1.0 : 3.0;
        alpha = fmin(fmax(factor * alpha, least), largest);
    }
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const proximal_point_options *set = options;
    return set->inner == 0 ? solve_by_newton(problem, set, run, x) : solve_by_sweeps(problem, set, run, x);
}

const ss_solver ss_solver_proximal_point = {
    .abi = SS_ABI,
    .name = "proximal-point",
    .summary = "proximal point method: a series of better conditioned problems, each solved by a few "
               "Newton steps or sweeps",
    .reference = "Rockafellar 1976; Acary, Bremond, Huber 2018",
    .weakness = "sliding piles need hundreds of factorisations; sweeps are slow on tall stacks",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = options_table,
    .options_size = sizeof(proximal_point_options),
    .solve = solve,
};
