/* frame/checker.h - what the checks of a frame share: where they are, and what they have found. */
#ifndef SS_FRAME_CHECKER_H
#define SS_FRAME_CHECKER_H

#include <stickslip/frame.h>

typedef struct ss_checker {
    const ss_frame *frame;
    const char *place; /* of the frame in its file; NULL: none */
    ss_findings *findings;
    bool faulty;
} ss_checker;

enum { SS_NO_INDEX = -1 };

/* Notes a finding at "PLACE/bodies/masses[3]"; of a very long PLACE the end is cut off, never what follows
 * it. */
SS_PRINTF(5, 6)
void ss_checker_report(ss_checker *c, ss_finding_kind kind, const char *path, int index, const char *format,
                       ...);

#endif
