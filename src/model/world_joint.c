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
        [SS_JOINT_SCREW] = "screw",         [SS_JOINT_GEAR] = "gear",
        [SS_JOINT_COUPLING] = "coupling",   [SS_JOINT_DIFFERENTIAL] = "differential",
        [SS_JOINT_CONVERTER] = "converter", [SS_JOINT_PULLEY] = "pulley"};
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

/* Unit vectors, with the defaults for those that are left 0. */
static bool place_axes(ss_joint *joint, ss_error *err)
{
    if (!ss_require_finite(joint->axis, 3, "axis", err) || !ss_require_finite(joint->axis2, 3, "axis2", err))
        return false;
    ss_vec3 axis = ss_vec3_normalise(ss_vec3_load(joint->axis), NULL), across, other;
    if (ss_vec3_max_abs(axis) == 0.0) axis = (ss_vec3){0.0, 0.0, 1.0};
    ss_vec3_store(axis, joint->axis);
    if (joint->kind != SS_JOINT_UNIVERSAL && joint->kind != SS_JOINT_GEAR) return true;

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
    bool own_anchor = (joint->kind == SS_JOINT_DISTANCE || joint->kind == SS_JOINT_PULLEY) && side == 1;
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

static double distance(const double from[3], const double to[3])
{
    return ss_vec3_norm(ss_vec3_subtract(ss_vec3_load(to), ss_vec3_load(from)));
}

bool ss_joint_place(const ss_world *world, ss_joint *joint, ss_error *err)
{
    if (!ss_require_finite(joint->anchor, 3, "anchor", err) ||
        !ss_require_finite(joint->anchor_b, 3, "anchor_b", err) ||
        !ss_require_finite(joint->sheave[0], 6, "sheave", err) || !place_axes(joint, err))
        return false;
    place_side(world, joint, 0);
    place_side(world, joint, 1);

    const ss_body *carrier = ss_world_body(world, joint->c);
    for (int end = 0; joint->kind == SS_JOINT_PULLEY && end < 2; end++) {
        ss_vec3 sheave = ss_vec3_load(joint->sheave[end]);
        if (carrier)
            sheave = ss_quat_rotate_back(ss_quat_load(carrier->quaternion),
                                         ss_vec3_subtract(sheave, ss_vec3_load(carrier->position)));
        ss_vec3_store(sheave, joint->local_sheave[end]);
    }

    /* Nothing has turned yet, and the load is taken to be weight until a step has shown it. */
    ss_quat frame = ss_joint_start_frame(joint, 0);
    joint->turned[0] = joint->turned[1] = 0.0;
    ss_vec3_store(ss_quat_rotate_back(frame, ss_vec3_load(world->gravity)), joint->load_direction);

    /* The coordinate at the start, which stays. */
    joint->start_length = 0.0;
    if (!ss_joint_keeps_coordinate(joint)) return true;
    ss_joint_pose pose = ss_joint_pose_now(world, joint);
    joint->start_length = ss_joint_coordinate_now(&pose, 0).value;
    if (joint->kind == SS_JOINT_PULLEY) {
        bool apart = distance(joint->anchor, joint->sheave[0]) > 0.0 &&
                     distance(joint->anchor_b, joint->sheave[1]) > 0.0;
        return apart || ss_fail(err, SS_ERROR_USAGE,
                                "sheave: is at the end of the rope, and a rope of length 0 has no direction");
    }
    bool needs_length = joint->kind == SS_JOINT_DISTANCE && !ss_joint_coordinate_is_free(joint);
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

/* ---- more than two bodies --------------------------------------------------------------------------- */

/* Terms: joints that exist and have the coordinate; its bodies are all of theirs, except for the world. */
static bool find_terms(const ss_world *world, ss_joint *joint, ss_error *err)
{
    if (joint->kind == SS_JOINT_DIFFERENTIAL) joint->terms = 3;
    if (joint->kind == SS_JOINT_CONVERTER) joint->terms = 2;
    if (joint->terms < 1 || joint->terms > SS_JOINT_TERMS)
        return ss_fail(err, SS_ERROR_USAGE, "terms: is %d, must be between 1 and %d", joint->terms,
                       (int)SS_JOINT_TERMS);

    joint->body_count = 0;
    for (int t = 0; t < joint->terms; t++) {
        ss_coupling_term *term = &joint->term[t];
        const ss_joint *other = ss_world_joint(world, term->joint);
        if (!other || term->index < 0 || term->index >= ss_joint_coordinate_count(other))
            return ss_fail(err, SS_ERROR_USAGE, "term[%d]: joint %d has no coordinate %d", t, term->joint,
                           term->index);
        if (joint->kind == SS_JOINT_CONVERTER && !ss_joint_coordinate_is_angle(other, term->index))
            return ss_fail(err, SS_ERROR_USAGE, "term[%d]: coordinate %d of joint %d is not an angle", t,
                           term->index, term->joint);
        if (joint->kind == SS_JOINT_DIFFERENTIAL) term->factor = t == 0 ? 1.0 : -0.5 * joint->ratio;
        if (joint->kind == SS_JOINT_COUPLING && !ss_require_finite(&term->factor, 1, "factor", err))
            return ss_fail_in(err, "term[%d]", t);

        /* Each body is listed once, whichever terms it takes part in. */
        for (int k = 0; k < other->body_count; k++) {
            int body = ss_joint_body(other, k), place = 0;
            if (body == SS_WORLD) continue;
            while (place < joint->body_count && joint->bodies[place] != body) place++;
            if (place < joint->body_count) continue;
            if (place == SS_JOINT_BODIES)
                return ss_fail(err, SS_ERROR_USAGE, "term: more than %d bodies", (int)SS_JOINT_BODIES);
            joint->bodies[joint->body_count++] = body;
        }
    }
    joint->a = joint->bodies[0];
    joint->b = joint->body_count > 1 ? joint->bodies[1] : SS_WORLD;
    return true;
}

/* What the kinds have in addition to a and b. */
static bool find_bodies(const ss_world *world, ss_joint *joint, ss_error *err)
{
    bool has_terms = ss_joint_has_terms(joint);
    if ((has_terms || joint->kind == SS_JOINT_PULLEY) && joint->ratio == 0.0) joint->ratio = 1.0;
    if (joint->kind == SS_JOINT_CONVERTER && !(joint->ratio >= 1.0 && joint->ratio <= 3.0))
        return ss_fail(err, SS_ERROR_USAGE, "ratio: is %g, must be between 1 and 3", joint->ratio);
    if (!ss_require_not_negative(joint->capacity, "capacity", err)) return false;

    if (!has_terms) joint->terms = 0;
    if (has_terms && !find_terms(world, joint, err)) return false;
    joint->bodies[0] = joint->a;
    joint->bodies[1] = joint->b;
    if (joint->body_count < 2 || !has_terms) joint->body_count = 2;

    /* The sheaves of a rope may be carried by a body that is at neither of its ends. */
    if (joint->kind != SS_JOINT_PULLEY || joint->c == SS_WORLD) return true;
    if (!ss_world_body(world, joint->c)) return ss_fail(err, SS_ERROR_USAGE, "c: unknown body %d", joint->c);
    if (joint->c == joint->a || joint->c == joint->b)
        return ss_fail(err, SS_ERROR_USAGE, "c: is body %d, which is at an end of the rope", joint->c);
    joint->bodies[joint->body_count++] = joint->c;
    return true;
}

/* Fills in what the kind implies, and refuses what makes no joint. */
static bool check_joint(const ss_world *world, ss_joint *joint, ss_error *err)
{
    if ((unsigned)joint->kind >= SS_JOINT_KINDS)
        return ss_fail(err, SS_ERROR_USAGE, "kind: unknown kind of joint %d", (int)joint->kind);
    if (!find_bodies(world, joint, err)) return false;

    bool dynamic = false;
    for (int k = 0; k < joint->body_count; k++) {
        const ss_body *body = ss_world_body(world, joint->bodies[k]);
        if (!body && joint->bodies[k] != SS_WORLD)
            return ss_fail(err, SS_ERROR_USAGE, "%c: unknown body %d", k == 0 ? 'a' : 'b', joint->bodies[k]);
        dynamic |= body && body->kind == SS_DYNAMIC;
    }
    if (joint->a == joint->b) return ss_fail(err, SS_ERROR_USAGE, "a and b are the same body");
    if (!dynamic)
        return ss_fail(err, SS_ERROR_USAGE,
                       joint->body_count > 2 ? "bodies: none of them is dynamic"
                                             : "a and b: neither of them is dynamic");

    if (!ss_require_finite(&joint->ratio, 1, "ratio", err) ||
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
