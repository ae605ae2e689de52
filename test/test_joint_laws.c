/* Limits, motors, springs, friction: the rows they become, against the forces they stand for. */
#include "kit.h"

#include "joint_couple.h"

static ss_joint slider(ss_axis_law law)
{
    return (ss_joint){.kind = SS_JOINT_PRISMATIC, .axis = {1, 0, 0}, .law = {law}};
}

static int law_rows(const couple *two, double h, ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST])
{
    ss_joint_equation own[6];
    int first = ss_joint_residual(two->world, two->joint, own);
    int count = ss_joint_equations(two->world, two->joint, h, rows);
    for (int i = 0; i < count; i++) rows[i] = first + i < count ? rows[first + i] : rows[i];
    return count - first;
}

TEST(a_limit_has_a_row_only_when_it_is_near)
{
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    couple two = make_couple(slider((ss_axis_law){.limited = true, .lower = -1.0, .upper = 1.0}), true);
    ss_body *body = ss_world_body(two.world, two.b);
    ENSURE_INT(law_rows(&two, 0.01, rows), 0);
    body->position[0] += 0.99;
    ENSURE_INT(law_rows(&two, 0.01, rows), 1);
    ENSURE_NEAR(rows[0].violation, 0.01, 1e-15);
    ENSURE(rows[0].bounds[0] == 0.0 && rows[0].bounds[1] == INFINITY && rows[0].holonomic);
    ENSURE(!rows[0].equality && rows[0].block == 1);
    ENSURE_NEAR(rows[0].jacobian[6], -1.0, 1e-15); // pushes b back
    body->position[0] -= 1.99;
    ENSURE_INT(law_rows(&two, 0.01, rows), 1);
    ENSURE_NEAR(rows[0].violation, 0.0, 1e-15);
    ENSURE_NEAR(rows[0].jacobian[6], 1.0, 1e-15);
    body->position[0] += 0.5;
    body->velocity[0] = -60.0; // gone within one step
    ENSURE_INT(law_rows(&two, 0.01, rows), 1);
    ss_world_destroy(two.world);
}

TEST(narrow_limits_have_two_rows_and_closed_ones_lock)
{
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    ss_joint joint = {.kind = SS_JOINT_REVOLUTE, .law = {{.limited = true, .lower = -0.05, .upper = 0.05}}};
    couple narrow = make_couple(joint, true);
    ENSURE_INT(law_rows(&narrow, 0.01, rows), 2);
    ENSURE(rows[0].block == 1 && rows[1].block == 2);
    ss_world_destroy(narrow.world);
    joint.law[0] = (ss_axis_law){.limited = true, .lower = 0.2, .upper = 0.2};
    couple locked = make_couple(joint, true);
    ENSURE_INT(law_rows(&locked, 0.01, rows), 1);
    ENSURE_NEAR(rows[0].violation, -0.2, 1e-15);
    ENSURE(rows[0].bounds[0] == -INFINITY && rows[0].bounds[1] == INFINITY);
    ss_world_destroy(locked.world);
}

TEST(limits_beyond_half_a_turn_are_found)
{
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    ss_joint joint = {.kind = SS_JOINT_REVOLUTE, .law = {{.limited = true, .lower = 0.0, .upper = 9.0}}};
    couple two = make_couple(joint, true);
    for (int i = 0; i < 18; i++) {
        spin_b(&two, ss_vec3_scale(0.5, unit_axis(&two)));
        ss_joint_follow(two.world, two.joint);
    }
    ENSURE_INT(law_rows(&two, 0.01, rows), 1);
    ENSURE_NEAR(rows[0].violation, 0.0, 1e-13);
    ss_world_destroy(two.world);
}

/* The velocity v+ of mass m under one row: (m_inv + C) x + v + c = 0, v+ = v + x / m. */
static double speed_after(const ss_joint_equation *row, double mass, double v, double force, double h)
{
    double free = v + h * force / mass,
           x = -(free + row->time_derivative) / (1.0 / mass + row->regularization);
    x = fmin(fmax(x, h * row->bounds[0]), h * row->bounds[1]);
    return free + x / mass;
}

TEST(springs_are_implicit)
{
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    const double k = 800.0, d = 30.0, h = 0.02, m = 2.0;
    couple two = make_couple(slider((ss_axis_law){.stiffness = k, .damping = d, .rest = 0.1}), true);
    ss_world_body(two.world, two.b)->position[0] += 0.4;
    ENSURE_INT(law_rows(&two, h, rows), 1);
    ENSURE(!rows[0].holonomic && rows[0].violation == 0.0);
    // implicit Euler: m (v+ - v) = -h (k (x + h v+ - rest) + d v+)
    double v = 0.7, expected = (m * v - h * k * 0.3) / (m + h * d + h * h * k);
    ENSURE_NEAR(speed_after(&rows[0], m, v, 0.0, h), expected, 1e-14);
    ss_world_destroy(two.world);
}

TEST(a_rigid_joint_with_compliance_is_a_spring_in_all_its_rows)
{
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    const double k = 5000.0, h = 0.01, m = 2.0;
    couple two = make_couple((ss_joint){.kind = SS_JOINT_BALL, .compliance = 1.0 / k}, true);
    ss_world_body(two.world, two.b)->position[0] += 0.02;
    ENSURE_INT(ss_joint_equations(two.world, two.joint, h, rows), 3);
    double expected = -h * k * 0.02 / (m + h * h * k);
    ENSURE(!rows[0].holonomic && !rows[0].equality);
    ENSURE_NEAR(fabs(speed_after(&rows[0], m, 0.0, 0.0, h)) + fabs(speed_after(&rows[1], m, 0.0, 0.0, h)) +
                    fabs(speed_after(&rows[2], m, 0.0, 0.0, h)),
                -expected, 1e-14);
    ss_world_destroy(two.world);
}

TEST(a_rotor_resists_changes_of_speed_and_a_motor_works_beside_a_spring)
{
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    const double h = 0.01, m = 2.0, rotor = 0.5, v = 0.7, force = 3.0;
    couple two = make_couple(slider((ss_axis_law){.armature = rotor}), true);
    ss_world_body(two.world, two.b)->velocity[0] = v;
    double speed = v;
    ss_joint_coordinate(two.world, two.joint, 0, NULL, &speed);
    ENSURE_INT(law_rows(&two, h, rows), 1);
    ENSURE(!rows[0].holonomic && rows[0].bounds[1] == INFINITY);
    // (m + rotor) (v+ - v) = h force
    ENSURE_NEAR(speed_after(&rows[0], m, speed, force, h), speed + h * force / (m + rotor), 1e-15);

    // the spring keeps its own stiffness, the motor has another and a bound
    ss_axis_law *law = &ss_world_joint(two.world, two.joint)->law[0];
    *law = (ss_axis_law){.motor = SS_MOTOR_POSITION,
                         .target = 0.2,
                         .max_force = 4.0,
                         .stiffness = 50.0,
                         .motor_stiffness = 800.0};
    ENSURE_INT(law_rows(&two, h, rows), 2);
    ENSURE_NEAR(rows[0].regularization, 1.0 / (h * h * 50.0), 1e-9);
    ENSURE(rows[0].bounds[1] == INFINITY);
    ENSURE_NEAR(rows[1].regularization, 1.0 / (h * h * 800.0), 1e-10);
    ENSURE_NEAR(rows[1].bounds[1], 4.0, 0.0);
    ss_world_destroy(two.world);
}

TEST(motors_reach_what_they_are_told_within_their_force)
{
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    const double h = 0.01, m = 2.0;
    ss_axis_law law = {.motor = SS_MOTOR_VELOCITY, .target_speed = 1.5};
    couple two = make_couple(slider(law), true);
    ss_axis_law *own = &ss_world_joint(two.world, two.joint)->law[0];
    ss_world_body(two.world, two.b)->position[0] += 0.25;
    ENSURE_INT(law_rows(&two, h, rows), 1);
    ENSURE_NEAR(speed_after(&rows[0], m, 0.0, -9.0, h), 1.5, 1e-15);
    own->max_force = 3.0;
    ENSURE_INT(law_rows(&two, h, rows), 1);
    ENSURE_NEAR(speed_after(&rows[0], m, 0.0, 0.0, h), h * 3.0 / m, 1e-15);

    *own = (ss_axis_law){.motor = SS_MOTOR_DRIVE, .target = 0.26, .target_speed = 0.5};
    ENSURE_INT(law_rows(&two, h, rows), 1);
    double v = speed_after(&rows[0], m, 7.0, 100.0, h);
    ENSURE_NEAR(0.25 + h * v, 0.26 + h * 0.5, 1e-15); // where the drive is at the end of the step

    *own = (ss_axis_law){.motor = SS_MOTOR_POSITION, .target = 0.45, .stiffness = 100.0, .damping = 5.0};
    ENSURE_INT(law_rows(&two, h, rows), 1); // the gains are the motor's, not a spring's
    double expected = h * 100.0 * 0.2 / (m + h * 5.0 + h * h * 100.0);
    ENSURE_NEAR(speed_after(&rows[0], m, 0.0, 0.0, h), expected, 1e-15);
    own->max_force = 4.0;
    law_rows(&two, h, rows);
    ENSURE_NEAR(speed_after(&rows[0], m, 0.0, 0.0, h), h * 4.0 / m, 1e-15);
    ss_world_destroy(two.world);
}

TEST(dry_friction_holds_up_to_its_force)
{
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    couple two = make_couple(slider((ss_axis_law){.friction = 6.0}), true);
    ENSURE_INT(law_rows(&two, 0.01, rows), 1);
    ENSURE_NEAR(speed_after(&rows[0], 2.0, 0.0, 5.9, 0.01), 0.0, 1e-16);
    ENSURE_NEAR(speed_after(&rows[0], 2.0, 0.0, 8.0, 0.01), 0.01 * 2.0 / 2.0, 1e-16);
    ss_world_destroy(two.world);
}

TEST(load_dependent_friction_goes_by_the_whole_force_of_the_bearing)
{
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    ss_joint joint = {.kind = SS_JOINT_REVOLUTE, .axis = {0, 1, 0}, .law = {{.load_friction = 0.02}}};
    couple two = make_couple(joint, true);
    ENSURE_INT(ss_joint_equations(two.world, two.joint, 0.01, rows), 6);
    ENSURE(rows[5].load == 0 && rows[5].friction == 0.02);
    // A force of (3, 2, -6) N s on b in the world, as the rows of this step see it.
    const double force[3] = {3.0, 2.0, -6.0};
    double impulse[5] = {0};
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) impulse[i] += rows[i].jacobian[6 + k] * force[k];
    ss_joint_note_load(two.world, two.joint, impulse);
    ss_joint_equations(two.world, two.joint, 0.01, rows);
    double load = 0.0;
    for (int k = 0; k < 3; k++) load += rows[0].jacobian[6 + k] * force[k];
    ENSURE_NEAR(fabs(load), 7.0, 1e-14); // sqrt(9 + 4 + 36): the row of the load carries all of it
    ss_world_destroy(two.world);
}

TEST(a_joint_with_everything_on_fits)
{
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    ss_axis_law law = {.limited = true, .lower = -0.001, .upper = 0.001, .motor = SS_MOTOR_VELOCITY};
    law.stiffness = law.friction = law.load_friction = law.armature = 1.0;
    ss_joint joint = {.kind = SS_JOINT_CYLINDRICAL, .law = {law, law}};
    couple two = make_couple(joint, false);
    ENSURE_INT(ss_joint_equations(two.world, two.joint, 0.01, rows), SS_JOINT_EQUATIONS_MOST);
    for (int i = 4; i < SS_JOINT_EQUATIONS_MOST; i++) ENSURE_INT(rows[i].block, i - 3);
    ss_world_destroy(two.world);
}

TEST(a_rope_pulls_and_does_not_push)
{
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    ss_joint joint = {.kind = SS_JOINT_DISTANCE, .anchor_b = {1, 0, 0}};
    joint.law[0] = (ss_axis_law){.limited = true, .lower = 0.0, .upper = 1.0};
    couple two = make_couple(joint, true);
    ENSURE_INT(ss_joint_equations(two.world, two.joint, 0.01, rows), 1);
    ENSURE(rows[0].bounds[0] == 0.0 && rows[0].block == 0);
    ENSURE_NEAR(rows[0].jacobian[6], -1.0, 1e-15);
    ss_world_body(two.world, two.b)->position[0] -= 0.5; // slack
    ENSURE_INT(ss_joint_equations(two.world, two.joint, 0.01, rows), 0);
    ENSURE(ss_joint_error(two.world, two.joint) == 0.0);
    ss_world_destroy(two.world);
}

TEST(a_distance_spring_rests_at_its_first_length)
{
    ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST];
    ss_joint joint = {.kind = SS_JOINT_DISTANCE, .anchor_b = {1, 0, 0}, .law = {{.stiffness = 10.0}}};
    couple two = make_couple(joint, true);
    ENSURE_INT(ss_joint_equations(two.world, two.joint, 0.01, rows), 1);
    ENSURE_NEAR(rows[0].time_derivative, 0.0, 1e-15);
    ss_world_destroy(two.world);
}

TEST(the_users_force_acts_on_both_bodies)
{
    ss_joint joint = {.kind = SS_JOINT_REVOLUTE, .axis = {0, 1, 0}, .law = {{.force = 4.0}}};
    couple two = make_couple(joint, false);
    double wrench[SS_JOINT_BODIES][6] = {{0}}, *a = wrench[0], *b = wrench[1];
    ss_joint_user_force(two.world, two.joint, wrench);
    ENSURE_NEAR(b[4], 4.0, 1e-15);
    ENSURE_NEAR(a[4], -4.0, 1e-15);
    ENSURE_NEAR(fabs(a[0]) + fabs(b[0]) + fabs(a[2]) + fabs(b[2]), 0.0, 1e-15);
    ss_world_destroy(two.world);
}

TEST_MAIN
