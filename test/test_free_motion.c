/* Mechanisms that nothing touches, integrated to a tolerance (integrator=runge-kutta). */
#include "faults.h"
#include "tree_worlds.h"

#include <math.h>
#include <string.h>

static ss_sim_options smooth(double h, double tolerance)
{
    ss_sim_options options = options_of(SS_MINIMAL, h);
    options.integrator = SS_INTEGRATOR_RUNGE_KUTTA;
    options.integrator_tolerance = tolerance;
    return options;
}

static ss_sim *start_smooth(ss_world *world, double h, double tolerance)
{
    ss_error err = {0};
    ss_sim_options options = smooth(h, tolerance);
    return known(ss_sim_create(world, &options, &err), &err);
}

static double energy_of(const ss_world *world)
{
    ss_world_energy energy = ss_world_measure(world);
    return energy.kinetic + energy.potential;
}

/* ---- against Euler's steps -------------------------------------------------------------------------- */

static const ss_joint_kind kinds[] = {SS_JOINT_FIXED,       SS_JOINT_REVOLUTE,  SS_JOINT_PRISMATIC,
                                      SS_JOINT_CYLINDRICAL, SS_JOINT_UNIVERSAL, SS_JOINT_BALL,
                                      SS_JOINT_SCREW};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Two bodies on a joint, without its springs; with a third one on a ball, so that all kinds have something to
 * carry. */
static ss_world *make_free_pair(ss_joint_kind kind, bool turned, bool floating)
{
    ss_world *world = make_pair(kind, turned, floating);
    for (int j = 0; j < ss_world_joint_count(world); j++)
        memset(ss_world_joint(world, j)->law, 0, sizeof ss_world_joint(world, j)->law);
    int third = add_body(world, 1.2, 0.4, -0.2, 0.5);
    add_joint(world, &(ss_joint){.kind = SS_JOINT_BALL, .a = third, .b = 1, .anchor = {1.0, 0.3, -0.3}});
    for (int b = 0; b < 3; b++) { // all turn about the hinge as one, which every joint allows
        ss_body *body = ss_world_body(world, b);
        ss_vec3 w = {0.3, 3.0, 0.6};
        ss_vec3_store(ss_vec3_cross(w, ss_vec3_load(body->position)), body->velocity);
        ss_vec3_store(w, body->velocity + 3);
    }
    ss_world_body(world, 0)->linear_damping = 0.2;
    ss_world_body(world, 1)->angular_damping = 0.3;
    ss_world_body(world, 1)->force[0] = 1.5;
    return world;
}

/* Of Euler's steps of h from the integrated motion, after half a second; infinite if that was not integrated,
 * or a joint was not kept to rounding. */
static double euler_error(ss_joint_kind kind, bool turned, bool floating, double h)
{
    ss_world *world[2];
    double largest = 0.0;
    for (int k = 0; k < 2; k++) {
        world[k] = make_free_pair(kind, turned, floating);
        ss_sim *sim = k ? start(world[k], SS_MINIMAL, h) : start_smooth(world[k], 0.05, 1e-9);
        run(sim, k ? (int)(0.5 / h + 0.5) : 10);
        if (k == 0 && ss_sim_frame(sim)) largest = INFINITY; // it was no incremental problem
        ss_sim_destroy(sim);
    }
    for (int b = 0; b < 3; b++) {
        const double *x = ss_world_body(world[0], b)->position, *y = ss_world_body(world[1], b)->position;
        largest = fmax(largest, hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]));
    }
    for (int j = 0; j < ss_world_joint_count(world[0]); j++)
        if (!(ss_joint_error(world[0], j) < 1e-13))
            largest = INFINITY; // a few roundings of metres and radians
    for (int k = 0; k < 2; k++) ss_world_destroy(world[k]);
    return largest;
}

TEST(euler_s_steps_tend_to_the_integrated_motion_for_every_kind_of_joint)
{
    for (int k = 0; k < KINDS; k++) {
        for (int how = 0; how < 4; how++) {
            double coarse = euler_error(kinds[k], how & 1, how & 2, 1e-3),
                   fine = euler_error(kinds[k], how & 1, how & 2, 2.5e-4);
            if (!(coarse < 0.02) ||
                !(fine < 0.3 * coarse + 1e-9)) // Euler's rule is of first order: a quarter
                KIT_FAIL("%s, %d: %.3g apart with h, %.3g with h/4", ss_joint_kind_name(kinds[k]), how,
                         coarse, fine);
        }
    }
}

/* ---- known motion ----------------------------------------------------------------------------------- */

/* Angle of a rod that swings by 1 rad, after one exact period. */
static double pendulum_error(double h, double tolerance)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    double amplitude = 1.0, period;
    int number = add_pendulum(world, amplitude, &period);
    int steps = (int)(period / h + 0.5);
    ss_sim *sim = start_smooth(world, period / steps, tolerance);
    run(sim, steps);
    const double *x = ss_world_body(world, number)->position, *w = ss_world_body(world, number)->velocity + 3;
    double error = hypot(atan2(x[0], -x[2]) - amplitude, w[1] * period);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    return error;
}

TEST(a_pendulum_is_back_after_its_period_and_the_rule_is_of_third_order)
{
    // with steps this short the tolerance never asks for shorter ones
    double coarse = pendulum_error(0.02, 0.1), fine = pendulum_error(0.01, 0.1);
    ENSURE(coarse < 1e-3);
    ENSURE(coarse / fine > 6.5 && coarse / fine < 10.0); // eight, and what is left of fourth order
    ENSURE(pendulum_error(0.2, 1e-9) < 1e-7);            // with long ones it does
}

/* A brick that spins about its middle axis turns over again and again. */
TEST(a_free_brick_keeps_energy_and_angular_momentum_while_it_turns_over)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    memset(ss_world_gravity(world), 0, 3 * sizeof(double));
    ss_body brick = {.kind = SS_DYNAMIC,
                     .mass = 2.0,
                     .inertia = {0.01, 0.001, 0, 0.001, 0.02, 0, 0, 0, 0.03},
                     .velocity = {30.0, -20.0, 5.0, 0.01, 10.0, 0.02}};
    int number = ss_world_add_body(world, &brick, &err);
    ss_sim *sim = start_smooth(world, 0.05, 1e-8);
    ss_world_energy before = ss_world_measure(world);
    double lowest = 10.0;
    for (int i = 0; i < 100; i++) {
        run(sim, 1);
        const ss_body *body = ss_world_body(world, number);
        ss_vec3 w = ss_quat_rotate_back(ss_quat_load(body->quaternion), ss_vec3_load(body->velocity + 3));
        lowest = fmin(lowest, w.y);
    }
    ss_world_energy after = ss_world_measure(world);
    ENSURE(lowest < -9.0); // rad/s: it did
    // 5 s of pieces whose errors of 1e-8 of the spin add up
    ENSURE_NEAR(after.kinetic, before.kinetic, 1e-5 * 1.0);
    ENSURE(largest_difference(before.momentum, after.momentum, 3) < 1e-10);
    ENSURE_NEAR(ss_world_body(world, number)->position[0], 150.0, 1e-9);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
}

/* ---- whips ------------------------------------------------------------------------------------------ */

static ss_sim *start_whip(double weight, const ss_sim_options *with, ss_world **world)
{
    ss_error err = {0};
    const ss_scene *scene = known((void *)(uintptr_t)ss_scene_find("chain"), NULL);
    void *parameters = known(ss_allocate(1, scene->parameters_size + 1), NULL);
    char text[40];
    snprintf(text, sizeof text, "weight=%.17g", weight);
    ss_options_defaults(scene->parameters, parameters);
    if (!ss_options_assign(scene->parameters, parameters, text, &err)) known(NULL, &err);
    *world = known(ss_world_create(&err), &err);
    if (!scene->build(parameters, 1, *world, &err)) known(NULL, &err);
    ss_release(parameters);
    return known(ss_sim_create(*world, with, &err), &err);
}

/* The largest change of the energy in 4 s, J, of about 150 that change hands; and how far it rose above its
 * lowest value. */
static double whip_error(double weight, const ss_sim_options *with, double *gained)
{
    ss_world *world;
    ss_sim *sim = start_whip(weight, with, &world);
    double first = energy_of(world), lowest = first, worst = 0.0;
    *gained = 0.0;
    for (int i = 0; i < (int)(4.0 / with->h + 0.5); i++) {
        run(sim, 1);
        double now = energy_of(world);
        worst = fmax(worst, fabs(now - first));
        *gained = fmax(*gained, now - lowest);
        lowest = fmin(lowest, now);
    }
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    return worst;
}

TEST(a_whipping_chain_keeps_its_energy_to_a_share_that_falls_with_the_tolerance)
{
    double gained;
    ss_sim_options usual = smooth(1.0 / 60.0, 1e-3), strict = smooth(1.0 / 60.0, 1e-6);
    ENSURE(whip_error(5.0, &usual, &gained) < 0.5); // J; 1e-3 of each piece of the worst moments add up
    ENSURE(whip_error(5.0, &strict, &gained) < 1e-3);
}

/* What time stepping loses in a whip is its own matter, but it may not throw the chain about: the error of
 * one moment, (v h / 2) times the force, is some joules, and no more may come back. Weights that differ a
 * little give whips that differ a lot. */
TEST(whipping_chains_gain_no_energy_by_steps_in_maximal_coordinates)
{
    static const double per_second[] = {60.0, 100.0, 240.0};
    for (int k = 0; k < 8; k++) {
        for (int n = 0; n < 3; n++) {
            double gained;
            ss_sim_options options;
            ss_options_defaults(ss_sim_option_table, &options);
            ss_options_defaults(ss_collision_option_table, &options.collision);
            options.h = 1.0 / per_second[n];
            options.threads = 1;
            options.joints = SS_STABILISE_IMPULSE;
            whip_error(5.0 + 0.02 * k, &options, &gained);
            if (!(gained < 8.0)) KIT_FAIL("h = 1/%g s: %g J gained", per_second[n], gained);
        }
    }
}

/* ---- what it is left out of ------------------------------------------------------------------------- */

TEST(maximal_coordinates_are_refused)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    ss_sim_options options = smooth(0.01, 1e-3);
    options.coordinates = SS_MAXIMAL;
    ENSURE(!ss_sim_create(world, &options, &err));
    ENSURE(strstr(err.message, "coordinates=minimal") != NULL);
    ss_world_destroy(world);
}

static bool look_away(ss_sim *sim, void *context, ss_error *err)
{
    (void)sim, (void)context, (void)err;
    return true;
}

/* A spring, a limit, a force along a joint, a loop, a planar joint, who wants to see the frame: all have one.
 */
TEST(steps_with_more_than_smooth_forces_are_ordinary_and_have_a_frame)
{
    for (int k = 0; k < 7; k++) {
        ss_world *world = make_free_pair(k == 4 ? SS_JOINT_PLANAR : SS_JOINT_REVOLUTE, false, false);
        ss_axis_law *law = &ss_world_joint(world, 1)->law[0];
        if (k == 0) law->stiffness = 3.0;
        if (k == 1) *law = (ss_axis_law){.limited = true, .lower = -0.01, .upper = 0.01};
        if (k == 2) law->force = 1.0;
        if (k == 3)
            add_joint(world,
                      &(ss_joint){.kind = SS_JOINT_BALL, .a = SS_WORLD, .b = 2, .anchor = {1.3, 0.4, -0.2}});
        ss_sim *sim = start_smooth(world, 0.001, 1e-3);
        if (k == 5 && !ss_sim_call_at(sim, SS_BEFORE_SOLVE, look_away, NULL, NULL)) known(NULL, NULL);
        run(sim, 3);
        ENSURE((ss_sim_frame(sim) == NULL) == (k == 6));
        ENSURE((ss_sim_answer(sim) == NULL) == (k == 6));
        // a look without a step is a look at the incremental problem
        ENSURE(ss_sim_prepare(sim, NULL) && ss_sim_frame(sim) && ss_sim_answer(sim));
        ss_sim_destroy(sim);
        ss_world_destroy(world);
    }
}

/* A ball falls freely, and then onto a floor: from there on the steps are those without the integrator. */
TEST(contacts_are_solved_as_always)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    ss_body ball = {.kind = SS_DYNAMIC,
                    .position = {0, 0, 1.1},
                    .mass = 1.0,
                    .inertia = {0.004, 0, 0, 0, 0.004, 0, 0, 0, 0.004}};
    int number = ss_world_add_body(world, &ball, &err);
    if (ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_PLANE}, &err) < 0 ||
        ss_world_add_shape(world, number, &(ss_shape){.kind = SS_SPHERE, .size = {0.1}}, &err) < 0)
        known(NULL, &err);
    ss_sim *sim = start_smooth(world, 0.01, 1e-3);
    run(sim, 30);
    ENSURE(!ss_sim_frame(sim));
    ENSURE_NEAR(ss_world_body(world, number)->position[2], 1.1 - 0.5 * 9.81 * 0.09,
                1e-12); // a parabola is exact
    run(sim, 170);
    ENSURE(ss_sim_frame(sim) && ss_sim_frame(sim)->contacts.count == 1);
    ENSURE_NEAR(ss_world_body(world, number)->position[2], 0.1, 1e-3);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
}

/* ---- the same bits ---------------------------------------------------------------------------------- */

TEST(a_restored_chain_goes_on_bit_for_bit_and_a_second_tree_is_not_felt)
{
    ss_error err = {0};
    ss_world *world[2];
    ss_sim_options options = smooth(1.0 / 60.0, 1e-3);
    ss_sim *sim[2];
    for (int k = 0; k < 2; k++) sim[k] = start_whip(5.0, &options, &world[k]);
    run(sim[0], 50);
    ss_snapshot snapshot = {0};
    if (!ss_sim_save(sim[0], &snapshot, &err) || !ss_sim_restore(sim[1], &snapshot, &err)) known(NULL, &err);
    ss_snapshot_free(&snapshot);
    for (int k = 0; k < 2; k++) run(sim[k], 50);
    char hash[2][33];
    for (int k = 0; k < 2; k++) ss_sim_hash(sim[k], hash[k]);
    ENSURE(strcmp(hash[0], hash[1]) == 0);
    for (int k = 0; k < 2; k++) ss_sim_destroy(sim[k]);

    // a pendulum beside it takes pieces of its own
    ss_world_destroy(world[1]);
    sim[1] = start_whip(5.0, &options, &world[1]);
    ss_sim_destroy(sim[1]);
    int beside = add_body(world[1], 0.0, 50.0, 0.3, 1.0);
    add_joint(world[1], &(ss_joint){.kind = SS_JOINT_REVOLUTE,
                                    .a = SS_WORLD,
                                    .b = beside,
                                    .anchor = {0.4, 50, 0},
                                    .axis = {0, 1, 0}});
    sim[1] = known(ss_sim_create(world[1], &options, &err), &err);
    run(sim[1], 100);
    for (int b = 0; b < beside; b++)
        ENSURE(memcmp(ss_world_body(world[0], b)->position, ss_world_body(world[1], b)->position,
                      3 * sizeof(double)) == 0);
    ss_sim_destroy(sim[1]);
    for (int k = 0; k < 2; k++) ss_world_destroy(world[k]);
}

typedef struct stopping {
    bool stops, is_short; /* of memory, from then on until it is cleared */
} stopping;

static bool stop_here(ss_sim *sim, void *context, ss_error *err)
{
    (void)sim;
    const stopping *how = context;
    if (how->stops && how->is_short) faults.fail_at = faults.requests + 1;
    return !how->stops || ss_fail(err, SS_ERROR_USAGE, "stop here");
}

/* The first step, before which no piece is known, and a later one. */
TEST(a_step_that_is_undone_is_repeated_bit_for_bit)
{
    for (int before = 0; before <= 20; before += 20) {
        char hash[2][33];
        for (int k = 0; k < 2; k++) {
            ss_error err = {0};
            ss_world *world;
            ss_sim_options options = smooth(1.0 / 60.0, 1e-3);
            stopping how = {.stops = false};
            ss_sim *sim = start_whip(5.0, &options, &world);
            if (!ss_sim_call_at(sim, SS_AFTER_STEP, stop_here, &how, &err)) known(NULL, &err);
            run(sim, before);
            how.stops = k == 1;
            if (k == 1) ENSURE(!ss_sim_step(sim, &err));
            how.stops = false;
            run(sim, 20);
            ss_sim_hash(sim, hash[k]);
            ss_sim_destroy(sim);
            ss_world_destroy(world);
        }
        ENSURE_TEXT(hash[1], hash[0]);
    }
}

TEST(a_step_is_undone_even_without_memory)
{
    ss_error err = {0};
    ss_world *world;
    ss_sim_options options = smooth(1.0 / 60.0, 1e-3);
    stopping how = {.is_short = true};
    char before[33], after[33];
    faults_start(0);
    ss_sim *sim = start_whip(5.0, &options, &world);
    if (!ss_sim_call_at(sim, SS_AFTER_STEP, stop_here, &how, &err)) known(NULL, &err);
    run(sim, 20);
    ss_sim_hash(sim, before);
    how.stops = true;
    ENSURE(!ss_sim_step(sim, &err));
    ENSURE(faults.requests >= faults.fail_at);
    ss_sim_hash(sim, after);
    ENSURE_TEXT(after, before);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ENSURE_INT(faults.live, 0);
    faults_stop();
}

TEST_MAIN
