/* Small worlds for tests of the simulation: short names for what every story needs. Failures end the program,
 * because nothing after them would make sense. */
#ifndef STICKSLIP_TEST_WORLDS_H
#define STICKSLIP_TEST_WORLDS_H

#include <stickslip/sim.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline void must(bool good, const ss_error *err)
{
    if (good) return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static inline ss_world *empty_world(double gx, double gy, double gz)
{
    ss_error err = {0};
    ss_world *world = ss_world_create(&err);
    must(world != NULL, &err);
    double gravity[3] = {gx, gy, gz};
    memcpy(ss_world_gravity(world), gravity, sizeof gravity);
    return world;
}

/* Material 0 of every pair in the world. */
static inline void set_materials(ss_world *world, ss_material_pair pair)
{
    ss_error err = {0};
    must(ss_world_set_pair(world, 0, 0, &pair, &err), &err);
}

static inline void add_floor(ss_world *world)
{
    ss_error err = {0};
    must(ss_world_add_shape(world, SS_WORLD, &(ss_shape){.kind = SS_PLANE}, &err) >= 0, &err);
}

static inline int add_body(ss_world *world, ss_body body, ss_shape shape)
{
    ss_error err = {0};
    int number = ss_world_add_body(world, &body, &err);
    must(number >= 0, &err);
    must(ss_world_add_shape(world, number, &shape, &err) >= 0, &err);
    return number;
}

static inline int add_box(ss_world *world, double x, double y, double z, double a, double b, double c)
{
    return add_body(world, (ss_body){.kind = SS_DYNAMIC, .position = {x, y, z}},
                    (ss_shape){.kind = SS_BOX, .size = {a, b, c}, .density = 1000});
}

static inline int add_ball(ss_world *world, double x, double y, double z, double radius)
{
    return add_body(world, (ss_body){.kind = SS_DYNAMIC, .position = {x, y, z}},
                    (ss_shape){.kind = SS_SPHERE, .size = {radius}, .density = 1000});
}

static inline int add_joint(ss_world *world, ss_joint joint)
{
    ss_error err = {0};
    int number = ss_world_add_joint(world, &joint, &err);
    must(number >= 0, &err);
    return number;
}

static inline ss_sim_options default_options(void)
{
    ss_sim_options options = {0};
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    return options;
}

/* Solved to rounding, for stories with a formula. */
static inline ss_sim_options exact_options(double h)
{
    ss_sim_options options = default_options();
    options.h = h;
    options.max_iterations = 20000;
    options.stop = "relative_energy<1e-13";
    return options;
}

static inline ss_sim *start(ss_world *world, const ss_sim_options *options)
{
    ss_error err = {0};
    ss_sim *sim = ss_sim_create(world, options, &err);
    must(sim != NULL, &err);
    return sim;
}

static inline void run(ss_sim *sim, int steps)
{
    ss_error err = {0};
    for (int i = 0; i < steps; i++) must(ss_sim_step(sim, &err), &err);
}

static inline const ss_body *body_of(const ss_sim *sim, int body)
{
    return ss_world_body(ss_sim_world(sim), body);
}

static inline void end(ss_sim *sim)
{
    ss_world *world = ss_sim_world(sim);
    ss_sim_destroy(sim);
    ss_world_destroy(world);
}

#endif
