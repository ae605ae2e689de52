/* model/joint_rows.h - a joint as rows in the sense of frame.h, from the present poses of its bodies. */
#ifndef SS_MODEL_JOINT_ROWS_H
#define SS_MODEL_JOINT_ROWS_H

#include <stickslip/model.h>

/* Rows of one block become one constraint of a frame. The equations of the joint itself are the first block;
 * limits, motors, springs and friction are blocks of one row. */
typedef struct ss_joint_equation {
    /* linear, angular of a, of b and of the other bodies (ss_joint.bodies), each about its centre of mass;
     * what lies beyond ss_joint.body_count is not set */
    double jacobian[6 * SS_JOINT_BODIES];
    double violation; /* g(q), m or rad; 0 when not holonomic */
    /* of motors, drives, springs; the motion of kinematic bodies is added by the sim */
    double time_derivative;
    double bounds[2];      /* N or N m */
    double regularization; /* velocity per impulse */
    double friction;       /* load dependent: |x| <= friction |x_load| */
    int load;              /* equation of the same joint that carries the load; -1 = none */
    int block;
    int rotor; /* the coordinate whose rotor it is (ss_axis_law.armature); -1 = none */
    bool holonomic;
    /* belongs to the joint's own equations (stabilised), not a limit, motor, spring or friction */
    bool equality;
} ss_joint_equation;

#define SS_JOINT_EQUATIONS_MOST 18

/* ---- rows ------------------------------------------------------------------------------------------- */

/* Body k of the joint: a, b, others. */
static inline int ss_joint_body(const ss_joint *joint, int k)
{
    return k == 0 ? joint->a : k == 1 ? joint->b : joint->bodies[k];
}
/* Enabled, its bodies and the joints it couples too, and at least one of the bodies dynamic. */
bool ss_joint_is_active(const ss_world *world, const ss_joint *joint);
/* Number of the joint's own equations, enabled or not. */
int ss_joint_equation_count(const ss_joint *joint);
/* Number of rows; 0 for joints that are not active. h (s) enters springs and the reach of limits: a limit has
 * a row only when it is within reach of the step. */
int ss_joint_equations(const ss_world *world, int joint, double h,
                       ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST]);
/* The rows of its laws only: limits, motors, springs, rotors and friction; none of a converter. */
int ss_joint_law_rows(const ss_world *world, int joint, double h,
                      ss_joint_equation rows[SS_JOINT_EQUATIONS_MOST]);
/* The joint's own equations only: violation and Jacobian, at most 6 rows; 0 for disabled joints. */
int ss_joint_residual(const ss_world *world, int joint, ss_joint_equation rows[6]);
/* Rows of the rotors of a joint (ss_axis_law.armature): Jacobians of their coordinates, and 1 / armature as
 * regularisation; at most 2. Together with its own equations a joint has at most 6. */
int ss_joint_rotors(const ss_world *world, int joint, ss_joint_equation rows[2]);
int ss_joint_rotor_count(const ss_joint *joint);
/* The rate of a coordinate one step ago, as the velocities of now would have it: bodies are moved back by h
 * (s) and returned. In maximal coordinates that is what a rotor turned with: the coordinates of joints on
 * turning bodies change their rates by the turning alone. */
double ss_joint_rate_before(ss_world *world, int joint, int index, double h);
/* The user's forces along the coordinates (ss_axis_law.force), added to the wrenches of its bodies. */
void ss_joint_user_force(const ss_world *world, int joint, double wrench[SS_JOINT_BODIES][6]);

/* ---- state of a joint, kept up by the simulation, part of snapshots --------------------------------- */

/* After the poses have changed: counts full turns (ss_joint.turned), right as long as a joint turns by less
 * than pi between two calls. */
void ss_joint_follow(ss_world *world, int joint);
/* After a solve: the impulses of the joint's own equations, in the order of ss_joint_equations. Load
 * dependent friction is coupled to one row, so that row is laid along the force of the step before
 * (ss_joint.load_direction). Does nothing for joints without such friction. */
void ss_joint_note_load(ss_world *world, int joint, const double *impulse);

#endif
