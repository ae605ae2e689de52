/* How the work grows with the size of a heap, on the piles of bench_self: docs/speed.md, "Growth of accurate
 * methods". */
#include "../bench/self/scenes.h"

#include "kit.h"

/* Iterations to relative_energy < 1e-6 from zero, by the gauge of the driver; -1 when `most` are not enough.
 * stiffness: N/m, 0 = rigid. */
static int iterations_of(const char *solver, int contacts, double stiffness, int most)
{
    ss_frame *frame = make_pile(contacts);
    if (stiffness > 0.0) soften(frame, stiffness);
    ss_problem *problem = assemble(frame);
    double *x = must(calloc((size_t)problem->size, sizeof *x)), gauge[SS_GAUGE_COUNT] = {INFINITY};
    ss_run_options run = ss_run_defaults();
    run.max_iterations = most;
    run.stop = (ss_stop_rule){.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-6};
    ss_solve_result result = {0};
    bool good =
        ss_solve(&(ss_solve_request){.solver = ss_solver_find(solver), .problem = problem, .run = &run}, x,
                 &result, NULL);
    good = good && ss_problem_measure(problem, x, gauge, NULL);
    good = good && gauge[SS_GAUGE_RELATIVE_ENERGY] < 1e-6;
    int iterations = good ? result.iterations : -1;
    ss_solve_result_free(&result);
    free(x);
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
    return iterations;
}

/* A ball of 1 kg and 1 m sinks 0.1 mm into the floor. */
static const double elastic = 1e5;

TEST(ten_times_as_many_elastic_balls_need_hardly_more_sweeps)
{
    int few = iterations_of("batched-nncg", 400, elastic, 1000);
    int many = iterations_of("batched-nncg", 5000, elastic, 1000);
    ENSURE(few > 0 && many > 0);
    ENSURE(many < 3 * few); // 139 and 244; walls, whose loads travel far, take forty times as many
}

TEST(newton_steps_on_elastic_balls_are_as_many_in_a_heap_five_times_as_large)
{
    int few = iterations_of("alart-curnier", 400, elastic, 50);
    int many = iterations_of("alart-curnier", 1800, elastic, 50);
    ENSURE(few > 0 && many > 0);
    ENSURE(many <= few + 6); // 6 and 8
}

/* Not what is wanted but what is so: the day this fails, docs/speed.md has good news to tell. */
TEST(sweeps_wander_in_a_large_heap_of_rigid_balls_and_not_in_a_small_one)
{
    ENSURE(iterations_of("batched-nncg", 400, 0.0, 3000) > 0);
    ENSURE_INT(iterations_of("batched-nncg", 5000, 0.0, 3000), -1);
}

TEST_MAIN
