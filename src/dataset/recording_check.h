/* dataset/recording_check.h - mistakes of the program that recorded a simulation.
 *
 * Frames can be flawless one by one and still describe a mechanism that was never simulated. What gives them
 * away:
 *
 *   balance      M v+ = M v + h f + J' x of every live body, with the answer that is stored beside the frame;
 *                without one, v+ is what the next frame begins with, and only bodies that nothing touches
 *                count
 *   orientation  quaternions of successive frames turn by h w; tensors turn with the quaternions
 *   gaps         contacts that carry a load are closed by the end of the step, open ones do not cross
 *
 * A mistake is only named when the data break one of these and undoing exactly this mistake mends them, in
 * most places where they are broken. So an engine with physics of its own (no gyroscopic torque, soft
 * contacts) is not accused, and neither are frames too far apart to be compared.
 */
#ifndef SS_DATASET_RECORDING_CHECK_H
#define SS_DATASET_RECORDING_CHECK_H

#include <stickslip/dataset.h>

#include "base/inner.h"

typedef struct ss_recording_check ss_recording_check;

/* For one simulation. gravity: as the manifest has it, m/s^2; NaN = unknown. NULL: out of memory. */
SS_INNER ss_recording_check *ss_recording_check_create(const double gravity[3]);
SS_INNER void ss_recording_check_destroy(ss_recording_check *check);

/* The next frame, without faults, with `place` its path; then every result that is stored beside it. False:
 * out of memory. */
SS_INNER bool ss_recording_check_frame(ss_recording_check *check, const ss_frame *frame, const char *place);
SS_INNER bool ss_recording_check_result(ss_recording_check *check, const ss_stored_result *result);

/* A warning for every mistake: its probable name, and the frames, bodies or contacts it rests on. */
SS_INNER void ss_recording_check_end(ss_recording_check *check, ss_findings *findings);

#endif
