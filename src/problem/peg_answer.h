/* problem/peg_answer.h - answers to frames with alternatives, for the rooms that take them apart. */
#ifndef SS_PROBLEM_PEG_ANSWER_H
#define SS_PROBLEM_PEG_ANSWER_H

#include <stickslip/peg.h>

#include "base/inner.h"

/* The answer to a frame as one to an ordinary frame that was selected from it; origin: by ss_frame_select.
 * Impulses at points that `answer` has no room for, and moments of rolling friction at points that are not
 * contacts of the frame, stay as they are in `plain`. */
SS_INNER void ss_peg_gather(const ss_answer *answer, const int *origin, ss_answer *plain);

#endif
