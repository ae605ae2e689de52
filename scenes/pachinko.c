#include "parts.h"

typedef struct parameters {
    int count, rows;
    double radius, restitution, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, count, "50", 1, 100000, "balls"),
    SS_PARAMETER_INT(parameters, rows, "5", 1, 100, "rows of pins"),
    SS_PARAMETER_REAL(parameters, radius, "0.1", 1e-6, 1e6, "radius of balls and pins, in m"),
    SS_PARAMETER_REAL(parameters, restitution, "0.4", 0, 1, "Newton's coefficient of restitution"),
    SS_PARAMETER_REAL(parameters, mu, "0.2", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    ss_random random = ss_random_start(seed, 0);
    double r = p->radius, pitch = 5.0 * r, top = p->rows * pitch, half = 2.0 * pitch;
    int steel = ss_build_material(&build, "steel", p->mu, p->restitution);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    ss_build_wall(&build, (double[3]){0.0, 1.1 * r, 0.0}, (double[3]){0.0, -1.0, 0.0});
    ss_build_wall(&build, (double[3]){0.0, -1.1 * r, 0.0}, (double[3]){0.0, 1.0, 0.0});
    ss_build_wall(&build, (double[3]){half, 0.0, 0.0}, (double[3]){-1.0, 0.0, 0.0});
    ss_build_wall(&build, (double[3]){-half, 0.0, 0.0}, (double[3]){1.0, 0.0, 0.0});
    for (int row = 0; row < p->rows; row++) {
        for (int k = 0; k < 3 + row % 2; k++) {
            ss_shape pin = {.kind = SS_CYLINDER, .size = {r, 2.2 * r}, .material = steel};
            pin.position[0] = (k - 0.5 * (2 + row % 2)) * pitch;
            pin.position[2] = (row + 1.5) * pitch;
            ss_turn((double[3]){1.0, 0.0, 0.0}, 0.5 * SS_PI, pin.quaternion);
            ss_build_shape(&build, SS_WORLD, &pin);
        }
    }
    for (int k = 0; k < p->count; k++) {
        double shift = ss_random_between(&random, -0.2 * r, 0.2 * r);
        ss_body body = {
            .position = {(k % 5 - 2) * 2.6 * r + shift, 0.0, top + 2.0 * pitch + k / 5 * 2.5 * r}};
        ss_shape ball = {.kind = SS_SPHERE, .size = {r}, .density = 1000.0, .material = steel};
        ss_build_one(&build, &body, &ball);
    }
    return ss_build_done(&build);
}

const ss_scene ss_scene_pachinko = {
    .name = "pachinko",
    .summary = "50 balls fall through a field of pins",
    .description =
        "Balls drop through rows of fixed pins between two panes, as in the Japanese game: isolated "
        "contacts, each at a new place. With many rows the final positions follow the binomial "
        "distribution.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.005,
    .length = 6.0,
    .picture_time = 1.2,
    .build = build_scene,
};
