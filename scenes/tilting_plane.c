#include "parts.h"

#include <math.h>
#include <string.h>

typedef struct parameters {
    double mu, rate;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, rate, "2", 1e-6, 1e6, "rate of the tilt, in degrees per second"),
    {0}};

typedef struct tilt {
    double rate; /* rad/s */
    double slip_angle, start;
} tilt;

static void move(double time, double position[3], double quaternion[4], double velocity[6], void *context)
{
    const tilt *t = context;
    double angle = t->rate * time;
    memset(position, 0, 3 * sizeof *position);
    ss_turn((double[3]){0.0, 1.0, 0.0}, angle, quaternion);
    memset(velocity, 0, 6 * sizeof *velocity);
    velocity[4] = t->rate;
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    int table_body = ss_build_body(&build, &(ss_body){.name = "table", .kind = SS_KINEMATIC});
    ss_build_shape(&build, table_body,
                   &(ss_shape){.kind = SS_BOX, .size = {4.0, 1.0, 0.1}, .position = {0.0, 0.0, -0.05}});
    ss_body block = {.name = "block", .position = {0.0, 0.0, 0.05}};
    ss_build_one(&build, &block, &(ss_shape){.kind = SS_BOX, .size = {0.2, 0.2, 0.1}, .density = 1000.0});
    return ss_build_done(&build);
}

/* Distance of the block from the axis along the table. */
static double along(const ss_world *world)
{
    const ss_body *block = ss_world_body(world, ss_world_find_body(world, "block"));
    const ss_body *table_body = ss_world_body(world, ss_world_find_body(world, "table"));
    double x[3];
    ss_turn_vector(table_body->quaternion, (double[3]){1.0, 0.0, 0.0}, x);
    return x[0] * block->position[0] + x[1] * block->position[1] + x[2] * block->position[2];
}

static bool watch(ss_sim *sim, void *context, ss_error *err)
{
    tilt *t = context;
    (void)err;
    if (isnan(t->slip_angle) && fabs(along(ss_sim_world(sim)) - t->start) > 2e-4)
        t->slip_angle = t->rate * ss_sim_time(sim);
    return true;
}

static bool begin(const void *of, ss_sim *sim, void **state, ss_error *err)
{
    const parameters *p = of;
    ss_world *world = ss_sim_world(sim);
    tilt *t = ss_allocate(1, sizeof *t);
    if (!t) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    *state = t;
    *t = (tilt){.rate = p->rate * SS_PI / 180.0, .slip_angle = NAN};
    t->start = along(world);
    ss_body *table_body = ss_world_body(world, ss_world_find_body(world, "table"));
    table_body->motion = move;
    table_body->motion_context = t;
    return ss_sim_call_at(sim, SS_AFTER_STEP, watch, t, err);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    const tilt *t = state;
    (void)sim;
    result[0] = (ss_scene_result){"slips_at", "deg", t->slip_angle * 180.0 / SS_PI};
    result[1] = (ss_scene_result){"coulomb", "deg", atan(p->mu) * 180.0 / SS_PI};
    return 2;
}

const ss_scene ss_scene_tilting_plane = {
    .name = "tilting-plane",
    .summary = "a block on a plane that tilts slowly until it slides",
    .description =
        "Reference for the stick-slip transition: a kinematic plane turns at a constant rate, and the "
        "block must not move before tan(angle) = mu. The reported values are the angle at which it has "
        "moved by a thousandth of its length, and the angle of Coulomb's law.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 15.0,
    .picture_time = 14.0,
    .build = build_scene,
    .begin = begin,
    .si_only = true,
    .figures = figures,
};
