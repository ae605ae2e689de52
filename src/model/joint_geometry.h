/* model/joint_geometry.h - what joints are made of: the two joint frames in the world, and quantities
 * of them with their exact derivatives. Angles are true angles, also far from zero (docs/joints.md has
 * the derivations). */
#ifndef SS_MODEL_JOINT_GEOMETRY_H
#define SS_MODEL_JOINT_GEOMETRY_H

#include "linalg/quat.h"
#include "model/joint_rows.h"

static const double ss_pi = 3.14159265358979323846;

/* Where a joint is. Side 0 is body a, side 1 body b; the world has its centre at the origin. */
typedef struct ss_joint_pose {
    const ss_world *world;
    const ss_joint *joint;
    bool moves[2];     /* false: the world */
    ss_vec3 centre[2]; /* of mass */
    ss_vec3 anchor[2];
    ss_quat frame[2]; /* joint frame to world */
    ss_mat3 axes;     /* of side a: columns x, y, z */
    ss_vec3 offset;   /* anchor b - anchor a */
    ss_quat turn;     /* of frame b seen from frame a, scalar part >= 0 */
} ss_joint_pose;

ss_joint_pose ss_joint_pose_now(const ss_world *world, const ss_joint *joint);
void ss_joint_pose_find(const ss_world *world, const ss_joint *joint, ss_joint_pose *pose);
ss_quat ss_joint_turn_now(const ss_world *world, const ss_joint *joint); /* ss_joint_pose.turn alone */
/* ss_joint_follow where the pose is known. */
void ss_joint_follow_pose(ss_joint *joint, const ss_joint_pose *pose);

/* A number that depends on the poses: value and d value / dt = jacobian . (v_a, v_b, others). Others are set
 * where the joint has them (ss_joint.body_count). */
typedef struct ss_joint_quantity {
    double value;
    double jacobian[6 * SS_JOINT_BODIES];
} ss_joint_quantity;

/* t . offset, with t (frame of a) fixed in a */
ss_joint_quantity ss_joint_slide(const ss_joint_pose *pose, ss_vec3 t);
/* |offset|; where it is 0 along the z axis of a */
ss_joint_quantity ss_joint_length(const ss_joint_pose *pose);
/* The rotation vector that takes frame a to frame b, in frame a. Jumps at pi. */
void ss_joint_rotation(const ss_joint_pose *pose, ss_joint_quantity out[3]);
/* x and y of the shortest rotation that takes the z axis of a to that of b, in frame a. Singular when the
 * two are opposite. */
void ss_joint_swing(const ss_joint_pose *pose, ss_joint_quantity out[2]);
/* Angle of frame b about the z axis of a, in (-pi, pi]. Singular where ss_joint_swing is. */
ss_joint_quantity ss_joint_twist(const ss_joint_pose *pose);
double ss_joint_twist_angle(ss_quat turn); /* its value alone */
/* Of a universal joint: how far the z axes of a and b are from a right angle, and the angles about the two in
 * (-pi, pi]. Singular when the two are parallel. */
ss_joint_quantity ss_joint_skew(const ss_joint_pose *pose);
ss_joint_quantity ss_joint_cross_angle(const ss_joint_pose *pose, int i);
/* Angle that one side has turned about its axis (joint.axis, joint.axis2) since the start, in (-pi, pi].
 * Singular when the axis has been turned over. */
ss_joint_quantity ss_joint_own_turn(const ss_joint_pose *pose, int side);

/* Length of a rope over sheaves. */
ss_joint_quantity ss_joint_rope(const ss_joint_pose *pose);
/* Sum of factor times coordinate over the terms; with the factors given, or NULL: those of the joint. */
ss_joint_quantity ss_joint_sum(const ss_joint_pose *pose, const double *factors);

double ss_joint_speed(const ss_world *world, const ss_joint *joint, const double *jacobian);

/* The angle that differs from `angle` by full turns and is nearest to `near`. */
double ss_angle_near(double angle, double near);

/* ---- coordinates ------------------------------------------------------------------------------------ */

/* Number of free coordinates that a law can act on. */
int ss_joint_coordinate_count(const ss_joint *joint);
bool ss_joint_coordinate_is_angle(const ss_joint *joint, int index);
/* Angles count full turns. */
ss_joint_quantity ss_joint_coordinate_now(const ss_joint_pose *pose, int index);
/* Distance, pulley, coupling, differential: one coordinate, which stays as it was at the start unless a law
 * says what else it does. */
bool ss_joint_keeps_coordinate(const ss_joint *joint);
bool ss_joint_coordinate_is_free(const ss_joint *joint);
/* Is the coordinate a length? That of a sum is of the kind of its first term, whose factor is a number. */
bool ss_joint_coordinate_is_length(const ss_world *world, const ss_joint *joint, int index);
/* Acts on coordinates of other joints. */
bool ss_joint_has_terms(const ss_joint *joint);

/* ---- load ------------------------------------------------------------------------------------------- */

/* Friction that goes by the force across the axis or in the joint; the screw's goes by that
 * along the thread. */
bool ss_joint_has_load_friction(const ss_joint *joint);
/* Directions in frame a along which the joint's forces are counted. With load dependent friction the first
 * one lies along the load, across the axis for joints that slide; else they are x, y, z. */
ss_mat3 ss_joint_directions(const ss_joint *joint);

#endif
