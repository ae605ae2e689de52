#include "parts.h"

typedef struct parameters {
    double spin, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, spin, "150", 0, 1e6, "spin about the stem, in rad/s"),
    SS_PARAMETER_REAL(parameters, mu, "0.3", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double r = 0.015;
    ss_build_friction(&build, p->mu);
    ss_build_ground(&build, 0.0);
    ss_body top = {.name = "top",
                   .kind = SS_DYNAMIC,
                   .position = {0.0, 0.0, r},
                   .velocity = {0.0, 0.0, 0.0, 0.0, 0.0, p->spin}};
    ss_turn((double[3]){1.0, 0.0, 0.0}, 0.1, top.quaternion);
    int number = ss_build_body(&build, &top);
    ss_build_shape(&build, number, &(ss_shape){.kind = SS_SPHERE, .size = {r}, .density = 500.0});
    /* lead in the belly: weighs, but touches nothing */
    ss_build_shape(&build, number,
                   &(ss_shape){.kind = SS_SPHERE,
                               .size = {0.4 * r},
                               .position = {0.0, 0.0, -0.5 * r},
                               .density = 4000.0,
                               .ghost = true});
    ss_build_shape(&build, number,
                   &(ss_shape){.kind = SS_CAPSULE,
                               .size = {0.2 * r, 0.4 * r},
                               .position = {0.0, 0.0, 1.0 * r},
                               .density = 500.0});
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    (void)of, (void)state;
    const ss_body *top = ss_world_body(ss_sim_world(sim), 0);
    double stem[3];
    ss_turn_vector(top->quaternion, (double[3]){0.0, 0.0, 1.0}, stem);
    result[0] = (ss_scene_result){"stem_points_up", "1", stem[2]};
    result[1] = (ss_scene_result){"spin", "rad/s", top->velocity[5]};
    return 2;
}

const ss_scene ss_scene_tippe_top = {
    .name = "tippe-top",
    .summary = "a top that turns upside down",
    .description =
        "A ball with a stem and its centre of mass below its middle, spun about the stem: sliding "
        "friction at the ground turns it over until it spins on ball and stem together, upside down, with "
        "less spin and more potential energy. It needs isotropic friction and accurate integration of the "
        "spin.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.0005,
    .length = 4.0,
    .picture_time = 2.5,
    .build = build_scene,
    .figures = figures,
};
