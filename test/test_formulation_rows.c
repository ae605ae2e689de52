/* Gaps and joints of one body or two: the constant part of every row, its bounds and its compliance. */
#include "kit.h"

#include "mechanics.h"

/* Answers come from solvers that stop at residuals of 1e-12. */
#define SOLVED 1e-10

/* ---- gaps ------------------------------------------------------------------------------------------- */

TEST(a_gap_may_be_closed_but_not_crossed)
{
    ss_frame *frame = block_on_ground(0.0, 0.5);
    frame->bodies.velocity[0][2] = -1.0;
    frame->contacts.gap[0] = 0.004;
    ENSURE(step_by("stewart-trinkle", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][2], -0.4, SOLVED);
    ss_frame_destroy(frame);
}

TEST(anitescu_and_potra_stop_in_the_air_within_their_margin)
{
    ss_frame *frame = block_on_ground(0.0, 0.5);
    double free_fall = -1.0 - 0.01 * GRAVITY;
    frame->contacts.gap[0] = 0.9e-4;
    frame->bodies.velocity[0][2] = -1.0;
    ENSURE(step_by("anitescu-potra", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][2], 0.0, SOLVED);
    frame->contacts.gap[0] = 1.1e-4;
    frame->bodies.velocity[0][2] = -1.0;
    ENSURE(step_by("anitescu-potra", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][2], free_fall, SOLVED);
    frame->bodies.velocity[0][2] = -1.0;
    ENSURE(step_by("anitescu-potra contact_margin=0.01", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][2], 0.0, SOLVED);
    ss_frame_destroy(frame);
}

TEST(touching_contacts_are_the_same_to_both_time_steppers)
{
    ss_frame *frame = block_on_ground(0.6, 0.3);
    set_vector(frame->bodies.velocity[0], 0.3, -0.2, -0.1);
    ss_answer *st = answer_of("stewart-trinkle", frame), *ap = answer_of("anitescu-potra", frame);
    ENSURE(st && ap);
    for (int k = 0; k < 6; k++) ENSURE_NEAR(ap->velocity[0][k], st->velocity[0][k], SOLVED);
    ss_answer_destroy(st);
    ss_answer_destroy(ap);
    ss_frame_destroy(frame);
}

TEST(an_overlap_is_removed_at_once_in_part_or_not)
{
    ss_frame *frame = block_on_ground(0.0, 0.5);
    frame->contacts.gap[0] = -0.002;
    ENSURE(step_by("cone", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][2], 0.2, SOLVED);
    frame->bodies.velocity[0][2] = 0.0;
    ENSURE(step_by("cone gap_term=stabilised gamma=0.25", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][2], 0.05, SOLVED);
    frame->bodies.velocity[0][2] = 0.0;
    ENSURE(step_by("cone gap_term=zero", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][2], 0.0, SOLVED);
    frame->contacts.gap[0] = 0.002; // an open gap counts in full
    frame->bodies.velocity[0][2] = -3.0;
    ENSURE(step_by("cone gap_term=stabilised gamma=0.25", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][2], -0.2, SOLVED);
    ss_frame_destroy(frame);
}

TEST(a_ball_bounces_with_its_coefficient_of_restitution)
{
    ss_frame *frame = ball_on_ground(0.0);
    ENSURE(ss_frame_enable(frame, "contacts/restitution", NULL));
    frame->contacts.restitution[0] = 0.8;
    static const double gaps[] = {-0.001, 0.0, 0.019}; // overlapping, touching, reached within the step
    for (int k = 0; k < 3; k++) {
        frame->contacts.gap[0] = gaps[k];
        frame->bodies.velocity[0][2] = -2.0;
        ENSURE(step_by("cone gap_term=restitution", frame));
        ENSURE_NEAR(frame->bodies.velocity[0][2], 1.6, SOLVED);
    }
    frame->contacts.gap[0] = 0.03; // not reached: falls on
    frame->bodies.velocity[0][2] = -2.0;
    ENSURE(step_by("cone gap_term=restitution", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][2], -2.0 - 0.01 * GRAVITY, SOLVED);
    frame->contacts.gap[0] = 0.0; // too slow to bounce
    frame->bodies.velocity[0][2] = -0.04;
    ENSURE(step_by("cone gap_term=restitution restitution_speed=0.05", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][2], 0.0, SOLVED);
    ss_frame_destroy(frame);
}

/* Paoli and Schatzman: after the step in which the contact becomes active the gap is -e times that of the
 * step before, after the next one the speed is -e times that of the approach, wherever within the step the
 * impact was. The free steps around it change nothing. */
TEST(paoli_and_schatzman_bounce_over_two_steps_at_any_phase)
{
    static const double coefficients[] = {0.2, 0.5, 1.0};
    double h = 0.01, speed = 2.0;
    for (int i = 0; i < 3; i++)
        for (int phase = 0; phase < 10; phase++) {
            double e = coefficients[i], before;
            ss_frame *frame = ball_on_ground(0.0);
            ENSURE(ss_frame_enable(frame, "contacts/restitution", NULL));
            frame->contacts.restitution[0] = e;
            frame->bodies.force[0][2] = 0.0; // no gravity
            frame->bodies.velocity[0][2] = -speed;
            frame->contacts.gap[0] = 0.05 + 0.1 * phase * h * speed;
            do {
                before = frame->contacts.gap[0];
                ENSURE(step_by("cone gap_term=paoli-schatzman", frame));
                frame->contacts.gap[0] += h * frame->bodies.velocity[0][2];
            } while (fabs(frame->bodies.velocity[0][2] + speed) < SOLVED);
            double gap = frame->contacts.gap[0], earlier = before + h * speed;
            ENSURE_NEAR(gap, -e * earlier, SOLVED);
            ENSURE(gap >= -e * 2.0 * h * speed / (1.0 + e) - SOLVED); // active from (1-e)/(1+e) h u on
            ENSURE(step_by("cone gap_term=paoli-schatzman", frame));
            ENSURE_NEAR(frame->bodies.velocity[0][2], e * speed, SOLVED);
            frame->contacts.gap[0] += h * frame->bodies.velocity[0][2];
            ENSURE(step_by("cone gap_term=paoli-schatzman", frame));
            ENSURE_NEAR(frame->bodies.velocity[0][2], e * speed, SOLVED);
            ss_frame_destroy(frame);
        }
}

TEST(paoli_and_schatzman_without_bounce_is_the_preventive_step)
{
    static const double gaps[] = {-0.002, 0.0, 0.004, 0.5};
    ss_frame *frame = block_on_ground(0.3, 0.4);
    ENSURE(ss_frame_enable(frame, "contacts/restitution", NULL));
    for (int k = 0; k < 4; k++) {
        set_vector(frame->bodies.velocity[0], 0.5, 0.1, -1.0);
        frame->contacts.gap[0] = gaps[k];
        ss_answer *plain = answer_of("cone", frame);
        ss_answer *bounceless = answer_of("cone gap_term=paoli-schatzman", frame);
        ENSURE(plain && bounceless);
        for (int i = 0; i < 6; i++) ENSURE(plain->velocity[0][i] == bounceless->velocity[0][i]);
        ss_answer_destroy(plain);
        ss_answer_destroy(bounceless);
    }
    ss_frame_destroy(frame);
}

/* Newton: relative speed reversed times e, momentum kept. */
TEST(two_balls_collide_as_newton_says)
{
    ss_frame *frame = ss_frame_create(2, 0, 0, 1, NULL);
    ENSURE(ss_frame_enable(frame, "contacts/restitution", NULL));
    frame->h = 0.01;
    set_ball(frame, 0, 1.0, 1.0);
    set_ball(frame, 1, 3.0, 1.0);
    frame->bodies.velocity[0][0] = 4.0;
    frame->contacts.pair[0][0] = 0, frame->contacts.pair[0][1] = 1;
    set_vector(frame->contacts.normal[0], 1.0, 0.0, 0.0);
    frame->contacts.restitution[0] = 0.5;
    ENSURE(step_by("frictionless gap_term=restitution", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][0], -0.5, SOLVED);
    ENSURE_NEAR(frame->bodies.velocity[1][0], 1.5, SOLVED);

    // The same speeds by the law of gaps, two steps later.
    frame->bodies.velocity[0][0] = 4.0;
    frame->bodies.velocity[1][0] = 0.0;
    for (int k = 0; k < 2; k++) {
        ENSURE(step_by("frictionless gap_term=paoli-schatzman", frame));
        double opening = frame->bodies.velocity[1][0] - frame->bodies.velocity[0][0];
        frame->contacts.gap[0] += frame->h * opening;
    }
    ENSURE_NEAR(frame->bodies.velocity[0][0], -0.5, SOLVED);
    ENSURE_NEAR(frame->bodies.velocity[1][0], 1.5, SOLVED);
    ss_frame_destroy(frame);
}

/* C = 1/(k h^2) makes the contact a spring, implicit in time: k (gap + h u) carries the rest
 * of the weight. */
TEST(a_compliant_contact_is_an_implicit_spring)
{
    ss_frame *frame = block_on_ground(0.0, 0.5);
    double k = 5e4, h = 0.01, weight = 2.0 * GRAVITY;
    ENSURE(ss_frame_enable(frame, "contacts/compliance", NULL));
    frame->contacts.compliance[0] = 1.0 / (k * h * h);
    frame->contacts.gap[0] = -weight / k; // the depth at rest
    ss_answer *answer = answer_of("cone", frame);
    ENSURE(answer != NULL);
    ENSURE_NEAR(answer->velocity[0][2], 0.0, SOLVED);
    ENSURE_NEAR(answer->normal_impulse[0], h * weight, SOLVED);
    ss_answer_destroy(answer);
    frame->contacts.gap[0] = 0.0;
    answer = answer_of("box", frame);
    ENSURE_NEAR(answer->normal_impulse[0], -k * h * h * answer->velocity[0][2], SOLVED);
    ENSURE(answer->velocity[0][2] < -1e-3);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

/* ---- joints ----------------------------------------------------------------------------------------- */

TEST(a_motor_reaches_its_speed_or_its_torque)
{
    ss_frame *frame = body_on_joint(1);
    frame->constraints.jacobian[0][11] = 1.0; // about z
    frame->constraints.time_derivative[0] = -3.0;
    frame->constraints.bounds[0][0] = -200.0, frame->constraints.bounds[0][1] = 200.0;
    ss_answer *answer = answer_of("cone", frame);
    ENSURE(answer != NULL);
    ENSURE_NEAR(answer->velocity[0][5], 3.0, SOLVED);
    ENSURE_NEAR(answer->row_impulse[0], 0.5 * 3.0, SOLVED);
    ss_answer_destroy(answer);
    frame->constraints.bounds[0][0] = -10.0, frame->constraints.bounds[0][1] = 10.0;
    answer = answer_of("cone", frame);
    ENSURE_NEAR(answer->row_impulse[0], 0.01 * 10.0, SOLVED);
    ENSURE_NEAR(answer->velocity[0][5], 0.1 / 0.5, SOLVED);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

TEST(only_holonomic_joints_correct_positions)
{
    ss_frame *frame = body_on_joint(1);
    frame->constraints.jacobian[0][6] = 1.0;
    frame->constraints.violation[0] = 0.002;
    ENSURE(step_by("cone joint_gamma=0.5", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][0], -0.1, SOLVED);
    ENSURE(ss_frame_enable(frame, "constraints/holonomic", NULL));
    frame->constraints.holonomic[0] = 0;
    ENSURE(step_by("cone joint_gamma=0.5", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][0], 0.0, SOLVED);
    ss_frame_destroy(frame);
}

/* SPOOK: an error fades away without overshooting, as a critically damped one would: g+ = g + h u+ with
 * u+ = Y (u - 4 g/h), Y = 1/(1 + 4 n). */
TEST(spook_damps_joint_errors_over_its_relaxation_time)
{
    ss_frame *frame = body_on_joint(1);
    frame->constraints.jacobian[0][6] = 1.0;
    double g = 0.01, u = 0.0;
    for (int step = 0; step < 60; step++) {
        frame->constraints.violation[0] = g;
        double expected = (u - 4.0 * g / frame->h) / (1.0 + 4.0 * 2.0);
        ENSURE(step_by("cone joint_term=spook joint_relaxation=2", frame));
        u = frame->bodies.velocity[0][0];
        ENSURE_NEAR(u, expected, SOLVED);
        g += frame->h * u;
    }
    ENSURE_NEAR(g, 0.0, 1e-9); // 60 steps at a rate below 0.73 a step leave less than 1e-10
    ss_frame_destroy(frame);
}

TEST(joints_at_velocity_level_do_not_correct_positions)
{
    ss_frame *frame = body_on_joint(1);
    frame->constraints.jacobian[0][6] = 1.0;
    frame->constraints.violation[0] = 0.002;
    ENSURE(step_by("cone joint_term=zero", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][0], 0.0, SOLVED);
    ss_frame_destroy(frame);
}

/* A limit on either side of g = 0: open it may be reached, violated it is corrected by a share. */
TEST(limits_stop_on_the_right_side)
{
    for (int sign = -1; sign <= 1; sign += 2) {
        ss_frame *frame = body_on_joint(1);
        frame->constraints.jacobian[0][6] = 1.0;
        frame->constraints.bounds[0][0] = sign > 0 ? 0.0 : -INFINITY;
        frame->constraints.bounds[0][1] = sign > 0 ? INFINITY : 0.0;
        frame->constraints.violation[0] = sign * 0.004;
        frame->bodies.velocity[0][0] = -sign * 2.0;
        ENSURE(step_by("cone joint_gamma=0.25", frame));
        ENSURE_NEAR(frame->bodies.velocity[0][0], -sign * 0.4, SOLVED);
        frame->constraints.violation[0] = -sign * 0.004;
        ENSURE(step_by("cone joint_gamma=0.25", frame));
        ENSURE_NEAR(frame->bodies.velocity[0][0], sign * 0.1, SOLVED);
        frame->bodies.velocity[0][0] = sign * 2.0; // moving away
        ENSURE(step_by("cone joint_gamma=0.25", frame));
        ENSURE_NEAR(frame->bodies.velocity[0][0], sign * 2.0, SOLVED);
        ss_frame_destroy(frame);
    }
}

TEST(redundant_joints_share_the_load)
{
    ss_frame *frame = body_on_joint(2);
    for (int i = 0; i < 2; i++) frame->constraints.jacobian[i][8] = 1.0;
    set_vector(frame->bodies.force[0], 5.0, 0.0, -2.0 * GRAVITY);
    ss_answer *answer = answer_of("cone", frame);
    ENSURE(answer != NULL);
    ENSURE_NEAR(answer->velocity[0][2], 0.0, SOLVED);
    ENSURE_NEAR(answer->velocity[0][0], 0.01 * 5.0 / 2.0, SOLVED);
    ENSURE_NEAR(answer->row_impulse[0] + answer->row_impulse[1], 0.01 * 2.0 * GRAVITY, SOLVED);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

TEST(a_regularised_joint_gives_way_like_a_spring)
{
    ss_frame *frame = body_on_joint(1);
    ENSURE(ss_frame_enable(frame, "constraints/regularization", NULL));
    frame->constraints.jacobian[0][8] = 1.0;
    frame->constraints.regularization[0] = 0.5;
    set_vector(frame->bodies.force[0], 0.0, 0.0, -2.0 * GRAVITY);
    ss_answer *answer = answer_of("cone", frame);
    ENSURE(answer != NULL);
    ENSURE_NEAR(answer->row_impulse[0], 0.01 * GRAVITY / (0.5 + 0.5), SOLVED); // 1/m = 0.5
    ENSURE_NEAR(answer->velocity[0][2], -0.5 * answer->row_impulse[0], SOLVED);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

/* A slider that carries a weight, whichever way its row points: friction follows the size of the load. */
TEST(joint_friction_follows_the_size_of_the_load)
{
    static const char *const methods[] = {"cone", "box", "frictionless", "penalty"};
    for (int sign = -1; sign <= 1; sign += 2) {
        for (int m = 0; m < 4; m++) {
            ss_frame *frame = body_on_joint(2);
            ENSURE(ss_frame_enable(frame, "constraints/friction", NULL));
            ENSURE(ss_frame_enable(frame, "constraints/friction_row", NULL));
            frame->constraints.jacobian[0][8] = sign;
            frame->constraints.jacobian[1][6] = 1.0;
            frame->constraints.friction[1] = 0.4;
            frame->constraints.friction_row[1] = 0;
            set_vector(frame->bodies.force[0], 0.0, 0.0, -2.0 * GRAVITY);
            frame->bodies.velocity[0][0] = 1.0;
            ss_answer *answer = answer_of(methods[m], frame);
            ENSURE(answer != NULL);
            ENSURE_NEAR(answer->row_impulse[0], sign * 0.01 * 2.0 * GRAVITY, SOLVED);
            ENSURE_NEAR(answer->velocity[0][0], 1.0 - 0.4 * GRAVITY * 0.01, SOLVED);
            ss_answer_destroy(answer);
            frame->bodies.velocity[0][0] = 0.01; // friction stops it within the step
            ENSURE(step_by(methods[m], frame));
            ENSURE_NEAR(frame->bodies.velocity[0][0], 0.0, SOLVED);
            ss_frame_destroy(frame);
        }
    }
}

/* The bound of the joint itself still counts. */
TEST(joint_friction_stays_within_the_bounds_of_its_row)
{
    ss_frame *frame = body_on_joint(2);
    ENSURE(ss_frame_enable(frame, "constraints/friction", NULL));
    ENSURE(ss_frame_enable(frame, "constraints/friction_row", NULL));
    frame->constraints.jacobian[0][8] = frame->constraints.jacobian[1][6] = 1.0;
    frame->constraints.friction[1] = 0.4;
    frame->constraints.friction_row[1] = 0;
    frame->constraints.bounds[1][0] = -3.0, frame->constraints.bounds[1][1] = 3.0;
    set_vector(frame->bodies.force[0], 0.0, 0.0, -2.0 * GRAVITY);
    frame->bodies.velocity[0][0] = 1.0;
    ENSURE(step_by("cone", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][0], 1.0 - 0.01 * 3.0 / 2.0, SOLVED);
    ss_frame_destroy(frame);
}

/* The load stands between the world and a body asleep: there is no impulse to share. */
TEST(friction_of_a_joint_without_load_is_none)
{
    ss_frame *frame = ss_frame_create(2, 2, 2, 0, NULL);
    ENSURE(ss_frame_enable(frame, "constraints/friction", NULL));
    ENSURE(ss_frame_enable(frame, "constraints/friction_row", NULL));
    for (int b = 0; b < 2; b++) {
        set_ball(frame, b, 2.0, 0.5);
        frame->constraints.pair[b][1] = b;
        frame->constraints.jacobian[b][6] = 1.0;
    }
    frame->bodies.state[1] = 0;
    frame->constraints.friction[0] = 0.4;
    frame->constraints.friction_row[0] = 1;
    frame->bodies.velocity[0][0] = 1.0;
    ENSURE(step_by("cone", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][0], 1.0, 0.0);
    ss_frame_destroy(frame);
}

TEST(every_joint_has_blocks_of_its_own)
{
    ss_frame *frame = ss_frame_create(1, 2, 5, 0, NULL);
    set_ball(frame, 0, 2.0, 0.5);
    frame->constraints.rows[0] = 3, frame->constraints.rows[1] = 2;
    frame->constraints.pair[0][1] = frame->constraints.pair[1][1] = 0;
    for (int i = 0; i < 5; i++) frame->constraints.jacobian[i][6 + i] = 1.0;
    method m = method_of("cone");
    ss_problem *problem = assemble(&m, frame);
    ENSURE(problem != NULL);
    ENSURE_INT(problem->block_count, 2);
    for (int k = 0; k < 2; k++) {
        ENSURE_INT(problem->blocks[k].constraint, k);
        ENSURE_INT(problem->blocks[k].size, frame->constraints.rows[k]);
        ENSURE_INT(problem->blocks[k].law, SS_LAW_FREE);
    }
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
}

TEST_MAIN
