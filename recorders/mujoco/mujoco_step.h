/* recorders/mujoco/mujoco_step.h - one step of MuJoCo into a capture. Shared by the library and the preloaded
 * form.
 *
 * MuJoCo has joint coordinates, a frame has bodies. With v = J qvel at the poses before the step, the step
 *
 *     (J' M J + armature) qacc = qfrc_smooth + efc_J' efc_force,      qvel+ = qvel + h qacc
 *
 * is that of bodies whose joints are rows N' (relative twist) = 0, N all that the joint's motion S is not:
 *
 *   bodies      those that are welded together are one; v+ = J (qvel + h qacc), before implicit damping
 *   forces      gravity, gyroscopic torque, xfrc_applied; what is left of qfrc_smooth (motors, springs,
 *               damping, Coriolis terms) as the wrench along S with the same power, on child and parent
 *   joints      of the trees: bilateral rows, whose impulses follow from the balance, leaves first
 *   armature    a row u + x / armature = u before, u the speed of the coordinate: an inertia
 *   coordinates where there are joints: T = J, M = qM with armatures, v = qvel, f = J' of the forces above
 *   limits, frictionloss, connect, weld     rows with C = R and -(J v + h aref) as time derivative
 *   contacts    C = R of the normal (pyramids: the mean of its edges), and the reference acceleration of the
 *               normal as surface velocity. Friction is that of the model; MuJoCo's softness of friction, and
 *               its pyramid, are left to the judge. Spinning is in one ellipsoid with sliding, as in MuJoCo;
 *               rolling friction, which MuJoCo has in the same ellipsoid, is a disc of its own
 *   tendons, and equalities between joints  their forces, as forces: a row of a frame has two bodies
 *
 * After mj_step the efc_ arrays and poses are still those that the step was computed with; qvel is kept.
 */
#ifndef SS_RECORDERS_MUJOCO_STEP_H
#define SS_RECORDERS_MUJOCO_STEP_H

#include <mujoco/mujoco.h>

#include "sink.h"

typedef struct ss_mujoco_step ss_mujoco_step;

ss_mujoco_step *ss_mujoco_step_create(bool rows, ss_error *err); /* checks the version */
void ss_mujoco_step_destroy(ss_mujoco_step *step);
/* False: out of memory, or the sink is broken. */
bool ss_mujoco_look_before(ss_mujoco_step *step, ss_sink *sink, const mjModel *m, const mjData *d);
bool ss_mujoco_look_after(ss_mujoco_step *step, ss_sink *sink, const mjModel *m, const mjData *d);

#endif
