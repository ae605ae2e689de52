/* The equations of each kind of joint, made of the quantities of joint_geometry.h. */
#include "model/joint_internal.h"

#include <math.h>

/* ---- parts ------------------------------------------------------------------------------------------ */

/* The anchors stay together along the first `count` of the joint's directions. */
static int add_slides(const ss_joint_pose *pose, int count, ss_joint_quantity *rows)
{
    ss_mat3 directions = ss_joint_directions(pose->joint);
    for (int i = 0; i < count; i++) rows[i] = ss_joint_slide(pose, ss_mat3_row(&directions, i));
    return count;
}

static int add_swing(const ss_joint_pose *pose, ss_joint_quantity *rows)
{
    ss_joint_swing(pose, rows);
    return 2;
}

static int add_rotation(const ss_joint_pose *pose, ss_joint_quantity *rows)
{
    ss_joint_rotation(pose, rows);
    return 3;
}

/* first + factor second */
static ss_joint_quantity combine(ss_joint_quantity first, double factor, ss_joint_quantity second)
{
    first.value += factor * second.value;
    for (int i = 0; i < 12; i++) first.jacobian[i] += factor * second.jacobian[i];
    return first;
}

static ss_joint_quantity counted_turn(const ss_joint_pose *pose, int side)
{
    ss_joint_quantity turn = ss_joint_own_turn(pose, side);
    turn.value = ss_angle_near(turn.value, pose->joint->turned[side]);
    return turn;
}

/* ---- kinds ------------------------------------------------------------------------------------------ */

int ss_joint_own_equations(const ss_joint_pose *pose, ss_joint_quantity rows[6])
{
    const ss_joint *joint = pose->joint;
    ss_vec3 z = {0.0, 0.0, 1.0};
    int n = 0;
    switch (joint->kind) {
    case SS_JOINT_FIXED:
        n = add_slides(pose, 3, rows);
        return n + add_rotation(pose, rows + n);
    case SS_JOINT_REVOLUTE:
        n = add_slides(pose, 3, rows);
        return n + add_swing(pose, rows + n);
    case SS_JOINT_PRISMATIC:
        n = add_slides(pose, 2, rows);
        return n + add_rotation(pose, rows + n);
    case SS_JOINT_CYLINDRICAL:
    case SS_JOINT_SCREW:
        n = add_slides(pose, 2, rows);
        n += add_swing(pose, rows + n);
        // the thread: the slide along the axis is the pitch times the turn
        if (joint->kind == SS_JOINT_SCREW)
            rows[n++] = combine(ss_joint_slide(pose, z), -joint->ratio, ss_joint_coordinate_now(pose, 0));
        return n;
    case SS_JOINT_UNIVERSAL:
        n = add_slides(pose, 3, rows);
        rows[n] = ss_joint_skew(pose);
        return n + 1;
    case SS_JOINT_BALL:
        return add_slides(pose, 3, rows);
    case SS_JOINT_PLANAR:
        rows[0] = ss_joint_slide(pose, z);
        return 1 + add_swing(pose, rows + 1);
    case SS_JOINT_DISTANCE:
    case SS_JOINT_PULLEY:
    case SS_JOINT_COUPLING:
    case SS_JOINT_DIFFERENTIAL:
        // a length or a sum that stays, unless a law acts on it
        if (ss_joint_coordinate_is_free(joint)) return 0;
        rows[0] = ss_joint_coordinate_now(pose, 0);
        rows[0].value -= joint->start_length;
        return 1;
    case SS_JOINT_CONVERTER:
        return 0;
    case SS_JOINT_GEAR:
        rows[0] = combine(counted_turn(pose, 1), joint->ratio, counted_turn(pose, 0));
        return 1;
    case SS_JOINT_KINDS:
        break;
    }
    return 0;
}

int ss_joint_equation_count(const ss_joint *joint)
{
    static const int count[SS_JOINT_KINDS] = {
        [SS_JOINT_FIXED] = 6,        [SS_JOINT_REVOLUTE] = 5,  [SS_JOINT_PRISMATIC] = 5,
        [SS_JOINT_CYLINDRICAL] = 4,  [SS_JOINT_UNIVERSAL] = 4, [SS_JOINT_BALL] = 3,
        [SS_JOINT_PLANAR] = 3,       [SS_JOINT_DISTANCE] = 1,  [SS_JOINT_SCREW] = 5,
        [SS_JOINT_GEAR] = 1,         [SS_JOINT_PULLEY] = 1,    [SS_JOINT_COUPLING] = 1,
        [SS_JOINT_DIFFERENTIAL] = 1,
    };
    return ss_joint_keeps_coordinate(joint) && ss_joint_coordinate_is_free(joint) ? 0 : count[joint->kind];
}

int ss_joint_load_row(const ss_joint *joint)
{
    return joint->kind == SS_JOINT_SCREW ? 4 : 0;
}

/* ---- who takes part --------------------------------------------------------------------------------- */

bool ss_joint_is_active(const ss_world *world, const ss_joint *joint)
{
    bool dynamic = false;
    if (joint->disabled) return false;
    for (int k = 0; k < joint->body_count; k++) {
        const ss_body *body = ss_world_body(world, ss_joint_body(joint, k)); // NULL for the world
        if (body && body->disabled) return false;
        dynamic |= body && body->kind == SS_DYNAMIC;
    }
    for (int t = 0; t < joint->terms; t++)
        if (ss_world_joint(world, joint->term[t].joint)->disabled) return false;
    return dynamic;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

void ss_joint_fill_equation(const ss_joint_pose *pose, const ss_joint_quantity *quantity, double sign,
                            ss_joint_equation *row)
{
    for (int i = 0; i < 6 * pose->joint->body_count; i++) row->jacobian[i] = sign * quantity->jacobian[i];
    row->violation = row->time_derivative = row->regularization = row->friction = 0.0;
    row->bounds[0] = -INFINITY;
    row->bounds[1] = INFINITY;
    row->load = row->rotor = -1;
    row->block = 0;
    row->holonomic = row->equality = false;
}

static int own_rows(const ss_joint_pose *pose, ss_joint_equation *rows)
{
    ss_joint_quantity own[6];
    int count = ss_joint_own_equations(pose, own);
    for (int i = 0; i < count; i++) {
        ss_joint_fill_equation(pose, &own[i], 1.0, &rows[i]);
        rows[i].violation = own[i].value;
        rows[i].holonomic = rows[i].equality = true;
    }
    return count;
}

int ss_joint_residual(const ss_world *world, int joint, ss_joint_equation rows[6])
{
    const ss_joint *item = ss_world_joint(world, joint);
    if (item->disabled) return 0;
    ss_joint_pose pose = ss_joint_pose_now(world, item);
    return own_rows(&pose, rows);
}

int ss_joint_equations(const ss_world *world, int joint, double h,
                       ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST])
{
    const ss_joint *item = ss_world_joint(world, joint);
    if (!ss_joint_is_active(world, item)) return 0;
    ss_joint_pose pose = ss_joint_pose_now(world, item);
    int count = own_rows(&pose, rows);

    /* A spring of stiffness 1/compliance in every row, implicit: x = -h k (g + h u), so that u + x/(h^2 k) +
     * g/h = 0. It depends on g itself, whatever the formulation does about errors of joints: the row is not
     * holonomic. */
    for (int i = 0; i < count && item->compliance > 0.0; i++) {
        rows[i].regularization = item->compliance / (h * h);
        rows[i].time_derivative = rows[i].violation / h;
        rows[i].violation = 0.0;
        rows[i].holonomic = rows[i].equality = false;
    }

    if (item->kind == SS_JOINT_CONVERTER) return ss_joint_add_converter(&pose, h, rows);
    return ss_joint_add_laws(world, &pose, h, rows, count);
}
