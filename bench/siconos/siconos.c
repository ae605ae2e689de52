/* Our solvers beside those of the same method in Siconos Numerics, on the same problems, in one run.
 *
 *     race_siconos FILE...     FCLIB files: cone problems; BPMD files: Stewart-Trinkle and frictionless LCPs
 *
 * Both get the tolerance in their own words: ours stops at the relative natural map (cones) or the relative
 * energy error (LCPs), Siconos at its relative error. Then both answers are measured by the same function
 * from the problem, and a ratio is printed only where both reached the tolerance. Times are the smallest of
 * several whole calls on one thread, seen from outside: set-up, measuring and judging included, on both
 * sides, but not making the options. Ours is called as the simulator calls it, with memory that is there
 * already. Siconos runs in a process of its own, because some of its solvers end it.
 */
#include <stickslip/solver.h>
#include <stickslip/stickslip.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <Friction_cst.h>
#include <FrictionContactProblem.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsVerbose.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <lcp_cst.h>

#include "matrices.h"

enum { REPEATS = 10000 };
static const double time_limit = 2.0;  // s, per solve of ours
static const double enough_time = 0.2; // s: then no more repeats than these few
enum { FEW = 3 };

typedef struct pairing {
    const char *ours;
    const char *theirs;
    int id, max_iterations;
} pairing;

static const pairing cone_pairs[] = {
    {"nsgs", "FC3D_NSGS", SICONOS_FRICTION_3D_NSGS, 50000},
    {"prox", "FC3D_FPP", SICONOS_FRICTION_3D_FPP, 50000},
    {"minmap-newton", "FC3D_NSN_AC", SICONOS_FRICTION_3D_NSN_AC, 500},
    {"fischer-newton", "FC3D_NSN_FB", SICONOS_FRICTION_3D_NSN_FB, 500},
};

static const pairing lcp_pairs[] = {
    {"lemke", "LCP_LEMKE", SICONOS_LCP_LEMKE, 50000},
    {"pgs", "LCP_PGS", SICONOS_LCP_PGS, 50000},
    {"minmap-newton", "LCP_NEWTON_MIN_FBLSA", SICONOS_LCP_NEWTON_MIN_FBLSA, 500},
    {"fischer-newton", "LCP_NEWTON_FB_FBLSA", SICONOS_LCP_NEWTON_FB_FBLSA, 500},
};

typedef struct outcome {
    bool ran;
    int iterations;
    double seconds, error;
} outcome;

/* ---- ours ----------------------------------------------------------------------------------------- */

typedef struct clockwork {
    int count;
    double total, before;
} clockwork;

/* Small problems are run until the noise of the machine has had its chance to be absent. */
static bool again(const clockwork *clock)
{
    return clock->count < FEW ? clock->total < 0.5 : clock->count < REPEATS && clock->total < enough_time;
}

static void start(clockwork *clock)
{
    clock->before = ss_clock_seconds();
}

static void stop(clockwork *clock, outcome *of)
{
    double seconds = ss_clock_seconds() - clock->before;
    of->seconds = fmin(of->seconds, seconds);
    of->ran = true;
    clock->total += seconds;
    clock->count++;
}

static outcome run_ours(const char *name, ss_problem *problem, ss_gauge gauge, double tolerance)
{
    outcome best = {.seconds = INFINITY};
    const ss_solver *solver = ss_solver_find(name);
    if (!solver || ss_solver_refusal(solver, problem)) return best;
    double *x = calloc((size_t)problem->size + 1, sizeof *x);
    void *own_options = calloc(1, solver->options_size + 1);
    ss_arena *arena = ss_arena_create(1 << 16, NULL);
    ss_run_options options = ss_run_defaults();
    if (own_options) ss_options_defaults(solver->options, own_options);
    options.stop = (ss_stop_rule){gauge, tolerance, false};
    options.time_limit = time_limit;
    options.max_iterations = 1000000;
    for (clockwork clock = {0}; x && own_options && arena && again(&clock);) {
        memset(x, 0, (size_t)problem->size * sizeof *x);
        ss_solve_result result;
        start(&clock);
        if (!ss_solve(&(ss_solve_request){.arena = arena,
                                          .gauges = 1u << gauge,
                                          .solver = solver,
                                          .solver_options = own_options,
                                          .problem = problem,
                                          .run = &options},
                      x, &result, NULL))
            break;
        stop(&clock, &best);
        best.iterations = result.iterations;
        best.error = result.gauge[gauge];
        ss_solve_result_free(&result);
    }
    ss_arena_destroy(arena);
    free(own_options);
    free(x);
    return best;
}

/* ---- theirs --------------------------------------------------------------------------------------- */

static double measure(const ss_problem *problem, const double *x, ss_gauge gauge)
{
    double values[SS_GAUGE_COUNT];
    return ss_problem_measure(problem, x, values, NULL) ? values[gauge] : NAN;
}

static outcome run_cone_peer(const pairing *pair, ss_problem *problem, double tolerance)
{
    outcome best = {.seconds = INFINITY};
    int contacts = problem->block_count, dimension = problem->blocks[0].size;
    bool dense = problem->size <= 900 && pair->id != SICONOS_FRICTION_3D_NSGS;
    NumericsMatrix *matrix = dense ? ss_siconos_dense(problem->A) : ss_siconos_block(problem->A, dimension);
    double *mu = malloc((size_t)contacts * sizeof *mu);
    double *r = calloc((size_t)problem->size, sizeof *r), *u = calloc((size_t)problem->size, sizeof *u);
    for (int c = 0; c < contacts; c++) mu[c] = problem->blocks[c].mu;
    FrictionContactProblem peer = {dimension, contacts, matrix, problem->b, mu};
    for (clockwork clock = {0}; again(&clock);) {
        SolverOptions *options = solver_options_create(pair->id);
        options->dparam[SICONOS_DPARAM_TOL] = tolerance;
        options->iparam[SICONOS_IPARAM_MAX_ITER] = pair->max_iterations;
        memset(r, 0, (size_t)problem->size * sizeof *r);
        memset(u, 0, (size_t)problem->size * sizeof *u);
        start(&clock);
        fc3d_driver(&peer, r, u, options);
        stop(&clock, &best);
        best.iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
        solver_options_delete(options);
        free(options);
    }
    best.error = measure(problem, r, SS_GAUGE_NATURAL_MAP);
    NM_clear(matrix);
    free(matrix);
    free(mu);
    free(r);
    free(u);
    return best;
}

static outcome run_lcp_peer(const pairing *pair, ss_problem *problem, double tolerance)
{
    outcome best = {.seconds = INFINITY};
    double *z = calloc((size_t)problem->size, sizeof *z), *w = calloc((size_t)problem->size, sizeof *w);
    for (clockwork clock = {0}; again(&clock);) {
        LinearComplementarityProblem peer = {problem->size, ss_siconos_dense(problem->A), problem->b};
        SolverOptions *options = solver_options_create(pair->id);
        options->dparam[SICONOS_DPARAM_TOL] = tolerance;
        options->iparam[SICONOS_IPARAM_MAX_ITER] = pair->max_iterations;
        memset(z, 0, (size_t)problem->size * sizeof *z);
        memset(w, 0, (size_t)problem->size * sizeof *w);
        start(&clock);
        linearComplementarity_driver(&peer, z, w, options);
        stop(&clock, &best);
        best.iterations = options->iparam[SICONOS_IPARAM_ITER_DONE];
        solver_options_delete(options);
        free(options);
        NM_clear(peer.M);
        free(peer.M);
    }
    best.error = measure(problem, z, SS_GAUGE_RELATIVE_ENERGY);
    free(z);
    free(w);
    return best;
}

typedef outcome run_peer(const pairing *pair, ss_problem *problem, double tolerance);

/* Did not run when it ended the process. What it prints is not ours to show. */
static outcome in_own_process(run_peer *run, const pairing *pair, ss_problem *problem, double tolerance)
{
    outcome best = {.seconds = INFINITY};
    int ends[2];
    if (pipe(ends) != 0) return best;
    fflush(stdout); // or the child prints it as well
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
        best = run(pair, problem, tolerance);
        _exit(write(ends[1], &best, sizeof best) != sizeof best);
    }
    close(ends[1]);
    if (child > 0 && read(ends[0], &best, sizeof best) != sizeof best) best = (outcome){.seconds = INFINITY};
    close(ends[0]);
    if (child > 0) waitpid(child, NULL, 0);
    return best;
}

/* ---- the table ------------------------------------------------------------------------------------ */

static void print_outcome(const outcome *of, double tolerance)
{
    if (!of->ran)
        printf("%8s %10s %9s  ", "-", "-", "n/a");
    else
        printf("%8d %10.4f %9.1e%s ", of->iterations, 1e3 * of->seconds, of->error,
               of->error <= 2 * tolerance ? " " : "!");
}

static struct {
    int both, faster;
    double log_sum;
    int only_ours, only_theirs;
} tally;

static void print_row(const char *problem, int size, const pairing *pair, double tolerance, outcome ours,
                      outcome theirs)
{
    bool we = ours.ran && ours.error <= 2 * tolerance, they = theirs.ran && theirs.error <= 2 * tolerance;
    printf("%-30.30s %5d %-14s %-20s %5.0e ", problem, size, pair->ours, pair->theirs, tolerance);
    print_outcome(&ours, tolerance);
    print_outcome(&theirs, tolerance);
    if (we && they) {
        double ratio = ours.seconds / theirs.seconds;
        printf("%7.2f\n", ratio);
        tally.both++;
        tally.faster += ratio <= 1.0;
        tally.log_sum += log(ratio);
    } else {
        printf("%7s\n", we ? "ours" : they ? "theirs" : "-");
        tally.only_ours += we;
        tally.only_theirs += they;
    }
    fflush(stdout);
}

static const double tolerances[] = {1e-4, 1e-8};

static void race_cone(const char *name, ss_problem *problem)
{
    for (size_t p = 0; p < sizeof cone_pairs / sizeof *cone_pairs; p++) {
        for (int t = 0; t < 2; t++) {
            outcome ours = run_ours(cone_pairs[p].ours, problem, SS_GAUGE_NATURAL_MAP, tolerances[t]);
            outcome theirs = in_own_process(run_cone_peer, &cone_pairs[p], problem, tolerances[t]);
            print_row(name, problem->block_count, &cone_pairs[p], tolerances[t], ours, theirs);
        }
    }
}

static void race_lcp(const char *name, ss_problem *problem, bool friction)
{
    for (size_t p = 0; p < sizeof lcp_pairs / sizeof *lcp_pairs; p++) {
        bool needs_diagonal = lcp_pairs[p].id == SICONOS_LCP_PGS;
        if (friction && needs_diagonal) continue; // a polygon LCP has zeros on its diagonal
        for (int t = 0; t < 2; t++) {
            outcome ours = run_ours(lcp_pairs[p].ours, problem, SS_GAUGE_RELATIVE_ENERGY, tolerances[t]);
            outcome theirs = in_own_process(run_lcp_peer, &lcp_pairs[p], problem, tolerances[t]);
            print_row(name, problem->size, &lcp_pairs[p], tolerances[t], ours, theirs);
        }
    }
}

static void race_fclib(const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    ss_error err = {0};
    ss_fclib_kind kinds[3];
    if (ss_fclib_kinds(path, kinds, &err) < 1) return;
    ss_fclib *file = ss_fclib_read(path, kinds[0], NULL, NULL, &err);
    ss_problem *problem = file && file->cone->dimension == 3 && file->cone->equations == 0
                              ? ss_problem_from_cone(file->cone, &err)
                              : NULL;
    if (problem)
        race_cone(name, problem);
    else
        printf("%-30.30s not a spatial problem without joints: left out\n", name);
    ss_problem_destroy(problem);
    ss_fclib_destroy(file);
}

/* The LCP of one frame by one formulation; frames with joints are left out, Siconos' LCP has no
 * free unknowns. */
static void race_frame(const char *name, const ss_frame *frame, const char *formulation)
{
    const ss_formulation *by = ss_formulation_find(formulation);
    void *options = calloc(1, by->options_size);
    ss_options_defaults(by->options, options);
    ss_problem *problem = ss_problem_from_frame(frame, by, options, NULL);
    if (problem && ss_problem_laws(problem) == SS_LAW_BOX && ss_problem_need_matrix(problem, NULL)) {
        char title[80];
        snprintf(title, sizeof title, "%.16s/%.12s", name, formulation);
        race_lcp(title, problem, strcmp(formulation, "frictionless") != 0);
    }
    ss_problem_destroy(problem);
    free(options);
}

static void race_bpmd(const char *path)
{
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    ss_bpmd *file = ss_bpmd_open(path, NULL, NULL, NULL);
    int frames = file ? ss_bpmd_frame_count(file) : 0;
    ss_frame *frame = frames ? ss_bpmd_read(file, frames / 2, NULL, NULL) : NULL;
    if (frame && ss_frame_check(frame, "", NULL)) {
        race_frame(name, frame, "frictionless");
        race_frame(name, frame, "stewart-trinkle");
    }
    ss_frame_destroy(frame);
    ss_bpmd_close(file);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: race_siconos FILE...\n");
        return 2;
    }
    numerics_set_verbose(0);
    printf("%-30s %5s %-14s %-20s %5s %8s %10s %9s  %8s %10s %9s  %7s\n", "problem", "size", "ours",
           "Siconos", "tol", "its", "ms", "error", "its", "ms", "error", "ratio");
    for (int a = 1; a < argc; a++) {
        ss_format format;
        if (!ss_format_of_file(argv[a], &format, NULL)) continue;
        if (format == SS_FORMAT_FCLIB)
            race_fclib(argv[a]);
        else
            race_bpmd(argv[a]);
    }
    printf("\nerror: ours and theirs measured by one function; '!' = tolerance not reached (factor 2).\n");
    if (tally.both) {
        printf(
            "both reached it in %d races; ours as fast or faster in %d, geometric mean of ours/theirs %.2f\n",
            tally.both, tally.faster, exp(tally.log_sum / tally.both));
    }
    printf("only ours reached it in %d, only theirs in %d\n", tally.only_ours, tally.only_theirs);
    return 0;
}
