#include "parts.h"

typedef struct parameters {
    double mu, squeeze, mass;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, mu, "0.5", 0, 10, "friction between all bodies"),
    SS_PARAMETER_REAL(parameters, squeeze, "40", 0, 1e9, "force of each plate, in N"),
    SS_PARAMETER_REAL(parameters, mass, "2", 1e-9, 1e9, "mass of the block, in kg"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    double size = 0.1, thick = 0.02, wide = 0.15;
    ss_build_friction(&build, p->mu);
    ss_build_box(&build, (double[3]){size, size, size}, p->mass / (size * size * size),
                 (double[3]){0.0, 0.0, 0.5});
    for (int side = 0; side < 2; side++) {
        double sign = side ? 1.0 : -1.0, x = sign * 0.5 * (size + thick);
        ss_body plate = {.position = {x, 0.0, 0.5}, .force = {-sign * p->squeeze}};
        int number = ss_build_one(
            &build, &plate, &(ss_shape){.kind = SS_BOX, .size = {thick, wide, wide}, .density = 2000.0});
        ss_build_joint(&build, &(ss_joint){.kind = SS_JOINT_PRISMATIC,
                                           .a = SS_WORLD,
                                           .b = number,
                                           .anchor = {x, 0.0, 0.5},
                                           .axis = {1.0, 0.0, 0.0}});
    }
    return ss_build_done(&build);
}

static void choose(const void *of, ss_sim_options *options)
{
    (void)of;
    options->joints = SS_STABILISE_IMPULSE;
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    const ss_body *block = ss_world_body(ss_sim_world(sim), 0);
    double g = -ss_world_gravity(ss_sim_world(sim))[2], time = ss_sim_time(sim);
    result[0] = (ss_scene_result){"sunk", "m", 0.5 - block->position[2]};
    result[1] = (ss_scene_result){"creep", "m/s", time > 0.0 ? (0.5 - block->position[2]) / time : 0.0};
    result[2] = (ss_scene_result){"friction_used", "1", p->mass * g / (2.0 * p->mu * p->squeeze)};
    return 3;
}

const ss_scene ss_scene_grasped_block = {
    .name = "grasped-block",
    .summary = "a block held between two pressing plates",
    .description =
        "Creep under a constant load: two plates on sliders press a block from both sides, and friction "
        "alone holds it against gravity. By Coulomb's law it stays at rest if mu times twice the force "
        "exceeds its weight; the speed at which it sinks is the error of the solver.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.01,
    .length = 10.0,
    .picture_time = 1.0,
    .build = build_scene,
    .options = choose,
    .figures = figures,
};
