#include "parts.h"

#include <math.h>

typedef struct parameters {
    int count;
    double spacing, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "40", 2, 100000, "stones"),
    SS_PARAMETER_REAL(parameters, spacing, "0.5", 0.05, 2,
                      "distance between two stones, as a fraction of their height"),
    SS_PARAMETER_REAL(parameters, mu, "0.3", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double height = 0.05, width = 0.025, thick = 0.0075;
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int k = 0; k < p->count; k++) {
        ss_body stone = {.position = {k * (p->spacing * height + thick), 0.0, 0.5 * height}};
        if (k == 0) {
            double lean = 0.25, reach = 0.5 * height * sin(lean) - 0.5 * thick * cos(lean) + 0.5 * thick;
            stone.position[0] += reach;
            stone.position[2] = 0.5 * height * cos(lean) + 0.5 * thick * sin(lean);
            ss_turn((double[3]){0.0, 1.0, 0.0}, lean, stone.quaternion);
        }
        ss_build_one(&build, &stone,
                     &(ss_shape){.kind = SS_BOX, .size = {thick, width, height}, .density = 600.0});
    }
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    int fallen = 0;
    for (int k = 0; k < p->count; k++) {
        double up[3];
        ss_turn_vector(ss_world_body(ss_sim_world(sim), k)->quaternion, (double[3]){0.0, 0.0, 1.0}, up);
        fallen += up[2] < 0.9;
    }
    result[0] = (ss_scene_result){"fallen", "1", fallen};
    return 1;
}

const ss_scene ss_scene_domino = {
    .name = "domino",
    .summary = "a row of forty dominoes that fall one after the other",
    .description =
        "The first stone is tipped over, and the wave runs through the row at a speed that settles after "
        "a few stones: inelastic impacts, rolling edges and sliding faces, one after another. The "
        "reported value is the number of fallen stones.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.002,
    .length = 3.0,
    .picture_time = 0.6,
    .build = build_scene,
    .figures = figures,
};
