#include "parts.h"

#include <math.h>

typedef struct parameters {
    double spin, tilt;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, spin, "100", 1e-3, 1e6, "spin about its own axis, in rad/s"),
    SS_PARAMETER_REAL(parameters, tilt, "30", 1, 89, "angle of the axis from the vertical, in degrees"),
    {0}};

typedef struct top {
    double mass, arm, about_axis, across; /* kg, m, kg m^2 about the fixed point */
} top;

static top make(void)
{
    double radius = 0.1, thick = 0.02, mass = 1000.0 * SS_PI * radius * radius * thick;
    top t = {.mass = mass, .arm = 0.1, .about_axis = 0.5 * mass * radius * radius};
    t.across = mass * (0.25 * radius * radius + thick * thick / 12.0) + mass * t.arm * t.arm;
    return t;
}

/* The slow root, for a spin w3 about the own axis that is kept. */
static double precession(const parameters *p, double gravity)
{
    top t = make();
    double a = t.across * cos(p->tilt * SS_PI / 180.0), b = t.about_axis * p->spin,
           c = t.mass * gravity * t.arm;
    return 2.0 * c / (b + sqrt(b * b - 4.0 * a * c));
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    top t = make();
    double tilt = p->tilt * SS_PI / 180.0, axis[3] = {sin(tilt), 0.0, cos(tilt)};
    double rate = precession(p, -ss_world_gravity(world)[2]);
    if (!isfinite(rate))
        return ss_fail(err, SS_ERROR_USAGE,
                       "spinning-top: invalid value \"%g\" for spin: too slow for "
                       "steady precession",
                       p->spin);
    /* w = W e_z + (w3 - W cos) axis: the component along the axis is the spin w3 */
    double own = p->spin - rate * cos(tilt), spin[3] = {own * axis[0], 0.0, own * axis[2] + rate};
    ss_body body = {
        .velocity = {0.0, t.arm * (spin[2] * axis[0] - spin[0] * axis[2]), 0.0, spin[0], spin[1], spin[2]}};
    for (int i = 0; i < 3; i++) body.position[i] = t.arm * axis[i];
    ss_turn((double[3]){0.0, 1.0, 0.0}, tilt, body.quaternion);
    int disc =
        ss_build_one(&build, &body, &(ss_shape){.kind = SS_CYLINDER, .size = {0.1, 0.02}, .density = 1000.0});
    ss_build_joint(&build, &(ss_joint){.kind = SS_JOINT_BALL, .a = SS_WORLD, .b = disc});
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    const ss_body *body = ss_world_body(ss_sim_world(sim), 0);
    double g = -ss_world_gravity(ss_sim_world(sim))[2], time = ss_sim_time(sim), rate = precession(p, g);
    double turned = atan2(body->position[1], body->position[0]), due = remainder(rate * time, 2.0 * SS_PI);
    double flat = hypot(body->position[0], body->position[1]);
    result[0] = (ss_scene_result){"precession", "rad/s",
                                  time > 0.0 ? rate + remainder(turned - due, 2.0 * SS_PI) / time : rate};
    result[1] = (ss_scene_result){"expected", "rad/s", rate};
    result[2] = (ss_scene_result){"tilt", "deg", atan2(flat, body->position[2]) * 180.0 / SS_PI};
    return 3;
}

static void choose(const void *of, ss_sim_options *options)
{
    (void)of;
    options->joints = SS_STABILISE_IMPULSE;
    /* the midpoint rule is that of a free body; here the joint takes the gyroscopic torque up within the
     * step, and what the rule sees of a free nutation would act as a brake */
    options->gyro = SS_GYRO_EXPLICIT;
}

const ss_scene ss_scene_spinning_top = {
    .name = "spinning-top",
    .summary = "a heavy top on a fixed point, in steady precession",
    .description =
        "A fast-spinning disc on a massless axle that turns about a fixed point. Started at the rate of "
        "steady precession, its axis moves on a cone of constant angle; the reported values compare rate "
        "and angle with the root of I1 cos(theta) W^2 - I3 w3 W + m g l = 0.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.00025,
    .length = 5.0,
    .picture_time = 0.5,
    .build = build_scene,
    .options = choose,
    .figures = figures,
};
