#include "parts.h"

typedef struct parameters {
    double speed, stiffness, mass, mu;
} parameters;

static const ss_option table[] = {
    SS_PARAMETER_REAL(parameters, speed, "0.1", 1e-9, 1e6, "of the belt, in m/s"),
    SS_PARAMETER_REAL(parameters, stiffness, "100", 1e-9, 1e12, "of the spring, in N/m"),
    SS_PARAMETER_REAL(parameters, mass, "1", 1e-9, 1e12, "of the block, in kg"),
    SS_PARAMETER_REAL(parameters, mu, "0.4", 0, 10, "friction between all bodies"),
    {0}};

static bool build_scene(const void *of, uint64_t seed, ss_world *world, ss_error *err)
{
    const parameters *p = of;
    (void)seed;
    ss_builder build = ss_build_start(world, err);
    ss_build_friction(&build, p->mu);
    ss_build_shape(&build, SS_WORLD,
                   &(ss_shape){.kind = SS_BOX,
                               .size = {2.0, 0.4, 0.1},
                               .position = {0.0, 0.0, -0.05},
                               .surface_velocity = {p->speed, 0.0, 0.0}});
    double density = p->mass / (0.2 * 0.2 * 0.1);
    int block = ss_build_box(&build, (double[3]){0.2, 0.2, 0.1}, density, (double[3]){0.0, 0.0, 0.05});
    ss_build_joint(&build, &(ss_joint){.kind = SS_JOINT_DISTANCE,
                                       .a = SS_WORLD,
                                       .b = block,
                                       .anchor = {-1.0, 0.0, 0.05},
                                       .anchor_b = {0.0, 0.0, 0.05},
                                       .bodies_collide = true,
                                       .law = {{.stiffness = p->stiffness, .rest = 1.0}}});
    return ss_build_done(&build);
}

static int figures(const void *of, const ss_sim *sim, const void *state, ss_scene_result *result)
{
    const parameters *p = of;
    (void)state;
    const ss_body *block = ss_world_body(ss_sim_world(sim), 0);
    double g = -ss_world_gravity(ss_sim_world(sim))[2];
    result[0] = (ss_scene_result){"stretch", "m", block->position[0]};
    result[1] = (ss_scene_result){"slip_stretch", "m", p->mu * p->mass * g / p->stiffness};
    result[2] = (ss_scene_result){"speed", "m/s", block->velocity[0]};
    return 3;
}

const ss_scene ss_scene_belt = {
    .name = "belt",
    .summary = "a block on a moving belt, held by a spring: stick-slip",
    .description =
        "The oscillator of every textbook on friction: a belt carries the block along until the spring "
        "pulls harder than static friction can hold; then it slips back, and sticks again. With static "
        "friction above the sliding one it never comes to rest. The period is printed.",
    .parameters = table,
    .parameters_size = sizeof(parameters),
    .h = 0.002,
    .length = 5.0,
    .picture_time = 0.3,
    .build = build_scene,
    .figures = figures,
};
