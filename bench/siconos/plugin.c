/* The friction solvers of Siconos Numerics as one solver of ours:
 *
 *     stickslip solve problem.hdf5 --plugin build/release/siconos.so --solver siconos --set method=NSGS-AC
 *
 * Siconos stops by its own measure (option `tolerance`), not by the stop rule of the run, and its time here
 * includes turning the matrix into its own; race_solvers is there to compare times. Some of its methods end
 * the process they run in: campaigns (stickslip bench) put up with that.
 */
#include "variants.h"

#include <stickslip/plugin.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct siconos_options {
    int method; // a variant
    double tolerance;
} siconos_options;

/* "NSGS|NSGS-light|...", made when the plug-in is loaded, so that a wrong name is refused before
 * anything is solved. */
static char methods[4096];

__attribute__((constructor)) static void name_methods(void)
{
    size_t used = 0;
    for (int k = 0; k < ss_siconos_count() && used < sizeof methods; k++)
        used += (size_t)snprintf(methods + used, sizeof methods - used, "%s%s", k > 0 ? "|" : "",
                                 ss_siconos_name(k));
}

static const ss_option table[] = {
    {.name = "method",
     .type = SS_OPTION_CHOICE,
     .offset = offsetof(siconos_options, method),
     .default_value = "NSGS",
     .choices = methods,
     .help = "which method of Siconos"},
    {.name = "tolerance",
     .type = SS_OPTION_REAL,
     .offset = offsetof(siconos_options, tolerance),
     .default_value = "1e-8",
     .min = 1e-16,
     .max = 1.0,
     .help = "relative error at which Siconos stops, by its own measure"},
    {.name = NULL},
};

static bool is_finite(const double *x, int size)
{
    for (int i = 0; i < size; i++) {
        if (!isfinite(x[i])) return false;
    }
    return true;
}

static ss_status solve_by(int variant, double tolerance, const ss_problem *problem, const ss_cone *global,
                          ss_run *run, double *x)
{
    ss_siconos_run *theirs = ss_siconos_prepare(variant, SS_SICONOS_USUAL, problem, global);
    if (!theirs || !ss_siconos_reset(theirs, tolerance, run->max_iterations)) {
        ss_siconos_release(theirs);
        return SS_FAILED;
    }
    ss_siconos_solve(theirs);
    ss_run_note(run, "%s: %d iterations of Siconos", ss_siconos_name(variant), ss_siconos_iterations(theirs));
    bool good = is_finite(ss_siconos_answer(theirs), problem->size);
    if (good) memcpy(x, ss_siconos_answer(theirs), (size_t)problem->size * sizeof *x);
    ss_siconos_release(theirs);
    if (!good) return SS_FAILED;
    return ss_run_iteration(run, x, NULL) ? SS_CONVERGED : ss_run_status(run);
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const siconos_options *own = options;
    ss_cone *global = ss_siconos_global(problem, NULL);
    const char *refusal = ss_siconos_refusal(own->method, problem, global);
    if (refusal) ss_run_note(run, "%s: %s", ss_siconos_name(own->method), refusal);
    ss_status status =
        refusal ? SS_NOT_APPLICABLE : solve_by(own->method, own->tolerance, problem, global, run, x);
    ss_cone_destroy(global);
    return status;
}

static const ss_solver siconos = {
    .abi = SS_ABI,
    .name = "siconos",
    .summary = "the friction solvers of Siconos Numerics, one of them by name",
    .reference = "Acary, Bremond, Huber, On solving contact problems with Coulomb friction, 2018",
    .weakness = "stops by its own measure, and some of its methods end the process",
    .laws = SS_LAW_CONE,
    .options = table,
    .options_size = sizeof(siconos_options),
    .solve = solve,
};

static const ss_solver *const solvers[] = {&siconos, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .solvers = solvers};
