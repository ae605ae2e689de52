/* Joints looked at from outside: coordinates, errors, and the state they carry from step to step. */
#include "model/joint_internal.h"

#include <math.h>

bool ss_joint_coordinate(const ss_world *world, int joint, int index, double *position, double *speed)
{
    const ss_joint *item = ss_world_joint(world, joint);
    if (!item || index < 0 || index >= ss_joint_coordinate_count(item)) return false;
    ss_joint_pose pose = ss_joint_pose_now(world, item);
    ss_joint_quantity now = ss_joint_coordinate_now(&pose, index);
    if (speed) *speed = ss_joint_speed(world, item, now.jacobian);

    /* Turns are not counted here: an angle is given between -pi, which is left out, and pi. */
    if (position && ss_joint_coordinate_is_angle(item, index)) {
        double near_zero = ss_angle_near(now.value, 0.0);
        *position = near_zero > -ss_pi ? near_zero : ss_pi;
    } else if (position) {
        *position = now.value;
    }
    return true;
}

/* ---- errors ----------------------------------------------------------------------------------------- */

double ss_joint_error(const ss_world *world, int joint)
{
    ss_joint_equation rows[6];
    int count = ss_world_joint(world, joint) ? ss_joint_residual(world, joint, rows) : 0;
    double largest = 0.0;
    for (int i = 0; i < count; i++) largest = fmax(largest, fabs(rows[i].violation));
    return largest;
}

double ss_joint_speed_error(const ss_world *world, int joint)
{
    ss_joint_equation rows[6];
    const ss_joint *item = ss_world_joint(world, joint);
    int count = item ? ss_joint_residual(world, joint, rows) : 0;
    double largest = 0.0;
    for (int i = 0; i < count; i++)
        largest = fmax(largest, fabs(ss_joint_speed(world, item, rows[i].jacobian)));
    return largest;
}

/* ---- state ------------------------------------------------------------------------------------------ */

static bool has_twist(const ss_joint *joint)
{
    bool has = false;
    for (int i = 0; i < ss_joint_coordinate_count(joint); i++) has |= ss_joint_coordinate_is_angle(joint, i);
    return has;
}

static void follow_twist(ss_joint *joint, ss_quat turn)
{
    for (int i = 0; i < ss_joint_coordinate_count(joint); i++)
        if (ss_joint_coordinate_is_angle(joint, i))
            joint->turned[i] = ss_angle_near(ss_joint_twist_angle(turn), joint->turned[i]);
}

void ss_joint_follow(ss_world *world, int joint)
{
    ss_joint *item = ss_world_joint(world, joint);
    if (item->kind == SS_JOINT_GEAR || item->kind == SS_JOINT_UNIVERSAL) {
        ss_joint_pose pose = ss_joint_pose_now(world, item);
        ss_joint_follow_pose(item, &pose);
    } else if (has_twist(item)) {
        follow_twist(item, ss_joint_turn_now(world, item));
    }
}

void ss_joint_follow_pose(ss_joint *item, const ss_joint_pose *pose)
{
    if (item->kind == SS_JOINT_GEAR) {
        for (int i = 0; i < 2; i++)
            item->turned[i] = ss_angle_near(ss_joint_own_turn(pose, i).value, item->turned[i]);
    } else if (item->kind == SS_JOINT_UNIVERSAL) {
        for (int i = 0; i < 2; i++) item->turned[i] = ss_joint_coordinate_now(pose, i).value;
    } else {
        follow_twist(item, pose->turn);
    }
}

/* The slides come first among a joint's own equations; all kinds with such friction have two or
 * three of them. */
void ss_joint_note_load(ss_world *world, int joint, const double *impulse)
{
    ss_joint *item = ss_world_joint(world, joint);
    if (!ss_joint_has_load_friction(item)) return;
    ss_mat3 directions = ss_joint_directions(item);
    bool slides = item->kind == SS_JOINT_PRISMATIC || item->kind == SS_JOINT_CYLINDRICAL;
    ss_vec3 load = {impulse[0], impulse[1], slides ? 0.0 : impulse[2]};
    load = ss_vec3_normalise(ss_mat3_apply_transposed(directions, load), NULL);
    if (ss_vec3_max_abs(load) > 0.0 && isfinite(load.x + load.y + load.z))
        ss_vec3_store(load, item->load_direction);
}
