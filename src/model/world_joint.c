/* Joints: checked, placed in the frames of their bodies, numbered. */
#include "model/joint_geometry.h"
#include "model/world.h"

#include <stdio.h>

const char *ss_joint_kind_name(ss_joint_kind kind)
{
    static const char *const names[SS_JOINT_KINDS] = {
        [SS_JOINT_FIXED] = "fixed",         [SS_JOINT_REVOLUTE] = "revolute",
        [SS_JOINT_PRISMATIC] = "prismatic", [SS_JOINT_CYLINDRICAL] = "cylindrical",
        [SS_JOINT_UNIVERSAL] = "universal", [SS_JOINT_BALL] = "ball",
        [SS_JOINT_PLANAR] = "planar",       [SS_JOINT_DISTANCE] = "distance",
        [SS_JOINT_SCREW] = "screw",         [SS_JOINT_GEAR] = "gear"};
    return (unsigned)kind < SS_JOINT_KINDS ? names[kind] : "unknown";
}

/* ---- the frames of a joint -------------------------------------------------------------------------- */

/* z along the unit vector `axis`, x along `towards` made perpendicular to it, or anywhere across if `towards`
 * is along the axis. */
static ss_quat frame_along(ss_vec3 axis, ss_vec3 towards)
{
    ss_vec3 x = ss_vec3_add_scaled(towards, -ss_vec3_dot(towards, axis), axis), y;
    double length;
    x = ss_vec3_normalise(x, &length);
    // both are unit vectors: less than this is the rounding of parallel ones
    if (length < 1e-9) ss_vec3_tangents(axis, &x, &y);
    y = ss_vec3_normalise(ss_vec3_cross(axis, x), NULL);
    return ss_quat_from_matrix(ss_mat3_from_columns(ss_vec3_cross(y, axis), y, axis));
}

ss_quat ss_joint_start_frame(const ss_joint *joint, int side)
{
    ss_vec3 axis = ss_vec3_load(joint->axis), axis2 = ss_vec3_load(joint->axis2);
    if (joint->kind == SS_JOINT_UNIVERSAL)
        return side == 0 ? frame_along(axis, axis2) : frame_along(axis2, axis);
    if (joint->kind == SS_JOINT_GEAR && side == 1) return frame_along(axis2, axis2);
    return frame_along(axis, axis);
}

static bool uses_second_axis(ss_joint_kind kind)
{
    return kind == SS_JOINT_UNIVERSAL || kind == SS_JOINT_GEAR;
}

/* Unit vectors, with the defaults for those that are left 0. */
static bool place_axes(ss_joint *joint, ss_error *err)
{
    if (!ss_require_finite(joint->axis, 3, "axis", err) || !ss_require_finite(joint->axis2, 3, "axis2", err))
        return false;
    ss_vec3 axis = ss_vec3_normalise(ss_vec3_load(joint->axis), NULL), across, other;
    if (ss_vec3_max_abs(axis) == 0.0) axis = (ss_vec3){0.0, 0.0, 1.0};
    ss_vec3_store(axis, joint->axis);
    if (!uses_second_axis(joint->kind)) return true;
    ss_vec3 axis2 = ss_vec3_normalise(ss_vec3_load(joint->axis2), NULL);
    if (ss_vec3_max_abs(axis2) == 0.0) {
        ss_vec3_tangents(axis, &across, &other);
        axis2 = joint->kind == SS_JOINT_UNIVERSAL ? across : axis;
    }
    ss_vec3_store(axis2, joint->axis2);
    if (joint->kind == SS_JOINT_UNIVERSAL && ss_vec3_norm(ss_vec3_cross(axis, axis2)) < 1e-6)
        return ss_fail(err, SS_ERROR_USAGE, "axis2: is parallel to axis, must be perpendicular");
    return true;
}

static void place_side(const ss_world *world, ss_joint *joint, int side)
{
    const ss_body *body = ss_world_body(world, side == 0 ? joint->a : joint->b);
    bool own_anchor = joint->kind == SS_JOINT_DISTANCE && side == 1;
    ss_vec3 anchor = ss_vec3_load(own_anchor ? joint->anchor_b : joint->anchor);
    ss_quat frame = ss_joint_start_frame(joint, side);
    if (body) {
        ss_quat q = ss_quat_load(body->quaternion);
        anchor = ss_quat_rotate_back(q, ss_vec3_subtract(anchor, ss_vec3_load(body->position)));
        frame = ss_quat_normalise(ss_quat_multiply(ss_quat_conjugate(q), frame));
    }
    ss_vec3_store(anchor, joint->local_anchor[side]);
    ss_quat_store(frame, joint->local_frame[side]);
}

/* Nothing has turned yet, and the load is taken to be weight until a step has shown it. */
static void start_state(const ss_world *world, ss_joint *joint)
{
    ss_quat frame = ss_joint_start_frame(joint, 0);
    joint->turned[0] = joint->turned[1] = 0.0;
    ss_vec3_store(ss_quat_rotate_back(frame, ss_vec3_load(world->gravity)), joint->load_direction);
}

bool ss_joint_place(const ss_world *world, ss_joint *joint, ss_error *err)
{
    if (!ss_require_finite(joint->anchor, 3, "anchor", err) ||
        !ss_require_finite(joint->anchor_b, 3, "anchor_b", err) || !place_axes(joint, err))
        return false;
    place_side(world, joint, 0);
    place_side(world, joint, 1);
    start_state(world, joint);
    ss_vec3 between = ss_vec3_subtract(ss_vec3_load(joint->anchor_b), ss_vec3_load(joint->anchor));
    joint->start_length = joint->kind == SS_JOINT_DISTANCE ? ss_vec3_norm(between) : 0.0;
    bool needs_length = joint->kind == SS_JOINT_DISTANCE && !ss_joint_length_is_free(joint);
    return !needs_length || joint->start_length > 0.0 ||
           ss_fail(err, SS_ERROR_USAGE, "anchor_b: is at anchor, and a distance of 0 has no direction");
}

/* ---- adding ----------------------------------------------------------------------------------------- */

static bool check_law(const ss_axis_law *law, ss_error *err)
{
    if (law->limited && !(law->lower <= law->upper))
        return ss_fail(err, SS_ERROR_USAGE, "limits: lower %g is above upper %g", law->lower, law->upper);
    if ((unsigned)law->motor > SS_MOTOR_DRIVE)
        return ss_fail(err, SS_ERROR_USAGE, "motor: unknown mode %d", (int)law->motor);
    return ss_require_finite(&law->target, 1, "target", err) &&
           ss_require_finite(&law->target_speed, 1, "target_speed", err) &&
           ss_require_finite(&law->rest, 1, "rest", err) && ss_require_finite(&law->force, 1, "force", err) &&
           ss_require_not_negative(law->max_force, "max_force", err) &&
           ss_require_not_negative(law->stiffness, "stiffness", err) &&
           ss_require_not_negative(law->damping, "damping", err) &&
           ss_require_not_negative(law->friction, "friction", err) &&
           ss_require_not_negative(law->load_friction, "load_friction", err) &&
           ss_require_not_negative(law->armature, "armature", err) &&
           ss_require_not_negative(law->motor_stiffness, "motor_stiffness", err) &&
           ss_require_not_negative(law->motor_damping, "motor_damping", err);
}

static bool check_bodies(const ss_world *world, const ss_joint *joint, ss_error *err)
{
    const int bodies[2] = {joint->a, joint->b};
    bool dynamic = false;
    for (int k = 0; k < 2; k++) {
        const ss_body *body = ss_world_body(world, bodies[k]);
        if (!body && bodies[k] != SS_WORLD)
            return ss_fail(err, SS_ERROR_USAGE, "%c: unknown body %d", "ab"[k], bodies[k]);
        dynamic |= body && body->kind == SS_DYNAMIC;
    }
    if (joint->a == joint->b) return ss_fail(err, SS_ERROR_USAGE, "a and b are the same body");
    return dynamic || ss_fail(err, SS_ERROR_USAGE, "a and b: neither of them is dynamic");
}

static bool check_joint(const ss_world *world, const ss_joint *joint, ss_error *err)
{
    if ((unsigned)joint->kind >= SS_JOINT_KINDS)
        return ss_fail(err, SS_ERROR_USAGE, "kind: unknown kind of joint %d", (int)joint->kind);
    if (!check_bodies(world, joint, err) || !ss_require_finite(&joint->ratio, 1, "ratio", err) ||
        !ss_require_not_negative(joint->compliance, "compliance", err))
        return false;
    for (int k = 0; k < 2; k++)
        if (!check_law(&joint->law[k], err)) return ss_fail_in(err, "law[%d]", k);
    return true;
}

static bool append_joint(ss_world *world, ss_joint *joint, ss_error *err)
{
    int n = world->joint_count;
    ss_joint *joints = ss_array_grow(world->joints, n, &world->joint_capacity, sizeof *joints);
    if (joints) world->joints = joints;
    char **names = ss_array_grow(world->joint_names, n, &world->joint_name_capacity, sizeof *names);
    if (names) world->joint_names = names;
    if (!joints || !names) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    names[n] = joint->name ? ss_text_copy(joint->name) : NULL;
    if (joint->name && !names[n]) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    joint->name = names[n];
    joints[n] = *joint;
    if (!ss_world_note_joint(world, n, err)) {
        ss_release(names[n]);
        return false;
    }
    world->joint_count++;
    return true;
}

int ss_world_add_joint(ss_world *world, const ss_joint *joint, ss_error *err)
{
    ss_joint copy = *joint;
    if (check_joint(world, &copy, err) && ss_joint_place(world, &copy, err) &&
        append_joint(world, &copy, err))
        return world->joint_count - 1;
    const char *kind = (unsigned)joint->kind < SS_JOINT_KINDS ? ss_joint_kind_name(joint->kind) : "joint";
    char name[80] = "";
    if (joint->name) snprintf(name, sizeof name, " \"%.70s\"", joint->name);
    ss_fail_in(err, "joint %d (%s)%s", world->joint_count, kind, name);
    return -1;
}
