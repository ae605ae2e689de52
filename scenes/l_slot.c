#include "parts.h"

typedef struct parameters {
    double clearance, longer, height, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, clearance, "1e-5", -0.1, 0.5, "between the piece and the slot, in m"),
    SS_PARAMETER_REAL(parameters, longer, "0", -0.5, 0.5, "one arm is longer by this, in m"),
    SS_PARAMETER_REAL(parameters, height, "1.5", 0.5, 100, "of the piece above the slot at the start, in m"),
    SS_PARAMETER_REAL(parameters, mu, "0", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);

    // the slot is the L of [0, 2] x [0, 1] and [0, 1] x [0, 2]
    ss_build_block(&build, SS_WORLD, -1, 0, -1, 3, 0);
    ss_build_block(&build, SS_WORLD, 2, 3, -1, 3, 0);
    ss_build_block(&build, SS_WORLD, 0, 2, -1, 0, 0);
    ss_build_block(&build, SS_WORLD, 0, 2, 2, 3, 0);
    ss_build_block(&build, SS_WORLD, 1, 2, 1, 2, 0);

    double e = 0.5 * p->clearance;
    int piece = ss_build_body(&build, &(ss_body){.kind = SS_DYNAMIC, .position = {0, 0, p->height}});
    ss_build_block(&build, piece, e, 2 - e + p->longer, e, 1 - e, 1);
    ss_build_block(&build, piece, e, 1 - e, 1 - e, 2 - e, 1);
    return ss_build_done(&build);
}

const ss_scene ss_scene_l_slot = {
    .name = "l-slot",
    .summary = "an L-shaped piece falls through an L-shaped slot",
    .description = "Non-convex bodies as unions of boxes: the concave corner of the piece passes the convex "
                   "corner of the slot with half of the clearance on each side. It falls freely, without any "
                   "impulse; a piece with one arm longer by three clearances does not pass.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 1.0,
    .picture_time = 0.3,
    .camera = {{5.5, -4.5, 5}, {1, 1, 0}, 0},
    .build = build_scene,
    .options = ss_exact_geometry,
    .figures = ss_figures_of_a_fall,
};
