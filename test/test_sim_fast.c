/* Real-time steps (ss_sim_options.fast): known motions, within errors that are stated; what they keep
 * exactly; and that they are part of everything else a simulation can do. */
#include <stickslip/stickslip.h>

#include "base/team.h"
#include "kit.h"
#include "sim/soft/soft.h"
#include "sim/state.h"
#include "worlds.h"

static const double g = 9.81;

static ss_sim *start_fast(ss_world *world, int threads)
{
    ss_sim_options options = default_options();
    options.fast = true;
    ss_team_fix_round_trip(0.0); // all that can be shared is
    options.threads = threads;
    return start(world, &options);
}

static double energy_of(const ss_sim *sim)
{
    ss_world_energy energy = ss_world_measure(ss_sim_world(sim));
    return energy.kinetic + energy.potential;
}

/* ---- known motions ---------------------------------------------------------------------------------- */

TEST(a_stack_of_ten_boxes_stays)
{
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    for (int k = 0; k < 10; k++) add_box(world, 0, 0, 0.1 + 0.2 * k, 0.2, 0.2, 0.2);
    ss_sim *sim = start_fast(world, 1);
    run(sim, 500);
    for (int k = 0; k < 10; k++) {
        const ss_body *box = body_of(sim, k);
        // contacts give way by 0.1 mm for each box above them: 5 mm under the highest
        ENSURE_NEAR(box->position[0], 0.0, 1e-3);
        ENSURE_NEAR(box->position[1], 0.0, 1e-3);
        ENSURE_NEAR(box->position[2], 0.1 + 0.2 * k, 6e-3);
    }
    end(sim);
}

static double distance_on_slope(double angle, double mu, int steps)
{
    ss_world *world = empty_world(g * sin(angle), 0, -g * cos(angle));
    set_materials(world, (ss_material_pair){.mu = mu});
    add_floor(world);
    int block = add_box(world, 0, 0, 0.25, 2, 2, 0.5);
    ss_sim *sim = start_fast(world, 1);
    run(sim, steps);
    double distance = body_of(sim, block)->position[0];
    end(sim);
    return distance;
}

TEST(a_block_on_a_slope_sticks_or_slides_as_theory_says)
{
    double angle = M_PI / 6, mu = 0.3, a = g * (sin(angle) - mu * cos(angle));
    // small steps of h/4 are ahead of theory by a t h / 8, which is 3 mm; 0.1 % beside that
    ENSURE_NEAR(distance_on_slope(angle, mu, 100), 0.5 * a + a * 0.01 / 8, 1e-3);
    ENSURE_NEAR(distance_on_slope(atan(0.5) - 0.01, 0.5, 100), 0.0, 1e-4);
}

TEST(a_sliding_ball_ends_up_rolling_at_five_sevenths)
{
    ss_world *world = empty_world(0, 0, -g);
    set_materials(world, (ss_material_pair){.mu = 0.3});
    add_floor(world);
    int ball = add_ball(world, 0, 0, 0.1, 0.1);
    ss_world_body(world, ball)->velocity[0] = 3;
    ss_sim *sim = start_fast(world, 1);
    run(sim, 150);
    // angular momentum about the point of contact, which an overlap brings nearer to the centre
    ENSURE_NEAR(body_of(sim, ball)->velocity[0], 3 * 5.0 / 7, 3e-3);
    end(sim);
}

TEST(a_spinning_disc_is_stopped_by_friction_at_its_contacts)
{
    ss_world *world = empty_world(0, 0, -g);
    set_materials(world, (ss_material_pair){.mu = 0.4});
    add_floor(world);
    int box = add_box(world, 0, 0, 0.05, 0.4, 0.4, 0.1);
    ss_world_body(world, box)->velocity[5] = 10;
    ss_sim *sim = start_fast(world, 1);
    /* Four corners at r = 0.2 sqrt(2) carry a quarter each: torque mu m g r, I = m (a^2 + b^2) / 12. */
    double r = 0.2 * sqrt(2.0), slowing = 0.4 * g * r / (0.32 / 12), time = 0.15;
    run(sim, 15);
    ENSURE_NEAR(body_of(sim, box)->velocity[5], 10 - slowing * time, 0.02 * slowing * time);
    run(sim, 60);
    ENSURE_NEAR(body_of(sim, box)->velocity[5], 0.0, 1e-3);
    end(sim);
}

TEST(a_ball_bounces_to_e_squared_of_its_height)
{
    double e = 0.7, top = 0.0;
    ss_world *world = empty_world(0, 0, -g);
    set_materials(world, (ss_material_pair){.mu = 0.3, .restitution = e});
    add_floor(world);
    int ball = add_ball(world, 0, 0, 1.1, 0.1);
    ss_sim *sim = start_fast(world, 1);
    bool bounced = false;
    for (int n = 0; n < 90; n++) {
        run(sim, 1);
        bounced |= body_of(sim, ball)->velocity[2] > 0;
        if (bounced) top = fmax(top, body_of(sim, ball)->position[2] - 0.1);
    }
    ENSURE_NEAR(top, e * e, 0.05); // a step of free fall at 4.4 m/s is 44 mm: the instant is within that
    end(sim);
}

TEST(a_belt_carries_a_block_up_to_its_speed)
{
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    ss_shape floor = {
        .kind = SS_BOX, .size = {20, 4, 1}, .position = {0, 0, -0.5}, .surface_velocity = {1, 0, 0}};
    must(ss_world_add_shape(world, SS_WORLD, &floor, &err) >= 0, &err);
    set_materials(world, (ss_material_pair){.mu = 0.5});
    int block = add_box(world, 0, 0, 0.1, 0.4, 0.4, 0.2);
    ss_sim *sim = start_fast(world, 1);
    run(sim, 10);
    ENSURE_NEAR(body_of(sim, block)->velocity[0], 0.5 * g * 0.1, 0.01);
    run(sim, 50);
    ENSURE_NEAR(body_of(sim, block)->velocity[0], 1.0, 1e-4);
    end(sim);
}

/* ---- joints ----------------------------------------------------------------------------------------- */

TEST(a_pendulum_swings_with_its_period_and_keeps_its_length)
{
    ss_world *world = empty_world(0, 0, -g);
    int ball = add_ball(world, 0.1, 0, -sqrt(1.0 - 0.01), 0.05);
    add_joint(world, (ss_joint){.kind = SS_JOINT_BALL, .a = SS_WORLD, .b = ball, .anchor = {0, 0, 0}});
    ss_sim *sim = start_fast(world, 1);
    /* A ball on a rod: I = m (l^2 + 2/5 r^2); the amplitude of 0.1 lengthens the period by 0.06 %. */
    double period = 2 * M_PI * sqrt((1.0 + 0.4 * 0.0025) / g) * (1.0 + 0.01 / 16), last = 0.1, crossing = 0.0;
    int crossings = 0;
    for (int n = 0; n < 1100; n++) {
        run(sim, 1);
        double x = body_of(sim, ball)->position[0];
        if (last > 0.0 && x <= 0.0) {
            crossings++;
            crossing = ss_sim_time(sim) + 0.01 * x / (last - x);
        }
        last = x;
        ENSURE(ss_sim_last(sim).joint_error < 1e-3); // it moves along tangents of some millimetres
    }
    ENSURE_NEAR(crossing / (crossings - 0.75), period, 0.005 * period);
    end(sim);
}

TEST(springs_motors_limits_and_friction_of_joints_act_as_in_any_step)
{
    ss_world *world = empty_world(0, 0, -g);
    double size = 0.1, mass = 1000 * size * size * size;
    int hung = add_box(world, 0, 0, 0, size, size, size), driven = add_box(world, 1, 0, 0, size, size, size),
        stopped = add_box(world, 2, 0, 0, size, size, size), held = add_box(world, 3, 0, 0, size, size, size);
    add_joint(world, (ss_joint){.kind = SS_JOINT_PRISMATIC,
                                .a = SS_WORLD,
                                .b = hung,
                                .axis = {0, 0, 1},
                                .law = {{.stiffness = 200, .damping = 20}}});
    add_joint(world, (ss_joint){.kind = SS_JOINT_REVOLUTE,
                                .a = SS_WORLD,
                                .b = driven,
                                .anchor = {1, 0, 0},
                                .axis = {0, 0, 1},
                                .law = {{.motor = SS_MOTOR_VELOCITY, .target_speed = 3, .max_force = 0.01}}});
    add_joint(world, (ss_joint){.kind = SS_JOINT_PRISMATIC,
                                .a = SS_WORLD,
                                .b = stopped,
                                .axis = {0, 0, 1},
                                .law = {{.limited = true, .lower = -0.2, .upper = 0.1}}});
    add_joint(world, (ss_joint){.kind = SS_JOINT_PRISMATIC,
                                .a = SS_WORLD,
                                .b = held,
                                .axis = {0, 0, 1},
                                .law = {{.friction = 1.1 * mass * g}}});
    ss_sim *sim = start_fast(world, 1);
    run(sim, 50);
    double inertia = mass * size * size / 6;
    ENSURE_NEAR(body_of(sim, driven)->velocity[5], fmin(3.0, 0.5 * 0.01 / inertia), 1e-3);
    run(sim, 250);
    ENSURE_NEAR(body_of(sim, hung)->position[2], -mass * g / 200, 1e-4);
    ENSURE_NEAR(body_of(sim, driven)->velocity[5], 3.0, 1e-4);
    ENSURE_NEAR(body_of(sim, stopped)->position[2], -0.2, 1e-3); // gives way by a millimetre at most
    ENSURE_NEAR(body_of(sim, held)->position[2], 0.0, 1e-5);

    /* The frame has the impulses of the joints, of the whole step: weights. */
    const ss_frame *frame = ss_sim_frame(sim);
    const ss_answer *answer = ss_sim_answer(sim);
    ENSURE(frame != NULL && answer != NULL && frame->constraints.row_count == answer->rows);
    double lift = 0.0;
    for (int i = 0, k = 0, end_of = 0; k < frame->constraints.count; k++)
        for (end_of = i + frame->constraints.rows[k]; i < end_of; i++)
            lift += answer->row_impulse[i] *
                    (frame->constraints.jacobian[i][2] + frame->constraints.jacobian[i][8]);
    ENSURE_NEAR(lift / (4 * mass * g * 0.01), 1.0, 1e-3);
    end(sim);
}

TEST(a_hanging_chain_of_thirty_links_holds)
{
    ss_world *world = empty_world(0, 0, -g);
    int before = SS_WORLD;
    for (int k = 0; k < 30; k++) {
        int link = add_box(world, 0.1 + 0.2 * k, 0, 0, 0.16, 0.05, 0.05);
        add_joint(world,
                  (ss_joint){.kind = SS_JOINT_BALL, .a = before, .b = link, .anchor = {0.2 * k, 0, 0}});
        before = link;
    }
    ss_sim *sim = start_fast(world, 1);
    double start_energy = energy_of(sim), worst = 0.0, most = start_energy;
    for (int n = 0; n < 400; n++) {
        run(sim, 1);
        worst = fmax(worst, ss_sim_last(sim).joint_error);
        most = fmax(most, energy_of(sim));
    }
    // m, of a chain of 6 m whose end cracks like a whip: 17 m/s, links turn by a radian in a step
    ENSURE(worst < 0.15);
    double fall = 30 * 0.4 * g * 3.0; // J: what a straight chain has to lose
    ENSURE(most < start_energy + 0.1 * fall);
    end(sim);
}

/* Links on hinges, from `origin` along `way`; the last one gets a push out of the plane of the chain. */
static ss_sim *start_hinges(int links, const double way[3], double h)
{
    ss_world *world = empty_world(0, 0, -g);
    int before = SS_WORLD;
    for (int k = 0; k < links; k++) {
        int link =
            add_body(world,
                     (ss_body){.kind = SS_DYNAMIC,
                               .position = {(k + 0.5) * way[0], (k + 0.5) * way[1], (k + 0.5) * way[2]}},
                     (ss_shape){.kind = SS_BOX,
                                .size = {0.04 + fabs(way[0]), 0.04 + fabs(way[1]), 0.04 + fabs(way[2])},
                                .density = 1000});
        ss_world_shape(world, ss_world_shape_count(world) - 1)->ghost = true;
        add_joint(world, (ss_joint){.kind = SS_JOINT_REVOLUTE,
                                    .a = before,
                                    .b = link,
                                    .anchor = {k * way[0], k * way[1], k * way[2]},
                                    .axis = {0, 1, 0}});
        before = link;
    }
    ss_world_body(world, before)->velocity[3] = 1e-6;
    ss_sim_options options = default_options();
    options.fast = true;
    options.threads = 1;
    options.h = h;
    return start(world, &options);
}

/* What hinges resist, the push, dies away in short steps as in long ones. */
TEST(a_chain_of_hinges_hangs_still)
{
    for (int links = 2; links < 6; links++)
        for (int k = 0; k < 3; k++) {
            double h = k == 0 ? 0.01 : k == 1 ? 0.002 : 0.0005;
            ss_sim *sim = start_hinges(links, (const double[]){0, 0, -0.4}, h);
            run(sim, 2000);
            double weight =
                links * g * 0.0025 * 0.01; // gives way under load: some of what falls in a small step
            ENSURE_NEAR(ss_sim_last(sim).joint_error, 0.0, 4.0 * weight * (h / 0.01) * (h / 0.01));
            ENSURE_NEAR(ss_sim_last(sim).kinetic, 0.0, 1e-12);
            end(sim);
        }
}

TEST(a_chain_of_hinges_that_swings_gains_no_energy)
{
    for (int links = 2; links < 5; links++) {
        ss_sim *sim = start_hinges(links, (const double[]){1.2 / links, 0, 0}, 0.002);
        double begin = energy_of(sim), most = begin, worst = 0.0;
        double fall = 1.2 * g * ss_world_body(ss_sim_world(sim), 0)->mass * links;
        for (int n = 0; n < 2000; n++) {
            run(sim, 1);
            most = fmax(most, energy_of(sim));
            worst = fmax(worst, ss_sim_last(sim).joint_error);
        }
        ENSURE_NEAR(fmax(0.0, most - begin) / fall, 0.0, 0.02); // of first order in h
        ENSURE(worst < 0.05);                                   // m, rad: joints do not come apart
        end(sim);
    }
}

/* ---- what is kept ----------------------------------------------------------------------------------- */

TEST(a_collision_keeps_momentum_and_gains_no_energy)
{
    ss_world *world = empty_world(0, 0, 0);
    add_box(world, 0, 0, 0, 1, 0.5, 0.3);
    add_box(world, 1.2, 0.3, 0.1, 0.4, 0.9, 0.7);
    ss_world_body(world, 0)->velocity[0] = 2;
    ss_world_body(world, 0)->velocity[5] = 1;
    ss_world_body(world, 1)->velocity[0] = -1;
    ss_sim *sim = start_fast(world, 1);
    ss_world_energy before = ss_world_measure(world);
    double most = before.kinetic;
    for (int n = 0; n < 200; n++) {
        run(sim, 1);
        most = fmax(most, ss_world_measure(world).kinetic);
    }
    ss_world_energy after = ss_world_measure(world);
    ENSURE(after.kinetic < 0.9 * before.kinetic); // they met
    ENSURE(most < 1.0001 * before.kinetic);       // rounding of floats, and the turn of a step
    for (int i = 0; i < 3; i++) {
        ENSURE_NEAR(after.momentum[i], before.momentum[i], 1e-3); // 300 kg m/s in floats, a few hundred times
        // arms are those of the start of a step, in which the boxes move by up to 30 mm: times 100 N s
        ENSURE_NEAR(after.angular_momentum[i], before.angular_momentum[i], 1.0);
    }
    end(sim);
}

TEST(a_pile_that_comes_to_rest_gains_no_energy)
{
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    for (int k = 0; k < 27; k++)
        add_box(world, 0.21 * (k % 3) + 0.02 * (k / 9), 0.21 * (k / 3 % 3), 0.12 + 0.25 * (k / 9), 0.2, 0.2,
                0.2);
    ss_sim *sim = start_fast(world, 1);
    double start_energy = energy_of(sim), most = 0.0, rest = 0.0;
    for (int n = 0; n < 300; n++) {
        run(sim, 1);
        most = fmax(most, energy_of(sim));
        if (n == 199) rest = energy_of(sim);
    }
    ENSURE(most <= start_energy * (1.0 + 1e-6));
    ENSURE_NEAR(energy_of(sim), rest, 1e-3 * start_energy); // heights within a millimetre
    ENSURE(ss_world_measure(world).kinetic < 1e-3 * start_energy);
    end(sim);
}

TEST(a_free_asymmetric_body_keeps_energy_and_momentum)
{
    ss_world *world = empty_world(0, 0, 0);
    int box = add_box(world, 0, 0, 0, 0.1, 0.3, 0.6);
    double spin[3] = {0.01, 5, 0.02};
    memcpy(ss_world_body(world, box)->velocity + 3, spin, sizeof spin);
    ss_sim *sim = start_fast(world, 1);
    ss_world_energy before = ss_world_measure(world);
    run(sim, 1000);
    ss_world_energy after = ss_world_measure(world);
    ENSURE_NEAR(after.kinetic / before.kinetic, 1.0, 1e-9); // as in any other step
    double most = before.angular_momentum[1];
    for (int i = 0; i < 3; i++)
        ENSURE_NEAR(after.angular_momentum[i] / most, before.angular_momentum[i] / most, 1e-9);
    end(sim);
}

/* ---- part of everything else ------------------------------------------------------------------------ */

/* Boxes, balls and capsules that fall onto each other, a platform that turns, a compound. */
static ss_world *fair(void)
{
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    add_body(world, (ss_body){.kind = SS_KINEMATIC, .position = {1, 1, 0.2}, .velocity = {0, 0, 0, 0, 0, 1}},
             (ss_shape){.kind = SS_BOX, .size = {2, 2, 0.2}});
    for (int k = 0; k < 60; k++) {
        ss_shape shape = {.kind = k % 3 == 0   ? SS_BOX
                                  : k % 3 == 1 ? SS_SPHERE
                                               : SS_CAPSULE,
                          .size = {0.2, 0.3, 0.2},
                          .density = 700 + 50 * (k % 5)};
        add_body(
            world,
            (ss_body){.kind = SS_DYNAMIC,
                      .position = {0.45 * (k % 4) + 0.03 * k / 4, 0.45 * (k / 4 % 4), 0.6 + 0.6 * (k / 16)},
                      .quaternion = {1, 0.1 * (k % 7), 0.2 * (k % 3), 0}},
            shape);
    }
    return world;
}

static void hash_after(int threads, const ss_soft_kernel *kernel, int steps, char hash[33])
{
    ss_sim *sim = start_fast(fair(), threads);
    if (kernel) sim->soft->kernel = kernel;
    run(sim, steps);
    ss_sim_hash(sim, hash);
    end(sim);
}

TEST(neither_threads_nor_the_kind_of_machine_change_a_bit)
{
    char one[33], two[33], portable[33];
    hash_after(1, NULL, 150, one);
    hash_after(3, NULL, 150, two);
    hash_after(1, &ss_soft_kernel_portable, 150, portable);
    ENSURE_TEXT(two, one);
    ENSURE_TEXT(portable, one);
}

/* So many stacks that colours are shared, some of them falling apart, some hit by a ball that bounces. */
static ss_world *town(void)
{
    enum { STACKS = 500, EDGE = 25 };
    ss_world *world = empty_world(0, 0, -g);
    set_materials(world, (ss_material_pair){.mu = 0.4, .restitution = 0.3});
    add_floor(world);
    for (int k = 0; k < 4 * STACKS; k++) {
        int stack = k / 4;
        ss_body body = {.kind = SS_DYNAMIC,
                        .position = {1.0 * (stack % EDGE), 1.0 * (stack / EDGE), 0.1 + 0.2 * (k % 4)}};
        if (k % 4 == 2) body.velocity[0] = 0.05 * (stack % 30);
        if (k % 4 == 3) body.position[2] += 0.01 * (stack % 7), body.velocity[2] = -2.0;
        ss_shape shape = {.kind = k % 4 < 3 ? SS_BOX : SS_SPHERE, .size = {0.2, 0.2, 0.2}, .density = 1000};
        if (k % 4 == 3) shape.size[0] = 0.1;
        add_body(world, body, shape);
    }
    return world;
}

TEST(a_town_has_the_same_bits_with_any_number_of_threads)
{
    static const int threads[] = {1, 2, 3, 8};
    char hash[4][33];
    for (int k = 0; k < 4; k++) {
        ss_sim *sim = start_fast(town(), threads[k]);
        run(sim, 8);
        ENSURE(ss_soft_is_shared(sim->soft, 0)); // enough batches of one colour
        ss_sim_hash(sim, hash[k]);
        end(sim);
    }
    for (int k = 1; k < 4; k++) ENSURE_TEXT(hash[k], hash[0]);
}

TEST(a_restored_snapshot_continues_bit_for_bit)
{
    char straight[33], resumed[33], other[33];
    ss_snapshot snapshot;
    ss_error err = {0};
    ss_sim *sim = start_fast(fair(), 1), *fresh = start_fast(fair(), 1);
    run(sim, 120);
    must(ss_sim_save(sim, &snapshot, &err), &err);
    run(sim, 100);
    ss_sim_hash(sim, straight);
    must(ss_sim_restore(sim, &snapshot, &err), &err);
    run(sim, 100);
    ss_sim_hash(sim, resumed);
    must(ss_sim_restore(fresh, &snapshot, &err), &err);
    run(fresh, 100);
    ss_sim_hash(fresh, other);
    ENSURE_TEXT(resumed, straight);
    ENSURE_TEXT(other, straight);
    ss_snapshot_free(&snapshot);
    end(sim);
    end(fresh);
}

/* Without a look at it no frame is made; with one, it is that of the whole step. */
TEST(the_frame_of_a_step_holds_its_problem_and_what_the_small_steps_made_of_it)
{
    char looked[33], unseen[33];
    ss_sim *sim = start_fast(fair(), 1);
    int joined = 0;
    for (int n = 0; n < 100; n++) {
        run(sim, 1);
        const ss_frame *frame = ss_sim_frame(sim);
        const ss_answer *answer = ss_sim_answer(sim);
        ENSURE(frame != NULL && answer != NULL);
        ENSURE_NEAR(frame->time, 0.01 * n, 1e-12);
        joined += frame->contacts.count;

        /* M (v+ - v) = h f + J' impulses, body by body: what the answer says is what moved the world. */
        for (int b = 0; b < frame->bodies.count; b++) {
            double balance[3], weight = frame->bodies.mass[b];
            for (int i = 0; i < 3; i++)
                balance[i] = weight * (answer->velocity[b][i] - frame->bodies.velocity[b][i]) -
                             frame->h * frame->bodies.force[b][i];
            for (int c = 0; c < frame->contacts.count; c++)
                for (int side = 0; side < 2; side++) {
                    if (frame->contacts.pair[c][side] != b) continue;
                    for (int i = 0; i < 3; i++)
                        balance[i] -=
                            (side ? 1.0 : -1.0) * (answer->normal_impulse[c] * frame->contacts.normal[c][i] +
                                                   answer->friction_impulse[c][i]);
                }
            // floats: 1e-7 of velocities of some m/s in each pass
            for (int i = 0; i < 3; i++) ENSURE_NEAR(balance[i] / weight, 0.0, 2e-5);
        }
    }
    ENSURE(joined > 1000);
    ss_sim_hash(sim, looked);
    end(sim);
    hash_after(1, NULL, 100, unseen);
    ENSURE_TEXT(looked, unseen);
}

static bool stop_here(ss_sim *sim, void *context, ss_error *err)
{
    (void)context;
    return ss_sim_steps(sim) < 31 || ss_fail(err, SS_ERROR_USAGE, "that is enough");
}

TEST(a_step_that_a_user_function_stops_leaves_everything_as_it_was)
{
    char before[33], after[33], straight[33];
    hash_after(1, NULL, 60, straight);
    for (int stage = 0; stage < SS_STAGE_COUNT; stage++) {
        if (stage == SS_BEFORE_SOLVE) continue;
        ss_error err = {0};
        ss_sim *sim = start_fast(fair(), 1);
        bool counted = stage == SS_AFTER_STEP; // the step, when the function is called
        must(ss_sim_call_at(sim, (ss_stage)stage, stop_here, NULL, &err), &err);
        run(sim, counted ? 30 : 31);
        ss_sim_hash(sim, before);
        ENSURE(!ss_sim_step(sim, &err));
        ENSURE_CONTAINS(err.message, "that is enough");
        ss_sim_hash(sim, after);
        ENSURE_TEXT(after, before);
        sim->calls[stage].count = 0;
        run(sim, counted ? 30 : 29);
        ss_sim_hash(sim, after);
        end(sim);
        ENSURE_TEXT(after, straight);
    }
}

TEST(a_mass_that_is_of_no_use_is_forgotten_with_its_step)
{
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    int box = add_box(world, 0, 0, 0.1, 0.2, 0.2, 0.2);
    ss_sim *sim = start_fast(world, 1);
    run(sim, 10);
    double inertia = ss_world_body(world, box)->inertia[8];
    ss_world_body(world, box)->inertia[8] = -inertia;
    ENSURE(!ss_sim_step(sim, NULL));
    ss_world_body(world, box)->inertia[8] = inertia;
    ss_world_body(world, box)->velocity[5] = 1.0;
    run(sim, 1);
    ENSURE_NEAR(body_of(sim, box)->velocity[5], 0.0, 1e-6); // friction stops such a turn at once
    end(sim);
}

/* Its frame would be made from the state before the step, which new bodies have none of. */
TEST(no_frame_is_made_of_a_world_that_has_grown_since)
{
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    add_box(world, 0, 0, 0.1, 0.2, 0.2, 0.2);
    ss_sim *sim = start_fast(world, 1);
    run(sim, 10);
    for (int k = 0; k < 20; k++) add_box(world, k, 3, 1, 0.2, 0.2, 0.2);
    ENSURE(ss_sim_frame(sim) == NULL && ss_sim_answer(sim) == NULL);
    must(ss_world_finish(world, &err), &err);
    run(sim, 1);
    ENSURE_INT(ss_sim_frame(sim)->bodies.count, 21);
    end(sim);
}

TEST(a_step_that_diverges_leaves_everything_as_it_was)
{
    char before[33], after[33];
    ss_error err = {0};
    ss_sim *sim = start_fast(fair(), 1);
    run(sim, 30);
    ss_world_body(ss_sim_world(sim), 60)->force[0] = 1e12; // the last body: others have moved by then
    ss_sim_hash(sim, before);
    ENSURE(!ss_sim_step(sim, &err));
    ENSURE_CONTAINS(err.message, "diverged");
    ss_sim_hash(sim, after);
    ENSURE_TEXT(after, before);
    end(sim);
}

/* Contacts that follow their bodies are those that would be found again, to second order in the motion. */
/* Three boxes that slide, the last one after a step that could not be done. */
static void slide_after_failure(bool fails, char hash[33])
{
    ss_world *world = empty_world(0, 0, -g);
    add_floor(world);
    for (int k = 0; k < 3; k++) {
        int box = add_box(world, 0, k, 0.1, 0.2, 0.2, 0.2);
        ss_world_body(world, box)->velocity[0] = 1.0 + k;
    }
    ss_sim *sim = start_fast(world, 1);
    run(sim, 10);
    if (fails) {
        ss_world_body(ss_sim_world(sim), 1)->force[0] = NAN;
        ENSURE(!ss_sim_step(sim, NULL));
        ss_world_body(ss_sim_world(sim), 1)->force[0] = 0.0;
    }
    run(sim, 10);
    ss_sim_hash(sim, hash);
    end(sim);
}

TEST(a_step_that_failed_is_forgotten)
{
    char without[33], with[33];
    slide_after_failure(false, without);
    slide_after_failure(true, with);
    ENSURE_TEXT(with, without);
}

TEST(kept_contacts_follow_their_bodies)
{
    ss_error err = {0};
    ss_contact_list kept, found;
    ss_world *world = empty_world(0, 0, -g);
    add_box(world, 0, 0, 0, 1, 1, 0.2);
    int upper = add_box(world, 0.1, 0, 0.2, 0.6, 0.4, 0.2);
    must(ss_world_finish(world, &err), &err);
    ss_collision *keeps = ss_collision_create(world, NULL, &err), *finds;
    must(keeps != NULL, &err);
    ss_collision_keep(keeps);
    must(ss_collision_find(keeps, 0.01, NULL, &kept, &err), &err);
    ENSURE_INT(kept.count, 4);
    for (int far = 0; far < 2; far++) {
        ss_body *body = ss_world_body(world, upper);
        body->position[0] += far ? 0.05 : 2e-4; // 0.2 mm is little, 5 cm is not
        body->position[2] -= far ? 0.0 : 1e-4;
        body->quaternion[1] = 2e-4; // and 0.4 mrad
        finds = ss_collision_create(world, NULL, &err);
        must(finds && ss_collision_find(finds, 0.01, NULL, &found, &err), &err);
        must(ss_collision_find(keeps, 0.01, NULL, &kept, &err), &err);
        ENSURE_INT(found.count, 4);
        ENSURE_INT(kept.count, 4);
        for (int c = 0; c < 4; c++) {
            ENSURE(kept.items[c].key == found.items[c].key);
            ENSURE_NEAR(kept.items[c].gap, found.items[c].gap, far ? 1e-12 : 5e-7); // 0.4 mrad squared, 0.3 m
            for (int i = 0; i < 3; i++) ENSURE_NEAR(kept.items[c].point[i], found.items[c].point[i], 3e-4);
        }
        ss_collision_destroy(finds);
    }
    ss_collision_destroy(keeps);
    ss_world_destroy(world);
}

/* What a velocity leaves out because its gap does not close, another one may close: at the same places, what
 * is kept has all contacts that are found anew. */
static void touch_nothing(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                          ss_manifold *manifold, void *context)
{
    (void)a, (void)b, (void)margin, (void)context;
    manifold->count = 0;
}

TEST(another_function_for_a_pair_of_shapes_is_asked_at_once)
{
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    must(ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_BOX, .size = {2, 2, 0.2}}, &err) >= 0,
         &err);
    int box = add_box(world, 0, 0, 0.2, 0.2, 0.2, 0.2);
    ss_sim *sim = start_fast(world, 1);
    run(sim, 50);
    ENSURE_NEAR(body_of(sim, box)->velocity[2], 0.0, 1e-4);
    must(ss_collision_replace(ss_sim_collision(sim), SS_BOX, SS_BOX, touch_nothing, NULL, &err), &err);
    run(sim, 1);
    ENSURE_NEAR(body_of(sim, box)->velocity[2], -0.01 * g, 1e-4); // it falls
    end(sim);
}

TEST(kept_contacts_are_all_there_when_velocities_change)
{
    const double h = 0.01;
    ss_error err = {0};
    ss_contact_list kept, found;
    ss_world *world = empty_world(0, 0, -g);
    add_box(world, 0, 0, 0, 1, 1, 0.2);
    int upper = add_box(world, 0.0, 0, 0.204, 0.6, 0.4, 0.2);
    must(ss_world_finish(world, &err), &err);
    ss_body *body = ss_world_body(world, upper);
    body->quaternion[2] = 0.01; // one side 2 mm below the face, the other 10 mm above it
    body->quaternion[0] = sqrt(1.0 - 0.01 * 0.01);
    ss_collision *keeps = ss_collision_create(world, NULL, &err);
    must(keeps != NULL, &err);
    ss_collision_keep(keeps);
    ss_random random = ss_random_start(7, 0);
    int most = 0, least = 99;
    for (int round = 0; round < 200; round++) {
        body->velocity[2] = ss_random_between(&random, -1.0, 1.0);
        body->velocity[4] = ss_random_between(&random, -2.0, 2.0);
        ss_collision *finds = ss_collision_create(world, NULL, &err);
        must(finds && ss_collision_find(finds, h, NULL, &found, &err), &err);
        must(ss_collision_find(keeps, h, NULL, &kept, &err), &err);
        for (int c = 0; c < found.count; c++) {
            int k = 0;
            while (k < kept.count && kept.items[k].key != found.items[c].key) k++;
            ENSURE(k < kept.count);
            ENSURE_NEAR(kept.items[k].gap, found.items[c].gap, 1e-12);
        }
        most = found.count > most ? found.count : most;
        least = found.count < least ? found.count : least;
        ss_collision_destroy(finds);
    }
    ENSURE(least < most); // some velocities did leave contacts out
    ss_collision_destroy(keeps);
    ss_world_destroy(world);
}

/* Rocks wander among each other, most of the time by little. Whatever is kept, points or axes along which two
 * are apart: an overlap that is found anew is known, to 1 % of the smaller rock. */
TEST(what_is_kept_hides_no_overlap)
{
    enum { ROCKS = 30 };
    const double h = 0.01, reach = 0.8;
    ss_error err = {0};
    ss_random random = ss_random_start(11, 0);
    ss_world *world = empty_world(0, 0, -g);
    for (int k = 0; k < ROCKS; k++) {
        double points[16][3];
        for (int p = 0; p < 16; p++)
            for (int i = 0; i < 3; i++) points[p][i] = ss_random_between(&random, -0.2, 0.2);
        ss_mesh *mesh = ss_mesh_hull((const double(*)[3])points, 16, &err);
        must(mesh != NULL, &err);
        ss_body rock = {.kind = SS_DYNAMIC, .quaternion = {1, 0, 0, 0}};
        for (int i = 0; i < 3; i++) rock.position[i] = ss_random_between(&random, -reach, reach);
        int b = ss_world_add_body(world, &rock, &err);
        must(b >= 0, &err);
        ss_shape shape = {.kind = SS_HULL, .mesh = mesh, .density = 1000.0};
        must(ss_world_add_shape(world, b, &shape, &err) >= 0, &err);
        ss_mesh_destroy(mesh);
    }
    must(ss_world_finish(world, &err), &err);
    ss_collision *keeps = ss_collision_create(world, NULL, &err);
    ss_collision *finds = ss_collision_create(world, NULL, &err);
    must(keeps && finds, &err);
    ss_collision_keep(keeps);

    int overlaps = 0;
    for (int step = 0; step < 400; step++) {
        ss_contact_list kept, found;
        for (int b = 0; b < ROCKS; b++) {
            ss_body *body = ss_world_body(world, b);
            bool far = ss_random_below(&random, 20) == 0;
            for (int i = 0; i < 3; i++) {
                body->velocity[i] = (far ? 2.0 : 0.05) * ss_random_between(&random, -1.0, 1.0);
                body->velocity[3 + i] = (far ? 4.0 : 0.1) * ss_random_between(&random, -1.0, 1.0);
                if (fabs(body->position[i] + h * body->velocity[i]) > reach) body->velocity[i] = 0.0;
                body->position[i] += h * body->velocity[i];
            }
            ss_quat turned =
                ss_quat_integrate(ss_quat_load(body->quaternion), ss_vec3_load(body->velocity + 3), h);
            ss_quat_store(turned, body->quaternion);
        }
        must(ss_collision_find(keeps, h, NULL, &kept, &err), &err);
        must(ss_collision_find(finds, h, NULL, &found, &err), &err);
        int at = 0;
        for (int c = 0; c < found.count; c++) {
            const ss_contact *of = &found.items[c];
            bool starts = c == 0 || of[-1].shape_a != of->shape_a || of[-1].shape_b != of->shape_b;
            if (!starts) continue;
            double least = INFINITY, known = INFINITY;
            for (int k = c; k < found.count && found.items[k].shape_a == of->shape_a &&
                            found.items[k].shape_b == of->shape_b;
                 k++)
                least = fmin(least, found.items[k].gap);
            while (at < kept.count &&
                   (kept.items[at].shape_a < of->shape_a ||
                    (kept.items[at].shape_a == of->shape_a && kept.items[at].shape_b < of->shape_b)))
                at++;
            for (int k = at; k < kept.count && kept.items[k].shape_a == of->shape_a &&
                             kept.items[k].shape_b == of->shape_b;
                 k++)
                known = fmin(known, kept.items[k].gap);
            if (least > 0.0) continue;
            overlaps++;
            ENSURE(known <= least + 0.01 * 0.4);
        }
    }
    ENSURE(overlaps > 1000);
    ss_collision_destroy(keeps);
    ss_collision_destroy(finds);
    ss_world_destroy(world);
}

static void ensure_refused(ss_world *world, ss_sim_options options, const char *why)
{
    ss_error err = {0};
    options.fast = true;
    ENSURE(ss_sim_create(world, &options, &err) == NULL);
    ENSURE_CONTAINS(err.message, why);
}

TEST(what_does_not_go_with_real_time_steps_is_refused)
{
    ss_error err = {0};
    ss_world *world = fair();
    ss_sim_options options = default_options();
    options.solver = "nsgs";
    ensure_refused(world, options, "a solver");
    options = default_options();
    options.peg = SS_PEG_SELECT;
    ensure_refused(world, options, "polyhedral exact geometry");
    options = default_options();
    options.coordinates = SS_MINIMAL;
    ensure_refused(world, options, "minimal coordinates");
    ss_sim *sim = start_fast(world, 1);
    ENSURE(!ss_sim_call_at(sim, SS_BEFORE_SOLVE, stop_here, NULL, &err));
    ENSURE_CONTAINS(err.message, "have no frame");
    end(sim);

    world = fair();
    set_materials(world, (ss_material_pair){.mu = 0.5, .mu_rolling = 0.01});
    sim = start_fast(world, 1);
    bool went_on = true;
    for (int n = 0; n < 100 && went_on; n++) went_on = ss_sim_step(sim, &err);
    ENSURE(!went_on);
    ENSURE_CONTAINS(err.message, "rolling friction");
    end(sim);

    world = empty_world(0, 0, -g);
    ss_material wood = {.name = "wood", .mu = 0.5, .mu_across = 0.2, .grain = {1.0, 0.0, 0.0}};
    add_floor(world);
    add_ball(world, 0, 0, 0.1, 0.1);
    ss_world_shape(world, 0)->material = ss_world_add_material(world, &wood, NULL);
    sim = start_fast(world, 1);
    ENSURE(!ss_sim_step(sim, &err));
    ENSURE_CONTAINS(err.message, "friction with a grain");
    end(sim);
}

TEST_MAIN
