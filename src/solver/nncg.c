/* Nonsmooth nonlinear conjugate gradients: block Gauss-Seidel (nsgs.h) is the gradient, its change the
 * residual, and conjugate directions carry it further (conjugate.h). Costs a sweep and three sums of vectors
 * per iteration, and needs a fraction of the iterations on packings of spheres and on columns; where contacts
 * start and stop sliding directions are thrown away so often that little is left but the sweeps.
 *
 * The sweeps are those of nsgs, for any matrix; `coloured` has the same method on batches, for problems with
 * bodies. Iterates are shown after the sweep, when they obey the laws, not after the extrapolation.
 *
 * Reference: Silcowitz-Hansen, Niebe, Erleben, A nonsmooth nonlinear conjugate gradient method for
 * interactive contact force problems (2010).
 */
#include <math.h>
#include <string.h>

#include "base/option_rows.h"
#include "solver/sweep/coloured.h"
#include "solver/sweep/conjugate.h"
#include "solver/sweep/nsgs.h"

typedef struct nncg_options {
    int sweep;
    bool accelerate;
    double local_tolerance;
} nncg_options;

static const ss_option options_table[] = {
    SS_ROW_BOOL(nncg_options, accelerate, "true", "use conjugate directions; without them it is nsgs"),
    SS_ROW_CHOICE(nncg_options, sweep, "forward", "forward|backward|symmetric",
                  "order in which contacts and rows are visited; symmetric visits each twice per iteration"),
    SS_ROW_REAL(nncg_options, local_tolerance, "1e-14", 1e-16, 0.1,
                "relative accuracy of the slip of one contact"),
    {0},
};

static const ss_sweep_order orders[] = {SS_SWEEP_FORWARD, SS_SWEEP_BACKWARD, SS_SWEEP_SYMMETRIC};

/* Impulses, by the diagonal of A: energies all of them. */
static double overlap(const ss_conjugate *cg)
{
    const ss_conjugate_part *x = &cg->part[0];
    const double *diagonal = cg->context;
    double sum = 0.0;
    for (size_t i = 0; i < x->size; i++) sum += diagonal[i] * (x->at[i] - x->last[i]) * x->direction[i];
    return sum;
}

static bool start_acceleration(ss_sweep *sweep, double *x, ss_arena *arena, ss_conjugate *cg)
{
    const ss_problem *problem = sweep->problem;
    *cg = (ss_conjugate){.part = {{.size = (size_t)problem->size, .at = x}},
                         .overlap = overlap,
                         .context = problem->diagonal,
                         .extrapolate = ss_batch_kernel_portable.extrapolate};
    if (sweep->velocity) {
        size_t twists = 6 * (size_t)problem->bodies->bodies;
        cg->part[1] = (ss_conjugate_part){.size = twists, .at = (double *)sweep->velocity};
    }
    ss_sweep_refresh(sweep, x);
    return ss_conjugate_start(cg, arena);
}

/* Where there is no solution impulses grow without bound, conjugate directions in no time, until rounding
 * hides all errors. */
static bool is_lost(const ss_problem *problem, const double *x)
{
    static const double enormous = 1e9; // times what the loads ask for
    double size = 0.0, load = 0.0;
    for (int i = 0; i < problem->size; i++) {
        size += problem->diagonal[i] * x[i] * x[i];
        load += problem->b[i] * problem->b[i] / problem->diagonal[i];
    }
    return size > enormous * enormous * load;
}

static ss_status iterate(ss_sweep *sweep, ss_sweep_order order, ss_conjugate *cg, ss_run *run, double *x)
{
    enum { STUCK = 5000, LOOK = 16 };
    size_t bytes = (size_t)sweep->problem->size * sizeof *x;
    ss_watch watch = {0};
    for (int iteration = 1;; iteration++) {
        double change = ss_sweep_pass(sweep, order, x);
        bool lost = iteration % LOOK == 0 && is_lost(sweep->problem, x);
        if (lost && ss_run_ray(run, x)) return SS_RAY;
        if (!isfinite(change) || lost) {
            memcpy(x, sweep->last_good, bytes);
            return SS_FAILED;
        }
        memcpy(sweep->last_good, x, bytes);
        bool due = ss_run_due(run, 0.5 * change);
        if (!ss_run_iteration(run, due ? x : NULL, NULL)) return ss_run_status(run);
        if (change == 0.0) return SS_CONVERGED;
        if (ss_watch_stalled(&watch, change, STUCK)) return SS_STALLED;
        if (cg) ss_conjugate_next(cg, change);
    }
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const nncg_options *set = options;
    ss_nsgs nsgs;
    ss_conjugate cg;
    ss_status status = SS_FAILED;
    if (ss_nsgs_create(problem, set->local_tolerance, run->seed, run->arena, &nsgs)) {
        memcpy(nsgs.sweep->last_good, x, (size_t)problem->size * sizeof *x);
        if (!set->accelerate)
            status = iterate(nsgs.sweep, orders[set->sweep], NULL, run, x);
        else if (start_acceleration(nsgs.sweep, x, run->arena, &cg))
            status = iterate(nsgs.sweep, orders[set->sweep], &cg, run, x);
    }
    ss_nsgs_free(&nsgs);
    return status;
}

const ss_solver ss_solver_nncg = {
    .abi = SS_ABI,
    .name = "nncg",
    .summary = "block Gauss-Seidel accelerated by nonlinear conjugate directions",
    .reference = "Silcowitz-Hansen, Niebe, Erleben 2010",
    .weakness = "no acceleration if contacts slide; slow on tall stacks; no proof of convergence",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_MANY_BODIES | SS_NEEDS_DIAGONAL | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(nncg_options),
    .solve = solve,
};
