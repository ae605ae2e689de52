/* Joints as rows: every Jacobian against differences of the violation it belongs to, and coordinates against
 * motions that are known. */
#include "kit.h"

#include "joint_couple.h"

static const double pi = 3.14159265358979323846;

/* ---- differences ------------------------------------------------------------------------------------- */

static void nudge(const couple *two, int freedom, double step)
{
    ss_body *body = ss_world_body(two->world, freedom < 6 ? two->a : two->b);
    if (!body) return;
    int i = freedom % 6;
    const double turn[3] = {i == 3 ? step : 0.0, i == 4 ? step : 0.0, i == 5 ? step : 0.0};
    if (i < 3)
        body->position[i] += step;
    else
        turn_body(body, ss_vec3_load(turn));
}

/* Largest difference between the Jacobians of the own equations and central differences of their violations,
 * relative to the largest entry. */
static double jacobian_error(const couple *two)
{
    const double step = 1e-5;
    ss_joint_equation rows[6], plus[6], minus[6];
    int count = ss_joint_residual(two->world, two->joint, rows);
    double worst = 0.0, largest = 0.0;
    for (int freedom = 0; freedom < 12; freedom++) {
        nudge(two, freedom, step);
        ss_joint_residual(two->world, two->joint, plus);
        nudge(two, freedom, -2.0 * step);
        ss_joint_residual(two->world, two->joint, minus);
        nudge(two, freedom, step);
        for (int i = 0; i < count; i++) {
            double difference = (plus[i].violation - minus[i].violation) / (2.0 * step);
            largest = fmax(largest, fabs(rows[i].jacobian[freedom]));
            worst = fmax(worst, fabs(difference - rows[i].jacobian[freedom]));
        }
    }
    return worst / largest;
}

/* The documented singularities: a full half turn of the relative rotation, axes turned over, axes in line. */
static bool is_near_singularity(const couple *two)
{
    const ss_joint *joint = ss_world_joint(two->world, two->joint);
    ss_quat frame[2];
    for (int side = 0; side < 2; side++) {
        const ss_body *body = ss_world_body(two->world, side ? two->b : two->a);
        ss_quat q = body ? ss_quat_load(body->quaternion) : ss_quat_identity();
        frame[side] = ss_quat_multiply(q, ss_quat_load(joint->local_frame[side]));
    }
    ss_vec3 z = {0.0, 0.0, 1.0};
    double between = ss_vec3_dot(ss_quat_rotate(frame[0], z), ss_quat_rotate(frame[1], z));
    ss_quat turn = ss_quat_multiply(ss_quat_conjugate(frame[0]), frame[1]);
    if (joint->kind == SS_JOINT_UNIVERSAL) return fabs(between) > 0.98;
    if (joint->kind == SS_JOINT_GEAR) return false; // looked after by the angles of the test
    return fabs(turn.w) < 0.02 || between < -0.98;
}

static void lay_rows_along_a_load(const couple *two, ss_random *random)
{
    ss_joint *joint = ss_world_joint(two->world, two->joint);
    joint->law[0].load_friction = 0.1;
    ss_vec3_store(random_vector(random, 3.0), joint->load_direction);
}

TEST(every_jacobian_is_the_derivative_of_its_violation_at_any_pose)
{
    ss_random random = ss_random_start(7, 0);
    for (int kind = 0; kind < PAIR_KINDS; kind++) {
        int tried = 0;
        for (int sample = 0; sample < 200; sample++) {
            couple two = make_couple(any_joint(kind), sample % 4 == 0);
            scramble(&two, &random, kind == SS_JOINT_GEAR ? 2.5 : pi);
            if (sample % 3 == 0) lay_rows_along_a_load(&two, &random);
            if (!is_near_singularity(&two)) {
                double error = jacobian_error(&two);
                tried++;
                // central differences of step 1e-5: 1e-10 times the third derivative, large near
                // the singularities
                if (!(error < 1e-6)) KIT_FAIL("%s, sample %d: %g", ss_joint_kind_name(kind), sample, error);
            }
            ss_world_destroy(two.world);
        }
        ENSURE(tried > 100);
    }
}

TEST(jacobians_are_exact_where_the_joint_nearly_holds)
{
    ss_random random = ss_random_start(8, 0);
    for (int kind = 0; kind < PAIR_KINDS; kind++)
        for (int sample = 0; sample < 20; sample++) {
            couple two = make_couple(any_joint(kind), false);
            scramble(&two, &random, sample % 2 ? 1e-3 : 3e-2); // both sides of where the series take over
            double error = jacobian_error(&two);
            if (!(error < 1e-9)) KIT_FAIL("%s, sample %d: %g", ss_joint_kind_name(kind), sample, error);
            ss_world_destroy(two.world);
        }
}

TEST(joints_hold_at_the_start_and_have_the_right_number_of_equations)
{
    static const int expected[PAIR_KINDS] = {6, 5, 5, 4, 4, 3, 3, 1, 5, 1};
    for (int kind = 0; kind < PAIR_KINDS; kind++) {
        ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
        ss_joint joint = any_joint(kind);
        ss_vec3 across = ss_vec3_cross(ss_vec3_load(joint.axis), (ss_vec3){1.0, 0.0, 0.0});
        if (kind == SS_JOINT_UNIVERSAL) ss_vec3_store(across, joint.axis2);
        couple two = make_couple(joint, false);
        ENSURE_INT(ss_joint_equations(two.world, two.joint, 0.01, rows), expected[kind]);
        ENSURE_INT(ss_joint_equation_count(ss_world_joint(two.world, two.joint)), expected[kind]);
        // rounding of a few products of order 1
        ENSURE_NEAR(ss_joint_error(two.world, two.joint), 0.0, 1e-15);
        for (int i = 0; i < expected[kind]; i++) {
            ENSURE(rows[i].holonomic && rows[i].equality && rows[i].block == 0 && rows[i].load == -1);
            ENSURE(rows[i].bounds[0] == -INFINITY && rows[i].bounds[1] == INFINITY);
        }
        ss_world_joint(two.world, two.joint)->disabled = true;
        ENSURE_INT(ss_joint_equations(two.world, two.joint, 0.01, rows), 0);
        ss_world_destroy(two.world);
    }
}

/* ---- rigid motion: what holds must keep holding, what moves freely must not be noticed --------------- */

TEST(moving_the_whole_pair_changes_no_violation)
{
    ss_random random = ss_random_start(9, 0);
    for (int kind = 0; kind < PAIR_KINDS; kind++) {
        if (kind == SS_JOINT_GEAR) continue; // goes by angles in the world
        couple two = make_couple(any_joint(kind), false);
        scramble(&two, &random, 1.0);
        ss_joint_equation before[6], after[6];
        int count = ss_joint_residual(two.world, two.joint, before);
        ss_vec3 rotation = random_vector(&random, 2.0), point = random_vector(&random, 1.0);
        turn_about(ss_world_body(two.world, two.a), rotation, point);
        turn_about(ss_world_body(two.world, two.b), rotation, point);
        ss_joint_residual(two.world, two.joint, after);
        // rounding, violations of order 1
        for (int i = 0; i < count; i++) ENSURE_NEAR(after[i].violation, before[i].violation, 1e-14);
        ss_world_destroy(two.world);
    }
}

/* Forces and torques of a row on both bodies balance: momentum is kept whatever the multipliers are. */
TEST(reactions_are_equal_and_opposite)
{
    ss_random random = ss_random_start(10, 0);
    for (int kind = 0; kind < PAIR_KINDS; kind++) {
        if (kind == SS_JOINT_GEAR) continue; // the torque of a gear box is on its case
        couple two = make_couple(any_joint(kind), false);
        scramble(&two, &random, 1.5);
        ss_joint_equation rows[6];
        int count = ss_joint_residual(two.world, two.joint, rows);
        ss_vec3 arm = ss_vec3_subtract(ss_vec3_load(ss_world_body(two.world, two.b)->position),
                                       ss_vec3_load(ss_world_body(two.world, two.a)->position));
        for (int i = 0; i < count; i++) {
            const double *j = rows[i].jacobian;
            ss_vec3 force = ss_vec3_add(ss_vec3_load(j), ss_vec3_load(j + 6));
            ss_vec3 torque = ss_vec3_add(ss_vec3_load(j + 3), ss_vec3_load(j + 9));
            torque = ss_vec3_add(torque, ss_vec3_cross(arm, ss_vec3_load(j + 6)));
            ENSURE_NEAR(ss_vec3_norm(force), 0.0, 1e-15);
            ENSURE_NEAR(ss_vec3_norm(torque), 0.0, 1e-14);
        }
        ss_world_destroy(two.world);
    }
}

/* ---- errors are true angles and lengths -------------------------------------------------------------- */

static double largest_error(const couple *two)
{
    return ss_joint_error(two->world, two->joint);
}

TEST(a_fixed_joint_that_is_twisted_by_three_radians_says_so)
{
    static const ss_joint_kind kinds[] = {SS_JOINT_FIXED, SS_JOINT_PRISMATIC};
    for (int k = 0; k < 2; k++)
        for (double angle = -3.1; angle < 3.2; angle += 0.2) {
            ss_joint joint = any_joint(kinds[k]);
            couple two = make_couple(joint, true);
            ss_vec3 x = ss_quat_rotate(ss_quat_load(ss_world_joint(two.world, two.joint)->local_frame[0]),
                                       (ss_vec3){1.0, 0.0, 0.0});
            turn_about(ss_world_body(two.world, two.b), ss_vec3_scale(angle, x), ss_vec3_load(joint.anchor));
            ss_joint_equation rows[6];
            int first = ss_joint_residual(two.world, two.joint, rows) - 3;
            ENSURE_NEAR(rows[first].violation, angle, 1e-14);
            ENSURE_NEAR(rows[first + 1].violation, 0.0, 1e-14);
            ENSURE_NEAR(rows[first + 2].violation, 0.0, 1e-14);
            ss_world_destroy(two.world);
        }
}

TEST(a_hinge_that_is_bent_by_three_radians_says_so)
{
    for (double angle = 0.1; angle < 3.1; angle += 0.3) {
        ss_joint joint = any_joint(SS_JOINT_REVOLUTE);
        couple two = make_couple(joint, true);
        ss_vec3 across = ss_vec3_normalise(ss_vec3_cross(ss_vec3_load(joint.axis), (ss_vec3){1, 0, 0}), NULL);
        turn_about(ss_world_body(two.world, two.b), ss_vec3_scale(angle, across), ss_vec3_load(joint.anchor));
        ss_joint_equation rows[6];
        ss_joint_residual(two.world, two.joint, rows);
        ENSURE_NEAR(hypot(rows[3].violation, rows[4].violation), angle, 1e-14);
        ss_world_destroy(two.world);
    }
}

/* ---- coordinates ------------------------------------------------------------------------------------- */

TEST(a_hinge_shows_the_angle_it_was_turned_by)
{
    static const ss_joint_kind kinds[] = {SS_JOINT_REVOLUTE, SS_JOINT_CYLINDRICAL};
    for (int k = 0; k < 2; k++)
        for (double angle = -3.1; angle < 3.2; angle += 0.2) {
            couple two = make_couple(any_joint(kinds[k]), true);
            spin_b(&two, ss_vec3_scale(angle, unit_axis(&two)));
            double position;
            ENSURE(ss_joint_coordinate(two.world, two.joint, 0, &position, NULL));
            ENSURE_NEAR(position, angle, 1e-14);
            ENSURE_NEAR(largest_error(&two), 0.0, 1e-14); // its free motion is no violation
            ss_world_destroy(two.world);
        }
}

TEST(slides_and_lengths_are_what_they_are)
{
    double position;
    couple slider = make_couple(any_joint(SS_JOINT_CYLINDRICAL), true);
    ss_body *body = ss_world_body(slider.world, slider.b);
    ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(body->position), -0.7, unit_axis(&slider)), body->position);
    ENSURE(ss_joint_coordinate(slider.world, slider.joint, 1, &position, NULL));
    ENSURE_NEAR(position, -0.7, 1e-15);
    ENSURE_NEAR(largest_error(&slider), 0.0, 1e-15);
    ss_world_destroy(slider.world);

    couple rope = make_couple(any_joint(SS_JOINT_DISTANCE), true);
    ENSURE(ss_joint_coordinate(rope.world, rope.joint, 0, &position, NULL));
    ENSURE_NEAR(position, sqrt(0.25 + 0.49 + 0.16), 1e-15);
    ENSURE(!ss_joint_coordinate(rope.world, rope.joint, 1, &position, NULL));
    ENSURE(!ss_joint_coordinate(rope.world, rope.joint, -1, &position, NULL));
    ENSURE(!ss_joint_coordinate(rope.world, 99, 0, &position, NULL));
    ss_world_destroy(rope.world);
}

TEST(a_universal_joint_turns_about_both_its_axes)
{
    ss_joint joint = {.kind = SS_JOINT_UNIVERSAL, .axis = {0, 0, 1}, .axis2 = {1, 0, 0}};
    couple two = make_couple(joint, true);
    // b first about its own axis2, then about the axis of a, which takes axis2 along
    spin_b(&two, (ss_vec3){-1.2, 0.0, 0.0});
    spin_b(&two, (ss_vec3){0.0, 0.0, 2.3});
    double first, second;
    ss_joint_coordinate(two.world, two.joint, 0, &first, NULL);
    ss_joint_coordinate(two.world, two.joint, 1, &second, NULL);
    ENSURE_NEAR(first, 2.3, 1e-14);
    ENSURE_NEAR(second, -1.2, 1e-14);
    ENSURE_NEAR(largest_error(&two), 0.0, 1e-14);
    ss_world_destroy(two.world);
}

/* d position / dt against the speed that is told, at poses far from holding */
TEST(speeds_are_the_rates_of_the_coordinates)
{
    ss_random random = ss_random_start(11, 0);
    const double step = 1e-6;
    for (int kind = 0; kind < PAIR_KINDS; kind++)
        for (int sample = 0; sample < 20; sample++) {
            couple two = make_couple(any_joint(kind), sample % 2);
            scramble(&two, &random, 1.0);
            double before, after, speed;
            for (int i = 0; ss_joint_coordinate(two.world, two.joint, i, &before, &speed); i++) {
                for (int half = 0; half < 2; half++) {
                    double h = half ? 2.0 * step : -step; // there, and back past the start
                    for (int b = 0; b < ss_world_body_count(two.world); b++) {
                        ss_body *body = ss_world_body(two.world, b);
                        for (int k = 0; k < 3; k++) body->position[k] += h * body->velocity[k];
                        turn_body(body, ss_vec3_scale(h, ss_vec3_load(body->velocity + 3)));
                    }
                    ss_joint_coordinate(two.world, two.joint, i, half ? &after : &before, NULL);
                }
                // rounding 1e-16 over 2e-6, and the motion of one microstep
                ENSURE_NEAR(remainder(after - before, 2.0 * pi) / (2.0 * step), speed, 1e-4);
            }
            ss_world_destroy(two.world);
        }
}

TEST(turns_are_counted)
{
    couple two = make_couple(any_joint(SS_JOINT_REVOLUTE), true);
    for (int i = 0; i < 100; i++) {
        spin_b(&two, ss_vec3_scale(-0.5, unit_axis(&two)));
        ss_joint_follow(two.world, two.joint);
    }
    double position;
    ss_joint_coordinate(two.world, two.joint, 0, &position, NULL);
    ENSURE_NEAR(ss_world_joint(two.world, two.joint)->turned[0], -50.0, 1e-12); // 100 roundings
    ENSURE_NEAR(position, remainder(-50.0, 2.0 * pi), 1e-12);
    ss_world_destroy(two.world);
}

TEST(screws_and_gears_go_on_past_half_a_turn)
{
    couple screw = make_couple(any_joint(SS_JOINT_SCREW), true);
    ss_body *nut = ss_world_body(screw.world, screw.b);
    for (int i = 0; i < 60; i++) {
        spin_b(&screw, ss_vec3_scale(0.4, unit_axis(&screw)));
        ss_vec3 x = ss_vec3_add_scaled(ss_vec3_load(nut->position), 0.4 * 0.07, unit_axis(&screw));
        ss_vec3_store(x, nut->position);
        ENSURE_NEAR(largest_error(&screw), 0.0, 1e-13);
        ss_joint_follow(screw.world, screw.joint);
    }
    ss_world_destroy(screw.world);

    couple gear = make_couple(any_joint(SS_JOINT_GEAR), false);
    const ss_joint *made = ss_world_joint(gear.world, gear.joint);
    for (int i = 0; i < 60; i++) {
        turn_body(ss_world_body(gear.world, gear.a), ss_vec3_scale(0.4, ss_vec3_load(made->axis)));
        turn_body(ss_world_body(gear.world, gear.b), ss_vec3_scale(0.4 * 2.5, ss_vec3_load(made->axis2)));
        ENSURE_NEAR(largest_error(&gear), 0.0, 1e-12);
        ss_joint_follow(gear.world, gear.joint);
    }
    ss_world_destroy(gear.world);
}

/* ---- bodies that do not move ------------------------------------------------------------------------- */

TEST(the_world_may_be_on_either_side)
{
    for (int side = 0; side < 2; side++) {
        ss_world *world = ss_world_create(NULL);
        int brick = add_brick(world, 0.3, 0.0, 0.0);
        ss_joint joint = {.kind = SS_JOINT_REVOLUTE, .axis = {0, 0, 1}};
        joint.a = side ? brick : SS_WORLD;
        joint.b = side ? SS_WORLD : brick;
        int made = ss_world_add_joint(world, &joint, NULL);
        ss_world_finish(world, NULL);
        turn_about(ss_world_body(world, brick), (ss_vec3){0.0, 0.0, 0.6}, (ss_vec3){0.0, 0.0, 0.0});
        ss_world_body(world, brick)->velocity[5] = 2.0;
        double position, speed;
        ss_joint_coordinate(world, made, 0, &position, &speed);
        ENSURE_NEAR(position, side ? -0.6 : 0.6, 1e-15);
        ENSURE_NEAR(speed, side ? -2.0 : 2.0, 1e-15);
        ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
        ENSURE_INT(ss_joint_equations(world, made, 0.01, rows), 5);
        for (int i = 0; i < 5; i++)
            for (int k = 0; k < 6; k++) ENSURE(rows[i].jacobian[(side ? 6 : 0) + k] == 0.0);
        ss_world_destroy(world);
    }
}

TEST(a_kinematic_side_keeps_its_jacobian_and_counts_in_the_speed_error)
{
    ss_world *world = ss_world_create(NULL);
    int lift = ss_world_add_body(world, &(ss_body){.kind = SS_KINEMATIC, .velocity = {0, 0, 3}}, NULL);
    int brick = add_brick(world, 0.3, 0.0, 0.0);
    ss_joint joint = {.kind = SS_JOINT_BALL, .a = lift, .b = brick};
    int made = ss_world_add_joint(world, &joint, NULL);
    ss_world_finish(world, NULL);
    ENSURE_NEAR(ss_joint_speed_error(world, made), 3.0, 1e-15);
    ss_world_body(world, brick)->velocity[2] = 3.0;
    ENSURE_NEAR(ss_joint_speed_error(world, made), 0.0, 1e-15);
    ss_world_body(world, brick)->disabled = true;
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    ENSURE_INT(ss_joint_equations(world, made, 0.01, rows), 0);
    ss_world_destroy(world);
}

TEST_MAIN
