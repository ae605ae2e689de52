/* frame/check_generalized.h - do generalised coordinates fit the bodies and joints beside them? */
#ifndef SS_FRAME_CHECK_GENERALIZED_H
#define SS_FRAME_CHECK_GENERALIZED_H

#include <stickslip/frame.h>

/* Sizes, indices and arrays: true when the others can be looked at. */
bool ss_frame_check_generalized_arrays(const ss_frame *frame, const char *place, ss_findings *findings);
/* T v, implied joints, and M of a frame whose bodies and joints are without fault. */
bool ss_frame_check_generalized(const ss_frame *frame, const char *place, ss_findings *findings);

#endif
