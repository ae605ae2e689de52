/* stickslip_mujoco.h - record the steps of a program that uses MuJoCo (docs/recording.md).
 *
 *     ss_mujoco_recorder *rec = ss_mujoco_recorder_open("mine.h5", 0, &err);
 *     for every step:
 *         ss_mujoco_before_step(rec, model, data);
 *         mj_step(model, data);
 *         ss_mujoco_after_step(rec, model, data);
 *     if (!ss_mujoco_recorder_close(rec, &err)) ...
 *
 * Each step becomes a frame: bodies, the joints of the trees, limits, equalities, contacts, and MuJoCo's own
 * answer. Nothing that MuJoCo computes is changed by it. With mj_step1 and mj_step2, call it around mj_step2.
 * Link with -lstickslip_mujoco -lstickslip -lmujoco. Integrators Euler and implicit; not RK4.
 */
#ifndef STICKSLIP_MUJOCO_H
#define STICKSLIP_MUJOCO_H

#include <mujoco/mujoco.h>

#include <stickslip/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Contacts with pyramidal cones as the rows that MuJoCo makes of them, softness of friction included, instead
 * of as contacts: the frame is then MuJoCo's problem exactly, but nothing in it is called friction. */
#define SS_MUJOCO_ROWS 1

typedef struct ss_mujoco_recorder ss_mujoco_recorder;

/* The file appears when the recorder is closed. NULL: the file cannot be written, or this MuJoCo is not the
 * one that the recorder was built for. */
SS_API ss_mujoco_recorder *ss_mujoco_recorder_open(const char *path, int flags, ss_error *err);
/* Settings as text, before the first step, as ss_recorder_configure of stickslip/recorder.h: "survive=60",
 * or for a flight recorder "ring=500 trip=energy>1e-3 trip=nan". Recordings survive their program from the
 * start: what is older than five seconds can be recovered (`stickslip recover`). */
SS_API bool ss_mujoco_recorder_configure(ss_mujoco_recorder *recorder, const char *settings, ss_error *err);
/* Writes the ring of a flight recorder now; nothing without a ring. */
SS_API bool ss_mujoco_recorder_trip(ss_mujoco_recorder *recorder, const char *reason, ss_error *err);
/* A step with a fault is left out: false, and ss_mujoco_recorder_error says why. */
SS_API bool ss_mujoco_before_step(ss_mujoco_recorder *recorder, const mjModel *model, const mjData *data);
SS_API bool ss_mujoco_after_step(ss_mujoco_recorder *recorder, const mjModel *model, const mjData *data);
SS_API const char *ss_mujoco_recorder_error(const ss_mujoco_recorder *recorder);
/* What could not be expressed in a frame, one line each; "" if nothing. */
SS_API const char *ss_mujoco_recorder_notes(const ss_mujoco_recorder *recorder);
/* Puts the file in its place and frees the recorder in any case. */
SS_API bool ss_mujoco_recorder_close(ss_mujoco_recorder *recorder, ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
