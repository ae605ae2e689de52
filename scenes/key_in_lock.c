#include "parts.h"

typedef struct parameters {
    double clearance, tooth, height, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, clearance, "1e-5", -0.1, 0.5, "between shaft and hole, in m"),
    SS_PARAMETER_REAL(parameters, tooth, "0.19999", 0.01, 0.5, "width of the tooth, in m; its notch has 0.2"),
    SS_PARAMETER_REAL(parameters, height, "1.5", 0.5, 100, "of the key above the lock at the start, in m"),
    SS_PARAMETER_REAL(parameters, mu, "0", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);

    // a hole of 1 m, with a notch [0.5, 0.8] x [-0.1, 0.1] on its right
    ss_build_block(&build, SS_WORLD, -1.5, -0.5, -1.5, 1.5, 0);
    ss_build_block(&build, SS_WORLD, -0.5, 0.5, 0.5, 1.5, 0);
    ss_build_block(&build, SS_WORLD, -0.5, 0.5, -1.5, -0.5, 0);
    ss_build_block(&build, SS_WORLD, 0.5, 1.5, 0.1, 1.5, 0);
    ss_build_block(&build, SS_WORLD, 0.5, 1.5, -1.5, -0.1, 0);
    ss_build_block(&build, SS_WORLD, 0.8, 1.5, -0.1, 0.1, 0);

    double e = 0.5 * p->clearance;
    int key = ss_build_body(&build, &(ss_body){.kind = SS_DYNAMIC, .position = {0, 0, p->height}});
    ss_build_block(&build, key, -0.5 + e, 0.5 - e, -0.5 + e, 0.5 - e, 1);
    ss_build_block(&build, key, 0.5 - e, 0.8 - e, -0.5 * p->tooth, 0.5 * p->tooth, 1);
    return ss_build_done(&build);
}

const ss_scene ss_scene_key_in_lock = {
    .name = "key-in-lock",
    .summary = "a key with a tooth falls through a lock with a notch",
    .description =
        "Shaft and tooth of the key pass hole and notch of the lock with micrometres to spare: nine "
        "pairs of convex pieces, each with its own alternatives. A tooth of 0.20003 m does not pass "
        "the notch of 0.2 m.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 1.0,
    .picture_time = 0.3,
    .camera = {{3.2, -4, 3.6}, {0, 0, 0.4}, 0},
    .build = build_scene,
    .options = ss_exact_geometry,
    .figures = ss_figures_of_a_fall,
};
