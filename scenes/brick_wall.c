#include "parts.h"

typedef struct parameters {
    int rows, width;
    double mu, gap, length, depth, height, density;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, rows, "12", 1, 1000, "number of courses"),
    SS_PARAMETER_INT(parameters, width, "3", 1, 1000, "bricks in the wide courses; the others have one less"),
    SS_PARAMETER_REAL(parameters, mu, "0.6", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, gap, "0.01", 0, 0.5, "gap between neighbours, as a fraction of the length"),
    SS_PARAMETER_REAL(parameters, length, "0.24", 1e-6, 1e6, "length of a brick along the wall, in m"),
    SS_PARAMETER_REAL(parameters, depth, "0.115", 1e-6, 1e6, "depth of a brick across the wall, in m"),
    SS_PARAMETER_REAL(parameters, height, "0.071", 1e-6, 1e6, "height of a brick, in m"),
    SS_PARAMETER_REAL(parameters, density, "1800", 1e-9, 1e9, "density of the bricks, in kg/m^3"),
    {0}};

static void lay_course(ss_builder *build, const parameters *p, int row)
{
    int bricks = row % 2 ? p->width - 1 : p->width;
    double pitch = p->length * (1.0 + p->gap), size[3] = {p->length, p->depth, p->height};
    if (bricks == 0) bricks = 1;
    for (int i = 0; i < bricks; i++) {
        double position[3] = {(i - 0.5 * (bricks - 1)) * pitch, 0.0, (row + 0.5) * p->height};
        ss_build_box(build, size, p->density, position);
    }
}

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    for (int row = 0; row < p->rows; row++) lay_course(&build, p, row);
    return ss_build_done(&build);
}

const ss_scene ss_scene_brick_wall = {
    .name = "brick-wall",
    .summary = "a wall of 30 bricks, courses of three and two in turn",
    .description = "The wall used in the publication of the energy error (Enzenhoefer, Peiret, Teichmann, "
                   "Kovecses 2019): twelve courses, three and two bricks in turn, with small gaps between "
                   "neighbours. Nothing should move, but if the solver stops early the wall sinks and "
                   "spreads: every course carries all those above it, and Gauss-Seidel passes the weight "
                   "down one course at a time. With rows=40 and width=40 it is one of the large walls of "
                   "the benchmarks.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 10.0,
    .picture_time = 1.0,
    .build = build_scene,
};
