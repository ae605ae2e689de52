/* Known motions: what the simulator must reproduce, with the formula of the discrete step where there is one.
 * The step is semi-implicit, v+ = v + h a and x+ = x + h v+, so that n steps of constant acceleration go a
 * h^2 n (n + 1) / 2. */
#include <stickslip/stickslip.h>

#include "kit.h"
#include "worlds.h"

static const double g = 9.81;

/* ---- one body --------------------------------------------------------------------------------------- */

TEST(free_fall_follows_the_discrete_formula)
{
    ss_world *world = empty_world(0, 0, -g);
    int ball = add_ball(world, 0, 0, 100, 0.5);
    ss_sim *sim = start(world, NULL);
    int n = 300;
    double h = 0.01;
    run(sim, n);
    // rounding of 300 sums
    ENSURE_NEAR(body_of(sim, ball)->position[2], 100 - g * h * h * n * (n + 1) / 2, 1e-11);
    ENSURE_NEAR(body_of(sim, ball)->velocity[2], -g * h * n, 1e-12);
    ENSURE_NEAR(ss_sim_time(sim), 3.0, 0.0); // no rounding adds up in the clock
    end(sim);
}

/* The slope is a floor under tilted gravity, so that nothing but the physics is tilted. */
static ss_sim *block_on_slope(double angle, double mu, double h, int *block)
{
    ss_world *world = empty_world(g * sin(angle), 0, -g * cos(angle));
    set_materials(world, (ss_material_pair){.mu = mu});
    add_floor(world);
    *block = add_box(world, 0, 0, 0.25, 2, 2, 0.5);
    ss_sim_options options = exact_options(h);
    return start(world, &options);
}

TEST(block_on_a_slope_sticks_below_atan_mu)
{
    int block;
    ss_sim *sim = block_on_slope(atan(0.5) - 1e-3, 0.5, 0.01, &block);
    run(sim, 100);
    ENSURE_NEAR(body_of(sim, block)->position[0], 0.0, 1e-9); // the stop rule times g h n h
    ENSURE_NEAR(body_of(sim, block)->velocity[0], 0.0, 1e-9);
    end(sim);
}

TEST(block_on_a_slope_slides_above_atan_mu_by_the_discrete_formula)
{
    int block, n = 100;
    double angle = M_PI / 6, mu = 0.3, h = 0.01, a = g * (sin(angle) - mu * cos(angle));
    ss_sim *sim = block_on_slope(angle, mu, h, &block);
    run(sim, n);
    ENSURE_NEAR(a, 2.356287, 1e-6);
    ENSURE_NEAR(body_of(sim, block)->velocity[0], n * h * a, 1e-9);
    ENSURE_NEAR(body_of(sim, block)->position[0], a * h * h * n * (n + 1) / 2, 1e-9); // 1.189925
    end(sim);
}

/* ---- static friction -------------------------------------------------------------------------------- */

static const double pull_rate = 10.0; // N/s

static bool pull_ever_harder(ss_sim *sim, void *context, ss_error *err)
{
    (void)context, (void)err;
    ss_world_body(ss_sim_world(sim), 0)->force[0] = pull_rate * ss_sim_time(sim);
    return true;
}

/* Where the block is `after` seconds from when the pull of 10 N/s exceeds static friction. */
static double distance_after_breaking_away(double h, double after)
{
    const double mu_static = 0.6, mu = 0.5;
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    set_materials(world, (ss_material_pair){.mu = mu, .mu_static = mu_static});
    add_floor(world);
    int block = add_box(world, 0, 0, 0.05, 0.2, 0.2, 0.1);
    ss_world_body(world, block)->mass = 1.0;
    ss_sim_options options = exact_options(h);
    ss_sim *sim = start(world, &options);
    must(ss_sim_call_at(sim, SS_BEFORE_COLLISION, pull_ever_harder, NULL, &err), &err);
    run(sim, (int)lround((mu_static * g / pull_rate + after) / h));
    double distance = body_of(sim, block)->position[0];
    end(sim);
    return distance;
}

/* m a = (mu_s - mu) m g + c t after it has broken away: x = (mu_s - mu) g t^2 / 2 + c t^3 / (6 m). The error
 * is that of the time at which it breaks away, and must be of first order: half the step, half the error. A
 * rule that waits for a speed sees it after a time like sqrt(h), and 1.4 would be the ratio. */
TEST(static_friction_lets_go_in_time)
{
    const double after = 0.25, h = 0.002;
    double exact = 0.5 * 0.1 * g * after * after + pull_rate * after * after * after / 6.0;
    double coarse = distance_after_breaking_away(h, after) - exact;
    double fine = distance_after_breaking_away(h / 4, after) - exact;
    ENSURE(fabs(coarse) < 0.05 * exact);
    ENSURE(fabs(fine) < fabs(coarse) / 3.0);
    ENSURE(fabs(fine) < 0.01 * exact);
}

TEST(sliding_block_stops_after_the_exact_number_of_steps)
{
    double v0 = 2, mu = 0.5, h = 0.01;
    int steps = (int)floor(v0 / (mu * g * h));
    ENSURE_INT(steps, 40);
    for (int heading = 0; heading < 8; heading++) { // friction is the same in every direction
        double angle = heading * M_PI / 8;
        int block;
        ss_sim *sim = block_on_slope(0.0, mu, h, &block);
        ss_world_body(ss_sim_world(sim), block)->velocity[0] = v0 * cos(angle);
        ss_world_body(ss_sim_world(sim), block)->velocity[1] = v0 * sin(angle);
        run(sim, steps + 2);
        const double *x = body_of(sim, block)->position, *v = body_of(sim, block)->velocity;
        ENSURE_NEAR(hypot(v[0], v[1]), 0.0, 1e-10);
        // 0.397790
        ENSURE_NEAR(hypot(x[0], x[1]), h * (steps * v0 - mu * g * h * steps * (steps + 1) / 2), 1e-8);
        ENSURE_NEAR(x[1] * cos(angle), x[0] * sin(angle), 1e-8);
        end(sim);
    }
}

TEST(sliding_ball_ends_up_rolling_at_five_sevenths)
{
    for (int k = 0; k < 3; k++) {
        double h = 0.01 / (1 + 2 * k);
        ss_world *world = empty_world(0, 0, -g);
        set_materials(world, (ss_material_pair){.mu = 0.2});
        add_floor(world);
        int ball = add_ball(world, 0, 0, 0.3, 0.3);
        ss_sim_options options = exact_options(h);
        ss_sim *sim = start(world, &options);
        ss_world_body(world, ball)->velocity[0] = 3;
        run(sim, (int)(1.0 / h));
        const double *v = body_of(sim, ball)->velocity;
        ENSURE_NEAR(v[0], 3 * 5.0 / 7, 1e-9); // for any h: angular momentum about the contact stays
        ENSURE_NEAR(v[4], v[0] / 0.3, 1e-8);
        end(sim);
    }
}

TEST(rolling_friction_stops_a_rolling_ball)
{
    double mu_rolling = 0.003, radius = 0.3, v0 = 1.0;
    ss_world *world = empty_world(0, 0, -g);
    set_materials(world, (ss_material_pair){.mu = 0.8, .mu_rolling = mu_rolling});
    add_floor(world);
    int ball = add_ball(world, 0, 0, radius, radius);
    ss_sim_options options = exact_options(0.005);
    ss_sim *sim = start(world, &options);
    ss_world_body(world, ball)->velocity[0] = v0;
    ss_world_body(world, ball)->velocity[4] = v0 / radius;
    run(sim, 200);
    // torque mu_r m g about the contact, inertia 7/5 m r^2: a = 5/7 g mu_r / r
    double a = 5.0 / 7 * g * mu_rolling / radius;
    ENSURE_NEAR(body_of(sim, ball)->velocity[0], v0 - a * 1.0, 1e-6);
    run(sim, (int)(v0 / a / 0.005));
    ENSURE_NEAR(body_of(sim, ball)->velocity[0], 0.0, 1e-7);
    end(sim);
}

/* ---- spinning --------------------------------------------------------------------------------------- */

static double length_of(const double v[3])
{
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

static double spin_energy(const ss_sim *sim)
{
    return ss_world_measure(ss_sim_world(sim)).kinetic;
}

TEST(free_asymmetric_body_keeps_energy_and_momentum_and_flips)
{
    ss_world *world = empty_world(0, 0, 0);
    int body = add_box(world, 0, 0, 0, 0.3, 0.2, 0.05); // the middle axis is y
    double spin[6] = {0, 0, 0, 0.001, 5.0, 0.001};
    ss_sim_options options = default_options();
    options.h = 1e-3;
    ss_sim *sim = start(world, &options);
    memcpy(ss_world_body(world, body)->velocity, spin, sizeof spin);
    ss_world_energy before = ss_world_measure(world);
    bool flipped = false;
    for (int i = 0; i < 20000; i++) { // 100 turns
        run(sim, 1);
        // the body's y axis against the world's
        const double *q = body_of(sim, body)->quaternion;
        flipped |= 1 - 2 * (q[1] * q[1] + q[3] * q[3]) < -0.9;
    }
    ss_world_energy after = ss_world_measure(world);
    ENSURE(flipped);
    // the midpoint rule keeps both but for what Newton's method leaves: 1e-14 a step
    ENSURE_NEAR(after.kinetic / before.kinetic, 1.0, 1e-9);
    double most = length_of(before.angular_momentum);
    for (int i = 0; i < 3; i++)
        ENSURE_NEAR(after.angular_momentum[i] / most, before.angular_momentum[i] / most, 1e-9);
    end(sim);
}

/* The quaternion of a free body that spins about no axis of its own, after a second. */
static void spin_freely(double h, double quaternion[4])
{
    ss_world *world = empty_world(0, 0, 0);
    int body = add_box(world, 0, 0, 0, 0.3, 0.2, 0.05);
    double spin[6] = {0, 0, 0, 2.0, 3.0, -1.0};
    ss_sim_options options = default_options();
    options.h = h;
    ss_sim *sim = start(world, &options);
    memcpy(ss_world_body(world, body)->velocity, spin, sizeof spin);
    run(sim, (int)lround(1.0 / h));
    memcpy(quaternion, body_of(sim, body)->quaternion, 4 * sizeof *quaternion);
    end(sim);
}

static double apart(const double p[4], const double q[4])
{
    double same = fabs(p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]);
    return 2.0 * sqrt(fmax(0.0, 2.0 * (1.0 - same))); // rad, where it is small
}

/* The midpoint rule with Cayley's map is of second order: half the step, a quarter of the error. */
TEST(free_flight_is_of_second_order)
{
    double exact[4], coarse[4], fine[4];
    spin_freely(1.0 / 12800, exact);
    spin_freely(1.0 / 100, coarse);
    spin_freely(1.0 / 200, fine);
    ENSURE(apart(coarse, exact) < 1e-3);
    ENSURE_NEAR(apart(coarse, exact) / apart(fine, exact), 4.0, 0.2);
}

TEST(fast_spin_does_not_blow_up_with_the_implicit_torque)
{
    double energy[2] = {0};
    for (int k = 0; k < 2; k++) {
        ss_world *world = empty_world(0, 0, 0);
        int body = add_box(world, 0, 0, 0, 1.0, 0.1, 0.05);
        double spin[6] = {0, 0, 0, 80.0, 50.0, 20.0};
        ss_sim_options options = default_options();
        options.gyro = k == 0 ? SS_GYRO_IMPLICIT : SS_GYRO_EXPLICIT;
        ss_sim *sim = start(world, &options);
        memcpy(ss_world_body(world, body)->velocity, spin, sizeof spin);
        double before = spin_energy(sim);
        run(sim, k == 0 ? 500 : 5); // after eleven steps the explicit one is stopped as diverged
        energy[k] = spin_energy(sim) / before;
        end(sim);
    }
    ENSURE(energy[0] <= 1.0 + 1e-9); // what converges is kept, what does not is damped
    ENSURE(energy[1] > 1.0);         // the explicit torque feeds it, 200 rad/s or not
}

/* Heavy symmetric top, its point on a ball joint: steady precession W of
 * I1 cos(th) W^2 - I3 w3 W + m g l = 0. */
TEST(spinning_top_precesses_steadily)
{
    double l = 0.2, tilt = 0.5, spin = 120.0, mass = 0.5, i3 = 4e-3, i1 = 3e-3; // i1 about the centre of mass
    double pivot_i1 = i1 + mass * l * l, c = cos(tilt);
    double w3 = spin; // about the body's own axis, precession included
    double root = sqrt(i3 * i3 * w3 * w3 - 4 * pivot_i1 * c * mass * g * l);
    double precession = (i3 * w3 - root) / (2 * pivot_i1 * c);
    ss_world *world = empty_world(0, 0, -g);
    ss_body top = {.kind = SS_DYNAMIC,
                   .position = {l * sin(tilt), 0, l * c},
                   .quaternion = {cos(tilt / 2), 0, sin(tilt / 2), 0},
                   .mass = mass,
                   .inertia = {i1, 0, 0, 0, i1, 0, 0, 0, i3}};
    // w = precession z + own spin about the axis e3, such that w . e3 = w3
    double own = w3 - precession * c;
    double w[3] = {own * sin(tilt), 0, own * c + precession};
    memcpy(top.velocity + 3, w, sizeof w);
    double v = precession * l * sin(tilt);
    top.velocity[1] = v;
    int body = add_body(world, top, (ss_shape){.kind = SS_SPHERE, .size = {0.05}});
    add_joint(world, (ss_joint){.kind = SS_JOINT_BALL, .a = SS_WORLD, .b = body});
    ss_sim_options options = exact_options(2e-4);
    ss_sim *sim = start(world, &options);
    double time = 0.25 * 2 * M_PI / precession; // a quarter of a turn
    int steps = (int)round(time / options.h);
    run(sim, steps);
    const double *x = body_of(sim, body)->position;
    ENSURE_NEAR(atan2(x[1], x[0]), M_PI / 2, 0.02); // first order in h
    ENSURE_NEAR(x[2], l * c, 0.01 * l);
    end(sim);
}

/* ---- joints ----------------------------------------------------------------------------------------- */

/* Time of ten swings of a point-like pendulum, by its zero crossings. */
static double ten_swings(double h, double angle)
{
    ss_world *world = empty_world(0, 0, -g);
    ss_body bob = {.kind = SS_DYNAMIC,
                   .position = {sin(angle), 0, -cos(angle)},
                   .mass = 1,
                   .inertia = {1e-9, 0, 0, 0, 1e-9, 0, 0, 0, 1e-9}};
    int body = add_body(world, bob, (ss_shape){.kind = SS_SPHERE, .size = {0.05}});
    add_joint(world, (ss_joint){.kind = SS_JOINT_REVOLUTE, .a = SS_WORLD, .b = body, .axis = {0, 1, 0}});
    ss_sim_options options = exact_options(h);
    ss_sim *sim = start(world, &options);
    double last = body_of(sim, body)->position[0], first_crossing = -1;
    int crossings = 0;
    while (crossings < 21) {
        run(sim, 1);
        double x = body_of(sim, body)->position[0];
        if (x * last < 0.0) {
            double t = ss_sim_time(sim) - h * x / (x - last);
            if (crossings++ == 0) first_crossing = t;
            last = x;
            if (crossings == 21) first_crossing = t - first_crossing;
        }
        last = x;
    }
    end(sim);
    return first_crossing;
}

TEST(pendulum_swings_with_the_period_of_theory)
{
    double small = 2 * M_PI / sqrt(g), angle = 0.3;
    double period = small * (1 + angle * angle / 16 + 11 * pow(angle, 4) / 3072);
    ENSURE_NEAR(ten_swings(1e-3, angle) / 10, period, 3e-3 * period);
}

TEST(halving_the_step_halves_the_error)
{
    // Energy of a pendulum let go: semi-implicit Euler is of first order.
    double error[3];
    for (int k = 0; k < 3; k++) {
        double h = 0.004 / (1 << k);
        ss_world *world = empty_world(0, 0, -g);
        ss_body bob = {.kind = SS_DYNAMIC, .position = {1, 0, 0}};
        int body = add_body(world, bob, (ss_shape){.kind = SS_SPHERE, .size = {0.1}, .density = 1000});
        add_joint(world, (ss_joint){.kind = SS_JOINT_REVOLUTE, .a = SS_WORLD, .b = body, .axis = {0, 1, 0}});
        ss_sim_options options = exact_options(h);
        ss_sim *sim = start(world, &options);
        run(sim, (int)round(0.4 / h));
        ss_world_energy energy = ss_world_measure(world);
        error[k] = fabs(energy.kinetic + energy.potential); // it started with none
        end(sim);
    }
    ENSURE_NEAR(log2(error[0] / error[1]), 1.0, 0.15);
    ENSURE_NEAR(log2(error[1] / error[2]), 1.0, 0.1);
}

/* ---- several bodies --------------------------------------------------------------------------------- */

TEST(stack_carries_the_weight_of_what_is_above)
{
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    int count = 5;
    for (int i = 0; i < count; i++) add_box(world, 0, 0, 0.5 + i, 1, 1, 1);
    ss_sim_options options = exact_options(0.01);
    ss_sim *sim = start(world, &options);
    run(sim, 20);
    const ss_frame *frame = ss_sim_frame(sim);
    double normal[5] = {0}, weight = 1000 * g * 0.01;
    for (int c = 0; c < frame->contacts.count; c++) {
        int a = frame->contacts.pair[c][0], b = frame->contacts.pair[c][1];
        int lower = a == SS_WORLD || b == SS_WORLD ? 0 : (a > b ? a : b);
        normal[lower] += ss_sim_answer(sim)->normal_impulse[c];
    }
    for (int i = 0; i < count; i++) ENSURE_NEAR(normal[i] / weight, count - i, 1e-6);
    for (int i = 0; i < count; i++) ENSURE_NEAR(body_of(sim, i)->position[2], 0.5 + i, 1e-8);
    end(sim);
}

/* Boxes that are not cubes turn their inertia within the step of the blow, too. */
TEST(collision_keeps_momentum)
{
    ss_world *world = empty_world(0, 0, 0);
    set_materials(world, (ss_material_pair){.mu = 0.4, .restitution = 0.5});
    int a = add_box(world, 0, 0, 0, 1, 0.6, 0.4), b = add_box(world, 1.5, 0.4, 0.1, 1, 1.5, 0.7),
        c = add_ball(world, 0.2, 2, 0, 0.5);
    ss_sim *sim = start(world, NULL);
    double va[6] = {3, 0.5, 0, 0.5, 1, 2}, vc[6] = {0, -4, 0.3, 0, 0, 0};
    memcpy(ss_world_body(world, a)->velocity, va, sizeof va);
    memcpy(ss_world_body(world, c)->velocity, vc, sizeof vc);
    ss_world_energy before = ss_world_measure(world);
    int touching = 0;
    for (int i = 0; i < 200; i++) {
        run(sim, 1);
        touching += ss_sim_last(sim).touching > 0;
    }
    ss_world_energy after = ss_world_measure(world);
    ENSURE(touching > 0);
    ENSURE(body_of(sim, b)->velocity[0] > 0.0);
    for (int i = 0; i < 3; i++) ENSURE_NEAR(after.momentum[i], before.momentum[i], 1e-9); // of 3000 kg m/s
    // x+ = x + h v+ keeps x x v, and bodies turn so that their own momentum stays: rounding of 2000 kg m^2/s
    for (int i = 0; i < 3; i++) ENSURE_NEAR(after.angular_momentum[i], before.angular_momentum[i], 1e-8);
    ENSURE(after.kinetic < before.kinetic);
    end(sim);
}

TEST(friction_between_two_bodies_acts_on_both_alike)
{
    ss_world *world = empty_world(0, 0, -g);
    ss_error err = {0};
    int slippery = ss_world_add_material(world, &(ss_material){.name = "ice", .mu = 0.0}, &err);
    set_materials(world, (ss_material_pair){.mu = 0.5});
    must(ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_PLANE, .material = slippery}, &err) >= 0,
         &err);
    int plate = add_box(world, 0, 0, 0.1, 4, 2, 0.2), block = add_box(world, -1, 0, 0.45, 0.5, 0.5, 0.5);
    ss_sim_options options = exact_options(0.01);
    ss_sim *sim = start(world, &options);
    ss_world_body(world, block)->velocity[0] = 2.0;
    double m = body_of(sim, block)->mass, M = body_of(sim, plate)->mass;
    run(sim, 200);
    ENSURE_NEAR(body_of(sim, block)->velocity[0], 2.0 * m / (m + M), 1e-6); // they end up together
    ENSURE_NEAR(body_of(sim, plate)->velocity[0], 2.0 * m / (m + M), 1e-6);
    end(sim);
}

TEST(ball_bounces_to_e_squared_of_its_height)
{
    double e = 0.8, radius = 0.1, height = 1.0;
    ss_world *world = empty_world(0, 0, -g);
    set_materials(world, (ss_material_pair){.mu = 0.5, .restitution = e});
    add_floor(world);
    int ball = add_ball(world, 0, 0, radius + height, radius);
    ss_sim_options options = default_options();
    options.h = 1e-3;
    ss_sim *sim = start(world, &options);
    double top = 0, last = -1;
    int bounces = 0;
    while (bounces < 3) {
        run(sim, 1);
        double z = body_of(sim, ball)->position[2] - radius, v = body_of(sim, ball)->velocity[2];
        if (last < 0 && v > 0) top = 0;
        if (last > 0 && v <= 0) {
            bounces++;
            // h v at the impact and at the top
            ENSURE_NEAR(top, height * pow(e, 2.0 * bounces), 0.02 * height);
        }
        if (z > top) top = z;
        last = v;
    }
    run(sim, 8000);
    ENSURE_NEAR(body_of(sim, ball)->velocity[2], 0.0, 1e-9); // it comes to rest in the end
    end(sim);
}

/* Paoli and Schatzman's law has no threshold of speed. The ball follows the scheme's own recursion, and rises
 * to e^2 of its height but for what it moves in a step, wherever within the step the impact is. */
TEST(gaps_that_bounce_reach_e_squared_of_the_height)
{
    double e = 0.8, radius = 0.1, height = 1.0, impact = sqrt(2.0 * g * height);
    for (int k = 0; k < 3; k++) {
        ss_world *world = empty_world(0, 0, -g);
        set_materials(world, (ss_material_pair){.mu = 0.5, .restitution = e});
        add_floor(world);
        int ball = add_ball(world, 0, 0, radius + height, radius);
        ss_sim_options options = exact_options(4e-3 / (1 << k));
        options.with = (ss_option_list){1, {"gap_term=paoli-schatzman"}};
        ss_sim *sim = start(world, &options);
        double h = options.h, gap = height, speed = 0, top = 0, deepest = 0;
        for (bool bounced = false; !bounced || speed > 0;) {
            run(sim, 1);
            speed = fmax(speed - h * g, e * speed - (1.0 + e) * gap / h);
            gap += h * speed;
            // solved to rounding of numbers of size 1, in some hundred steps
            ENSURE_NEAR(body_of(sim, ball)->position[2] - radius, gap, 1e-9);
            bounced |= speed > 0;
            deepest = fmin(deepest, gap);
            if (bounced) top = fmax(top, gap);
        }
        ENSURE_NEAR(top, height * e * e, h * impact);
        ENSURE(deepest < 0 && deepest > -2.0 * e / (1.0 + e) * h * (impact + h * g));
        end(sim);
    }
}

TEST(head_on_balls_exchange_their_speeds)
{
    ss_world *world = empty_world(0, 0, 0);
    set_materials(world, (ss_material_pair){.restitution = 1.0});
    int a = add_ball(world, 0, 0, 0, 0.5), b = add_ball(world, 2, 0, 0, 0.5);
    ss_sim *sim = start(world, NULL);
    ss_world_body(world, a)->velocity[0] = 1.0;
    run(sim, 300);
    ENSURE_NEAR(body_of(sim, a)->velocity[0], 0.0, 1e-9);
    ENSURE_NEAR(body_of(sim, b)->velocity[0], 1.0, 1e-9);
    end(sim);
}

TEST(static_friction_holds_until_it_breaks)
{
    double mu = 0.3, mu_static = 0.6;
    for (int k = 0; k < 2; k++) {
        double pull = k == 0 ? 0.5 : 0.65; // times weight: between the two, and beyond
        ss_world *world = empty_world(0, 0, -g);
        set_materials(world, (ss_material_pair){.mu = mu, .mu_static = mu_static});
        add_floor(world);
        int block = add_box(world, 0, 0, 0.1, 1, 1, 0.2);
        ss_sim_options options = exact_options(0.01);
        ss_sim *sim = start(world, &options);
        run(sim, 5);
        ss_world_body(world, block)->force[0] = pull * body_of(sim, block)->mass * g;
        run(sim, 100);
        double v = body_of(sim, block)->velocity[0];
        if (k == 0) ENSURE_NEAR(v, 0.0, 1e-6);
        // the first step still has static friction, then sliding friction
        if (k == 1) ENSURE_NEAR(v, ((pull - mu) * 99 + (pull - mu_static)) * g * 0.01, 1e-6);
        end(sim);
    }
}

/* ---- prescribed motion ------------------------------------------------------------------------------ */

TEST(belt_carries_a_block_up_to_its_speed)
{
    ss_world *world = empty_world(0, 0, -g);
    set_materials(world, (ss_material_pair){.mu = 0.5});
    ss_error err = {0};
    must(ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_PLANE, .surface_velocity = {1, 0, 0}},
                            &err) >= 0,
         &err);
    int block = add_box(world, 0, 0, 0.1, 0.5, 0.5, 0.2);
    ss_sim_options options = exact_options(0.01);
    ss_sim *sim = start(world, &options);
    run(sim, 10);
    ENSURE_NEAR(body_of(sim, block)->velocity[0], 10 * 0.5 * g * 0.01, 1e-9); // slides: mu g
    run(sim, 50);
    ENSURE_NEAR(body_of(sim, block)->velocity[0], 1.0, 1e-9);
    end(sim);
}

static void lift(double time, double position[3], double quaternion[4], double velocity[6], void *context)
{
    (void)context;
    double pose[4] = {1, 0, 0, 0};
    memcpy(quaternion, pose, sizeof pose);
    memset(velocity, 0, 6 * sizeof *velocity);
    position[0] = 0.2 * sin(time);
    position[1] = 0;
    position[2] = 0.1 * time;
    velocity[0] = 0.2 * cos(time);
    velocity[2] = 0.1;
}

TEST(platform_takes_its_load_along)
{
    ss_world *world = empty_world(0, 0, -g);
    set_materials(world, (ss_material_pair){.mu = 0.8});
    int platform = add_body(world, (ss_body){.kind = SS_KINEMATIC, .motion = lift},
                            (ss_shape){.kind = SS_BOX, .size = {2, 2, 0.2}});
    int load = add_box(world, 0, 0, 0.2, 0.2, 0.2, 0.2);
    ss_sim_options options = exact_options(0.01);
    ss_sim *sim = start(world, &options);
    ss_world_body(world, load)->velocity[0] = 0.2;
    run(sim, 300);
    const double *x = body_of(sim, platform)->position, *y = body_of(sim, load)->position;
    ENSURE_NEAR(x[2], 0.3, 1e-12);
    ENSURE_NEAR(y[2] - x[2], 0.2, 1e-6); // arrives where the platform does
    ENSURE_NEAR(y[0] - x[0], 0.0, 1e-6);
    end(sim);
}

/* ---- what must not matter --------------------------------------------------------------------------- */

static ss_sim *heap(const double rotation[4], double scale_length, double scale_mass, double scale_time)
{
    ss_world *world = empty_world(0, 0, -g);
    set_materials(world, (ss_material_pair){.mu = 0.4});
    ss_error err = {0};
    must(ss_world_add_shape(world, SS_WORLD,
                            &(ss_shape){.kind = SS_PLANE,
                                        .quaternion = {rotation[0], rotation[1], rotation[2], rotation[3]}},
                            &err) >= 0,
         &err);
    ss_random random = ss_random_start(7, 0);
    for (int i = 0; i < 8; i++) {
        double x = ss_random_between(&random, -0.2, 0.2), y = ss_random_between(&random, -0.2, 0.2);
        if (i % 2)
            add_ball(world, x, y, 0.3 + 0.5 * i, 0.2);
        else
            add_box(world, x, y, 0.3 + 0.5 * i, 0.4, 0.3, 0.3);
    }
    if (scale_length != 1.0 || scale_mass != 1.0 || scale_time != 1.0)
        must(ss_world_change_units(world, scale_length, scale_mass, scale_time, &err), &err);
    ss_sim_options options = default_options();
    options.h = 0.01 * scale_time;
    options.finisher = "none";
    return start(world, &options);
}

/* Powers of two change exponents and no digit: the trajectories are the same, digit by digit. */
TEST(change_of_units_changes_no_digit)
{
    static const double identity[4] = {1, 0, 0, 0};
    double length = 0.0009765625, mass = 16.0, time = 4.0; // mass by an even power: its root is exact, too
    ss_sim *metres = heap(identity, 1, 1, 1), *others = heap(identity, length, mass, time);
    run(metres, 150);
    run(others, 150);
    ENSURE(ss_sim_last(metres).contacts > 10);
    for (int b = 0; b < 8; b++) {
        const ss_body *one = body_of(metres, b), *two = body_of(others, b);
        for (int i = 0; i < 3; i++) {
            ENSURE_NEAR(two->position[i], length * one->position[i], 0.0);
            ENSURE_NEAR(two->velocity[i], length / time * one->velocity[i], 0.0);
            ENSURE_NEAR(two->velocity[3 + i], one->velocity[3 + i] / time, 0.0);
        }
    }
    end(metres);
    end(others);
}

TEST(rotated_world_moves_the_same_way)
{
    // gravity and slope turned together about x by a third of a right angle
    double turn[4] = {cos(M_PI / 12), sin(M_PI / 12), 0, 0}, c = cos(M_PI / 6), s = sin(M_PI / 6);
    double path[2];
    for (int k = 0; k < 2; k++) {
        ss_world *world = k == 0 ? empty_world(3, 0, -g) : empty_world(3, g * s, -g * c);
        set_materials(world, (ss_material_pair){.mu = 0.2});
        ss_shape plane = {.kind = SS_PLANE};
        ss_body block = {.kind = SS_DYNAMIC, .position = {0, 0, 0.25}};
        if (k == 1) {
            memcpy(plane.quaternion, turn, sizeof turn);
            memcpy(block.quaternion, turn, sizeof turn);
            block.position[1] = -0.25 * s;
            block.position[2] = 0.25 * c;
        }
        ss_error err = {0};
        must(ss_world_add_shape(world, SS_WORLD, &plane, &err) >= 0, &err);
        int body = add_body(world, block, (ss_shape){.kind = SS_BOX, .size = {1, 1, 0.5}, .density = 1000});
        ss_sim_options options = exact_options(0.01);
        ss_sim *sim = start(world, &options);
        run(sim, 100);
        path[k] = body_of(sim, body)->position[0];
        end(sim);
    }
    ENSURE(path[0] > 0.3);
    ENSURE_NEAR(path[1], path[0], 1e-9);
}

TEST_MAIN
