/* model/joint_internal.h - a joint's own equations, and the laws along its coordinates, for
 * src/model alone. */
#ifndef SS_MODEL_JOINT_INTERNAL_H
#define SS_MODEL_JOINT_INTERNAL_H

#include "model/joint_geometry.h"
#include "model/world.h"

/* At most 6 rows: value and Jacobian. */
int ss_joint_own_equations(const ss_joint_pose *pose, ss_joint_quantity rows[6]);
/* Row that load dependent friction is coupled to: the first, but for the screw that of the thread. */
int ss_joint_load_row(const ss_joint *joint);

/* A row without law: sign times the Jacobian, no violation, no bounds. */
void ss_joint_fill_equation(const ss_joint_pose *pose, const ss_joint_quantity *quantity, double sign,
                            ss_joint_equation *row);

/* The row of a torque converter, if its shafts turn; returns the number of rows. */
int ss_joint_add_converter(const ss_joint_pose *pose, double h, ss_joint_equation *row);
/* Appends limits, springs, motors and friction to `count` own equations; returns the new number of rows. */
int ss_joint_add_laws(const ss_world *world, const ss_joint_pose *pose, double h,
                      ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST], int count);

#endif
