/* Every solver of the registry on every problem of the catalogue that it takes. A solver may fail, but it has
 * to say so: "converged" must survive a residual that is computed without the library (test/independent.h).
 *
 *     test_conformance --page    prints docs/solvers.md: who takes what, who solves what
 */
#include "conformance.h"

enum { SEEDS = 30, MIXTURES = 200 };

/* ---- the catalogue itself --------------------------------------------------------------------------- */

TEST(planted_solutions_solve_their_problems)
{
    for (int p = 0; p < PROBLEMS; p++) {
        known_problem of = problem_at(p);
        verdict v = of.x ? judge_exactly(of.problem, of.x) : (verdict){0};
        if (!(v.worst <= 1e-12)) // rounding of b = w - A x
            KIT_FAIL("\"%s\": %s of unknown %d off by %g", of.name, v.what, v.unknown, v.worst);
        known_problem_free(&of);
    }
}

/* Shifts every planted x in turn: a residual that sees nothing would pass every solver. */
TEST(the_independent_residual_sees_a_wrong_impulse)
{
    for (int p = 0; p < RECIPES; p++) {
        known_problem of = problem_at(p);
        if (strstr(of.name, "redundant") || strstr(of.name, "mass ratio") || strstr(of.name, "ill-cond")) {
            known_problem_free(&of);
            continue;
        }
        for (int i = 0; i < of.problem->size; i++) {
            double kept = of.x[i];
            of.x[i] += 0.01;
            verdict v = judge_exactly(of.problem, of.x);
            if (!(v.worst > 1e-5)) KIT_FAIL("\"%s\": unknown %d wrong by 0.01 reads %g", of.name, i, v.worst);
            of.x[i] = kept;
        }
        known_problem_free(&of);
    }
}

/* ---- who solves what, and says so ------------------------------------------------------------------- */

static void judge_outcome(const ss_solver *solver, known_problem *of)
{
    attempt a = try_cold(solver, of);
    const char *reason = why_expected(solver, of);
    const char *said = ss_status_name(a.result.status);
    if (a.outcome == BROKEN) BLAME(solver, of, "the call failed, or x is not finite");
    if (a.outcome == LIED)
        BLAME(solver, of, "says converged, but unknown %d has %s of %g", a.verdict.unknown, a.verdict.what,
              a.verdict.worst);
    if (a.outcome == GAVE_UP && !reason && !of->unsolvable && !of->any_end)
        BLAME(solver, of, "%s after %d iterations, %s of unknown %d is %g", said, a.result.iterations,
              a.verdict.what, a.verdict.unknown, a.verdict.worst);
    if (a.outcome == SOLVED && reason)
        BLAME(solver, of, "solved, though it was expected to fail: %s", reason);
}

TEST(who_converges_is_right_and_who_fails_says_so)
{
    for_all(judge_outcome);
}

TEST(expected_failures_name_solvers_and_problems_that_exist)
{
    for (const expected_failure *at = expected_failures; at->solver; at++) {
        bool found = false;
        for (int p = 0; p < PROBLEMS && !found; p++) {
            known_problem of = problem_at(p);
            found = strcmp(of.name, at->problem) == 0;
            known_problem_free(&of);
        }
        if (!found || !ss_solver_find(at->solver)) KIT_FAIL("no %s or no \"%s\"", at->solver, at->problem);
    }
}

/* ---- more of the same ------------------------------------------------------------------------------- */

/* Other seeds of every recipe. Iterations are few: who does not get there is not asked, who claims to is.
 * Methods that end by themselves have to solve what is well conditioned. */
static void judge_claim(const ss_solver *solver, const recipe *from, known_problem *of)
{
    ss_run_options run = usual_run(of);
    run.max_iterations = 1000;
    attempt a = try_from(solver, of, &run, NULL);
    int seed = (int)from->seed;
    if (a.outcome == BROKEN) BLAME(solver, of, "seed %d: the call failed, or x is not finite", seed);
    if (a.outcome == LIED)
        BLAME(solver, of, "seed %d: says converged, but unknown %d has %s of %g", seed, a.verdict.unknown,
              a.verdict.what, a.verdict.worst);
    // a fixed point, which need not be reached
    bool settles = !(ss_problem_laws(of->problem) & SS_LAW_COUPLED);
    bool must = solver->traits & SS_EXACT && settles && !why_expected(solver, of);
    if (a.outcome == GAVE_UP && must)
        BLAME(solver, of, "seed %d: %s after %d iterations, %s of unknown %d is %g", seed,
              ss_status_name(a.result.status), a.result.iterations, a.verdict.what, a.verdict.unknown,
              a.verdict.worst);
}

TEST(claims_hold_for_other_seeds_and_exact_methods_solve_them)
{
    for (int p = 0; p < RECIPES; p++) {
        for (uint64_t seed = 1000; seed < 1000 + SEEDS; seed++) {
            recipe other = recipes[p];
            other.seed = seed;
            known_problem of = cook(&other);
            for (int s = 0; s < ss_solver_count(); s++) {
                const ss_solver *solver = ss_solver_at(s);
                if (!ss_solver_refusal(solver, of.problem)) judge_claim(solver, &other, &of);
            }
            known_problem_free(&of);
        }
    }
}

/* Any mixture of laws on any matrix. */
static recipe random_recipe(uint64_t seed, char letters[16])
{
    static const char all[] = "flbcCkprvqs";
    ss_random random = ss_random_start(seed, 3);
    int count = 1 + ss_random_below(&random, 12), kinds = 1 + ss_random_below(&random, (int)sizeof all - 1);
    int from = ss_random_below(&random, (int)sizeof all - 1);
    for (int i = 0; i < count; i++)
        letters[i] = all[(from + ss_random_below(&random, kinds)) % ((int)sizeof all - 1)];
    letters[count] = 0;
    static const double frictions[] = {0.0, 0.0, 0.01, 1.0, 2.0, INFINITY};
    recipe made = {.name = letters, .letters = letters, .seed = seed};
    made.matrix = (matrix_kind)ss_random_below(&random, SCENE + 1);
    made.bodies = 1 + ss_random_below(&random, 5);
    made.mass_ratio = pow(10.0, ss_random_below(&random, 7));
    made.mu = frictions[ss_random_below(&random, 6)];
    made.frictionless = ss_random_below(&random, 10) == 0;
    made.degenerate = ss_random_below(&random, 2);
    return made;
}

TEST(claims_hold_for_random_mixtures_of_laws)
{
    for (uint64_t seed = 1; seed <= MIXTURES; seed++) {
        char letters[16];
        recipe mixed = random_recipe(seed, letters);
        bool coupled_to_infinity = isinf(mixed.mu) && strpbrk(letters, "cC"); // factors are finite
        if (coupled_to_infinity) mixed.mu = 0.5;
        known_problem of = cook(&mixed);
        for (int s = 0; s < ss_solver_count(); s++) {
            const ss_solver *solver = ss_solver_at(s);
            if (!ss_solver_refusal(solver, of.problem)) judge_claim(solver, &mixed, &of);
        }
        known_problem_free(&of);
    }
}

static void compare_speeds(const ss_solver *solver, known_problem *of)
{
    if (!(of->agreement > 0.0)) return;
    double *x = numbers(of->problem->size);
    long double *w = known(calloc((size_t)of->problem->size + 1, sizeof *w), NULL);
    ss_run_options run = usual_run(of);
    attempt a = try_from(solver, of, &run, x);
    exact_w(of->problem, x, w);
    long double scale = load_of(of->problem);
    for (int i = 0; a.outcome == SOLVED && i < of->problem->size; i++) {
        double off = (double)(fabsl(w[i] - of->w[i]) / sqrtl(inverse_mass(of->problem, i)) / scale);
        if (!(off <= of->agreement)) {
            BLAME(solver, of, "w[%d] is off by %g of the load", i, off);
            break;
        }
    }
    free(x);
    free(w);
}

TEST(solvers_agree_on_the_velocities_where_these_are_unique)
{
    for_all(compare_speeds);
}

/* ---- starts and ends -------------------------------------------------------------------------------- */

/* Whoever uses the start must see that it is the solution. Some look only after the first step, and coupled
 * bounds may be looked at twice: three iterations. */
static void start_at_the_solution(const ss_solver *solver, known_problem *of)
{
    if (!(solver->traits & SS_WARM_STARTS) || !of->x || why_expected(solver, of)) return;
    double *x = numbers(of->problem->size);
    memcpy(x, of->x, (size_t)of->problem->size * sizeof *x);
    ss_run_options run = usual_run(of);
    attempt a = try_from(solver, of, &run, x);
    if (a.outcome != SOLVED || a.result.iterations > 3)
        BLAME(solver, of, "from the solution: %s after %d iterations, %s %g", ss_status_name(a.result.status),
              a.result.iterations, a.verdict.what, a.verdict.worst);
    free(x);
}

TEST(a_start_at_the_solution_ends_at_once)
{
    for_all(start_at_the_solution);
}

/* A start from far away must not be worse than honest. */
static void start_badly(const ss_solver *solver, known_problem *of)
{
    double *x = numbers(of->problem->size);
    ss_random random = ss_random_start(99, 0);
    for (int i = 0; i < of->problem->size; i++) x[i] = 1e6 * ss_random_normal(&random);
    ss_run_options run = usual_run(of);
    run.max_iterations = 500;
    attempt a = try_from(solver, of, &run, x);
    if (a.outcome == LIED || a.outcome == BROKEN)
        BLAME(solver, of, "from far away: %s, %s %g", ss_status_name(a.result.status), a.verdict.what,
              a.verdict.worst);
    free(x);
}

TEST(a_start_from_far_away_is_survived)
{
    for_all(start_badly);
}

static void keep_the_best(const ss_solver *solver, known_problem *of)
{
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        char keep[64];
        snprintf(keep, sizeof keep, "best:%s", ss_gauge_name((ss_gauge)g));
        ss_run_options run = {.max_iterations = 7, .seed = 1};
        attempt last = try_from(solver, of, &run, NULL);
        run.keep = (ss_keep_rule){SS_KEEP_BEST, (ss_gauge)g};
        attempt best = try_from(solver, of, &run, NULL);
        double before = last.result.gauge[g], after = best.result.gauge[g];
        // the solver's own w may differ from A x + b by rounding
        if (after > before * (1.0 + 1e-6) + 1e-12)
            BLAME(solver, of, "%s: %.17g, the last iterate had %.17g", keep, after, before);
    }
}

TEST(the_best_iterate_is_not_worse_than_the_last)
{
    for_all(keep_the_best);
}

/* ---- docs/solvers.md -------------------------------------------------------------------------------- */

static const char page_head[] =
    "# Solvers: what they accept, what they solve\n"
    "\n"
    "This page is printed by the conformance suite; print it again after changing a solver:\n"
    "\n"
    "    build/release/test/test_conformance --page > docs/solvers.md\n"
    "\n"
    "## What they accept\n"
    "\n"
    "Laws are those of `stickslip/problem.h`. *Exact* methods end on their own at a solution; *warm* ones "
    "use the start; *bodies*: the matrix is never built if the problem comes from bodies.\n"
    "\n";

static const char page_middle[] =
    "\n"
    "## What they solve\n"
    "\n"
    "Every solver with its default options, from a cold start, on the small problems of `test/catalogue.h`. "
    "A number is the number of iterations until `relative_energy<1e-8` (`natural_residual<1e-9` for the "
    "linear complementarity problems of Stewart and Trinkle, whose rows for the sliding speed have no "
    "inverse mass), confirmed by a residual that is computed without the library. Iterations of different "
    "methods do not cost the same: a pivot or a Newton step is a factorisation, a sweep is not. Empty: the "
    "solver does not accept the problem. Words: the status of a solver that did not converge within 20000 "
    "iterations. The contradictions at the end have no solution, and the rod beyond Painlevé may have none "
    "or several.\n"
    "\n";

static const char *mark(unsigned set, unsigned bit)
{
    return set & bit ? "yes" : "";
}

static void print_who_takes_what(void)
{
    printf("| solver | free | box | coupled | cone | convex | exact | warm | bodies | needs | weakness |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|\n");
    for (int s = 0; s < ss_solver_count(); s++) {
        const ss_solver *solver = ss_solver_at(s);
        unsigned laws = solver->laws, traits = solver->traits;
        printf("| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s%s | %s |\n", solver->name,
               mark(laws, SS_LAW_FREE), mark(laws, SS_LAW_BOX), mark(laws, SS_LAW_COUPLED),
               mark(laws, SS_LAW_CONE), mark(laws, SS_LAW_CONVEX), mark(traits, SS_EXACT),
               mark(traits, SS_WARM_STARTS), mark(traits, SS_MATRIX_FREE),
               traits & SS_NEEDS_SYMMETRIC ? "symmetry " : "", traits & SS_NEEDS_DIAGONAL ? "diagonal" : "",
               solver->weakness);
    }
}

static void print_cell(const ss_solver *solver, known_problem *of)
{
    attempt a = try_cold(solver, of);
    if (a.outcome == REFUSED)
        printf(" |");
    else if (a.outcome == SOLVED)
        printf(" %d |", a.result.iterations);
    else
        printf(" %s |", a.outcome == LIED ? "WRONG" : ss_status_name(a.result.status));
}

static void print_who_solves_what(void)
{
    printf("| problem | unknowns |");
    for (int s = 0; s < ss_solver_count(); s++) printf(" %s |", ss_solver_at(s)->name);
    printf("\n|---|---|");
    for (int s = 0; s < ss_solver_count(); s++) printf("---|");
    for (int p = 0; p < PROBLEMS; p++) {
        known_problem of = problem_at(p);
        printf("\n| %s | %d |", of.name, of.problem->size);
        for (int s = 0; s < ss_solver_count(); s++) print_cell(ss_solver_at(s), &of);
        known_problem_free(&of);
    }
    printf("\n");
}

static void print_known_failures(void)
{
    printf("\n## Known failures\n\n");
    for (const expected_failure *at = expected_failures; at->solver; at++)
        printf("- %s, %s: %s\n", at->solver, at->problem, at->reason);
}

static int print_page(void)
{
    fputs(page_head, stdout);
    print_who_takes_what();
    fputs(page_middle, stdout);
    print_who_solves_what();
    print_known_failures();
    return 0;
}

int main(int argc, char **argv)
{
    return argc > 1 && strcmp(argv[1], "--page") == 0 ? print_page() : kit_main(argc, argv);
}
