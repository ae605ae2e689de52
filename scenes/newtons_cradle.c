#include "parts.h"

#include <math.h>

typedef struct parameters {
    int count, lifted;
    double restitution, gap;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "5", 2, 1000, "balls"),
    SS_PARAMETER_INT(parameters, lifted, "1", 1, 999, "number of balls pulled aside"),
    SS_PARAMETER_REAL(parameters, restitution, "1", 0, 1, "Newton's coefficient of restitution"),
    SS_PARAMETER_REAL(parameters, gap, "0.05", 0, 1,
                      "gap between two balls at rest, as a fraction of the radius"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double radius = 0.05, string = 0.6, pitch = (2.0 + p->gap) * radius, angle = 0.6;
    int steel = ss_build_material(&build, "steel", 0.0, p->restitution);
    for (int k = 0; k < p->count; k++) {
        double x = (k - 0.5 * (p->count - 1)) * pitch, swing = k < p->lifted ? angle : 0.0;
        ss_body ball = {.position = {x - string * sin(swing), 0.0, -string * cos(swing)}};
        ss_turn((double[3]){0.0, 1.0, 0.0}, swing, ball.quaternion);
        int number = ss_build_one(
            &build, &ball,
            &(ss_shape){.kind = SS_SPHERE, .size = {radius}, .density = 7800.0, .material = steel});
        ss_build_joint(&build, &(ss_joint){.kind = SS_JOINT_REVOLUTE,
                                           .a = SS_WORLD,
                                           .b = number,
                                           .anchor = {x, 0.0, 0.0},
                                           .axis = {0.0, 1.0, 0.0}});
    }
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    const ss_world *world = ss_sim_world(sim);
    result[0] = (ss_scene_result){"first", "m/s", ss_world_body(world, 0)->velocity[0]};
    result[1] = (ss_scene_result){"last", "m/s", ss_world_body(world, p->count - 1)->velocity[0]};
    return 2;
}

static void choose(const void *of, ss_sim_options *options)
{
    (void)of;
    options->joints = SS_STABILISE_IMPULSE;
}

const ss_scene ss_scene_newtons_cradle = {
    .name = "newtons-cradle",
    .summary = "five balls on strings that pass on an impact",
    .description =
        "Five hanging balls in a row, the first pulled aside and released. With restitution 1 and small "
        "gaps between the balls, one leaves on the other side and the rest stay; with simultaneous "
        "contacts Newton's impact law would make all of them move, so the balls must not touch at rest: "
        "the gap must be wider than the distance a ball moves in one step.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.001,
    .length = 5.0,
    .picture_time = 0.0,
    .build = build_scene,
    .options = choose,
    .figures = figures,
};
