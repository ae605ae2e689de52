/* When a run ends: rules of the caller's own, what the natural map does not see, and solvers from outside. */
#include <stickslip/plugin.h>

#include "kit.h"
#include "rules.h"
#include "problem/laws.h"

#include <math.h>

/* A free row beside a contact that stays open: A is 4 on its diagonal and 1 between the two, b =
 * (1, 0, 0, -1). */
static ss_problem *joint_and_open_contact(void)
{
    static const int row[] = {0, 1, 2, 3, 0, 3}, col[] = {0, 1, 2, 3, 3, 0};
    static const double value[] = {4, 4, 4, 4, 1, 1};
    ss_problem *problem = ss_problem_create(4, 2, -1, NULL);
    problem->blocks[0] = (ss_block){SS_LAW_CONE, 0, 3, 0.5, 0.0, 0, -1};
    problem->blocks[1] = (ss_block){SS_LAW_FREE, 3, 1, 0.0, 0.0, -1, 0};
    problem->b[0] = 1.0;
    problem->b[3] = -1.0;
    problem->A = ss_sparse_from_triplets(4, 4, 6, row, col, value, NULL);
    ss_problem_matrix_changed(problem);
    return problem;
}

static ss_solve_result run(const ss_solver *solver, ss_problem *problem, const char *stop, int iterations,
                           const ss_stop_test *test, double *x)
{
    ss_run_options options = {.max_iterations = iterations, .stop = stop_rule(stop), .seed = 1};
    ss_solve_result result = {0};
    memset(x, 0, (size_t)problem->size * sizeof *x);
    if (!ss_solve(&(ss_solve_request){.solver = solver, .problem = problem, .run = &options, .test = test}, x,
                  &result, NULL))
        result.status = SS_FAILED;
    return result;
}

typedef struct watch {
    int asked;
    double near; /* the rule: x[3] is as near as this to its solution */
} watch;

static bool is_near(const double *x, void *context)
{
    watch *at = context;
    at->asked++;
    return fabs(x[3] - 0.25) < at->near; // w = 4 x - 1, as long as the contact stays open
}

TEST(the_rule_of_the_caller_ends_the_run)
{
    ss_problem *problem = joint_and_open_contact();
    double x[4];
    watch at = {.near = 1e-3};
    ss_stop_test test = {is_near, &at};
    const ss_solver *jacobi = ss_solver_find("jacobi");
    ss_solve_result loose = run(jacobi, problem, "none", 1000, &test, x);
    ENSURE_INT(loose.status, SS_CONVERGED);
    ENSURE(fabs(x[3] - 0.25) < 1e-3);
    at = (watch){.near = 1e-9};
    ss_solve_result tight = run(jacobi, problem, "none", 1000, &test, x);
    ENSURE(tight.status == SS_CONVERGED && tight.iterations > loose.iterations);
    ss_problem_destroy(problem);
}

TEST(the_rule_of_the_caller_is_asked_less_and_less_often)
{
    ss_problem *problem = joint_and_open_contact();
    double x[4];
    watch at = {.near = 0.0};
    ss_stop_test test = {is_near, &at};
    ss_solve_result result = run(ss_solver_find("jacobi"), problem, "none", 10000, &test, x);
    ENSURE_INT(result.status, SS_MAX_ITERATIONS);
    // every one of the first 50, then every 2 %: 50 (1 + ln 200) = 315, and once more at the end
    ENSURE(at.asked > 200 && at.asked < 400);
    ss_problem_destroy(problem);
}

static ss_status claim_success(const ss_problem *problem, const void *options, ss_run *one, double *x)
{
    (void)problem, (void)options, (void)one, (void)x;
    return SS_CONVERGED;
}

TEST(a_claim_of_success_is_held_against_the_rule_of_the_caller)
{
    static const ss_solver boaster = {.abi = SS_ABI, .name = "boaster", .laws = ~0u, .solve = claim_success};
    ss_problem *problem = joint_and_open_contact();
    double x[4];
    watch at = {.near = 1e-3};
    ENSURE_INT(run(&boaster, problem, "none", 10, &(ss_stop_test){is_near, &at}, x).status, SS_STALLED);
    at.near = 1.0;
    ENSURE_INT(run(&boaster, problem, "none", 10, &(ss_stop_test){is_near, &at}, x).status, SS_CONVERGED);
    ss_problem_destroy(problem);
}

/* At x = 0 the contact is right and the joint is not: the natural map alone would call that solved. */
TEST(natural_map_does_not_forget_the_joint)
{
    ss_problem *problem = joint_and_open_contact();
    double x[4], values[SS_GAUGE_COUNT];
    memset(x, 0, sizeof x);
    ENSURE(ss_problem_measure(problem, x, values, NULL));
    ENSURE(values[SS_GAUGE_NATURAL_MAP] == 0.0 && values[SS_GAUGE_RELATIVE_ENERGY] == 1.0);
    ss_solve_result result = run(ss_solver_find("jacobi"), problem, "natural_map<1e-8", 1000, NULL, x);
    ENSURE_INT(result.status, SS_CONVERGED);
    ENSURE_NEAR(x[3], 0.25, 1e-8); // the rule bounds the relative error of the only row in action
    ss_problem_destroy(problem);
}

TEST(natural_map_of_a_problem_without_cones_is_its_relative_energy)
{
    ss_problem *problem = joint_and_open_contact();
    problem->blocks[0] = (ss_block){SS_LAW_BOX, 0, 3, 0.0, 0.0, -1, -1};
    for (int i = 0; i < 3; i++) problem->lower[i] = 0.0;
    double x[4];
    ss_solve_result result = run(ss_solver_find("jacobi"), problem, "natural_map<1e-8", 1000, NULL, x);
    ENSURE(result.status == SS_CONVERGED && isnan(result.gauge[SS_GAUGE_NATURAL_MAP]));
    ENSURE(result.gauge[SS_GAUGE_RELATIVE_ENERGY] < 1e-8);
    ss_problem_destroy(problem);
}

/* A contact that holds, A = 1, beside one that moves nothing, A = 0. */
static ss_problem *contact_without_mass(ss_law law, double mu, double normal_speed, double slip)
{
    static const int own[] = {0, 1, 2};
    static const double value[] = {1, 1, 1};
    ss_problem *problem = ss_problem_create(6, 2, -1, NULL);
    problem->blocks[0] = (ss_block){law, 0, 3, 0.5, 0.0, 0, -1};
    problem->blocks[1] = (ss_block){law, 3, 3, mu, 0.0, 1, -1};
    problem->b[0] = -1.0;
    problem->b[3] = normal_speed;
    problem->b[4] = slip;
    problem->A = ss_sparse_from_triplets(6, 6, 3, own, own, value, NULL);
    ss_problem_matrix_changed(problem);
    return problem;
}

static double energy_without_mass(ss_law law, double mu, double normal_speed, double slip, double impulse)
{
    ss_problem *problem = contact_without_mass(law, mu, normal_speed, slip);
    double x[6] = {1.0, 0.0, 0.0, impulse}, values[SS_GAUGE_COUNT];
    bool measured = ss_problem_measure(problem, x, values, NULL);
    ss_problem_destroy(problem);
    return measured ? values[SS_GAUGE_ENERGY] : NAN;
}

/* As in a row without mass: what no impulse can part has no solution, whatever its friction. */
TEST(what_approaches_and_cannot_be_moved_is_no_solution)
{
    static const double friction[] = {0.0, 0.5, INFINITY};
    for (int k = 0; k < 3; k++) {
        ENSURE(isinf(energy_without_mass(SS_LAW_CONE, friction[k], -0.1, 0.0, 0.0)));
        ENSURE(isinf(energy_without_mass(SS_LAW_CONVEX, friction[k], -0.1, 0.0, 0.0)));
        for (int s = 0; s < ss_solver_count(); s++) {
            ss_problem *problem = contact_without_mass(SS_LAW_CONE, friction[k], -0.1, 0.0);
            double x[6];
            bool runs = !ss_solver_refusal(ss_solver_at(s), problem);
            if (runs) {
                ss_solve_result result = run(ss_solver_at(s), problem, "relative_energy<1e-8", 200, NULL, x);
                if (result.status == SS_CONVERGED)
                    KIT_FAIL("%s, mu = %g", ss_solver_at(s)->name, friction[k]);
                ss_solve_result_free(&result);
            }
            ss_problem_destroy(problem);
        }
    }
    ENSURE(isinf(energy_without_mass(SS_LAW_CONE, INFINITY, 0.1, 0.2, 0.0))); // cannot be made to stick
    ENSURE(isinf(energy_without_mass(SS_LAW_CONVEX, 0.5, 0.05, 0.2, 0.0)));   // has to lift by 0.1
}

TEST(what_parts_without_a_mass_is_right_as_long_as_nothing_pushes)
{
    static const double friction[] = {0.0, 0.5, 0.7};
    for (int k = 0; k < 3; k++) {
        ENSURE(energy_without_mass(SS_LAW_CONE, friction[k], 0.1, 0.2, 0.0) == 0.0);
        ENSURE(energy_without_mass(SS_LAW_CONE, friction[k], 0.0, 0.2, 0.0) == 0.0);
        ENSURE_NEAR(energy_without_mass(SS_LAW_CONE, friction[k], 0.1, 0.0, 3.0), 0.3, 1e-15);
        ENSURE(energy_without_mass(SS_LAW_CONVEX, friction[k], 0.2, 0.2, 0.0) == 0.0);
    }
    ENSURE(energy_without_mass(SS_LAW_CONE, INFINITY, 0.1, 0.0, 0.0) == 0.0);
}

TEST(what_is_no_plug_in_is_refused_by_name)
{
    ss_error err = {0};
    ENSURE(!ss_plugin_open("no_such_file.so", &err));
    ENSURE(err.code == SS_ERROR_INPUT);
    ENSURE_CONTAINS(err.message, "no_such_file.so: cannot be loaded");
    ENSURE(!ss_plugin_open("test/test_stop.c", &err));
    ENSURE(err.code == SS_ERROR_INPUT);
    ss_plugin_close(NULL);
}

TEST_MAIN
