/* What the bridges to other engines share. */
#include "peer.h"

#include <stdio.h>
#include <string.h>

bool ss_peer_is_simple(const ss_world *world, char why[200])
{
    for (int j = 0; j < ss_world_joint_count(world); j++) {
        const ss_joint *joint = ss_world_joint(world, j);
        if (joint->kind == SS_JOINT_BALL || joint->kind == SS_JOINT_REVOLUTE) continue;
        snprintf(why, 200, "no %s joint", ss_joint_kind_name(joint->kind));
        return false;
    }
    for (int k = 0; k < ss_world_shape_count(world); k++) {
        const ss_shape *shape = ss_world_shape(world, k);
        bool known = shape->kind == SS_SPHERE || shape->kind == SS_BOX || shape->kind == SS_CAPSULE ||
                     shape->kind == SS_CYLINDER || shape->kind == SS_HULL ||
                     (shape->kind == SS_PLANE && shape->body == SS_WORLD);
        if (known) continue;
        snprintf(why, 200, "no %s", ss_shape_kind_name(shape->kind));
        return false;
    }
    return true;
}

void ss_peer_multiply(const double a[4], const double b[4], double product[4])
{
    product[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    product[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    product[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    product[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

void ss_peer_turn(const double q[4], const double vector[3], double turned[3])
{
    const double back[4] = {q[0], -q[1], -q[2], -q[3]}, v[4] = {0.0, vector[0], vector[1], vector[2]};
    double half[4], out[4];
    ss_peer_multiply(q, v, half);
    ss_peer_multiply(half, back, out);
    memcpy(turned, out + 1, 3 * sizeof *turned);
}

void ss_peer_place(const ss_world *world, const ss_shape *shape, double position[3], double quaternion[4])
{
    memcpy(position, shape->position, 3 * sizeof *position);
    memcpy(quaternion, shape->quaternion, 4 * sizeof *quaternion);
    if (shape->body == SS_WORLD) return;
    const ss_body *body = ss_world_body(world, shape->body);
    double arm[3];
    ss_peer_turn(body->quaternion, shape->position, arm);
    for (int i = 0; i < 3; i++) position[i] = body->position[i] + arm[i];
    ss_peer_multiply(body->quaternion, shape->quaternion, quaternion);
}

bool ss_peer_collides(const ss_shape *shape)
{
    uint32_t everything =
        0x7fffffffu; // the last bit is the group of those that meet nothing (scenes/parts.h)
    return !shape->ghost && (shape->collides_with == 0 || (shape->collides_with & everything) != 0);
}

double ss_peer_friction(const ss_world *world)
{
    return ss_world_pair(world, 0, 0).mu;
}
