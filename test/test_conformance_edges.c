/* Every solver of the registry at its limits: few iterations, little time, cancelled, starved of memory, with
 * loads at the edge of the numbers, in a team; and the driver, which takes nobody's word. */
#include "conformance.h"
#include "rules.h"

#include "faults.h"

/* ---- limits ----------------------------------------------------------------------------------------- */

static void limit_iterations(const ss_solver *solver, known_problem *of)
{
    static const int limits[] = {0, 1, 3};
    for (int k = 0; k < 3; k++) {
        ss_run_options run = usual_run(of);
        run.max_iterations = limits[k];
        attempt a = try_from(solver, of, &run, NULL);
        if (a.outcome == BROKEN) BLAME(solver, of, "x is not finite after %d iterations", limits[k]);
        if (a.outcome == LIED)
            BLAME(solver, of, "limit %d: says converged at %g", limits[k], a.verdict.worst);
        // one call more is how a method learns that a limit of zero is zero
        if (a.result.iterations > (limits[k] ? limits[k] : 1))
            BLAME(solver, of, "limit of %d iterations, took %d", limits[k], a.result.iterations);
    }
}

TEST(iteration_limits_are_kept_and_leave_finite_numbers)
{
    for_all(limit_iterations);
}

/* A rule that never holds: only the limit can end it, or the method by itself. */
static void limit_time(const ss_solver *solver, known_problem *of)
{
    double *x = numbers(of->problem->size);
    ss_run_options run = {.max_iterations = 1000000000, .time_limit = 1e-3, .seed = 1};
    ss_solve_result result;
    ss_error err;
    if (!ss_solve(&(ss_solve_request){.solver = solver, .problem = of->problem, .run = &run}, x, &result,
                  &err))
        BLAME(solver, of, "%s", err.message);
    // a second is what a loaded machine may take away from one iteration
    if (!(result.seconds < 1.0)) BLAME(solver, of, "time limit 1 ms, took %g s", result.seconds);
    if (!all_finite(x, of->problem->size)) BLAME(solver, of, "x is not finite at the time limit");
    ss_solve_result_free(&result);
    free(x);
}

TEST(a_time_limit_of_a_millisecond_ends_the_run_soon)
{
    for_all(limit_time);
}

static void cancel(const ss_solver *solver, known_problem *of)
{
    static const volatile int now = 1;
    double *x = numbers(of->problem->size);
    ss_run_options run = {.max_iterations = 1000000, .seed = 1};
    ss_solve_result result;
    ss_error err;
    bool good =
        ss_solve(&(ss_solve_request){.solver = solver, .problem = of->problem, .run = &run, .cancel = &now},
                 x, &result, &err);
    if (!good || result.iterations > 1) BLAME(solver, of, "went on for %d iterations", result.iterations);
    bool ended_by_itself = result.iterations == 0 || solver->traits & SS_EXACT;
    if (result.status != SS_CANCELLED && !ended_by_itself)
        BLAME(solver, of, "cancelled, but says %s", ss_status_name(result.status));
    if (!all_finite(x, of->problem->size)) BLAME(solver, of, "x is not finite when cancelled");
    ss_solve_result_free(&result);
    free(x);
}

TEST(a_cancelled_run_ends_at_its_first_iteration)
{
    for_all(cancel);
}

/* ---- same question, same answer --------------------------------------------------------------------- */

static void solve_twice(const ss_solver *solver, known_problem *of)
{
    size_t bytes = (size_t)of->problem->size * sizeof(double);
    double *first = numbers(of->problem->size), *second = numbers(of->problem->size);
    ss_run_options run = usual_run(of);
    run.max_iterations = 100;
    try_from(solver, of, &run, first);
    try_from(solver, of, &run, second);
    if (memcmp(first, second, bytes) != 0) BLAME(solver, of, "two runs differ");
    free(first);
    free(second);
}

TEST(the_same_run_gives_the_same_bits)
{
    for_all(solve_twice);
}

static void solve_with_a_team(const ss_solver *solver, known_problem *of)
{
    double *alone = numbers(of->problem->size), *shared = numbers(of->problem->size);
    ss_run_options run = usual_run(of);
    run.max_iterations = 50;
    ss_error err;
    ss_solve_result one = {0}, two = {0};
    ss_team *team = known(ss_team_create(2, &err), &err);
    bool good =
        ss_solve(&(ss_solve_request){.solver = solver, .problem = of->problem, .run = &run}, alone, &one,
                 &err) &&
        ss_solve(&(ss_solve_request){.solver = solver, .problem = of->problem, .run = &run, .team = team},
                 shared, &two, &err);
    if (!good || memcmp(alone, shared, (size_t)of->problem->size * sizeof *alone) != 0)
        BLAME(solver, of, "a team of two gives another answer");
    ss_solve_result_free(&one);
    ss_solve_result_free(&two);
    ss_team_destroy(team);
    free(alone);
    free(shared);
}

TEST(a_team_gives_the_same_bits_as_one)
{
    for_all(solve_with_a_team);
}

/* ---- numbers at the edge ---------------------------------------------------------------------------- */

static void load_by(const ss_solver *solver, known_problem *of, double factor)
{
    if (of->stop != usual_stop) return; // an absolute rule knows no other loads
    int n = of->problem->size;
    double *kept = numbers(n);
    memcpy(kept, of->problem->b, (size_t)n * sizeof *kept);
    for (int i = 0; i < n; i++) of->problem->b[i] *= factor;
    ss_run_options run = usual_run(of);
    run.max_iterations = 100;
    attempt a = try_from(solver, of, &run, NULL);
    if (a.outcome == LIED || a.outcome == BROKEN)
        BLAME(solver, of, "load times %g: %s, %s %g", factor, ss_status_name(a.result.status), a.verdict.what,
              a.verdict.worst);
    memcpy(of->problem->b, kept, (size_t)n * sizeof *kept);
    free(kept);
}

/* Squares of these stay in range. */
static void load_extremely(const ss_solver *solver, known_problem *of)
{
    load_by(solver, of, 0x1p-300);
    load_by(solver, of, 0x1p300);
}

TEST(loads_of_any_size_are_survived)
{
    for_all(load_extremely);
}

/* The default stop rule must see the rows of the sliding speed too, though they have no mass of their own. */
static void stop_by_energy(const ss_solver *solver, known_problem *of)
{
    if (of->stop == usual_stop) return;
    ss_run_options run = usual_run(of);
    run.stop = stop_rule(usual_stop);
    attempt a = try_from(solver, of, &run, NULL);
    if (a.outcome == LIED || a.outcome == BROKEN)
        BLAME(solver, of, "by energy: %s, %s of unknown %d is %g", ss_status_name(a.result.status),
              a.verdict.what, a.verdict.unknown, a.verdict.worst);
}

TEST(problems_with_massless_rows_can_be_stopped_by_their_energy)
{
    for_all(stop_by_energy);
}

static void load_with_nothing_known(const ss_solver *solver, known_problem *of)
{
    if (of->problem->size == 0) return;
    double kept = of->problem->b[0], *x = numbers(of->problem->size);
    of->problem->b[0] = NAN;
    ss_run_options run = usual_run(of);
    run.max_iterations = 100;
    ss_solve_result result;
    ss_error err;
    bool good = ss_solve(&(ss_solve_request){.solver = solver, .problem = of->problem, .run = &run}, x,
                         &result, &err);
    if (good && result.status == SS_CONVERGED) BLAME(solver, of, "converged on a load that is not a number");
    if (!all_finite(x, of->problem->size)) BLAME(solver, of, "x is not finite when the load is not");
    of->problem->b[0] = kept;
    ss_solve_result_free(&result);
    free(x);
}

TEST(a_load_that_is_not_a_number_has_no_solution)
{
    for_all(load_with_nothing_known);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

/* Fails each request in turn; a problem without its matrix is made again, so that making it can fail, too. */
static void starve(const ss_solver *solver, int p)
{
    for (long n = 1; n < 1000; n++) {
        known_problem of = problem_at(p);
        if (ss_solver_refusal(solver, of.problem)) n = 1000;
        double *x = numbers(of.problem->size);
        ss_sparse *A = of.problem->A;
        ss_run_options run = usual_run(&of);
        run.max_iterations = 50;
        ss_solve_result result = {0};
        ss_error err = {0};
        faults_start(n);
        bool good = ss_solve(&(ss_solve_request){.solver = solver, .problem = of.problem, .run = &run}, x,
                             &result, &err);
        ss_solve_result_free(&result);
        long left = faults.live - (of.problem->A != A ? 4 : 0); // a matrix is four blocks
        bool reached = faults_stop();
        if (left != 0) BLAME(solver, &of, "request %ld failed: %ld blocks left", n, left);
        if (!good && !err.code) BLAME(solver, &of, "request %ld failed: no reason given", n);
        if (!all_finite(x, of.problem->size)) BLAME(solver, &of, "request %ld failed: x is not finite", n);
        if (good && result.status == SS_CONVERGED && !(judge_exactly(of.problem, x).worst <= honest))
            BLAME(solver, &of, "request %ld failed: says converged", n);
        free(x);
        known_problem_free(&of);
        if (!reached) return;
    }
}

static bool is_small_sample(const char *name)
{
    static const char *const samples[] = {"mlcp of bodies",        "lcp unsymmetric", "coupled",
                                          "cone redundant",        "convex rolling",  "every law",
                                          "block, Stewart-Trinkle"};
    for (size_t k = 0; k < sizeof samples / sizeof *samples; k++) {
        if (strcmp(samples[k], name) == 0) return true;
    }
    return false;
}

TEST(lack_of_memory_is_told_and_leaves_nothing_behind)
{
    for (int p = 0; p < PROBLEMS; p++) {
        known_problem of = problem_at(p);
        bool sample = is_small_sample(of.name);
        for (int s = 0; sample && s < ss_solver_count(); s++) starve(ss_solver_at(s), p);
        known_problem_free(&of);
    }
}

/* ---- whose word is not taken ------------------------------------------------------------------------ */

static ss_status claim(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)options;
    for (int i = 0; i < problem->size; i++) x[i] = 1.0;
    ss_run_iteration(run, x, NULL);
    return SS_CONVERGED;
}

static ss_status divide_by_zero(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)options;
    for (int i = 0; i < problem->size; i++) x[i] = i % 2 ? NAN : INFINITY;
    ss_run_iteration(run, x, NULL);
    return SS_CONVERGED;
}

TEST(a_solver_that_claims_too_much_is_not_believed)
{
    known_problem of = cook(&recipes[0]);
    ss_solver liar = {.abi = SS_ABI, .name = "liar", .laws = SS_LAW_BOX, .solve = claim};
    attempt a = try_cold(&liar, &of);
    ENSURE_INT(a.result.status, SS_STALLED);
    ENSURE(a.verdict.worst > 0.01);
    known_problem_free(&of);
}

TEST(a_solver_that_breaks_down_gives_its_start_back)
{
    static const ss_keep_rule kept[] = {{0}, {.which = SS_KEEP_LAST}, {SS_KEEP_BEST, SS_GAUGE_ENERGY}};
    known_problem of = cook(&recipes[0]);
    ss_solver broken = {.abi = SS_ABI, .name = "broken", .laws = SS_LAW_BOX, .solve = divide_by_zero};
    for (int k = 0; k < 3; k++) {
        ss_run_options run = usual_run(&of);
        run.keep = kept[k];
        double x[20];
        for (int i = 0; i < 20; i++) x[i] = 0.25;
        attempt a = try_from(&broken, &of, &run, x);
        ENSURE(a.result.status == SS_FAILED || a.result.status == SS_STALLED);
        for (int i = 0; i < 20; i++) ENSURE_NEAR(x[i], 0.25, 0.0);
    }
    known_problem_free(&of);
}

TEST_MAIN
