#include "parts.h"

typedef struct parameters {
    int edge;
    double radius, gap, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, edge, "5", 1, 100, "number of spheres along an edge of the cube"),
    SS_PARAMETER_REAL(parameters, radius, "0.1", 1e-6, 1e6, "radius of a sphere, in m"),
    SS_PARAMETER_REAL(parameters, gap, "0.01", 0, 1, "gap between neighbours, as a fraction of the radius"),
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    ss_random random = ss_random_start(seed, 0);
    double pitch = (2.0 + p->gap) * p->radius, shift = 0.001 * p->radius;
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int k = 0; k < p->edge * p->edge * p->edge; k++) {
        int place[3] = {k % p->edge, k / p->edge % p->edge, k / (p->edge * p->edge)};
        double position[3];
        for (int i = 0; i < 3; i++) {
            double middle = i < 2 ? 0.5 * (p->edge - 1) : -0.5;
            position[i] = (place[i] - middle) * pitch + ss_random_between(&random, -shift, shift);
        }
        ss_build_ball(&build, p->radius, 1000.0, position);
    }
    return ss_build_done(&build);
}

const ss_scene ss_scene_spheres125 = {
    .name = "spheres125",
    .summary = "125 spheres in a cubic arrangement",
    .description =
        "The scene of figure 9 in Williams, Lu, Niebe, Andersen, Erleben, Trinkle 2013, on which "
        "Newton-type solvers are compared by their merit: five by five by five spheres, one layer on "
        "another, with small gaps between them.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 4.0,
    .picture_time = 0.5,
    .build = build_scene,
};
