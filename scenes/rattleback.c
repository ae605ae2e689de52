#include "parts.h"

typedef struct parameters {
    double spin, skew, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, spin, "-8", -1e6, 1e6, "initial spin about the vertical, in rad/s"),
    SS_PARAMETER_REAL(parameters, skew, "5", -45, 45,
                      "angle between the axes of shape and inertia, in degrees"),
    SS_PARAMETER_REAL(parameters, mu, "1", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    double a = 0.2, b = 0.03, c = 0.02, skew[4];
    ss_body stone = {
        .kind = SS_DYNAMIC, .position = {0.0, 0.0, c}, .velocity = {0.0, 0.0, 0.0, 0.05, 0.0, p->spin}};
    int number = ss_build_body(&build, &stone);
    ss_build_shape(&build, number, &(ss_shape){.kind = SS_ELLIPSOID, .size = {a, b, c}, .density = 0.0});
    ss_turn((double[3]){0.0, 0.0, 1.0}, p->skew * SS_PI / 180.0, skew);
    ss_shape bar = {.kind = SS_BOX,
                    .size = {1.6 * a, 1.2 * b, 0.3 * c},
                    .position = {0.0, 0.0, -0.2 * c},
                    .density = 2000.0,
                    .ghost = true};
    for (int i = 0; i < 4; i++) bar.quaternion[i] = skew[i];
    ss_build_shape(&build, number, &bar);
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    (void)of, (void)state;
    const ss_body *stone = ss_world_body(ss_sim_world(sim), 0);
    result[0] = (ss_scene_result){"spin", "rad/s", stone->velocity[5]};
    return 1;
}

const ss_scene ss_scene_rattleback = {
    .name = "rattleback",
    .summary = "a stone that spins one way only",
    .description =
        "Half an ellipsoid whose principal axes of inertia are not those of its shape: spun the wrong way "
        "it begins to rattle, stops, and reverses. The coupling is weak, so it shows whether contact "
        "points move smoothly and whether friction does spurious work.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.0005,
    .length = 10.0,
    .picture_time = 1.0,
    .build = build_scene,
    .figures = figures,
};
