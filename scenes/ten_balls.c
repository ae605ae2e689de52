#include "parts.h"

#include <math.h>

typedef struct parameters {
    int count;
    double speed, restitution, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "10", 1, 10000, "balls"),
    SS_PARAMETER_REAL(parameters, speed, "2", 0, 1e6, "largest component of the initial velocities, in m/s"),
    SS_PARAMETER_REAL(parameters, restitution, "0.8", 0, 1, "Newton's coefficient of restitution"),
    SS_PARAMETER_REAL(parameters, mu, "0.2", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    ss_random random = ss_random_start(seed, 0);
    int rubber = ss_build_material(&build, "rubber", p->mu, p->restitution);
    int edge = (int)ceil(cbrt((double)p->count));
    double half = 0.5 * (edge + 1) * 0.35;
    for (int side = 0; side < 6; side++) {
        double normal[3] = {0.0, 0.0, 0.0}, point[3] = {0.0, 0.0, 0.0};
        normal[side / 2] = side % 2 ? -1.0 : 1.0;
        point[side / 2] = -half * normal[side / 2];
        int wall = ss_build_wall(&build, point, normal);
        if (wall >= 0) ss_world_shape(world, wall)->material = rubber;
    }
    for (int k = 0; k < p->count; k++) {
        ss_body body = {0};
        int place[3] = {k % edge, k / edge % edge, k / (edge * edge)};
        for (int i = 0; i < 3; i++) body.position[i] = (place[i] - 0.5 * (edge - 1)) * 0.35;
        for (int i = 0; i < 3; i++) body.velocity[i] = ss_random_between(&random, -p->speed, p->speed);
        double radius = ss_random_between(&random, 0.1, 0.15);
        ss_shape ball = {.kind = SS_SPHERE, .size = {radius}, .density = 500.0, .material = rubber};
        ss_build_one(&build, &body, &ball);
    }
    return ss_build_done(&build);
}

const ss_scene ss_scene_ten_balls = {
    .name = "ten-balls",
    .summary = "ten balls bouncing in a box",
    .description =
        "Ten balls of different sizes with random velocities in a closed box, all colliding with each "
        "other. After Todorov's ball box in RPI-MATLAB-Simulator, which applied gravity twice.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.005,
    .length = 5.0,
    .picture_time = 0.5,
    .build = build_scene,
};
