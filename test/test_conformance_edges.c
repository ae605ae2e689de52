/* Every solver of the registry at its limits: few iterations, little time, cancelled, starved of memory, with
 * loads at the edge of the numbers, in a team, beside itself. */
#include "conformance.h"

TEST(iteration_limits_are_kept_and_leave_finite_numbers)
{
    for_all_solvers("iteration-limit");
}
TEST(a_time_limit_of_a_millisecond_ends_the_run_soon)
{
    for_all_solvers("time-limit");
}
TEST(a_cancelled_run_ends_at_its_first_iteration)
{
    for_all_solvers("cancel");
}
TEST(the_same_run_gives_the_same_bits)
{
    for_all_solvers("repeatable");
}
TEST(a_team_gives_the_same_bits_as_one)
{
    for_all_solvers("team");
}
TEST(runs_at_the_same_time_do_not_disturb_each_other)
{
    for_all_solvers("concurrent");
}
TEST(loads_of_any_size_are_survived)
{
    for_all_solvers("loads");
}
TEST(a_load_that_is_not_a_number_has_no_solution)
{
    for_all_solvers("not-a-number");
}
TEST(lack_of_memory_is_reported_and_leaves_nothing_behind)
{
    for_all_solvers("memory");
}
TEST(options_at_the_ends_of_their_ranges_do_no_harm)
{
    for_all_solvers("options");
}
TEST(solvers_write_to_x_only)
{
    for_all_solvers("inside");
}
TEST(solvers_say_what_they_are)
{
    for_all_solvers("descriptor");
}

TEST_MAIN
