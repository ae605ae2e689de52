/* Solvers with one fault each, made for the purpose: the check that is there for it has to find it. And the
 * driver, which corrects what a solver claims. */
#include "conformance.h"

#include <stdatomic.h>

/* ---- a method that works, with faults on demand ----------------------------------------------------- */

typedef enum fault {
    NO_FAULT,
    CLAIMS,        /* "converged" after one sweep */
    BELIEVES_NAN,  /* stops when its error is not above a limit */
    FORGETS_START, /* begins at zero, though it says that it starts warm */
    DEAF,          /* makes ten iterations whatever ss_run_iteration says */
    SLOW,          /* does not look at the clock */
    RANDOM,        /* another order every time */
    OUTSIDE,       /* writes one number too far */
    MEDDLES,       /* changes the load */
    ABSOLUTE,      /* divides by a diagonal that is at least 1e-3 */
    LEAKS,         /* takes memory that it does not give back */
    SHOWS_ANOTHER, /* measures one x, and leaves another */
    FIRST_ONLY,    /* leaves the last unknown alone, and calls that a status that does not exist */
} fault;

static atomic_int calls;
enum { MOST_KEPT = 100 };
static void *kept[MOST_KEPT]; // what was taken and not given back: the test does it, for the leak sanitizer
static int kept_count;

/* Projected Gauss-Seidel for boxes, as in any book. */
static ss_status sweep_box(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)options;
    fault with = *(const fault *)run->solver->context;
    int n = problem->size;
    double *w = ss_arena_take(run->arena, (size_t)n, sizeof *w, "w");
    if (!w) return ss_run_fail(run, "no memory");
    double *scratch =
        ss_arena_take(run->arena, (size_t)ss_problem_scratch(problem), sizeof *scratch, "scratch");
    if (!scratch) return ss_run_fail(run, "no memory");
    if (with == LEAKS && kept_count < MOST_KEPT) kept[kept_count++] = ss_allocate(1, 1);
    if (with == FORGETS_START) memset(x, 0, (size_t)n * sizeof *x);
    if (with == OUTSIDE) x[n] = 1.0;
    if (with == MEDDLES && n > 0) problem->b[0] *= 0.5;
    int shift = with == RANDOM ? atomic_fetch_add(&calls, 1) : 0;
    double deadline = ss_clock_seconds() + 1.5;
    while (with == SLOW && ss_clock_seconds() < deadline) {
    }
    for (int iteration = 0;; iteration++) {
        for (int k = 0; k < n - (with == FIRST_ONLY); k++) {
            int i = (k + shift) % n;
            double a = with == ABSOLUTE ? fmax(problem->diagonal[i], 1e-3) : problem->diagonal[i];
            ss_problem_apply(problem, x, scratch, w);
            x[i] = fmin(fmax(x[i] - w[i] / a, problem->lower[i]), problem->upper[i]);
        }
        if (with == CLAIMS) return SS_CONVERGED;
        if (with == FIRST_ONLY) return (ss_status)99;
        if (with == BELIEVES_NAN && n > 0 && !(fabs(w[0]) >= 0.0)) return SS_CONVERGED;
        bool more = ss_run_iteration(run, x, NULL);
        if (with == SHOWS_ANOTHER && n > 0) x[0] += 1.0;
        if (!more && (with != DEAF || iteration > 10)) return ss_run_status(run);
    }
}

/* The first problem on which a check finds the fault, "" if it finds none; its words. */
static const char *found_by(const char *check, fault with, char message[240])
{
    static char problem[SS_CHECK_CASE_NAME];
    ss_solver solver = {.abi = SS_ABI,
                        .name = "planted",
                        .summary = "projected Gauss-Seidel with a fault",
                        .weakness = "it was planted",
                        .laws = SS_LAW_FREE | SS_LAW_BOX,
                        .traits = SS_NEEDS_DIAGONAL | SS_NEEDS_SYMMETRIC | SS_WARM_STARTS,
                        .solve = sweep_box,
                        .context = &with};
    ss_check_setup setup = {.solver = &solver, .iterations = 3000, .seed = 1000, .quick = true};
    int number = ss_check_find(check), asked = 0;
    message[0] = '\0';
    for (int k = 0; number >= 0 && k < ss_check_cases(number, &setup); k++) {
        ss_check_result result;
        ss_check_run(number, &setup, k, &result);
        asked += result.outcome == SS_CHECK_PASSED || result.outcome == SS_CHECK_FAILED;
        ss_check_case_name(number, &setup, k, problem);
        bool slow_by_nature = strstr(problem, "mass ratio") && strcmp(check, "solves") == 0;
        if (result.outcome != SS_CHECK_FAILED || slow_by_nature) continue;
        memcpy(message, result.message, sizeof result.message);
        return problem;
    }
    return asked > 0 ? "" : "no case at all";
}

#define ENSURE_FOUND(check, with, words)                 \
    do {                                                 \
        char message[240];                               \
        ENSURE(*found_by(check, with, message) != '\0'); \
        ENSURE_CONTAINS(message, words);                 \
    } while (0)

static const char *const checks_of_boxes[] = {"solves",          "agrees",     "warm-start", "far-start",
                                              "iteration-limit", "time-limit", "cancel",     "best-iterate",
                                              "repeatable",      "team",       "concurrent", "units",
                                              "not-a-number",    "memory",     "inside",     "descriptor"};

TEST(a_solver_without_a_fault_passes)
{
    for (size_t k = 0; k < sizeof checks_of_boxes / sizeof *checks_of_boxes; k++) {
        char message[240];
        const char *problem = found_by(checks_of_boxes[k], NO_FAULT, message);
        if (*problem) KIT_FAIL("%s on \"%s\": %s", checks_of_boxes[k], problem, message);
    }
}

TEST(a_claim_that_the_driver_corrects_is_heard_all_the_same)
{
    ENSURE_FOUND("solves", CLAIMS, "returns converged, but");
}
TEST(a_status_that_does_not_exist_is_named)
{
    ENSURE_FOUND("solves", FIRST_ONLY, "returned status 99, which does not exist");
}
TEST(a_start_that_is_forgotten_is_noticed)
{
    ENSURE_FOUND("warm-start", FORGETS_START, "from the solution");
}
TEST(an_iteration_too_many_is_counted)
{
    ENSURE_FOUND("iteration-limit", DEAF, "limit of 1 iterations, took");
}
TEST(a_deadline_that_passes_unnoticed_is_measured)
{
    ENSURE_FOUND("time-limit", SLOW, "time limit of 1 ms, took");
}
TEST(an_order_that_changes_is_seen_in_the_bits)
{
    ENSURE_FOUND("repeatable", RANDOM, "two equal runs differ");
    ENSURE_FOUND("concurrent", RANDOM, "two threads that solve at once get a different answer");
}
TEST(a_number_beyond_x_is_missed)
{
    ENSURE_FOUND("inside", OUTSIDE, "writes outside x: 1 numbers");
}
TEST(a_load_that_was_changed_is_compared)
{
    ENSURE_FOUND("inside", MEDDLES, "changes the problem");
}
TEST(a_constant_with_a_unit_shows_in_other_units)
{
    ENSURE_FOUND("units", ABSOLUTE, "inverse masses times 2^-20");
}
TEST(memory_that_is_not_given_back_is_missed)
{
    ENSURE_FOUND("memory", LEAKS, "blocks are left behind");
    while (kept_count > 0) ss_release(kept[--kept_count]);
}
TEST(an_iterate_that_was_not_shown_is_not_the_best)
{
    ENSURE_FOUND("warm-start", SHOWS_ANOTHER, "from the solution");
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
    known_problem of = problem_named("lcp");
    ss_solver liar = {.abi = SS_ABI, .name = "liar", .laws = SS_LAW_BOX, .solve = claim};
    ss_run_options run = ss_attempt_run(&of);
    ss_attempt a = ss_attempt_make(&(ss_check_setup){.solver = &liar}, &of, &run, NULL, NULL);
    ENSURE_INT(a.result.status, SS_STALLED);
    ENSURE_INT(a.said, SS_CONVERGED);
    ENSURE(a.verdict.worst > 0.01);
    known_problem_free(&of);
}

TEST(a_solver_that_breaks_down_gives_its_start_back)
{
    static const ss_keep_rule keeps[] = {{0}, {.which = SS_KEEP_LAST}, {SS_KEEP_BEST, SS_GAUGE_ENERGY}};
    known_problem of = problem_named("lcp");
    ss_solver broken = {.abi = SS_ABI, .name = "broken", .laws = SS_LAW_BOX, .solve = divide_by_zero};
    for (int k = 0; k < 3; k++) {
        ss_run_options run = ss_attempt_run(&of);
        run.keep = keeps[k];
        double x[20];
        for (int i = 0; i < 20; i++) x[i] = 0.25;
        ss_attempt a = ss_attempt_make(&(ss_check_setup){.solver = &broken}, &of, &run, NULL, x);
        ENSURE(a.result.status == SS_FAILED || a.result.status == SS_STALLED);
        for (int i = 0; i < 20; i++) ENSURE_NEAR(x[i], 0.25, 0.0);
    }
    known_problem_free(&of);
}

/* ---- expected failures ------------------------------------------------------------------------------ */

TEST(expected_failures_are_read_line_by_line)
{
    ss_expected_list list;
    ss_error err;
    ENSURE(ss_expected_parse("# comment\n\n  mine | seeds | cone | slow \n", "list", &list, &err));
    ENSURE_INT(list.count, 1);
    ENSURE_TEXT(list.items[0].reason, "slow");
    ENSURE_INT(list.items[0].line, 3);
    ENSURE_INT(ss_expected_find(&list, "mine", "seeds", "cone, seed 1003"), 0);
    ENSURE_INT(ss_expected_find(&list, "mine", "seeds", "cone planar, seed 1003"), -1);
    ENSURE_INT(ss_expected_find(&list, "mine", "solves", "cone"), -1);
    ss_expected_free(&list);
    ENSURE(!ss_expected_parse("mine | solves | cone", "list", &list, &err));
    ENSURE_TEXT(err.message, "list:1: expected: solver | check | problem | reason");
    ENSURE(!ss_expected_parse("\nmine | solve | cone | x", "list", &list, &err));
    ENSURE_TEXT(err.message, "list:2: unknown check 'solve'");
    ENSURE(!ss_expected_parse("mine | solves | ice cream | x", "list", &list, &err));
    ENSURE_TEXT(err.message, "list:1: unknown problem 'ice cream'");
}

TEST(expected_failures_of_the_library_name_solvers_that_exist)
{
    ss_expected_list list;
    ss_error err;
    ENSURE(ss_expected_parse(ss_expected_built_in(), "built in", &list, &err));
    for (int i = 0; i < list.count; i++)
        if (!ss_solver_find(list.items[i].solver)) KIT_FAIL("no solver %s", list.items[i].solver);
    ss_expected_free(&list);
}

TEST_MAIN
