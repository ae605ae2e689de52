#include "parts.h"

#include <math.h>
#include <string.h>

typedef struct parameters {
    double slope, mu, speed;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, slope, "15", 0, 89, "slope of the plane, in degrees"),
    SS_PARAMETER_REAL(parameters, mu, "0.25", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, speed, "0", -1e6, 1e6, "initial speed downhill, in m/s"),
    {0}};

static void directions(const parameters *p, double downhill[3], double up[3])
{
    double slope = p->slope * SS_PI / 180.0;
    memcpy(downhill, (double[3]){cos(slope), 0.0, -sin(slope)}, 3 * sizeof *downhill);
    memcpy(up, (double[3]){sin(slope), 0.0, cos(slope)}, 3 * sizeof *up);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double downhill[3], up[3];
    directions(p, downhill, up);
    ss_body block = {.kind = SS_DYNAMIC};
    ss_turn((double[3]){0.0, 1.0, 0.0}, p->slope * SS_PI / 180.0, block.quaternion);
    for (int i = 0; i < 3; i++) {
        block.position[i] = 0.025 * up[i];
        block.velocity[i] = p->speed * downhill[i];
    }
    ss_build_friction(&build, p->mu);
    ss_build_wall(&build, (double[3]){0.0, 0.0, 0.0}, up);
    ss_build_one(&build, &block, &(ss_shape){.kind = SS_BOX, .size = {0.2, 0.1, 0.05}, .density = 1000.0});
    return ss_build_done(&build);
}

/* Where the block is after n steps of semi-implicit Euler: v += h a, x += h v, with v stopping at 0. */
static double expected(const parameters *p, const ss_sim *sim)
{
    double slope = p->slope * SS_PI / 180.0, g = -ss_world_gravity(ss_sim_world(sim))[2];
    double h = ss_sim_steps(sim) > 0 ? ss_sim_time(sim) / (double)ss_sim_steps(sim) : 0.0;
    double pull = g * sin(slope) * h, brake = p->mu * g * cos(slope) * h, v = p->speed, x = 0.0;
    for (int64_t k = 0; k < ss_sim_steps(sim); k++) {
        v += pull;
        v = v > brake ? v - brake : v < -brake ? v + brake : 0.0;
        x += h * v;
    }
    return x;
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    double downhill[3], up[3], slid = 0.0;
    directions(p, downhill, up);
    const ss_body *block = ss_world_body(ss_sim_world(sim), 0);
    for (int i = 0; i < 3; i++) slid += downhill[i] * block->position[i];
    result[0] = (ss_scene_result){"slid", "m", slid};
    result[1] = (ss_scene_result){"error", "m", slid - expected(p, sim)};
    return 2;
}

const ss_scene ss_scene_sliding_block = {
    .name = "sliding-block",
    .summary = "a block slides down a slope",
    .description =
        "One block on an inclined plane, the first experiment with friction. It stays at rest if "
        "tan(slope) is at most mu, and otherwise slides a distance known in closed form; the reported "
        "value `error` is the difference, which is due to the solver alone.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 5.0,
    .picture_time = 0.5,
    .build = build_scene,
    .figures = figures,
};
