/* Joints in motion: what limits, motors, springs, friction, ropes, screws and gears do to a body, by the
 * whole simulator against formulas, and what each way of stabilising keeps. */
#include "kit.h"

#include <stickslip/sim.h>

static const double gravity = 9.81;

/* ---- a world, a simulation -------------------------------------------------------------------------- */

typedef struct machine {
    ss_world *world;
    ss_sim *sim;
} machine;

static machine start_machine(void)
{
    return (machine){.world = ss_world_create(NULL)};
}

static int add_ball(const machine *m, double x, double y, double z, double mass, double inertia)
{
    ss_body body = {.kind = SS_DYNAMIC,
                    .position = {x, y, z},
                    .mass = mass,
                    .inertia = {inertia, 0, 0, 0, inertia, 0, 0, 0, inertia}};
    return ss_world_add_body(m->world, &body, NULL);
}

/* An exact solver: what is tested are rows, not iterations. */
static bool finish_machine(machine *m, ss_joint_stabilisation joints)
{
    ss_sim_options options;
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    options.solver = "block-pivot";
    options.finisher = "none";
    options.stop = "relative_energy<1e-12";
    options.joints = joints;
    options.threads = 1;
    ss_error err = {0};
    m->sim = ss_sim_create(m->world, &options, &err);
    if (!m->sim) KIT_FAIL("%s", err.message);
    return m->sim != NULL;
}

static bool run(machine *m, double seconds)
{
    ss_error err = {0};
    for (int i = 0, steps = (int)lround(seconds / 0.01); i < steps; i++)
        if (!ss_sim_step(m->sim, &err)) {
            KIT_FAIL("%s", err.message);
            return false;
        }
    return true;
}

static void end_machine(machine *m)
{
    ss_sim_destroy(m->sim);
    ss_world_destroy(m->world);
}

static double coordinate(const machine *m, int joint, int index)
{
    double position = NAN;
    ss_joint_coordinate(m->world, joint, index, &position, NULL);
    return position;
}

static double speed(const machine *m, int joint, int index)
{
    double rate = NAN;
    ss_joint_coordinate(m->world, joint, index, NULL, &rate);
    return rate;
}

/* A ball of 2 kg on a vertical slide, coordinate upwards. */
static machine make_lift(ss_axis_law law, int *joint)
{
    machine m = start_machine();
    int ball = add_ball(&m, 0.0, 0.0, 0.0, 2.0, 0.1);
    ss_joint slide = {.kind = SS_JOINT_PRISMATIC, .a = SS_WORLD, .b = ball, .axis = {0, 0, 1}, .law = {law}};
    *joint = ss_world_add_joint(m.world, &slide, NULL);
    return m;
}

/* ---- laws ------------------------------------------------------------------------------------------- */

TEST(a_slide_stops_at_both_limits)
{
    int joint;
    machine m = make_lift((ss_axis_law){.limited = true, .lower = -0.5, .upper = 0.25}, &joint);
    ENSURE(finish_machine(&m, SS_STABILISE_BAUMGARTE) && run(&m, 2.0));
    ENSURE_NEAR(coordinate(&m, joint, 0), -0.5, 1e-9); // a limit that is still open counts in full
    ss_world_gravity(m.world)[2] = gravity;
    ENSURE(run(&m, 2.0));
    ENSURE_NEAR(coordinate(&m, joint, 0), 0.25, 1e-9);
    end_machine(&m);
}

/* Half a metre above its limit, without weight: it comes back within a few twentieths of a second, however
 * short the step, and stays below the speed of 0.5 m in 1/20 s. */
TEST(a_joint_that_starts_outside_its_limits_is_not_thrown)
{
    static const double steps[] = {0.01, 0.002, 0.0002};
    for (int i = 0; i < 3; i++) {
        for (int minimal = 0; minimal < 2; minimal++) {
            int joint;
            machine m = make_lift((ss_axis_law){.limited = true, .lower = -2.0, .upper = -0.5}, &joint);
            ss_world_gravity(m.world)[2] = 0.0;
            ss_sim_options options;
            ss_options_defaults(ss_sim_option_table, &options);
            ss_options_defaults(ss_collision_option_table, &options.collision);
            options.solver = "block-pivot";
            options.h = steps[i];
            options.coordinates = minimal ? SS_MINIMAL : SS_MAXIMAL;
            ss_error err = {0};
            m.sim = ss_sim_create(m.world, &options, &err);
            ENSURE(m.sim != NULL);
            double fastest = 0.0;
            for (int n = 0; n < (int)(0.2 / steps[i]); n++) {
                ENSURE(ss_sim_step(m.sim, &err));
                fastest = fmax(fastest, fabs(speed(&m, joint, 0)));
            }
            ENSURE_NEAR(fastest, 10.0, 1e-6);
            ENSURE(coordinate(&m, joint, 0) < -0.5);
            end_machine(&m);
        }
    }
}

TEST(a_spring_sags_by_the_weight_and_a_position_motor_too)
{
    int joint;
    machine m = make_lift((ss_axis_law){.stiffness = 400.0, .damping = 40.0, .rest = 0.1}, &joint);
    ENSURE(finish_machine(&m, SS_STABILISE_BAUMGARTE) && run(&m, 5.0));
    ENSURE_NEAR(coordinate(&m, joint, 0), 0.1 - 2.0 * gravity / 400.0, 1e-9);
    ss_axis_law *law = &ss_world_joint(m.world, joint)->law[0];
    law->motor = SS_MOTOR_POSITION;
    law->target = -0.3;
    ENSURE(run(&m, 5.0));
    ENSURE_NEAR(coordinate(&m, joint, 0), -0.3 - 2.0 * gravity / 400.0, 1e-9);
    law->max_force = 15.0; // less than the weight: it falls with what is left
    double before = speed(&m, joint, 0);
    ENSURE(run(&m, 0.5));
    ENSURE_NEAR(speed(&m, joint, 0) - before, -0.5 * (gravity - 15.0 / 2.0), 1e-9);
    end_machine(&m);
}

TEST(a_stiff_spring_does_not_explode)
{
    int joint;
    machine m = make_lift((ss_axis_law){.stiffness = 1e9}, &joint); // h omega = 220
    ENSURE(finish_machine(&m, SS_STABILISE_BAUMGARTE) && run(&m, 1.0));
    ENSURE_NEAR(coordinate(&m, joint, 0), -2.0 * gravity / 1e9, 1e-12);
    end_machine(&m);
}

TEST(a_velocity_motor_lifts_within_its_force)
{
    int joint;
    machine m =
        make_lift((ss_axis_law){.motor = SS_MOTOR_VELOCITY, .target_speed = 0.8, .max_force = 25.0}, &joint);
    ENSURE(finish_machine(&m, SS_STABILISE_BAUMGARTE) && run(&m, 0.1));
    ENSURE_NEAR(speed(&m, joint, 0), 0.1 * (12.5 - gravity), 1e-12); // still on its way
    ENSURE(run(&m, 1.0));
    ENSURE_NEAR(speed(&m, joint, 0), 0.8, 1e-12);
    end_machine(&m);
}

static bool drive_along_a_sine(ss_sim *sim, void *context, ss_error *err)
{
    (void)context, (void)err;
    double t = ss_sim_time(sim);
    ss_axis_law *law = &ss_world_joint(ss_sim_world(sim), 0)->law[0];
    law->target = 0.4 * sin(3.0 * t);
    // where it shall be after the step
    law->target_speed = (0.4 * sin(3.0 * (t + 0.01)) - law->target) / 0.01;
    return true;
}

TEST(a_drive_follows_its_path_exactly_with_every_stabilisation)
{
    for (int joints = SS_STABILISE_BAUMGARTE; joints <= SS_STABILISE_IMPULSE; joints++) {
        int joint;
        machine m = make_lift((ss_axis_law){.motor = SS_MOTOR_DRIVE}, &joint);
        ENSURE(finish_machine(&m, joints));
        ENSURE(ss_sim_call_at(m.sim, SS_BEFORE_COLLISION, drive_along_a_sine, NULL, NULL));
        ENSURE(run(&m, 3.0));
        ENSURE_NEAR(coordinate(&m, joint, 0), 0.4 * sin(9.0), 1e-12);
        end_machine(&m);
    }
}

TEST(dry_friction_of_a_slide_holds_or_lets_go)
{
    int joint;
    machine m = make_lift((ss_axis_law){.friction = 20.0}, &joint); // the weight is 19.62 N
    ENSURE(finish_machine(&m, SS_STABILISE_BAUMGARTE) && run(&m, 1.0));
    ENSURE_NEAR(coordinate(&m, joint, 0), 0.0, 1e-12);
    ss_world_joint(m.world, joint)->law[0].friction = 10.0;
    ENSURE(run(&m, 1.0));
    ENSURE_NEAR(speed(&m, joint, 0), -(gravity - 5.0), 1e-9);
    end_machine(&m);
}

/* A slide at 30 degrees with mu = 0.3, its axis turned away from the world's: a = g (sin - mu cos). */
TEST(load_dependent_friction_of_a_slide_is_that_of_a_block_on_a_slope)
{
    machine m = start_machine();
    int ball = add_ball(&m, 0.0, 0.0, 0.0, 3.0, 0.1);
    double slope = 0.5235987755982988;
    ss_joint slide = {.kind = SS_JOINT_PRISMATIC,
                      .a = SS_WORLD,
                      .b = ball,
                      .axis = {cos(slope) * 0.6, cos(slope) * 0.8, -sin(slope)},
                      .law = {{.load_friction = 0.3}}};
    int joint = ss_world_add_joint(m.world, &slide, NULL);
    ENSURE(finish_machine(&m, SS_STABILISE_BAUMGARTE) && run(&m, 1.0));
    ENSURE_NEAR(speed(&m, joint, 0), gravity * (sin(slope) - 0.3 * cos(slope)), 1e-6);
    end_machine(&m);
}

/* A wheel in a bearing: the torque is load_friction times the weight, whatever way the joint's frame lies. */
TEST(a_wheel_is_braked_by_the_weight_on_its_bearing)
{
    machine m = start_machine();
    int wheel = add_ball(&m, 0.0, 0.0, 0.0, 4.0, 0.5);
    ss_joint bearing = {.kind = SS_JOINT_REVOLUTE,
                        .a = SS_WORLD,
                        .b = wheel,
                        .axis = {0.6, 0.8, 0.0},
                        .law = {{.load_friction = 0.01}}};
    int joint = ss_world_add_joint(m.world, &bearing, NULL);
    ss_body *body = ss_world_body(m.world, wheel);
    body->velocity[3] = 0.6 * 10.0;
    body->velocity[4] = 0.8 * 10.0;
    ENSURE(finish_machine(&m, SS_STABILISE_BAUMGARTE) && run(&m, 2.0));
    ENSURE_NEAR(speed(&m, joint, 0), 10.0 - 2.0 * 0.01 * 4.0 * gravity / 0.5, 1e-6);
    end_machine(&m);
}

TEST(a_joint_with_compliance_gives_way_in_proportion)
{
    machine m = start_machine();
    int ball = add_ball(&m, 0.0, 0.0, 0.0, 2.0, 0.1);
    ss_joint hook = {.kind = SS_JOINT_BALL, .a = SS_WORLD, .b = ball, .compliance = 1e-3};
    ss_world_add_joint(m.world, &hook, NULL);
    ss_world_body(m.world, ball)->linear_damping = 5.0;
    ENSURE(finish_machine(&m, SS_STABILISE_PROJECTION) && run(&m, 10.0)); // no pass may stiffen it
    ENSURE_NEAR(ss_world_body(m.world, ball)->position[2], -2.0 * gravity * 1e-3, 1e-6);
    end_machine(&m);
}

TEST(the_users_force_accelerates)
{
    int joint;
    machine m = make_lift((ss_axis_law){.force = 30.0}, &joint);
    ENSURE(finish_machine(&m, SS_STABILISE_BAUMGARTE) && run(&m, 1.0));
    ENSURE_NEAR(speed(&m, joint, 0), 15.0 - gravity, 1e-9);
    end_machine(&m);
}

/* ---- transmissions ---------------------------------------------------------------------------------- */

TEST(a_rope_becomes_taut_and_carries)
{
    machine m = start_machine();
    int ball = add_ball(&m, 0.0, 0.0, -0.2, 2.0, 0.1);
    ss_joint rope = {.kind = SS_JOINT_DISTANCE, .a = SS_WORLD, .b = ball, .anchor_b = {0, 0, -0.2}};
    rope.law[0] = (ss_axis_law){.limited = true, .lower = 0.0, .upper = 1.0};
    int joint = ss_world_add_joint(m.world, &rope, NULL);
    ENSURE(finish_machine(&m, SS_STABILISE_BAUMGARTE) && run(&m, 0.2));
    ENSURE_NEAR(ss_world_body(m.world, ball)->velocity[2], -0.2 * gravity, 1e-12); // slack: falls freely
    ENSURE(run(&m, 2.0));
    ENSURE_NEAR(coordinate(&m, joint, 0), 1.0, 1e-9);
    end_machine(&m);
}

/* m g down the thread against the inertia seen through it: a = g / (1 + I / (m p^2)). */
TEST(a_nut_runs_down_its_screw_past_many_turns)
{
    machine m = start_machine();
    int nut = add_ball(&m, 0.0, 0.0, 0.0, 2.0, 0.001);
    ss_joint screw = {.kind = SS_JOINT_SCREW, .a = SS_WORLD, .b = nut, .axis = {0, 0, 1}, .ratio = 0.05};
    int joint = ss_world_add_joint(m.world, &screw, NULL);
    ENSURE(finish_machine(&m, SS_STABILISE_BAUMGARTE) && run(&m, 1.0));
    double a = gravity / (1.0 + 0.001 / (2.0 * 0.05 * 0.05));
    ENSURE_NEAR(ss_world_body(m.world, nut)->velocity[2], -a, 1e-6);
    ENSURE(fabs(ss_world_joint(m.world, joint)->turned[0]) > 50.0);
    ENSURE_NEAR(ss_joint_error(m.world, joint), 0.0, 1e-6);
    end_machine(&m);
}

/* Torque on the small wheel; the large one is geared down by 3 and turns the other way. */
TEST(gears_carry_torque_past_many_turns)
{
    machine m = start_machine();
    ss_world_gravity(m.world)[2] = 0.0;
    int small = add_ball(&m, 0.0, 0.0, 0.0, 1.0, 0.02), large = add_ball(&m, 1.0, 0.0, 0.0, 1.0, 0.9);
    ss_joint axle = {.kind = SS_JOINT_REVOLUTE, .a = SS_WORLD, .b = small, .axis = {0, 1, 0}};
    axle.law[0].force = 2.0;
    ss_world_add_joint(m.world, &axle, NULL);
    ss_joint other = {
        .kind = SS_JOINT_REVOLUTE, .a = SS_WORLD, .b = large, .anchor = {1, 0, 0}, .axis = {0, 1, 0}};
    ss_world_add_joint(m.world, &other, NULL);
    ss_joint teeth = {.kind = SS_JOINT_GEAR, .a = small, .b = large, .axis = {0, 1, 0}, .axis2 = {0, 1, 0}};
    teeth.ratio = 1.0 / 3.0;
    int gear = ss_world_add_joint(m.world, &teeth, NULL);
    ENSURE(finish_machine(&m, SS_STABILISE_IMPULSE) && run(&m, 3.0));
    double expected = 3.0 * 2.0 / (0.02 + 0.9 / 9.0);
    ENSURE_NEAR(speed(&m, 0, 0), expected, 1e-6);
    ENSURE_NEAR(speed(&m, 1, 0), -expected / 3.0, 1e-6);
    ENSURE(ss_world_joint(m.world, gear)->turned[0] > 50.0);
    ENSURE_NEAR(ss_joint_error(m.world, gear), 0.0, 1e-5);
    end_machine(&m);
}

/* ---- every way of stabilising ----------------------------------------------------------------------- */

static int add_bar(const machine *m, double x0, double z0, double x1, double z1)
{
    double length = hypot(x1 - x0, z1 - z0), angle = -atan2(z1 - z0, x1 - x0);
    ss_body body = {
        .kind = SS_DYNAMIC,
        .position = {0.5 * (x0 + x1), 0.0, 0.5 * (z0 + z1)},
        .quaternion = {cos(0.5 * angle), 0.0, sin(0.5 * angle), 0.0},
        .mass = 2.0 * length,
        .inertia = {0.001, 0, 0, 0, length * length * length / 6.0, 0, 0, 0, length * length * length / 6.0}};
    return ss_world_add_body(m->world, &body, NULL);
}

static int add_hinge(const machine *m, int a, int b, double x, double z)
{
    ss_joint hinge = {.kind = SS_JOINT_REVOLUTE, .a = a, .b = b, .anchor = {x, 0.0, z}, .axis = {0, 1, 0}};
    return ss_world_add_joint(m->world, &hinge, NULL);
}

static double worst_error(const machine *m)
{
    double worst = 0.0;
    for (int j = 0; j < ss_world_joint_count(m->world); j++) worst = fmax(worst, ss_joint_error(m->world, j));
    return worst;
}

/* A parallelogram of hinges with parallel axes: 20 rows, of which 3 are redundant, and one freedom. */
static machine make_loop(void)
{
    machine m = start_machine();
    int left = add_bar(&m, 0.0, 0.0, 0.3, -0.4), right = add_bar(&m, 1.0, 0.0, 1.3, -0.4);
    int coupler = add_bar(&m, 0.3, -0.4, 1.3, -0.4);
    add_hinge(&m, SS_WORLD, left, 0.0, 0.0);
    add_hinge(&m, left, coupler, 0.3, -0.4);
    add_hinge(&m, coupler, right, 1.3, -0.4);
    add_hinge(&m, right, SS_WORLD, 1.0, 0.0);
    return m;
}

TEST(a_loop_with_redundant_rows_works_with_every_stabilisation)
{
    // largest error over a minute: what is removed per step against what a step adds, order (omega
    // h)^2 L / gamma
    static const double bound[] = {[SS_STABILISE_BAUMGARTE] = 5e-3,
                                   [SS_STABILISE_NONE] = 0.5,
                                   [SS_STABILISE_SPOOK] = 5e-3,
                                   [SS_STABILISE_PROJECTION] = 1e-5,
                                   [SS_STABILISE_IMPULSE] = 1e-5};
    for (int joints = SS_STABILISE_BAUMGARTE; joints <= SS_STABILISE_IMPULSE; joints++) {
        machine m = make_loop();
        ENSURE(finish_machine(&m, joints));
        double worst = 0.0, lowest = 0.0;
        for (int i = 0; i < 600; i++) {
            ENSURE(run(&m, 0.1));
            worst = fmax(worst, worst_error(&m));
            lowest = fmin(lowest, ss_world_body(m.world, 2)->position[2]);
        }
        if (!(worst <= bound[joints])) KIT_FAIL("stabilisation %d: error %g", joints, worst);
        // it swings through the bottom, but for the errors of two joints
        ENSURE_NEAR(lowest, -0.5, joints == SS_STABILISE_NONE ? 0.5 : 0.01);
        end_machine(&m);
    }
}

/* The pendulum of the simulator that this one descends from: without stabilisation its joint drifts, with
 * impulses it holds to 1e-5 in position and speed for a minute. */
TEST(a_hanging_rod_keeps_its_joint_for_a_minute)
{
    double drift[2];
    for (int k = 0; k < 2; k++) {
        machine m = start_machine();
        int rod = add_bar(&m, 0.0, 0.0, 1.0, 0.0);
        add_hinge(&m, SS_WORLD, rod, 0.0, 0.0);
        ENSURE(finish_machine(&m, k ? SS_STABILISE_IMPULSE : SS_STABILISE_NONE));
        drift[k] = 0.0;
        double slip = 0.0;
        for (int i = 0; i < 6000; i++) {
            ENSURE(run(&m, 0.01));
            drift[k] = fmax(drift[k], ss_joint_error(m.world, 0));
            slip = fmax(slip, ss_joint_speed_error(m.world, 0));
        }
        ENSURE(k == 0 || slip <= 1e-5);
        end_machine(&m);
    }
    ENSURE(drift[0] > 1e-2);
    ENSURE(drift[1] <= 1e-5);
}

TEST_MAIN
