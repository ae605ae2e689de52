/* interior-point, minmap-newton and fischer-newton: elementary contacts with answers by hand, planted
 * solutions under every law, degenerate cases, changes of units, derivatives against differences, and the
 * real problems of FCLIB. */
#include <stickslip/dataset.h>
#include <stickslip/solver.h>

#include "faults.h"
#include "rules.h"
#include "kit.h"
#include "known_cone.h"
#include "shared_data.h"
#include "problem/laws.h"
#include "solver/newton/interior_cones.h"
#include "solver/newton/maps.h"
#include "linalg/lorentz.h"
#include "solver/newton/newton_system.h"

/* ---- helpers -------------------------------------------------------------------------------------- */

static const char *const newton_solvers[] = {"interior-point", "minmap-newton", "fischer-newton"};
enum { SOLVERS = 3, BIG = 400 };

/* A problem with a dense matrix given row by row and one law per row or contact, to be set by the caller. */
static ss_problem *problem_of(int n, int blocks, const double *A, const double *b)
{
    ss_error err;
    ss_problem *problem = known(ss_problem_create(n, blocks, -1, &err), &err);
    ss_triplets entries;
    if (!ss_triplets_start(&entries, (size_t)n * (size_t)n, &err)) known(NULL, &err);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) ss_triplets_add(&entries, i, j, A[i * n + j]);
        problem->b[i] = b[i];
    }
    problem->A = known(ss_triplets_finish(&entries, n, n, &err), &err);
    ss_problem_matrix_changed(problem);
    return problem;
}

static void set_block(ss_problem *problem, int k, ss_law law, int first, int size, double mu,
                      double mu_rolling)
{
    problem->blocks[k] = (ss_block){.law = law,
                                    .first = first,
                                    .size = size,
                                    .mu = mu,
                                    .mu_rolling = mu_rolling,
                                    .contact = -1,
                                    .constraint = -1};
    if (law == SS_LAW_BOX) problem->lower[first] = 0.0;
}

/* One contact of a body of mass 2: W = 1/2. */
static ss_problem *one_contact(ss_law law, int size, double mu, double mu_rolling, const double *q)
{
    double A[25] = {0};
    for (int i = 0; i < size; i++) A[i * size + i] = 0.5;
    ss_problem *problem = problem_of(size, 1, A, q);
    set_block(problem, 0, law, 0, size, mu, mu_rolling);
    return problem;
}

static ss_solve_result solve_to(const char *solver, ss_problem *problem, const char *stop, int iterations,
                                double *x)
{
    ss_error err;
    ss_solve_result result;
    ss_run_options options = ss_run_defaults();
    options.stop = stop_rule(stop);
    options.max_iterations = iterations;
    if (!ss_solve(&(ss_solve_request){.solver = known((void *)(uintptr_t)ss_solver_find(solver), NULL),
                                      .problem = problem,
                                      .run = &options},
                  x, &result, &err))
        known(NULL, &err);
    ss_solve_result_free(&result); // of what is allocated; the numbers stay
    return result;
}

/* To 1e-10 of the error at the start; what is left is rounding. */
static ss_status solve(const char *solver, ss_problem *problem, double *x)
{
    return solve_to(solver, problem, "relative_energy<1e-10", 300, x).status;
}

/* ---- one contact ---------------------------------------------------------------------------------- */

TEST(a_block_pushed_gently_sticks_and_pushed_hard_slides)
{
    double gentle[] = {-1.0, 0.3, 0.0}, hard[] = {-1.0, 0.6, 0.8};
    for (int s = 0; s < SOLVERS; s++) {
        double x[3] = {0};
        ss_problem *problem = one_contact(SS_LAW_CONE, 3, 0.5, 0.0, gentle);
        ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
        ENSURE_NEAR(x[0], 2.0, 1e-9); // r = -q / W; tolerance: that of the stop rule
        ENSURE_NEAR(x[1], -0.6, 1e-9);
        ss_problem_destroy(problem);
        problem = one_contact(SS_LAW_CONE, 3, 0.5, 0.0, hard);
        ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
        ENSURE_NEAR(x[0], 2.0, 1e-9); // r_T = -mu r_N along the slip
        ENSURE_NEAR(x[1], -0.6, 1e-9);
        ENSURE_NEAR(x[2], -0.8, 1e-9);
        ss_problem_destroy(problem);
    }
}

TEST(a_block_that_leaves_needs_no_force)
{
    double away[] = {1.0, 2.0, -3.0};
    for (int s = 0; s < SOLVERS; s++) {
        double x[3] = {0};
        ss_problem *problem = one_contact(SS_LAW_CONE, 3, 0.5, 0.0, away);
        ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
        for (int i = 0; i < 3; i++) ENSURE_NEAR(x[i], 0.0, 1e-9);
        ss_problem_destroy(problem);
    }
}

TEST(friction_may_be_absent_or_without_limit)
{
    double q[] = {-1.0, 5.0, 0.0};
    for (int s = 0; s < SOLVERS; s++) {
        double x[3] = {0}, no_force[] = {1.0, 5.0, 0.0};
        ss_problem *ice = one_contact(SS_LAW_CONE, 3, 0.0, 0.0, q);
        ENSURE_INT(solve(newton_solvers[s], ice, x), SS_CONVERGED);
        ENSURE_NEAR(x[0], 2.0, 1e-8);
        ENSURE_NEAR(x[1], 0.0, 0.0);
        ss_problem_destroy(ice);
        ss_problem *glue = one_contact(SS_LAW_CONE, 3, INFINITY, 0.0, q);
        ENSURE_INT(solve(newton_solvers[s], glue, x), SS_CONVERGED);
        ENSURE_NEAR(x[0], 2.0, 1e-8);
        ENSURE_NEAR(x[1], -10.0, 1e-8);
        ss_problem_destroy(glue);
        // tangents hold even where nothing presses
        glue = one_contact(SS_LAW_CONE, 3, INFINITY, 0.0, no_force);
        ENSURE_INT(solve(newton_solvers[s], glue, x), SS_CONVERGED);
        ENSURE_NEAR(x[0], 0.0, 1e-8);
        ENSURE_NEAR(x[1], -10.0, 1e-8);
        ss_problem_destroy(glue);
    }
}

TEST(the_plane_knows_one_direction_of_slip)
{
    double q[] = {-1.0, -3.0};
    for (int s = 0; s < SOLVERS; s++) {
        double x[2] = {0};
        ss_problem *problem = one_contact(SS_LAW_CONE, 2, 0.25, 0.0, q);
        ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
        ENSURE_NEAR(x[0], 2.0, 1e-8);
        ENSURE_NEAR(x[1], 0.5, 1e-8);
        ss_problem_destroy(problem);
    }
}

TEST(a_wheel_slides_and_rolls_apart)
{
    double q[] = {-1.0, 2.0, 0.0, 0.01, 0.0}; // slides, but its rolling is held
    for (int s = 0; s < SOLVERS; s++) {
        double x[5] = {0};
        ss_problem *problem = one_contact(SS_LAW_CONE, 5, 0.5, 0.1, q);
        ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
        double expected[] = {2.0, -1.0, 0.0, -0.02, 0.0};
        for (int i = 0; i < 5; i++) ENSURE_NEAR(x[i], expected[i], 1e-8);
        ss_problem_destroy(problem);
        problem = one_contact(SS_LAW_CONE, 5, 0.5, 0.0, q); // without rolling friction
        ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
        ENSURE_NEAR(x[1], -1.0, 1e-8);
        ENSURE_NEAR(x[3], 0.0, 0.0);
        ss_problem_destroy(problem);
    }
}

TEST(under_the_convex_law_a_sliding_block_takes_off)
{
    double q[] = {-1.0, 2.0, 0.0}; // min |r|^2 / 4 + q.r on the cone: r_N = -2 (q_N - mu q_T) / (1 + mu^2)
    for (int s = 0; s < SOLVERS; s++) {
        double x[3] = {0}, normal = 2.0 * (1.0 + 0.5 * 2.0) / (1.0 + 0.25);
        ss_problem *problem = one_contact(SS_LAW_CONVEX, 3, 0.5, 0.0, q);
        ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
        ENSURE_NEAR(x[0], normal, 1e-8);
        ENSURE_NEAR(x[1], -0.5 * normal, 1e-8);
        ENSURE_NEAR(0.5 * x[0] + q[0], 0.5 * fabs(0.5 * x[1] + q[1]), 1e-8); // u_N = mu |u_T|: the artefact
        ss_problem_destroy(problem);
    }
}

/* ---- boxes ---------------------------------------------------------------------------------------- */

TEST(a_rod_is_pushed_by_both_ends)
{
    double A[] = {1.0, -0.5, -0.5, 1.0}, b[] = {-0.2981, 0.1019};
    for (int s = 0; s < SOLVERS; s++) {
        double x[2] = {0};
        ss_problem *problem = problem_of(2, 2, A, b);
        for (int i = 0; i < 2; i++) set_block(problem, i, SS_LAW_BOX, i, 1, 0.0, 0.0);
        ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
        ENSURE_NEAR(x[0], (0.2981 - 0.5 * 0.1019) / 0.75, 1e-9);
        ENSURE_NEAR(x[1], (0.5 * 0.2981 - 0.1019) / 0.75, 1e-9);
        ss_problem_destroy(problem);
    }
}

TEST(free_fixed_and_bounded_rows_live_together)
{
    double A[] = {2, 1, 0, 0, 1, 2, 1, 0, 0, 1, 2, 1, 0, 0, 1, 2}, b[] = {1, -5, 2, -9};
    for (int s = 0; s < SOLVERS; s++) {
        double x[4] = {0};
        ss_problem *problem = problem_of(4, 4, A, b);
        set_block(problem, 0, SS_LAW_FREE, 0, 1, 0.0, 0.0);
        for (int i = 1; i < 4; i++) set_block(problem, i, SS_LAW_BOX, i, 1, 0.0, 0.0);
        problem->lower[2] = problem->upper[2] = -1.0;
        problem->lower[3] = -1.0, problem->upper[3] = 2.0;
        ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
        // x_2 = -1; 2 x_0 + x_1 = -1 and x_0 + 2 x_1 = 6 gives x = (-8/3, 13/3); x_3 = 5 without its bound
        double expected[] = {-8.0 / 3.0, 13.0 / 3.0, -1.0, 2.0};
        for (int i = 0; i < 4; i++) ENSURE_NEAR(x[i], expected[i], 1e-8);
        ss_problem_destroy(problem);
    }
}

TEST(friction_bounds_follow_the_normal_row)
{
    double A[] = {1, 0.2, 0, 0.2, 1, 0, 0, 0, 1}, b[] = {-2.0, -3.0, 0.1};
    for (int s = 1; s < SOLVERS; s++) { // the interior point method does not take coupled bounds
        double x[3] = {0};
        ss_problem *problem = problem_of(3, 2, A, b);
        set_block(problem, 0, SS_LAW_BOX, 0, 1, 0.0, 0.0);
        set_block(problem, 1, SS_LAW_COUPLED, 1, 2, 0.0, 0.0);
        for (int i = 1; i < 3; i++) problem->partner[i] = 0, problem->factor[i] = 0.5;
        ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
        ENSURE_NEAR(x[0], 2.0 / 1.1, 1e-9); // x_1 = x_0 / 2 at its bound, so 1.1 x_0 = 2
        ENSURE_NEAR(x[1], 1.0 / 1.1, 1e-9);
        ENSURE_NEAR(x[2], -0.1, 1e-9);
        ss_problem_destroy(problem);
    }
}

/* Stewart's and Trinkle's LCP of one sliding contact of mass 1 with four directions: not symmetric, a row
 * without diagonal, not monotone. */
TEST(the_sliding_speed_of_a_polygonal_cone_is_found)
{
    double mu = 0.5, d[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}}, A[36] = {0},
           b[6] = {-1.0, 2.0, 0.5, -2.0, -0.5, 0};
    A[0] = 1.0;
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) A[(1 + i) * 6 + 1 + j] = d[i][0] * d[j][0] + d[i][1] * d[j][1];
        A[(1 + i) * 6 + 5] = 1.0;
        A[5 * 6 + 1 + i] = -1.0;
    }
    A[5 * 6] = mu;
    for (int s = 0; s < SOLVERS; s++) {
        double x[6] = {0};
        ss_problem *problem = problem_of(6, 6, A, b);
        for (int i = 0; i < 6; i++) set_block(problem, i, SS_LAW_BOX, i, 1, 0.0, 0.0);
        ENSURE_INT(solve_to(newton_solvers[s], problem, "natural_residual<1e-9", 300, x).status,
                   SS_CONVERGED);
        ENSURE_NEAR(x[0], 1.0, 1e-8);
        ENSURE_NEAR(x[3], 0.5, 1e-8); // against the faster direction
        ENSURE_NEAR(x[5], 1.5, 1e-8); // its speed after the impulse
        ss_problem_destroy(problem);
    }
}

/* ---- planted solutions ---------------------------------------------------------------------------- */

/* Redundant contacts: impulses are not unique, the law is what counts. */
TEST(planted_solutions_of_many_bodies_are_found_in_every_dimension)
{
    for (int s = 0; s < SOLVERS; s++) {
        for (int dimension = 2; dimension <= 5; dimension += dimension == 3 ? 2 : 1) {
            for (uint64_t seed = 1; seed <= 6; seed++) {
                ss_error err;
                ss_cone_point point;
                ss_cone *cone = known_global(seed, dimension, 10, 15, 3, &point);
                ss_problem *problem = known(ss_problem_from_cone(cone, &err), &err);
                double x[BIG] = {0};
                ENSURE(problem->size <= BIG);
                ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
                ss_problem_destroy(problem);
                ss_cone_point_free(&point);
                ss_cone_destroy(cone);
            }
        }
    }
}

/* (r, u) of the convex law: u = N(z) with the same tangents, but u_N = mu |u_T| where it slides. */
static void plant_convex(ss_cone *cone, ss_cone_point *point)
{
    for (int c = 0; c < cone->contacts; c++) {
        double *u = point->u + c * cone->dimension, *r = point->r + c * cone->dimension;
        double slip = cone->dimension == 2 ? fabs(u[1]) : hypot(u[1], u[2]);
        double roll = cone->dimension == 5 ? cone->mu_rolling[c] * hypot(u[3], u[4]) : 0.0;
        u[0] = (r[0] > 0.0 ? 0.0 : u[0]) + cone->mu[c] * slip + roll;
    }
    for (int i = 0; i < cone->contacts * cone->dimension; i++) cone->q[i] = point->u[i];
    ss_sparse_apply(cone->W, point->r, -1.0, cone->q);
}

TEST(planted_solutions_of_the_convex_law_are_the_only_ones)
{
    for (int s = 0; s < SOLVERS; s++) {
        for (int dimension = 2; dimension <= 5; dimension += dimension == 3 ? 2 : 1) {
            for (uint64_t seed = 1; seed <= 6; seed++) {
                ss_error err;
                ss_cone_point point;
                ss_cone *cone = known_local(seed, dimension, 12, 0, &point);
                plant_convex(cone, &point);
                ss_problem *problem = known(ss_problem_from_cone(cone, &err), &err);
                for (int k = 0; k < problem->block_count; k++) problem->blocks[k].law = SS_LAW_CONVEX;
                double x[BIG] = {0};
                ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
                // condition of W up to a few thousand
                ENSURE_NEAR(largest_difference(x, point.r, problem->size), 0.0, 1e-6);
                ss_problem_destroy(problem);
                ss_cone_point_free(&point);
                ss_cone_destroy(cone);
            }
        }
    }
}

/* Free, bounded on one or both sides; half rank or skewed. */
static ss_problem *planted_boxes(uint64_t seed, int n, int rank, double skew)
{
    ss_random random = ss_random_start(seed, 3);
    static double B[60 * 60], A[60 * 60];
    double x[60], b[60] = {0};
    for (int i = 0; i < n * rank; i++) B[i] = ss_random_normal(&random);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0.0, turn = i == j ? 0.0 : skew * ss_random_normal(&random);
            for (int k = 0; k < rank; k++) sum += B[i * rank + k] * B[j * rank + k];
            A[i * n + j] = sum / n + turn;
            A[j * n + i] = sum / n - turn;
        }
    }
    ss_problem *problem = problem_of(n, n, A, b);
    for (int i = 0; i < n; i++) {
        int mode = ss_random_below(&random, 5);
        double some = ss_random_between(&random, 0.1, 1.0);
        set_block(problem, i, mode == 0 ? SS_LAW_FREE : SS_LAW_BOX, i, 1, 0.0, 0.0);
        if (mode == 2 || mode == 3) problem->upper[i] = 2.0;
        x[i] = mode == 0 ? some - 0.5 : mode == 1 || mode == 4 ? 0.0 : mode == 2 ? some : 2.0;
        problem->b[i] = mode == 1 ? some : mode == 3 ? -some : 0.0; // mode 4 touches its bound without force
    }
    ss_sparse_apply(problem->A, x, -1.0, problem->b);
    return problem;
}

TEST(planted_boxes_are_solved_whether_definite_redundant_or_skewed)
{
    for (int s = 0; s < SOLVERS; s++) {
        for (uint64_t seed = 1; seed <= 8; seed++) {
            for (int kind = 0; kind < 3; kind++) {
                double x[60] = {0};
                ss_problem *problem = planted_boxes(seed, 60, kind == 1 ? 30 : 60, kind == 2 ? 0.5 : 0.0);
                ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
                ss_problem_destroy(problem);
            }
        }
    }
}

/* ---- bodies --------------------------------------------------------------------------------------- */

/* A tower of cubes of 1 kg on the ground, four contacts per face, under gravity tilted by `angle`, in
 * the bodies form. */
static ss_problem *tower(int cubes, double angle, double mu)
{
    ss_error err;
    ss_problem *problem = known(ss_problem_create(12 * cubes, 4 * cubes, cubes, &err), &err);
    ss_bodies_form *form = problem->bodies;
    double step = 0.01, axes[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    for (int b = 0; b < cubes; b++) {
        form->inverse_mass[b] = 1.0;
        for (int k = 0; k < 3; k++) form->inverse_inertia[b][4 * k] = 6.0; // edge 1
        form->free_velocity[b][0] = 9.81 * step * sin(angle);
        form->free_velocity[b][2] = -9.81 * step * cos(angle);
    }
    for (int c = 0; c < 4 * cubes; c++) {
        int upper = c / 4, lower = upper - 1;
        double corner[2] = {c & 1 ? 0.5 : -0.5, c & 2 ? 0.5 : -0.5};
        set_block(problem, c, SS_LAW_CONE, 3 * c, 3, mu, 0.0);
        for (int d = 0; d < 3; d++) {
            int i = 3 * c + d;
            form->pair[i][0] = lower;
            form->pair[i][1] = upper;
            for (int side = 0; side < 2; side++) {
                if (form->pair[i][side] < 0) continue;
                double sign = side ? 1.0 : -1.0, arm[3] = {corner[0], corner[1], side ? -0.5 : 0.5};
                double *J = form->jacobian[i] + 6 * side, *e = axes[d];
                for (int k = 0; k < 3; k++) {
                    int p = (k + 1) % 3, q = (k + 2) % 3;
                    J[k] = sign * e[k];
                    J[3 + k] = sign * (arm[p] * e[q] - arm[q] * e[p]);
                    problem->diagonal[i] += J[k] * J[k] + 6.0 * J[3 + k] * J[3 + k];
                    problem->b[i] += J[k] * form->free_velocity[upper - (side == 0)][k];
                }
            }
        }
    }
    problem->symmetric = true;
    return problem;
}

TEST(a_tower_stands_or_slides_as_a_whole_with_or_without_its_matrix)
{
    for (int s = 0; s < SOLVERS; s++) {
        for (int form = 0; form < 2; form++) {
            double x[12 * 6] = {0}, weight = 6 * 9.81 * 0.01;
            for (int slides = 0; slides < 2; slides++) {
                double angle = slides ? 0.3 : 0.0; // no further: it would tip over
                ss_problem *problem = tower(slides ? 2 : 6, angle, slides ? 0.2 : 0.5);
                if (form) {
                    ss_error err;
                    ENSURE(ss_problem_need_matrix(problem, &err));
                    ss_bodies_form *kept = problem->bodies;
                    problem->bodies = NULL; // the matrix alone
                    ss_status status =
                        solve_to(newton_solvers[s], problem, "relative_energy<1e-9", 300, x).status;
                    problem->bodies = kept;
                    ENSURE_INT(status, SS_CONVERGED);
                } else {
                    ENSURE_INT(solve_to(newton_solvers[s], problem, "relative_energy<1e-9", 300, x).status,
                               SS_CONVERGED);
                }
                double normal = 0.0, tangent = 0.0;
                for (int c = 0; c < 4; c++) normal += x[3 * c], tangent += x[3 * c + 1];
                double load = slides ? weight / 3.0 * cos(angle) : weight;
                ENSURE_NEAR(normal, load, 1e-8 * weight); // the ground carries it all
                ENSURE_NEAR(tangent, slides ? -0.2 * load : 0.0, 1e-8 * weight);
                ss_problem_destroy(problem);
            }
        }
    }
}

/* A heap that slides and turns while it falls together: cubes of 1 kg that touch the ground and a few of
 * those below them at random points, with random slopes. With a coefficient of friction of 1 or more the law
 * is far from monotone. */
static void random_axes(ss_random *random, double axes[3][3])
{
    double along = 0.0, length[2] = {0};
    for (int k = 0; k < 3; k++) {
        axes[0][k] = k == 2 ? 1.0 : ss_random_between(random, -0.5, 0.5);
        axes[1][k] = ss_random_between(random, -1.0, 1.0);
        length[0] += axes[0][k] * axes[0][k];
    }
    for (int k = 0; k < 3; k++) along += (axes[0][k] /= sqrt(length[0])) * axes[1][k];
    for (int k = 0; k < 3; k++) {
        axes[1][k] -= along * axes[0][k];
        length[1] += axes[1][k] * axes[1][k];
    }
    for (int k = 0; k < 3; k++) axes[1][k] /= sqrt(length[1]);
    for (int k = 0; k < 3; k++) {
        int p = (k + 1) % 3, q = (k + 2) % 3;
        axes[2][k] = axes[0][p] * axes[1][q] - axes[0][q] * axes[1][p];
    }
}

/* One side of a contact's row: the Jacobian, and what it adds to diagonal and b. */
static void attach(ss_problem *problem, int i, int side, const double *e, const double *arm)
{
    ss_bodies_form *form = problem->bodies;
    int body = form->pair[i][side];
    double sign = side ? 1.0 : -1.0, *J = form->jacobian[i] + 6 * side;
    if (body < 0) return;
    for (int k = 0; k < 3; k++) {
        int p = (k + 1) % 3, q = (k + 2) % 3;
        J[k] = sign * e[k];
        J[3 + k] = sign * (arm[p] * e[q] - arm[q] * e[p]);
        problem->diagonal[i] += J[k] * J[k] + 6.0 * J[3 + k] * J[3 + k];
    }
    for (int k = 0; k < 6; k++) problem->b[i] += J[k] * form->free_velocity[body][k];
}

static ss_problem *heap(int cubes, int contacts, double mu, uint64_t seed)
{
    ss_error err;
    ss_random random = ss_random_start(seed, 0);
    ss_problem *problem = known(ss_problem_create(3 * contacts, contacts, cubes, &err), &err);
    ss_bodies_form *form = problem->bodies;
    for (int b = 0; b < cubes; b++) {
        form->inverse_mass[b] = 1.0;
        for (int k = 0; k < 3; k++) form->inverse_inertia[b][4 * k] = 6.0;
        for (int k = 0; k < 6; k++) form->free_velocity[b][k] = ss_random_between(&random, -0.1, 0.1);
        form->free_velocity[b][2] -= 1.0;
    }
    for (int c = 0; c < contacts; c++) {
        int upper = c % cubes, lower = upper - 1 - ss_random_below(&random, 3);
        double axes[3][3], arm[2][3];
        random_axes(&random, axes);
        for (int k = 0; k < 6; k++) arm[k / 3][k % 3] = ss_random_between(&random, -0.5, 0.5);
        arm[0][2] += 0.5;
        arm[1][2] -= 0.5;
        set_block(problem, c, SS_LAW_CONE, 3 * c, 3, mu, 0.0);
        for (int i = 3 * c; i < 3 * c + 3; i++) {
            form->pair[i][0] = lower < 0 ? -1 : lower;
            form->pair[i][1] = upper;
            for (int side = 0; side < 2; side++) attach(problem, i, side, axes[i - 3 * c], arm[side]);
        }
    }
    problem->symmetric = true;
    return problem;
}

/* 31 of 40 when this was written; 23 as long as all of De Saxce's term was in the matrix wherever
 * steps became short. */
TEST(most_sliding_heaps_are_solved_within_a_hundred_factorisations)
{
    enum { HEAPS = 40, CUBES = 20, CONTACTS = 60 };
    int solved = 0;
    for (int seed = 1; seed <= HEAPS; seed++) {
        ss_problem *problem = heap(CUBES, CONTACTS, 1.0, (uint64_t)seed);
        double x[3 * CONTACTS] = {0}, gauge[SS_GAUGE_COUNT];
        ss_solve_result result = solve_to("interior-point", problem, "natural_map<1e-9", 100, x);
        ENSURE(ss_problem_measure(problem, x, gauge, NULL));
        bool is_solved = gauge[SS_GAUGE_NATURAL_MAP] < 1e-9;
        ENSURE(result.status != SS_CONVERGED || is_solved); // no false claim
        solved += is_solved;
        ss_problem_destroy(problem);
    }
    ENSURE(solved >= 29);
}

/* With the point found by others as a start: s and z inside, s o z = m, and s - z as it was. */
TEST(the_interior_is_resumed_in_its_centre_nearest_to_a_point)
{
    static const double m = 1e-4;
    ss_problem *problem = heap(4, 12, 0.8, 5);
    ss_error err;
    ss_arena *arena = known(ss_arena_create(1 << 16, &err), &err);
    ss_space *space = ss_space_create(problem, arena);
    ss_interior_cones cones;
    double r[36], u[36], before[36];
    ENSURE(space && ss_interior_cones_create(space, arena, &cones) && cones.count == 12);
    ss_random random = ss_random_start(3, 0);
    for (int i = 0; i < 36; i++) before[i] = r[i] = ss_random_between(&random, -0.2, 0.2);
    for (int i = 0; i < 36; i++) u[i] = ss_random_between(&random, 0.0, 0.2);
    ss_interior_cones_resume(&cones, m, r, u);
    for (int p = 0; p < cones.count; p++) {
        const ss_interior_cone *cone = &cones.cone[p];
        double product[3], slip = hypot(u[cone->tail], u[cone->tail + 1]),
                           normal = u[cone->head] / cone->slope;
        double z = 0.5 * (normal + hypot(normal, 2.0 * slip)); // normal = z - slip^2 / z
        ENSURE(ss_lorentz_determinant(3, cone->s) > 0.0 && ss_lorentz_determinant(3, cone->z) > 0.0);
        ss_lorentz_product(3, cone->s, cone->z, product);
        ENSURE_NEAR(product[0], m, 1e-12);
        ENSURE_NEAR(product[1], 0.0, 1e-12);
        ENSURE_NEAR(product[2], 0.0, 1e-12);
        ENSURE_NEAR(cone->s[0] - cone->z[0], cone->slope * before[cone->head] - z, 1e-12);
        ENSURE_NEAR(cone->s[1] - cone->z[1], before[cone->tail] - u[cone->tail], 1e-12);
        ENSURE_NEAR(r[cone->head] * cone->slope, cone->s[0], 1e-12);
    }
    ss_arena_destroy(arena);
    ss_problem_destroy(problem);
}

/* ---- limits --------------------------------------------------------------------------------------- */

TEST(nothing_to_solve_is_solved)
{
    ss_error err;
    for (int s = 0; s < SOLVERS; s++) {
        double x[3] = {0}, no_load[3] = {0};
        ss_problem *empty = known(ss_problem_create(0, 0, -1, &err), &err);
        empty->A = known(ss_sparse_create(0, 0, 0, &err), &err);
        ENSURE_INT(solve_to(newton_solvers[s], empty, "none", 10, x).status, SS_CONVERGED);
        ss_problem_destroy(empty);
        ss_problem *still = one_contact(SS_LAW_CONE, 3, 0.5, 0.0, no_load);
        ENSURE_INT(solve_to(newton_solvers[s], still, "none", 50, x).status, SS_CONVERGED);
        for (int i = 0; i < 3; i++) ENSURE_NEAR(x[i], 0.0, 1e-12);
        ss_problem_destroy(still);
    }
}

TEST(without_a_stop_rule_they_end_by_themselves_at_rounding)
{
    for (int s = 0; s < SOLVERS; s++) {
        ss_error err;
        ss_cone_point point;
        ss_cone *cone = known_local(5, 3, 10, 0, &point);
        ss_problem *problem = known(ss_problem_from_cone(cone, &err), &err);
        double x[30] = {0};
        ss_solve_result result = solve_to(newton_solvers[s], problem, "none", 300, x);
        ENSURE_INT(result.status, SS_CONVERGED);
        ENSURE(result.iterations < 40);
        ENSURE_NEAR(result.gauge[SS_GAUGE_RELATIVE_ENERGY], 0.0, 1e-12);
        ss_problem_destroy(problem);
        ss_cone_point_free(&point);
        ss_cone_destroy(cone);
    }
}

TEST(what_has_no_solution_is_not_called_solved)
{
    double A[] = {1, -1, -1, 1}, squeezed[] = {-1, -1}; // a body between walls that both come nearer
    for (int s = 0; s < SOLVERS; s++) {
        double x[2] = {0};
        ss_problem *problem = problem_of(2, 2, A, squeezed);
        for (int i = 0; i < 2; i++) set_block(problem, i, SS_LAW_BOX, i, 1, 0.0, 0.0);
        ss_solve_result result = solve_to(newton_solvers[s], problem, "relative_energy<1e-8", 2000, x);
        ENSURE(result.status != SS_CONVERGED);
        ENSURE(isfinite(x[0]) && isfinite(x[1]));
        ss_problem_destroy(problem);
    }
}

TEST(a_row_that_nothing_can_move_does_no_harm)
{
    double A[16] = {0}, b[] = {-1.0, 0.0, 0.0, 0.5}; // a contact, and a free-running row with zero diagonal
    A[0] = A[5] = A[10] = 1.0;
    for (int s = 0; s < SOLVERS; s++) {
        double x[4] = {0};
        ss_problem *problem = problem_of(4, 2, A, b);
        set_block(problem, 0, SS_LAW_CONE, 0, 3, 0.5, 0.0);
        set_block(problem, 1, SS_LAW_BOX, 3, 1, 0.0, 0.0);
        ENSURE_INT(solve(newton_solvers[s], problem, x), SS_CONVERGED);
        ENSURE_NEAR(x[0], 1.0, 1e-9);
        ENSURE_NEAR(x[3], 0.0, 1e-9);
        ss_problem_destroy(problem);
    }
}

/* Mass x 4, length x 2, time x 8: every number of a run is scaled by a power of two, no bit differs. */
TEST(a_change_of_units_changes_no_bit)
{
    for (int s = 0; s < SOLVERS; s++) {
        double x[2][24] = {{0}};
        int iterations[2];
        for (int k = 0; k < 2; k++) {
            ss_problem *problem = tower(2, 0.3, 0.2);
            ss_bodies_form *form = problem->bodies;
            double mass = k ? 4.0 : 1.0, length = k ? 2.0 : 1.0, speed = k ? 0.25 : 1.0;
            for (int b = 0; b < form->bodies; b++) {
                form->inverse_mass[b] /= mass;
                for (int i = 0; i < 9; i++) form->inverse_inertia[b][i] /= mass * length * length;
                for (int i = 0; i < 3; i++) form->free_velocity[b][i] *= speed;
            }
            for (int i = 0; i < problem->size; i++) {
                for (int j = 0; j < 12; j++) form->jacobian[i][j] *= j % 6 < 3 ? 1.0 : length;
                problem->diagonal[i] /= mass;
                problem->b[i] *= speed;
            }
            ss_solve_result result = solve_to(newton_solvers[s], problem, "relative_energy<1e-9", 300, x[k]);
            ENSURE_INT(result.status, SS_CONVERGED);
            iterations[k] = result.iterations;
            ss_problem_destroy(problem);
        }
        ENSURE_INT(iterations[0], iterations[1]);
        for (int i = 0; i < 24; i++) ENSURE(x[1][i] == x[0][i]); // impulses: mass x 4, speed x 1/4
    }
}

TEST(lack_of_memory_fails_the_solve_and_leaks_nothing)
{
    for (int s = 0; s < SOLVERS; s++) {
        for (int form = 0; form < 2; form++) {
            ss_error err;
            ss_problem *problem = tower(2, 0.3, 0.2);
            ENSURE(ss_problem_need_matrix(problem, &err));
            ss_bodies_form *kept = problem->bodies;
            if (form) problem->bodies = NULL;
            for (int n = 1;; n++) {
                double x[24] = {0};
                ss_solve_result result;
                faults_start(n);
                bool good = ss_solve(
                    &(ss_solve_request){.solver = ss_solver_find(newton_solvers[s]), .problem = problem}, x,
                    &result, &err);
                long live = faults.live;
                if (!faults_stop()) break;
                ENSURE_INT(live, 0);
                ENSURE(!good || result.status == SS_FAILED || result.status == SS_CONVERGED);
                for (int i = 0; i < 24; i++) ENSURE(isfinite(x[i]));
            }
            problem->bodies = kept;
            ss_problem_destroy(problem);
        }
    }
}

/* ---- parts ---------------------------------------------------------------------------------------- */

/* One node of every kind; the maps look at nothing else of a space. */
static void check_derivative(const ss_space *space, const ss_node *node, bool fischer, ss_random *random)
{
    double r[SS_NODE_MAX] = {0}, u[SS_NODE_MAX] = {0}, phi[SS_NODE_MAX], F[64], B[64];
    int n = node->size;
    for (int i = 0; i < n; i++) r[i] = ss_random_normal(random), u[i] = ss_random_normal(random);
    r[0] = fabs(r[0]); // kinks are at zero: stay away
    double step = 1e-6;
    for (int j = -1; j < 2 * n; j++) {
        double after[2][SS_NODE_MAX];
        if (j < 0) {
            if (fischer)
                ss_newton_fischer(space, node, r, u, phi, F, B);
            else
                ss_newton_natural(space, node, 0.7, r, u, phi, F, B);
            continue;
        }
        double *moved = j < n ? r + j : u + j - n, kept = *moved;
        for (int side = 0; side < 2; side++) {
            *moved = kept + (side ? step : -step);
            if (fischer)
                ss_newton_fischer(space, node, r, u, after[side], NULL, NULL);
            else
                ss_newton_natural(space, node, 0.7, r, u, after[side], NULL, NULL);
        }
        *moved = kept;
        for (int i = 0; i < n; i++) {
            double slope = j < n ? F[i * n + j] : B[i * n + j - n];
            // difference of second order
            ENSURE_NEAR((after[1][i] - after[0][i]) / (2.0 * step), slope, 1e-5);
        }
    }
}

TEST(derivatives_of_all_maps_agree_with_differences)
{
    double lower[3] = {-0.3, -INFINITY, -INFINITY}, upper[3] = {0.8, INFINITY, 0.4},
           factor[3] = {0, 0.6, 0.6};
    int partner[3] = {-1, 0, 0};
    ss_space space = {.lower = lower, .upper = upper, .partner = partner, .factor = factor};
    ss_node nodes[] = {
        {SS_LAW_BOX, 0, 1, 0, 0, false, 0},        {SS_LAW_BOX, 0, 3, 0, 0, false, 0},
        {SS_LAW_CONE, 0, 2, 0.6, 0, false, 0},     {SS_LAW_CONE, 0, 3, 0.6, 0, false, 0},
        {SS_LAW_CONE, 0, 4, 0.6, 0, false, 0},     {SS_LAW_CONE, 0, 5, 0.6, 0.3, false, 0},
        {SS_LAW_CONE, 0, 6, 0.6, 0.3, false, 0},   {SS_LAW_CONE, 0, 4, 0.6, 0, true, 0.2},
        {SS_LAW_CONE, 0, 7, 0.6, 0.3, true, 0.2},  {SS_LAW_CONVEX, 0, 2, 0.6, 0, false, 0},
        {SS_LAW_CONVEX, 0, 3, 0.6, 0, false, 0},   {SS_LAW_CONVEX, 0, 4, 0.6, 0, false, 0},
        {SS_LAW_CONVEX, 0, 5, 0.6, 0.3, false, 0}, {SS_LAW_CONVEX, 0, 6, 0.6, 0.3, false, 0},
        {SS_LAW_CONVEX, 0, 4, 0.6, 0, true, 0.2},  {SS_LAW_CONE, 0, 3, INFINITY, 0, false, 0},
        {SS_LAW_CONE, 0, 3, 0, 0, false, 0},
    };
    ss_random random = ss_random_start(77, 0);
    for (size_t k = 0; k < sizeof nodes / sizeof *nodes; k++) {
        for (int round = 0; round < 40; round++) {
            check_derivative(&space, &nodes[k], false, &random);
            check_derivative(&space, &nodes[k], true, &random);
        }
    }
}

TEST(the_scaling_of_two_interior_points_makes_them_one)
{
    ss_random random = ss_random_start(78, 0);
    for (int round = 0; round < 200; round++) {
        int n = 1 + round % 3;
        double s[3], z[3], there[3], back[3], once[3], twice[3];
        for (int i = 1; i < n; i++) s[i] = ss_random_normal(&random), z[i] = ss_random_normal(&random);
        double near = pow(10.0, -ss_random_between(&random, 0, 6)); // how near the boundary
        s[0] = (n > 1 ? hypot(s[1], n > 2 ? s[2] : 0.0) : 0.0) + near;
        z[0] = (n > 1 ? hypot(z[1], n > 2 ? z[2] : 0.0) : 0.0) + near * ss_random_between(&random, 0.1, 10);
        ss_lorentz_scaling scaling;
        ENSURE(ss_lorentz_scale(n, s, z, &scaling));
        ss_lorentz_apply(&scaling, z, there);
        ss_lorentz_apply_inverse(&scaling, s, back);
        ss_lorentz_apply_inverse(&scaling, back, once);
        ss_lorentz_apply_inverse_square(&scaling, s, twice);
        double large = fabs(there[0]) + fabs(z[0]);
        for (int i = 0; i < n; i++) {
            ENSURE_NEAR(there[i], back[i], 1e-9 * large / near); // G has condition 1 / near
            ENSURE_NEAR(once[i], z[i], 1e-9 * large / near);
            ENSURE_NEAR(twice[i], z[i], 1e-9 * large / near);
        }
        ENSURE_NEAR(sqrt(ss_lorentz_least_square(n, s, z)),
                    there[0] - (n > 1 ? hypot(there[1], n > 2 ? there[2] : 0.0) : 0.0), 1e-9 * large / near);
    }
}

/* ---- real problems -------------------------------------------------------------------------------- */

typedef struct real_problem {
    const char *name;
    ss_fclib_kind kind;
    int most[SOLVERS]; /* iterations of each solver: twice what it took, 0 = not asked of it */
} real_problem;

static const real_problem real_problems[] = {
    {"Box_Stacks-i0122-82-5", SS_FCLIB_GLOBAL, {18, 8, 10}},
    {"BoxesStack1-i100000-32", SS_FCLIB_LOCAL, {60, 60, 90}},
    {"Capsules-i101-404", SS_FCLIB_LOCAL, {40, 90, 90}},
    {"Capsules-i125-1213", SS_FCLIB_LOCAL, {44, 60, 90}},
    {"Chute-ndof-768-nc-4-3", SS_FCLIB_GLOBAL_ROLLING, {28, 6, 6}},
    {"Confeti-ex13-Fc3D-SBM", SS_FCLIB_LOCAL, {30, 6, 6}},
    {"CubeH8", SS_FCLIB_GLOBAL, {14, 2, 2}},
    {"FrictionContact3D_RR_1c", SS_FCLIB_LOCAL, {14, 6, 6}},
    {"FrictionContactProblem00071", SS_FCLIB_LOCAL, {30, 8, 8}},
    {"GFC3D_Example00_badly_scaled", SS_FCLIB_GLOBAL, {22, 12, 22}},
    {"GFC3D_OneContact", SS_FCLIB_GLOBAL, {18, 6, 6}},
    {"KaplasTower-i1061-4", SS_FCLIB_LOCAL, {16, 16, 14}},
    {"LMGC_100_PR_PerioBox-i00361-60-03000", SS_FCLIB_LOCAL, {18, 24, 22}},
    {"NESpheres_30_1", SS_FCLIB_LOCAL, {28, 4, 4}},
    {"OneObject-i100000-316", SS_FCLIB_LOCAL, {32, 12, 12}},
    {"Rover1040", SS_FCLIB_LOCAL, {18, 16, 16}},
    {"Rover4516", SS_FCLIB_LOCAL, {20, 6, 6}},
    {"fc2d_granularflowonwall_00667_00000", SS_FCLIB_LOCAL, {26, 8, 8}},
};

TEST(the_problems_of_others_are_solved_to_1e_8)
{
    for (size_t k = 0; k < sizeof real_problems / sizeof *real_problems; k++) {
        ss_error err;
        char path[1000];
        NEED_SHARED(path, "fclib", real_problems[k].name, ".hdf5");
        ss_fclib *file = known(ss_fclib_read(path, real_problems[k].kind, NULL, NULL, &err), &err);
        ss_problem *problem = known(ss_problem_from_cone(file->cone, &err), &err);
        double *x = known(calloc((size_t)problem->size, sizeof *x), NULL);
        for (int s = 0; s < SOLVERS; s++) {
            memset(x, 0, (size_t)problem->size * sizeof *x);
            ss_solve_result result =
                solve_to(newton_solvers[s], problem, "natural_map<1e-8", real_problems[k].most[s], x);
            if (result.status != SS_CONVERGED)
                fprintf(stderr, "%s with %s: %g\n", real_problems[k].name, newton_solvers[s],
                        result.gauge[SS_GAUGE_NATURAL_MAP]);
            ENSURE_INT(result.status, SS_CONVERGED);
        }
        free(x);
        ss_problem_destroy(problem);
        ss_fclib_destroy(file);
    }
}

TEST_MAIN
