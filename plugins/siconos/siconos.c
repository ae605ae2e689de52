/* The friction solvers of Siconos Numerics as one solver of ours:
 *
 *     stickslip solve problem.hdf5 --plugin build/release/siconos.so --solver siconos --set method=NSGS-AC
 *
 * Siconos stops by its own measure. It is given the value of the run's stop rule, or the option `tolerance`;
 * if its answer then misses the rule, it tries again with a tenth and with a hundredth of that, and only the
 * try that counts is timed, as if the right tolerance had been known. What turns our problem into theirs is
 * not timed either. Some of its methods end the process they run in: campaigns (stickslip bench) put up with
 * that.
 */
#include "variants.h"

#include <stickslip/plugin.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct siconos_options {
    int method; // a variant
    double tolerance;
    int storage, tries;
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
     .default_value = "0",
     .min = 0.0,
     .max = 1.0,
     .help = "relative error at which Siconos stops, by its own measure; 0 = the value of the stop rule, or "
             "1e-8"},
    {.name = "storage",
     .type = SS_OPTION_CHOICE,
     .offset = offsetof(siconos_options, storage),
     .default_value = "usual",
     .choices = "usual|dense|blocks|sparse", // ss_siconos_storage
     .help = "matrix of contact space; usual: blocks for sweeps, else dense up to 900 rows"},
    {.name = "tries",
     .type = SS_OPTION_INT,
     .offset = offsetof(siconos_options, tries),
     .default_value = "3",
     .min = 1.0,
     .max = 16.0,
     .help = "how often to try with a tenth of the tolerance if the answer misses the stop rule; only the "
             "last try is timed"},
    {.name = NULL},
};

static bool is_finite(const double *x, int size)
{
    for (int i = 0; i < size; i++) {
        if (!isfinite(x[i])) return false;
    }
    return true;
}

/* Does the answer miss the stop rule, if there is one? */
static bool misses(const ss_problem *problem, const ss_stop_rule *rule, const double *x)
{
    double values[SS_GAUGE_COUNT];
    if (rule->below <= 0.0 || !is_finite(x, problem->size)) return false;
    return ss_problem_measure(problem, x, values, NULL) && !(values[rule->gauge] < rule->below);
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const siconos_options *own = options;
    const char *name = ss_siconos_name(own->method);
    double untimed = ss_clock_seconds(); // since then
    ss_cone *global = ss_siconos_global(problem, NULL);
    const char *refusal = ss_siconos_refusal(own->method, problem, global);
    if (refusal) {
        ss_cone_destroy(global);
        return ss_run_fail(run, "%s: %s", name, refusal), SS_NOT_APPLICABLE;
    }
    ss_siconos_run *theirs =
        ss_siconos_prepare(own->method, (ss_siconos_storage)own->storage, problem, global);
    if (!theirs) {
        ss_cone_destroy(global);
        return ss_run_fail(run, "%s: out of memory for %d unknowns", name, problem->size);
    }

    ss_stop_rule rule = ss_run_stop(run);
    double tolerance = own->tolerance > 0.0 ? own->tolerance : rule.below > 0.0 ? rule.below : 1e-8;
    bool good = true;
    for (int tries = 1; good; tries++, tolerance *= 0.1) {
        good = ss_siconos_reset(theirs, tolerance, run->max_iterations);
        double began = ss_clock_seconds();
        ss_run_forgive(run, began - untimed);
        if (good) ss_siconos_solve(theirs);
        double ended = ss_clock_seconds();
        good = good && is_finite(ss_siconos_answer(theirs), problem->size);
        bool is_slow = run->time_limit > 0.0 && ended - began > run->time_limit;
        bool again = tries < own->tries && !is_slow && misses(problem, &rule, ss_siconos_answer(theirs));
        untimed = again ? began : ended;
        if (!again) break;
    }

    ss_run_note(run, "%s: %d iterations of Siconos with a tolerance of %g", name,
                ss_siconos_iterations(theirs), tolerance);
    if (good && problem->size) memcpy(x, ss_siconos_answer(theirs), (size_t)problem->size * sizeof *x);
    ss_siconos_release(theirs);
    ss_cone_destroy(global);
    ss_run_forgive(run, ss_clock_seconds() - untimed);
    if (!good) return ss_run_fail(run, "%s: an answer that is not finite, or no memory", name);
    ss_run_iteration(run, NULL, NULL); // one, which the run need not measure: the answer is judged anyway
    return SS_CONVERGED;
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
