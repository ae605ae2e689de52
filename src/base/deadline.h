/* base/deadline.h - a point of the monotonic clock after which the work is in vain; INFINITY: there is none.
 * Work that can take longer than its caller may wait asks between two parts of it. */
#ifndef SS_BASE_DEADLINE_H
#define SS_BASE_DEADLINE_H

#include <stickslip/base.h>

#include "base/inner.h"

#include <math.h>

/* Would a part that takes that many seconds end after the deadline? Without one the clock is not looked
 * at, and nothing depends on it. */
static inline bool ss_deadline_misses(double deadline, double seconds)
{
    return deadline < INFINITY && ss_clock_seconds() + seconds >= deadline;
}

/* For tests: from now on every look at the clock advances it by `step` seconds; 0: the real clock again. Not
 * while other threads run. */
void ss_clock_pretend(double step);
/* For benchmarks on a busy machine: from now on the clock is the processor time of the thread that looks at
 * it. Not while other threads run. */
SS_INNER void ss_clock_count_processor(bool counts);

#endif
