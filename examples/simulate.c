/* A block lies on a plate that is tilted slowly, until it slides: at the angle whose tangent is mu.
 * Public headers only.
 *
 *     cc simulate.c $(pkg-config --cflags --libs stickslip) -lm -o simulate
 *     ./simulate
 */
#include <stickslip/sim.h>

#include <math.h>
#include <stdio.h>

static const double mu = 0.5, rate = 0.02; // 1, rad/s

/* The plate turns about the y axis: pose and velocity at any time. */
static void tilt(double time, double position[3], double quaternion[4], double velocity[6], void *context)
{
    (void)context;
    double angle = rate * time;
    const double turned[4] = {cos(angle / 2), 0, sin(angle / 2), 0};
    for (int i = 0; i < 3; i++) position[i] = 0;
    for (int i = 0; i < 4; i++) quaternion[i] = turned[i];
    for (int i = 0; i < 6; i++) velocity[i] = i == 4 ? rate : 0;
}

/* Called after every step: has the block moved on the plate? */
static bool watch(ss_sim *sim, void *context, ss_error *err)
{
    (void)err;
    double *angle = context;
    const ss_body *block = ss_world_body(ss_sim_world(sim), 1);
    double now = rate * ss_sim_time(sim);
    double along = block->position[0] * cos(now) - block->position[2] * sin(now);
    if (*angle == 0 && along > 1e-4) *angle = now;
    return true;
}

static ss_world *build(ss_error *err)
{
    ss_world *world = ss_world_create(err);
    if (!world) return NULL;
    int plate =
        ss_world_add_body(world, &(ss_body){.name = "plate", .kind = SS_KINEMATIC, .motion = tilt}, err);
    int block = ss_world_add_body(
        world, &(ss_body){.name = "block", .kind = SS_DYNAMIC, .position = {0, 0, 0.15}}, err);
    bool good =
        plate >= 0 && block >= 0 && ss_world_set_pair(world, 0, 0, &(ss_material_pair){.mu = mu}, err) &&
        ss_world_add_shape(world, plate, &(ss_shape){.kind = SS_BOX, .size = {4, 2, 0.1}}, err) >= 0 &&
        ss_world_add_shape(world, block, &(ss_shape){.kind = SS_BOX, .size = {0.4, 0.4, 0.2}, .density = 700},
                           err) >= 0;
    if (good) return world;
    ss_world_destroy(world);
    return NULL;
}

int main(void)
{
    ss_error err = {0};
    double angle = 0;
    ss_world *world = build(&err);
    ss_sim *sim = world ? ss_sim_create(world, NULL, &err) : NULL;
    bool good = sim && ss_sim_call_at(sim, SS_AFTER_STEP, watch, &angle, &err);
    while (good && angle == 0 && ss_sim_time(sim) < 40) good = ss_sim_step(sim, &err);
    if (good) {
        ss_sim_report report = ss_sim_last(sim);
        printf("the block slides at %.1f degrees, atan(mu) is %.1f degrees\n", angle * 57.29578,
               atan(mu) * 57.29578);
        printf("step %lld: %d contacts, solved to %.0e\n", (long long)ss_sim_steps(sim), report.contacts,
               report.relative_energy);
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    ss_sim_destroy(sim);
    ss_world_destroy(world);
    return good ? 0 : 1;
}
