/* campaign/import_frames.h - frames from lines of JSON, which any language can write (docs/import.md). */
#ifndef SS_CAMPAIGN_IMPORT_FRAMES_H
#define SS_CAMPAIGN_IMPORT_FRAMES_H

#include <stickslip/recorder.h>

#include <stdio.h>

/* Records every line of `in` to `path`. Fails at the first line that is wrong, "NAME:17:
 * contacts[3].normal: ..."; nothing is written then. *frames is their number; *interrupted may become true
 * at any time, and ends the reading as the end of the input would. */
bool ss_import_frames(FILE *in, const char *name, const char *path, const ss_recording_options *options,
                      bool (*interrupted)(void), int *frames, ss_error *err);

#endif
