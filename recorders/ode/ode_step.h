/* recorders/ode/ode_step.h - one step of ODE into a capture. Shared by the library and the preloaded form.
 *
 * ODE 0.16 solves, in velocities after the step and forces x during it,
 *
 *     M v+ = M v + h (f + J' x),   J v+ + cfm x = c,   lo <= x <= hi,   |x_i| <= hi_i |x_findex(i)|
 *
 * where f has gravity and an implicit gyroscopic torque. J, c, cfm, lo, hi and findex are what the virtual
 * functions getInfo1 and getInfo2 of a joint return; they are asked here before the step, with everything
 * they change put back. In a frame, C = cfm / h, and c becomes the term of gap or joint error that the rules
 * of the result name (gamma = ERP, slop = surface layer). What differs from that, such as a bounce, a capped
 * correction or an ERP of the contact's own, is the surface velocity of the contact or the time derivative of
 * the row, so that the problem is ODE's exactly. The answer comes from dJointSetFeedback and the velocities.
 *
 *   contact, friction by coefficient (dContactApprox1)   a contact
 *   contact, friction by a constant force                a contact without friction, and a joint of two rows
 *   contact with rolling friction, or odd in other ways  a joint with coupled rows
 *
 * ODE scales the friction bounds of dWorldStep with the normal forces of a solution without friction, so that
 * its answer differs from that of the box formulation where contacts slide.
 */
#ifndef SS_RECORDERS_ODE_STEP_H
#define SS_RECORDERS_ODE_STEP_H

#include <ode/ode.h>

#include "sink.h"

typedef struct ss_ode_step ss_ode_step;

/* Finds out how this ODE keeps its lists, on a small world of its own. library: a handle of dlopen that knows
 * ODE's symbols. NULL: not an ODE that the recorder knows; err says so. */
ss_ode_step *ss_ode_step_create(void *library, ss_error *err);
void ss_ode_step_destroy(ss_ode_step *step);

/* The file of the ODE library in this process: "libode.so.8.0.2". */
void ss_ode_library_name(char *name, size_t size);

/* False: out of memory, or the sink is broken. */
bool ss_ode_look_before(ss_ode_step *step, ss_sink *sink, dWorldID world, double h, bool quick);
bool ss_ode_look_after(ss_ode_step *step, ss_sink *sink);

#endif
