/* Two bodies and a joint of any kind between them, and ways to move them about. */
#ifndef STICKSLIP_TEST_JOINT_COUPLE_H
#define STICKSLIP_TEST_JOINT_COUPLE_H

#include "linalg/quat.h"
#include "model/joint_rows.h"

/* Kinds that hold two bodies; those on more are in test_couplings.c. */
enum { PAIR_KINDS = SS_JOINT_COUPLING };

typedef struct couple {
    ss_world *world;
    int a, b, joint; /* a may be SS_WORLD */
} couple;

static inline int add_brick(ss_world *world, double x, double y, double z)
{
    ss_body body = {
        .kind = SS_DYNAMIC, .position = {x, y, z}, .mass = 2.0, .inertia = {0.3, 0, 0, 0, 0.2, 0, 0, 0, 0.1}};
    return ss_world_add_body(world, &body, NULL);
}

static inline couple make_couple(ss_joint joint, bool fixed_to_world)
{
    couple made = {.world = ss_world_create(NULL)};
    made.a = fixed_to_world ? SS_WORLD : add_brick(made.world, 0.1, -0.2, 0.3);
    made.b = add_brick(made.world, 1.1, 0.4, 0.2);
    joint.a = made.a;
    joint.b = made.b;
    made.joint = ss_world_add_joint(made.world, &joint, NULL);
    ss_world_finish(made.world, NULL);
    return made;
}

static inline ss_joint any_joint(ss_joint_kind kind)
{
    return (ss_joint){.kind = kind,
                      .anchor = {0.5, 0.2, 0.1},
                      .anchor_b = {1.0, 0.9, -0.3},
                      .axis = {0.3, -0.5, 0.8},
                      .axis2 = {0.5, 0.3, 0.0},
                      .ratio = kind == SS_JOINT_SCREW ? 0.07 : -2.5};
}

static inline ss_vec3 random_vector(ss_random *random, double size)
{
    ss_vec3 v = {ss_random_normal(random), ss_random_normal(random), ss_random_normal(random)};
    return ss_vec3_scale(size, ss_vec3_normalise(v, NULL));
}

static inline void turn_body(ss_body *body, ss_vec3 rotation)
{
    ss_quat_store(ss_quat_integrate(ss_quat_load(body->quaternion), rotation, 1.0), body->quaternion);
}

static inline void turn_about(ss_body *body, ss_vec3 rotation, ss_vec3 point)
{
    ss_vec3 arm = ss_vec3_subtract(ss_vec3_load(body->position), point);
    ss_vec3 moved = ss_quat_rotate(ss_quat_exponential(rotation), arm);
    ss_vec3_store(ss_vec3_add(point, moved), body->position);
    turn_body(body, rotation);
}

/* Anywhere: shifted by up to a metre, turned by up to `angle`. */
static inline void scramble(const couple *two, ss_random *random, double angle)
{
    for (int side = 0; side < 2; side++) {
        ss_body *body = ss_world_body(two->world, side ? two->b : two->a);
        if (!body) continue;
        ss_vec3 shift = random_vector(random, ss_random_real(random));
        ss_vec3_store(ss_vec3_add(ss_vec3_load(body->position), shift), body->position);
        turn_body(body, random_vector(random, angle * ss_random_real(random)));
        ss_vec3_store(random_vector(random, 1.0), body->velocity);
        ss_vec3_store(random_vector(random, 2.0), body->velocity + 3);
    }
}

static inline ss_vec3 unit_axis(const couple *two)
{
    return ss_vec3_load(ss_world_joint(two->world, two->joint)->axis);
}

static inline void spin_b(const couple *two, ss_vec3 rotation)
{
    ss_vec3 anchor = ss_vec3_load(ss_world_joint(two->world, two->joint)->anchor);
    turn_about(ss_world_body(two->world, two->b), rotation, anchor);
}

#endif
