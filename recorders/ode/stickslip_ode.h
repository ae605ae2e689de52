/* stickslip_ode.h - record the steps of a program that uses ODE (docs/recording.md).
 *
 *     ss_ode_recorder *rec = ss_ode_recorder_open("mine.h5", &err);
 *     for every step:
 *         ss_ode_before_step(rec, world, h, SS_ODE_QUICKSTEP);
 *         dWorldQuickStep(world, h);
 *         ss_ode_after_step(rec);
 *     if (!ss_ode_recorder_close(rec, &err)) ...
 *
 * Each step becomes a frame: bodies, joints with the rows that ODE itself makes for them, contacts, and ODE's
 * own answer as a result "ODE_step" or "ODE_quickstep". Nothing that ODE computes is changed by it. Link with
 * -lstickslip_ode -lstickslip -lode; ODE must be the shared library, version 0.16.
 */
#ifndef STICKSLIP_ODE_H
#define STICKSLIP_ODE_H

#include <ode/ode.h>

#include <stickslip/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ss_ode_stepper { SS_ODE_STEP, SS_ODE_QUICKSTEP } ss_ode_stepper;

typedef struct ss_ode_recorder ss_ode_recorder;

/* After dInitODE. The file appears when the recorder is closed. NULL: the file cannot be written, or this ODE
 * is not one that the recorder knows. */
SS_API ss_ode_recorder *ss_ode_recorder_open(const char *path, ss_error *err);
/* Settings as text, before the first step, as ss_recorder_configure of stickslip/recorder.h: "survive=60",
 * or for a flight recorder "ring=500 trip=energy>1e-3 trip=nan". Recordings survive their program from the
 * start: what is older than five seconds can be recovered (`stickslip recover`). */
SS_API bool ss_ode_recorder_configure(ss_ode_recorder *recorder, const char *settings, ss_error *err);
/* Writes the ring of a flight recorder now; nothing without a ring. */
SS_API bool ss_ode_recorder_trip(ss_ode_recorder *recorder, const char *reason, ss_error *err);
/* Right before and right after dWorldStep or dWorldQuickStep. One world per recorder. A step with a fault is
 * left out: false, and ss_ode_recorder_error says why. */
SS_API bool ss_ode_before_step(ss_ode_recorder *recorder, dWorldID world, double h, ss_ode_stepper stepper);
SS_API bool ss_ode_after_step(ss_ode_recorder *recorder);
SS_API const char *ss_ode_recorder_error(const ss_ode_recorder *recorder);
/* What could not be expressed in a frame, one line each; "" if nothing. */
SS_API const char *ss_ode_recorder_notes(const ss_ode_recorder *recorder);
/* Puts the file in its place and frees the recorder in any case. */
SS_API bool ss_ode_recorder_close(ss_ode_recorder *recorder, ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
