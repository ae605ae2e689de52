/* nncg, apgd, barzilai-borwein, admm: what is particular to each; what they share with all solvers is in
 * test_conformance. */
#include "kit.h"
#include "rules.h"

#include <stickslip/solver.h>

#include "linalg/dense.h"
#include "problems.h"
#include "solver/core/law.h"
#include "solver/splitting/gradient.h"
#include "solver/newton/maps.h"
#include "solver/splitting/splitting.h"

/* ---- running ---------------------------------------------------------------------------------------- */

/* From x (NULL: cold), to the rule or as many iterations; settings are separated by spaces. */
static ss_solve_result run(const char *name, const char *settings, const char *stop, int iterations,
                           ss_problem *problem, double *x)
{
    const ss_solver *solver = ss_solver_find(name);
    ss_error err = {0};
    ss_solve_result result = {.status = SS_FAILED};
    double options[16], *own = numbers(problem->size); // any option struct of these solvers, well aligned
    char copy[100];
    ss_options_defaults(solver->options, options);
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *one = strtok(copy, " "); one; one = strtok(NULL, " ")) {
        if (!ss_options_assign(solver->options, options, one, &err)) KIT_FAIL("%s", err.message);
    }
    ss_run_options set = {.max_iterations = iterations, .stop = stop_rule(stop)};
    if (!ss_solve(
            &(ss_solve_request){.solver = solver, .solver_options = options, .problem = problem, .run = &set},
            x ? x : own, &result, &err))
        KIT_FAIL("%s: %s", name, err.message);
    free(own);
    return result;
}

/* Iterations until solved to 1e-8; says so when not. */
static int iterations_of(const char *name, const char *settings, ss_problem *problem)
{
    ss_solve_result result = run(name, settings, "relative_energy<1e-8", 100000, problem, NULL);
    if (result.status != SS_CONVERGED)
        KIT_FAIL("%s %s: %s after %d, relative energy %g", name, settings, ss_status_name(result.status),
                 result.iterations, result.gauge[SS_GAUGE_RELATIVE_ENERGY]);
    return result.iterations;
}

/* At rest, on four feet: the load can be shared in many ways. */
static ss_problem *tall_tower(const char *words)
{
    scene_recipe scene = {.seed = 5, .towers = 1, .height = 20, .feet = 4, .mu_least = 0.5};
    return formulated("tower", words, towers(&scene)).problem;
}

/* Pushed, on three feet, some sliding: one velocity for all methods. */
static ss_problem *pushed_towers(const char *words)
{
    scene_recipe scene = {.seed = 52, .towers = 3, .height = 3, .feet = 3, .push = 0.5, .mu_least = 0.2};
    return formulated("towers", words, towers(&scene)).problem;
}

/* The largest difference in w, relative to the largest b. */
static double difference(const ss_problem *problem, const double *x, const double *other)
{
    double *w = numbers(problem->size), *w2 = numbers(problem->size);
    double *scratch = numbers(ss_problem_scratch(problem)), worst = 0.0, scale = 0.0;
    ss_problem_apply(problem, x, scratch, w);
    ss_problem_apply(problem, other, scratch, w2);
    for (int i = 0; i < problem->size; i++) {
        worst = fmax(worst, fabs(w[i] - w2[i]));
        scale = fmax(scale, fabs(problem->b[i]));
    }
    free(w);
    free(w2);
    free(scratch);
    return worst / scale;
}

/* ---- agreement -------------------------------------------------------------------------------------- */

TEST(all_agree_with_the_interior_point_method_where_the_velocity_is_unique)
{
    static const char *const names[] = {"nncg", "apgd", "barzilai-borwein", "admm"};
    static const char *const words[] = {"cone", "convex"};
    for (int f = 0; f < 2; f++) {
        ss_problem *problem = pushed_towers(words[f]);
        double *reference = numbers(problem->size);
        run("interior-point", "", "relative_energy<1e-12", 1000, problem, reference);
        for (int k = 0; k < 4; k++) {
            double *x = numbers(problem->size);
            ss_solve_result result = run(names[k], "", "relative_energy<1e-11", 20000, problem, x);
            double off = difference(problem, x, reference);
            // a natural map of 1e-11, times the condition of a tower of three
            if (result.status != SS_CONVERGED || !(off <= 1e-7))
                KIT_FAIL("%s, %s: %s, w is off by %g of the load", names[k], words[f],
                         ss_status_name(result.status), off);
            free(x);
        }
        free(reference);
        ss_problem_destroy(problem);
    }
}

/* ---- nncg ------------------------------------------------------------------------------------------- */

TEST(nncg_without_directions_is_nsgs_bit_for_bit)
{
    static const char *const words[] = {"cone", "convex", "box"};
    for (int f = 0; f < 3; f++) {
        ss_problem *problem = pushed_towers(words[f]);
        for (int sweeps = 1; sweeps <= 70; sweeps += 23) {
            double *x = numbers(problem->size), *y = numbers(problem->size);
            run("nncg", "accelerate=false", "none", sweeps, problem, x);
            run("nsgs", "sweep=forward", "none", sweeps, problem, y);
            ENSURE(memcmp(x, y, (size_t)problem->size * sizeof *x) == 0);
            run("nncg", "", "none", sweeps, problem, y);
            if (sweeps > 1) ENSURE(memcmp(x, y, (size_t)problem->size * sizeof *x) != 0);
            free(x);
            free(y);
        }
        ss_problem_destroy(problem);
    }
}

TEST(directions_save_most_of_the_sweeps_of_a_column)
{
    known_problem of = column("column", 30, 1.0);
    int plain = iterations_of("nsgs", "", of.problem), fast = iterations_of("nncg", "", of.problem);
    if (!(10 * fast <= plain)) KIT_FAIL("%d sweeps instead of %d", fast, plain);
    known_problem_free(&of);
}

/* ---- apgd and barzilai-borwein ---------------------------------------------------------------------- */

/* The condition of a column grows with the square of its height: so do the iterations of a gradient method,
 * but not those of an accelerated one, which grow with the height. */
TEST(twice_the_column_takes_twice_the_accelerated_steps_and_four_times_the_plain_ones)
{
    known_problem low = column("column", 20, 1.0), high = column("column", 40, 1.0);
    double plain =
        (double)iterations_of("jacobi", "", high.problem) / iterations_of("jacobi", "", low.problem);
    double apgd = (double)iterations_of("apgd", "", high.problem) / iterations_of("apgd", "", low.problem);
    if (!(plain > 3.3 && apgd < 2.7)) KIT_FAIL("jacobi %g times, apgd %g times", plain, apgd);
    known_problem_free(&low);
    known_problem_free(&high);
}

/* Where the error creeps, a share beta of every step that goes on adds up to 1 / (1 - beta) steps. */
TEST(a_ball_that_keeps_half_of_its_momentum_rolls_twice_as_far)
{
    known_problem of = column("column", 20, 1.0);
    int light = iterations_of("heavy-ball", "momentum=0", of.problem);
    int heavy = iterations_of("heavy-ball", "", of.problem);
    if (!(1.6 * heavy < light && light < 2.4 * heavy)) KIT_FAIL("%d without, %d with momentum", light, heavy);
    known_problem_free(&of);
}

TEST(restarts_are_what_makes_apgd_linear)
{
    ss_problem *problem = tall_tower("convex");
    int with = iterations_of("apgd", "", problem), without = iterations_of("apgd", "restart=false", problem);
    if (!(3 * with < without)) KIT_FAIL("%d with restarts, %d without", with, without);
    ss_problem_destroy(problem);
}

/* One product is a poor guess of the largest eigenvalue; the steps find out. */
TEST(a_step_that_is_too_long_is_noticed)
{
    ss_problem *problem = tall_tower("cone");
    int blind = iterations_of("apgd", "power_iterations=0", problem);
    int careful = iterations_of("apgd", "power_iterations=100", problem);
    if (!(blind < 4 * careful)) KIT_FAIL("%d without an estimate, %d with a good one", blind, careful);
    ss_problem_destroy(problem);
}

/* How much normal and tangents act on each other, against LAPACK: contacts of a body of unit mass and inertia
 * at various levers, some of them with eigenvalues that are equal, in any unit. */
TEST(the_coupling_of_a_contact_is_its_largest_eigenvalue)
{
    static const double levers[][3] = {{0.0, 0.0, 0.0},  {0.0, 0.0, 1.0}, {0.3, 0.0, 0.2},
                                       {1.0, -2.0, 0.5}, {5.0, 5.0, 5.0}, {0.0, 1e-9, 1e-3}};
    static const double sizes[] = {1.0, 1e-120, 1e120};
    ss_arena *arena = ss_arena_create(0, NULL);
    for (size_t k = 0; k < sizeof levers / sizeof *levers; k++) {
        for (int size = 2; size <= 3; size++) {
            for (int s = 0; s < 3; s++) {
                const double *r = levers[k];
                double turn[3][3] = {
                    {0.0, r[2], -r[1]}, {-r[2], 0.0, r[0]}, {r[1], -r[0], 0.0}}; // r x rows of 1
                double A[9], scaled[9], values[3], part[SS_PARTS], lambda;
                for (int i = 0; i < size; i++) {
                    for (int j = 0; j < size; j++) {
                        double product = i == j;
                        for (int c = 0; c < 3; c++) product += turn[i][c] * turn[j][c];
                        A[size * i + j] = sizes[s] * product;
                    }
                }
                ss_cone_stiffness(size, A, part);
                for (int i = 0; i < size * size; i++)
                    scaled[i] = A[i] / sqrt(part[ss_part_of(size, i / size)]) /
                                sqrt(part[ss_part_of(size, i % size)]);
                ENSURE(ss_dense_symmetric_eigen(size, scaled, values, NULL, arena) == SS_LINALG_OK);
                ENSURE(ss_cone_coupling(size, A, part, arena, &lambda));
                ENSURE_NEAR(lambda, values[size - 1], 1e-7); // roots of rounding where two are equal
            }
        }
    }
    ss_arena_destroy(arena);
}

TEST(gradient_methods_refuse_what_has_no_function_to_descend_on)
{
    recipe skew = {.name = "skew", .letters = "kkkk", .seed = 25, .matrix = SS_RECIPE_SKEWED};
    known_problem of = cook(&skew);
    ENSURE_CONTAINS(ss_solver_refusal(ss_solver_find("apgd"), of.problem), "symmetric");
    ENSURE_CONTAINS(ss_solver_refusal(ss_solver_find("barzilai-borwein"), of.problem), "symmetric");
    ENSURE(ss_solver_refusal(ss_solver_find("admm"), of.problem) == NULL);
    known_problem_free(&of);
    recipe coupled = {.name = "coupled", .letters = "ccc", .seed = 14};
    of = cook(&coupled);
    ENSURE(ss_solver_refusal(ss_solver_find("barzilai-borwein"), of.problem) != NULL);
    ENSURE(ss_solver_refusal(ss_solver_find("apgd"), of.problem) == NULL);
    known_problem_free(&of);
}

/* ---- products and the linear system ----------------------------------------------------------------- */

typedef struct bench {
    ss_arena *arena;
    ss_problem *problem;
    ss_space *space;
} bench;

static bench bench_of(ss_problem *problem)
{
    bench b = {.arena = ss_arena_create(1 << 16, NULL), .problem = problem};
    b.space = known(ss_space_create(problem, b.arena), NULL);
    return b;
}

static void bench_free(bench *b)
{
    ss_arena_destroy(b->arena);
    ss_problem_destroy(b->problem);
}

/* Bodies; bodies with compliance and rows of all kinds, some with both ends on one body; a
 * matrix; a small one. */
enum { BENCHES = 4 };
static bench bench_at(int which)
{
    static const recipe mixed = {.name = "all",
                                 .letters = "kpflbkkkrkkfffkkkkkkkk",
                                 .seed = 7,
                                 .matrix = SS_RECIPE_BODIES,
                                 .bodies = 6};
    static const recipe full = {
        .name = "small", .letters = "kklb", .seed = 8, .matrix = SS_RECIPE_BODIES, .bodies = 2};
    if (which == 0) return bench_of(tall_tower("cone"));
    known_problem of = cook(which == 3 ? &full : &mixed);
    ss_problem *problem = of.problem;
    of.problem = NULL;
    ss_release(of.x);
    ss_release(of.w);
    if (which == 1) {
        for (int i = 0; i < problem->size; i++) problem->bodies->compliance[i] = 0.01 * (i % 5);
        problem->bodies->pair[problem->size - 1][0] = problem->bodies->pair[problem->size - 1][1];
    }
    if (which == 2) {
        if (!ss_problem_need_matrix(problem, NULL)) KIT_FAIL("no matrix");
        ss_problem *plain = known(ss_problem_create(problem->size, problem->block_count, -1, NULL), NULL);
        memcpy(plain->blocks, problem->blocks, (size_t)problem->block_count * sizeof *plain->blocks);
        memcpy(plain->lower, problem->lower, (size_t)problem->size * sizeof *plain->lower);
        memcpy(plain->upper, problem->upper, (size_t)problem->size * sizeof *plain->upper);
        memcpy(plain->diagonal, problem->diagonal, (size_t)problem->size * sizeof *plain->diagonal);
        memcpy(plain->b, problem->b, (size_t)problem->size * sizeof *plain->b);
        plain->A = problem->A;
        problem->A = NULL;
        ss_problem_destroy(problem);
        problem = plain;
    }
    return bench_of(problem);
}

TEST(the_samples_cover_all_ways_to_write_the_matrix)
{
    for (int k = 0; k < BENCHES; k++) {
        bench b = bench_at(k);
        ENSURE((b.space->levers != NULL) == (k < 2));
        ENSURE((b.space->W != NULL) == (k == 2));
        ENSURE((b.space->full != NULL) == (k == 3));
        bench_free(&b);
    }
}

TEST(products_by_stretches_are_those_row_by_row)
{
    for (int k = 0; k < BENCHES; k++) {
        bench b = bench_at(k);
        int n = b.space->size;
        double *r = numbers(n), *u = numbers(n), *expected = numbers(n);
        ss_random random = ss_random_start(3, 0);
        for (int i = 0; i < n; i++) r[i] = ss_random_normal(&random);
        ss_space_velocity(b.space, r, u);
        const ss_levers *levers = b.space->levers;
        if (!levers) { // the others have no groups
            memcpy(expected, u, (size_t)n * sizeof *u);
        } else {
            double(*v)[6] = known(calloc((size_t)levers->bodies, sizeof *v), NULL);
            for (int i = 0; i < n; i++) ss_levers_push_row(levers, i, r[i], v);
            for (int i = 0; i < n; i++)
                expected[i] = ss_levers_pull_row(levers, i, v) + levers->compliance[i] * r[i] + b.space->q[i];
            free(v);
        }
        for (int i = 0; i < n; i++) ENSURE_NEAR(u[i], expected[i], 1e-12); // sums of some tens of numbers
        free(r);
        free(u);
        free(expected);
        bench_free(&b);
    }
}

TEST(the_shifted_system_is_solved_again_and_again)
{
    for (int k = 0; k < BENCHES; k++) {
        bench b = bench_at(k);
        int n = b.space->size;
        double *shift = numbers(n), *right = numbers(n), *x = numbers(n), *image = numbers(n);
        ss_random random = ss_random_start(4, 0);
        ss_shifted_system *shifted = known(ss_shifted_system_create(b.space, b.arena), NULL);
        for (double size = 1e-4; size < 1e5; size *= 100.0) {
            for (int i = 0; i < n; i++) {
                shift[i] = size * (1.0 + i % 3);
                right[i] = ss_random_normal(&random);
            }
            ENSURE(ss_shifted_system_factor(shifted, shift));
            ss_shifted_system_solve(shifted, right, x);
            ss_space_apply(b.space, x, image);
            // rounding, and what bodies lose by a small shift
            double rounding = 1e-12 + 1e-13 / size;
            for (int i = 0; i < n; i++) ENSURE_NEAR(image[i] + shift[i] * x[i], right[i], rounding);
        }
        ss_shifted_system_free(shifted);
        free(shift);
        free(right);
        free(x);
        free(image);
        bench_free(&b);
    }
}

/* ---- admm ------------------------------------------------------------------------------------------- */

static const ss_splitting_options usual = {.rho = 0.01, .relaxation = 1.0, .mixing = 5, .adaptive = true};

/* Steps until the error is below 1e-10, 5000 at most. */
static int steps_of(const bench *b, ss_splitting_options set, const double *start, ss_splitting *splitting)
{
    double *zero = numbers(b->space->size);
    if (!ss_splitting_create(b->space, &set, start ? start : zero, b->arena, splitting))
        KIT_FAIL("no memory");
    int steps = 0;
    while (splitting->error > 1e-10 && steps < 5000 && ss_splitting_step(splitting)) steps++;
    free(zero);
    return steps;
}

TEST(a_tall_tower_takes_tens_of_steps_and_few_factors)
{
    bench b = bench_of(tall_tower("cone"));
    ss_splitting splitting;
    int steps = steps_of(&b, usual, NULL, &splitting);
    if (steps > 60 || splitting.factorizations > 4)
        KIT_FAIL("%d steps, %d factorisations", steps, splitting.factorizations);
    ENSURE(ss_newton_residual(b.space, 1.0, splitting.z, splitting.u, NULL) <= 1e-9);
    ss_splitting_free(&splitting);
    bench_free(&b);
}

TEST(a_start_at_the_solution_is_never_factorised)
{
    bench b = bench_of(tall_tower("cone"));
    ss_splitting first, again;
    steps_of(&b, usual, NULL, &first);
    int steps = steps_of(&b, usual, first.z, &again);
    if (steps > 0 || again.factorizations > 0) KIT_FAIL("%d steps, error %g", steps, again.error);
    ss_splitting_free(&first);
    ss_splitting_free(&again);
    bench_free(&b);
}

TEST(a_start_nearby_saves_steps)
{
    bench b = bench_of(pushed_towers("cone"));
    ss_splitting first, again;
    int cold = steps_of(&b, usual, NULL, &first);
    for (int i = 0; i < b.space->size; i++) first.z[i] *= 1.0 + 1e-6;
    int warm = steps_of(&b, usual, first.z, &again);
    if (!(warm < cold)) KIT_FAIL("%d steps from nearby, %d from nowhere", warm, cold);
    ss_splitting_free(&first);
    ss_splitting_free(&again);
    bench_free(&b);
}

/* The answer does not depend on rho, the way there does; adapting it mends a bad one. */
TEST(a_bad_rho_is_mended)
{
    static const double bad[] = {1e-5, 1e3};
    for (int k = 0; k < 2; k++) {
        bench b = bench_of(pushed_towers("convex"));
        ss_splitting fixed, adapted;
        ss_splitting_options set = usual;
        set.rho = bad[k];
        set.mixing = 0;
        int mended = steps_of(&b, set, NULL, &adapted);
        set.adaptive = false;
        int stubborn = steps_of(&b, set, NULL, &fixed);
        if (!(5 * mended < stubborn)) KIT_FAIL("rho %g: %d adapted, %d fixed", bad[k], mended, stubborn);
        ENSURE(adapted.error <= 1e-10 && adapted.factorizations > 1 && fixed.factorizations == 1);
        ENSURE(k == 0 ? adapted.rho > 10.0 * bad[k] : adapted.rho < 0.1 * bad[k]);
        ss_splitting_free(&fixed);
        ss_splitting_free(&adapted);
        bench_free(&b);
    }
}

TEST(mixing_saves_steps)
{
    bench b = bench_of(pushed_towers("cone"));
    ss_splitting mixed, plain;
    ss_splitting_options set = usual;
    int fast = steps_of(&b, set, NULL, &mixed);
    set.mixing = 0;
    int slow = steps_of(&b, set, NULL, &plain);
    if (!(2 * fast < slow)) KIT_FAIL("%d steps with mixing, %d without", fast, slow);
    ENSURE(plain.error <= 1e-10);
    ss_splitting_free(&mixed);
    ss_splitting_free(&plain);
    bench_free(&b);
}

/* Every step leaves a point that obeys bounds and cones, and an error that is no smaller than
 * the natural map. */
TEST(the_error_is_a_bound)
{
    bench b = bench_of(pushed_towers("convex"));
    int n = b.space->size;
    double *zero = numbers(n), *near = numbers(n);
    ss_splitting splitting;
    ENSURE(ss_splitting_create(b.space, &usual, zero, b.arena, &splitting));
    for (int step = 0; step < 40; step++) {
        double natural = ss_newton_residual(b.space, 1.0, splitting.z, splitting.u, NULL);
        if (!(natural <= splitting.error * (1.0 + 1e-9) + 1e-14))
            KIT_FAIL("step %d: natural map %g, error %g", step, natural, splitting.error);
        ss_gradient_project(b.space, splitting.z, splitting.z, near);
        for (int i = 0; i < n; i++) ENSURE_NEAR(near[i], splitting.z[i], 1e-12 * (1.0 + fabs(near[i])));
        ENSURE(ss_splitting_step(&splitting));
    }
    ss_splitting_free(&splitting);
    free(zero);
    free(near);
    bench_free(&b);
}

/* Free rows have a shift of their own: equations alone are a linear system, solved at once. */
TEST(equations_alone_take_a_handful_of_steps)
{
    recipe joints = {.name = "joints", .letters = "ffffffffff", .seed = 8};
    known_problem of = cook(&joints);
    int iterations = iterations_of("admm", "", of.problem);
    if (iterations > 6) KIT_FAIL("%d iterations", iterations);
    known_problem_free(&of);
}

TEST_MAIN
