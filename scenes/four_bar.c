#include "parts.h"

#include <math.h>
#include <string.h>

typedef struct parameters {
    double speed, torque;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, speed, "3", -1e6, 1e6, "speed of the crank, in rad/s"),
    SS_PARAMETER_REAL(parameters, torque, "50", 0, 1e9, "largest torque of the motor, in N m; 0 = unlimited"),
    {0}};

static int bar(ss_builder *build, const double from[3], const double to[3])
{
    double x = to[0] - from[0], z = to[2] - from[2], length = sqrt(x * x + z * z);
    ss_body body = {.position = {0.5 * (from[0] + to[0]), 0.0, 0.5 * (from[2] + to[2])}};
    ss_turn((double[3]){0.0, 1.0, 0.0}, atan2(x, z), body.quaternion);
    return ss_build_one(build, &body,
                        &(ss_shape){.kind = SS_CAPSULE,
                                    .size = {0.03, length},
                                    .density = 1000.0,
                                    .collides_with = SS_MEETS_NOTHING});
}

static void pin(ss_builder *build, int a, int b, const double at[3], ss_axis_law law)
{
    ss_joint joint = {.kind = SS_JOINT_REVOLUTE, .a = a, .b = b, .axis = {0.0, 1.0, 0.0}};
    joint.law[0] = law;
    memcpy(joint.anchor, at, sizeof joint.anchor);
    ss_build_joint(build, &joint);
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    const double a[3] = {0.0, 0.0, 0.0}, b[3] = {0.0, 0.0, 0.4}, c[3] = {0.9, 0.0, 0.8},
                 d[3] = {1.0, 0.0, 0.0};
    int crank = bar(&build, a, b), coupler = bar(&build, b, c), rocker = bar(&build, d, c);
    pin(&build, SS_WORLD, crank, a,
        (ss_axis_law){.motor = SS_MOTOR_VELOCITY, .target_speed = p->speed, .max_force = p->torque});
    pin(&build, crank, coupler, b, (ss_axis_law){0});
    pin(&build, coupler, rocker, c, (ss_axis_law){0});
    pin(&build, SS_WORLD, rocker, d, (ss_axis_law){0});
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    (void)of, (void)state;
    double angle = 0.0, speed = 0.0, rocker = 0.0, rate = 0.0;
    ss_joint_coordinate(ss_sim_world(sim), 0, 0, &angle, &speed);
    ss_joint_coordinate(ss_sim_world(sim), 3, 0, &rocker, &rate);
    result[0] = (ss_scene_result){"crank_speed", "rad/s", speed};
    result[1] = (ss_scene_result){"rocker_angle", "rad", rocker};
    return 2;
}

static void choose(const void *of, ss_sim_options *options)
{
    (void)of;
    options->joints = SS_STABILISE_PROJECTION; /* leaves the speed of the motor alone */
    options->stop = "relative_energy<1e-6";
}

const ss_scene ss_scene_four_bar = {
    .name = "four-bar",
    .summary = "a crank and rocker on four revolute joints, driven by a motor",
    .description =
        "A closed loop with redundant equations: in space, a planar four-bar linkage has twenty equations "
        "for three bodies, three of them redundant. A motor turns the crank; by Grashof's condition it "
        "revolves fully while the rocker oscillates.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.005,
    .length = 10.0,
    .picture_time = 0.5,
    .build = build_scene,
    .options = choose,
    .figures = figures,
};
