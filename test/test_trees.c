/* Minimal coordinates in simulations: trees of a world, how they move, and what they do in a step. */
#include "tree_worlds.h"

#include "faults.h"
#include "tree/tree.h"

#include <math.h>
#include <string.h>

static const ss_joint_kind kinds[] = {SS_JOINT_FIXED,       SS_JOINT_REVOLUTE,  SS_JOINT_PRISMATIC,
                                      SS_JOINT_CYLINDRICAL, SS_JOINT_UNIVERSAL, SS_JOINT_BALL,
                                      SS_JOINT_PLANAR,      SS_JOINT_SCREW};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* How far the same world is apart after half a second, in both kinds of coordinates. */
static double apart(ss_joint_kind kind, bool turned, double h)
{
    ss_sim *sim[2];
    ss_world *world[2];
    double largest = 0.0;
    for (int k = 0; k < 2; k++) {
        world[k] = make_pair(kind, turned, false);
        sim[k] = start(world[k], k ? SS_MINIMAL : SS_MAXIMAL, h);
        run(sim[k], 1); // minimal coordinates drop what the joints do not allow in other ways
    }
    for (int b = 0; b < 2; b++) { // so that both go on from one state
        memcpy(ss_world_body(world[0], b)->position, ss_world_body(world[1], b)->position,
               3 * sizeof(double));
        memcpy(ss_world_body(world[0], b)->quaternion, ss_world_body(world[1], b)->quaternion,
               4 * sizeof(double));
        memcpy(ss_world_body(world[0], b)->velocity, ss_world_body(world[1], b)->velocity,
               6 * sizeof(double));
    }
    for (int k = 0; k < 2; k++) run(sim[k], (int)(0.5 / h + 0.5));
    for (int b = 0; b < 2; b++)
        largest = fmax(largest, largest_difference(ss_world_body(world[0], b)->position,
                                                   ss_world_body(world[1], b)->position, 3));
    for (int k = 0; k < 2; k++) {
        ss_sim_destroy(sim[k]);
        ss_world_destroy(world[k]);
    }
    return largest;
}

TEST(every_kind_of_joint_moves_alike_in_both_coordinates_as_the_step_shrinks)
{
    for (int k = 0; k < KINDS; k++) {
        for (int turned = 0; turned < 2; turned++) {
            double coarse = apart(kinds[k], turned, 0.002), fine = apart(kinds[k], turned, 0.0005);
            if (!(fine < 0.4 * coarse + 1e-9) || !(fine < 4e-3)) // both rules are of first order
                KIT_FAIL("%s%s: %.3g apart with h, %.3g with h/4", ss_joint_kind_name(kinds[k]),
                         turned ? ", turned" : "", coarse, fine);
        }
    }
}

/* The same of two rules for the bias, the first of them `midway`. */
static double rules_apart(ss_joint_kind kind, bool turned, ss_bias other, double h)
{
    ss_error err = {0};
    ss_sim *sim[2];
    ss_world *world[2];
    double largest = 0.0;
    for (int k = 0; k < 2; k++) {
        ss_sim_options options = options_of(SS_MINIMAL, h);
        options.bias = k ? other : SS_BIAS_MIDWAY;
        world[k] = make_pair(kind, turned, false);
        sim[k] = known(ss_sim_create(world[k], &options, &err), &err);
        run(sim[k], (int)(0.5 / h + 0.5));
    }
    for (int b = 0; b < ss_world_body_count(world[0]); b++) {
        const double *x = ss_world_body(world[0], b)->position, *y = ss_world_body(world[1], b)->position;
        largest = fmax(largest, hypot(hypot(x[0] - y[0], x[1] - y[1]), x[2] - y[2]));
    }
    for (int k = 0; k < 2; k++) {
        ss_sim_destroy(sim[k]);
        ss_world_destroy(world[k]);
    }
    return largest;
}

TEST(every_kind_of_joint_moves_alike_by_all_three_rules_as_the_step_shrinks)
{
    for (int k = 0; k < KINDS; k++) {
        for (int turned = 0; turned < 2; turned++) {
            for (int rule = 0; rule < 2; rule++) {
                ss_bias other = rule ? SS_BIAS_EXPLICIT : SS_BIAS_CARRIED;
                double coarse = rules_apart(kinds[k], turned, other, 2e-3),
                       fine = rules_apart(kinds[k], turned, other, 5e-4);
                ENSURE(coarse < 0.02);               // m: of first order in h, of paths of decimetres
                ENSURE(fine < 0.35 * coarse + 1e-9); // a quarter, and what is left of second order
            }
        }
    }
}

TEST(joints_of_trees_stay_at_rounding_and_their_frames_have_no_findings)
{
    for (int k = 0; k < 2 * KINDS; k++) {
        ss_world *world = make_pair(kinds[k / 2], k % 2, k == 5);
        ss_sim *sim = start(world, SS_MINIMAL, 0.005);
        for (int i = 0; i < 40; i++) {
            run(sim, 5);
            ss_findings findings = {0};
            bool good = ss_frame_check(ss_sim_frame(sim), "F", &findings);
            if (!good || findings.count)
                KIT_FAIL("%s: %s: %s", ss_joint_kind_name(kinds[k / 2]), findings.items[0].place,
                         findings.items[0].message);
            ss_findings_free(&findings);
            for (int j = 0; j < ss_world_joint_count(world); j++)
                ENSURE_NEAR(ss_joint_error(world, j), 0.0, 1e-13); // a few roundings of metres and radians
        }
        ss_sim_destroy(sim);
        ss_world_destroy(world);
    }
}

/* ---- mechanics -------------------------------------------------------------------------------------- */

/* Angle of a rod that swings by 1 rad, after one exact period. */
static double pendulum_error(double h)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    double amplitude = 1.0, period;
    int number = add_pendulum(world, amplitude, &period);
    int steps = (int)(period / h + 0.5);
    ss_sim *sim = start(world, SS_MINIMAL, period / steps);
    run(sim, steps);
    const double *x = ss_world_body(world, number)->position;
    double error = atan2(x[0], -x[2]) - amplitude;
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    return fabs(error);
}

TEST(a_pendulum_is_back_after_the_period_of_the_elliptic_integral)
{
    double coarse = pendulum_error(0.002), fine = pendulum_error(0.0005);
    ENSURE(coarse < 1e-2);
    ENSURE(fine < 0.3 * coarse); // first order: a quarter
}

/* Two and three rods in a row, released from the side. */
static ss_world *make_chain(int links)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    for (int k = 0, before = SS_WORLD; k < links; k++) {
        int link = add_body(world, 0.25 + 0.5 * k, 0.0, 0.0, 1.0);
        add_joint(world, &(ss_joint){.kind = k % 2 ? SS_JOINT_BALL : SS_JOINT_REVOLUTE,
                                     .a = before,
                                     .b = link,
                                     .anchor = {0.5 * k, 0, 0},
                                     .axis = {0, 1, 0.3}});
        before = link;
    }
    return world;
}

static double energy_gain(int links, double h, double time, ss_bias bias)
{
    ss_error err = {0};
    ss_world *world = make_chain(links);
    ss_sim_options options = options_of(SS_MINIMAL, h);
    options.bias = bias;
    ss_sim *sim = known(ss_sim_create(world, &options, &err), &err);
    ss_world_energy before = ss_world_measure(world);
    run(sim, (int)(time / h + 0.5));
    ss_world_energy after = ss_world_measure(world);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    return after.kinetic + after.potential - before.kinetic - before.potential;
}

static double energy_error(int links, double h)
{
    return fabs(energy_gain(links, h, 0.5, SS_BIAS_EXPLICIT));
}

/* Ten rods at a step that is far too long: explicit forces would throw them apart. Energy is lost, not
 * gained, and the less the shorter the step. */
TEST(bodies_that_bring_their_momenta_along_gain_no_energy)
{
    double coarse = energy_gain(10, 0.01, 1.0, SS_BIAS_CARRIED);
    double fine = energy_gain(10, 0.001, 1.0, SS_BIAS_CARRIED);
    ENSURE(coarse < 0.0 && fine < 0.0);
    ENSURE(-fine < 0.3 * -coarse); // first order: a tenth, if the motion were the same
    double short_step = energy_gain(3, 0.0005, 0.5, SS_BIAS_CARRIED);
    ENSURE_NEAR(short_step, 0.0, 0.2); // of about 5 J that change hands
}

/* Energy errors of forces midway do not add up: for long, and for steps in which explicit forces gain more
 * than there is. */
TEST(forces_midway_keep_the_energy_of_a_triple_pendulum_and_carry_it_through_steps_that_are_too_long)
{
    double later = energy_gain(3, 0.002, 6.0, SS_BIAS_MIDWAY),
           drift = energy_gain(3, 0.002, 6.0, SS_BIAS_EXPLICIT);
    ENSURE_NEAR(later, 0.0,
                0.3); // of 15 J that change hands: the error of one moment, (v h / 2) times the force
    ENSURE(drift > 10.0 * fabs(later));
    ENSURE_NEAR(energy_gain(10, 0.02, 2.0, SS_BIAS_MIDWAY), 0.0, 150.0); // not kept, but not thrown apart
}

TEST(double_and_triple_pendulums_keep_their_energy_to_first_order)
{
    for (int links = 2; links <= 3; links++) {
        double coarse = energy_error(links, 0.002), fine = energy_error(links, 0.0005);
        ENSURE(coarse < 0.2); // of about 5 J that change hands
        ENSURE(fine < 0.35 * coarse + 1e-6);
    }
}

static void momentum_error(double h, double *linear, double *angular)
{
    ss_world *world = make_pair(SS_JOINT_BALL, false, true);
    ss_sim *sim = start(world, SS_MINIMAL, h);
    run(sim, 1); // velocities that the joint allows
    ss_world_energy before = ss_world_measure(world);
    run(sim, (int)(1.0 / h + 0.5));
    ss_world_energy after = ss_world_measure(world);
    *linear = largest_difference(before.momentum, after.momentum, 3);
    *angular = largest_difference(before.angular_momentum, after.angular_momentum, 3);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
}

TEST(a_free_pair_of_bodies_keeps_its_momentum_to_first_order)
{
    double linear[2], angular[2];
    momentum_error(0.004, &linear[0], &angular[0]);
    momentum_error(0.001, &linear[1], &angular[1]);
    ENSURE(linear[0] < 2e-2);
    ENSURE(linear[1] < 0.35 * linear[0] + 1e-9);
    ENSURE(angular[1] < 0.35 * angular[0] + 1e-9);
}

/* A slide of mass m with a rotor of inertia a on a wheel that turns steadily: (m + a) s'' = m w^2 s, because
 * the rotor does not travel with the slide. */
static double slide_with_rotor(ss_coordinate_kind coordinates, ss_joint_stabilisation joints, double h)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    memset(ss_world_gravity(world), 0, 3 * sizeof(double));
    ss_body wheel = {.kind = SS_DYNAMIC, .mass = 1e6, .inertia = {1e6, 0, 0, 0, 1e6, 0, 0, 0, 1e6}};
    wheel.velocity[5] = 2.0;
    ss_body slide = {.kind = SS_DYNAMIC,
                     .mass = 1.0,
                     .inertia = {0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.01},
                     .position = {0.1, 0, 0},
                     .velocity = {0, 0.2, 0, 0, 0, 2.0}};
    int first = ss_world_add_body(world, &wheel, &err), second = ss_world_add_body(world, &slide, &err);
    add_joint(world, &(ss_joint){.kind = SS_JOINT_REVOLUTE, .a = SS_WORLD, .b = first, .axis = {0, 0, 1}});
    ss_joint joint = {.kind = SS_JOINT_PRISMATIC, .a = first, .b = second, .axis = {1, 0, 0}};
    joint.law[0].armature = 3.0;
    add_joint(world, &joint);
    ss_sim_options options = options_of(coordinates, h);
    options.joints = joints;
    ss_sim *sim = known(ss_sim_create(world, &options, &err), &err);
    run(sim, (int)(1.0 / h + 0.5));
    double position = NAN;
    ss_joint_coordinate(world, 1, 0, &position, NULL);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    return position + 0.1;
}

TEST(a_rotor_on_a_turning_slide_feels_no_centrifugal_force)
{
    // m / (m + a) is a quarter: s grows with cosh(w t / 2); first order in h
    double exact = 0.1 * cosh(0.5 * 2.0 * 1.0);
    ENSURE_NEAR(slide_with_rotor(SS_MINIMAL, SS_STABILISE_NONE, 0.0005), exact, 2e-4);
    static const ss_joint_stabilisation ways[] = {SS_STABILISE_BAUMGARTE, SS_STABILISE_PROJECTION,
                                                  SS_STABILISE_IMPULSE};
    for (int i = 0; i < 3; i++) {
        double coarse = slide_with_rotor(SS_MAXIMAL, ways[i], 0.002) - exact,
               fine = slide_with_rotor(SS_MAXIMAL, ways[i], 0.0005) - exact;
        if (fabs(coarse) > 1e-3 || fabs(fine) > 0.35 * fabs(coarse))
            KIT_FAIL("way %d: off by %.3g m with h, %.3g m with h/4", i, coarse, fine);
    }
}

/* A step without contacts is solved by articulated bodies; the answer that one looks at is that of the mass
 * matrix and its factor. */
TEST(articulated_bodies_and_the_factor_of_the_mass_matrix_find_the_same_rates)
{
    for (int k = 0; k < 2 * KINDS; k++) {
        ss_world *world = make_pair(kinds[k / 2], k % 2, k % 4 == 3);
        ss_sim *sim = start(world, SS_MINIMAL, 0.01);
        ss_trees trees = {0};
        ss_error err = {0};
        for (int i = 0; i < 20; i++) {
            run(sim, 1);
            const ss_answer *answer = ss_sim_answer(sim);
            ENSURE(ss_trees_update(&trees, world, &err)); // rates after the step
            ENSURE_INT(answer->coordinates, trees.coordinates);
            for (int l = 0; l < trees.count; l++)
                for (int c = 0; c < trees.link[l].count; c++)
                    ENSURE_NEAR(trees.link[l].rate[c], answer->generalized_velocity[trees.link[l].first + c],
                                1e-11); // of rates of a few per second
        }
        ss_trees_free(&trees);
        ss_sim_destroy(sim);
        ss_world_destroy(world);
    }
}

static bool look_on(ss_sim *sim, void *context, ss_error *err)
{
    (void)sim, (void)context, (void)err;
    return true;
}

/* Trees that touch nothing step without a frame, unless a user function might change it. The frame that
 * is made later, and everything else, is the same bit for bit. */
TEST(a_frame_that_is_made_later_is_the_one_that_would_have_been_made)
{
    for (int k = 0; k < 2 * KINDS; k++) {
        ss_error err = {0};
        ss_world *world[2];
        ss_sim *sim[2];
        for (int i = 0; i < 2; i++) {
            world[i] = make_pair(kinds[k / 2], k % 2, k % 4 == 3);
            ss_world_joint(world[i], ss_world_joint_count(world[i]) - 1)->law[0].force = 0.3;
            sim[i] = start(world[i], SS_MINIMAL, 0.01);
        }
        ENSURE(ss_sim_call_at(sim[1], SS_BEFORE_SOLVE, look_on, NULL, &err));
        for (int n = 0; n < 4; n++) {
            for (int i = 0; i < 2; i++) run(sim[i], 1 + n);
            ENSURE_INT(ss_sim_last(sim[0]).rows, ss_sim_last(sim[1]).rows);
            // what happens to the world before someone looks does not matter
            double *force = ss_world_body(world[0], 0)->force, x = ss_world_body(world[0], 0)->position[0];
            force[2] = 5.0;
            ENSURE(ss_frame_equal(ss_sim_frame(sim[0]), ss_sim_frame(sim[1])));
            ENSURE(force[2] == 5.0 && ss_world_body(world[0], 0)->position[0] == x);
            force[2] = 0.0;
            const ss_answer *answer[2] = {ss_sim_answer(sim[0]), ss_sim_answer(sim[1])};
            ENSURE(memcmp(answer[0]->velocity, answer[1]->velocity, 2 * sizeof *answer[0]->velocity) == 0);
            ENSURE(memcmp(answer[0]->row_impulse, answer[1]->row_impulse,
                          (size_t)answer[0]->rows * sizeof(double)) == 0);
            char hash[2][33];
            for (int i = 0; i < 2; i++) ss_sim_hash(sim[i], hash[i]);
            ENSURE_TEXT(hash[0], hash[1]);
        }

        // what is wrong is said in the same words
        run(sim[0], 1);
        run(sim[1], 1);
        for (int i = 0; i < 2; i++) ss_world_body(world[i], 1)->force[4] = NAN;
        ss_error other = {0};
        ENSURE(!ss_sim_step(sim[0], &err) && !ss_sim_step(sim[1], &other));
        ENSURE_TEXT(err.message, other.message);

        // the state before the step does not fit a world to which something was added since
        ss_world_body(world[0], 1)->force[4] = 0.0;
        run(sim[0], 1);
        add_body(world[0], 5.0, 0.0, 0.0, 1.0);
        ENSURE(!ss_sim_frame(sim[0]) && !ss_sim_answer(sim[0]));
        for (int i = 0; i < 2; i++) {
            ss_sim_destroy(sim[i]);
            ss_world_destroy(world[i]);
        }
    }
}

/* Links and axes are kept from step to step; what a user does to joints and bodies between two steps is
 * seen. */
TEST(a_world_that_changes_between_steps_is_looked_at_again)
{
    ss_error err = {0};
    for (int change = 0; change < 4; change++) {
        ss_world *world[2];
        ss_sim *sim[2];
        for (int i = 0; i < 2; i++) {
            world[i] = make_pair(SS_JOINT_REVOLUTE, false, false);
            sim[i] = start(world[i], SS_MINIMAL, 0.005);
            run(sim[i], 5);
            if (i == 0) { // a new simulation of the same world knows nothing from before
                ss_snapshot saved;
                ENSURE(ss_sim_save(sim[0], &saved, &err));
                ss_sim_destroy(sim[0]);
                sim[0] = start(world[0], SS_MINIMAL, 0.005);
                ENSURE(ss_sim_restore(sim[0], &saved, &err));
                ss_snapshot_free(&saved);
            }
            if (change == 0) ss_world_joint(world[i], 1)->disabled = true;
            if (change == 1) ss_world_joint(world[i], 1)->compliance = 1e-3;
            if (change == 2) ss_world_body(world[i], 1)->velocity[3] = 2.0;
            if (change == 3) ss_world_body(world[i], 1)->disabled = true;
            run(sim[i], 5);
        }
        char hash[2][33];
        for (int i = 0; i < 2; i++) ss_sim_hash(sim[i], hash[i]);
        if (strcmp(hash[0], hash[1]) != 0) KIT_FAIL("change %d is not seen", change);
        for (int i = 0; i < 2; i++) {
            ss_sim_destroy(sim[i]);
            ss_world_destroy(world[i]);
        }
    }
}

/* ---- scenes in both coordinates --------------------------------------------------------------------- */

/* A fast top for a second, at steps in which it turns by 0.1 and 0.3 rad. */
TEST(forces_midway_keep_the_energy_of_a_top_and_its_momenta)
{
    static const double steps[] = {0.001, 0.003};
    for (int i = 0; i < 2; i++) {
        ss_world *world;
        void *state;
        ss_sim *sim = scene_sim("spinning-top", SS_MINIMAL, steps[i], &world, &state);
        ss_world_energy before = ss_world_measure(world);
        run(sim, (int)(1.0 / steps[i] + 0.5));
        ss_world_energy after = ss_world_measure(world);
        double change = after.kinetic + after.potential - before.kinetic - before.potential;
        ENSURE_NEAR(change, 0.0, 20.0 * steps[i] * steps[i]); // of 16 J: second order, no drift
        ENSURE_NEAR(after.angular_momentum[2] / before.angular_momentum[2], 1.0, 50.0 * steps[i] * steps[i]);
        ss_sim_destroy(sim);
        ss_world_destroy(world);
        ss_release(state);
    }
}

static double scenes_apart(const char *name, double h, double seconds)
{
    ss_world *world[2];
    void *state[2];
    double largest = 0.0;
    ss_sim *sim[2];
    for (int k = 0; k < 2; k++) {
        sim[k] = scene_sim(name, k ? SS_MINIMAL : SS_MAXIMAL, h, &world[k], &state[k]);
        run(sim[k], (int)(seconds / h + 0.5));
    }
    for (int b = 0; b < ss_world_body_count(world[0]); b++)
        largest = fmax(largest, largest_difference(ss_world_body(world[0], b)->position,
                                                   ss_world_body(world[1], b)->position, 3));
    for (int k = 0; k < 2; k++) {
        ss_sim_destroy(sim[k]);
        ss_world_destroy(world[k]);
        ss_release(state[k]);
    }
    return largest;
}

TEST(a_closed_four_bar_and_a_spinning_top_agree_as_the_step_shrinks)
{
    static const struct {
        const char *name;
        double h, seconds;
    } cases[] = {{"four-bar", 0.004, 0.5}, {"spinning-top", 0.0004, 0.1}};
    for (int i = 0; i < 2; i++) {
        double coarse = scenes_apart(cases[i].name, cases[i].h, cases[i].seconds);
        double fine = scenes_apart(cases[i].name, cases[i].h / 4.0, cases[i].seconds);
        if (!(coarse < 2e-2) || !(fine < 0.4 * coarse))
            KIT_FAIL("%s: %.3g apart with h, %.3g with h/4", cases[i].name, coarse, fine);
    }
}

/* ---- mechanisms whose motion is known ----------------------------------------------------------------- */

enum { RODS_MOST = 3 };
static const double rod_length = 0.5, rod_inertia = 0.03; /* m; kg m^2 about the middle, of 1 kg */

/* Angular accelerations of rods in a row, angles from straight down: Lagrange's equations, by hand. The
 * middle of rod k moves by b_ki cos, sin of angle i per unit of its rate, b = l above it and l/2 for
 * itself. */
static void accelerate_rods(int rods, const double *angle, const double *rate, double *acceleration)
{
    double M[RODS_MOST][RODS_MOST], f[RODS_MOST];
    for (int i = 0; i < rods; i++) {
        f[i] = 0.0;
        for (int j = 0; j < rods; j++) {
            double b = 0.0, weight = 0.0;
            for (int k = i > j ? i : j; k < rods; k++) {
                double bi = i == k ? 0.5 * rod_length : rod_length,
                       bj = j == k ? 0.5 * rod_length : rod_length;
                b += bi * bj;
                weight += bi;
            }
            M[i][j] = b * cos(angle[i] - angle[j]) + (i == j ? rod_inertia : 0.0);
            f[i] -= b * sin(angle[i] - angle[j]) * rate[j] * rate[j];
            if (i == j) f[i] -= 9.81 * weight * sin(angle[i]);
        }
    }
    for (int i = 0; i < rods; i++) { // elimination; M is positive definite
        for (int j = i + 1; j < rods; j++) {
            double factor = M[j][i] / M[i][i];
            for (int k = i; k < rods; k++) M[j][k] -= factor * M[i][k];
            f[j] -= factor * f[i];
        }
    }
    for (int i = rods - 1; i >= 0; i--) {
        for (int k = i + 1; k < rods; k++) f[i] -= M[i][k] * acceleration[k];
        acceleration[i] = f[i] / M[i][i];
    }
}

/* Runge and Kutta's rule of fourth order, steps of 0.1 ms: exact here. */
static void swing_rods(int rods, double time, double *angle)
{
    double rate[RODS_MOST] = {0}, h = 1e-4;
    for (int n = 0; n < (int)(time / h + 0.5); n++) {
        double a[RODS_MOST], q[RODS_MOST], v[RODS_MOST], move[RODS_MOST] = {0}, gain[RODS_MOST] = {0};
        static const double at[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
        for (int stage = 0; stage < 4; stage++) {
            for (int i = 0; i < rods; i++) {
                q[i] = angle[i] + (stage ? at[stage] * h * v[i] : 0.0);
                v[i] = rate[i] + (stage ? at[stage] * h * a[i] : 0.0);
            }
            accelerate_rods(rods, q, v, a);
            for (int i = 0; i < rods; i++) {
                move[i] += weight[stage] * v[i] * h / 6.0;
                gain[i] += weight[stage] * a[i] * h / 6.0;
            }
        }
        for (int i = 0; i < rods; i++) {
            angle[i] += move[i];
            rate[i] += gain[i];
        }
    }
}

/* How far the rods are from where they should be after half a second, and the worst error of a joint. */
static double rods_error(int rods, ss_coordinate_kind coordinates, double h, double *joint)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    double angle[RODS_MOST] = {1.2, 0.8, 1.5}, x = 0.0, z = 0.0, error = 0.0;
    for (int k = 0, before = SS_WORLD; k < rods; k++) {
        double dx = rod_length * sin(angle[k]), dz = -rod_length * cos(angle[k]);
        ss_body rod = {.kind = SS_DYNAMIC,
                       .position = {x + 0.5 * dx, 0, z + 0.5 * dz},
                       .mass = 1.0,
                       .inertia = {0.02, 0, 0, 0, rod_inertia, 0, 0, 0, 0.01}};
        int number = ss_world_add_body(world, &rod, &err);
        add_joint(
            world,
            &(ss_joint){
                .kind = SS_JOINT_REVOLUTE, .a = before, .b = number, .anchor = {x, 0, z}, .axis = {0, 1, 0}});
        before = number;
        x += dx;
        z += dz;
    }
    ss_sim *sim = start(world, coordinates, h);
    run(sim, (int)(0.5 / h + 0.5));
    swing_rods(rods, 0.5, angle);
    *joint = x = z = 0.0;
    for (int k = 0; k < rods; k++) {
        double dx = rod_length * sin(angle[k]), dz = -rod_length * cos(angle[k]);
        const double exact[3] = {x + 0.5 * dx, 0.0, z + 0.5 * dz};
        error = fmax(error, largest_difference(ss_world_body(world, k)->position, exact, 3));
        *joint = fmax(*joint, ss_joint_error(world, k));
        x += dx;
        z += dz;
    }
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    return error;
}

TEST(double_and_triple_pendulums_are_where_lagrange_has_them)
{
    for (int k = 0; k < 4; k++) {
        int rods = 2 + k / 2;
        ss_coordinate_kind coordinates = k % 2 ? SS_MINIMAL : SS_MAXIMAL;
        double joint, coarse = rods_error(rods, coordinates, 0.001, &joint),
                      fine = rods_error(rods, coordinates, 0.00025, &joint);
        // first order: a quarter, within a tenth of it for what is of second order
        if (!(coarse < 0.05) || !(fabs(fine / coarse - 0.25) < 0.025))
            KIT_FAIL("%d rods, %s: %.3g m off with h, %.3g m with h/4", rods, k % 2 ? "minimal" : "maximal",
                     coarse, fine);
        ENSURE(coordinates == SS_MAXIMAL ? joint < 1e-4 : joint < 1e-15); // what Baumgarte leaves; rounding
    }
}

/* A top in steady precession, from its scene, after a tenth of a second: its axis has turned by W t about
 * the vertical and keeps its tilt, and of its angular momentum about the fixed point the vertical part and
 * that along its axis stay. */
static void top_error(double h, double *place, double *momentum)
{
    ss_world *world;
    void *state;
    ss_sim *sim = scene_sim("spinning-top", SS_MINIMAL, h, &world, &state);
    const ss_body *top = ss_world_body(world, 0);
    double before[2], after[2];
    for (int k = 0; k < 2; k++) {
        ss_world_energy of = ss_world_measure(world);
        ss_vec3 spin = ss_quat_rotate_back(ss_quat_load(top->quaternion), ss_vec3_load(top->velocity + 3));
        double *now = k ? after : before;
        now[0] = of.angular_momentum[2];
        now[1] = top->inertia[8] * spin.z; // about its own axis
        if (k == 0) run(sim, (int)(0.1 / h + 0.5));
    }
    *momentum = largest_difference(before, after, 2) / before[1];

    // the slow root of I1 cos W^2 - I3 w3 W + m g l = 0; a disc of 0.1 m, 0.02 m thick, 0.1 m from the point
    double m = top->mass, tilt = 30.0 * 3.14159265358979323846 / 180.0, I3 = 0.5 * m * 0.01,
           I1 = m * (0.25 * 0.01 + 0.0004 / 12.0 + 0.01), b = I3 * 100.0;
    double W = 2.0 * m * 9.81 * 0.1 / (b + sqrt(b * b - 4.0 * I1 * cos(tilt) * m * 9.81 * 0.1));
    const double exact[3] = {0.1 * sin(tilt) * cos(0.1 * W), 0.1 * sin(tilt) * sin(0.1 * W), 0.1 * cos(tilt)};
    *place = largest_difference(top->position, exact, 3);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);
}

TEST(a_spinning_top_precesses_as_it_should_and_keeps_its_momenta)
{
    double place[2], momentum[2];
    top_error(0.0004, &place[0], &momentum[0]);
    top_error(0.0001, &place[1], &momentum[1]);
    ENSURE(place[0] < 1e-2 && momentum[0] < 0.1);
    ENSURE(place[1] < 0.35 * place[0] && momentum[1] < 0.35 * momentum[0] + 1e-12); // first order: a quarter
}

/* The closed four-bar of the scene: from the angle of the crank follows where the pin of coupler and rocker
 * is, where two circles meet. */
static double four_bar_error(ss_coordinate_kind coordinates, double h)
{
    ss_world *world;
    void *state;
    ss_sim *sim = scene_sim("four-bar", coordinates, h, &world, &state);
    double worst = 0.0, length[3]; // crank, coupler, rocker
    const double pin[4][2] = {{0.0, 0.0}, {0.0, 0.4}, {0.9, 0.8}, {1.0, 0.0}};
    for (int k = 0; k < 3; k++) length[k] = hypot(pin[k + 1][0] - pin[k][0], pin[k + 1][1] - pin[k][1]);
    for (int n = 0; n < 20; n++) {
        run(sim, (int)(0.1 / h + 0.5));
        const double *crank = ss_world_body(world, 0)->position, *rocker = ss_world_body(world, 2)->position;
        double b[2] = {2.0 * crank[0], 2.0 * crank[2]}, c[2]; // the crank's middle is halfway to its pin
        double to[2] = {1.0 - b[0], -b[1]}, far = hypot(to[0], to[1]);
        double along = 0.5 * (far * far + length[1] * length[1] - length[2] * length[2]) / far;
        double across = sqrt(length[1] * length[1] - along * along);
        c[0] = b[0] + (along * to[0] - across * to[1]) / far; // above the line from b to the second hook
        c[1] = b[1] + (along * to[1] + across * to[0]) / far;
        worst = fmax(worst, hypot(rocker[0] - 0.5 * (c[0] + 1.0), rocker[2] - 0.5 * c[1]));
    }
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);
    return worst;
}

/* Of the loop, within the tolerance of 1e-5 m: its error is not above it, and the rocker is as long. */
TEST(a_closed_four_bar_keeps_to_the_circles_of_its_bars)
{
    ENSURE(four_bar_error(SS_MINIMAL, 0.004) < 2e-5);
    ENSURE(four_bar_error(SS_MAXIMAL, 0.004) < 2e-5);
}

/* A loop that is closed after the move, with and without impulses, beside Baumgarte's rule. */
TEST(loops_of_trees_are_closed_within_the_tolerance_and_their_trees_stay_exact)
{
    static const ss_joint_stabilisation ways[] = {SS_STABILISE_PROJECTION, SS_STABILISE_IMPULSE,
                                                  SS_STABILISE_BAUMGARTE};
    for (int i = 0; i < 3; i++) {
        ss_error err = {0};
        ss_world *world = known(ss_world_create(&err), &err);
        static const double pin[4][2] = {{0.0, 0.0}, {0.4, 0.5}, {1.0, 0.6}, {1.5, 0.0}};
        int joints = 4;
        for (int k = 0; k < 3; k++)
            add_body(world, 0.5 * (pin[k][0] + pin[k + 1][0]), 0.0, 0.5 * (pin[k][1] + pin[k + 1][1]), 1.0);
        for (int k = 0; k < joints; k++)
            add_joint(world, &(ss_joint){.kind = SS_JOINT_REVOLUTE,
                                         .a = k > 0 ? k - 1 : SS_WORLD,
                                         .b = k < 3 ? k : SS_WORLD,
                                         .anchor = {pin[k][0], 0.0, pin[k][1]},
                                         .axis = {0, 1, 0}});
        ss_world_body(world, 0)->velocity[4] = 5.0;
        ss_sim_options options = options_of(SS_MINIMAL, 0.005);
        options.joints = ways[i];
        options.joint_tolerance = 1e-8;
        ss_sim *sim = known(ss_sim_create(world, &options, &err), &err);
        double worst = 0.0;
        for (int n = 0; n < 100; n++) {
            run(sim, 1);
            int exact = 0;
            for (int j = 0; j < joints; j++) {
                worst = fmax(worst, ss_joint_error(world, j));
                exact += ss_joint_error(world, j) < 1e-13;
            }
            ENSURE(exact >= joints - 1); // all but the one that closes the loop
        }
        if (i < 2 ? !(worst < 1e-7) : !(worst > 1e-6 && worst < 0.1))
            KIT_FAIL("way %d leaves an error of %.3g m in the joint that closes the loop", i, worst);
        for (int j = 0; ways[i] == SS_STABILISE_IMPULSE && j < joints; j++)
            ENSURE_NEAR(ss_joint_speed_error(world, j), 0.0, 1e-7);
        ss_sim_destroy(sim);
        ss_world_destroy(world);
    }
}

/* ---- the simulator ---------------------------------------------------------------------------------- */

TEST(snapshots_and_threads_do_not_change_a_bit)
{
    ss_error err = {0};
    ss_world *world;
    void *state;
    ss_snapshot snapshot = {0};
    ss_sim *sim = scene_sim("cart", SS_MINIMAL, 0.0, &world, &state);
    run(sim, 40);
    ENSURE(ss_sim_save(sim, &snapshot, &err));
    run(sim, 30);
    int bodies = ss_world_body_count(world);
    double(*first)[3] = known(ss_allocate((size_t)bodies, sizeof *first), NULL);
    for (int b = 0; b < bodies; b++) memcpy(first[b], ss_world_body(world, b)->position, sizeof first[b]);
    ENSURE(ss_sim_restore(sim, &snapshot, &err));
    run(sim, 30);
    for (int b = 0; b < bodies; b++)
        ENSURE(memcmp(first[b], ss_world_body(world, b)->position, sizeof first[b]) == 0);
    ss_snapshot_free(&snapshot);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);

    sim = scene_sim_on(3, "cart", SS_MINIMAL, 0.0, &world, &state);
    run(sim, 70);
    for (int b = 0; b < bodies; b++)
        ENSURE(memcmp(first[b], ss_world_body(world, b)->position, sizeof first[b]) == 0);
    ss_release(first);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);
}

TEST(limits_motors_and_friction_act_on_trees)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    int slide = add_body(world, 0, 0, 0, 1.0), wheel = add_body(world, 3, 0, 0, 1.0),
        stuck = add_body(world, 6, 0, 0, 1.0);
    ss_joint joint = {.kind = SS_JOINT_PRISMATIC, .a = SS_WORLD, .b = slide};
    joint.law[0] = (ss_axis_law){.limited = true, .lower = -0.1, .upper = 1.0};
    add_joint(world, &joint);
    joint = (ss_joint){.kind = SS_JOINT_REVOLUTE, .a = SS_WORLD, .b = wheel, .anchor = {3, 0, 0}};
    joint.law[0] = (ss_axis_law){.motor = SS_MOTOR_VELOCITY, .target_speed = 3.0, .max_force = 1.0};
    add_joint(world, &joint);
    joint = (ss_joint){.kind = SS_JOINT_PRISMATIC, .a = SS_WORLD, .b = stuck, .anchor = {6, 0, 0}};
    joint.law[0] = (ss_axis_law){.friction = 20.0}; // more than the weight
    add_joint(world, &joint);
    ss_sim *sim = start(world, SS_MINIMAL, 0.005);
    run(sim, 200);
    double position, speed;
    ENSURE(ss_joint_coordinate(world, 0, 0, &position, &speed));
    ENSURE_NEAR(position, -0.1, 1e-9); // rests on its limit
    ENSURE(ss_joint_coordinate(world, 1, 0, NULL, &speed));
    ENSURE_NEAR(speed, 3.0, 1e-9);
    ENSURE(ss_joint_coordinate(world, 2, 0, &position, NULL));
    ENSURE_NEAR(position, 0.0, 1e-9);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
}

/* A step of trees alone leaves coordinates and impulses for when they are looked at. Memory that is short
 * at that moment costs nothing but another look. Everything is allocated while the faults count, and freed
 * as well. */
TEST(a_look_at_a_tree_that_lacks_memory_can_be_repeated)
{
    double speed = 0.0;
    for (int n = 0;; n++) { // the first time nothing is missing
        faults_start(0);
        void *state;
        ss_world *world;
        ss_sim *sim = scene_sim("joint-tree", SS_MINIMAL, 0.01, &world, &state);
        ss_error err = {0};
        ENSURE(ss_sim_step(sim, &err));

        faults.requests = 0;
        faults.fail_at = n;
        ss_sim_frame(sim);
        bool reached = faults.requests >= n;

        faults.fail_at = 0;
        const ss_frame *frame = ss_sim_frame(sim);
        const ss_answer *answer = ss_sim_answer(sim);
        ENSURE(frame && answer && answer->bodies > 0);
        if (n == 0) speed = answer->velocity[answer->bodies - 1][0];
        ENSURE_INT(answer->coordinates, frame->generalized.count);
        ENSURE(answer->coordinates > 0 && isfinite(answer->generalized_velocity[0]));
        ENSURE(answer->velocity[answer->bodies - 1][0] == speed);

        ss_sim_destroy(sim);
        ss_release(state);
        ss_world_destroy(world);
        long live = faults.live;
        faults_stop();
        ENSURE_INT(live, 0);
        if (!reached) break;
    }
}

TEST_MAIN
