/* Problems of equations alone: mechanisms solved at once, and what is left to others. */
#include "kit.h"

#include "problem/equations.h"

#include <math.h>
#include <stickslip/stickslip.h>
#include <string.h>

/* A chain of balls of unequal mass on massless rods to their anchors: three rows for each link, as a frame
 * has them, with a speed of its own to hold. */
static ss_problem *chain_of(int links)
{
    ss_problem *problem = ss_problem_create(3 * links, 1, links, NULL);
    ss_bodies_form *form = problem->bodies;
    for (int b = 0; b < links; b++) {
        form->inverse_mass[b] = b % 3 == 2 ? 100.0 : 1.0;
        for (int i = 0; i < 3; i++) form->inverse_inertia[b][4 * i] = 5.0 + i;
        for (int i = 0; i < 3; i++) {
            int row = 3 * b + i;
            double *J = form->jacobian[row];
            form->pair[row][0] = b - 1;
            form->pair[row][1] = b;
            J[i] = -1.0, J[6 + i] = 1.0;
            J[3 + (i + 1) % 3] = 0.1 * (1 + i), J[9 + (i + 2) % 3] = 0.2 - 0.05 * i;
            problem->b[row] = sin(1.0 + row);
            for (int side = 0; side < 2; side++) {
                int body = form->pair[row][side];
                for (int k = 0; body >= 0 && k < 6; k++)
                    problem->diagonal[row] +=
                        J[6 * side + k] * J[6 * side + k] *
                        (k < 3 ? form->inverse_mass[body] : form->inverse_inertia[body][4 * (k - 3)]);
            }
        }
    }
    return problem;
}

static double residual(const ss_problem *problem, const double *x)
{
    static double w[300], scratch[1200];
    double largest = 0.0;
    ss_problem_apply(problem, x, scratch, w);
    for (int i = 0; i < problem->size; i++) largest = fmax(largest, fabs(w[i]));
    return largest;
}

TEST(a_chain_of_a_hundred_links_holds_at_once)
{
    ss_arena *arena = ss_arena_create(1 << 16, NULL);
    for (int links = 1; links <= 100; links += 33) {
        ss_problem *problem = chain_of(links);
        double x[300] = {0};
        ENSURE(ss_equations_solve(problem, arena, x));
        // tolerance: rounding of speeds of about 1, times a condition of about 1e4
        ENSURE_NEAR(residual(problem, x), 0.0, 1e-12);
        ss_problem_destroy(problem);
    }
    ss_arena_destroy(arena);
}

TEST(what_is_not_a_set_of_independent_equations_is_left_as_it_was)
{
    ss_arena *arena = ss_arena_create(1 << 16, NULL);
    double x[9] = {[4] = 7.0};

    ss_problem *twice = chain_of(3); // the second link is held twice by the same rod
    memcpy(twice->bodies->jacobian[5], twice->bodies->jacobian[4], sizeof twice->bodies->jacobian[5]);
    twice->diagonal[5] = twice->diagonal[4];
    ENSURE(!ss_equations_solve(twice, arena, x));
    ss_problem_destroy(twice);

    ss_problem *rope = chain_of(3); // it pulls but does not push
    rope->blocks[0].law = SS_LAW_BOX;
    ENSURE(!ss_equations_solve(rope, arena, x));
    ss_problem_destroy(rope);

    ENSURE(x[4] == 7.0 && x[3] == 0.0);
    ss_arena_destroy(arena);
}

/* The step of a mechanism that touches nothing needs no finisher, and no solver: equations are solved at
 * once, and then only measured. */
TEST(a_swinging_chain_is_solved_without_an_iteration)
{
    const ss_scene *scene = ss_scene_find("chain");
    double parameters[64];
    ss_sim_options options;
    ss_world *world = ss_world_create(NULL);
    ss_options_defaults(scene->parameters, parameters);
    ENSURE(ss_options_assign(scene->parameters, parameters, "weight=5", NULL));
    ENSURE(scene->build(parameters, 1, world, NULL));
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    ss_sim *sim = ss_sim_create(world, &options, NULL);
    for (int n = 0; n < 50; n++) {
        ENSURE(ss_sim_step(sim, NULL));
        ENSURE_INT(ss_sim_last(sim).iterations, 0);
        ENSURE_INT(ss_sim_last(sim).finished, 0);
        ENSURE(ss_sim_last(sim).relative_energy < 1e-10); // the rule asks for 1e-4
    }
    ss_sim_destroy(sim);
    ss_world_destroy(world);
}

TEST_MAIN
