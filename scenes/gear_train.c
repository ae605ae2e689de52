#include "parts.h"

typedef struct parameters {
    double speed, ratio;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, speed, "5", -1e6, 1e6, "speed of the first wheel, in rad/s"),
    SS_PARAMETER_REAL(parameters, ratio, "2", 0.01, 100, "gear ratio of one wheel to the next"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double radius = 0.3, x = 0.0;
    int wheels[3];
    for (int k = 0; k < 3; k++) {
        ss_body wheel = {.position = {x, 0.0, 0.0}};
        ss_turn((double[3]){1.0, 0.0, 0.0}, 0.5 * SS_PI, wheel.quaternion);
        wheels[k] = ss_build_one(&build, &wheel,
                                 &(ss_shape){.kind = SS_CYLINDER,
                                             .size = {radius, 0.1},
                                             .density = 1000.0,
                                             .collides_with = SS_MEETS_NOTHING});
        if (k == 2)
            ss_build_shape(&build, wheels[k],
                           &(ss_shape){.kind = SS_SPHERE,
                                       .size = {0.1},
                                       .density = 3000.0,
                                       .position = {radius, 0.0, 0.0},
                                       .collides_with = SS_MEETS_NOTHING});
        ss_joint axle = {.kind = SS_JOINT_REVOLUTE,
                         .a = SS_WORLD,
                         .b = wheels[k],
                         .anchor = {x, 0.0, 0.0},
                         .axis = {0.0, 1.0, 0.0}};
        if (k == 0) axle.law[0] = (ss_axis_law){.motor = SS_MOTOR_VELOCITY, .target_speed = p->speed};
        ss_build_joint(&build, &axle);
        x += radius * (1.0 + p->ratio) + 0.02;
        radius *= p->ratio;
    }
    for (int k = 0; k < 2; k++)
        ss_build_joint(&build, &(ss_joint){.kind = SS_JOINT_GEAR,
                                           .a = wheels[k],
                                           .b = wheels[k + 1],
                                           .axis = {0.0, 1.0, 0.0},
                                           .axis2 = {0.0, 1.0, 0.0},
                                           .ratio = 1.0 / p->ratio});
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    double angle, first = 0.0, last = 0.0;
    ss_joint_coordinate(ss_sim_world(sim), 0, 0, &angle, &first);
    ss_joint_coordinate(ss_sim_world(sim), 2, 0, &angle, &last);
    result[0] = (ss_scene_result){"first", "rad/s", first};
    result[1] = (ss_scene_result){"last", "rad/s", last};
    result[2] = (ss_scene_result){"ratio_error", "1", last * p->ratio * p->ratio / first - 1.0};
    return 3;
}

static void choose(const void *of, ss_sim_options *options)
{
    (void)of;
    options->joints = SS_STABILISE_PROJECTION; /* leaves the speed of the motor alone */
    options->stop = "relative_energy<1e-6";
}

const ss_scene ss_scene_gear_train = {
    .name = "gear-train",
    .summary = "three wheels coupled by gears, one driven",
    .description =
        "Wheels on fixed axles, each coupled to the next by a gear: the first is driven by a motor, the "
        "last carries a weight on its rim. The speed ratios must be exact, whatever the load.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.005,
    .length = 5.0,
    .picture_time = 0.2,
    .build = build_scene,
    .options = choose,
    .figures = figures,
};
