#include "parts.h"

typedef struct parameters {
    double height, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, height, "0.05", 0, 1e6, "height from which the pieces fall, in m"),
    SS_PARAMETER_REAL(parameters, mu, "0.4", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    ss_builder build = ss_build_start(world, err);
    ss_random random = ss_random_start(seed, 0);
    double field = 0.05;
    ss_build_friction(&build, p->mu);
    for (int k = 0; k < 64; k++) {
        ss_shape square = {
            .kind = SS_BOX, .size = {field, field, 0.02}, .colour = (k + k / 8) % 2 ? 0xE8D9B5 : 0x7A5230};
        square.position[0] = (k % 8 - 3.5) * field;
        square.position[1] = (k / 8 - 3.5) * field;
        square.position[2] = -0.01;
        ss_build_shape(&build, SS_WORLD, &square);
    }
    for (int k = 0; k < 64; k++) {
        int row = k / 8;
        if ((k + row) % 2 || row == 3 || row == 4) continue;
        ss_body piece = {.position = {(k % 8 - 3.5) * field, (row - 3.5) * field, 0.005 + p->height}};
        ss_turn(
            (double[3]){ss_random_between(&random, -1.0, 1.0), ss_random_between(&random, -1.0, 1.0), 0.1},
            0.1, piece.quaternion);
        ss_shape disc = {.kind = SS_CYLINDER, .size = {0.4 * field, 0.008}, .density = 700.0};
        disc.colour = row < 4 ? 0x2B2B2B : 0xF2F2F2;
        ss_build_one(&build, &piece, &disc);
    }
    return ss_build_done(&build);
}

const ss_scene ss_scene_checkers = {
    .name = "checkers",
    .summary = "a draughts board whose 24 pieces are dropped into place",
    .description =
        "Sixty-four squares and twenty-four flat cylinders that fall on them from a small height: many "
        "flat circular contacts at once. In RPI-MATLAB-Simulator the board was a mouse-driven game "
        "without physics.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.004,
    .length = 2.0,
    .picture_time = 0.5,
    .build = build_scene,
};
