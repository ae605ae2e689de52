#include "parts.h"

typedef struct parameters {
    int tiles;
    double speed, mu, box;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_INT(parameters, tiles, "20", 1, 10000, "tiles of 0.4 m, in a row"),
    SS_PARAMETER_REAL(parameters, speed, "2", 0, 100, "of the box at the start, in m/s"),
    SS_PARAMETER_REAL(parameters, mu, "0.1", 0, 10, "friction"),
    SS_PARAMETER_REAL(parameters, box, "0.3", 0.01, 10, "edges of the box's base, in m; it is half as high"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double pitch = 0.4;
    ss_build_friction(&build, p->mu);
    for (int k = 0; k < p->tiles; k++) {
        ss_shape tile = {.kind = SS_BOX, .size = {pitch, 1, 0.2}, .position = {k * pitch, 0, -0.1}};
        ss_build_shape(&build, SS_WORLD, &tile);
    }
    ss_body box = {.position = {0, 0, 0.25 * p->box}, .velocity = {p->speed, 0, 0}, .name = "box"};
    ss_build_one(&build, &box,
                 &(ss_shape){.kind = SS_BOX, .size = {p->box, p->box, 0.5 * p->box}, .density = 100.0});
    return ss_build_done(&build);
}

static void choose(const void *of, ss_sim_options *options)
{
    ss_exact_geometry(of, options);
    options->stop = "relative_energy<1e-13"; // errors of a hundred steps add up
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    const ss_body *body = ss_world_body(ss_sim_world(sim), 0);
    double exact = p->speed - p->mu * 9.81 * ss_sim_time(sim);
    if (exact < 0.0) exact = 0.0;
    result[0] = (ss_scene_result){"speed", "m/s", body->velocity[0]};
    result[1] = (ss_scene_result){"lost", "m/s", exact - body->velocity[0]};
    return 2;
}

const ss_scene ss_scene_ghost_edges = {
    .name = "ghost-edges",
    .summary = "a box slides over a floor of tiles, and must not notice their seams",
    .description =
        "The tops of the tiles are in one plane, so the box loses mu g h of its speed in each step, "
        "as on one floor. Contacts with the side of the next tile, which the box cannot touch, stop "
        "it or throw it up: users of physics engines call it a ghost collision. The reported value is"
        " the speed lost beyond friction; with polyhedral exact geometry it is rounding.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 1.5,
    .picture_time = 0.5,
    .camera = {{1.5, -2.5, 1.6}, {1, 0, 0}, 0},
    .build = build_scene,
    .options = choose,
    .figures = figures,
};
