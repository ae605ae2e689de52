#include "parts.h"

typedef struct parameters {
    double radius, height, restitution, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, radius, "1", 1e-6, 1e6, "radius of the ball, in m"),
    SS_PARAMETER_REAL(parameters, height, "10", 1e-6, 1e6, "initial height of its centre, in m"),
    SS_PARAMETER_REAL(parameters, restitution, "0", 0, 1, "Newton's coefficient of restitution"),
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    int rubber = ss_build_material(&build, "rubber", p->mu, p->restitution);
    ss_shape ground = {.kind = SS_PLANE, .material = rubber};
    ss_shape ball = {.kind = SS_SPHERE, .size = {p->radius}, .density = 1000.0, .material = rubber};
    ss_build_shape(&build, SS_WORLD, &ground);
    ss_build_one(&build, &(ss_body){.position = {0.0, 0.0, p->height}}, &ball);
    return ss_build_done(&build);
}

const ss_scene ss_scene_sphere_drop = {
    .name = "sphere-drop",
    .summary = "a ball falls on the ground",
    .description =
        "The hello world of RPI-MATLAB-Simulator: one ball, one plane. It falls 9 m, hits the ground, and "
        "bounces if there is restitution: each height is the square of the coefficient times the previous "
        "one.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 6.0,
    .picture_time = 0.8,
    .build = build_scene,
};
