/* Gauss-Seidel for speed: contact after contact solved with the newest impulses of all others, four at a time,
 * matrix-free. The method is that of nsgs (there is the derivation); what differs is how the work is laid out
 * (coloured.h) and that it may be accelerated by conjugate directions (conjugate.h). Sweeps converge linearly, slowly on
 * tall stacks and large mass ratios; resting stacks are what the acceleration is for.
 *
 * References: Jourdan, Alart, Jean (1998); Silcowitz-Hansen, Niebe, Erleben, A nonsmooth nonlinear conjugate gradient
 * method for interactive contact force problems (2010).
 */
#include "solver/coloured.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "problem/laws.h"
#include "solver/conjugate.h"
#include "solver/sweep.h"

typedef struct coloured_options {
    int sweep, kernel;
    bool accelerate;
} coloured_options;

enum { FORWARD, ALTERNATE, SYMMETRIC };
enum { AUTO_KERNEL, PORTABLE, AVX2 };

static const ss_option options_table[] = {
    {.name = "accelerate",
     .type = SS_OPTION_BOOL,
     .offset = offsetof(coloured_options, accelerate),
     .default_value = "true",
     .help = "nonlinear conjugate gradients around the sweeps"},
    {.name = "sweep",
     .type = SS_OPTION_CHOICE,
     .offset = offsetof(coloured_options, sweep),
     .default_value = "forward",
     .choices = "forward|alternate|symmetric",
     .help = "order of the contacts; symmetric visits each twice per iteration"},
    {.name = "kernel",
     .type = SS_OPTION_CHOICE,
     .offset = offsetof(coloured_options, kernel),
     .default_value = "auto",
     .choices = "auto|portable|avx2",
     .help =
         "inner loops: the fastest this machine has, or portable ones; the results are the same bit for bit"},
    {0},
};

static const ss_batch_kernel *choose_kernel(int wish)
{
#ifdef __x86_64__
    if (wish != PORTABLE && __builtin_cpu_supports("avx2")) return &ss_batch_kernel_avx2;
#else
    (void)wish;
#endif
    return &ss_batch_kernel_portable;
}

/* ---- acceleration ----------------------------------------------------------------------------------- */

/* What the sweeps work on: impulses of batches and of cells, and the velocities y they make. */
enum { BATCHES, CELLS, VELOCITIES };

/* Does the sweep go on where the direction points? Judged in velocities, where all have one unit. */
static double overlap(const ss_conjugate *cg)
{
    const ss_batch_kernel *kernel = cg->context;
    const ss_conjugate_part *y = &cg->part[VELOCITIES];
    return kernel->overlap(y->size, y->at, y->last, y->direction);
}

static bool create_acceleration(ss_coloured *coloured, double *x, ss_arena *arena, ss_conjugate *cg)
{
    const ss_problem *problem = coloured->problem;
    size_t batched = 3 * SS_LANES * (size_t)coloured->batches.count;
    size_t twists = sizeof(ss_scaled_twist) / sizeof(double) * (size_t)problem->bodies->bodies;
    *cg = (ss_conjugate){.part = {{.size = batched, .at = (double *)coloured->batches.r},
                                  {.size = coloured->cell_count ? (size_t)problem->size : 0, .at = x},
                                  {.size = twists, .at = (double *)coloured->y}},
                         .overlap = overlap,
                         .context = coloured->kernel,
                         .extrapolate = coloured->kernel->extrapolate};
    return ss_conjugate_start(cg, arena);
}

/* ---- the loop --------------------------------------------------------------------------------------- */

static double sweep_once(ss_coloured *coloured, int order, int iteration, double *x)
{
    if (order == SYMMETRIC) {
        double forward = ss_coloured_sweep(coloured, false, x);
        return forward + ss_coloured_sweep(coloured, true, x);
    }
    return ss_coloured_sweep(coloured, order == ALTERNATE && iteration % 2, x);
}

/* x and, unless NULL, w as they are now; false when they are not finite. */
static bool look(ss_coloured *coloured, double change, double *x, double *w)
{
    if (!isfinite(change)) return false;
    ss_coloured_store(coloured, x);
    return w ? ss_coloured_velocities(coloured, x, w) : ss_coloured_is_finite(coloured);
}

static ss_status iterate(ss_coloured *coloured, const coloured_options *set, ss_conjugate *cg, ss_run *run,
                         double *x, double *w, double *last_good)
{
    enum { STUCK = 5000, REFRESH = 64 };
    size_t bytes = (size_t)coloured->problem->size * sizeof *x;
    ss_watch watch = {0};
    bool refreshed = true; // y has no rounding in it but that of the last sweep
    memcpy(last_good, x, bytes);
    for (int iteration = 0;; iteration++) {
        double change = sweep_once(coloured, set->sweep, iteration, x);
        bool due = ss_run_due(run, change);
        // a good start needs one sweep: then the driver's own product is the only one
        double *velocities = iteration > 0 ? w : NULL;
        if ((due || !isfinite(change)) && !look(coloured, change, x, velocities)) {
            memcpy(x, last_good, bytes);
            return SS_FAILED;
        }
        if (due) memcpy(last_good, x, bytes);
        bool go_on = ss_run_iteration(run, due ? x : NULL, due ? velocities : NULL);
        bool still = change == 0.0 && refreshed, stuck = ss_watch_stalled(&watch, change, STUCK);
        if (!go_on || still || stuck) {
            ss_coloured_store(coloured, x);
            return !go_on ? ss_run_status(run) : still ? SS_CONVERGED : SS_STALLED;
        }
        if (set->accelerate) ss_conjugate_next(cg, change);
        refreshed = iteration % REFRESH == REFRESH - 1 || change == 0.0;
        if (refreshed) ss_coloured_refresh(coloured, x);
    }
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const coloured_options *set = options;
    ss_coloured coloured;
    ss_conjugate cg = {0};
    double *w = ss_arena_take_unset(run->arena, (size_t)problem->size, sizeof *w, "w");
    double *last_good =
        ss_arena_take_unset(run->arena, (size_t)problem->size, sizeof *last_good, "last good x");
    if (!w || !last_good) return SS_FAILED;
    if (!ss_coloured_create(problem, choose_kernel(set->kernel), x, run->team, run->arena, &coloured))
        return SS_FAILED;
    if (set->accelerate && !create_acceleration(&coloured, x, run->arena, &cg)) return SS_FAILED;
    return iterate(&coloured, set, &cg, run, x, w, last_good);
}

static const char *refusal(const ss_problem *problem)
{
    const ss_bodies_form *form = problem->bodies;
    if (!form) return "needs the bodies, not only a matrix";
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first + 1; ss_law_is_cone(block->law) && i < block->first + block->size; i++) {
            if (form->pair[i][0] != form->pair[i - 1][0] || form->pair[i][1] != form->pair[i - 1][1])
                return "needs the rows of a contact to act on the same two bodies";
        }
    }
    return NULL;
}

const ss_solver ss_solver_coloured = {
    .abi = SS_ABI,
    .name = "coloured",
    .summary = "fast matrix-free Gauss-Seidel on batches of four contacts, accelerated",
    .reference = "Jourdan, Alart, Jean 1998; Silcowitz-Hansen, Niebe, Erleben 2010",
    .weakness = "slow on tall stacks, long chains and large mass ratios; needs the bodies",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_NEEDS_DIAGONAL | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(coloured_options),
    .solve = solve,
    .refusal = refusal,
};
