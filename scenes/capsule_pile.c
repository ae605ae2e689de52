#include "parts.h"

#include <math.h>

typedef struct parameters {
    int count;
    double radius, length, density, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "100", 1, 100000, "capsules"),
    SS_PARAMETER_REAL(parameters, radius, "0.1", 1e-6, 1e6, "radius of a capsule, in m"),
    SS_PARAMETER_REAL(parameters, length, "0.3", 1e-6, 1e6, "length of its cylinder, in m"),
    SS_PARAMETER_REAL(parameters, density, "1000", 1e-9, 1e9, "density of the capsules, in kg/m^3"),
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    ss_random random = ss_random_start(seed, 0);
    int edge = (int)ceil(cbrt((double)p->count) - 1e-9);
    double pitch = p->length + 2.2 * p->radius, half = 0.5 * edge * pitch;
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int side = 0; side < 4; side++) {
        double x = side == 0 ? 1.0 : side == 1 ? -1.0 : 0.0, y = side == 2 ? 1.0 : side == 3 ? -1.0 : 0.0;
        ss_build_wall(&build, (double[3]){-x * half, -y * half, 0.0}, (double[3]){x, y, 0.0});
    }

    // Each turned at random in a cell of its own, so that none touch at first.
    for (int k = 0; k < p->count; k++) {
        ss_body body = {.position = {(k % edge + 0.5) * pitch - half, (k / edge % edge + 0.5) * pitch - half,
                                     (k / (edge * edge) + 0.5) * pitch}};
        ss_turn_at_random(&random, body.quaternion);
        ss_build_one(&build, &body,
                     &(ss_shape){.kind = SS_CAPSULE, .size = {p->radius, p->length}, .density = p->density});
    }
    return ss_build_done(&build);
}

const ss_scene ss_scene_capsule_pile = {
    .name = "capsule-pile",
    .summary = "100 capsules dropped into an open box",
    .description =
        "Short capsules in all directions fall into a box, as in the capsule problems of FCLIB: beside the "
        "contacts of points there are those along lines, where two capsules lie side by side or one lies on "
        "the ground, so that rows depend on each other nearly but not quite.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.005,
    .length = 3.0,
    .picture_time = 1.5,
    .build = build_scene,
};
