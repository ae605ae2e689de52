#include "parts.h"

#include <math.h>

typedef struct parameters {
    double length, angle;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, length, "0.5", 1e-6, 1e6, "length of the rod, in m"),
    SS_PARAMETER_REAL(parameters, angle, "36", -179, 179, "initial angle from the vertical, in degrees"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double angle = p->angle * SS_PI / 180.0;
    ss_body rod = {.kind = SS_DYNAMIC,
                   .position = {0.5 * p->length * sin(angle), 0.0, -0.5 * p->length * cos(angle)}};
    ss_turn((double[3]){0.0, 1.0, 0.0}, -angle, rod.quaternion);
    int number = ss_build_one(
        &build, &rod,
        &(ss_shape){.kind = SS_CYLINDER, .size = {0.05 * p->length, p->length}, .density = 1000.0});
    ss_build_joint(&build, &(ss_joint){.kind = SS_JOINT_BALL, .a = SS_WORLD, .b = number});
    return ss_build_done(&build);
}

static void choose(const void *of, ss_sim_options *options)
{
    (void)of;
    options->joints = SS_STABILISE_IMPULSE;
    options->joint_tolerance = 1e-6;
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    (void)of, (void)state;
    const ss_body *rod = ss_world_body(ss_sim_world(sim), 0);
    result[0] = (ss_scene_result){"angle", "rad", atan2(rod->position[0], -rod->position[2])};
    result[1] = (ss_scene_result){"position_error", "m", ss_joint_error(ss_sim_world(sim), 0)};
    result[2] = (ss_scene_result){"velocity_error", "m/s", ss_joint_speed_error(ss_sim_world(sim), 0)};
    return 3;
}

const ss_scene ss_scene_hanging_rod = {
    .name = "hanging-rod",
    .summary = "a rod swings on a ball joint",
    .description =
        "The pendulum on which joint drift is measured (Williams, Lu, Niebe, Andersen, Erleben, Trinkle "
        "2013, figure 4). Without correction the joint error grows; with the impulse-based correction "
        "(joints=impulse, the default of this scene) position and velocity errors stay below 1e-5. The "
        "reported value `angle` shows the swing.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 10.0,
    .picture_time = 0.0,
    .build = build_scene,
    .options = choose,
    .figures = figures,
};
