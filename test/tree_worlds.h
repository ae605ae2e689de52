/* Worlds for tests of minimal coordinates: pairs of bodies on any kind of joint, and scenes. */
#ifndef STICKSLIP_TEST_TREE_WORLDS_H
#define STICKSLIP_TEST_TREE_WORLDS_H

#include <stickslip/stickslip.h>

#include "base/team.h"
#include "base/memory.h"
#include "kit.h"
#include "known_cone.h"
#include "linalg/quat.h"

#include <math.h>

static inline int add_body(ss_world *world, double x, double y, double z, double mass)
{
    ss_error err = {0};
    ss_body body = {.kind = SS_DYNAMIC,
                    .position = {x, y, z},
                    .mass = mass,
                    .inertia = {0.02 * mass, 0, 0, 0, 0.03 * mass, 0, 0, 0, 0.04 * mass}};
    ss_quat_store(ss_quat_exponential((ss_vec3){0.3 * x, 0.2, -0.1 * z}), body.quaternion);
    int number = ss_world_add_body(world, &body, &err);
    if (number < 0) known(NULL, &err);
    return number;
}

static inline int add_joint(ss_world *world, const ss_joint *joint)
{
    ss_error err = {0};
    int number = ss_world_add_joint(world, joint, &err);
    if (number < 0) known(NULL, &err);
    return number;
}

static inline ss_sim_options options_of(ss_coordinate_kind coordinates, double h)
{
    ss_sim_options options;
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    options.h = h;
    options.coordinates = coordinates;
    options.solver = "auto";
    options.stop = "relative_energy<1e-12";
    options.threads = 1;
    return options;
}

static inline ss_sim *start(ss_world *world, ss_coordinate_kind coordinates, double h)
{
    ss_error err = {0};
    ss_sim_options options = options_of(coordinates, h);
    return known(ss_sim_create(world, &options, &err), &err);
}

static inline void run(ss_sim *sim, int steps)
{
    ss_error err = {0};
    for (int i = 0; i < steps; i++)
        if (!ss_sim_step(sim, &err)) known(NULL, &err);
}

/* A body on a hinge in the world, and a second one on a joint of the kind; `turned`: the second one is a.
 * With springs and dampers where the joint has coordinates, and a rotor. */
static inline ss_world *make_pair(ss_joint_kind kind, bool turned, bool floating)
{
    ss_error err = {0};
    ss_world *world = known(ss_world_create(&err), &err);
    int first = add_body(world, 0.4, 0.1, 0.0, 2.0), second = add_body(world, 0.9, 0.2, -0.3, 1.0);
    if (!floating)
        add_joint(world, &(ss_joint){.kind = SS_JOINT_REVOLUTE,
                                     .a = SS_WORLD,
                                     .b = first,
                                     .anchor = {0, 0, 0},
                                     .axis = {0.1, 1, 0.2}});
    ss_joint joint = {.kind = kind,
                      .a = turned ? second : first,
                      .b = turned ? first : second,
                      .anchor = {0.7, 0.15, -0.1},
                      .axis = {0.3, 0.8, 0.5},
                      .ratio = 0.05};
    if (kind == SS_JOINT_UNIVERSAL) ss_vec3_store((ss_vec3){0.8, -0.3, 0.0}, joint.axis2);
    joint.law[0] = (ss_axis_law){.stiffness = 1.0, .damping = 0.1, .armature = 0.05};
    if (kind == SS_JOINT_CYLINDRICAL || kind == SS_JOINT_UNIVERSAL) joint.law[1].armature = 0.1;
    add_joint(world, &joint);
    if (floating) memset(ss_world_gravity(world), 0, 3 * sizeof(double));
    const double v[6] = {0.3, -0.2, 0.1, 1.0, 2.0, -1.5};
    memcpy(ss_world_body(world, second)->velocity, v, sizeof v);
    return world;
}

/* A rod that hangs from a hinge and begins to swing by `amplitude` rad; *period in s is exact, by the
 * elliptic integral. Returns the rod. */
static inline int add_pendulum(ss_world *world, double amplitude, double *period)
{
    ss_error err = {0};
    double length = 0.5, moment = 0.03 * 2.0 + 2.0 * length * length, a = 1.0, b = cos(0.5 * amplitude);
    ss_body rod = {.kind = SS_DYNAMIC,
                   .position = {length * sin(amplitude), 0, -length * cos(amplitude)},
                   .mass = 2.0,
                   .inertia = {0.02, 0, 0, 0, 0.06, 0, 0, 0, 0.05}};
    int number = ss_world_add_body(world, &rod, &err);
    add_joint(world, &(ss_joint){.kind = SS_JOINT_REVOLUTE, .a = SS_WORLD, .b = number, .axis = {0, 1, 0}});
    for (int i = 0; i < 8; i++) { // the arithmetic-geometric mean gives the period
        double mean = 0.5 * (a + b);
        b = sqrt(a * b);
        a = mean;
    }
    *period = 2.0 * 3.14159265358979323846 * sqrt(moment / (2.0 * 9.81 * length)) / a;
    return number;
}

static inline ss_sim *scene_sim_on(int threads, const char *name, ss_coordinate_kind coordinates, double h,
                                   ss_world **world, void **state)
{
    ss_error err = {0};
    const ss_scene *scene = known((void *)(uintptr_t)ss_scene_find(name), NULL);
    void *parameters = known(ss_allocate(1, scene->parameters_size + 1), NULL);
    if (scene->parameters) ss_options_defaults(scene->parameters, parameters);
    *world = known(ss_world_create(&err), &err);
    if (!scene->build(parameters, 1, *world, &err)) known(NULL, &err);
    ss_sim_options options;
    ss_options_defaults(ss_sim_option_table, &options);
    ss_options_defaults(ss_collision_option_table, &options.collision);
    if (scene->options) scene->options(parameters, &options);
    options.h = h > 0.0 ? h : scene->h;
    options.coordinates = coordinates;
    ss_team_fix_round_trip(0.0); // all that can be shared is
    options.threads = threads;
    ss_sim *sim = known(ss_sim_create(*world, &options, &err), &err);
    *state = NULL;
    if (scene->begin && !scene->begin(parameters, sim, state, &err)) known(NULL, &err);
    ss_release(parameters);
    return sim;
}

static inline ss_sim *scene_sim(const char *name, ss_coordinate_kind coordinates, double h, ss_world **world,
                                void **state)
{
    return scene_sim_on(1, name, coordinates, h, world, state);
}

#endif
