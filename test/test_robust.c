/* Every solver of the registry on problems that are nasty and that real files contain all the same: whatever
 * comes out, it is finite, measured, within its limits, and called converged only when it is. */
#include "conformance.h"
#include "rules.h"

#include "mechanics.h"

/* ---- nasty problems --------------------------------------------------------------------------------- */

static const recipe nasty_recipes[] = {
    {.name = "mu 0", .letters = "kkkk", .seed = 101, .frictionless = true},
    {.name = "mu 1e-12", .letters = "kkkk", .seed = 102, .mu = 1e-12},
    {.name = "mu 1", .letters = "kkkk", .seed = 103, .mu = 1.0},
    {.name = "mu 10", .letters = "kkkk", .seed = 104, .mu = 10.0},
    {.name = "mu infinite", .letters = "kkkk", .seed = 105, .mu = INFINITY},
    {.name = "mu 1e-12, redundant",
     .letters = "kkkk",
     .seed = 106,
     .mu = 1e-12,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 1},
    {.name = "mu 10, redundant",
     .letters = "kkkk",
     .seed = 107,
     .mu = 10.0,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 1},
    {.name = "mu infinite, redundant",
     .letters = "kkkk",
     .seed = 108,
     .mu = INFINITY,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 1},
    {.name = "mu 10, convex",
     .letters = "vvvv",
     .seed = 109,
     .mu = 10.0,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 1},
    {.name = "mu 10, rolling", .letters = "rrr", .seed = 110, .mu = 10.0},
    {.name = "mu 10, planar", .letters = "pppp", .seed = 111, .mu = 10.0},
    {.name = "mu 10, coupled", .letters = "cccc", .seed = 112, .mu = 10.0},
    {.name = "mass ratio 1e6, every law",
     .letters = "fflbckpv",
     .seed = 113,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 5,
     .mass_ratio = 1e6},
    {.name = "mass ratio 1e6, the other order",
     .letters = "kkkkfl",
     .seed = 114,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 4,
     .mass_ratio = 1e-6},
    {.name = "joints twice as many as they can be",
     .letters = "ffffffffffffkk",
     .seed = 115,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 1},
    {.name = "joints and limits, redundant",
     .letters = "fffffffffffflbl",
     .seed = 116,
     .matrix = SS_RECIPE_BODIES,
     .bodies = 1,
     .degenerate = true},
    {.name = "ill-conditioned cones", .letters = "kkkk", .seed = 117, .matrix = SS_RECIPE_ILL},
    {.name = "ill-conditioned, unsymmetric laws",
     .letters = "fflbkv",
     .seed = 118,
     .matrix = SS_RECIPE_SKEWED},
};

/* b = w - A x for a planted solution, with A given. */
static known_problem planted(const char *name, const recipe *from, const double *A)
{
    ss_random random = ss_random_start(from->seed, 7);
    ss_error err;
    known_problem made = {.name = name, .stop = usual_stop};
    made.problem = known(ss_recipe_problem(from, &random, &err), &err);
    made.x = problem_numbers(made.problem->size);
    made.w = problem_numbers(made.problem->size);
    ss_recipe_plant(from, &random, made.problem, made.x, made.w);
    made.problem->A = sparse_of_dense(made.problem->size, A);
    if (!ss_planted_load(made.problem, made.x, made.w, &err)) known(NULL, &err);
    return made;
}

/* J (1 + K) J' with K skew and J of rank 5: unsymmetric, singular, and monotone. */
static known_problem unsymmetric_singular(const char *letters)
{
    enum { MOST = 12, RANK = 5 };
    recipe from = {.letters = letters, .seed = 131};
    double J[MOST][RANK], K[RANK][RANK] = {{0}}, A[MOST * MOST] = {0};
    ss_random random = ss_random_start(132, 0);
    for (int i = 0; i < MOST; i++)
        for (int k = 0; k < RANK; k++) J[i][k] = ss_random_between(&random, -1, 1);
    for (int i = 0; i < RANK; i++) {
        K[i][i] = 1.0;
        for (int k = 0; k < i; k++) K[i][k] = ss_random_between(&random, -0.3, 0.3), K[k][i] = -K[i][k];
    }
    for (int i = 0; i < MOST; i++)
        for (int j = 0; j < MOST; j++)
            for (int k = 0; k < RANK * RANK; k++)
                A[MOST * i + j] += J[i][k / RANK] * K[k / RANK][k % RANK] * J[j][k % RANK];
    return planted(letters, &from, A);
}

static known_problem unsymmetric_singular_cones(void)
{
    return unsymmetric_singular("kkkk");
}
static known_problem unsymmetric_singular_rows(void)
{
    return unsymmetric_singular("llllllllllll");
}
static known_problem unsymmetric_singular_boxes(void)
{
    return unsymmetric_singular("bbbbbbllffll");
}

/* Light on heavy: the harmless order. */
static known_problem column_light_on_heavy(void)
{
    return column("column, each ball a thousandth of the one below", 3, 1.0 / 1024.0);
}

/* One cone without any rows, as between two bodies that are fixed, among others. */
static known_problem one_empty_contact(void)
{
    static const recipe from = {.letters = "kkk", .seed = 133};
    double A[81] = {0};
    for (int i = 0; i < 9; i++) A[10 * i] = i / 3 == 1 ? 0.0 : 2.0;
    A[1] = A[9] = 0.5;
    known_problem made = planted("one contact without rows", &from, A);
    made.problem->b[3] = 1.0;
    made.problem->b[4] = made.problem->b[5] = 0.0;
    return made;
}

static known_problem all_zero(ss_law law)
{
    ss_error err;
    known_problem made = {.name = "A = 0 and b = 0", .stop = usual_stop};
    made.problem = known(ss_problem_create(3, 1, -1, &err), &err);
    made.problem->blocks[0] = ss_planted_block(law, 0, 3);
    made.problem->blocks[0].mu = 0.5;
    if (law == SS_LAW_BOX)
        for (int i = 0; i < 3; i++) made.problem->lower[i] = 0.0;
    made.problem->A = sparse_of_dense(3, (double[9]){0});
    ss_problem_matrix_changed(made.problem);
    return made;
}
static known_problem zero_cone(void)
{
    return all_zero(SS_LAW_CONE);
}
static known_problem zero_rows(void)
{
    return all_zero(SS_LAW_BOX);
}
static known_problem zero_equations(void)
{
    return all_zero(SS_LAW_FREE);
}

/* A definite matrix with boxes that are points, and boxes without bounds. */
static known_problem fixed_boxes(void)
{
    static const recipe from = {.name = "bounds equal", .letters = "bbbbbb", .seed = 134};
    known_problem made = cook(&from);
    for (int i = 0; i < 6; i++) made.problem->lower[i] = made.problem->upper[i] = 0.1 * (i - 2);
    return made;
}
static known_problem endless_boxes(void)
{
    static const recipe from = {.name = "bounds infinite", .letters = "bbbbbb", .seed = 135};
    known_problem made = cook(&from);
    for (int i = 0; i < 6; i++) made.problem->lower[i] = -INFINITY, made.problem->upper[i] = INFINITY;
    return made;
}
static known_problem huge_bounds(void)
{
    static const recipe from = {.name = "bounds of 1e300", .letters = "bbbbbb", .seed = 136};
    known_problem made = cook(&from);
    for (int i = 0; i < 6; i++) made.problem->lower[i] = -1e300, made.problem->upper[i] = 1e300;
    return made;
}

/* D A D, D b: rows of lengths, angles and whatever else, each in its own unit. */
static known_problem mixed_units(void)
{
    static const recipe from = {
        .name = "rows in units from 2^-20 to 2^20", .letters = "ffllllll", .seed = 137};
    known_problem made = cook(&from);
    ss_sparse *A = made.problem->A;
    for (int j = 0; j < 8; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++)
            A->value[k] = ldexp(A->value[k], 6 * (j - 4) + 6 * (A->row[k] - 4));
        made.problem->b[j] = ldexp(made.problem->b[j], 6 * (j - 4));
    }
    ss_problem_matrix_changed(made.problem);
    return made;
}

/* The same problems in other units: A and b times something. */
typedef struct scaling {
    const char *name;
    double matrix, load;
} scaling;

static const scaling scalings[] = {
    {"mm, tonnes, microseconds", 1e3, 1e-3},
    {"km, megatonnes, hours", 1e9, 3.6},
    {"masses of 1e-12", 1e12, 1.0},
    {"masses of 1e12", 1e-12, 1.0},
    {"masses of 1e12, slow", 1e-12, 1e-12},
    {"no load", 1.0, 0.0},
    {"load of 1e12", 1.0, 1e12},
    {"load of 1e-12", 1.0, 1e-12},
    {"load of 1e150", 1.0, 1e150},
    {"load of 1e200", 1.0, 1e200},
    {"load of 1e-310", 1.0, 1e-310},
    {"matrix of 1e-310", 1e-310, 1.0},
    {"matrix of 1e200", 1e200, 1.0},
};
static const char *const scaled_letters[] = {"kkkfl", "ffllllll", "vvvfl", "lccc"};

static known_problem scaled(const char *letters, scaling by)
{
    recipe from = {.letters = letters, .seed = 138};
    known_problem made = cook(&from);
    made.name = by.name;
    ss_sparse *A = made.problem->A;
    for (int k = 0; k < ss_sparse_nonzeros(A); k++) A->value[k] *= by.matrix;
    for (int i = 0; i < made.problem->size; i++) made.problem->b[i] *= by.load;
    ss_problem_matrix_changed(made.problem);
    return made;
}

static known_problem (*const nasty_makers[])(void) = {
    unsymmetric_singular_cones,
    unsymmetric_singular_rows,
    unsymmetric_singular_boxes,
    column_light_on_heavy,
    one_empty_contact,
    zero_cone,
    zero_rows,
    zero_equations,
    fixed_boxes,
    endless_boxes,
    huge_bounds,
    mixed_units,
};

/* Those of the catalogue that are nasty, too. */
static const char *const nasty_names[] = {"no unknowns",      "one row",
                                          "immovable bodies", "column, mass ratio 1e6",
                                          "contradiction",    "contradicting equations"};

enum {
    NASTY_NAMES = sizeof nasty_names / sizeof *nasty_names,
    NASTY_RECIPES = sizeof nasty_recipes / sizeof *nasty_recipes,
    NASTY_MAKERS = sizeof nasty_makers / sizeof *nasty_makers,
    SCALINGS = sizeof scalings / sizeof *scalings,
    LETTERS = sizeof scaled_letters / sizeof *scaled_letters,
    NASTY = NASTY_NAMES + NASTY_RECIPES + NASTY_MAKERS + SCALINGS * LETTERS,
};

static known_problem nasty_at(int index)
{
    if (index < NASTY_NAMES) return problem_named(nasty_names[index]);
    index -= NASTY_NAMES;
    if (index < NASTY_RECIPES) return cook(&nasty_recipes[index]);
    index -= NASTY_RECIPES;
    if (index < NASTY_MAKERS) return nasty_makers[index]();
    index -= NASTY_MAKERS;
    return scaled(scaled_letters[index / SCALINGS], scalings[index % SCALINGS]);
}

/* ---- every solver on each of them ------------------------------------------------------------------- */

static void check_gauges(const ss_solver *solver, const known_problem *of, const ss_solve_result *result)
{
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        bool applies =
            g != SS_GAUGE_NATURAL_MAP || ss_problem_laws(of->problem) & (SS_LAW_CONE | SS_LAW_CONVEX);
        if (applies && isnan(result->gauge[g]))
            BLAME(solver, of, "%s is not a number (%s)", ss_gauge_name((ss_gauge)g),
                  ss_status_name(result->status));
    }
}

/* Velocities whose squares are zero count as none: the answer is to be judged in J, not by
 * what it should be. */
static bool is_at_rest(const ss_problem *problem)
{
    double most = 0.0;
    for (int i = 0; i < problem->size; i++) most = fmax(most, fabs(problem->b[i]));
    return most < 1e-150;
}

/* Measured apart, in long double, and by the gauges of the problem alone. */
static void check_claim(const ss_solver *solver, known_problem *of, const ss_solve_result *result,
                        const double *x)
{
    double apart[SS_GAUGE_COUNT];
    ss_error err;
    if (!ss_problem_measure(of->problem, x, apart, &err)) known(NULL, &err);
    double measured = result->gauge[SS_GAUGE_RELATIVE_ENERGY];
    if (!(fabs(apart[SS_GAUGE_RELATIVE_ENERGY] - measured) <= 1e-9 * measured + 1e-14) &&
        !(isinf(measured) || isnan(measured))) // told elsewhere
        BLAME(solver, of, "relative energy is %g, not %g", apart[SS_GAUGE_RELATIVE_ENERGY], measured);
    if (result->status != SS_CONVERGED || is_at_rest(of->problem)) return;
    ss_violation v = ss_independent_judge(of->problem, x);
    if (of->unsolvable || !(v.worst <= SS_CHECK_HONEST))
        BLAME(solver, of, "says converged, but %s of unknown %d is wrong by %g", v.what, v.unknown, v.worst);
}

static void be_nasty(const ss_solver *solver, known_problem *of)
{
    enum { BUDGET = 2000 };
    double *x = numbers(of->problem->size);
    ss_run_options run = {.max_iterations = BUDGET, .stop = stop_rule(of->stop), .seed = 1};
    ss_solve_result result;
    ss_error err;
    if (!ss_solve(&(ss_solve_request){.solver = solver, .problem = of->problem, .run = &run}, x, &result,
                  &err))
        BLAME(solver, of, "%s", err.message);
    if (!all_finite(x, of->problem->size)) BLAME(solver, of, "x is not finite");
    if (result.iterations > BUDGET) BLAME(solver, of, "%d iterations of %d", result.iterations, BUDGET);
    check_gauges(solver, of, &result);
    check_claim(solver, of, &result, x);
    ss_solve_result_free(&result);
    free(x);
}

static void for_all_nasty(void (*look)(const ss_solver *solver, known_problem *of))
{
    for (int p = 0; p < NASTY; p++) {
        known_problem of = nasty_at(p);
        for (int s = 0; s < ss_solver_count(); s++) {
            if (!ss_solver_refusal(ss_solver_at(s), of.problem)) look(ss_solver_at(s), &of);
        }
        known_problem_free(&of);
    }
}

TEST(nasty_problems_give_finite_numbers_and_honest_words)
{
    for_all_nasty(be_nasty);
}

/* ---- the best iterate ------------------------------------------------------------------------------- */

/* What a method hands in as w may be rounded differently; what was measured is near 1. */
static bool is_near(double value, double other)
{
    return fabs(value - other) <= 1e-6 * fabs(other) + 1e-12 || value == other;
}

static double solve_and_keep(const ss_solver *solver, known_problem *of, ss_keep_rule keep,
                             ss_solve_result *result)
{
    double *x = numbers(of->problem->size);
    ss_run_options run = {.max_iterations = 60, .keep = keep, .seed = 1, .history = true};
    ss_error err;
    if (!ss_solve(&(ss_solve_request){.solver = solver, .problem = of->problem, .run = &run}, x, result,
                  &err))
        BLAME(solver, of, "%s", err.message);
    if (!all_finite(x, of->problem->size)) BLAME(solver, of, "what was kept is not finite");
    free(x);
    return result->gauge[SS_GAUGE_RELATIVE_ENERGY];
}

static void keep_the_best(const ss_solver *solver, known_problem *of)
{
    ss_solve_result result;
    double best = INFINITY;
    double kept = solve_and_keep(solver, of, (ss_keep_rule){SS_KEEP_BEST, SS_GAUGE_RELATIVE_ENERGY}, &result);
    const double *history = result.history.gauge[SS_GAUGE_RELATIVE_ENERGY];
    for (int i = 0; i < result.history.count; i++) best = fmin(best, history[i]);
    if (!isinf(best) && !(kept <= best * (1.0 + 1e-6) + 1e-12))
        BLAME(solver, of, "kept %g of iteration %d, but there was %g", kept, result.kept_iteration, best);
    // the start, or what a method did after the last iteration that it showed, may be better than all of them
    int at = result.kept_iteration;
    if (at > 0 && at <= result.history.count && !is_near(kept, history[at - 1]) && !(kept < best))
        BLAME(solver, of, "kept %g of iteration %d, which was %g", kept, at, history[at - 1]);
    ss_solve_result_free(&result);
}

static void keep_the_last(const ss_solver *solver, known_problem *of)
{
    ss_solve_result result;
    double kept = solve_and_keep(solver, of, (ss_keep_rule){.which = SS_KEEP_LAST}, &result);
    int count = result.history.count;
    double last = count > 0 ? result.history.gauge[SS_GAUGE_RELATIVE_ENERGY][count - 1] : kept;
    if (!is_near(kept, last)) BLAME(solver, of, "kept %g of iteration %d, the last is %g", kept, count, last);
    if (result.kept_iteration != result.iterations)
        BLAME(solver, of, "the last of %d iterations is told to be %d", result.iterations,
              result.kept_iteration);
    ss_solve_result_free(&result);
}

TEST(the_last_iterate_is_the_last_of_the_trace)
{
    for_all_nasty(keep_the_last);
}

TEST(the_best_iterate_is_kept_on_nasty_problems)
{
    for_all_nasty(keep_the_best);
}

/* ---- units ------------------------------------------------------------------------------------------ */

typedef struct ending {
    ss_status status;
    int iterations;
} ending;

static ending solve_scaled(const ss_solver *solver, known_problem *of, double *x)
{
    ss_run_options run = {.max_iterations = 300, .stop = stop_rule(usual_stop), .seed = 1};
    ss_solve_result result;
    ss_error err;
    if (!ss_solve(&(ss_solve_request){.solver = solver, .problem = of->problem, .run = &run}, x, &result,
                  &err))
        known(NULL, &err);
    ending end = {result.status, result.iterations};
    ss_solve_result_free(&result);
    return end;
}

/* Powers of two are exact: the same steps in units of 1e-12 and 1e12, up to a common factor. */
static void compare_twins(const ss_solver *solver, const char *letters, int matrix, int load)
{
    known_problem plain = scaled(letters, (scaling){"plain", 1.0, 1.0});
    known_problem twin = scaled(letters, (scaling){"powers of two", ldexp(1.0, matrix), ldexp(1.0, load)});
    int n = plain.problem->size;
    double *x = numbers(n), *y = numbers(n);
    if (!ss_solver_refusal(solver, plain.problem)) {
        ending one = solve_scaled(solver, &plain, x), other = solve_scaled(solver, &twin, y);
        if (one.status != other.status || one.iterations != other.iterations)
            BLAME(solver, &twin, "%s: %s after %d in units of 2^%d and 2^%d, but %s after %d", letters,
                  ss_status_name(other.status), other.iterations, matrix, load, ss_status_name(one.status),
                  one.iterations);
        for (int i = 0; i < n; i++) {
            if (x[i] == ldexp(y[i], matrix - load)) continue;
            BLAME(solver, &twin, "%s: x[%d] differs by %g in units of 2^%d and 2^%d", letters, i,
                  x[i] - ldexp(y[i], matrix - load), matrix, load);
            break;
        }
    }
    free(x);
    free(y);
    known_problem_free(&plain);
    known_problem_free(&twin);
}

TEST(units_of_1e12_and_1e_12_change_no_step_of_any_solver)
{
    static const int units[][2] = {{40, 0}, {-40, 0}, {0, 40}, {0, -40}, {40, -40}, {-40, -40}};
    for (int s = 0; s < ss_solver_count(); s++) {
        for (int l = 0; l < LETTERS; l++) {
            for (size_t u = 0; u < sizeof units / sizeof *units; u++)
                compare_twins(ss_solver_at(s), scaled_letters[l], units[u][0], units[u][1]);
        }
    }
}

/* ---- many ------------------------------------------------------------------------------------------- */

/* One sphere that stands on the same point `count` times, pushed sideways. */
static known_problem one_contact_many_times(int count)
{
    ss_error err;
    known_problem made = {.name = "one contact many times", .stop = usual_stop};
    ss_problem *problem = made.problem = known(ss_problem_create(3 * count, count, 1, &err), &err);
    ss_bodies_form *form = problem->bodies;
    form->inverse_mass[0] = 1.0;
    for (int k = 0; k < 3; k++) form->inverse_inertia[0][4 * k] = 2.5;
    form->free_velocity[0][2] = -0.1;
    form->free_velocity[0][0] = 0.3;
    for (int k = 0; k < count; k++) {
        problem->blocks[k] = (ss_block){
            .law = SS_LAW_CONE, .first = 3 * k, .size = 3, .mu = 0.3, .contact = k, .constraint = -1};
        for (int i = 3 * k; i < 3 * k + 3; i++) form->pair[i][1] = 0;
        form->jacobian[3 * k][6 + 2] = form->jacobian[3 * k + 1][6] = form->jacobian[3 * k + 2][7] = 1.0;
        form->jacobian[3 * k + 1][6 + 4] = -1.0;
        form->jacobian[3 * k + 2][6 + 3] = 1.0;
        problem->b[3 * k] = -0.1;
        problem->b[3 * k + 1] = 0.3;
        problem->diagonal[3 * k] = 1.0;
        problem->diagonal[3 * k + 1] = problem->diagonal[3 * k + 2] = 3.5;
    }
    return made;
}

TEST(a_contact_that_is_there_2000_times_is_solved_or_given_up_honestly)
{
    for (int s = 0; s < ss_solver_count(); s++) {
        const ss_solver *solver = ss_solver_at(s);
        // a full matrix of 6000 unknowns would be all that is tested otherwise
        known_problem of = one_contact_many_times(solver->traits & SS_MATRIX_FREE ? 2000 : 60);
        if (!ss_solver_refusal(solver, of.problem)) be_nasty(solver, &of);
        known_problem_free(&of);
    }
}

/* A rule that never holds, and a problem whose iterations cost something. */
TEST(a_time_limit_is_kept_on_thousands_of_unknowns)
{
    // s, and times that: a loaded machine, one factorisation
    static const double limit = 0.05, patience = 20.0;
    static const recipe from = {.name = "rows",
                                .letters = "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk"
                                           "kkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkkk",
                                .seed = 141,
                                .matrix = SS_RECIPE_BODIES,
                                .bodies = 60};
    static const recipe rows = {.name = "rows",
                                .letters = "llllllllllllllllllllllllllllllllllllllllllllllllllllllll"
                                           "llllllllllllllllllllllllllllllllllllllllllllllllllllllll"
                                           "llllllllllllllllllllllllllllllllllllllllllllllllllllllll",
                                .seed = 142,
                                .matrix = SS_RECIPE_BODIES,
                                .bodies = 12};
    for (int s = 0; s < ss_solver_count(); s++) {
        const ss_solver *solver = ss_solver_at(s);
        for (int k = 0; k < 2; k++) {
            known_problem of = cook(k ? &rows : &from);
            double *x = numbers(of.problem->size);
            ss_run_options run = {.max_iterations = 1000000000, .time_limit = limit, .seed = 1};
            ss_solve_result result = {0};
            ss_error err;
            if (!ss_solver_refusal(solver, of.problem) &&
                !ss_solve(&(ss_solve_request){.solver = solver, .problem = of.problem, .run = &run}, x,
                          &result, &err))
                BLAME(solver, &of, "%s", err.message);
            if (!(result.seconds < patience * limit))
                BLAME(solver, &of, "limit %g s, took %g s", limit, result.seconds);
            if (!all_finite(x, of.problem->size)) BLAME(solver, &of, "x is not finite at the limit");
            ss_solve_result_free(&result);
            free(x);
            known_problem_free(&of);
        }
    }
}

TEST_MAIN
