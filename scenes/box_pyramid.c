#include "parts.h"

typedef struct parameters {
    int base;
    double mu, size, density, gap;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, base, "10", 1, 200, "boxes in the lowest course"),
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, size, "1", 1e-6, 1e6, "edge of a box, in m"),
    SS_PARAMETER_REAL(parameters, density, "1000", 1e-9, 1e9, "density of the boxes, in kg/m^3"),
    SS_PARAMETER_REAL(parameters, gap, "0.1", 0, 0.9, "gap between neighbours, as a fraction of the edge"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    double pitch = p->size * (1.0 + p->gap), size[3] = {p->size, p->size, p->size};
    for (int row = 0; row < p->base; row++) {
        for (int i = 0; i < p->base - row; i++) {
            double position[3] = {(i - 0.5 * (p->base - row - 1)) * pitch, 0.0, (row + 0.5) * p->size};
            ss_build_box(&build, size, p->density, position);
        }
    }
    return ss_build_done(&build);
}

const ss_scene ss_scene_box_pyramid = {
    .name = "box-pyramid",
    .summary = "a flat pyramid of cubes, ten wide at the base",
    .description = "Cubes on cubes, each course one shorter than the one below: the stacking test of game "
                   "engines. The load spreads on its way down, so that neighbouring contacts carry very "
                   "different forces, and drift shows where a solver fails. Bases of 10, 20 and 40 boxes "
                   "are compared with other engines.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 10.0,
    .picture_time = 1.0,
    .build = build_scene,
};
