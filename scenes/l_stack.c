#include "parts.h"

typedef struct parameters {
    int count;
    double mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "3", 1, 1000, "blocks"),
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_shape(&build, SS_WORLD,
                   &(ss_shape){.kind = SS_BOX, .size = {6, 6, 1}, .position = {0, 0, -0.5}});
    for (int k = 0; k < p->count; k++) {
        // each one turned by a quarter: the arms of an L lie across those of the next
        ss_body block = {.kind = SS_DYNAMIC, .position = {0, 0, 0.25 + 0.5 * k}};
        ss_turn((double[3]){0, 0, 1}, 0.5 * SS_PI * (k % 4), block.quaternion);
        int body = ss_build_body(&build, &block);
        ss_shape arm = {.kind = SS_BOX, .size = {2, 1, 0.5}, .position = {0, -0.5, 0}, .density = 100};
        ss_shape leg = {.kind = SS_BOX, .size = {1, 1, 0.5}, .position = {-0.5, 0.5, 0}, .density = 100};
        ss_build_shape(&build, body, &arm);
        ss_build_shape(&build, body, &leg);
    }
    return ss_build_done(&build);
}

const ss_scene ss_scene_l_stack = {
    .name = "l-stack",
    .summary = "L-shaped blocks, each a union of two boxes, stacked crosswise",
    .description = "Blocks that are not convex, at rest on each other: every pair of pieces has its own "
                   "manifold, and the seams inside a block carry nothing. They must not move.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 1.0,
    .picture_time = 0.5,
    .build = build_scene,
    .options = ss_exact_geometry,
};
