#include "parts.h"

#include <math.h>

typedef struct parameters {
    double mu, angle, speed, spin;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, mu, "2", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, angle, "63.43", 1, 89,
                      "angle between rod and ground, in degrees; tan = 2 is the worst case"),
    SS_PARAMETER_REAL(parameters, speed, "5", -1e6, 1e6, "initial speed of the rod along x, in m/s"),
    SS_PARAMETER_REAL(parameters, spin, "0", -1e6, 1e6, "initial angular velocity, in rad/s"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double angle = p->angle * SS_PI / 180.0, half = 0.5, radius = 0.01;
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    ss_body rod = {.kind = SS_DYNAMIC,
                   .position = {0.0, 0.0, half * sin(angle) + radius},
                   .velocity = {p->speed, 0.0, 0.0, 0.0, p->spin, 0.0}};
    /* leans back: a positive speed pushes the tip ahead, which is where it can jam */
    ss_turn((double[3]){0.0, 1.0, 0.0}, angle - 0.5 * SS_PI, rod.quaternion);
    ss_build_one(&build, &rod,
                 &(ss_shape){.kind = SS_CAPSULE, .size = {radius, 2.0 * half}, .density = 1000.0});
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    (void)state;
    const parameters *p = of;
    const ss_body *rod = ss_world_body(ss_sim_world(sim), 0);
    double tangent = tan(p->angle * SS_PI / 180.0);
    result[0] = (ss_scene_result){"speed", "m/s", rod->velocity[0]};
    result[1] = (ss_scene_result){"critical_mu", "1", (tangent * tangent + 4.0) / (3.0 * fabs(tangent))};
    return 2;
}

const ss_scene ss_scene_painleve = {
    .name = "painleve",
    .summary = "a rod pushed with its tip on the ground: Painleve's paradox",
    .description =
        "A thin rod slides with one end on the ground. For friction above 4/3 there are angles at which "
        "no force satisfies both Coulomb's law and rigid-body dynamics (Painleve 1895): the tip jams. "
        "Time stepping with impulses has solutions there; in the step that jams, the speed drops to zero, "
        "and this is visible in the results.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.001,
    .length = 2.0,
    .picture_time = 0.05,
    .build = build_scene,
    .figures = figures,
};
