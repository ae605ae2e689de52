/* campaign/read_input.h - frames and problems from files, read and checked: what is returned
 * may be solved. */
#ifndef SS_CAMPAIGN_READ_INPUT_H
#define SS_CAMPAIGN_READ_INPUT_H

#include <stickslip/dataset.h>

/* Which frames `wanted` means: a path, a number, a range A:B of numbers without B, "all" or NULL. */
bool ss_choose_frames(const ss_bpmd *file, const char *path, const char *wanted, int *begin, int *end,
                      ss_error *err);
/* NULL when it must not be used: the message begins with the place of its first fault. findings gets what the
 * reader has to say. */
ss_frame *ss_read_checked_frame(ss_bpmd *file, int index, const char *place, ss_findings *findings,
                                ss_error *err);
ss_fclib *ss_read_checked_problem(const char *path, ss_fclib_kind kind, const ss_limits *limits,
                                  ss_findings *findings, ss_error *err);

#endif
