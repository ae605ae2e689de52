/* alart-curnier and proximal-point: their maps at solutions and off them, derivatives against differences,
 * contacts with answers by hand, towers, a table whose legs share the load in any way, both inner methods of
 * proximal-point, and the real problems of FCLIB. */
#include <stickslip/dataset.h>
#include <stickslip/solver.h>

#include "faults.h"
#include "rules.h"
#include "kit.h"
#include "known_cone.h"
#include "shared_data.h"
#include "problem/laws.h"
#include "solver/newton/maps.h"

/* ---- helpers ---------------------------------------------------------------------------------------- */

/* Solver and one of its settings. */
typedef struct method {
    const char *solver, *option, *value;
} method;

static const method methods[] = {
    {"alart-curnier", "map", "alart-curnier"}, {"alart-curnier", "map", "jean-moreau"},
    {"alart-curnier", "map", "de-saxce"},      {"proximal-point", "inner", "newton"},
    {"proximal-point", "inner", "sweeps"},
};
enum { METHODS = 5, NEWTON_METHODS = 4, MOST_OPTIONS = 64 };

static ss_solve_result solve_to(method by, ss_problem *problem, const char *stop, int iterations, double *x)
{
    ss_error err;
    ss_solve_result result;
    ss_run_options options = {.max_iterations = iterations, .stop = stop_rule(stop), .seed = 1};
    const ss_solver *solver = known((void *)(uintptr_t)ss_solver_find(by.solver), NULL);
    double own[MOST_OPTIONS] = {0}; // aligned for any struct of options
    if (solver->options_size > sizeof own) known(NULL, NULL);
    ss_options_defaults(solver->options, own);
    if (!ss_options_set(solver->options, own, by.option, by.value, &err)) known(NULL, &err);
    if (!ss_solve(
            &(ss_solve_request){.solver = solver, .solver_options = own, .problem = problem, .run = &options},
            x, &result, &err))
        known(NULL, &err);
    ss_solve_result_free(&result); // of what is allocated; the numbers stay
    return result;
}

static const char *name_of(method by)
{
    static char text[80];
    snprintf(text, sizeof text, "%s %s=%s", by.solver, by.option, by.value);
    return text;
}

/* True when it converged; says who did not. */
static bool solves(method by, ss_problem *problem, const char *stop, double *x)
{
    ss_solve_result result = solve_to(by, problem, stop, 20000, x);
    if (result.status != SS_CONVERGED)
        fprintf(stderr, "%s: %s after %d iterations, %g\n", name_of(by), ss_status_name(result.status),
                result.iterations, result.gauge[SS_GAUGE_RELATIVE_ENERGY]);
    return result.status == SS_CONVERGED;
}

/* One contact of a body of mass 2, of an inverse mass `soft` times that along the tangents. */
static ss_problem *one_contact(int size, double mu, double mu_rolling, double soft, const double *q)
{
    ss_error err;
    ss_problem *problem = known(ss_problem_create(size, 1, -1, &err), &err);
    ss_triplets entries;
    if (!ss_triplets_start(&entries, (size_t)size, &err)) known(NULL, &err);
    for (int i = 0; i < size; i++) {
        ss_triplets_add(&entries, i, i, i == 0 ? 0.5 : 0.5 * soft);
        problem->b[i] = q[i];
    }
    problem->A = known(ss_triplets_finish(&entries, size, size, &err), &err);
    ss_problem_matrix_changed(problem);
    problem->blocks[0] = (ss_block){.law = SS_LAW_CONE,
                                    .size = size,
                                    .mu = mu,
                                    .mu_rolling = mu_rolling,
                                    .contact = -1,
                                    .constraint = -1};
    return problem;
}

/* ---- maps ------------------------------------------------------------------------------------------- */

/* A space of one node, enough for the maps; own inverse masses as given. */
typedef struct bench {
    ss_node node;
    ss_space space;
    double own[1][SS_ALART_PARTS];
    ss_alart alart;
} bench;

static void bench_set(bench *b, int size, double mu, double mu_rolling, ss_alart_variant variant, double rho)
{
    *b = (bench){.node = {.law = SS_LAW_CONE, .size = size, .mu = mu, .mu_rolling = mu_rolling},
                 .own = {{0.5, 1.3, 0.8, 1.0}}};
    b->space = (ss_space){.nodes = &b->node, .node_count = 1, .size = size};
    b->alart = (ss_alart){.variant = variant, .rho = rho, .own_inverse = b->own};
}

static double map_at(const bench *b, double alpha, const double *r, const double *u)
{
    double phi[SS_NODE_MAX];
    ss_newton_alart(&b->alart, &b->space, 0, alpha, r, u, phi, NULL, NULL);
    return norm_of(phi, b->node.size);
}

static const int sizes[] = {2, 3, 5};

TEST(the_maps_vanish_where_coulombs_law_holds_whatever_the_step)
{
    ss_random random = ss_random_start(31, 0);
    for (int round = 0; round < 300; round++) {
        int size = sizes[round % 3];
        double mu = ss_random_between(&random, 0.1, 1.2), mu_rolling = ss_random_between(&random, 0.1, 0.3);
        double r[5], u[5];
        ss_planted_mode mode = (ss_planted_mode)ss_random_below(&random, SS_PLANTED_MODES);
        known_contact(&random, mode, size, mu, mu_rolling, u, r);
        for (int variant = 0; variant < 3; variant++) {
            for (double rho = 0.01; rho < 200.0; rho *= 100.0) {
                bench b;
                bench_set(&b, size, mu, mu_rolling, (ss_alart_variant)variant, rho);
                ENSURE_NEAR(map_at(&b, 0.1, r, u), 0.0, 1e-13 * (1.0 + rho)); // rounding of y = r - rho u
                double off = r[0];
                r[0] += 0.05; // more pressure than the law wants
                // where u = 0, more r_N is allowed
                ENSURE(mode == SS_PLANTED_TOUCH || mode == SS_PLANTED_STICK || map_at(&b, 0.1, r, u) > 1e-4);
                r[0] = off;
                u[0] -= 0.05; // the contact closes further
                ENSURE(mode == SS_PLANTED_OPEN || map_at(&b, 0.1, r, u) > 1e-4);
                u[0] += 0.05;
            }
        }
    }
}

/* Off the solution they are three different functions, and none is the natural map of minmap-newton. */
TEST(off_the_solution_the_maps_differ)
{
    double r[3] = {1.0, 0.9, 0.1}, u[3] = {0.4, -0.5, 0.2}, phi[4][3];
    for (int variant = 0; variant < 3; variant++) {
        bench b;
        bench_set(&b, 3, 0.5, 0.0, (ss_alart_variant)variant, 1.0);
        ss_newton_alart(&b.alart, &b.space, 0, 0.0, r, u, phi[variant], NULL, NULL);
        ss_newton_natural(&b.space, &b.node, 1.0, r, u, phi[3], NULL, NULL);
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < i; j++) ENSURE(largest_difference(phi[i], phi[j], 3) > 1e-2);
    }
}

static void check_derivative(const bench *b, ss_random *random)
{
    double r[SS_NODE_MAX], u[SS_NODE_MAX], phi[SS_NODE_MAX], F[64], B[64], step = 1e-6, alpha = 0.2;
    int n = b->node.size;
    for (int i = 0; i < n; i++) r[i] = ss_random_normal(random), u[i] = ss_random_normal(random);
    ss_newton_alart(&b->alart, &b->space, 0, alpha, r, u, phi, F, B);
    for (int j = 0; j < 2 * n; j++) {
        double after[2][SS_NODE_MAX], *moved = j < n ? r + j : u + j - n, kept = *moved;
        for (int side = 0; side < 2; side++) {
            *moved = kept + (side ? step : -step);
            ss_newton_alart(&b->alart, &b->space, 0, alpha, r, u, after[side], NULL, NULL);
        }
        *moved = kept;
        for (int i = 0; i < n; i++) {
            double slope = j < n ? F[i * n + j] : B[i * n + j - n];
            ENSURE_NEAR((after[1][i] - after[0][i]) / (2.0 * step), slope, 1e-5); // second order
        }
    }
}

TEST(derivatives_of_the_maps_agree_with_differences)
{
    const double friction[][2] = {{0.6, 0.3}, {0.0, 0.3}, {0.6, 0.0}, {INFINITY, 0.3}, {0.0, 0.0}};
    ss_random random = ss_random_start(32, 0);
    for (int variant = 0; variant < 3; variant++) {
        for (int k = 0; k < 5; k++) {
            for (int round = 0; round < 60; round++) {
                bench b;
                bench_set(&b, sizes[round % 3], friction[k][0], friction[k][1], (ss_alart_variant)variant,
                          1.7);
                check_derivative(&b, &random);
            }
        }
    }
}

/* ---- one contact ------------------------------------------------------------------------------------ */

TEST(a_block_sticks_slides_or_leaves_however_soft_it_is_sideways)
{
    const double gentle[] = {-1.0, 0.3, 0.0}, hard[] = {-1.0, 6.0, 8.0}, away[] = {1.0, 2.0, -3.0};
    for (int m = 0; m < METHODS; m++) {
        for (double soft = 0.04; soft < 30.0; soft *= 5.0) {
            double x[3] = {0}, u[2];
            ss_problem *problem = one_contact(3, 0.5, 0.0, soft, hard);
            ENSURE(solves(methods[m], problem, "relative_energy<1e-11", x));
            for (int i = 0; i < 2; i++) u[i] = 0.5 * soft * x[1 + i] + hard[1 + i];
            bool slides = norm_of(u, 2) > 1e-6;
            ENSURE(slides == (soft < 20.0)); // 10 m/s against mu r_N soft / 2 = soft / 2
            ENSURE_NEAR(x[0], 2.0, 1e-9);
            if (slides) ENSURE_NEAR(x[1], -0.6, 1e-9); // against the slip, mu r_N
            if (slides) ENSURE_NEAR(x[2], -0.8, 1e-9);
            ss_problem_destroy(problem);
            problem = one_contact(3, 50.0, 0.0, soft, gentle);
            ENSURE(solves(methods[m], problem, "relative_energy<1e-11", x));
            ENSURE_NEAR(x[1], -0.6 / soft, 1e-8 / soft);
            ss_problem_destroy(problem);
            problem = one_contact(3, 0.5, 0.0, soft, away);
            ENSURE(solves(methods[m], problem, "relative_energy<1e-11", x));
            ENSURE_NEAR(norm_of(x, 3), 0.0, 1e-9);
            ss_problem_destroy(problem);
        }
    }
}

TEST(a_wheel_slides_while_its_rolling_is_held)
{
    const double q[] = {-1.0, 2.0, 0.0, 0.01, 0.0}, expected[] = {2.0, -1.0, 0.0, -0.02, 0.0};
    for (int m = 0; m < METHODS; m++) {
        double x[5] = {0};
        ss_problem *problem = one_contact(5, 0.5, 0.1, 1.0, q);
        ENSURE(solves(methods[m], problem, "relative_energy<1e-12", x));
        ENSURE_NEAR(largest_difference(x, expected, 5), 0.0, 1e-9);
        ss_problem_destroy(problem);
    }
}

/* ---- several contacts of bodies --------------------------------------------------------------------- */

/* A tower of cubes of 1 kg and edge 1 on the ground, four contacts per face, gravity tilted by `angle`. */
static ss_problem *tower(int cubes, double angle, double mu)
{
    ss_error err;
    ss_problem *problem = known(ss_problem_create(12 * cubes, 4 * cubes, cubes, &err), &err);
    ss_bodies_form *form = problem->bodies;
    const double axes[3][3] = {{0, 0, 1}, {1, 0, 0}, {0, 1, 0}};
    for (int b = 0; b < cubes; b++) {
        form->inverse_mass[b] = 1.0;
        for (int k = 0; k < 3; k++) form->inverse_inertia[b][4 * k] = 6.0;
        form->free_velocity[b][0] = 0.0981 * sin(angle);
        form->free_velocity[b][2] = -0.0981 * cos(angle);
    }
    for (int i = 0; i < problem->size; i++) {
        int c = i / 3, upper = c / 4;
        problem->blocks[c] = (ss_block){
            .law = SS_LAW_CONE, .first = 3 * c, .size = 3, .mu = mu, .contact = c, .constraint = -1};
        form->pair[i][0] = upper - 1;
        form->pair[i][1] = upper;
        for (int side = upper > 0 ? 0 : 1; side < 2; side++) {
            const double *e = axes[i % 3], sign = side ? 1.0 : -1.0;
            const double arm[3] = {c & 1 ? 0.5 : -0.5, c & 2 ? 0.5 : -0.5, side ? -0.5 : 0.5};
            double *J = form->jacobian[i] + 6 * side;
            for (int k = 0; k < 3; k++) {
                int p = (k + 1) % 3, q = (k + 2) % 3;
                J[k] = sign * e[k];
                J[3 + k] = sign * (arm[p] * e[q] - arm[q] * e[p]);
                problem->diagonal[i] += J[k] * J[k] + 6.0 * J[3 + k] * J[3 + k];
                problem->b[i] += J[k] * form->free_velocity[upper - (side == 0)][k];
            }
        }
    }
    problem->symmetric = true;
    return problem;
}

static double sum_of_ground(const double *x, int component)
{
    double sum = 0.0;
    for (int c = 0; c < 4; c++) sum += x[3 * c + component];
    return sum;
}

TEST(a_tower_stands_and_on_a_slope_it_slides_as_a_whole)
{
    for (int m = 0; m < METHODS; m++) {
        bool sweeps = m >= NEWTON_METHODS; // slow: the tower must not tip
        const char *stop = sweeps ? "relative_energy<1e-6" : "relative_energy<1e-9";
        double x[36] = {0}, weight = 0.0981, near = sweeps ? 1e-5 : 1e-7;
        ss_problem *problem = tower(3, 0.0, 0.5);
        ENSURE(solves(methods[m], problem, stop, x));
        ENSURE_NEAR(sum_of_ground(x, 0), 3 * weight, near); // the ground carries it all
        ss_problem_destroy(problem);
        memset(x, 0, sizeof x);
        problem = tower(2, 0.3, 0.2); // no higher: it would tip over
        ENSURE(solves(methods[m], problem, stop, x));
        ENSURE_NEAR(sum_of_ground(x, 0), 2 * weight * cos(0.3), near);
        ENSURE_NEAR(sum_of_ground(x, 1), -0.2 * 2 * weight * cos(0.3), near);
        ss_problem_destroy(problem);
    }
}

/* Four legs share the load in many ways, and all are solutions: none may be lost, however small the
 * proximal term. */
TEST(a_table_keeps_the_loads_of_its_legs_that_it_started_with)
{
    for (int m = 0; m < METHODS; m++) {
        double weight = 0.0981, x[12] = {0}, start[12] = {0};
        const double share[] = {0.4, 0.1, 0.1, 0.4};
        for (int c = 0; c < 4; c++) x[3 * c] = start[3 * c] = share[c] * weight;
        ss_problem *problem = tower(1, 0.0, 0.5);
        ss_solve_result result = solve_to(methods[m], problem, "relative_energy<1e-10", 100, x);
        ENSURE_INT(result.status, SS_CONVERGED);
        ENSURE(result.iterations <= 1);
        ENSURE_NEAR(largest_difference(x, start, 12), 0.0, 1e-15);
        ss_problem_destroy(problem);
    }
}

TEST(a_pile_of_planted_contacts_has_one_answer_for_all_maps_and_inner_methods)
{
    for (int k = 0; k < 3; k++) {
        ss_error err;
        ss_cone_point point;
        ss_cone *cone = known_local(40 + (uint64_t)k, sizes[k], 25, 0, &point);
        ss_problem *problem = known(ss_problem_from_cone(cone, &err), &err);
        double *first = known(calloc((size_t)problem->size, sizeof *first), NULL);
        for (int m = 0; m < METHODS; m++) {
            double *x = known(calloc((size_t)problem->size, sizeof *x), NULL);
            ENSURE(solves(methods[m], problem, "relative_energy<1e-12", x));
            if (m == 0) memcpy(first, x, (size_t)problem->size * sizeof *x);
            ENSURE_NEAR(largest_difference(x, first, problem->size), 0.0, 1e-8); // condition about 1e3
            free(x);
        }
        free(first);
        ss_problem_destroy(problem);
        ss_cone_point_free(&point);
        ss_cone_destroy(cone);
    }
}

/* W_kk e_j = (W e_j)_k, whether W is full, of bodies, or of blocks. */
TEST(the_own_block_of_a_contact_is_what_it_does_to_itself)
{
    for (int form = 0; form < 3; form++) {
        ss_error err;
        ss_problem *problem = tower(form == 0 ? 2 : 5, 0.1, 0.5);
        for (int i = 0; i < problem->size; i++) problem->bodies->compliance[i] = 0.3 + 0.01 * i;
        if (form == 2) ENSURE(ss_problem_need_matrix(problem, &err));
        ss_bodies_form *kept = problem->bodies;
        if (form == 2) problem->bodies = NULL;
        ss_arena *arena = known(ss_arena_create(1 << 20, &err), &err);
        ss_space *space = known(ss_space_create(problem, arena), NULL);
        ENSURE((form == 0) == (space->full != NULL) && (form == 1) == (space->levers != NULL));
        for (int k = 0; k < space->node_count; k++) {
            double own[SS_NODE_MAX * SS_NODE_MAX], r[60] = {0}, u[60];
            int first = space->nodes[k].first, n = space->nodes[k].size;
            ss_space_own(space, k, own);
            for (int j = 0; j < n; j++) {
                r[first + j] = 1.0;
                ss_space_apply(space, r, u);
                r[first + j] = 0.0;
                for (int i = 0; i < n; i++) ENSURE_NEAR(own[i * n + j], u[first + i], 1e-14); // rounding
            }
        }
        ss_arena_destroy(arena);
        problem->bodies = kept;
        ss_problem_destroy(problem);
    }
}

TEST(lack_of_memory_fails_the_solve_and_leaks_nothing)
{
    for (int m = 0; m < METHODS; m++) {
        ss_error err;
        const ss_solver *solver = ss_solver_find(methods[m].solver);
        double own[MOST_OPTIONS] = {0};
        ss_options_defaults(solver->options, own);
        ENSURE(ss_options_set(solver->options, own, methods[m].option, methods[m].value, &err));
        ss_problem *problem = tower(5, 0.1, 0.5); // 60 unknowns: the blocks of contacts are not at hand
        for (int n = 1;; n++) {
            double x[60] = {0};
            ss_solve_result result;
            ss_run_options options = {.max_iterations = 40,
                                      .stop = {.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-8}};
            faults_start(n);
            bool good = ss_solve(
                &(ss_solve_request){
                    .solver = solver, .solver_options = own, .problem = problem, .run = &options},
                x, &result, &err);
            long live = faults.live;
            if (!faults_stop()) break;
            ENSURE_INT(live, 0);
            ENSURE(!good || result.status == SS_FAILED || result.status == SS_CONVERGED ||
                   result.status == SS_MAX_ITERATIONS);
            for (int i = 0; i < 60; i++) ENSURE(isfinite(x[i]));
        }
        ss_problem_destroy(problem);
    }
}

/* ---- the problems of others ------------------------------------------------------------------------- */

/* Iterations are factorisations; at most about twice what they took, of three maps and of proximal-point. */
typedef struct real_problem {
    const char *name;
    ss_fclib_kind kind;
    int most[NEWTON_METHODS];
} real_problem;

static const real_problem real_problems[] = {
    {"Box_Stacks-i0122-82-5", SS_FCLIB_GLOBAL, {10, 10, 10, 10}},
    {"BoxesStack1-i100000-32", SS_FCLIB_LOCAL, {40, 40, 42, 28}},
    {"Capsules-i101-404", SS_FCLIB_LOCAL, {44, 56, 38, 22}},
    {"Capsules-i125-1213", SS_FCLIB_LOCAL, {42, 66, 36, 30}},
    {"Chute-ndof-768-nc-4-3", SS_FCLIB_GLOBAL_ROLLING, {4, 4, 4, 4}},
    {"Confeti-ex13-Fc3D-SBM", SS_FCLIB_LOCAL, {8, 8, 8, 8}},
    {"CubeH8", SS_FCLIB_GLOBAL, {4, 4, 4, 4}},
    {"FrictionContact3D_RR_1c", SS_FCLIB_LOCAL, {4, 4, 4, 4}},
    {"FrictionContactProblem00071", SS_FCLIB_LOCAL, {10, 10, 10, 12}},
    {"GFC3D_Example00_badly_scaled", SS_FCLIB_GLOBAL, {4, 4, 4, 4}},
    {"GFC3D_OneContact", SS_FCLIB_GLOBAL, {4, 4, 4, 4}},
    {"KaplasTower-i1061-4", SS_FCLIB_LOCAL, {14, 16, 16, 18}},
    {"LMGC_100_PR_PerioBox-i00361-60-03000", SS_FCLIB_LOCAL, {20, 24, 20, 20}},
    {"NESpheres_30_1", SS_FCLIB_LOCAL, {6, 6, 6, 6}},
    {"OneObject-i100000-316", SS_FCLIB_LOCAL, {14, 12, 14, 14}},
    {"Rover1040", SS_FCLIB_LOCAL, {10, 10, 10, 12}},
    {"Rover4516", SS_FCLIB_LOCAL, {10, 10, 10, 10}},
    {"fc2d_granularflowonwall_00667_00000", SS_FCLIB_LOCAL, {10, 10, 10, 12}},
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
        for (int m = 0; m < NEWTON_METHODS; m++) {
            memset(x, 0, (size_t)problem->size * sizeof *x);
            ss_solve_result result =
                solve_to(methods[m], problem, "natural_map<1e-8", real_problems[k].most[m], x);
            if (result.status != SS_CONVERGED)
                fprintf(stderr, "%s with %s: %g\n", real_problems[k].name, name_of(methods[m]),
                        result.gauge[SS_GAUGE_NATURAL_MAP]);
            ENSURE_INT(result.status, SS_CONVERGED);
        }
        free(x);
        ss_problem_destroy(problem);
        ss_fclib_destroy(file);
    }
}

TEST_MAIN
