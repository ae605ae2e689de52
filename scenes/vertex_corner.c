#include "parts.h"

typedef struct parameters {
    double x, y, speed, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, x, "0.005", -0.1, 0.1, "of the lower left vertex, from the corner, in m"),
    SS_PARAMETER_REAL(parameters, y, "0.02", -0.1, 1, "of the lower left vertex, from the corner, in m"),
    SS_PARAMETER_REAL(parameters, speed, "3", 0, 100, "downwards, in m/s"),
    SS_PARAMETER_REAL(parameters, mu, "0", 0, 10, "friction"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_shape(&build, SS_WORLD,
                   &(ss_shape){.kind = SS_BOX, .size = {1, 0.4, 1}, .position = {-0.5, 0, -0.5}});
    ss_body square = {.position = {p->x + 0.1, 0, p->y + 0.1}, .velocity = {0, 0, -p->speed}};
    ss_build_one(&build, &square, &(ss_shape){.kind = SS_BOX, .size = {0.2, 0.2, 0.2}, .density = 125.0});
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    (void)of;
    (void)state;
    const ss_body *body = ss_world_body(ss_sim_world(sim), 0);
    result[0] = (ss_scene_result){"impulse", "N s", ss_figure_impulse(sim)};
    result[1] = (ss_scene_result){"spin", "rad/s", body->velocity[4]};
    return 2;
}

const ss_scene ss_scene_vertex_corner = {
    .name = "vertex-corner",
    .summary = "a square falls past the corner of a block, near both of its faces",
    .description =
        "The situation of Williams et al. 2013, Fig. 7: a vertex passes a convex corner. In the first"
        " step (0.01 s) the half-spaces of both faces stop the square with 0.49881 and 0.09929 N s, "
        "or 1.93631 and 1.16179 N s without gaps (Anitescu and Potra), although it touches nothing. "
        "With polyhedral exact geometry the impulse is 0. With x=-0.005 it lands on the top face, "
        "with 0.43924 N s.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 0.1,
    .picture_time = 0.01,
    .camera = {{0.2, -1.6, 0.5}, {0, 0, 0}, 0},
    .build = build_scene,
    .options = ss_exact_geometry,
    .figures = figures,
};
