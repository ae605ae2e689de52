#include "parts.h"

#include <math.h>

typedef struct parameters {
    int count;
    double speed, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "64", 2, 100000, "number of pucks and directions"),
    SS_PARAMETER_REAL(parameters, speed, "1", 0, 1e6, "initial speed, in m/s"),
    SS_PARAMETER_REAL(parameters, mu, "0.3", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int k = 0; k < p->count; k++) {
        double angle = 2.0 * SS_PI * k / p->count, ring = 0.03 * p->count;
        ss_body puck = {.position = {ring * cos(angle), ring * sin(angle), 0.02},
                        .velocity = {p->speed * cos(angle), p->speed * sin(angle)}};
        ss_build_one(&build, &puck,
                     &(ss_shape){.kind = SS_CYLINDER, .size = {0.05, 0.04}, .density = 1000.0});
    }
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    double sum = 0.0, least = INFINITY, most = 0.0, sideways = 0.0;
    for (int k = 0; k < p->count; k++) {
        const ss_body *puck = ss_world_body(ss_sim_world(sim), k);
        double angle = 2.0 * SS_PI * k / p->count, ring = 0.03 * p->count;
        double x = puck->position[0] - ring * cos(angle), y = puck->position[1] - ring * sin(angle);
        double gone = x * cos(angle) + y * sin(angle);
        sum += gone;
        least = fmin(least, gone);
        most = fmax(most, gone);
        sideways = fmax(sideways, fabs(y * cos(angle) - x * sin(angle)));
    }
    result[0] = (ss_scene_result){"distance", "m", sum / p->count};
    result[1] = (ss_scene_result){"spread", "m", most - least};
    result[2] = (ss_scene_result){"sideways", "m", sideways};
    return 3;
}

const ss_scene ss_scene_isotropy = {
    .name = "isotropy",
    .summary = "64 pucks pushed in 64 directions",
    .description =
        "Isotropy of friction: pucks on a circle start with the same speed in 64 directions and must all "
        "slide the same distance. The cone gives exactly that; with a pyramid of four directions some "
        "slide farther, by up to a factor of the square root of two. Reported values: mean distance and "
        "its variation.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 1.0,
    .picture_time = 0.3,
    .build = build_scene,
    .figures = figures,
};
