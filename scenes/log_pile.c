#include "parts.h"

#include <math.h>

typedef struct parameters {
    int count;
    double radius, length, density, mu, slope, run;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "40", 1, 10000, "logs"),
    SS_PARAMETER_REAL(parameters, radius, "0.1", 1e-6, 1e6, "radius of a log, in m"),
    SS_PARAMETER_REAL(parameters, length, "3", 1e-6, 1e6, "length of a log, in m"),
    SS_PARAMETER_REAL(parameters, density, "600", 1e-9, 1e9, "density of the logs, in kg/m^3"),
    SS_PARAMETER_REAL(parameters, mu, "0.4", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, slope, "25", 0, 80, "slope of the plane, in degrees"),
    SS_PARAMETER_REAL(parameters, run, "0", 0, 1e6, "way of the lowest logs to the stop, in m"),
    {0}};

/* Logs lie across the slope, in layers, each turned a little so that they cross. */
static void drop_logs(ss_builder *build, const parameters *p, const double downhill[3], const double up[3],
                      uint64_t seed)
{
    ss_random random = ss_random_start(seed, 0);
    int across = 8;
    double pitch = 2.4 * p->radius;
    for (int k = 0; k < p->count; k++) {
        double along = p->run + (k % across + 0.5) * pitch, above = (k / across + 1.0) * pitch;
        ss_body body = {0};
        for (int i = 0; i < 3; i++) body.position[i] = -along * downhill[i] + above * up[i];
        double lay[4], skew[4];
        ss_turn((double[3]){1.0, 0.0, 0.0}, 0.5 * SS_PI, lay);
        ss_turn(up, ss_random_between(&random, -0.01, 0.01), skew);
        ss_turn_after(skew, lay, body.quaternion);
        ss_shape log = {.kind = SS_CAPSULE, .size = {p->radius, p->length}, .density = p->density};
        ss_build_one(build, &body, &log);
    }
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    double slope = p->slope * SS_PI / 180.0, half = 0.5 * p->length + 1.5 * p->radius;
    double up[3] = {sin(slope), 0.0, cos(slope)}, downhill[3] = {cos(slope), 0.0, -sin(slope)};
    ss_build_friction(&build, p->mu);
    ss_build_wall(&build, (double[3]){0.0, 0.0, 0.0}, up);
    ss_build_wall(&build, (double[3]){0.0, 0.0, 0.0}, (double[3]){-downhill[0], 0.0, -downhill[2]});
    ss_build_wall(&build, (double[3]){0.0, half, 0.0}, (double[3]){0.0, -1.0, 0.0});
    ss_build_wall(&build, (double[3]){0.0, -half, 0.0}, (double[3]){0.0, 1.0, 0.0});
    drop_logs(&build, p, downhill, up, seed);
    return ss_build_done(&build);
}

const ss_scene ss_scene_log_pile = {
    .name = "log-pile",
    .summary = "40 long logs that pile up against a stop on a steep plane",
    .description = "The scene of the BPMD paper (Lacoursiere, Linde, Lu, Trinkle 2015): long thin logs "
                   "fall onto an inclined plane steep enough to slide, between two side walls and against "
                   "a stop at its foot. Many contacts slide while the pile settles, and that is where "
                   "solvers differ most in the direction and the magnitude of friction.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 10.0,
    .picture_time = 2.0,
    .build = build_scene,
};
