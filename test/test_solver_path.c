/* path, the pivots along the normal map, and morales, sweeps with subspace minimisation: known solutions,
 * degenerate and redundant problems, stacks, what has no solution, and good starts. Answers are judged from
 * the problem alone. */
#include <stickslip/solver.h>

#include "conformance/independent.h"
#include "rules.h"
#include "kit.h"
#include "problems.h"
#include "scenes.h"
#include "problem/mcp.h"

typedef struct outcome {
    ss_status status;
    int iterations;
    double worst; // condition, relative to the load: independent.h
} outcome;

static outcome run_until(const char *name, const char *stop, const known_problem *of, double *x)
{
    ss_run_options set = {.max_iterations = 200000, .stop = stop_rule(stop), .seed = 1};
    ss_solve_result result;
    ss_error err;
    if (!ss_solve(&(ss_solve_request){.solver = ss_solver_find(name), .problem = of->problem, .run = &set}, x,
                  &result, &err))
        known(NULL, &err);
    ss_solve_result_free(&result);
    return (outcome){result.status, result.iterations, ss_independent_judge(of->problem, x).worst};
}

/* To the end the method itself sees. */
static outcome run_cold(const char *name, const known_problem *of, double *x)
{
    memset(x, 0, (size_t)of->problem->size * sizeof *x);
    return run_until(name, "none", of, x);
}

/* ---- known solutions -------------------------------------------------------------------------------- */

static void expect_planted(const char *solver, const recipe *base, bool unique)
{
    for (uint64_t seed = 1; seed <= 25; seed++) {
        recipe from = *base;
        from.seed = 100 + seed;
        known_problem of = cook(&from);
        double *x = numbers(of.problem->size);
        outcome got = run_cold(solver, &of, x);
        ENSURE_INT(got.status, SS_CONVERGED);
        ENSURE_NEAR(got.worst, 0.0, 1e-9);
        if (unique) ENSURE_NEAR(largest_difference(x, of.x, of.problem->size), 0.0, 1e-7);
        free(x);
        known_problem_free(&of);
    }
}

TEST(both_find_the_impulses_of_definite_problems_with_bounds_of_every_kind)
{
    recipe from = {.letters = "fffflllllllbbbbbbb"};
    expect_planted("path", &from, true);
    expect_planted("morales", &from, true);
}

TEST(both_survive_bounds_that_are_touched_without_force_or_speed)
{
    recipe from = {.letters = "ffllllllbbbbbb", .degenerate = true};
    expect_planted("path", &from, true);
    expect_planted("morales", &from, true);
}

TEST(both_survive_redundant_contacts_and_joints)
{
    recipe from = {.letters = "ffffffffllllbb", .matrix = SS_RECIPE_BODIES, .bodies = 1};
    expect_planted("path", &from, false);
    expect_planted("morales", &from, false);
}

/* Forty contacts on one body: nearly all that sweeps find inside must go, and the direct step is huge. */
TEST(morales_survives_far_more_contacts_than_a_body_can_obey)
{
    recipe from = {
        .letters = "llllllllllllllllllllllllllllllllllllllll", .matrix = SS_RECIPE_BODIES, .bodies = 1};
    expect_planted("morales", &from, false);
    for (uint64_t seed = 1; seed <= 25; seed++) {
        from.seed = seed;
        known_problem of = cook(&from);
        double *x = numbers(of.problem->size);
        outcome got = run_until("morales", "relative_energy<1e-8", &of, x);
        ENSURE_INT(got.status, SS_CONVERGED);
        ENSURE(got.iterations <= 20);
        free(x);
        known_problem_free(&of);
    }
}

TEST(path_takes_matrices_that_are_not_symmetric)
{
    recipe from = {.letters = "ffffllllllllbbbb", .matrix = SS_RECIPE_SKEWED};
    expect_planted("path", &from, false);
    known_problem of = cook(&from);
    ENSURE(ss_solver_refusal(ss_solver_find("morales"), of.problem) != NULL);
    known_problem_free(&of);
}

TEST(friction_bounds_follow_the_normals)
{
    recipe from = {.letters = "ffcccccc"};
    expect_planted("path", &from, false);
    expect_planted("morales", &from, false);
}

TEST(path_refuses_bounds_that_follow_impulses_of_either_sign)
{
    recipe from = {.letters = "CC", .seed = 1};
    known_problem of = cook(&from);
    ENSURE_TEXT(ss_solver_refusal(ss_solver_find("path"), of.problem),
                "needs coupled bounds to follow impulses that cannot be negative");
    known_problem_free(&of);
}

/* The multipliers of the rows that keep coupled bounds follow from the solution. */
TEST(coupled_bounds_are_rows_of_a_complementarity_problem)
{
    ss_error err;
    ss_arena *arena = known(ss_arena_create(1 << 16, &err), &err);
    recipe from = {.letters = "fcclcc", .seed = 5};
    known_problem of = cook(&from);
    ss_mcp mcp;
    ENSURE(ss_mcp_create(of.problem, arena, &mcp));
    ENSURE_INT(mcp.pairs, 8);
    ENSURE_INT(mcp.size, of.problem->size + 16);
    double *z = numbers(mcp.size), *w = numbers(mcp.size), *back = numbers(of.problem->size);
    ss_mcp_start(&mcp, of.x, w, z);
    ENSURE_NEAR(ss_mcp_error(&mcp, z, w), 0.0, 1e-12);
    ss_mcp_restore(&mcp, z, back);
    ENSURE_NEAR(largest_difference(back, of.x, of.problem->size), 0.0, 1e-12);
    free(z);
    free(w);
    free(back);
    known_problem_free(&of);
    ss_arena_destroy(arena);
}

/* ---- stacks ----------------------------------------------------------------------------------------- */

/* Balls on top of each other, each twice as heavy as the one below: the impulse below a ball is
 * the weight above. */
TEST(a_column_with_heavy_on_light_carries_its_weight)
{
    static const char *const able[] = {"path", "morales"};
    known_problem of = column("column", 12, 2.0);
    of.problem->symmetric = true;
    for (int s = 0; s < 2; s++) {
        double x[12];
        outcome got = run_cold(able[s], &of, x);
        ENSURE_INT(got.status, SS_CONVERGED);
        for (int i = 0; i < 12; i++) ENSURE_NEAR(x[i] / of.x[i], 1.0, 1e-9);
    }
    known_problem_free(&of);
}

TEST(the_subspace_saves_morales_the_sweeps_that_pgs_needs)
{
    known_problem of = column("column", 12, 2.0);
    of.problem->symmetric = true;
    double x[12] = {0}, y[12] = {0};
    outcome with = run_until("morales", "relative_energy<1e-8", &of, x);
    outcome without = run_until("pgs", "relative_energy<1e-8", &of, y);
    ENSURE_INT(with.status, SS_CONVERGED);
    ENSURE(with.iterations * 20 < without.iterations);
    known_problem_free(&of);
}

/* Towers on four feet each, pushed so that some slide: more contacts than bodies can obey. */
static ss_frame *pushed_towers(uint64_t seed)
{
    return towers(
        &(scene_recipe){.seed = seed, .towers = 2, .height = 3, .feet = 4, .push = 0.5, .mu_least = 0.2});
}

TEST(path_solves_friction_by_polygons_and_does_so_in_both_forms)
{
    static const char *const forms[] = {"stewart-trinkle", "stewart-trinkle form=mixed"};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        for (int f = 0; f < 2; f++) {
            known_problem of = formulated("towers", forms[f], pushed_towers(seed));
            double *x = numbers(of.problem->size);
            outcome got = run_until("path", "natural_residual<1e-9", &of, x);
            ENSURE_INT(got.status, SS_CONVERGED);
            ENSURE_NEAR(got.worst, 0.0, 1e-8);
            free(x);
            known_problem_free(&of);
        }
    }
}

/* Masses of 1, 100 and 1e4: what a pass leaves undone must be small next to the load, not next to the
 * impulses of the heaviest. */
static ss_frame *heavy_and_light(uint64_t seed)
{
    ss_frame *frame =
        towers(&(scene_recipe){.seed = seed, .towers = 2, .height = 3, .feet = 4, .mu_least = 0.4});
    double factor = 1.0;
    for (int body = 0; body < frame->bodies.count; body++) {
        if (!ss_frame_is_live(frame, body)) continue;
        frame->bodies.mass[body] *= factor;
        for (int i = 0; i < 9; i++) frame->bodies.inertia[body][i] *= factor;
        for (int i = 0; i < 6; i++) frame->bodies.force[body][i] *= factor;
        factor = factor < 5e3 ? 100.0 * factor : 1.0;
    }
    return frame;
}

TEST(path_is_exact_on_towers_of_heavy_and_light_boxes)
{
    static const char *const forms[] = {"stewart-trinkle", "stewart-trinkle form=mixed"};
    for (uint64_t seed = 1; seed <= 6; seed++) {
        for (int f = 0; f < 2; f++) {
            known_problem of = formulated("towers", forms[f], heavy_and_light(seed));
            double *x = numbers(of.problem->size);
            outcome got = run_cold("path", &of, x);
            ENSURE_INT(got.status, SS_CONVERGED);
            ENSURE_NEAR(got.worst, 0.0, 1e-8);
            free(x);
            known_problem_free(&of);
        }
    }
}

TEST(box_friction_of_towers_is_solved_by_both)
{
    static const char *const able[] = {"path", "morales"};
    for (uint64_t seed = 1; seed <= 4; seed++) {
        known_problem of = formulated("towers", "box", pushed_towers(seed));
        for (int s = 0; s < 2; s++) {
            double *x = numbers(of.problem->size);
            outcome got = run_until(able[s], "relative_energy<1e-8", &of, x);
            ENSURE_INT(got.status, SS_CONVERGED);
            ENSURE_NEAR(got.worst, 0.0, 1e-6);
            free(x);
        }
        known_problem_free(&of);
    }
}

/* ---- starts ----------------------------------------------------------------------------------------- */

/* The next time step: nearly the same problem. */
TEST(a_start_from_the_last_step_saves_pivots)
{
    known_problem of = formulated("towers", "stewart-trinkle", pushed_towers(1));
    int n = of.problem->size;
    double *x = numbers(n), *cold_x = numbers(n);
    ENSURE_INT(run_until("path", "natural_residual<1e-9", &of, x).status, SS_CONVERGED);
    int again = run_until("path", "natural_residual<1e-9", &of, x).iterations;
    ENSURE(again <= 2);
    ss_random random = ss_random_start(1, 3);
    for (int i = 0; i < n; i++) of.problem->b[i] *= ss_random_between(&random, 0.999, 1.001);
    outcome warm = run_until("path", "natural_residual<1e-9", &of, x);
    outcome cold = run_until("path", "natural_residual<1e-9", &of, cold_x);
    ENSURE_INT(warm.status, SS_CONVERGED);
    ENSURE_INT(cold.status, SS_CONVERGED);
    ENSURE(warm.iterations < cold.iterations);
    free(x);
    free(cold_x);
    known_problem_free(&of);
}

/* ---- no solution ------------------------------------------------------------------------------------ */

TEST(path_ends_on_a_ray_when_no_impulse_can_help)
{
    static const char *const names[] = {"contradiction", "contradicting equations"};
    for (int k = 0; k < 2; k++) {
        known_problem of = problem_named(names[k]);
        double x[2];
        ENSURE_INT(run_cold("path", &of, x).status, SS_RAY);
        ENSURE(isfinite(x[0]) && isfinite(x[1]));
        known_problem_free(&of);
    }
}

TEST(morales_does_not_call_solved_what_has_no_solution)
{
    static const char *const names[] = {"contradiction", "contradicting equations"};
    for (int k = 0; k < 2; k++) {
        known_problem of = problem_named(names[k]);
        of.problem->symmetric = true;
        double x[2];
        ss_status status = run_cold("morales", &of, x).status;
        ENSURE(status == SS_RAY || status == SS_STALLED || status == SS_MAX_ITERATIONS);
        ENSURE(isfinite(x[0]) && isfinite(x[1]));
        known_problem_free(&of);
    }
}

/* y proves it only when A'y helps nobody and b works against it. */
TEST(a_proof_of_no_solution_is_a_proof)
{
    ss_error err;
    ss_arena *arena = known(ss_arena_create(1 << 16, &err), &err);
    known_problem none = problem_named("contradiction"), some = problem_named("one row");
    ss_mcp mcp;
    double y[2] = {3.0, 3.0}, scratch[2];
    ENSURE(ss_mcp_create(none.problem, arena, &mcp));
    ENSURE(ss_mcp_proves_none(&mcp, y, scratch));
    y[0] = 1.0, y[1] = 0.5;
    ENSURE(!ss_mcp_proves_none(&mcp, y, scratch));
    y[0] = y[1] = -1.0; // the laws do not allow it
    ENSURE(!ss_mcp_proves_none(&mcp, y, scratch));
    ENSURE(ss_mcp_create(some.problem, arena, &mcp));
    y[0] = 1e9;
    ENSURE(!ss_mcp_proves_none(&mcp, y, scratch));
    known_problem_free(&none);
    known_problem_free(&some);
    ss_arena_destroy(arena);
}

TEST_MAIN
