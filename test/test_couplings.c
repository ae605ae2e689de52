/* Joints on more than two bodies in the simulator: differentials, couplings, ropes over sheaves, torque
 * converters. Expected numbers are computed by hand. */
#include <stickslip/stickslip.h>

#include "kit.h"
#include "known_cone.h"
#include "linalg/quat.h"
#include "model/joint_rows.h"

#include <math.h>
#include <string.h>

/* ---- a gearbox -------------------------------------------------------------------------------------- */

enum { SHAFTS = 3 };
static const double inertia_of[SHAFTS] = {0.5, 2.0, 3.0};

/* Three shafts along y in bearings of a case: the world, or a body that is free. */
typedef struct gearbox {
    ss_world *world;
    int case_body, shaft[SHAFTS], hinge[SHAFTS];
} gearbox;

static gearbox make_gearbox(bool fixed)
{
    ss_error err = {0};
    gearbox box = {.world = known(ss_world_create(&err), &err), .case_body = SS_WORLD};
    memset(ss_world_gravity(box.world), 0, 3 * sizeof(double));
    ss_body body = {.kind = SS_DYNAMIC, .mass = 40.0, .inertia = {4, 0, 0, 0, 5, 0, 0, 0, 6}};
    if (!fixed) box.case_body = ss_world_add_body(box.world, &body, &err);
    for (int k = 0; k < SHAFTS; k++) {
        double i = inertia_of[k];
        ss_body shaft = {
            .kind = SS_DYNAMIC, .mass = 1.0, .inertia = {i, 0, 0, 0, i, 0, 0, 0, i}, .position = {0.2 * k}};
        box.shaft[k] = ss_world_add_body(box.world, &shaft, &err);
        ss_joint hinge = {
            .kind = SS_JOINT_REVOLUTE, .a = box.case_body, .b = box.shaft[k], .axis = {0, 1, 0}};
        hinge.anchor[0] = 0.2 * k;
        box.hinge[k] = ss_world_add_joint(box.world, &hinge, &err);
        if (box.hinge[k] < 0) known(NULL, &err);
    }
    return box;
}

static int add_joint(ss_world *world, const ss_joint *joint)
{
    ss_error err = {0};
    int number = ss_world_add_joint(world, joint, &err);
    if (number < 0) known(NULL, &err);
    return number;
}

static ss_joint differential(const gearbox *box, double ratio)
{
    return (ss_joint){.kind = SS_JOINT_DIFFERENTIAL,
                      .ratio = ratio,
                      .term = {{.joint = box->hinge[0]}, {.joint = box->hinge[1]}, {.joint = box->hinge[2]}}};
}

static ss_sim *start(ss_world *world, double h, int joints)
{
    ss_error err = {0};
    ss_sim_options options;
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    options.h = h;
    options.solver = "block-pivot"; // exact, so that steps can be compared with numbers made by hand
    options.finisher = "none";
    options.stop = "relative_energy<1e-12";
    options.joints = joints;
    ss_sim *sim = known(ss_sim_create(world, &options, &err), &err);
    return sim;
}

static void step(ss_sim *sim, int count)
{
    ss_error err = {0};
    for (int i = 0; i < count; i++)
        if (!ss_sim_step(sim, &err)) known(NULL, &err);
}

static double speed_of(const gearbox *box, int k)
{
    double speed = NAN;
    ss_joint_coordinate(box->world, box->hinge[k], 0, NULL, &speed);
    return speed;
}

/* ---- differential ----------------------------------------------------------------------------------- */

/* With the torque T on the shaft and x on the equation w_s = r (w_l + w_r) / 2:
 *     I_s w_s' = T - x,  I_l w_l' = I_r w_r' = x r / 2
 *     x = T / (1 + I_s r^2 (1/I_l + 1/I_r) / 4) */
TEST(a_differential_splits_torque_equally_and_lets_wheels_turn_at_different_speeds)
{
    static const double ratio = 3.0, torque = 10.0, h = 0.01;
    gearbox box = make_gearbox(true);
    ss_joint joint = differential(&box, ratio);
    add_joint(box.world, &joint);
    ss_world_body(box.world, box.shaft[0])->force[4] = torque;
    ss_sim *sim = start(box.world, h, SS_STABILISE_IMPULSE);
    step(sim, 100);
    double x = torque / (1.0 + inertia_of[0] * ratio * ratio * (1.0 / 2.0 + 1.0 / 3.0) / 4.0);
    double left = speed_of(&box, 1), right = speed_of(&box, 2), t = 100 * h;
    ENSURE_NEAR(left, 0.5 * ratio * x / inertia_of[1] * t, 1e-7);
    ENSURE_NEAR(right, 0.5 * ratio * x / inertia_of[2] * t, 1e-7);
    ENSURE_NEAR(inertia_of[1] * left, inertia_of[2] * right, 1e-7); // equal torques, unequal speeds
    ENSURE_NEAR(speed_of(&box, 0), ratio * (left + right) / 2.0, 1e-9);
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
}

/* One wheel held by a brake: the other one turns twice as fast. */
TEST(a_held_wheel_leaves_its_speed_to_the_other_one)
{
    gearbox box = make_gearbox(true);
    ss_joint joint = differential(&box, 1.0);
    add_joint(box.world, &joint);
    ss_world_joint(box.world, box.hinge[1])->law[0] =
        (ss_axis_law){.motor = SS_MOTOR_VELOCITY, .target_speed = 0.0};
    ss_world_joint(box.world, box.hinge[0])->law[0] =
        (ss_axis_law){.motor = SS_MOTOR_VELOCITY, .target_speed = 4.0};
    ss_sim *sim = start(box.world, 0.01, SS_STABILISE_BAUMGARTE);
    step(sim, 3);
    ENSURE_NEAR(speed_of(&box, 2), 8.0, 1e-6); // the default stop rule of the simulator
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
}

/* What turns the shaft turns the case backwards, and nothing turns the whole. */
TEST(a_gearbox_in_space_keeps_its_angular_momentum)
{
    gearbox box = make_gearbox(false);
    ss_joint joint = differential(&box, 2.0);
    add_joint(box.world, &joint);
    ss_world_joint(box.world, box.hinge[0])->law[0].force = 5.0; // between case and shaft
    ss_sim *sim = start(box.world, 0.01, SS_STABILISE_BAUMGARTE);
    step(sim, 50);
    ss_world_energy energy = ss_world_measure(box.world);
    for (int i = 0; i < 3; i++) ENSURE_NEAR(energy.angular_momentum[i], 0.0, 1e-9);
    ENSURE(fabs(ss_world_body(box.world, box.case_body)->velocity[4]) > 0.1);
    ENSURE_NEAR(speed_of(&box, 0), speed_of(&box, 1) + speed_of(&box, 2), 1e-4); // axes move by h^2
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
}

/* A tumbling gearbox whose shafts make many turns: angles are counted through, and every way of stabilising
 * keeps the sum. */
TEST(the_sum_of_a_differential_is_kept_over_many_turns)
{
    static const int ways[] = {SS_STABILISE_BAUMGARTE, SS_STABILISE_SPOOK, SS_STABILISE_PROJECTION,
                               SS_STABILISE_IMPULSE};
    static const double bound[] = {5e-3, 5e-3, 2e-5, 2e-5}; // rad: docs/joints.md, and joint_tolerance = 1e-5
    for (int way = 0; way < 4; way++) {
        gearbox box = make_gearbox(false);
        ss_joint joint = differential(&box, 2.0);
        int number = add_joint(box.world, &joint);
        ss_world_joint(box.world, box.hinge[0])->law[0].force = 8.0;
        ss_body *body = ss_world_body(box.world, box.case_body);
        body->velocity[3] = 0.7, body->velocity[5] = 0.5;
        ss_sim *sim = start(box.world, 0.005, ways[way]);
        double most = 0.0;
        for (int i = 0; i < 600; i++) {
            step(sim, 1);
            most = fmax(most, ss_joint_error(box.world, number));
        }
        ENSURE_NEAR(most, 0.0, bound[way]);
        ENSURE(fabs(ss_world_joint(box.world, box.hinge[1])->turned[0]) > 6.3);
        ss_sim_destroy(sim);
        ss_world_destroy(box.world);
    }
}

/* ---- coupling --------------------------------------------------------------------------------------- */

/* A rack: slide = radius * angle, with the force at the rack's teeth in between. */
TEST(a_coupling_of_a_slide_and_an_angle_is_rack_and_pinion)
{
    static const double radius = 0.1, torque = 2.0, mass = 4.0;
    gearbox box = make_gearbox(true);
    ss_error err = {0};
    ss_body rack = {.kind = SS_DYNAMIC, .mass = mass, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    int body = ss_world_add_body(box.world, &rack, &err);
    int slide = add_joint(
        box.world, &(ss_joint){.kind = SS_JOINT_PRISMATIC, .a = SS_WORLD, .b = body, .axis = {1, 0, 0}});
    add_joint(box.world, &(ss_joint){.kind = SS_JOINT_COUPLING,
                                     .terms = 2,
                                     .term = {{.joint = slide, .factor = 1.0},
                                              {.joint = box.hinge[0], .factor = -radius}}});
    ss_world_body(box.world, box.shaft[0])->force[4] = torque;
    ss_sim *sim = start(box.world, 0.01, SS_STABILISE_IMPULSE);
    step(sim, 10);
    double acceleration = torque / (inertia_of[0] + mass * radius * radius);
    ENSURE_NEAR(speed_of(&box, 0), 0.1 * acceleration, 1e-8);
    ENSURE_NEAR(ss_world_body(box.world, body)->velocity[0], 0.1 * acceleration * radius, 1e-8);
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
}

TEST(what_cannot_be_coupled_is_refused_by_name)
{
    gearbox box = make_gearbox(false);
    ss_error err = {0};
    ss_joint joint = {.kind = SS_JOINT_COUPLING, .terms = 1, .term = {{.joint = 17}}};
    ENSURE_INT(ss_world_add_joint(box.world, &joint, &err), -1);
    ENSURE_CONTAINS(err.message, "term[0]: joint 17 has no coordinate 0");
    joint = (ss_joint){.kind = SS_JOINT_COUPLING, .terms = 5};
    ENSURE_INT(ss_world_add_joint(box.world, &joint, &err), -1);
    ENSURE_CONTAINS(err.message, "must be between 1 and 4");
    joint = differential(&box, 1.0);
    joint.term[2].index = 1;
    ENSURE_INT(ss_world_add_joint(box.world, &joint, &err), -1);
    ENSURE_CONTAINS(err.message, "has no coordinate 1");
    joint = (ss_joint){.kind = SS_JOINT_CONVERTER, .ratio = 4.0};
    ENSURE_INT(ss_world_add_joint(box.world, &joint, &err), -1);
    ENSURE_CONTAINS(err.message, "must be between 1 and 3");
    joint = (ss_joint){.kind = SS_JOINT_PULLEY, .a = 0, .b = 1, .c = 1, .anchor = {1}, .anchor_b = {2}};
    ENSURE_INT(ss_world_add_joint(box.world, &joint, &err), -1);
    ENSURE_CONTAINS(err.message, "at an end of the rope");
    joint = (ss_joint){.kind = SS_JOINT_PULLEY, .a = 0, .b = 1, .c = SS_WORLD};
    ENSURE_INT(ss_world_add_joint(box.world, &joint, &err), -1);
    ENSURE_CONTAINS(err.message, "has no direction");
    ss_world_destroy(box.world);
}

TEST(a_coupling_rests_while_a_joint_of_it_is_disabled)
{
    gearbox box = make_gearbox(true);
    ss_joint joint = differential(&box, 1.0);
    add_joint(box.world, &joint);
    ss_world_joint(box.world, box.hinge[2])->disabled = true;
    ss_world_body(box.world, box.shaft[0])->force[4] = 1.0;
    ss_sim *sim = start(box.world, 0.01, SS_STABILISE_BAUMGARTE);
    step(sim, 10);
    ENSURE_NEAR(speed_of(&box, 0), 0.1 / inertia_of[0], 1e-9);
    ENSURE_NEAR(speed_of(&box, 1), 0.0, 1e-12);
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
}

/* ---- ropes ------------------------------------------------------------------------------------------ */

static const double g = 9.81;

static int add_weight(ss_world *world, double mass, double x, double z)
{
    ss_error err = {0};
    ss_body body = {
        .kind = SS_DYNAMIC, .mass = mass, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}, .position = {x, 0, z}};
    int number = ss_world_add_body(world, &body, &err);
    if (number < 0) known(NULL, &err);
    return number;
}

/* Over a fixed block and tackle: T on a, ratio T on b. a_a + ratio a_b = 0, upwards. */
TEST(weights_on_a_rope_over_a_fixed_sheave_fall_as_atwood_says)
{
    for (int ratio = 1; ratio <= 2; ratio++) {
        static const double m1 = 2.0, m2 = 3.0, h = 0.001;
        ss_error err = {0};
        ss_world *world = known(ss_world_create(&err), &err);
        int a = add_weight(world, m1, -0.5, -1.0), b = add_weight(world, m2, 0.5, -1.0);
        add_joint(world, &(ss_joint){.kind = SS_JOINT_PULLEY,
                                     .a = a,
                                     .b = b,
                                     .c = SS_WORLD,
                                     .ratio = ratio,
                                     .anchor = {-0.5, 0, -1},
                                     .anchor_b = {0.5, 0, -1},
                                     .sheave = {{-0.5, 0, 0}, {0.5, 0, 0}}});
        ss_sim *sim = start(world, h, SS_STABILISE_BAUMGARTE);
        step(sim, 100);
        double tension = (1 + ratio) * g / (1.0 / m1 + ratio * ratio / m2);
        ENSURE_NEAR(ss_world_body(world, a)->velocity[2], 100 * h * (tension / m1 - g), 1e-8);
        ENSURE_NEAR(ss_world_body(world, b)->velocity[2], 100 * h * (ratio * tension / m2 - g), 1e-8);
        ss_sim_destroy(sim);
        ss_world_destroy(world);
    }
}

/* The sheaves are on a third body that is pulled up by F: m_1 a_1 = T - m_1 g, m_2 a_2 = T - m_2 g,
 * m_c a_c = F - 2 T - m_c g, a_1 + a_2 = 2 a_c. */
TEST(a_rope_over_a_moving_sheave_pulls_three_bodies)
{
    static const double m1 = 2.0, m2 = 3.0, mc = 4.0, force = 120.0, h = 0.001;
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    int a = add_weight(world, m1, -0.5, -1.0), b = add_weight(world, m2, 0.5, -1.0),
        c = add_weight(world, mc, 0, 0);
    // the sheave does not tilt: equal tensions on equal arms
    int rope = add_joint(world, &(ss_joint){.kind = SS_JOINT_PULLEY,
                                            .a = a,
                                            .b = b,
                                            .c = c,
                                            .anchor = {-0.5, 0, -1},
                                            .anchor_b = {0.5, 0, -1},
                                            .sheave = {{-0.5, 0, 0}, {0.5, 0, 0}}});
    ss_world_body(world, c)->force[2] = force;
    ss_sim *sim = start(world, h, SS_STABILISE_BAUMGARTE);
    step(sim, 100);
    ENSURE_INT(ss_sim_frame(sim)->constraints.further_count, 1);
    double tension = 2.0 * force / mc / (1.0 / m1 + 1.0 / m2 + 4.0 / mc);
    ENSURE_NEAR(ss_world_body(world, a)->velocity[2], 100 * h * (tension / m1 - g), 1e-8);
    ENSURE_NEAR(ss_world_body(world, b)->velocity[2], 100 * h * (tension / m2 - g), 1e-8);
    ENSURE_NEAR(ss_world_body(world, c)->velocity[2], 100 * h * ((force - 2.0 * tension) / mc - g), 1e-8);
    ENSURE_NEAR(ss_joint_error(world, rope), 0.0, 1e-8);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
}

/* A winch: the rope is wound up at 0.5 m/s, and may not pull harder than 100 N. */
TEST(a_winch_lifts_what_it_can)
{
    for (int heavy = 0; heavy < 2; heavy++) {
        ss_error err = {0};
        ss_world *world = known(ss_world_create(&err), &err);
        int a = add_weight(world, heavy ? 20.0 : 5.0, -0.5, -3.0);
        add_joint(
            world,
            &(ss_joint){.kind = SS_JOINT_PULLEY,
                        .a = a,
                        .b = SS_WORLD,
                        .c = SS_WORLD,
                        .anchor = {-0.5, 0, -3},
                        .anchor_b = {0.5, 0, -1},
                        .sheave = {{-0.5, 0, 0}, {0.5, 0, 0}},
                        .law = {{.motor = SS_MOTOR_VELOCITY, .target_speed = -0.5, .max_force = 100.0}}});
        ss_sim *sim = start(world, 0.01, SS_STABILISE_BAUMGARTE);
        step(sim, 50);
        double speed = heavy ? (100.0 / 20.0 - g) * 0.5 : 0.5;
        ENSURE_NEAR(ss_world_body(world, a)->velocity[2], speed, 1e-7);
        ss_sim_destroy(sim);
        ss_world_destroy(world);
    }
}

/* The winch with a drum: rope length + radius * angle stays, over drum, hook and mast. */
TEST(a_drum_winds_up_the_rope_of_a_pulley)
{
    static const double radius = 0.2, mass = 5.0, torque = 15.0, h = 0.001;
    gearbox box = make_gearbox(true);
    memcpy(ss_world_gravity(box.world), (double[3]){0, 0, -g}, 3 * sizeof(double));
    for (int k = 0; k < SHAFTS; k++) ss_world_body(box.world, box.shaft[k])->gravity_scale = NAN;
    int hook = add_weight(box.world, mass, -0.5, -3.0);
    int rope = add_joint(box.world, &(ss_joint){.kind = SS_JOINT_PULLEY,
                                                .a = hook,
                                                .b = SS_WORLD,
                                                .c = SS_WORLD,
                                                .anchor = {-0.5, 0, -3},
                                                .anchor_b = {0.5, 0, -1},
                                                .sheave = {{-0.5, 0, 0}, {0.5, 0, 0}},
                                                .law = {{.limited = true, .upper = 100.0}}});
    add_joint(box.world, &(ss_joint){.kind = SS_JOINT_COUPLING,
                                     .terms = 2,
                                     .term = {{.joint = rope, .factor = 1.0},
                                              {.joint = box.hinge[0], .factor = radius}}});
    ss_world_body(box.world, box.shaft[0])->force[4] = torque;
    ss_sim *sim = start(box.world, h, SS_STABILISE_BAUMGARTE);
    step(sim, 100);
    double acceleration = (torque - mass * g * radius) / (inertia_of[0] + mass * radius * radius);
    ENSURE_NEAR(speed_of(&box, 0), 100 * h * acceleration, 1e-7);
    ENSURE_NEAR(ss_world_body(box.world, hook)->velocity[2], 100 * h * acceleration * radius, 1e-7);
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
}

/* Each number of a row against a central difference of step 1e-6: 1e-12 times the third derivative, and the
 * rounding of 1e-16 over the step. */
TEST(rows_are_the_derivatives_of_lengths_and_sums)
{
    gearbox box = make_gearbox(false);
    int a = add_weight(box.world, 2.0, 5.0, -1.0), b = add_weight(box.world, 3.0, 6.0, -1.0);
    int rope = add_joint(box.world, &(ss_joint){.kind = SS_JOINT_PULLEY,
                                                .a = a,
                                                .b = b,
                                                .c = box.case_body,
                                                .ratio = 2.0,
                                                .anchor = {5.2, 0.1, -1},
                                                .anchor_b = {6, 0, -1.3},
                                                .sheave = {{5, 0.2, 0.1}, {6, 0.1, 0.3}}});
    int sum = add_joint(box.world, &(ss_joint){.kind = SS_JOINT_COUPLING,
                                               .terms = 2,
                                               .term = {{.joint = rope, .factor = 1.0},
                                                        {.joint = box.hinge[2], .factor = 0.3}}});
    ss_error err = {0};
    if (!ss_world_finish(box.world, &err)) known(NULL, &err);
    ss_random random = ss_random_start(3, 0);
    for (int k = 0; k < ss_world_body_count(box.world); k++) {
        ss_body *body = ss_world_body(box.world, k);
        for (int i = 0; i < 3; i++) body->position[i] += ss_random_between(&random, -0.1, 0.1);
        ss_vec3 turn = {ss_random_between(&random, -0.3, 0.3), ss_random_between(&random, -0.3, 0.3), 0.2};
        ss_quat_store(ss_quat_integrate(ss_quat_load(body->quaternion), turn, 1.0), body->quaternion);
    }
    for (int joint = rope; joint <= sum; joint++) {
        ss_joint_equation row[6], side[2][6];
        const ss_joint *item = ss_world_joint(box.world, joint);
        ENSURE_INT(ss_joint_residual(box.world, joint, row), 1);
        ENSURE_INT(item->body_count, joint == rope ? 3 : 4);
        for (int k = 0; k < 6 * item->body_count; k++) {
            ss_body *body = ss_world_body(box.world, ss_joint_body(item, k / 6)), kept = *body;
            for (int s = 0; s < 2; s++) {
                double step = s ? 1e-6 : -1e-6, turn[3] = {0};
                *body = kept;
                if (k % 6 < 3) body->position[k % 6] += step;
                if (k % 6 >= 3) turn[k % 6 - 3] = step;
                ss_quat_store(ss_quat_integrate(ss_quat_load(kept.quaternion), ss_vec3_load(turn), 1.0),
                              body->quaternion);
                ss_joint_residual(box.world, joint, side[s]);
            }
            *body = kept;
            ENSURE_NEAR(row[0].jacobian[k], (side[1][0].violation - side[0][0].violation) / 2e-6, 1e-8);
        }
    }
    ss_world_destroy(box.world);
}

/* ---- torque converter ------------------------------------------------------------------------------- */

static gearbox make_converter(double ratio, double capacity, bool fixed)
{
    gearbox box = make_gearbox(fixed);
    add_joint(box.world, &(ss_joint){.kind = SS_JOINT_CONVERTER,
                                     .ratio = ratio,
                                     .capacity = capacity,
                                     .term = {{.joint = box.hinge[0]}, {.joint = box.hinge[1]}}});
    return box;
}

/* The turbine held: the pump's torque is k w^2 and the turbine's R times that. */
TEST(a_stalled_converter_multiplies_torque)
{
    static const double k = 0.004, ratio = 2.0, speed = 100.0, h = 1e-4;
    gearbox box = make_converter(ratio, k, true);
    ss_world_joint(box.world, box.hinge[0])->law[0] =
        (ss_axis_law){.motor = SS_MOTOR_VELOCITY, .target_speed = speed};
    ss_world_joint(box.world, box.hinge[1])->law[0] = (ss_axis_law){.motor = SS_MOTOR_VELOCITY};
    ss_sim *sim = start(box.world, h, SS_STABILISE_BAUMGARTE);
    step(sim, 3);
    // rows: three hinges of five, two of which have a motor behind them; the converter last
    const ss_frame *frame = ss_sim_frame(sim);
    const double *impulse = ss_sim_answer(sim)->row_impulse;
    int last = frame->constraints.row_count - 1;
    ENSURE_INT(frame->constraints.count, 6);
    ENSURE_NEAR(impulse[last] / h, k * speed * speed, 1e-5);
    ENSURE_NEAR(impulse[5] / h, k * speed * speed, 1e-4);           // the engine's motor carries the pump
    ENSURE_NEAR(impulse[11] / h, -ratio * k * speed * speed, 1e-4); // the brake carries twice that
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
}

/* T = k w_p (w_p - R w_t), R = 2 - w_t / (0.85 w_p): at w_t = w_p / 2, R = 1.41 and T = 0.294 k w_p^2. */
TEST(a_converter_between_stall_and_coupling_point_follows_its_curve)
{
    static const double k = 0.004, speed = 100.0, h = 1e-4;
    gearbox box = make_converter(2.0, k, true);
    ss_world_joint(box.world, box.hinge[0])->law[0] =
        (ss_axis_law){.motor = SS_MOTOR_VELOCITY, .target_speed = speed};
    ss_world_joint(box.world, box.hinge[1])->law[0] =
        (ss_axis_law){.motor = SS_MOTOR_VELOCITY, .target_speed = 0.5 * speed};
    ss_sim *sim = start(box.world, h, SS_STABILISE_BAUMGARTE);
    step(sim, 3);
    double ratio = 2.0 - 0.5 / 0.85, torque = k * speed * speed * (1.0 - 0.5 * ratio);
    const double *impulse = ss_sim_answer(sim)->row_impulse;
    ENSURE_NEAR(impulse[5] / h, torque, 1e-4);
    ENSURE_NEAR(impulse[11] / h, -ratio * torque, 1e-4);
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
}

/* Far too strong for the step: it must not blow up, and only take energy away; the case takes the
 * difference of the torques. */
TEST(a_converter_takes_energy_away_and_keeps_momentum)
{
    gearbox box = make_converter(2.5, 50.0, false);
    ss_world_body(box.world, box.shaft[0])->velocity[4] = 80.0;
    ss_sim *sim = start(box.world, 0.05, SS_STABILISE_IMPULSE);
    double momentum = inertia_of[0] * 80.0, energy = INFINITY;
    for (int i = 0; i < 200; i++) {
        step(sim, 1);
        ss_world_energy now = ss_world_measure(box.world);
        ENSURE(now.kinetic <= energy * (1.0 + 1e-9) + 1e-9); // rounding
        energy = now.kinetic;
        ENSURE_NEAR(now.angular_momentum[1], momentum, 1e-6);
    }
    ENSURE_NEAR(speed_of(&box, 0), speed_of(&box, 1), 1e-3); // at last it couples
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
}

/* ---- units, snapshots, files ------------------------------------------------------------------------ */

static gearbox make_all(void)
{
    gearbox box = make_converter(2.0, 0.1, false);
    ss_joint joint = differential(&box, 3.0);
    add_joint(box.world, &joint);
    int a = add_weight(box.world, 2.0, 5.0, -1.0), b = add_weight(box.world, 3.0, 6.0, -1.0);
    int rope = add_joint(box.world, &(ss_joint){.kind = SS_JOINT_PULLEY,
                                                .a = a,
                                                .b = b,
                                                .c = box.case_body,
                                                .anchor = {5, 0, -1},
                                                .anchor_b = {6, 0, -1},
                                                .sheave = {{5, 0.2, 0}, {6, 0.1, 0}},
                                                .law = {{.stiffness = 50.0, .damping = 2.0}}});
    add_joint(box.world,
              &(ss_joint){.kind = SS_JOINT_COUPLING,
                          .terms = 2,
                          .term = {{.joint = rope, .factor = 1.0}, {.joint = box.hinge[2], .factor = 0.3}}});
    ss_world_body(box.world, box.shaft[0])->velocity[4] = 3.0;
    ss_world_body(box.world, a)->velocity[2] = -1.0;
    return box;
}

TEST(a_machine_in_other_units_moves_the_same_way)
{
    static const double L = 100.0, M = 1000.0, T = 10.0;
    gearbox box = make_all(), small = make_all();
    ss_error err = {0};
    if (!ss_world_change_units(small.world, L, M, T, &err)) known(NULL, &err);
    ss_sim *sim = start(box.world, 0.01, SS_STABILISE_BAUMGARTE);
    ss_sim *other = start(small.world, 0.01 * T, SS_STABILISE_BAUMGARTE);
    step(sim, 50);
    step(other, 50);
    for (int b = 0; b < ss_world_body_count(box.world); b++) {
        const ss_body *one = ss_world_body(box.world, b), *two = ss_world_body(small.world, b);
        for (int i = 0; i < 3; i++) {
            ENSURE_NEAR(one->position[i], two->position[i] / L, 1e-6); // the stop rule of the simulator
            ENSURE_NEAR(one->velocity[3 + i], two->velocity[3 + i] * T, 1e-5);
        }
    }
    ss_sim_destroy(sim);
    ss_sim_destroy(other);
    ss_world_destroy(box.world);
    ss_world_destroy(small.world);
}

TEST(a_snapshot_of_a_machine_continues_bit_for_bit)
{
    gearbox box = make_all();
    ss_error err = {0};
    ss_sim *sim = start(box.world, 0.01, SS_STABILISE_IMPULSE);
    ss_snapshot snapshot;
    char first[33], second[33];
    step(sim, 20);
    if (!ss_sim_save(sim, &snapshot, &err)) known(NULL, &err);
    step(sim, 20);
    ss_sim_hash(sim, first);
    if (!ss_sim_restore(sim, &snapshot, &err)) known(NULL, &err);
    step(sim, 20);
    ss_sim_hash(sim, second);
    ENSURE_TEXT(first, second);
    ss_snapshot_free(&snapshot);
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
}

TEST(the_frames_of_a_machine_are_good)
{
    gearbox box = make_all();
    ss_sim *sim = start(box.world, 0.01, SS_STABILISE_BAUMGARTE);
    step(sim, 5);
    ss_findings findings = {0};
    ENSURE(ss_frame_check(ss_sim_frame(sim), "", &findings));
    ENSURE_INT((int)findings.count, 0);
    // differential: four bodies; converter: three; rope: three, with its spring only; coupling: five
    ENSURE_INT(ss_sim_frame(sim)->constraints.further_count, 2 + 1 + 1 + 2);
    ss_findings_free(&findings);
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
}

/* A case that is moved as prescribed: its part of the rows is known, and only shafts remain in them. */
TEST(a_kinematic_case_carries_its_shafts_along)
{
    gearbox box = make_gearbox(false);
    ss_body *body = ss_world_body(box.world, box.case_body);
    body->kind = SS_KINEMATIC;
    body->velocity[4] = 2.0;
    for (int k = 0; k < SHAFTS; k++) ss_world_body(box.world, box.shaft[k])->position[0] = 0.0;
    ss_joint joint = differential(&box, 1.0);
    add_joint(box.world, &joint);
    ss_sim *sim = start(box.world, 1e-4, SS_STABILISE_BAUMGARTE);
    step(sim, 1);
    // from rest: w_s - 2 = (w_l - 2 + w_r - 2) / 2 holds for shafts that do not turn in the world
    for (int k = 0; k < SHAFTS; k++)
        ENSURE_NEAR(ss_world_body(box.world, box.shaft[k])->velocity[4], 0.0, 1e-9);
    joint.ratio = 3.0;
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
    box = make_gearbox(false);
    body = ss_world_body(box.world, box.case_body);
    body->kind = SS_KINEMATIC;
    body->velocity[4] = 2.0;
    joint = differential(&box, 3.0);
    add_joint(box.world, &joint);
    sim = start(box.world, 1e-4, SS_STABILISE_BAUMGARTE);
    step(sim, 1);
    ENSURE_NEAR(speed_of(&box, 0), 1.5 * (speed_of(&box, 1) + speed_of(&box, 2)), 1e-6);
    ENSURE_INT(ss_sim_frame(sim)->constraints.further_count, 1);
    ss_sim_destroy(sim);
    ss_world_destroy(box.world);
}

TEST_MAIN
