#include "parts.h"

#include <math.h>

typedef struct parameters {
    int count, across;
    double size, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "60", 1, 100000, "rocks"),
    SS_PARAMETER_INT(parameters, across, "3", 1, 1000, "rocks side by side at the start"),
    SS_PARAMETER_REAL(parameters, size, "0.25", 1e-6, 1e6, "mean radius of a rock, in m"),
    SS_PARAMETER_REAL(parameters, mu, "0.7", 0, 10, "friction between all bodies"),
    {0}};

static void drop(ss_builder *build, const parameters *p, int k, ss_random *random)
{
    if (build->failed) return;
    double points[20][3], size = p->size * ss_random_between(random, 0.6, 1.2);
    double stretch[3] = {ss_random_between(random, 0.7, 1.3), ss_random_between(random, 0.7, 1.3), 1.0};
    ss_rock_corners(random, size, stretch, 20, points);
    ss_mesh *mesh = ss_mesh_hull((const double(*)[3])points, 20, build->err);
    build->failed = mesh == NULL;
    if (!mesh) return;
    int n = p->across;
    double pitch = 3.0 * p->size, middle = 0.5 * (n - 1);
    ss_body body = {.position = {(k % n - middle) * pitch, (k / n % n - middle) * pitch,
                                 2.0 * p->size + k / (n * n) * pitch}};
    ss_turn_at_random(random, body.quaternion);
    ss_build_one(build, &body, &(ss_shape){.kind = SS_HULL, .mesh = mesh, .density = 2600.0});
    ss_mesh_destroy(mesh);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    ss_random random = ss_random_start(seed, 0);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int side = 0; side < 4; side++) {
        double far = (2.0 * p->across + 1.0) * p->size, high = 1.5 * p->size, thick = 0.5 * p->size;
        bool along_x = side < 2;
        ss_shape wall = {.kind = SS_BOX,
                         .size = {along_x ? 2.0 * far : thick, along_x ? thick : 2.0 * far, high}};
        wall.position[along_x ? 1 : 0] = side % 2 ? far : -far;
        wall.position[2] = 0.5 * high;
        ss_build_shape(&build, SS_WORLD, &wall);
    }
    for (int k = 0; k < p->count; k++) drop(&build, p, k, &random);
    return ss_build_done(&build);
}

const ss_scene ss_scene_rock_pile = {
    .name = "rock-pile",
    .summary = "rocks of random shape heaped in a ring",
    .description =
        "Convex hulls of random points, of different sizes and shapes, fall into a heap between low "
        "walls. With a friction coefficient of 1 the heap slides as a whole while it settles, the hardest "
        "known case for fast solvers.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 6.0,
    .picture_time = 3.0,
    .build = build_scene,
};
