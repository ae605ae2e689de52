/* Steps of trees with contacts that go without a frame, beside the ordinary ones. */
#include "tree_worlds.h"

#include "faults.h"
#include "sim/state.h"

#include <math.h>
#include <string.h>

static bool look_on(ss_sim *sim, void *context, ss_error *err)
{
    (void)sim, (void)context, (void)err;
    return true;
}

static ss_world *with_floor(const ss_material_pair *pair)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    if (!ss_world_set_pair(world, 0, 0, pair, &err)) known(NULL, &err);
    if (ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_PLANE}, &err) < 0) known(NULL, &err);
    return world;
}

static void add_ball(ss_world *world, int body, double radius)
{
    ss_error err = {0};
    if (ss_world_add_shape(world, body, &(ss_shape){.kind = SS_SPHERE, .size = {radius}}, &err) < 0)
        known(NULL, &err);
}

/* Two rods on hinges whose axes are parallel. Returns the lower one. */
static int add_rods(ss_world *world)
{
    int upper = add_body(world, 0.25, 0.0, 0.8, 1.0), lower = add_body(world, 0.75, 0.0, 0.8, 1.0);
    add_joint(
        world,
        &(ss_joint){
            .kind = SS_JOINT_REVOLUTE, .a = SS_WORLD, .b = upper, .anchor = {0, 0, 0.8}, .axis = {0, 1, 0}});
    add_joint(
        world,
        &(ss_joint){
            .kind = SS_JOINT_REVOLUTE, .a = upper, .b = lower, .anchor = {0.5, 0, 0.8}, .axis = {0, 1, 0}});
    return lower;
}

/* With a ball at the end, it hits the floor and slides along it. The ball cannot move across the plane of the
 * rods. */
static ss_world *make_pendulum(double restitution)
{
    ss_world *world = with_floor(&(ss_material_pair){.mu = 0.3, .restitution = restitution});
    add_ball(world, add_rods(world), 0.2);
    return world;
}

/* A beam on three balls, on hinges and a ball joint, sliding and turning; a second such thing is in its
 * way. */
static ss_world *make_trolleys(int count)
{
    ss_world *world = with_floor(&(ss_material_pair){.mu = 0.4});
    for (int k = 0; k < count; k++) {
        double far = 0.9 * k;
        int beam = add_body(world, far, 0.0, 0.3, 4.0);
        for (int i = 0; i < 3; i++) {
            double x = far + (i < 2 ? -0.3 : 0.4), y = i == 0 ? -0.3 : i == 1 ? 0.3 : 0.0;
            int ball = add_body(world, x, y, 0.1, 1.0);
            add_ball(world, ball, 0.1);
            add_joint(world, &(ss_joint){.kind = i == 2 ? SS_JOINT_BALL : SS_JOINT_REVOLUTE,
                                         .a = beam,
                                         .b = ball,
                                         .anchor = {x, y, 0.1},
                                         .axis = {0, 1, 0}});
        }
        for (int b = beam; k == 0 && b < beam + 4; b++) {
            const double v[6] = {1.0, 0.1, 0.0, 0.0, 0.0, 0.0};
            memcpy(ss_world_body(world, b)->velocity, v, sizeof v);
        }
    }
    return world;
}

/* The same world twice, the second time with a user function that might change the frame. */
typedef struct two_ways {
    ss_world *world[2];
    ss_sim *sim[2];
} two_ways;

static void begin(two_ways *both, const char *stop, double h, ss_integrator integrator)
{
    ss_error err = {0};
    for (int k = 0; k < 2; k++) {
        ss_sim_options options = options_of(SS_MINIMAL, h);
        options.solver = "batched-nncg";
        options.stop = stop;
        options.max_iterations = 2000;
        options.integrator = integrator;
        both->sim[k] = known(ss_sim_create(both->world[k], &options, &err), &err);
    }
    ENSURE(ss_sim_call_at(both->sim[1], SS_BEFORE_SOLVE, look_on, NULL, &err));
}

static void end(two_ways *both)
{
    for (int k = 0; k < 2; k++) {
        ss_sim_destroy(both->sim[k]);
        ss_world_destroy(both->world[k]);
    }
}

static double apart(const two_ways *both)
{
    double largest = 0.0;
    for (int b = 0; b < ss_world_body_count(both->world[0]); b++) {
        const ss_body *one = ss_world_body(both->world[0], b), *other = ss_world_body(both->world[1], b);
        largest = fmax(largest, largest_difference(one->position, other->position, 3));
        largest = fmax(largest, largest_difference(one->velocity, other->velocity, 6));
    }
    return largest;
}

/* Steps of both, of which at least `least` of the first have no frame. Two answers within a stop rule of 1e-8
 * (quadruped and arm) or 1e-10 are apart by about that share of velocities of metres per second, which
 * hundreds of steps carry on; the cart's one sweep a step is the same sweep in both. */
static void compare(const char *name, two_ways *both, int steps, int least)
{
    int without = 0, touching = 0;
    for (int n = 0; n < steps; n++) {
        for (int k = 0; k < 2; k++) run(both->sim[k], 1);
        without += both->sim[0]->frame_waits && both->sim[0]->touch.contacts > 0;
        touching += ss_sim_last(both->sim[0]).touching > 0;
        ENSURE(!both->sim[1]->frame_waits);
        double difference = apart(both);
        if (!(difference < 1e-6)) KIT_FAIL("%s: apart by %.3g after step %d", name, difference, n + 1);
    }
    if (without < least || touching < least)
        KIT_FAIL("%s: %d steps with contacts, %d of them without a frame", name, touching, without);
}

TEST(steps_without_a_frame_move_trees_that_touch_as_the_ordinary_ones)
{
    static const char *const exact = "relative_energy<1e-10";
    static const struct {
        const char *name;
        int steps, least;
    } scenes[] = {{"cart", 300, 290}, {"quadruped", 300, 250}, {"arm", 900, 100}};
    two_ways both;
    for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++) {
        void *state[2];
        for (int k = 0; k < 2; k++)
            both.sim[k] = scene_sim(scenes[i].name, SS_MINIMAL, 0.0, &both.world[k], &state[k]);
        ENSURE(ss_sim_call_at(both.sim[1], SS_BEFORE_SOLVE, look_on, NULL, NULL));
        compare(scenes[i].name, &both, scenes[i].steps, scenes[i].least);
        end(&both);
        for (int k = 0; k < 2; k++) ss_release(state[k]);
    }

    for (int bounces = 0; bounces < 2; bounces++) {
        for (int k = 0; k < 2; k++) both.world[k] = make_pendulum(bounces ? 0.5 : 0.0);
        begin(&both, exact, 0.005, bounces ? SS_INTEGRATOR_LEAPFROG : SS_INTEGRATOR_EULER);
        compare(bounces ? "bouncing pendulum" : "pendulum", &both, 400, bounces ? 20 : 100);
        end(&both);
    }
    for (int count = 1; count <= 2; count++) {
        for (int k = 0; k < 2; k++) both.world[k] = make_trolleys(count);
        begin(&both, exact, 0.005, count == 1 ? SS_INTEGRATOR_EULER : SS_INTEGRATOR_LEAPFROG);
        compare(count == 1 ? "trolley" : "two trolleys", &both, 300, 150);
        end(&both);
    }
}

/* Frame and answer are made when someone looks. Nothing depends on whether someone did, and the answer is
 * the one that moved the world, within what the stop rule leaves of the ordinary one. */
static void look_at_frames(ss_integrator integrator)
{
    two_ways both;
    for (int k = 0; k < 2; k++) both.world[k] = make_trolleys(2);
    begin(&both, "relative_energy<1e-10", 0.005, integrator);
    ss_world *other = make_trolleys(2);
    ss_sim_options options = options_of(SS_MINIMAL, 0.005);
    options.solver = "batched-nncg";
    options.stop = "relative_energy<1e-10";
    options.max_iterations = 2000;
    options.integrator = integrator;
    ss_error err = {0};
    ss_sim *unseen = known(ss_sim_create(other, &options, &err), &err);
    for (int n = 0; n < 60; n++) {
        run(both.sim[0], 1);
        run(unseen, 1);
        if (n == 0) {
            run(both.sim[1], 1);
            ENSURE(ss_frame_equal(ss_sim_frame(both.sim[0]), ss_sim_frame(both.sim[1])));
        }
        const ss_frame *frame = ss_sim_frame(both.sim[0]);
        const ss_answer *answer = ss_sim_answer(both.sim[0]);
        ENSURE(frame && answer && answer->contacts == frame->contacts.count);
        ENSURE_INT(frame->contacts.count, ss_sim_last(both.sim[0]).contacts);

        if (n > 0) continue;
        const ss_answer *ordinary = ss_sim_answer(both.sim[1]); // impulses are not unique, velocities are
        ENSURE(largest_difference(answer->velocity[0], ordinary->velocity[0], 6 * answer->bodies) < 1e-8);
    }
    char hash[2][33];
    ss_sim_hash(both.sim[0], hash[0]);
    ss_sim_hash(unseen, hash[1]);
    ENSURE_TEXT(hash[0], hash[1]);
    ss_sim_destroy(unseen);
    ss_world_destroy(other);
    end(&both);
}

TEST(frames_of_touching_trees_are_made_when_someone_looks)
{
    look_at_frames(SS_INTEGRATOR_EULER);
    look_at_frames(SS_INTEGRATOR_LEAPFROG);
}

/* What such steps do not cover is left to the ordinary way, bit for bit. */
TEST(laws_beyond_a_plain_cone_take_the_ordinary_way)
{
    const ss_material_pair pairs[] = {{.mu = 0.4, .mu_rolling = 0.004},
                                      {.mu = 0.4, .mu_torsion = 0.01},
                                      {.mu = 0.4, .mu_static = 0.6},
                                      {.mu = 0.4, .stiffness = 1e5, .damping = 100.0},
                                      {.mu = 0.4, .adhesion = 1.0}};
    for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
        two_ways both;
        ss_error err = {0};
        for (int k = 0; k < 2; k++) {
            both.world[k] = make_trolleys(1);
            ENSURE(ss_world_set_pair(both.world[k], 0, 0, &pairs[p], &err));
        }
        begin(&both, "relative_energy<1e-6", 0.005, SS_INTEGRATOR_EULER);
        for (int n = 0; n < 20; n++) {
            for (int k = 0; k < 2; k++) run(both.sim[k], 1);
            ENSURE(!both.sim[0]->frame_waits);
        }
        char hash[2][33];
        for (int k = 0; k < 2; k++) ss_sim_hash(both.sim[k], hash[k]);
        ENSURE_TEXT(hash[0], hash[1]);
        end(&both);
    }
}

static double energy_of(ss_world *world)
{
    ss_world_energy energy = ss_world_measure(world);
    return energy.kinetic + energy.potential;
}

/* The largest change of the energy within a second, J. */
static double energy_error(ss_sim *sim)
{
    ss_world *world = ss_sim_world(sim);
    double before = energy_of(world), largest = 0.0;
    for (int n = 0; n < (int)(1.0 / sim->options.h + 0.5); n++) {
        run(sim, 1);
        largest = fmax(largest, fabs(energy_of(world) - before));
    }
    return largest;
}

static double cart_error(ss_integrator integrator, double h)
{
    ss_world *world;
    void *state;
    ss_sim *sim = scene_sim("cart", SS_MINIMAL, h, &world, &state);
    sim->options.integrator = integrator;
    double error = energy_error(sim);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);
    return error;
}

/* With a constant acceleration a, Euler's rule has v = a t but x = a t (t + h) / 2: what height is lost is
 * more than what motion gains, by 3.6 J after 1 s with h = 1/60 s. In leaps x is that of t, and what is left
 * is the stop rule's. */
TEST(a_cart_in_leaps_keeps_its_energy)
{
    double euler = cart_error(SS_INTEGRATOR_EULER, 1.0 / 60.0);
    double leaps = cart_error(SS_INTEGRATOR_LEAPFROG, 1.0 / 60.0);
    if (!(euler > 3.0 && leaps < 1e-4)) KIT_FAIL("%g J, in leaps %g J", euler, leaps);
}

static double pendulum_error(ss_integrator integrator, double h)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    add_rods(world);
    ss_sim_options options = options_of(SS_MINIMAL, h);
    options.integrator = integrator;
    ss_sim *sim = known(ss_sim_create(world, &options, &err), &err);
    double error = energy_error(sim);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    return error;
}

/* What swings has errors of second order: a quarter of them with half of h, between 3.5 and 4.5 within what
 * terms of higher order do; of first order it is half. */
TEST(a_pendulum_in_leaps_is_of_second_order)
{
    double coarse = pendulum_error(SS_INTEGRATOR_LEAPFROG, 0.002),
           fine = pendulum_error(SS_INTEGRATOR_LEAPFROG, 0.001),
           euler = pendulum_error(SS_INTEGRATOR_EULER, 0.001);
    if (!(coarse > 3.5 * fine && coarse < 4.5 * fine && fine < 0.2 * euler))
        KIT_FAIL("%g J, with half of h %g J, by Euler's rule %g J", coarse, fine, euler);
}

TEST(a_cart_that_rolls_needs_no_new_memory)
{
    faults_start(0);
    ss_world *world;
    void *state;
    ss_sim *sim = scene_sim("cart", SS_MINIMAL, 0.01, &world, &state);
    run(sim, 100);
    long before = faults.requests;
    run(sim, 50);
    ENSURE_INT(faults.requests, before);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    ss_release(state);
    ENSURE_INT(faults.live, 0);
    faults_stop();
}

TEST_MAIN
