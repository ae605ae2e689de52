#include "parts.h"

typedef struct parameters {
    int count;
    double speed, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "6", 1, 1000, "boxes"),
    SS_PARAMETER_REAL(parameters, speed, "1", -1e6, 1e6, "speed of the belts, in m/s"),
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, -1.0);
    ss_build_shape(&build, SS_WORLD,
                   &(ss_shape){.kind = SS_BOX,
                               .size = {6.0, 0.8, 0.2},
                               .position = {-2.0, 0.0, -0.1},
                               .surface_velocity = {p->speed, 0.0, 0.0}});
    ss_build_shape(&build, SS_WORLD,
                   &(ss_shape){.kind = SS_BOX,
                               .size = {0.8, 5.0, 0.2},
                               .position = {1.45, 2.0, -0.25},
                               .surface_velocity = {0.0, p->speed, 0.0}});
    ss_build_shape(&build, SS_WORLD,
                   &(ss_shape){.kind = SS_BOX, .size = {0.05, 5.0, 0.5}, .position = {1.9, 2.0, 0.0}});
    for (int k = 0; k < p->count; k++)
        ss_build_box(&build, (double[3]){0.3, 0.25, 0.2}, 300.0, (double[3]){-4.8 + 0.7 * k, 0.0, 0.1});
    return ss_build_done(&build);
}

const ss_scene ss_scene_conveyor = {
    .name = "conveyor",
    .summary = "boxes carried and handed over by two belts",
    .description =
        "Moving surfaces on stationary bodies: one belt carries boxes onto another at a right angle, "
        "which takes them to a chute. A box slips until friction has accelerated it to the speed of the "
        "belt.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 8.0,
    .picture_time = 3.0,
    .build = build_scene,
};
