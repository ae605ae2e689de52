/* Gauss-Seidel for speed: contact after contact solved with the newest impulses of all others, four at a
 * time, matrix-free. The method is that of nsgs (there is the derivation); what differs is how the work is
 * laid out (sweep/batches.h) and that it may be accelerated by conjugate directions (linalg/conjugate.h).
 * Sweeps converge linearly, slowly on tall stacks and large mass ratios; resting stacks are what the
 * acceleration is for. Where redundant contacts disagree by a little, sweeps shift the same impulses again
 * and again until one of the contacts slides; that way is gone at once (sweep/batched.c).
 *
 * References: Jourdan, Alart, Jean (1998); Silcowitz-Hansen, Niebe, Erleben, A nonsmooth nonlinear conjugate
 * gradient method for interactive contact force problems (2010).
 */
#include "solver/sweep/batches.h"

#include "base/option_rows.h"

typedef struct batched_nncg_options {
    int sweep, kernel, precision, contact;
    double omega;
    bool accelerate;
} batched_nncg_options;

enum { FASTEST_KERNEL, PORTABLE };
enum { DOUBLE, SINGLE };

static const ss_option options_table[] = {
    SS_ROW_BOOL(batched_nncg_options, accelerate, "true", "nonlinear conjugate gradients around the sweeps"),
    SS_ROW_CHOICE(batched_nncg_options, sweep, "forward", "forward|alternate|symmetric",
                  "order of the contacts; symmetric visits each twice per iteration"),
    SS_ROW_CHOICE(
        batched_nncg_options, kernel, "auto", "auto|portable",
        "inner loops: the fastest that the processor supports (AVX2), or portable ones; the results "
        "are bit for bit the same"),
    SS_ROW_CHOICE(
        batched_nncg_options, precision, "double", "double|single",
        "single: sweeps in single precision, eight contacts at a time, continued in double precision "
        "once that stalls"),
    SS_ROW_CHOICE(
        batched_nncg_options, contact, "exact", "exact|projected",
        "a visit solves the contact, or takes a step per part and projects it, as pgs does: that costs "
        "less, but takes more sweeps where normal and tangents are coupled; not in single precision"),
    SS_ROW_REAL(batched_nncg_options, omega, "1", 0.01, 1.99,
                "relaxation factor of projected contacts, after three sweeps"),
    {0},
};

/* As far as single precision goes; stalled: the rest is for doubles. */
static ss_status solve_single(const ss_problem *problem, const ss_batched_method *method,
                              const ss_batched_loop *how, ss_run *run, double *x)
{
    enum { STUCK = 300 };
    ss_batched_method rough = *method;
    ss_batched_loop until = *how;
    ss_batched batched;
    rough.single = true;
    until.patience = STUCK;
    if (!ss_batched_create(problem, &rough, x, run->team, run->arena, &batched)) return SS_FAILED;
    return ss_single_suits(&batched) ? ss_batched_iterate(&batched, &until, run, x) : SS_STALLED;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    enum { STUCK = 5000 };
    const batched_nncg_options *set = options;
    ss_batched_method method = {.kernel = set->kernel == PORTABLE ? &ss_batch_kernel_portable : NULL,
                                .contact = (ss_batch_method)set->contact,
                                .relaxation = 1.0};
    ss_batched_loop how = {.order = (ss_batched_order)set->sweep,
                           .accelerate = set->accelerate,
                           .patience = STUCK,
                           .relaxation = set->contact == SS_BATCH_PROJECTED ? set->omega : 0.0};
    ss_batched batched;
    if (set->precision == SINGLE && method.contact == SS_BATCH_EXACT) {
        ss_status status = solve_single(problem, &method, &how, run, x);
        if (status != SS_STALLED && status != SS_FAILED) return status;
    }
    if (!ss_batched_create(problem, &method, x, run->team, run->arena, &batched)) return SS_FAILED;
    return ss_batched_iterate(&batched, &how, run, x);
}

const ss_solver ss_solver_batched_nncg = {
    .abi = SS_ABI,
    .name = "batched-nncg",
    .summary = "fast matrix-free Gauss-Seidel on batches of four contacts, accelerated",
    .reference = "Jourdan, Alart, Jean 1998; Silcowitz-Hansen, Niebe, Erleben 2010",
    .weakness = "slow on tall stacks, long chains and large mass ratios; needs the bodies",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_MANY_BODIES | SS_NEEDS_DIAGONAL | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = options_table,
    .options_size = sizeof(batched_nncg_options),
    .solve = solve,
    .refusal = ss_batched_refusal,
};
