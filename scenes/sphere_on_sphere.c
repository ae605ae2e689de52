#include "parts.h"

#include <math.h>

typedef struct parameters {
    double large, small, offset, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, large, "2", 1e-6, 1e6, "radius of the lower ball, in m"),
    SS_PARAMETER_REAL(parameters, small, "0.25", 1e-6, 1e6, "radius of the upper ball, in m"),
    SS_PARAMETER_REAL(parameters, offset, "0.05", 0, 1e6,
                      "offset of the upper ball from the axis, along x and y, in m"),
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double reach = p->large + p->small, side = 2.0 * p->offset * p->offset;
    double rise = side < reach * reach ? sqrt(reach * reach - side) : 0.0;
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    ss_build_ball(&build, p->large, 600.0, (double[3]){0.0, 0.0, p->large});
    ss_build_ball(&build, p->small, 3000.0, (double[3]){-p->offset, p->offset, p->large + rise});
    return ss_build_done(&build);
}

const ss_scene ss_scene_sphere_on_sphere = {
    .name = "sphere-on-sphere",
    .summary = "a small ball rolls off a large one",
    .description =
        "A small ball is placed slightly off the top of a large one that stands on the ground, and rolls "
        "off. RPI-MATLAB-Simulator's version gave both bodies friction of the same sign; here the large "
        "ball turns the other way, as it should.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 5.0,
    .picture_time = 1.2,
    .build = build_scene,
};
