#include "parts.h"

#include <math.h>

typedef struct parameters {
    int count;
    double radius, density, mu, spread;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "512", 1, 1000000, "number of spheres, usually 125 to 27000"),
    SS_PARAMETER_REAL(parameters, radius, "0.1", 1e-6, 1e6, "radius of a sphere, in m"),
    SS_PARAMETER_REAL(parameters, density, "1000", 1e-9, 1e9, "density of the spheres, in kg/m^3"),
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, spread, "0.02", 0, 0.5,
                      "initial random offset, as a fraction of the radius"),
    {0}};

static void pour(ss_builder *build, const parameters *p, int edge, uint64_t seed)
{
    ss_random random = ss_random_start(seed, 0);
    double pitch = 2.1 * p->radius, shift = p->spread * p->radius;
    for (int k = 0; k < p->count; k++) {
        int place[3] = {k % edge, k / edge % edge, k / (edge * edge)};
        double position[3];
        for (int i = 0; i < 3; i++) {
            double middle = i < 2 ? 0.5 * (edge - 1) : -0.5;
            position[i] = (place[i] - middle) * pitch + ss_random_between(&random, -shift, shift);
        }
        ss_build_ball(build, p->radius, p->density, position);
    }
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    int edge = (int)ceil(cbrt((double)p->count) - 1e-9);
    double half = 0.5 * edge * 2.1 * p->radius + p->radius;
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int side = 0; side < 4; side++) {
        double x = side == 0 ? 1.0 : side == 1 ? -1.0 : 0.0, y = side == 2 ? 1.0 : side == 3 ? -1.0 : 0.0;
        ss_build_wall(&build, (double[3]){-x * half, -y * half, 0.0}, (double[3]){x, y, 0.0});
    }
    pour(&build, p, edge, seed);
    return ss_build_done(&build);
}

const ss_scene ss_scene_sphere_pile = {
    .name = "sphere-pile",
    .summary = "512 spheres dropped into an open box",
    .description =
        "A cube of spheres, slightly perturbed, falls into a box and comes to rest as a random packing: "
        "the granular scene, from 125 to 27000 spheres. Every sphere ends with about five contacts, more "
        "than are needed to hold it, so that forces are not unique; under Coulomb's law velocities need not "
        "be either.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.005,
    .length = 5.0,
    .picture_time = 2.0,
    .build = build_scene,
};
