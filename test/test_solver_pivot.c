/* Pivoting and active-set methods: lemke, block-pivot, dantzig, qp, and enumerate, the oracle. Problems are
 * built backwards from a solution, so that the right answer is known. */
#include <stickslip/solver.h>

#include "kit.h"
#include "known_cone.h"
#include "linalg/active_set_factor.h"
#include "linalg/basis.h"
#include "linalg/dense.h"
#include "linalg/growing_cholesky.h"
#include "problem/laws.h"

/* ---- problems --------------------------------------------------------------------------------------- */

enum { MAX = 60 };

typedef struct planted {
    int n;
    double A[MAX][MAX], x[MAX], w[MAX], lower[MAX], upper[MAX];
} planted;

static ss_problem *problem_of(const planted *p, unsigned char *is_free)
{
    ss_error err;
    ss_problem *problem = known(ss_problem_create(p->n, p->n, -1, &err), &err);
    ss_triplets triplets;
    if (!ss_triplets_start(&triplets, (size_t)p->n * (size_t)p->n + 1, &err)) known(NULL, &err);
    for (int i = 0; i < p->n; i++) {
        problem->b[i] = p->w[i];
        for (int j = 0; j < p->n; j++) {
            if (p->A[i][j] != 0.0 || i == j) ss_triplets_add(&triplets, i, j, p->A[i][j]);
            problem->b[i] -= p->A[i][j] * p->x[j];
        }
        problem->lower[i] = p->lower[i];
        problem->upper[i] = p->upper[i];
        problem->blocks[i] = (ss_block){.law = is_free && is_free[i] ? SS_LAW_FREE : SS_LAW_BOX,
                                        .first = i,
                                        .size = 1,
                                        .contact = -1,
                                        .constraint = -1};
    }
    problem->A = known(ss_triplets_finish(&triplets, p->n, p->n, &err), &err);
    ss_problem_matrix_changed(problem);
    return problem;
}

/* G G' / rank + shift: positive definite, or semidefinite with a small rank */
static void fill_matrix(ss_random *random, planted *p, int rank, double shift)
{
    static double G[MAX][MAX];
    for (int i = 0; i < p->n; i++)
        for (int k = 0; k < rank; k++) G[i][k] = ss_random_normal(random);
    for (int i = 0; i < p->n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = i == j ? shift : 0.0;
            for (int k = 0; k < rank; k++) sum += G[i][k] * G[j][k] / rank;
            p->A[i][j] = p->A[j][i] = sum;
        }
    }
}

/* An LCP whose rows are open, closed, or, with a chance in ten, both. */
static void plant_lcp(ss_random *random, planted *p)
{
    for (int i = 0; i < p->n; i++) {
        int what = ss_random_below(random, 10);
        p->x[i] = what < 5 ? ss_random_between(random, 0.1, 1) : 0.0;
        p->w[i] = what >= 5 && what < 9 ? ss_random_between(random, 0.1, 1) : 0.0;
        p->lower[i] = 0.0;
        p->upper[i] = INFINITY;
    }
}

/* Boxes of all kinds: two bounds, one of either side, none, none between them; is_free marks free rows. */
static void plant_boxes(ss_random *random, planted *p, unsigned char *is_free)
{
    for (int i = 0; i < p->n; i++) {
        int what = ss_random_below(random, 6), side = ss_random_below(random, 3); // lower, upper, inside
        double l = ss_random_between(random, -2, 0), u = ss_random_between(random, 0.5, 2);
        is_free[i] = what == 0;
        p->lower[i] = what == 0 || what == 1 || what == 2 ? -INFINITY : l;
        p->upper[i] = what == 0 || what == 1 || what == 3 ? INFINITY : what == 4 ? l : u;
        if (what <= 1 || (side == 0 && isinf(p->lower[i])) || (side == 1 && isinf(p->upper[i]))) side = 2;
        double inside = fmin(fmax(ss_random_between(random, l, u), p->lower[i]), p->upper[i]);
        p->x[i] = side == 0 ? p->lower[i] : side == 1 ? p->upper[i] : inside;
        double load = ss_random_between(random, 0.1, 1);
        p->w[i] = side == 0 ? load : side == 1 ? -load : 0.0;
    }
}

static const char *const all[] = {"lemke", "block-pivot", "dantzig", "qp", "enumerate"};
enum { SOLVERS = sizeof all / sizeof *all };

typedef struct outcome {
    ss_status status;
    int iterations;
    double error; // sqrt(e / e at x = 0)
} outcome;

static outcome run(const char *name, const void *options, ss_problem *problem, double *x)
{
    ss_run_options set = ss_run_defaults();
    set.stop = (ss_stop_rule){0};
    set.max_iterations = 5000000;
    ss_solve_result result;
    ss_error err;
    if (!ss_solve(
            &(ss_solve_request){
                .solver = ss_solver_find(name), .solver_options = options, .problem = problem, .run = &set},
            x, &result, &err))
        known(NULL, &err);
    ss_solve_result_free(&result);
    return (outcome){result.status, result.iterations, result.gauge[SS_GAUGE_RELATIVE_ENERGY]};
}

static outcome run_cold(const char *name, ss_problem *problem, double *x)
{
    memset(x, 0, (size_t)problem->size * sizeof *x);
    return run(name, NULL, problem, x);
}

static double largest_load_difference(const ss_problem *problem, const double *x, const double *w)
{
    double ours[MAX], largest = 0.0;
    ss_problem_apply(problem, x, NULL, ours);
    for (int i = 0; i < problem->size; i++) largest = fmax(largest, fabs(ours[i] - w[i]));
    return largest;
}

/* ---- known solutions -------------------------------------------------------------------------------- */

TEST(all_find_the_impulses_of_a_definite_problem)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        planted p = {.n = 3 + (int)(seed % 8)};
        ss_random random = ss_random_start(seed, 0);
        fill_matrix(&random, &p, p.n, 0.1);
        plant_lcp(&random, &p);
        ss_problem *problem = problem_of(&p, NULL);
        for (int s = 0; s < SOLVERS; s++) {
            double x[MAX];
            outcome got = run_cold(all[s], problem, x);
            ENSURE_INT(got.status, SS_CONVERGED);
            // condition number up to a few hundred
            ENSURE_NEAR(largest_difference(x, p.x, p.n), 0.0, 1e-12);
        }
        ss_problem_destroy(problem);
    }
}

TEST(all_keep_bounds_of_every_kind)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        planted p = {.n = 2 + (int)(seed % 7)};
        unsigned char is_free[MAX];
        ss_random random = ss_random_start(seed, 1);
        fill_matrix(&random, &p, p.n, 0.1);
        plant_boxes(&random, &p, is_free);
        ss_problem *problem = problem_of(&p, is_free);
        for (int s = 0; s < SOLVERS; s++) {
            double x[MAX];
            outcome got = run_cold(all[s], problem, x);
            ENSURE_INT(got.status, SS_CONVERGED);
            ENSURE_NEAR(largest_difference(x, p.x, p.n), 0.0, 1e-12);
        }
        ss_problem_destroy(problem);
    }
}

TEST(large_problems_with_bounds_of_every_kind)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        planted p = {.n = MAX};
        unsigned char is_free[MAX];
        ss_random random = ss_random_start(seed, 2);
        fill_matrix(&random, &p, p.n, 0.1);
        plant_boxes(&random, &p, is_free);
        ss_problem *problem = problem_of(&p, is_free);
        for (int s = 0; s < SOLVERS - 1; s++) {
            double x[MAX];
            outcome got = run_cold(all[s], problem, x);
            ENSURE_INT(got.status, SS_CONVERGED);
            ENSURE_NEAR(largest_difference(x, p.x, p.n), 0.0, 1e-11);
        }
        ss_problem_destroy(problem);
    }
}

TEST(redundant_contacts_leave_the_velocities_unique)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        planted p = {.n = 4 + (int)(seed % 6)};
        ss_random random = ss_random_start(seed, 3);
        fill_matrix(&random, &p, 1 + p.n / 2, 0.0);
        plant_lcp(&random, &p);
        ss_problem *problem = problem_of(&p, NULL);
        for (int s = 0; s < SOLVERS; s++) {
            double x[MAX];
            outcome got = run_cold(all[s], problem, x);
            ENSURE_INT(got.status, SS_CONVERGED);
            ENSURE_NEAR(got.error, 0.0, 1e-9); // a monotone LCP: w is unique, x is not
            ENSURE_NEAR(largest_load_difference(problem, x, p.w), 0.0, 1e-8);
        }
        ss_problem_destroy(problem);
    }
}

/* Every row three times: the same contact, the same joint. */
TEST(everything_three_times_is_solved_as_well)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        planted small = {.n = 3}, p = {.n = 9};
        unsigned char few[MAX], is_free[MAX];
        ss_random random = ss_random_start(seed, 4);
        fill_matrix(&random, &small, 3, 0.1);
        plant_boxes(&random, &small, few);
        for (int i = 0; i < 9; i++) {
            for (int j = 0; j < 9; j++) p.A[i][j] = small.A[i / 3][j / 3];
            p.x[i] = small.x[i / 3];
            p.w[i] = small.w[i / 3];
            p.lower[i] = small.lower[i / 3];
            p.upper[i] = small.upper[i / 3];
            is_free[i] = few[i / 3];
        }
        ss_problem *problem = problem_of(&p, is_free);
        for (int s = 0; s < SOLVERS; s++) {
            double x[MAX];
            outcome got = run_cold(all[s], problem, x);
            ENSURE_INT(got.status, SS_CONVERGED);
            ENSURE_NEAR(got.error, 0.0, 1e-8);
            ENSURE_NEAR(largest_load_difference(problem, x, p.w), 0.0, 1e-7);
        }
        ss_problem_destroy(problem);
    }
}

/* Contacts that touch without force and without speed everywhere: x = w = 0, and all ratios tie. */
TEST(nothing_but_ties)
{
    for (uint64_t seed = 1; seed <= 20; seed++) {
        planted p = {.n = 8};
        ss_random random = ss_random_start(seed, 5);
        fill_matrix(&random, &p, 4, 0.0);
        for (int i = 0; i < p.n; i++) {
            p.x[i] = ss_random_below(&random, 2); // 0 or 1, w always 0
            p.upper[i] = INFINITY;
        }
        ss_problem *problem = problem_of(&p, NULL);
        for (int s = 0; s < SOLVERS; s++) {
            double x[MAX];
            outcome got = run_cold(all[s], problem, x);
            ENSURE_INT(got.status, SS_CONVERGED);
            ENSURE_NEAR(largest_load_difference(problem, x, p.w), 0.0, 1e-8);
        }
        ss_problem_destroy(problem);
    }
}

/* ---- matrices that are not symmetric ---------------------------------------------------------------- */

TEST(unsymmetric_p_matrices)
{
    static const char *const able[] = {"lemke", "block-pivot", "enumerate"};
    for (uint64_t seed = 1; seed <= 40; seed++) {
        planted p = {.n = 3 + (int)(seed % 8)};
        ss_random random = ss_random_start(seed, 6);
        fill_matrix(&random, &p, p.n, 0.3);
        for (int i = 0; i < p.n; i++) {
            for (int j = 0; j < i; j++) { // a skew part keeps x'A x > 0
                double skew = ss_random_between(&random, -2, 2);
                p.A[i][j] += skew;
                p.A[j][i] -= skew;
            }
        }
        plant_lcp(&random, &p);
        ss_problem *problem = problem_of(&p, NULL);
        for (size_t s = 0; s < sizeof able / sizeof *able; s++) {
            double x[MAX];
            outcome got = run_cold(able[s], problem, x);
            ENSURE_INT(got.status, SS_CONVERGED);
            ENSURE_NEAR(largest_difference(x, p.x, p.n), 0.0, 1e-11);
        }
        ENSURE(ss_solver_refusal(ss_solver_find("dantzig"), problem) != NULL);
        ENSURE(ss_solver_refusal(ss_solver_find("qp"), problem) != NULL);
        ss_problem_destroy(problem);
    }
}

/* Murty 1978: lower triangular, 1 on the diagonal and 2 below. Rules that move one index at a time
 * need 2^n steps. */
TEST(murty_example_does_not_take_exponential_time)
{
    planted p = {.n = 20};
    for (int i = 0; i < p.n; i++) {
        for (int j = 0; j <= i; j++) p.A[i][j] = i == j ? 1.0 : 2.0;
        p.w[i] = i == 0 ? 0.0 : 1.0;
        p.upper[i] = INFINITY;
    }
    p.x[0] = 1.0; // b = -1 everywhere
    ss_problem *problem = problem_of(&p, NULL);
    for (int s = 0; s < 2; s++) {
        double x[MAX];
        outcome got = run_cold(all[s], problem, x);
        ENSURE_INT(got.status, SS_CONVERGED);
        ENSURE_NEAR(largest_difference(x, p.x, p.n), 0.0, 1e-14);
        ENSURE(got.iterations < 2000);
    }
    ss_problem_destroy(problem);
}

/* Kostreva 1979: Lemke's method with the wrong choice among ties, and exchanging all wrong ones at once, go
 * round in circles here. */
TEST(kostreva_example_does_not_cycle)
{
    planted p = {.n = 3, .A = {{1, 2, 0}, {0, 1, 2}, {2, 0, 1}}};
    for (int i = 0; i < 3; i++) {
        p.x[i] = 1.0 / 3.0; // b = -1
        p.upper[i] = INFINITY;
    }
    ss_problem *problem = problem_of(&p, NULL);
    static const char *const able[] = {"lemke", "block-pivot", "enumerate"};
    for (size_t s = 0; s < 3; s++) {
        double x[MAX];
        outcome got = run_cold(able[s], problem, x);
        ENSURE_INT(got.status, SS_CONVERGED);
        ENSURE_NEAR(largest_difference(x, p.x, 3), 0.0, 1e-14);
    }
    ss_problem_destroy(problem);
}

/* Friction on a polygon: p_n, four p_f, s for a point mass on a plane. Copositive-plus, zeros
 * on the diagonal. */
static ss_problem *sliding_point(double m, double g_h, double mu, double vx, double vy)
{
    static const double d[4][2] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    planted p = {.n = 6};
    p.A[0][0] = 1.0 / m;
    p.w[0] = -g_h;
    for (int j = 0; j < 4; j++) {
        for (int k = 0; k < 4; k++) p.A[1 + j][1 + k] = (d[j][0] * d[k][0] + d[j][1] * d[k][1]) / m;
        p.A[1 + j][5] = 1.0;
        p.A[5][1 + j] = -1.0;
        p.w[1 + j] = d[j][0] * vx + d[j][1] * vy; // x = 0: this is b
    }
    p.A[5][0] = mu;
    for (int i = 0; i < 6; i++) p.upper[i] = INFINITY;
    return problem_of(&p, NULL);
}

TEST(a_point_mass_on_a_friction_polygon_slides_and_sticks)
{
    static const char *const able[] = {"lemke", "block-pivot", "enumerate"};
    double m = 2.0, g_h = 0.0981, mu = 0.5;
    for (size_t s = 0; s < 3; s++) {
        double x[6];
        ss_problem *sliding = sliding_point(m, g_h, mu, 0.3, 0.0);
        ENSURE_INT(run_cold(able[s], sliding, x).status, SS_CONVERGED);
        ENSURE_NEAR(x[0], m * g_h, 1e-14);
        ENSURE_NEAR(x[3] - x[1], mu * m * g_h, 1e-14); // against the slip
        ENSURE_NEAR(x[5], 0.3 - mu * g_h, 1e-14);      // what is left of the speed
        ss_problem_destroy(sliding);
        ss_problem *sticking = sliding_point(m, g_h, mu, 0.01, -0.02);
        ENSURE_INT(run_cold(able[s], sticking, x).status, SS_CONVERGED);
        ENSURE_NEAR(x[3] - x[1], m * 0.01, 1e-14);
        ENSURE_NEAR(x[2] - x[4], m * 0.02, 1e-14);
        ENSURE_NEAR(x[5], 0.0, 1e-14);
        ss_problem_destroy(sticking);
    }
}

/* ---- coupled bounds --------------------------------------------------------------------------------- */

/* Rows come in threes: a normal and two frictions with bounds mu times it. */
static ss_problem *plant_friction(uint64_t seed, int contacts, double *x, double *w)
{
    ss_random random = ss_random_start(seed, 7);
    planted p = {.n = 3 * contacts};
    double mu[MAX];
    fill_matrix(&random, &p, p.n, 0.5);
    for (int c = 0; c < contacts; c++) {
        bool open = ss_random_below(&random, 4) == 0;
        mu[c] = ss_random_between(&random, 0.0, 0.3);
        p.x[3 * c] = open ? 0.0 : ss_random_between(&random, 0.5, 1);
        p.w[3 * c] = open ? ss_random_between(&random, 0.1, 1) : 0.0;
        for (int i = 3 * c + 1; i < 3 * c + 3; i++) {
            int side = ss_random_below(&random, 3) - 1;
            double limit = mu[c] * p.x[3 * c];
            p.x[i] = side ? side * limit : limit * ss_random_between(&random, -0.9, 0.9);
            p.w[i] = open ? ss_random_between(&random, -1, 1) : -side * ss_random_between(&random, 0.1, 1);
        }
    }
    for (int i = 0; i < p.n; i++) {
        p.lower[i] = i % 3 ? -INFINITY : 0.0;
        p.upper[i] = INFINITY;
        x[i] = p.x[i];
        w[i] = p.w[i];
    }
    ss_problem *problem = problem_of(&p, NULL);
    for (int i = 0; i < p.n; i++) {
        if (i % 3 == 0) continue;
        problem->blocks[i].law = SS_LAW_COUPLED;
        problem->partner[i] = i - i % 3;
        problem->factor[i] = mu[i / 3];
    }
    return problem;
}

TEST(friction_bounds_follow_the_normals)
{
    static const char *const able[] = {"block-pivot", "dantzig", "enumerate"};
    for (uint64_t seed = 1; seed <= 30; seed++) {
        double x[MAX], planted_x[MAX], planted_w[MAX];
        int contacts = 1 + (int)(seed % 2);
        ss_problem *problem = plant_friction(seed, contacts, planted_x, planted_w);
        for (size_t s = 0; s < 3; s++) {
            outcome got = run_cold(able[s], problem, x);
            ENSURE_INT(got.status, SS_CONVERGED);
            // little friction: the solution is unique
            ENSURE_NEAR(largest_difference(x, planted_x, problem->size), 0.0, 1e-10);
        }
        ENSURE(ss_solver_refusal(ss_solver_find("lemke"), problem) != NULL);
        ss_problem_destroy(problem);
    }
}

TEST(many_friction_bounds_settle)
{
    for (uint64_t seed = 1; seed <= 10; seed++) {
        double x[MAX], planted_x[MAX], planted_w[MAX];
        ss_problem *problem = plant_friction(seed, 20, planted_x, planted_w);
        for (int s = 1; s <= 2; s++) {
            outcome got = run_cold(all[s], problem, x);
            ENSURE_INT(got.status, SS_CONVERGED);
            ENSURE_NEAR(got.error, 0.0, 1e-9);
        }
        ss_problem_destroy(problem);
    }
}

/* u = A x + b with one contact whose friction lifts it: the bound of the first pass is that of the
 * frictionless normal, as in ODE. */
TEST(one_pass_of_dantzig_keeps_the_first_friction_bounds)
{
    planted p = {.n = 2, .A = {{1.0, 0.5}, {0.5, 1.0}}, .w = {-1.0, -5.0}, .lower = {0.0, -INFINITY}};
    p.upper[0] = p.upper[1] = INFINITY;
    ss_problem *problem = problem_of(&p, NULL);
    problem->blocks[1].law = SS_LAW_COUPLED;
    problem->partner[1] = 0;
    problem->factor[1] = 0.5;
    struct { // as in dantzig.c: passes, compliance
        int passes;
        double compliance;
    } ode = {1, 0.0};
    double x[2] = {0};
    outcome got = run("dantzig", &ode, problem, x);
    ENSURE_INT(got.status, SS_STALLED); // the bounds do not follow: it says so
    ENSURE_NEAR(x[1], 0.5, 1e-15);      // mu times the first normal, 1
    ENSURE_NEAR(x[0], 0.75, 1e-15);
    got = run_cold("dantzig", problem, x);
    ENSURE_INT(got.status, SS_CONVERGED);
    ENSURE_NEAR(x[1], 0.4, 1e-12); // x_0 = 1 - 0.5 x_1, x_1 = 0.5 x_0
    ENSURE_NEAR(x[0], 0.8, 1e-12);
    ss_problem_destroy(problem);
}

/* ---- scales ----------------------------------------------------------------------------------------- */

/* A column of boxes on the ground: force i carries everything above. */
static ss_problem *column(const double *mass, int n, double g_h)
{
    planted p = {.n = n};
    for (int i = 0; i < n; i++) {
        p.A[i][i] = 1.0 / mass[i] + (i > 0 ? 1.0 / mass[i - 1] : 0.0);
        if (i > 0) p.A[i][i - 1] = p.A[i - 1][i] = -1.0 / mass[i - 1];
        p.w[i] = i == 0 ? -g_h : 0.0; // free fall: only the lowest box approaches something
        p.upper[i] = INFINITY;
    }
    return problem_of(&p, NULL);
}

TEST(a_heavy_box_on_a_light_one)
{
    double mass[8], g_h = 0.0981;
    for (int i = 0; i < 8; i++) mass[i] = i % 2 ? 1e6 : 1.0;
    ss_problem *problem = column(mass, 8, g_h);
    for (int s = 0; s < SOLVERS; s++) {
        double x[8], above = 0.0;
        outcome got = run_cold(all[s], problem, x);
        ENSURE_INT(got.status, SS_CONVERGED);
        for (int i = 7; i >= 0; i--) {
            above += mass[i];
            ENSURE_NEAR(x[i] / (above * g_h), 1.0, 1e-8); // condition 1e7
        }
    }
    ss_problem_destroy(problem);
}

/* Lengths times 2^a, masses times 4^b, times 2^c: impulses and velocities change by powers of two, and not
 * one bit otherwise. Every third row is angular. */
static void change_units(ss_problem *problem, double *impulse, double *velocity)
{
    for (int i = 0; i < problem->size; i++) {
        bool angular = i % 3 == 2;
        impulse[i] = (angular ? 0x1p10 : 0x1p7); // length 2^3, mass 4^2, time 2^0: kg m/s, kg m^2/s
        velocity[i] = (angular ? 1.0 : 0x1p3);
    }
    for (int j = 0; j < problem->size; j++) {
        for (int k = problem->A->start[j]; k < problem->A->start[j + 1]; k++)
            problem->A->value[k] *= velocity[problem->A->row[k]] / impulse[j];
        problem->b[j] *= velocity[j];
        problem->lower[j] *= impulse[j];
        problem->upper[j] *= impulse[j];
        if (problem->partner[j] >= 0) problem->factor[j] *= impulse[j] / impulse[problem->partner[j]];
    }
    bool symmetric = problem->symmetric;
    ss_problem_matrix_changed(problem);
    problem->symmetric = symmetric;
}

TEST(a_change_of_units_changes_no_bit)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        planted p = {.n = 9};
        unsigned char is_free[MAX];
        ss_random random = ss_random_start(seed, 8);
        fill_matrix(&random, &p, 6 + 3 * (int)(seed % 2), 0.0);
        plant_boxes(&random, &p, is_free);
        ss_problem *problem = problem_of(&p, is_free);
        for (int s = 0; s < SOLVERS; s++) {
            double x[MAX], scaled_x[MAX], impulse[MAX], velocity[MAX];
            ss_problem *scaled = problem_of(&p, is_free);
            change_units(scaled, impulse, velocity);
            outcome one = run_cold(all[s], problem, x), other = run_cold(all[s], scaled, scaled_x);
            ENSURE_INT(other.status, one.status);
            ENSURE_INT(other.iterations, one.iterations);
            for (int i = 0; i < p.n; i++) ENSURE(scaled_x[i] == x[i] * impulse[i]);
            ss_problem_destroy(scaled);
        }
        ss_problem_destroy(problem);
    }
}

TEST(a_change_of_units_changes_no_bit_of_coupled_bounds)
{
    static const char *const able[] = {"block-pivot", "dantzig", "enumerate"};
    for (uint64_t seed = 1; seed <= 10; seed++) {
        for (size_t s = 0; s < 3; s++) {
            double x[MAX], scaled_x[MAX], impulse[MAX], velocity[MAX], planted_x[MAX], planted_w[MAX];
            ss_problem *problem = plant_friction(seed, 2, planted_x, planted_w);
            ss_problem *scaled = plant_friction(seed, 2, planted_x, planted_w);
            change_units(scaled, impulse, velocity);
            outcome one = run_cold(able[s], problem, x), other = run_cold(able[s], scaled, scaled_x);
            ENSURE_INT(other.status, one.status);
            ENSURE_INT(other.iterations, one.iterations);
            for (int i = 0; i < problem->size; i++) ENSURE(scaled_x[i] == x[i] * impulse[i]);
            ss_problem_destroy(scaled);
            ss_problem_destroy(problem);
        }
    }
}

/* ---- cones ------------------------------------------------------------------------------------------ */

TEST(enumerate_finds_what_coulomb_contacts_do)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        int dimension = seed % 2 ? 2 : 3, contacts = 1 + (int)(seed % 3), equations = (int)(seed % 4 == 0);
        ss_cone_point point;
        ss_error err;
        ss_cone *cone = known_local(seed, dimension, contacts, equations, &point);
        ss_problem *problem = known(ss_problem_from_cone(cone, &err), &err);
        double x[MAX];
        outcome got = run_cold("enumerate", problem, x);
        ENSURE_INT(got.status, SS_CONVERGED);
        ENSURE_NEAR(got.error, 0.0, 1e-9); // the planted solution is one of perhaps several
        ss_problem_destroy(problem);
        ss_cone_point_free(&point);
        ss_cone_destroy(cone);
    }
}

/* A convex contact that slides: u is on the surface of the dual cone, u . r = 0. */
static ss_problem *plant_convex(uint64_t seed, int dimension, int contacts, double *r)
{
    ss_cone_point point;
    ss_error err;
    ss_random random = ss_random_start(seed, 9);
    ss_cone *cone = known_local(seed, dimension, contacts, 0, &point);
    ss_problem *problem = known(ss_problem_from_cone(cone, &err), &err);
    int n = problem->size;
    for (int k = 0; k < problem->block_count; k++) {
        ss_block *block = &problem->blocks[k];
        double *u = point.u + block->first;
        block->law = SS_LAW_CONVEX;
        if (k == 0) block->mu = seed % 3 ? block->mu : INFINITY;
        if (isinf(block->mu)) {
            for (int i = 1; i < block->size; i++) u[i] = 0.0; // what friction without limit allows
            continue;
        }
        double slip = norm_of(u + 1, block->size == 2 ? 1 : 2),
               roll = block->size == 5 ? norm_of(u + 3, 2) : 0.0;
        u[0] += block->mu * slip + block->mu_rolling * roll;
        if (point.r[block->first] == 0.0) u[0] += ss_random_real(&random);
    }
    memcpy(problem->b, point.u, (size_t)n * sizeof *problem->b);
    ss_sparse_apply(problem->A, point.r, -1.0, problem->b);
    memcpy(r, point.r, (size_t)n * sizeof *r);
    ss_cone_point_free(&point);
    ss_cone_destroy(cone);
    return problem;
}

TEST(qp_and_enumerate_solve_the_convex_law)
{
    for (uint64_t seed = 1; seed <= 40; seed++) {
        int dimension = seed % 2 ? 2 : 3;
        double planted_r[MAX], x[MAX];
        ss_problem *problem = plant_convex(seed, dimension, 1 + (int)(seed % 3), planted_r);
        outcome truth = run_cold("enumerate", problem, x);
        ENSURE_INT(truth.status, SS_CONVERGED);
        // convex and definite: unique
        ENSURE_NEAR(largest_difference(x, planted_r, problem->size), 0.0, 1e-8);
        outcome got = run_cold("qp", problem, x);
        ENSURE_INT(got.status, SS_CONVERGED);
        ENSURE_NEAR(got.error, 0.0, 1e-7);
        ENSURE_NEAR(largest_difference(x, planted_r, problem->size), 0.0, 1e-6); // a minimum: half the digits
        ss_problem_destroy(problem);
    }
}

TEST(qp_solves_many_convex_contacts_with_rolling)
{
    for (uint64_t seed = 1; seed <= 12; seed++) {
        int dimension = seed % 3 == 0 ? 5 : seed % 3 == 1 ? 3 : 2;
        double planted_r[MAX], x[MAX];
        ss_problem *problem = plant_convex(seed, dimension, MAX / dimension - 1, planted_r);
        outcome got = run_cold("qp", problem, x);
        ENSURE_INT(got.status, SS_CONVERGED);
        ENSURE_NEAR(largest_difference(x, planted_r, problem->size), 0.0, 1e-6);
        ss_problem_destroy(problem);
    }
}

TEST(enumerate_refuses_what_is_too_much_for_it)
{
    const ss_solver *enumerate = ss_solver_find("enumerate");
    double planted_r[MAX], x[MAX] = {0};
    ss_problem *rolling = plant_convex(3, 5, 1, planted_r);
    ENSURE_INT(run("enumerate", NULL, rolling, x).status, SS_NOT_APPLICABLE);
    ENSURE_TEXT(ss_solver_refusal(enumerate, rolling), "does not accept rolling friction");
    ss_problem_destroy(rolling);
    planted p = {.n = 40};
    for (int i = 0; i < p.n; i++) p.A[i][i] = 1.0, p.upper[i] = 1.0, p.lower[i] = -1.0;
    ss_problem *boxes = problem_of(&p, NULL); // 3^40
    ENSURE_INT(run("enumerate", NULL, boxes, x).status, SS_NOT_APPLICABLE);
    ENSURE_TEXT(ss_solver_refusal(enumerate, boxes), "accepts at most 5000 combinations of states");
    ss_problem_destroy(boxes);
}

TEST(dense_methods_refuse_what_does_not_fit)
{
    ss_error err;
    ss_problem *equations = known(ss_problem_create(10001, 1, -1, &err), &err);
    equations->symmetric = true;
    ENSURE_TEXT(ss_solver_refusal(ss_solver_find("dantzig"), equations), "accepts at most 10000 unknowns");
    ENSURE_TEXT(ss_solver_refusal(ss_solver_find("enumerate"), equations), "accepts at most 60 unknowns");
    ss_problem_destroy(equations);
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

TEST(qp_needs_no_matrix)
{
    ss_error err;
    enum { BALLS = 5 };
    ss_problem *problem = known(ss_problem_create(BALLS, 1, BALLS, &err), &err);
    problem->blocks[0] = (ss_block){.law = SS_LAW_BOX, .size = BALLS, .contact = -1, .constraint = -1};
    for (int i = 0; i < BALLS; i++) { // ball i rests on ball i - 1, the lowest on the ground
        problem->bodies->inverse_mass[i] = 1.0 / (1.0 + i);
        problem->bodies->pair[i][0] = i - 1;
        problem->bodies->pair[i][1] = i;
        problem->bodies->jacobian[i][2] = i > 0 ? -1.0 : 0.0;
        problem->bodies->jacobian[i][8] = 1.0;
        problem->lower[i] = 0.0;
        problem->b[i] = i == 0 ? -0.1 : 0.0;
        problem->diagonal[i] = 1.0 / (1.0 + i) + (i > 0 ? 1.0 / i : 0.0);
    }
    problem->symmetric = true;
    static const bool direct[] = {true, false}; // as in qp.c
    for (int how = 0; how < 2; how++) {
        double x[BALLS] = {0};
        ENSURE_INT(run("qp", &direct[how], problem, x).status, SS_CONVERGED);
        ENSURE(problem->A == NULL);
        ENSURE_NEAR(x[0], 0.1 * (1 + 2 + 3 + 4 + 5), 1e-12); // carries all of them
        ENSURE_NEAR(x[BALLS - 1], 0.1 * 5, 1e-12);
    }
    ss_problem_destroy(problem);
}

/* ---- how it goes ------------------------------------------------------------------------------------ */

TEST(a_good_start_is_worth_something)
{
    planted p = {.n = 50};
    ss_random random = ss_random_start(11, 10);
    fill_matrix(&random, &p, p.n, 0.1);
    plant_lcp(&random, &p);
    ss_problem *problem = problem_of(&p, NULL);
    static const char *const warm[] = {"block-pivot", "qp"};
    for (int s = 0; s < 2; s++) {
        double x[MAX];
        int cold = run_cold(warm[s], problem, x).iterations;
        int again = run(warm[s], NULL, problem, x).iterations;
        ENSURE(again < cold);
        ENSURE(again <= 3); // the basis, and passes that remove the compliance
    }
    ss_problem_destroy(problem);
}

TEST(a_short_run_of_block_pivot_returns_its_best_basis)
{
    planted p = {.n = MAX};
    ss_random random = ss_random_start(5, 11);
    fill_matrix(&random, &p, p.n, 1e-3);
    plant_lcp(&random, &p);
    ss_problem *problem = problem_of(&p, NULL);
    ss_run_options set = ss_run_defaults();
    set.history = true;
    set.stop = (ss_stop_rule){0};
    set.keep = (ss_keep_rule){.which = SS_KEEP_BEST, .gauge = SS_GAUGE_ENERGY};
    set.max_iterations = 4;
    double x[MAX] = {0};
    ss_solve_result result;
    ss_error err;
    ENSURE(ss_solve(
        &(ss_solve_request){.solver = ss_solver_find("block-pivot"), .problem = problem, .run = &set}, x,
        &result, &err));
    ENSURE_INT(result.status, SS_MAX_ITERATIONS);
    ENSURE_INT(result.history.count, 4);
    for (int k = 0; k < 4; k++) {
        double energy = result.history.gauge[SS_GAUGE_ENERGY][k];
        ENSURE(result.gauge[SS_GAUGE_ENERGY] <= energy * (1.0 + 1e-12)); // recomputed: rounding
    }
    ss_solve_result_free(&result);
    ss_problem_destroy(problem);
}

/* ---- limits ----------------------------------------------------------------------------------------- */

TEST(nothing_to_solve_is_solved)
{
    planted p = {.n = 0};
    ss_problem *problem = problem_of(&p, NULL);
    double x[1] = {0};
    for (int s = 0; s < SOLVERS; s++) ENSURE_INT(run(all[s], NULL, problem, x).status, SS_CONVERGED);
    ss_problem_destroy(problem);
}

/* A contact between two things that cannot move: w = b whatever x. */
TEST(rows_of_zeros_are_survived)
{
    planted p = {.n = 3, .A = {{0, 0, 0}, {0, 2, 0}, {0, 0, 0}}, .w = {1.0, 0.0, -1.0}, .x = {0.0, 0.5, 2.0}};
    p.upper[0] = p.upper[1] = INFINITY;
    p.upper[2] = 2.0;
    ss_problem *problem = problem_of(&p, NULL);
    for (int s = 0; s < SOLVERS; s++) {
        double x[3];
        ENSURE_INT(run_cold(all[s], problem, x).status, SS_CONVERGED);
        ENSURE_NEAR(largest_difference(x, p.x, 3), 0.0, 1e-15);
    }
    ss_problem_destroy(problem);
}

/* Two things that cannot move approach each other; two equations that contradict each other. */
TEST(what_has_no_solution_is_not_called_solved)
{
    planted blocked = {.n = 2, .A = {{1, 0}, {0, 0}}, .w = {-1.0, -1.0}};
    blocked.upper[0] = blocked.upper[1] = INFINITY;
    planted twice = {.n = 2, .A = {{1, 1}, {1, 1}}, .w = {-1.0, -2.0}, .lower = {-INFINITY, -INFINITY}};
    twice.upper[0] = twice.upper[1] = INFINITY;
    for (int s = 0; s < SOLVERS; s++) {
        double x[2];
        ss_problem *problem = problem_of(&blocked, NULL);
        ss_status status = run_cold(all[s], problem, x).status;
        ENSURE(status == SS_RAY || status == SS_STALLED || status == SS_FAILED);
        ENSURE(isfinite(x[0]) && isfinite(x[1]));
        ss_problem_destroy(problem);
        problem = problem_of(&twice, (unsigned char[]){1, 1});
        status = run_cold(all[s], problem, x).status;
        ENSURE(status == SS_RAY || status == SS_STALLED || status == SS_FAILED);
        ENSURE(isfinite(x[0]) && isfinite(x[1]));
        ss_problem_destroy(problem);
    }
}

/* A y = 0 and b . y < 0 for a y >= 0 (on free rows of any sign): then y . w = b . y, and no
 * impulse can help. */
static void plant_impossible(ss_random *random, planted *p, unsigned char *is_free)
{
    static double G[MAX][MAX];
    double y[MAX], y_y = 0.0, b_y = 0.0;
    int rank = 1 + ss_random_below(random, p->n - 1);
    for (int i = 0; i < p->n; i++) {
        is_free[i] = ss_random_below(random, 5) == 0;
        p->lower[i] = is_free[i] ? -INFINITY : 0.0;
        p->upper[i] = INFINITY;
        y[i] = i == 0 ? 1.0 : ss_random_below(random, 2) - (is_free[i] ? 0.5 : 0.0);
        p->w[i] = ss_random_between(random, -0.5, 0.5); // x = 0: this is b
        y_y += y[i] * y[i];
        b_y += p->w[i] * y[i];
    }
    for (int i = 0; i < p->n; i++) p->w[i] -= (b_y + 0.3) * y[i] / y_y;
    for (int k = 0; k < rank; k++) {
        double along = 0.0;
        for (int i = 0; i < p->n; i++) {
            G[i][k] = (ss_random_below(random, 3) - 1) * (ss_random_below(random, 3) == 0); // ties
            along += G[i][k] * y[i];
        }
        for (int i = 0; i < p->n; i++) G[i][k] -= along * y[i] / y_y;
    }
    for (int i = 0; i < p->n; i++) {
        for (int j = 0; j < p->n; j++) {
            p->A[i][j] = 0.0;
            for (int k = 0; k < rank; k++) p->A[i][j] += G[i][k] * G[j][k];
        }
    }
}

TEST(lemke_ends_on_a_ray_when_no_impulse_can_help)
{
    for (uint64_t seed = 1; seed <= 200; seed++) {
        static planted p;
        unsigned char is_free[MAX];
        double x[MAX];
        p = (planted){.n = 2 + (int)(seed % (MAX - 1))};
        ss_random random = ss_random_start(seed, 14);
        plant_impossible(&random, &p, is_free);
        ss_problem *problem = problem_of(&p, is_free);
        ENSURE_INT(run_cold("lemke", problem, x).status, SS_RAY);
        ss_problem_destroy(problem);
    }
}

/* ---- parts ------------------------------------------------------------------------------------------ */

/* Rows of the inverse and solutions, before and after pivots, dense and sparse. */
static void check_basis(int n, double density)
{
    ss_error err;
    ss_random random = ss_random_start((uint64_t)n, 12);
    ss_arena *arena = known(ss_arena_create(1 << 16, &err), &err);
    ss_problem *problem = known(ss_problem_create(n, 1, -1, &err), &err);
    ss_sparse *off = random_matrix(&random, n, n, density);
    problem->A = known(ss_cone_combine(0.2, off, 0.0, off, &err), &err);
    ss_sparse_destroy(off);
    double *two = ss_arena_take(arena, (size_t)n, sizeof *two, "diagonal");
    for (int i = 0; i < n; i++) two[i] = 3.0;
    ss_sparse *with = known(ss_cone_add_diagonal(problem->A, two, &err), &err);
    ss_sparse_destroy(problem->A);
    problem->A = with;
    problem->blocks[0] = (ss_block){.law = SS_LAW_BOX, .size = n, .contact = -1, .constraint = -1};
    for (int i = 0; i < n; i++) problem->lower[i] = 0.0, problem->b[i] = ss_random_between(&random, -1, 1);
    ss_problem_matrix_changed(problem);
    ss_basis basis;
    bool *is_free = ss_arena_take(arena, (size_t)n, sizeof *is_free, "free rows");
    ENSURE(ss_basis_create(problem->A, problem->b, is_free, arena, &basis));
    for (int i = 0; i < n; i++) basis.cover[i] = 1.0, basis.code[i] = i % 3 ? n + i : i;
    basis.code[1] = 2 * n;
    ENSURE_INT(ss_basis_factor(&basis, 0.0), SS_LINALG_LATE); // the clock has passed 0 s
    ENSURE_INT(ss_basis_factor(&basis, INFINITY), SS_LINALG_OK);
    double *direction = ss_arena_take(arena, (size_t)n, sizeof *direction, "direction");
    double *row = ss_arena_take(arena, (size_t)n, sizeof *row, "row");
    double *column_of = ss_arena_take(arena, (size_t)n, sizeof *column_of, "column");
    for (int pivots = 0; pivots < 5; pivots++) {
        for (int p = 0; p < n; p += 1 + n / 7) {
            ss_basis_row(&basis, p, row);
            for (int q = 0; q < n; q += 1 + n / 5) { // row p of B^-1 times column q of B
                memset(column_of, 0, (size_t)n * sizeof *column_of);
                ss_basis_add_column(&basis, basis.code[q], column_of);
                double sum = 0.0;
                for (int i = 0; i < n; i++) sum += row[i] * column_of[i];
                ENSURE_NEAR(sum, p == q ? 1.0 : 0.0, 1e-12);
                ss_basis_solve(&basis, column_of);
                ENSURE_NEAR(column_of[p], p == q ? 1.0 : 0.0, 1e-12);
            }
        }
        int position = 3 * pivots, entering = n + position; // z for w
        ss_basis_direction(&basis, entering, direction);
        ss_basis_exchange(&basis, position, entering, direction);
    }
    ss_basis_destroy(&basis);
    ss_problem_destroy(problem);
    ss_arena_destroy(arena);
}

TEST(a_basis_inverts_itself_dense)
{
    check_basis(18, 0.8);
}

TEST(a_basis_inverts_itself_sparse)
{
    check_basis(90, 0.02);
}

/* A chain of n unknowns, each coupled to the next by -1 and from the next by `back`; every other one, and the
 * first `extra`, in the face: dense up to 48 of them, then sparse. */
static void check_face(int n, int extra, double back)
{
    enum { LARGEST = 300, ROUNDS = 60 };
    static const double shift = 1e-2;
    static bool in_face[LARGEST];
    static double right[LARGEST], rest[LARGEST], change[LARGEST], x[LARGEST];
    ss_error err;
    ss_arena *arena = known(ss_arena_create(1 << 16, &err), &err);
    ss_triplets triplets;
    if (!ss_triplets_start(&triplets, 3 * (size_t)n, &err)) known(NULL, &err);
    for (int i = 0; i < n; i++) {
        in_face[i] = i < extra || i % 2 == 0;
        right[i] = sin(i);
        ss_triplets_add(&triplets, i, i, 3.0);
        if (i + 1 < n) ss_triplets_add(&triplets, i + 1, i, -1.0), ss_triplets_add(&triplets, i, i + 1, back);
    }
    ss_sparse *A = known(ss_triplets_finish(&triplets, n, n, &err), &err);
    ss_active_set_factor face;
    ENSURE(ss_active_set_factor_create(A, back == -1.0, shift, arena, &face));
    ENSURE_INT(ss_active_set_factorise(&face, in_face, 0.0), SS_LINALG_LATE);
    ENSURE_INT(ss_active_set_factorise(&face, in_face, INFINITY), SS_LINALG_OK);
    ENSURE_INT(face.is_dense, face.size <= 48);

    // With the shift first, then without, to rounding of numbers of size 1.
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < n; i++) x[i] = 0.0;
        if (round == 0)
            ss_active_set_solve(&face, right, x);
        else
            ss_active_set_refine(&face, right, ROUNDS, rest, change, x);
        for (int i = 0; i < n; i++) {
            double sum = (round == 0 ? 3.0 + shift : 3.0) * x[i];
            if (i > 0) sum -= x[i - 1];
            if (i + 1 < n) sum += back * x[i + 1];
            if (in_face[i]) ENSURE_NEAR(sum, right[i], 1e-14);
            if (!in_face[i]) ENSURE(x[i] == 0.0);
        }
    }
    ss_active_set_factor_destroy(&face);
    ss_sparse_destroy(A);
    ss_arena_destroy(arena);
}

TEST(a_part_of_a_matrix_is_solved_as_if_it_were_alone)
{
    check_face(40, 10, -1.0);
    check_face(40, 10, 0.5);
    check_face(300, 200, -1.0);
    check_face(300, 200, 0.5);
}

TEST(a_cholesky_factor_gains_and_loses_rows)
{
    ss_error err;
    ss_arena *arena = known(ss_arena_create(1 << 16, &err), &err);
    planted p = {.n = 20};
    ss_random random = ss_random_start(3, 13);
    fill_matrix(&random, &p, p.n, 0.1);
    ss_growing_cholesky factor;
    ENSURE(ss_growing_cholesky_create(p.n, arena, &factor));
    bool in[MAX] = {false};
    for (int step = 0; step < 200; step++) {
        int k = ss_random_below(&random, p.n);
        double column_of[MAX], x[MAX];
        for (int c = 0; c < factor.size; c++) column_of[c] = p.A[factor.member[c]][k];
        if (in[k])
            ss_growing_cholesky_remove(&factor, k);
        else
            ENSURE(ss_growing_cholesky_add(&factor, k, column_of, p.A[k][k], 1e-12));
        in[k] = !in[k];
        for (int c = 0; c < factor.size; c++) { // A_CC times (1, 2, 3, ...)
            x[c] = 0.0;
            for (int d = 0; d < factor.size; d++) x[c] += p.A[factor.member[c]][factor.member[d]] * (d + 1);
        }
        ss_growing_cholesky_solve(&factor, x);
        for (int c = 0; c < factor.size; c++) ENSURE_NEAR(x[c], c + 1, 1e-10); // 200 updates
    }
    for (int c = 0; c < p.n; c++) {
        if (in[c]) ss_growing_cholesky_remove(&factor, c);
    }
    double column_of[2] = {0};
    ENSURE(ss_growing_cholesky_add(&factor, 0, column_of, 4.0, 1e-12));
    column_of[0] = 4.0;
    ENSURE(!ss_growing_cholesky_add(&factor, 1, column_of, 4.0, 1e-12)); // the same row twice
    ENSURE_INT(factor.size, 1);
    ss_arena_destroy(arena);
}

TEST_MAIN
