#include "parts.h"

#include <math.h>

typedef struct parameters {
    int count, across;
    double radius, density, mu, slope;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "60", 1, 100000, "discs"),
    SS_PARAMETER_INT(parameters, across, "8", 1, 1000, "discs beside each other at first"),
    SS_PARAMETER_REAL(parameters, radius, "0.1", 1e-6, 1e6, "mean radius of a disc, in m"),
    SS_PARAMETER_REAL(parameters, density, "1000", 1e-9, 1e9, "density, in kg/m^3"),
    SS_PARAMETER_REAL(parameters, mu, "0.4", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, slope, "0", 0, 80,
                      "slope of the floor, in degrees: above it nothing stops"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    ss_random random = ss_random_start(seed, 0);
    double pitch = 2.3 * p->radius, half = 0.5 * p->across * pitch, slope = p->slope * SS_PI / 180.0;
    ss_build_friction(&build, p->mu);

    // Everything happens in the plane z = 0: gravity points along -y, and is turned to tilt the floor.
    double *gravity = ss_world_gravity(world), g = 9.81;
    gravity[0] = g * sin(slope), gravity[1] = -g * cos(slope), gravity[2] = 0.0;
    ss_build_wall(&build, (double[3]){0.0, 0.0, 0.0}, (double[3]){0.0, 1.0, 0.0});
    if (p->slope == 0.0) ss_build_wall(&build, (double[3]){half, 0.0, 0.0}, (double[3]){-1.0, 0.0, 0.0});
    ss_build_wall(&build, (double[3]){-half, 0.0, 0.0}, (double[3]){1.0, 0.0, 0.0});
    for (int k = 0; k < p->count; k++) {
        double radius = p->radius * ss_random_between(&random, 0.7, 1.0);
        double shift = ss_random_between(&random, -0.05, 0.05) * p->radius;
        double position[3] = {(k % p->across + 0.5) * pitch - half + shift, (k / p->across + 0.5) * pitch,
                              0.0};
        ss_build_ball(&build, radius, p->density, position);
    }
    return ss_build_done(&build);
}

/* Rounding would let the discs leave the plane by and by: some 1e-16 m in a step. */
static bool flatten(ss_sim *sim, void *context, ss_error *err)
{
    (void)context, (void)err;
    ss_world *world = ss_sim_world(sim);
    for (int b = 0; b < ss_world_body_count(world); b++) {
        ss_body *body = ss_world_body(world, b);
        body->position[2] = body->velocity[2] = body->velocity[3] = body->velocity[4] = 0.0;
    }
    return true;
}

static bool begin(const void *of, ss_sim *sim, void **state, ss_error *err)
{
    (void)of, (void)state;
    return ss_sim_call_at(sim, SS_BEFORE_COLLISION, flatten, NULL, err);
}

const ss_scene ss_scene_disc_pile = {
    .name = "disc-pile",
    .summary = "60 discs that fall in a plane",
    .description =
        "Granular flow in two dimensions, as in the planar problems of FCLIB and LMGC90: balls of different "
        "sizes whose centres never leave the plane z = 0, between a floor and upright walls. "
        "Frames are recognised as planar and solved with one tangent per contact. With slope=25 there is no "
        "wall below, and the discs flow down.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.005,
    .length = 4.0,
    .picture_time = 1.0,
    .camera = {{0.0, 1.0, 5.0}, {0.0, 0.8, 0.0}, 40.0},
    .build = build_scene,
    .begin = begin,
};
