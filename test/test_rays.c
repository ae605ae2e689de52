/* Problems without a solution: the solver says so and shows why, by impulses that can grow without bound.
 * And problems whose solution is far away in a direction that the matrix does not see, which look
 * alike at first. */
#include <stickslip/solver.h>

#include "faults.h"
#include "kit.h"
#include "known_cone.h"
#include "problem/laws.h"
#include "solver/core/ray.h"

static const char *const newton_solvers[] = {"interior-point", "minmap-newton", "fischer-newton",
                                             "alart-curnier", "proximal-point"};
enum { SOLVERS = 5, MOST = 12 };

/* A = J J', one body of unit mass: a row of J per unknown. */
static ss_problem *problem_of(int n, int dofs, const double *J, const double *b, int blocks)
{
    ss_error err;
    ss_problem *problem = known(ss_problem_create(n, blocks, -1, &err), &err);
    ss_triplets entries;
    if (!ss_triplets_start(&entries, (size_t)n * (size_t)n, &err)) known(NULL, &err);
    for (int i = 0; i < n; i++) {
        problem->b[i] = b[i];
        for (int j = 0; j < n; j++) {
            double sum = 0.0;
            for (int k = 0; k < dofs; k++) sum += J[i * dofs + k] * J[j * dofs + k];
            ss_triplets_add(&entries, i, j, sum);
        }
    }
    problem->A = known(ss_triplets_finish(&entries, n, n, &err), &err);
    ss_problem_matrix_changed(problem);
    return problem;
}

static void set_contacts(ss_problem *problem, ss_law law, int size, double mu)
{
    for (int k = 0; k < problem->block_count; k++) {
        problem->blocks[k] =
            (ss_block){.law = law, .first = k * size, .size = size, .mu = mu, .contact = k, .constraint = -1};
        if (law == SS_LAW_BOX) problem->lower[k] = 0.0;
    }
}

static ss_solve_result solve(const char *solver, ss_problem *problem, double *x)
{
    ss_error err;
    ss_solve_result result;
    ss_run_options options = {.max_iterations = 5000,
                              .stop = {.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-8}};
    memset(x, 0, (size_t)problem->size * sizeof *x);
    if (!ss_solve(&(ss_solve_request){.solver = ss_solver_find(solver), .problem = problem, .run = &options},
                  x, &result, &err))
        known(NULL, &err);
    return result;
}

/* w = A y, in any unit. */
static double moved_by(const ss_problem *problem, const double *y)
{
    double w[MOST], most = 0.0;
    ss_problem_apply(problem, y, NULL, w);
    for (int i = 0; i < problem->size; i++) most = fmax(most, fabs(w[i] - problem->b[i]));
    return most;
}

/* ---- between two plates that close ---------------------------------------------------------------- */

/* Unknowns: the normal impulses of a ball between two walls that both come nearer: u = (v - 1, -v - 1). */
static ss_problem *closing_plates(ss_law law)
{
    static const double J[] = {1, -1}, b[] = {-1, -1};
    ss_problem *problem = problem_of(2, 1, J, b, 2);
    set_contacts(problem, law, 1, 0.0);
    return problem;
}

TEST(a_ball_between_closing_plates_has_no_velocity_and_the_proof_is_a_squeeze)
{
    ss_problem *problem = closing_plates(SS_LAW_BOX);
    for (int s = 0; s < SOLVERS; s++) {
        double x[2];
        ss_solve_result result = solve(newton_solvers[s], problem, x);
        ENSURE_TEXT(ss_status_name(result.status), "ray");
        ENSURE(result.ray.impulse && result.ray.is_proof);
        ENSURE_NEAR(result.ray.impulse[0], 1.0, 1e-6); // 1/2 (1 + 1) = 1 J; found by strides of 1e6 and more
        ENSURE_NEAR(result.ray.impulse[1], 1.0, 1e-6);
        // the best iterate: a first step may go far, the strides go to 1e6
        ENSURE(fabs(x[0]) < 1e3 && fabs(x[1]) < 1e3);
        ss_solve_result_free(&result);
        ENSURE(result.ray.impulse == NULL);
    }
    ss_problem_destroy(problem);
}

TEST(a_direction_that_moves_something_or_costs_nothing_is_no_ray)
{
    ss_problem *problem = closing_plates(SS_LAW_BOX);
    double w[2], push[] = {1, 0}, pull[] = {-1, -1}, squeeze[] = {1, 1}, weak[] = {1, 1 + 1e-5};
    ss_ray ray = {0};
    ENSURE(!ss_ray_confirm(problem, push, NULL, w, &ray));
    ENSURE(!ss_ray_confirm(problem, pull, NULL, w, &ray)); // projected on the bounds nothing is left
    ENSURE(!ss_ray_confirm(problem, weak, NULL, w, &ray)); // a solution with impulses of 1e5 is not excluded
    ENSURE(ray.impulse == NULL);
    ENSURE(ss_ray_confirm(problem, squeeze, NULL, w, &ray));
    problem->b[0] = problem->b[1] = 1.0; // plates that go apart
    ss_ray none = {0};
    ENSURE(!ss_ray_confirm(problem, squeeze, NULL, w, &none));
    ss_release(ray.impulse);
    ss_problem_destroy(problem);
}

TEST(rays_do_not_depend_on_the_units)
{
    ss_problem *problem = closing_plates(SS_LAW_BOX);
    double w[2], squeeze[] = {1, 1};
    for (int i = 0; i < 4; i++) problem->A->value[i] *= 0x1p40;
    ss_problem_matrix_changed(problem);
    problem->b[0] = problem->b[1] = -0x1p-30;
    ss_ray ray = {0};
    ENSURE(ss_ray_confirm(problem, squeeze, NULL, w, &ray) && ray.is_proof);
    ENSURE_NEAR(ray.impulse[0], 0x1p-20, 1e-12 * 0x1p-20); // rounding
    ss_release(ray.impulse);
    ss_problem_destroy(problem);
}

/* ---- a wheel pressed into a groove ---------------------------------------------------------------- */

/* Planar: normals 10 degrees to both sides of the vertical, the walls push up with speed 1, the rolling of
 * the wheel held. With mu > 1 / tan 10 = 5.67 the wheel is wedged in. */
static ss_problem *groove(ss_law law, double mu)
{
    double s = sin(M_PI / 18.0), c = cos(M_PI / 18.0);
    double J[] = {s, c, -c, s, -s, c, -c, -s}, b[] = {-1, 0, -1, 0};
    ss_problem *problem = problem_of(4, 2, J, b, 2);
    set_contacts(problem, law, 2, mu);
    return problem;
}

TEST(a_wheel_in_a_groove_is_wedged_in_by_more_friction_than_the_groove_is_steep)
{
    for (int s = 0; s < SOLVERS; s++) {
        double x[4];
        ss_problem *slides = groove(SS_LAW_CONE, 5.0), *wedged = groove(SS_LAW_CONE, 6.5);
        ss_solve_result good = solve(newton_solvers[s], slides, x), bad = solve(newton_solvers[s], wedged, x);
        ENSURE_TEXT(ss_status_name(good.status), "converged");
        ENSURE_TEXT(ss_status_name(bad.status), "ray");
        ENSURE(!bad.ray.is_proof);                                 // friction of Coulomb's law is in it
        ENSURE_NEAR(moved_by(wedged, bad.ray.impulse), 0.0, 1e-5); // strides of 1e6
        ss_solve_result_free(&good);
        ss_solve_result_free(&bad);
        ss_problem_destroy(slides);
        ss_problem_destroy(wedged);
    }
}

TEST(under_the_convex_law_a_wedge_is_a_proof)
{
    double x[4];
    ss_problem *wedged = groove(SS_LAW_CONVEX, 6.5);
    ss_solve_result result = solve("interior-point", wedged, x);
    ENSURE_TEXT(ss_status_name(result.status), "ray");
    ENSURE(result.ray.is_proof);
    ss_solve_result_free(&result);
    ss_problem_destroy(wedged);
}

/* ---- wedged by less friction than there is --------------------------------------------------------- */

enum { CROWD = 10, DOFS = 12 }; // contacts, degrees of freedom, at most

/* Contacts of a body with too few degrees of freedom to obey them all, in random directions and with large
 * friction, and the loads of a known solution. */
static ss_problem *crowded_body(uint64_t seed)
{
    ss_random random = ss_random_start(seed, 0);
    int dimension = 2 + ss_random_below(&random, 2), contacts = 2 + ss_random_below(&random, CROWD - 1),
        n = dimension * contacts, dofs = 1 + ss_random_below(&random, n > DOFS ? DOFS : n);
    double J[3 * CROWD * DOFS], mu[CROWD], r[3 * CROWD], b[3 * CROWD], v[DOFS] = {0};
    for (int i = 0; i < n * dofs; i++) J[i] = ss_random_normal(&random);
    for (int c = 0; c < contacts; c++) {
        ss_planted_mode mode;
        mu[c] = exp(ss_random_between(&random, -1.5, 2.5));
        mode = (ss_planted_mode)ss_random_below(&random, SS_PLANTED_MODES);
        known_contact(&random, mode, dimension, mu[c], 0.0, b + c * dimension, r + c * dimension);
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < dofs; k++) v[k] += J[i * dofs + k] * r[i];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < dofs; k++) b[i] -= J[i * dofs + k] * v[k];
    ss_problem *problem = problem_of(n, dofs, J, b, contacts);
    set_contacts(problem, SS_LAW_CONE, dimension, 0.0);
    for (int c = 0; c < contacts; c++) problem->blocks[c].mu = mu[c];
    return problem;
}

/* interior-point tries less friction first where it fails with all of it. On these problems impulses run away
 * there, which says nothing about the problem itself. Which way the steps take depends on rounding: half of
 * the twelve will do, none was solved when such a ray ended the run. */
TEST(what_is_wedged_with_less_friction_may_move_with_all_of_it)
{
    static const uint64_t seeds[] = {604,   1833,  5961,  6521,  8490,  10010,
                                     10479, 11521, 12519, 12853, 13133, 14827};
    int solved = 0, count = (int)(sizeof seeds / sizeof *seeds);
    for (int k = 0; k < count; k++) {
        double x[3 * CROWD];
        ss_problem *problem = crowded_body(seeds[k]);
        ss_solve_result result = solve("interior-point", problem, x);
        solved += result.gauge[SS_GAUGE_RELATIVE_ENERGY] < 1e-8;
        ss_solve_result_free(&result);
        ss_problem_destroy(problem);
    }
    if (2 * solved < count) KIT_FAIL("%d of %d solved", solved, count);
}

/* ---- far, but there ------------------------------------------------------------------------------- */

/* A table with four feet slides on a plane: each foot (+-1, +-1) has a normal and two tangents, 6 dofs. The
 * gaps of the feet disagree by `rounding`, so that one of them stands in the air: but which impulses the
 * others have is a matter of a push of that size. */
static ss_problem *table(double rounding)
{
    double J[12 * 6] = {0}, b[12];
    for (int foot = 0; foot < 4; foot++) {
        double x = foot & 1 ? 1.0 : -1.0, y = foot & 2 ? 1.0 : -1.0, z = -0.5, *n = J + foot * 18, *s = n + 6,
               *t = n + 12;
        n[2] = 1.0, n[3] = y, n[4] = -x;
        s[0] = 1.0, s[4] = z, s[5] = -y;
        t[1] = 1.0, t[3] = -z, t[5] = x;
        b[3 * foot] = -1.0 + (foot == 0 || foot == 3 ? rounding : 0.0);
        b[3 * foot + 1] = 3.0 - 0.2 * y;
        b[3 * foot + 2] = 0.2 * x;
    }
    ss_problem *problem = problem_of(12, 6, J, b, 4);
    set_contacts(problem, SS_LAW_CONE, 3, 0.3);
    return problem;
}

TEST(a_table_on_four_feet_that_do_not_quite_agree_is_solved_all_the_same)
{
    static const double roundings[] = {0.0, 1e-9, 1e-7, 1e-5, 1e-3};
    for (int k = 0; k < 5; k++) {
        ss_problem *problem = table(roundings[k]);
        for (int s = 0; s < SOLVERS; s++) {
            double x[12];
            ss_solve_result result = solve(newton_solvers[s], problem, x);
            ENSURE_TEXT(ss_status_name(result.status), "converged");
            ss_solve_result_free(&result);
        }
        ss_problem_destroy(problem);
    }
}

TEST_MAIN
