#include "parts.h"

#include <math.h>
#include <string.h>

typedef struct parameters {
    double slope, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, slope, "10", 0, 60, "slope of the plane, in degrees"),
    SS_PARAMETER_REAL(parameters, mu, "1", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double slope = p->slope * SS_PI / 180.0, up[3] = {sin(slope), 0.0, cos(slope)}, turn[4];
    ss_turn((double[3]){0.0, 1.0, 0.0}, slope, turn);
    ss_build_friction(&build, p->mu);
    ss_build_wall(&build, (double[3]){0.0, 0.0, 0.0}, up);
    ss_body chassis = {.name = "chassis"};
    memcpy(chassis.quaternion, turn, sizeof turn);
    ss_turn_vector(turn, (double[3]){0.0, 0.0, 0.4}, chassis.position);
    int frame = ss_build_one(&build, &chassis,
                             &(ss_shape){.kind = SS_BOX, .size = {3.0, 1.0, 0.25}, .density = 100.0});
    for (int k = 0; k < 4; k++) {
        ss_body wheel = {0};
        double lay[4];
        ss_turn((double[3]){1.0, 0.0, 0.0}, 0.5 * SS_PI, lay);
        ss_turn_after(turn, lay, wheel.quaternion);
        ss_turn_vector(turn, (double[3]){k & 1 ? 1.1 : -1.1, k & 2 ? 0.65 : -0.65, 0.4}, wheel.position);
        int disc = ss_build_one(&build, &wheel,
                                &(ss_shape){.kind = SS_CYLINDER, .size = {0.4, 0.2}, .density = 300.0});
        ss_joint axle = {.kind = SS_JOINT_REVOLUTE, .a = frame, .b = disc, .axis = {0.0, 1.0, 0.0}};
        memcpy(axle.anchor, wheel.position, sizeof wheel.position);
        ss_build_joint(&build, &axle);
    }
    return ss_build_done(&build);
}

static void choose(const void *of, ss_sim_options *options)
{
    (void)of;
    options->joints = SS_STABILISE_IMPULSE;
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    const ss_world *world = ss_sim_world(sim);
    double slope = p->slope * SS_PI / 180.0, chassis = ss_world_body(world, 0)->mass,
           wheels = 4.0 * ss_world_body(world, 1)->mass, g = -ss_world_gravity(ss_sim_world(sim))[2];
    /* a wheel that rolls is a cylinder: half its mass counts once more */
    double pull = g * sin(slope) * (chassis + wheels) / (chassis + 1.5 * wheels);
    const double *v = ss_world_body(world, 0)->velocity;
    result[0] = (ss_scene_result){"speed", "m/s", v[0] * cos(slope) - v[2] * sin(slope)};
    result[1] = (ss_scene_result){"rolling", "m/s", pull * ss_sim_time(sim)};
    return 2;
}

const ss_scene ss_scene_cart = {
    .name = "cart",
    .summary = "a cart with four wheels rolls down a slope",
    .description =
        "A chassis on four wheels, each on a revolute joint with a free axle, on a gentle slope: the "
        "wheels must roll without slipping, and the joints must not brake. It accelerates like a rolling "
        "body with the inertia of the wheels, more slowly than a frictionless slider; the reported values "
        "compare the two.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 5.0,
    .picture_time = 1.0,
    .build = build_scene,
    .options = choose,
    .figures = figures,
};
