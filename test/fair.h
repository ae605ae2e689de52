/* The fair: a small world in which most of the simulator has something to do. */
#ifndef STICKSLIP_TEST_FAIR_H
#define STICKSLIP_TEST_FAIR_H

#include <stickslip/stickslip.h>

#include "worlds.h"

static const double g = 9.81; // m/s^2

/* Two towers, a pendulum of two links with a limit and a spring, a ball that bounces and one that rolls. */
static inline ss_world *fair(void)
{
    ss_error err = {0};
    ss_world *world = empty_world(0, 0, -g);
    int rubber =
        ss_world_add_material(world, &(ss_material){.name = "rubber", .mu = 0.8, .restitution = 0.6}, &err);
    int felt =
        ss_world_add_material(world, &(ss_material){.name = "felt", .mu = 0.6, .mu_rolling = 0.002}, &err);
    must(rubber > 0 && felt > 0, &err);
    add_floor(world);
    for (int i = 0; i < 4; i++) {
        add_box(world, 0.02 * i, 0, 0.26 + 0.5 * i, 1, 0.6, 0.5);
        add_box(world, 3, 0.01 * i, 0.26 + 0.5 * i, 0.8, 0.8, 0.5);
    }
    int upper = add_box(world, -2, 0, 3, 0.2, 0.2, 1), lower = add_box(world, -2, 0, 2, 0.2, 0.2, 1);
    add_joint(world, (ss_joint){.kind = SS_JOINT_REVOLUTE,
                                .a = SS_WORLD,
                                .b = upper,
                                .anchor = {-2, 0, 3.5},
                                .axis = {0, 1, 0},
                                .law = {{.stiffness = 20, .friction = 3}}});
    add_joint(world, (ss_joint){.kind = SS_JOINT_REVOLUTE,
                                .a = upper,
                                .b = lower,
                                .anchor = {-2, 0, 2.5},
                                .axis = {0, 1, 0},
                                .law = {{.limited = true, .lower = -0.3, .upper = 0.3}}});
    ss_world_body(world, lower)->velocity[0] = 2;
    add_body(world, (ss_body){.kind = SS_DYNAMIC, .position = {1.5, 0, 1}, .velocity = {0.3}},
             (ss_shape){.kind = SS_SPHERE, .size = {0.2}, .density = 500, .material = rubber});
    add_body(world, (ss_body){.kind = SS_DYNAMIC, .position = {1.5, 2, 0.2}, .velocity = {0, 1}},
             (ss_shape){.kind = SS_SPHERE, .size = {0.2}, .density = 500, .material = felt});
    return world;
}

#endif
