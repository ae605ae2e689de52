/* pgs, psor, projected-fixed-point and nsgs: on problems with a known answer, matrix-free against sparse, and
 * where they must give up with decency. */
#include "kit.h"
#include "rules.h"

#include <stickslip/dataset.h>
#include <stickslip/solver.h>

#include "known_cone.h"
#include "shared_data.h"
#include "problem/bodies_form.h"
#include "problem/laws.h"

static const char *const sweepers[] = {"pgs", "psor", "projected-fixed-point", "nsgs"};
enum { SWEEPERS = 4 };

/* ---- running ---------------------------------------------------------------------------------------- */

/* `settings`: "omega=1.5 sweep=symmetric", or empty. */
static ss_solve_result run_with(const char *name, const char *settings, ss_problem *problem, const char *stop,
                                int iterations, int seed, double *x)
{
    const ss_solver *solver = ss_solver_find(name);
    ss_error err = {0};
    ss_solve_result result = {.status = SS_FAILED};
    double set[16]; // any option struct of these solvers, well aligned
    char copy[100];
    ss_options_defaults(solver->options, set);
    snprintf(copy, sizeof copy, "%s", settings);
    for (char *one = strtok(copy, " "); one; one = strtok(NULL, " ")) {
        if (!ss_options_assign(solver->options, set, one, &err)) KIT_FAIL("%s", err.message);
    }
    ss_run_options options = ss_run_defaults();
    options.stop = stop_rule(stop);
    options.max_iterations = iterations;
    options.seed = seed;
    if (!ss_solve(
            &(ss_solve_request){.solver = solver, .solver_options = set, .problem = problem, .run = &options},
            x, &result, &err))
        KIT_FAIL("%s", err.message);
    return result;
}

static ss_solve_result run(const char *name, const char *settings, ss_problem *problem, double *x)
{
    return run_with(name, settings, problem, "relative_energy<1e-10", 20000, 1, x);
}

static bool converges(const char *name, const char *settings, ss_problem *problem)
{
    double *x = ss_allocate((size_t)problem->size, sizeof *x);
    ss_solve_result result = run(name, settings, problem, x);
    ss_release(x);
    if (result.status != SS_CONVERGED)
        fprintf(stderr, "%s %s: %s, relative energy %g after %d\n", name, settings,
                ss_status_name(result.status), result.gauge[SS_GAUGE_RELATIVE_ENERGY], result.iterations);
    return result.status == SS_CONVERGED;
}

/* ---- problems by hand ------------------------------------------------------------------------------- */

/* A from rows of numbers. One block per unknown, LCP rows. */
static ss_problem *small_problem(int n, const double *A, const double *b)
{
    ss_error err;
    ss_problem *problem = known(ss_problem_create(n, n, -1, &err), &err);
    ss_triplets entries;
    if (!ss_triplets_start(&entries, (size_t)(n * n), &err)) known(NULL, &err);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            if (A[i * n + j] != 0.0) ss_triplets_add(&entries, i, j, A[i * n + j]);
        }
        problem->b[i] = b[i];
        problem->lower[i] = 0.0;
        problem->blocks[i] =
            (ss_block){.law = SS_LAW_BOX, .first = i, .size = 1, .contact = -1, .constraint = -1};
    }
    problem->A = known(ss_triplets_finish(&entries, n, n, &err), &err);
    ss_problem_matrix_changed(problem);
    return problem;
}

/* Cones of a known solution, as a problem; `law` may replace Coulomb's. */
static ss_problem *known_problem(uint64_t seed, int dimension, int contacts, int equations, ss_law law)
{
    ss_error err;
    ss_cone_point point;
    ss_cone *cone = known_local(seed, dimension, contacts, equations, &point);
    ss_problem *problem = known(ss_problem_from_cone(cone, &err), &err);
    for (int k = 0; k < contacts; k++) problem->blocks[k].law = law;
    ss_cone_point_free(&point);
    ss_cone_destroy(cone);
    return problem;
}

/* Boxes that touch each other and the ground in `contacts` random places, with their joints: rows on bodies,
 * no matrix. Blocks: a joint of three, then contacts. */
static ss_problem *random_scene(uint64_t seed, int bodies, int contacts, int size, ss_law law)
{
    ss_error err;
    ss_random random = ss_random_start(seed, 0);
    ss_problem *problem = known(ss_problem_create(3 + size * contacts, contacts + 1, bodies, &err), &err);
    ss_bodies_form *form = problem->bodies;
    for (int b = 0; b < bodies; b++) {
        form->inverse_mass[b] = ss_random_between(&random, 0.5, 2.0);
        double *inertia = form->inverse_inertia[b];
        for (int i = 0; i < 3; i++) {
            inertia[4 * i] = ss_random_between(&random, 2.0, 4.0);
            inertia[3 * i + (i + 1) % 3] = inertia[3 * ((i + 1) % 3) + i] =
                ss_random_between(&random, -0.5, 0.5);
            form->free_velocity[b][i] = ss_random_between(&random, -1, 1);
        }
    }
    problem->blocks[0] = (ss_block){.law = SS_LAW_FREE, .size = 3, .contact = -1, .constraint = 0};
    for (int k = 0; k < contacts; k++) {
        problem->blocks[k + 1] = (ss_block){.law = law,
                                            .first = 3 + size * k,
                                            .size = size,
                                            .mu = k % 7 ? ss_random_between(&random, 0.1, 0.8) : 0.0,
                                            .mu_rolling = k % 5 ? 0.1 : 0.0,
                                            .contact = k,
                                            .constraint = -1};
    }
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        int a = ss_random_below(&random, bodies), b = ss_random_below(&random, bodies + 1) - 1;
        if (a == b) b = -1;
        for (int i = block->first; i < block->first + block->size; i++) {
            form->pair[i][0] = a;
            form->pair[i][1] = b;
            for (int d = 0; d < 12; d++) form->jacobian[i][d] = ss_random_between(&random, -1, 1);
            form->compliance[i] = i % 2 ? 0.05 : 0.0;
            problem->b[i] = ss_random_between(&random, -1, 0.5);
            double v[64][6] = {{0}};
            ss_bodies_push(form, i, 1.0, v);
            problem->diagonal[i] = ss_bodies_row(form, i, v) + form->compliance[i];
        }
    }
    problem->symmetric = true;
    return problem;
}

/* ---- known answers ---------------------------------------------------------------------------------- */

/* A block of mass 2 on a slope of tan 0.5, one contact at its centre of mass, step 0.1 s, g = 10: it holds
 * for mu = 0.6 and gains h g (sin - mu cos) for mu = 0.3. */
TEST(block_on_a_slope_holds_or_slides)
{
    for (int s = 0; s < SWEEPERS; s++) {
        for (int slides = 0; slides < 2; slides++) {
            ss_error err;
            double angle = atan(0.5), mu = slides ? 0.3 : 0.6, mass = 2.0;
            ss_problem *problem = known(ss_problem_create(3, 1, 1, &err), &err);
            problem->blocks[0] = (ss_block){.law = SS_LAW_CONE, .size = 3, .mu = mu, .contact = 0};
            problem->bodies->inverse_mass[0] = 1.0 / mass;
            for (int i = 0; i < 3; i++) {
                problem->bodies->pair[i][0] = 0;
                problem->bodies->jacobian[i][i] = 1.0;
                problem->diagonal[i] = 1.0 / mass;
            }
            problem->b[0] = -cos(angle); // h g = 1 m/s
            problem->b[1] = sin(angle);
            double x[3] = {0};
            ss_solve_result result = run(sweepers[s], "", problem, x);
            double friction = slides ? mu * cos(angle) : sin(angle);
            ENSURE_INT(result.status, SS_CONVERGED);
            ENSURE_NEAR(x[0], mass * cos(angle), 1e-9); // relative energy 1e-10
            ENSURE_NEAR(x[1], -mass * friction, 1e-9);
            ss_problem_destroy(problem);
        }
    }
}

TEST(known_solutions_of_all_cones_are_found)
{
    static const int dimensions[] = {2, 3, 5};
    for (int s = 0; s < SWEEPERS; s++) {
        for (int d = 0; d < 3; d++) {
            for (int law = SS_LAW_CONE; law <= SS_LAW_CONVEX; law *= 2) {
                ss_problem *problem = known_problem(10, dimensions[d], 12, 0, (ss_law)law);
                bool found = converges(sweepers[s], "", problem);
                ss_problem_destroy(problem);
                ENSURE(found);
            }
        }
    }
}

TEST(every_order_finds_the_solution)
{
    static const char *const settings[] = {"sweep=forward", "sweep=backward", "sweep=symmetric",
                                           "sweep=alternate", "sweep=shuffle"};
    ss_problem *problem = known_problem(11, 3, 20, 0, SS_LAW_CONE);
    for (int s = 0; s < SWEEPERS; s++) {
        for (int k = 0; k < 5; k++) ENSURE(converges(sweepers[s], settings[k], problem));
    }
    ss_problem_destroy(problem);
}

TEST(every_step_length_of_prox_finds_the_solution)
{
    static const char *const settings[] = {
        "rho=local",
        "rho=row-sum",
        "rho=global",
        "order=jacobi",
        "rho=row-sum order=jacobi",
        "rho=global order=jacobi",
    };
    ss_problem *problem = known_problem(12, 3, 10, 0, SS_LAW_CONE);
    for (int k = 0; k < 6; k++) ENSURE(converges("projected-fixed-point", settings[k], problem));
    ss_problem_destroy(problem);
}

/* Five equations on one body: each alone wants a step of 1/a, all at once that is five times too much. Plain
 * Jacobi diverges, and adaptation is what saves it. */
TEST(only_adaptation_saves_local_steps_taken_all_at_once)
{
    double A[25], b[5] = {1, 2, 3, 4, 5}, x[5] = {0};
    for (int i = 0; i < 25; i++) A[i] = i % 6 == 0 ? 1.1 : 1.0;
    ss_problem *problem = small_problem(5, A, b);
    for (int i = 0; i < 5; i++) {
        problem->blocks[i].law = SS_LAW_FREE;
        problem->lower[i] = -INFINITY;
    }
    ss_solve_result local = run("projected-fixed-point", "rho=local order=jacobi", problem, x);
    ENSURE_INT(local.status, SS_FAILED);
    for (int i = 0; i < 5; i++) ENSURE(isfinite(x[i]));
    ENSURE(converges("projected-fixed-point", "rho=adaptive order=jacobi", problem));
    ss_problem_destroy(problem);
}

/* ---- rows and bounds -------------------------------------------------------------------------------- */

/* w = x - 2, -x + 1 | the two of them coupled: 0 <= x1 <= 1 is at its upper bound, x2 free,
 * x3 fixed at 0.5. */
TEST(bounds_free_rows_and_fixed_rows)
{
    double A[9] = {2, 1, 0, 1, 2, 1, 0, 1, 2}, b[3] = {-6, 0, -10};
    for (int s = 0; s < SWEEPERS; s++) {
        ss_problem *problem = small_problem(3, A, b);
        problem->upper[0] = 1.0;
        problem->blocks[1].law = SS_LAW_FREE;
        problem->lower[1] = -INFINITY;
        problem->lower[2] = problem->upper[2] = 0.5;
        double x[3] = {0};
        ss_solve_result result = run(sweepers[s], "", problem, x);
        ENSURE_INT(result.status, SS_CONVERGED);
        ENSURE_NEAR(x[0], 1.0, 1e-9);
        ENSURE_NEAR(x[1], -0.75, 1e-9); // 2 x2 = -(x1 + x3)
        ENSURE_NEAR(x[2], 0.5, 0.0);
        ss_problem_destroy(problem);
    }
}

/* A normal row and a friction row whose bounds follow it: pushed too hard, friction is at mu x_N. */
TEST(bounds_follow_their_partner)
{
    double A[4] = {1, 0.2, 0.2, 1}, b[2] = {-1, 3};
    for (int s = 0; s < SWEEPERS; s++) {
        ss_problem *problem = small_problem(2, A, b);
        problem->blocks[1].law = SS_LAW_COUPLED;
        problem->partner[1] = 0;
        problem->factor[1] = 0.5;
        problem->lower[1] = -INFINITY;
        double x[2] = {0};
        ss_solve_result result = run(sweepers[s], "", problem, x);
        ENSURE_INT(result.status, SS_CONVERGED);
        ENSURE_NEAR(x[0], 1.0 / 0.9, 1e-9); // x + 0.2 (-0.5 x) = 1
        ENSURE_NEAR(x[1], -0.5 * x[0], 1e-9);
        ss_problem_destroy(problem);
    }
}

/* Three equations of which one is the sum of the others: a solution is found, and the same block as separate
 * rows agrees on w. */
TEST(redundant_joints_are_no_obstacle)
{
    double A[16] = {2, 1, 3, 0.5, 1, 2, 3, 0, 3, 3, 6, 0.5, 0.5, 0, 0.5, 1}, b[4] = {1, -2, -1, -1};
    for (int s = 0; s < SWEEPERS; s++) {
        ss_problem *problem = small_problem(4, A, b);
        for (int i = 0; i < 3; i++) problem->lower[i] = -INFINITY;
        problem->blocks[0] = (ss_block){.law = SS_LAW_FREE, .size = 3, .contact = -1, .constraint = 0};
        problem->blocks[1] = problem->blocks[3];
        problem->block_count = 2;
        ENSURE(converges(sweepers[s], "", problem));
        ss_problem_destroy(problem);
    }
}

/* One free block of 80 goes through the sparse factorisation, 40 through the dense inverse. */
TEST(many_equations_are_solved_as_a_block)
{
    for (int equations = 40; equations <= 80; equations += 40) {
        ss_error err;
        ss_cone_point point;
        ss_cone *cone = known_global(13, 3, 20, 6, equations, &point);
        ss_problem *problem = known(ss_problem_from_cone(cone, &err), &err);
        ENSURE(converges("nsgs", "", problem));
        ss_problem_destroy(problem);
        ss_cone_point_free(&point);
        ss_cone_destroy(cone);
    }
}

/* ---- two forms, one method -------------------------------------------------------------------------- */

/* The same scene on the bodies' velocities and on the matrix: the same iterates but for rounding. */
TEST(matrix_free_and_sparse_sweeps_agree)
{
    static const char *const matrix_free[] = {"pgs", "psor", "nsgs"};
    static const int sizes[] = {2, 3, 5};
    for (int s = 0; s < 3; s++) {
        for (int k = 0; k < 3; k++) {
            ss_error err;
            ss_problem *problem = random_scene(14, 10, 30, sizes[k], SS_LAW_CONE);
            size_t n = (size_t)problem->size;
            double *free_x = ss_allocate(n, sizeof *free_x), *x = ss_allocate(n, sizeof *x), size = 0.0;
            run_with(matrix_free[s], "", problem, "none", 10, 1, free_x);
            ENSURE(problem->A == NULL);
            ENSURE(ss_problem_need_matrix(problem, &err));
            ss_bodies_form *form = problem->bodies;
            problem->bodies = NULL;
            run_with(matrix_free[s], "", problem, "none", 10, 1, x);
            problem->bodies = form;
            for (size_t i = 0; i < n; i++) size = fmax(size, fabs(x[i]));
            // 10 passes of rounding
            for (size_t i = 0; i < n; i++) ENSURE_NEAR(free_x[i], x[i], 1e-10 * size);
            ENSURE(size > 0.0);
            ss_release(x);
            ss_release(free_x);
            ss_problem_destroy(problem);
        }
    }
}

TEST(scenes_converge_without_a_matrix)
{
    for (int s = 0; s < SWEEPERS; s++) {
        ss_problem *problem = random_scene(15, 10, 25, 3, SS_LAW_CONE);
        ENSURE(converges(sweepers[s], "", problem));
        ss_problem_destroy(problem);
    }
}

/* ---- units, seeds ----------------------------------------------------------------------------------- */

/* Masses times 4^3, lengths times 2^5: impulses scale by 2^(6+5), bit for bit, in every iteration. */
TEST(units_do_not_change_a_bit)
{
    double mass = 64.0, length = 32.0;
    for (int s = 0; s < SWEEPERS; s++) {
        ss_problem *problem = known_problem(16, 3, 15, 4, SS_LAW_CONE);
        size_t n = (size_t)problem->size;
        double *x = ss_allocate(n, sizeof *x), *scaled = ss_allocate(n, sizeof *scaled);
        run_with(sweepers[s], "", problem, "none", 25, 1, x);
        for (int e = 0; e < ss_sparse_nonzeros(problem->A); e++) problem->A->value[e] /= mass;
        for (size_t i = 0; i < n; i++) problem->b[i] *= length;
        ss_problem_matrix_changed(problem);
        run_with(sweepers[s], "", problem, "none", 25, 1, scaled);
        for (size_t i = 0; i < n; i++) ENSURE(scaled[i] == x[i] * mass * length);
        ss_release(x);
        ss_release(scaled);
        ss_problem_destroy(problem);
    }
}

TEST(a_seed_gives_the_same_shuffles_again)
{
    ss_problem *problem = known_problem(17, 3, 15, 0, SS_LAW_CONE);
    size_t n = (size_t)problem->size;
    double *x = ss_allocate(n, sizeof *x), *again = ss_allocate(n, sizeof *again);
    double *other = ss_allocate(n, sizeof *other);
    run_with("nsgs", "sweep=shuffle", problem, "none", 5, 1, x);
    run_with("nsgs", "sweep=shuffle", problem, "none", 5, 1, again);
    run_with("nsgs", "sweep=shuffle", problem, "none", 5, 2, other);
    ENSURE(memcmp(x, again, n * sizeof *x) == 0);
    ENSURE(memcmp(x, other, n * sizeof *x) != 0);
    ss_release(x);
    ss_release(again);
    ss_release(other);
    ss_problem_destroy(problem);
}

/* ---- at the edge ------------------------------------------------------------------------------------ */

TEST(nothing_to_solve_is_solved)
{
    for (int s = 0; s < SWEEPERS; s++) {
        double none[1] = {0};
        ss_problem *problem = small_problem(0, none, none);
        ss_solve_result result = run(sweepers[s], "", problem, none);
        ENSURE_INT(result.status, SS_CONVERGED);
        ss_problem_destroy(problem);
    }
}

TEST(a_start_at_the_solution_stays_there)
{
    double A[4] = {2, 0, 0, 4}, b[2] = {-2, 4};
    for (int s = 0; s < SWEEPERS; s++) {
        ss_problem *problem = small_problem(2, A, b);
        double x[2] = {1.0, 0.0};
        ss_solve_result result = run_with(sweepers[s], "", problem, "none", 100, 1, x);
        ENSURE_INT(result.status, SS_CONVERGED);
        ENSURE_INT(result.iterations, 1);
        ENSURE(x[0] == 1.0 && x[1] == 0.0);
        ss_problem_destroy(problem);
    }
}

/* A joint limit in a cone problem has no tangents: zero rows with mu = 0. */
TEST(a_limit_without_tangents_is_taken)
{
    double A[9] = {2, 0, 0, 0, 0, 0, 0, 0, 0}, b[3] = {-2, 0, 0};
    for (int s = 0; s < SWEEPERS; s++) {
        ss_problem *problem = small_problem(3, A, b);
        problem->blocks[0] = (ss_block){.law = SS_LAW_CONE, .size = 3, .contact = 0, .constraint = -1};
        problem->block_count = 1;
        double x[3] = {0};
        ss_solve_result result = run(sweepers[s], "", problem, x);
        ENSURE_INT(result.status, SS_CONVERGED);
        ENSURE_NEAR(x[0], 1.0, 1e-9);
        ENSURE(x[1] == 0.0 && x[2] == 0.0);
        problem->blocks[0].mu = 0.5;
        ENSURE_TEXT(ss_solver_refusal(ss_solver_find(sweepers[s]), problem), "needs a positive diagonal");
        ss_problem_destroy(problem);
    }
}

TEST(infinite_friction_is_a_bilateral_tangent)
{
    for (int s = 0; s < SWEEPERS; s++) {
        ss_problem *problem = known_problem(18, 3, 8, 0, SS_LAW_CONE);
        for (int k = 0; k < problem->block_count; k++) problem->blocks[k].mu = INFINITY;
        ENSURE(converges(sweepers[s], "", problem));
        ss_problem_destroy(problem);
    }
}

/* w_1 = x_1 + 3 x_2, w_2 = x_2 - 3 x_1: no positive definite part to speak of, and Gauss-Seidel multiplies x
 * by -9 per pass. What comes back is finite, and nobody claims success. */
TEST(divergence_ends_with_a_finite_answer)
{
    double A[4] = {1, 3, -3, 1}, b[2] = {1, 1};
    for (int s = 0; s < SWEEPERS; s++) {
        ss_problem *problem = small_problem(2, A, b);
        for (int i = 0; i < 2; i++) problem->blocks[i].law = SS_LAW_FREE;
        problem->lower[0] = problem->lower[1] = -INFINITY;
        double x[2] = {0};
        ss_solve_result result =
            run(sweepers[s], strcmp(sweepers[s], "projected-fixed-point") ? "" : "rho=local", problem, x);
        ENSURE(result.status != SS_CONVERGED);
        ENSURE(isfinite(x[0]) && isfinite(x[1]));
        ss_problem_destroy(problem);
    }
}

/* ---- files of others -------------------------------------------------------------------------------- */

static ss_problem *read_file(const char *path)
{
    ss_error err;
    ss_fclib_kind kinds[3];
    ss_fclib *file =
        ss_fclib_kinds(path, kinds, &err) == 1 ? ss_fclib_read(path, kinds[0], NULL, NULL, &err) : NULL;
    ss_problem *problem = known(file ? ss_problem_from_cone(file->cone, &err) : NULL, &err);
    ss_fclib_destroy(file);
    return problem;
}

/* Stacks, spheres, an unsymmetric W (Capsules), a rank deficient one (LMGC), rolling friction (Chute), planar
 * contacts (fc2d), a cube that a forward sweep alone circles around for ever (OneObject). */
TEST(nsgs_solves_real_problems)
{
    static const char *const names[] = {
        "Box_Stacks-i0122-82-5", "Capsules-i125-1213", "Chute-ndof-768-nc-4-3",
        "Confeti-ex13-Fc3D-SBM", "NESpheres_30_1",     "LMGC_100_PR_PerioBox-i00361-60-03000",
        "OneObject-i100000-316", "Rover1040",          "fc2d_granularflowonwall_00667_00000",
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char path[1000];
        NEED_SHARED(path, "fclib", names[k], ".hdf5");
        ss_problem *problem = read_file(path);
        double *x = ss_allocate((size_t)problem->size, sizeof *x);
        ss_solve_result result = run_with("nsgs", "", problem, "natural_map<1e-8", 10000, 1, x);
        if (result.status != SS_CONVERGED) KIT_FAIL("%s: %s", names[k], ss_status_name(result.status));
        ss_release(x);
        ss_problem_destroy(problem);
    }
}

TEST_MAIN
