#include "model/joint_geometry.h"

#include "model/world.h"

#include <math.h>

/* ---- place ------------------------------------------------------------------------------------------ */

static ss_quat shorter_way(ss_quat q)
{
    return q.w < 0.0 ? (ss_quat){-q.w, -q.x, -q.y, -q.z} : q;
}

/* Of frame b seen from frame a. */
static ss_quat turn_of(ss_quat a, ss_quat b)
{
    return shorter_way(ss_quat_multiply(ss_quat_conjugate(a), b));
}

ss_quat ss_joint_turn_now(const ss_world *world, const ss_joint *joint)
{
    ss_quat frame[2];
    for (int side = 0; side < 2; side++) {
        const ss_body *body = ss_world_body(world, side ? joint->b : joint->a); // NULL for the world
        frame[side] = ss_quat_load(joint->local_frame[side]);
        if (body) frame[side] = ss_quat_multiply(ss_quat_load(body->quaternion), frame[side]);
    }
    return turn_of(frame[0], frame[1]);
}

void ss_joint_pose_find(const ss_world *world, const ss_joint *joint, ss_joint_pose *pose)
{
    pose->world = world;
    pose->joint = joint;

    /* Anchor and frame of each side, fixed in its body or in the world. */
    for (int side = 0; side < 2; side++) {
        int number = side ? joint->b : joint->a;
        ss_vec3 arm = ss_vec3_load(joint->local_anchor[side]);
        ss_quat frame = ss_quat_load(joint->local_frame[side]);
        pose->moves[side] = number != SS_WORLD;
        pose->centre[side] = (ss_vec3){0.0, 0.0, 0.0};
        if (pose->moves[side]) {
            const ss_body *body = ss_world_body(world, number);
            ss_quat rotation = ss_quat_load(body->quaternion);
            pose->centre[side] = ss_vec3_load(body->position);
            arm = ss_quat_rotate(rotation, arm);
            frame = ss_quat_multiply(rotation, frame);
        }
        pose->anchor[side] = ss_vec3_add(pose->centre[side], arm);
        pose->frame[side] = frame;
    }

    pose->axes = ss_quat_to_matrix(pose->frame[0]);
    pose->offset = ss_vec3_subtract(pose->anchor[1], pose->anchor[0]);
    pose->turn = turn_of(pose->frame[0], pose->frame[1]);
}

ss_joint_pose ss_joint_pose_now(const ss_world *world, const ss_joint *joint)
{
    ss_joint_pose pose;
    ss_joint_pose_find(world, joint, &pose);
    return pose;
}

/* ---- Jacobians -------------------------------------------------------------------------------------- */

/* Of two bodies, of which nothing is known yet. */
static void clear(double value, ss_joint_quantity *to)
{
    to->value = value;
    for (int i = 0; i < 12; i++) to->jacobian[i] = 0.0;
}

static void write_side(const ss_joint_pose *pose, int side, double sign, ss_vec3 linear, ss_vec3 angular,
                       double jacobian[12])
{
    if (!pose->moves[side]) return;
    ss_vec3_store(ss_vec3_scale(sign, linear), jacobian + 6 * side);
    ss_vec3_store(ss_vec3_scale(sign, angular), jacobian + 6 * side + 3);
}

/* rate = direction . (velocity of b's anchor - that of the same point of a) */
static ss_joint_quantity along(const ss_joint_pose *pose, double value, ss_vec3 direction)
{
    ss_joint_quantity quantity;
    clear(value, &quantity);
    for (int side = 0; side < 2; side++) {
        ss_vec3 arm = ss_vec3_subtract(pose->anchor[1], pose->centre[side]);
        write_side(pose, side, side ? 1.0 : -1.0, direction, ss_vec3_cross(arm, direction),
                   quantity.jacobian);
    }
    return quantity;
}

/* rate = direction . (w_b - w_a), direction in the world */
static ss_joint_quantity about(const ss_joint_pose *pose, double value, ss_vec3 direction)
{
    ss_vec3 still = {0.0, 0.0, 0.0};
    ss_joint_quantity quantity;
    clear(value, &quantity);
    for (int side = 0; side < 2; side++)
        write_side(pose, side, side ? 1.0 : -1.0, still, direction, quantity.jacobian);
    return quantity;
}

/* ---- lengths ---------------------------------------------------------------------------------------- */

/* d/dt (t . D) = t . D' + (w_a x t) . D: the second part moves a's lever arm from its own anchor to b's. */
ss_joint_quantity ss_joint_slide(const ss_joint_pose *pose, ss_vec3 t)
{
    ss_vec3 direction = ss_mat3_apply(pose->axes, t);
    return along(pose, ss_vec3_dot(direction, pose->offset), direction);
}

ss_joint_quantity ss_joint_length(const ss_joint_pose *pose)
{
    double length;
    ss_vec3 direction = ss_vec3_normalise(pose->offset, &length);
    return along(pose, length, length > 0.0 ? direction : ss_mat3_column(&pose->axes, 2));
}

/* ---- angles ----------------------------------------------------------------------------------------- */

/* (1 - (a/2) cot(a/2)) / a^2 */
static double rotation_coefficient(double angle)
{
    double square = angle * angle;
    if (angle < 1e-2) return 1.0 / 12.0 + square / 720.0;
    return (1.0 - 0.5 * angle / tan(0.5 * angle)) / square;
}

/* v = log R' of exp(v): v' = (1 - [v]/2 + k [v]^2) w, with w in frame a */
void ss_joint_rotation(const ss_joint_pose *pose, ss_joint_quantity out[3])
{
    ss_vec3 u = {pose->turn.x, pose->turn.y, pose->turn.z};
    double half_sine = ss_vec3_norm(u), angle = 2.0 * atan2(half_sine, pose->turn.w);
    ss_vec3 v = ss_vec3_scale(half_sine > 0.0 ? angle / half_sine : 2.0, u);
    ss_mat3 cross = ss_mat3_skew(v), rate = ss_mat3_identity();
    rate = ss_mat3_add_scaled(rate, -0.5, cross);
    rate = ss_mat3_add_scaled(rate, rotation_coefficient(angle), ss_mat3_multiply(cross, cross));
    const double component[3] = {v.x, v.y, v.z};
    for (int i = 0; i < 3; i++)
        out[i] = about(pose, component[i], ss_mat3_apply(pose->axes, ss_mat3_row(&rate, i)));
}

/* (a cot(a) - 1) / a^2, kept finite at the opposite pole */
static double swing_coefficient(double angle, double sine, double cosine)
{
    double square = angle * angle;
    if (angle < 1e-2) return -1.0 / 3.0 - square / 45.0;
    return (angle * cosine / fmax(sine, 1e-9) - 1.0) / square;
}

/* Where b's z axis is on the unit sphere around a's: s = its angle times the direction it leans to, in the
 * x-y plane of a. The rotation vector is s turned by a right angle, (-s_y, s_x), and its rate (1 + k s s',
 * -s) . w in frame a. */
void ss_joint_swing(const ss_joint_pose *pose, ss_joint_quantity out[2])
{
    ss_quat q = pose->turn;
    double x = 2.0 * (q.x * q.z + q.w * q.y), y = 2.0 * (q.y * q.z - q.w * q.x);
    double z = 1.0 - 2.0 * (q.x * q.x + q.y * q.y);
    // sines that small that they vanish squared are 0
    double sine = sqrt(x * x + y * y), angle = atan2(sine, z);
    double stretch = sine > 0.0 ? angle / sine : 1.0;
    const double s[2] = {stretch * x, sine > 0.0 || z > 0.0 ? stretch * y : -ss_pi};
    double k = swing_coefficient(angle, sine, z);
    ss_vec3 first = {1.0 + k * s[0] * s[0], k * s[0] * s[1], -s[0]};
    ss_vec3 second = {k * s[1] * s[0], 1.0 + k * s[1] * s[1], -s[1]};
    out[0] = about(pose, -s[1], ss_mat3_apply(pose->axes, first));
    out[1] = about(pose, s[0], ss_mat3_apply(pose->axes, second));
}

static double twist_angle(ss_quat turn)
{
    double angle = 2.0 * atan2(turn.z, turn.w);
    return angle > -ss_pi ? angle : ss_pi;
}

/* Gradient of 2 atan2(z, w) with q' = w q / 2, in the frame q is seen from */
static ss_vec3 twist_gradient(ss_quat turn)
{
    double size = turn.w * turn.w + turn.z * turn.z;
    if (!(size > 0.0)) return (ss_vec3){0.0, 0.0, 1.0};
    return (ss_vec3){(turn.w * turn.y + turn.z * turn.x) / size, (turn.z * turn.y - turn.w * turn.x) / size,
                     1.0};
}

ss_joint_quantity ss_joint_twist(const ss_joint_pose *pose)
{
    ss_vec3 gradient = twist_gradient(pose->turn);
    return about(pose, twist_angle(pose->turn), ss_mat3_apply(pose->axes, gradient));
}

double ss_joint_twist_angle(ss_quat turn)
{
    return twist_angle(turn);
}

ss_joint_quantity ss_joint_own_turn(const ss_joint_pose *pose, int side)
{
    ss_quat start = ss_joint_start_frame(pose->joint, side);
    ss_quat turn = shorter_way(ss_quat_multiply(ss_quat_conjugate(start), pose->frame[side]));
    ss_vec3 still = {0.0, 0.0, 0.0}, gradient = ss_quat_rotate(start, twist_gradient(turn));
    ss_joint_quantity quantity;
    clear(pose->moves[side] ? twist_angle(turn) : 0.0, &quantity);
    write_side(pose, side, 1.0, still, gradient, quantity.jacobian);
    return quantity;
}

/* ---- universal -------------------------------------------------------------------------------------- */

ss_joint_quantity ss_joint_skew(const ss_joint_pose *pose)
{
    double sine;
    ss_mat3 of_b = ss_quat_to_matrix(pose->frame[1]);
    ss_vec3 first = ss_mat3_column(&pose->axes, 2), second = ss_mat3_column(&of_b, 2);
    ss_vec3 normal = ss_vec3_normalise(ss_vec3_cross(second, first), &sine);
    return about(pose, atan2(ss_vec3_dot(first, second), sine), normal);
}

/* The other axis seen along axis i. It turns as fast as b does about axis i, less what its leaning towards
 * the axis adds. Seen from b, it is a that turns, the other way round. */
ss_joint_quantity ss_joint_cross_angle(const ss_joint_pose *pose, int i)
{
    ss_mat3 own = ss_quat_to_matrix(pose->frame[i]), others = ss_quat_to_matrix(pose->frame[!i]);
    ss_vec3 axis = ss_mat3_column(&own, 2), other = ss_mat3_column(&others, 2);
    ss_vec3 seen = ss_mat3_apply_transposed(own, other);
    double across = hypot(seen.x, seen.y);
    ss_vec3 sideways = ss_vec3_add_scaled(other, -seen.z, axis); // of length `across`
    ss_vec3 gradient = across > 0.0 ? ss_vec3_add_scaled(axis, -seen.z / (across * across), sideways) : axis;
    return about(pose, atan2(i ? -seen.y : seen.y, seen.x), gradient);
}

/* ---- turns and speeds ------------------------------------------------------------------------------- */

double ss_angle_near(double angle, double near)
{
    return angle + 2.0 * ss_pi * rint((near - angle) / (2.0 * ss_pi));
}

/* ---- ropes and sums --------------------------------------------------------------------------------- */

/* One end of a rope and its sheave: factor |end - sheave|. `end` is side 0 or 1 of the joint. */
static void add_part_of_rope(const ss_joint_pose *pose, int end, double factor, ss_joint_quantity *rope)
{
    const ss_joint *joint = pose->joint;
    ss_vec3 sheave = ss_vec3_load(joint->local_sheave[end]), centre = {0.0, 0.0, 0.0};
    if (joint->c != SS_WORLD) {
        const ss_body *body = ss_world_body(pose->world, joint->c);
        centre = ss_vec3_load(body->position);
        sheave = ss_vec3_add(centre, ss_quat_rotate(ss_quat_load(body->quaternion), sheave));
    }
    double length;
    ss_vec3 direction = ss_vec3_normalise(ss_vec3_subtract(pose->anchor[end], sheave), &length);
    ss_vec3 arm = ss_vec3_subtract(pose->anchor[end], pose->centre[end]);
    rope->value += factor * length;
    write_side(pose, end, factor, direction, ss_vec3_cross(arm, direction), rope->jacobian);
    if (joint->c == SS_WORLD) return;
    double *block = rope->jacobian + 12; // both ends push the body of the sheaves
    ss_vec3 turning = ss_vec3_cross(ss_vec3_subtract(sheave, centre), direction);
    ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(block), -factor, direction), block);
    ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(block + 3), -factor, turning), block + 3);
}

ss_joint_quantity ss_joint_rope(const ss_joint_pose *pose)
{
    ss_joint_quantity rope = {0};
    add_part_of_rope(pose, 0, 1.0, &rope);
    add_part_of_rope(pose, 1, pose->joint->ratio, &rope);
    return rope;
}

ss_joint_quantity ss_joint_sum(const ss_joint_pose *pose, const double *factors)
{
    const ss_joint *joint = pose->joint;
    ss_joint_quantity sum = {0};
    for (int t = 0; t < joint->terms; t++) {
        double factor = factors ? factors[t] : joint->term[t].factor;
        const ss_joint *other = ss_world_joint(pose->world, joint->term[t].joint);
        ss_joint_pose other_pose = ss_joint_pose_now(pose->world, other);
        ss_joint_quantity now = ss_joint_coordinate_now(&other_pose, joint->term[t].index);
        sum.value += factor * now.value;
        for (int k = 0; k < other->body_count; k++) {
            int body = ss_joint_body(other, k), place = 0;
            if (body == SS_WORLD) continue;
            while (ss_joint_body(joint, place) != body) place++; // adding has listed them all
            for (int i = 0; i < 6; i++) sum.jacobian[6 * place + i] += factor * now.jacobian[6 * k + i];
        }
    }
    return sum;
}

double ss_joint_speed(const ss_world *world, const ss_joint *joint, const double *jacobian)
{
    double sum = 0.0;
    for (int side = 0; side < joint->body_count; side++) {
        int number = ss_joint_body(joint, side);
        if (number == SS_WORLD) continue;
        const ss_body *body = ss_world_body(world, number);
        for (int i = 0; body->kind != SS_STATIC && i < 6; i++)
            sum += jacobian[6 * side + i] * body->velocity[i];
    }
    return sum;
}

/* ---- coordinates ------------------------------------------------------------------------------------ */

int ss_joint_coordinate_count(const ss_joint *joint)
{
    static const int count[SS_JOINT_KINDS] = {
        [SS_JOINT_REVOLUTE] = 1,  [SS_JOINT_PRISMATIC] = 1,    [SS_JOINT_CYLINDRICAL] = 2,
        [SS_JOINT_UNIVERSAL] = 2, [SS_JOINT_DISTANCE] = 1,     [SS_JOINT_SCREW] = 1,
        [SS_JOINT_COUPLING] = 1,  [SS_JOINT_DIFFERENTIAL] = 1, [SS_JOINT_PULLEY] = 1,
    };
    return count[joint->kind];
}

bool ss_joint_coordinate_is_angle(const ss_joint *joint, int index)
{
    if (joint->kind == SS_JOINT_CYLINDRICAL) return index == 0;
    return joint->kind != SS_JOINT_PRISMATIC && !ss_joint_keeps_coordinate(joint);
}

ss_joint_quantity ss_joint_coordinate_now(const ss_joint_pose *pose, int index)
{
    const ss_joint *joint = pose->joint;
    if (joint->kind == SS_JOINT_DISTANCE) return ss_joint_length(pose);
    if (joint->kind == SS_JOINT_PULLEY) return ss_joint_rope(pose);
    if (!ss_joint_coordinate_is_angle(joint, index))
        return ss_joint_has_terms(joint) ? ss_joint_sum(pose, NULL)
                                         : ss_joint_slide(pose, (ss_vec3){0.0, 0.0, 1.0});

    /* Angles count their turns: of those that differ by 2 pi it is the one next to the last. */
    ss_joint_quantity angle =
        joint->kind == SS_JOINT_UNIVERSAL ? ss_joint_cross_angle(pose, index) : ss_joint_twist(pose);
    angle.value = ss_angle_near(angle.value, joint->turned[index]);
    return angle;
}

bool ss_joint_has_terms(const ss_joint *joint)
{
    return joint->kind == SS_JOINT_COUPLING || joint->kind == SS_JOINT_DIFFERENTIAL ||
           joint->kind == SS_JOINT_CONVERTER;
}

bool ss_joint_keeps_coordinate(const ss_joint *joint)
{
    return joint->kind == SS_JOINT_DISTANCE || joint->kind == SS_JOINT_PULLEY ||
           joint->kind == SS_JOINT_COUPLING || joint->kind == SS_JOINT_DIFFERENTIAL;
}

bool ss_joint_coordinate_is_length(const ss_world *world, const ss_joint *joint, int index)
{
    if (!ss_joint_has_terms(joint)) return !ss_joint_coordinate_is_angle(joint, index);
    const ss_joint *first = ss_world_joint(world, joint->term[0].joint);
    return ss_joint_coordinate_is_length(world, first, joint->term[0].index);
}

bool ss_joint_coordinate_is_free(const ss_joint *joint)
{
    const ss_axis_law *law = &joint->law[0];
    return law->limited || law->motor != SS_MOTOR_OFF || law->stiffness > 0.0 || law->damping > 0.0;
}

/* ---- load ------------------------------------------------------------------------------------------- */

bool ss_joint_has_load_friction(const ss_joint *joint)
{
    if (joint->kind == SS_JOINT_SCREW || ss_joint_keeps_coordinate(joint)) return false;
    bool has = false;
    for (int i = 0; i < ss_joint_coordinate_count(joint); i++) has |= joint->law[i].load_friction > 0.0;
    return has;
}

ss_mat3 ss_joint_directions(const ss_joint *joint)
{
    if (!ss_joint_has_load_friction(joint)) return ss_mat3_identity();
    bool slides = joint->kind == SS_JOINT_PRISMATIC || joint->kind == SS_JOINT_CYLINDRICAL;
    ss_vec3 load = ss_vec3_load(joint->load_direction), second, third;
    if (slides) load.z = 0.0;
    double length;
    load = ss_vec3_normalise(load, &length);
    if (!(length > 0.0)) return ss_mat3_identity();
    ss_vec3_tangents(load, &second, &third);
    if (slides) second = ss_vec3_cross((ss_vec3){0.0, 0.0, 1.0}, load);
    return ss_mat3_from_rows(load, second, ss_vec3_cross(load, second));
}
