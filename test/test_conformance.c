/* Every solver of the registry through every check of src/conformance, in this process, so that the
 * sanitizers see it. A solver may fail, but it has to say so: "converged" must survive a residual that is
 * computed without the library. `stickslip solvers NAME --test` asks the same of any solver. */
#include "conformance.h"

/* ---- the catalogue itself --------------------------------------------------------------------------- */

TEST(planted_solutions_solve_their_problems)
{
    for (int p = 0; p < ss_known_count(); p++) {
        known_problem of = problem_at(p);
        ss_violation v = of.x ? ss_independent_judge(of.problem, of.x) : (ss_violation){0};
        if (!(v.worst <= 1e-12)) // rounding of b = w - A x
            KIT_FAIL("\"%s\": %s of unknown %d off by %g", of.name, v.what, v.unknown, v.worst);
        known_problem_free(&of);
    }
}

/* Shifts every planted x in turn: a residual that sees nothing would pass every solver. */
TEST(the_independent_residual_sees_a_wrong_impulse)
{
    for (int p = 0; p < ss_known_recipes(); p++) {
        known_problem of = problem_at(p);
        if (strstr(of.name, "redundant") || strstr(of.name, "mass ratio") || strstr(of.name, "ill-cond")) {
            known_problem_free(&of);
            continue;
        }
        for (int i = 0; i < of.problem->size; i++) {
            double kept = of.x[i];
            of.x[i] += 0.01;
            ss_violation v = ss_independent_judge(of.problem, of.x);
            if (!(v.worst > 1e-5)) KIT_FAIL("\"%s\": unknown %d wrong by 0.01 reads %g", of.name, i, v.worst);
            of.x[i] = kept;
        }
        known_problem_free(&of);
    }
}

/* Two rows that pull at each other: both impulses can grow together, one alone moves bodies. */
TEST(the_independent_judge_knows_a_ray)
{
    known_problem of = problem_named("contradiction");
    ENSURE(!ss_independent_ray(of.problem, (double[]){1.0, 1.0}));
    ENSURE_TEXT(ss_independent_ray(of.problem, (double[]){1.0, 0.0}), "moves bodies");
    ENSURE_TEXT(ss_independent_ray(of.problem, (double[]){-1.0, -1.0}), "does not oppose the load");
    ENSURE_TEXT(ss_independent_ray(of.problem, (double[]){0.0, 0.0}), "zero, or not finite");
    of.problem->b[0] = of.problem->b[1] = 1.0;
    ENSURE_TEXT(ss_independent_ray(of.problem, (double[]){-1.0, -1.0}), "passes a lower bound");
    known_problem_free(&of);
}

/* ---- every solver ----------------------------------------------------------------------------------- */

TEST(what_is_called_solved_is_solved_and_failures_are_admitted)
{
    for_all_solvers("solves");
}
TEST(solvers_agree_on_the_velocities_where_these_are_unique)
{
    for_all_solvers("agrees");
}
TEST(claims_hold_for_other_seeds_and_exact_methods_solve_them)
{
    for_all_solvers("seeds");
}
TEST(claims_hold_for_random_mixtures_of_laws)
{
    for_all_solvers("mixtures");
}
TEST(a_start_at_the_solution_ends_at_once)
{
    for_all_solvers("warm-start");
}
TEST(a_start_from_far_away_is_survived)
{
    for_all_solvers("far-start");
}
TEST(the_best_iterate_is_not_worse_than_the_last)
{
    for_all_solvers("best-iterate");
}
TEST(a_turned_world_is_solved_as_well)
{
    for_all_solvers("turned");
}
TEST(units_a_million_times_larger_change_nothing)
{
    for_all_solvers("units");
}
TEST(problems_with_massless_rows_can_be_stopped_by_their_energy)
{
    for_all_solvers("massless");
}
TEST_MAIN
