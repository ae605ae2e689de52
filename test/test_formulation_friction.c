/* Friction of one body or two through every formulation: answers known by hand. */
#include "kit.h"

#include "mechanics.h"

#include <stickslip/metrics.h>

#include "formulation/box.h"

static const double pi = 3.14159265358979323846;
static const char *const with_friction[] = {"stewart-trinkle", "anitescu-potra", "box", "cone"};

/* Answers come from solvers that stop at residuals of 1e-12. */
#define SOLVED 1e-10

/* ---- block on a slope ------------------------------------------------------------------------------- */

TEST(block_on_a_slope_sticks_below_atan_mu)
{
    for (int k = 0; k < 4; k++) {
        ss_frame *frame = block_on_ground(atan(0.3) - 1e-6, 0.3);
        ENSURE(step_by(with_friction[k], frame));
        ENSURE_NEAR(frame->bodies.velocity[0][0], 0.0, SOLVED);
        ENSURE_NEAR(frame->bodies.velocity[0][2], 0.0, SOLVED);
        ss_frame_destroy(frame);
    }
}

TEST(block_on_a_slope_slides_above_atan_mu)
{
    double slope = pi / 6, mu = 0.3;
    for (int k = 0; k < 4; k++) {
        ss_frame *frame = block_on_ground(slope, mu);
        ss_answer *answer = answer_of(with_friction[k], frame);
        ENSURE(answer != NULL);
        ENSURE_NEAR(answer->velocity[0][0], 0.01 * GRAVITY * (sin(slope) - mu * cos(slope)), SOLVED);
        ENSURE_NEAR(answer->normal_impulse[0], 0.01 * 2.0 * GRAVITY * cos(slope), SOLVED);
        ENSURE_NEAR(answer->friction_impulse[0][0], -mu * answer->normal_impulse[0], SOLVED);
        ss_answer_destroy(answer);
        ss_frame_destroy(frame);
    }
}

/* s_n = a h^2 n (n + 1) / 2 with a = g (sin - mu cos) */
TEST(hundred_steps_down_a_slope_add_up)
{
    ss_frame *frame = block_on_ground(pi / 6, 0.3);
    double path = 0.0;
    for (int step = 0; step < 100; step++) {
        ENSURE(step_by("cone", frame));
        path += frame->h * frame->bodies.velocity[0][0];
    }
    ENSURE_NEAR(path, 1.189925, 1e-6); // the digits that are written here
    ss_frame_destroy(frame);
}

/* N = floor(v0 / (mu g h)) sliding steps, then exactly at rest. */
TEST(a_sliding_block_stops_and_stays)
{
    ss_frame *frame = block_on_ground(0.0, 0.5);
    frame->bodies.velocity[0][0] = 2.0;
    double path = 0.0;
    int sliding = 0;
    for (int step = 0; step < 50; step++) {
        ENSURE(step_by("cone", frame));
        path += frame->h * frame->bodies.velocity[0][0];
        sliding += frame->bodies.velocity[0][0] > 1e-9;
    }
    ENSURE_INT(sliding, 40);
    ENSURE_NEAR(path, 0.397790, 1e-6); // the digits that are written here
    ENSURE_NEAR(frame->bodies.velocity[0][0], 0.0, SOLVED);
    ss_frame_destroy(frame);
}

/* ---- surfaces that move ------------------------------------------------------------------------------ */

/* A belt under the block, running along x: seen from the belt, the block's surface moves backwards. */
static ss_frame *block_on_belt(double speed, double mu)
{
    ss_frame *frame = block_on_ground(0.0, mu);
    if (!frame || !ss_frame_enable(frame, "contacts/surface_velocities", NULL)) return frame;
    frame->contacts.surface_velocity[0][0] = -speed;
    return frame;
}

TEST(a_slow_belt_takes_a_block_along)
{
    for (int k = 0; k < 4; k++) {
        ss_frame *frame = block_on_belt(0.02, 0.3); // mu g h = 0.0294: friction can do it in one step
        ENSURE(step_by(with_friction[k], frame));
        ENSURE_NEAR(frame->bodies.velocity[0][0], 0.02, SOLVED);
        ENSURE_NEAR(frame->bodies.velocity[0][2], 0.0, SOLVED);
        ss_frame_destroy(frame);
    }
}

TEST(a_fast_belt_slips_under_a_block_and_drives_it_with_mu_g)
{
    for (int k = 0; k < 4; k++) {
        ss_frame *frame = block_on_belt(1.0, 0.3);
        ENSURE(step_by(with_friction[k], frame));
        ENSURE_NEAR(frame->bodies.velocity[0][0], 0.3 * GRAVITY * 0.01, SOLVED);
        ss_frame_destroy(frame);
    }
}

/* A platform that rises prescribed at 1 m/s carries the block, whatever the gap term says. */
TEST(a_rising_platform_lifts_a_block)
{
    ss_frame *frame = block_on_ground(0.0, 0.3);
    ENSURE(frame && ss_frame_enable(frame, "contacts/surface_velocities", NULL));
    frame->contacts.surface_velocity[0][2] = -1.0;
    ENSURE(step_by("cone", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][2], 1.0, SOLVED);
    ss_frame_destroy(frame);
}

/* What metrics see of the same answers: no error, and a block that slips on the belt is sliding. */
TEST(metrics_know_about_the_belt)
{
    ss_frame *frame = block_on_belt(1.0, 0.3);
    ss_answer *answer = answer_of("cone", frame);
    ENSURE(answer != NULL);
    ss_metric_value values[64];
    ENSURE(ss_metric_count() <= 64);
    ENSURE(ss_judge_frame(frame, NULL, answer, values, NULL, NULL));
    ENSURE_NEAR(values[ss_metric_index("natural_map")].value, 0.0, SOLVED);
    ENSURE_NEAR(values[ss_metric_index("sliding")].value, 1.0, 0.0);
    ENSURE_NEAR(values[ss_metric_index("alignment")].value, 0.0, SOLVED);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

/* FCLIB's form of the belt has it in w. */
TEST(the_cone_problem_of_a_belt_has_its_speed_in_w)
{
    ss_frame *frame = block_on_belt(1.0, 0.3);
    method m = method_of("cone");
    ss_assembly *assembly = assembled(&m, frame, NULL, NULL);
    ENSURE(assembly != NULL);
    ss_cone *cone = ss_assembly_cone(assembly, &(ss_cone_wish){.form = SS_CONE_GLOBAL}, "frame", NULL, NULL);
    ENSURE(cone != NULL);
    ss_assembly_destroy(assembly);
    double t_u[3], t_v[3];
    ss_contact_tangents(frame, 0, t_u, t_v);
    ENSURE_NEAR(cone->w[1], -t_u[0], 0.0);
    ENSURE_NEAR(cone->w[2], -t_v[0], 0.0);
    ss_cone_destroy(cone);
    ss_frame_destroy(frame);
}

/* ---- rolling ---------------------------------------------------------------------------------------- */

TEST(a_sliding_ball_ends_up_rolling_at_five_sevenths_of_its_speed)
{
    for (int k = 0; k < 4; k++) {
        ss_frame *frame = ball_on_ground(0.4);
        frame->h = 0.013;
        frame->bodies.velocity[0][0] = 1.0;
        for (int step = 0; step < 12; step++) ENSURE(step_by(with_friction[k], frame));
        ENSURE_NEAR(frame->bodies.velocity[0][0], 5.0 / 7.0, 1e-9); // ten steps of solver tolerance
        ENSURE_NEAR(frame->bodies.velocity[0][4], 5.0 / 7.0 / 0.2, 1e-8);
        ss_frame_destroy(frame);
    }
}

/* A rolling ball is slowed by the moment mu_r nu: I dw = r F - mu_r nu dt, m dv = -F dt, v = r w. */
TEST(rolling_friction_slows_a_rolling_ball)
{
    ss_frame *frame = ball_on_ground(0.4);
    ENSURE(ss_frame_enable(frame, "contacts/mu_r", NULL));
    frame->contacts.mu_rolling[0] = 0.004;
    frame->bodies.velocity[0][0] = 1.0;
    frame->bodies.velocity[0][4] = 1.0 / 0.2;
    ss_answer *answer = answer_of("cone", frame);
    ENSURE(answer != NULL);
    double weight = 0.01 * 3.0 * GRAVITY, inertia = 0.4 * 3.0 * 0.2 * 0.2;
    double loss = 0.004 * weight * 0.2 / (inertia + 3.0 * 0.2 * 0.2);
    ENSURE_NEAR(answer->rolling_impulse[0][1], -0.004 * weight, SOLVED);
    ENSURE_NEAR(answer->velocity[0][0], 1.0 - loss, SOLVED);
    ENSURE_NEAR(answer->velocity[0][4], (1.0 - loss) / 0.2, 10 * SOLVED);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

/* ---- directions of friction ------------------------------------------------------------------------- */

/* How much speed a block that slides at `heading` loses in a step, in units of mu g h. */
static double braking(const char *words, double heading)
{
    ss_frame *frame = block_on_ground(0.0, 0.5);
    double t_u[3], t_v[3], loss = NAN;
    ss_contact_tangents(frame, 0, t_u, t_v);
    for (int k = 0; k < 3; k++) frame->bodies.velocity[0][k] = cos(heading) * t_u[k] + sin(heading) * t_v[k];
    ss_answer *answer = answer_of(words, frame);
    if (answer) {
        loss = 0.0; // along the heading
        for (int k = 0; k < 3; k++) {
            loss += (frame->bodies.velocity[0][k] - answer->velocity[0][k]) *
                    (cos(heading) * t_u[k] + sin(heading) * t_v[k]);
        }
        loss /= 0.5 * GRAVITY * frame->h;
    }
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
    return loss;
}

TEST(a_cone_brakes_the_same_in_every_direction)
{
    for (int k = 0; k < 16; k++) ENSURE_NEAR(braking("cone", 2.0 * pi * k / 16), 1.0, 1e-9);
}

TEST(a_box_brakes_by_root_two_along_its_corner_unless_turned)
{
    ENSURE_NEAR(braking("box tangents=frame", 0.0), 1.0, 1e-9);
    ENSURE_NEAR(braking("box tangents=frame", pi / 4), sqrt(2.0), 1e-9);
    ENSURE_NEAR(braking("box tangents=slip", pi / 4), 1.0, 1e-9);
    ENSURE_NEAR(braking("box tangents=slip", 1.1), 1.0, 1e-9);
}

TEST(a_polygon_brakes_by_mu_at_corners_and_less_between)
{
    for (int n = 4; n <= 16; n *= 2) {
        char words[80];
        snprintf(words, sizeof words, "stewart-trinkle directions=%d", n);
        ENSURE_NEAR(braking(words, 0.0), 1.0, 1e-9);
        ENSURE_NEAR(braking(words, pi / n), cos(pi / n), 1e-9);
        snprintf(words, sizeof words, "stewart-trinkle directions=%d polygon=circumscribed", n);
        ENSURE_NEAR(braking(words, 0.0), 1.0 / cos(pi / n), 1e-9);
        ENSURE_NEAR(braking(words, pi / n), 1.0, 1e-9);
        snprintf(words, sizeof words, "stewart-trinkle directions=%d polygon=equal-area", n);
        double area = 0.5 * n * sin(2.0 * pi / n) * pow(braking(words, 0.0), 2);
        ENSURE_NEAR(area, pi, 1e-8);
    }
}

/* With an odd number, friction against a corner has no direction of its own. */
TEST(an_odd_polygon_is_weak_against_its_corners)
{
    ENSURE_NEAR(braking("stewart-trinkle directions=5", pi), 1.0, 1e-9);
    ENSURE_NEAR(braking("stewart-trinkle directions=5", 0.0), cos(pi / 5), 1e-9);
}

/* The braking of a polygon is wrong by 1 - cos of at most pi/n: four times less for twice the directions. */
TEST(polygons_come_to_the_cone_with_the_square_of_their_corners)
{
    double last = NAN;
    for (int n = 8; n <= 64; n *= 2) {
        char words[64];
        double worst = 0.0;
        snprintf(words, sizeof words, "stewart-trinkle directions=%d", n);
        for (int k = 0; k < 7; k++) worst = fmax(worst, fabs(braking(words, pi / n * (1 + 2 * k)) - 1.0));
        ENSURE_NEAR(worst, 1.0 - cos(pi / n), 1e-9);
        if (n > 8) ENSURE_NEAR(last / worst, 4.0, 0.05); // the next term of the cosine
        last = worst;
    }
}

/* Sliding on an ellipse: the impulse is the one that dissipates most, r_i = -nu mu_i (mu_i
 * u_i) / |(mu u)|. */
TEST(different_coefficients_put_the_impulse_on_an_ellipse)
{
    ss_frame *frame = block_on_ground(0.0, 0.0);
    double mu[2] = {0.6, 0.2}, t[2][3];
    frame->contacts.mu[0][0] = mu[0], frame->contacts.mu[0][1] = mu[1];
    ss_contact_tangents(frame, 0, t[0], t[1]);
    for (int k = 0; k < 3; k++) frame->bodies.velocity[0][k] = 2.0 * t[0][k] + 3.0 * t[1][k];
    ss_answer *answer = answer_of("cone", frame);
    ENSURE(answer != NULL);
    double u[2] = {0}, r[2] = {0};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 2; i++)
            u[i] += t[i][k] * answer->velocity[0][k], r[i] += t[i][k] * answer->friction_impulse[0][k];
    }
    double length = hypot(mu[0] * u[0], mu[1] * u[1]), nu = answer->normal_impulse[0];
    for (int i = 0; i < 2; i++) ENSURE_NEAR(r[i], -nu * mu[i] * mu[i] * u[i] / length, SOLVED);
    ENSURE_NEAR(hypot(r[0] / mu[0], r[1] / mu[1]), nu, SOLVED);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

TEST(a_fine_polygon_follows_the_ellipse)
{
    ss_frame *frame = block_on_ground(0.0, 0.0);
    frame->contacts.mu[0][0] = 0.6, frame->contacts.mu[0][1] = 0.2;
    set_vector(frame->bodies.velocity[0], 2.0, 3.0, 0.0);
    ss_answer *cone = answer_of("cone", frame), *polygon = answer_of("stewart-trinkle directions=200", frame);
    ENSURE(cone && polygon);
    // tolerance: the corner taken is at most pi/200 away, times mu nu = 0.12
    for (int k = 0; k < 3; k++)
        ENSURE_NEAR(polygon->friction_impulse[0][k], cone->friction_impulse[0][k], 0.12 * pi / 200);
    ss_answer_destroy(cone);
    ss_answer_destroy(polygon);
    ss_frame_destroy(frame);
}

/* Pushed along frame tangents at once: one holds without limit, the other slides. */
TEST(friction_that_is_infinite_in_one_direction_holds_there_only)
{
    static const char *const methods[] = {"stewart-trinkle", "stewart-trinkle form=mixed", "box", "cone"};
    for (int m = 0; m < 4; m++) {
        ss_frame *frame = block_on_ground(0.0, 0.0);
        double t[2][3], u[2] = {0};
        ss_contact_tangents(frame, 0, t[0], t[1]);
        frame->contacts.mu[0][0] = INFINITY, frame->contacts.mu[0][1] = 0.1;
        for (int k = 0; k < 3; k++) frame->bodies.velocity[0][k] = 3.0 * t[0][k] + t[1][k];
        ENSURE(step_by(methods[m], frame));
        for (int k = 0; k < 3; k++) {
            for (int i = 0; i < 2; i++) u[i] += t[i][k] * frame->bodies.velocity[0][k];
        }
        ENSURE_NEAR(u[0], 0.0, 1e-8); // with free rows solved to 1e-9
        ENSURE_NEAR(u[1], 1.0 - 0.1 * GRAVITY * 0.01, 1e-8);
        ss_frame_destroy(frame);
    }
}

TEST(infinite_friction_holds_a_block_on_any_slope)
{
    for (int k = 0; k < 4; k++) {
        ss_frame *frame = block_on_ground(1.5, INFINITY);
        ENSURE(step_by(with_friction[k], frame));
        for (int i = 0; i < 3; i++) ENSURE_NEAR(frame->bodies.velocity[0][i], 0.0, SOLVED);
        ss_frame_destroy(frame);
    }
}

TEST(a_cap_on_friction_lets_the_block_slide)
{
    for (int k = 0; k < 4; k++) {
        char words[64];
        ss_frame *frame = block_on_ground(pi / 4, INFINITY);
        snprintf(words, sizeof words, "%s mu_max=0.25", with_friction[k]);
        ENSURE(step_by(words, frame));
        ENSURE_NEAR(frame->bodies.velocity[0][0], 0.01 * GRAVITY * sin(pi / 4) * 0.75, SOLVED);
        ss_frame_destroy(frame);
    }
}

/* ---- models that differ ----------------------------------------------------------------------------- */

TEST(the_convex_model_lifts_what_slides)
{
    ss_frame *frame = block_on_ground(0.0, 0.5);
    frame->bodies.velocity[0][0] = 1.0;
    ss_answer *answer = answer_of("convex", frame);
    ENSURE(answer != NULL);
    ENSURE_NEAR(answer->velocity[0][2], 0.5 * answer->velocity[0][0], SOLVED);
    ENSURE_NEAR(-answer->friction_impulse[0][0], 0.5 * answer->normal_impulse[0], SOLVED);
    ss_answer_destroy(answer);
    frame->bodies.velocity[0][0] = 0.0; // what sticks is the same in frame models
    ENSURE(step_by("convex", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][2], 0.0, SOLVED);
    ss_frame_destroy(frame);
}

TEST(frictionless_contacts_only_push)
{
    ss_frame *frame = block_on_ground(0.3, 0.5);
    ENSURE(step_by("frictionless", frame));
    ENSURE_NEAR(frame->bodies.velocity[0][0], 0.01 * GRAVITY * sin(0.3), SOLVED);
    ENSURE_NEAR(frame->bodies.velocity[0][2], 0.0, SOLVED);
    ss_frame_destroy(frame);
}

TEST(a_fixed_friction_bound_is_that_of_the_previous_step)
{
    ss_frame *frame = block_on_ground(0.0, 0.5);
    frame->bodies.velocity[0][0] = 1.0;
    method m = method_of("box bound=previous");
    // first guess: the impulse that stops the block, here the right one
    ss_answer *answer = answer_by(&m, frame);
    ENSURE(answer != NULL);
    ENSURE_NEAR(answer->friction_impulse[0][0], -0.5 * answer->normal_impulse[0], SOLVED);
    ss_answer_destroy(answer);
    double known = 0.05; // N s, a quarter of the weight
    ((ss_box_options *)m.options)->normal_impulses = &known;
    answer = answer_by(&m, frame);
    ENSURE(answer != NULL);
    ENSURE_NEAR(answer->friction_impulse[0][0], -0.5 * 0.05, SOLVED);
    ENSURE_NEAR(answer->normal_impulse[0], 0.01 * 2.0 * GRAVITY, SOLVED);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

/* A soft contact stops more slowly: the first guess counts its compliance. */
TEST(the_first_guess_of_a_friction_bound_knows_compliance)
{
    ss_frame *frame = block_on_ground(0.0, 0.5);
    ENSURE(ss_frame_enable(frame, "contacts/compliance", NULL));
    frame->contacts.compliance[0] = 1.5; // 1/m is 0.5: a quarter of the impulse is left
    frame->bodies.velocity[0][0] = 1.0;
    ss_answer *answer = answer_of("box bound=previous", frame);
    ENSURE(answer != NULL);
    ENSURE_NEAR(answer->normal_impulse[0], 0.25 * 0.01 * 2.0 * GRAVITY, SOLVED);
    ENSURE_NEAR(answer->friction_impulse[0][0], -0.5 * answer->normal_impulse[0], SOLVED);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

/* At the depth m g / k the spring carries the weight; friction is proportional below the slip speed. */
TEST(a_penalty_spring_carries_the_weight_and_lets_creep)
{
    ss_frame *frame = block_on_ground(0.0, 0.5);
    double weight = 2.0 * GRAVITY, nu = 0.01 * weight;
    frame->contacts.gap[0] = -weight / 1e4;
    frame->bodies.velocity[0][0] = 0.002;
    ss_answer *answer = answer_of("penalty stiffness=1e4 slip_speed=0.01", frame);
    ENSURE(answer != NULL);
    ENSURE_NEAR(answer->normal_impulse[0], nu, 1e-15);
    ENSURE_NEAR(answer->velocity[0][2], 0.0, 1e-15);
    ENSURE_NEAR(answer->friction_impulse[0][0], -0.5 * nu * 0.2, 1e-15);
    ss_answer_destroy(answer);
    frame->bodies.velocity[0][0] = 5.0;
    answer = answer_of("penalty stiffness=1e4 slip_speed=0.01", frame);
    ENSURE_NEAR(answer->friction_impulse[0][0], -0.5 * nu, 1e-15);
    ss_answer_destroy(answer);
    frame->bodies.velocity[0][2] = 1e3; // a damper does not pull
    answer = answer_of("penalty stiffness=1e4", frame);
    ENSURE_NEAR(answer->normal_impulse[0], 0.0, 0.0);
    ss_answer_destroy(answer);
    frame->bodies.velocity[0][2] = -1.0; // nor does it brake what does not touch
    frame->contacts.gap[0] = 1e-6;
    answer = answer_of("penalty", frame);
    ENSURE_NEAR(answer->normal_impulse[0], 0.0, 0.0);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

TEST(penalties_take_the_compliance_of_a_contact_and_infinite_friction)
{
    ss_frame *frame = block_on_ground(0.0, INFINITY);
    ENSURE(ss_frame_enable(frame, "contacts/compliance", NULL));
    frame->contacts.compliance[0] = 1.0 / (500.0 * 0.01 * 0.01); // k = 500 N/m
    frame->contacts.gap[0] = -0.02;
    set_vector(frame->bodies.velocity[0], 0.3, -0.4, 0.0);
    ss_answer *answer = answer_of("penalty", frame);
    ENSURE(answer != NULL);
    ENSURE_NEAR(answer->normal_impulse[0], 0.01 * 500.0 * 0.02, 1e-15);
    ENSURE_NEAR(answer->velocity[0][0], 0.0, 1e-15);
    ENSURE_NEAR(answer->velocity[0][1], 0.0, 1e-15);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

/* A contact pushes the block up and forward, a joint holds it in its track. */
TEST(joints_bear_the_forces_of_penalties)
{
    ss_frame *frame = ss_frame_create(1, 1, 1, 1, NULL);
    ENSURE(frame != NULL);
    frame->h = 0.01;
    set_ball(frame, 0, 2.0, 0.5);
    frame->constraints.pair[0][1] = frame->contacts.pair[0][1] = 0;
    frame->constraints.jacobian[0][6] = 1.0;
    set_vector(frame->contacts.normal[0], 0.6, 0.0, 0.8);
    frame->contacts.gap[0] = -0.001;
    ss_answer *answer = answer_of("penalty stiffness=1e4 damping=0", frame);
    ENSURE(answer != NULL);
    ENSURE_NEAR(answer->velocity[0][0], 0.0, SOLVED);
    ENSURE_NEAR(answer->velocity[0][2], 0.8 * 0.01 * 10.0 / 2.0, SOLVED);
    ENSURE_NEAR(answer->row_impulse[0], -0.6 * 0.01 * 10.0, SOLVED);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
}

/* ---- plane and space -------------------------------------------------------------------------------- */

/* A planar box on two corners, pushed; the same turned out of the plane is a spatial problem. */
static ss_frame *planar_box(void)
{
    ss_frame *frame = ss_frame_create(1, 0, 0, 2, NULL);
    if (!frame) return NULL;
    frame->h = 0.01;
    ss_frame_set_planar_body(frame, 0, 2.0, 0.3, (double[3]){0, 0.5, 0}, (double[3]){0.4, 0, 0.2},
                             (double[3]){3.0, -2.0 * GRAVITY, 0.5});
    for (int c = 0; c < 2; c++) {
        frame->contacts.pair[c][1] = 0;
        set_vector(frame->contacts.normal[c], 0.0, 1.0, 0.0);
        set_vector(frame->contacts.point[c], c ? 0.5 : -0.5, 0.0, 0.0);
        frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = 0.3;
    }
    return frame;
}

TEST(plane_and_space_give_the_same_motion)
{
    static const char *const methods[] = {"stewart-trinkle directions=4", "box", "cone", "convex"};
    double c = cos(0.7), s = sin(0.7);
    const double turn[3][3] = {{1, 0, 0}, {0, c, -s}, {0, s, c}};
    for (int m = 0; m < 4; m++) {
        ss_frame *plane = planar_box(), *space = planar_box();
        ENSURE(turn_frame(space, turn));
        ENSURE(ss_frame_is_planar(plane) && !ss_frame_is_planar(space));
        ss_answer *a = answer_of(methods[m], plane), *b = answer_of(methods[m], space);
        ENSURE(a && b);
        for (int k = 0; k < 6; k += 3) turn_vector(turn, a->velocity[0] + k);
        for (int k = 0; k < 6; k++) ENSURE_NEAR(b->velocity[0][k], a->velocity[0][k], 1e-9); // two solves
        ENSURE(fabs(a->normal_impulse[0] - a->normal_impulse[1]) > 1e-3); // it is no trivial case
        ss_answer_destroy(a);
        ss_answer_destroy(b);
        ss_frame_destroy(plane);
        ss_frame_destroy(space);
    }
}

/* Both forms of a problem, through other solvers. */
TEST(reduced_and_mixed_forms_have_the_same_solution)
{
    ss_frame *frame = planar_box();
    ss_answer *reduced = answer_of("stewart-trinkle", frame),
              *mixed = answer_of("stewart-trinkle form=mixed", frame);
    ENSURE(reduced && mixed);
    // solved to 1e-9
    for (int k = 0; k < 6; k++) ENSURE_NEAR(mixed->velocity[0][k], reduced->velocity[0][k], 1e-8);
    ss_answer_destroy(reduced);
    ss_answer_destroy(mixed);
    ss_frame_destroy(frame);
}

/* Everything a solver finds out is in the answer: speeds of the polygon, velocities of the bodies. */
TEST(a_guess_from_the_solution_is_the_solution)
{
    static const char *const methods[] = {"stewart-trinkle", "stewart-trinkle form=mixed",
                                          "cone form=descriptor", "box"};
    for (int k = 0; k < 4; k++) {
        ss_frame *frame = planar_box();
        method m = method_of(methods[k]);
        ss_problem *problem = assemble(&m, frame);
        ss_answer *answer = answer_of(k == 2 ? "cone" : methods[k], frame);
        double x[32], gauges[SS_GAUGE_COUNT];
        ENSURE(problem && answer && problem->size <= 32);
        ENSURE(guess_by(&m, frame, answer, x));
        ENSURE(ss_problem_measure(problem, x, gauges, NULL));
        ENSURE_NEAR(gauges[SS_GAUGE_NATURAL_RESIDUAL], 0.0, 1e-8); // the mixed form is solved to 1e-9
        ss_answer_destroy(answer);
        ss_problem_destroy(problem);
        ss_frame_destroy(frame);
    }
}

TEST_MAIN
