#include "parts.h"

typedef struct parameters {
    double size, height, mu, yaw, tilt, offset;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, size, "0.99999", 0.01, 2, "edge of the peg, in m; the hole is 1 m wide"),
    SS_PARAMETER_REAL(parameters, height, "1.5", 0.5, 100, "of the centre of the peg at the start, in m"),
    SS_PARAMETER_REAL(parameters, mu, "0", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, yaw, "0", -1, 1, "turn of the peg about the vertical, in rad"),
    SS_PARAMETER_REAL(parameters, tilt, "0", -1, 1, "turn of the peg about the x axis, in rad"),
    SS_PARAMETER_REAL(parameters, offset, "0", -1, 1, "of the peg from the middle of the hole along x, in m"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    static const double side[4][3] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    for (int k = 0; k < 4; k++) {
        ss_shape cube = {.kind = SS_BOX, .size = {1, 1, 1}, .position = {side[k][0], side[k][1], 0}};
        ss_build_shape(&build, SS_WORLD, &cube);
    }
    double density = 1.0 / (p->size * p->size * p->size), yaw[4], tilt[4];
    ss_body peg = {.position = {p->offset, 0, p->height}, .name = "peg"};
    ss_turn((double[3]){0, 0, 1}, p->yaw, yaw);
    ss_turn((double[3]){1, 0, 0}, p->tilt, tilt);
    ss_turn_after(yaw, tilt, peg.quaternion);
    ss_build_one(&build, &peg,
                 &(ss_shape){.kind = SS_BOX, .size = {p->size, p->size, p->size}, .density = density});
    return ss_build_done(&build);
}

const ss_scene ss_scene_peg_in_hole = {
    .name = "peg-in-hole",
    .summary = "a cube falls into a square hole that is a hundred-thousandth wider",
    .description =
        "Four fixed unit cubes leave a unit hole, and a cube of 0.99999 m falls into it, 5 "
        "micrometres of clearance on each side (Williams et al. 2013, Fig. 8). With polyhedral exact "
        "geometry it falls through without any impulse, whatever the step and the margin of contacts,"
        " and a cube of 1.00001 m stays on top. Half-spaces stop it (peg=all). Compare with `peg=off`"
        " and other formulations.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 1.0,
    .picture_time = 0.35,
    .camera = {{2.6, -3.6, 2.8}, {0, 0, 0.4}, 0},
    .build = build_scene,
    .options = ss_exact_geometry,
    .figures = ss_figures_of_a_fall,
};
