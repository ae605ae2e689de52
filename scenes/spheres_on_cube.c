#include "parts.h"

typedef struct parameters {
    int count;
    double radius, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "45", 1, 100000, "balls"),
    SS_PARAMETER_REAL(parameters, radius, "0.1", 1e-6, 1e6, "radius of a ball, in m"),
    SS_PARAMETER_REAL(parameters, mu, "0.3", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    ss_random random = ss_random_start(seed, 0);
    ss_body cube = {.kind = SS_STATIC};
    ss_turn((double[3]){1.0, 0.4, 0.0}, 0.2, cube.quaternion);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, -3.0);
    ss_build_shape(&build, ss_build_body(&build, &cube),
                   &(ss_shape){.kind = SS_BOX, .size = {2.0, 2.0, 2.0}});
    for (int k = 0; k < p->count; k++) {
        double pitch = 2.2 * p->radius, shift = 0.05 * p->radius;
        double position[3] = {(k % 3 - 1) * pitch, (k / 3 % 3 - 1) * pitch, 1.6 + k / 9 * pitch};
        for (int i = 0; i < 2; i++) position[i] += ss_random_between(&random, -shift, shift);
        ss_build_ball(&build, p->radius, 1000.0, position);
    }
    return ss_build_done(&build);
}

const ss_scene ss_scene_spheres_on_cube = {
    .name = "spheres-on-cube",
    .summary = "45 balls poured on a tilted cube",
    .description =
        "Balls fall onto a fixed cube that leans to one side, roll over its edges and corners, and off. "
        "Contacts come and go all the time, at faces, edges and corners in turn.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 5.0,
    .picture_time = 1.0,
    .build = build_scene,
};
