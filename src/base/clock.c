#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* clock_gettime */
#endif
#include <stickslip/base.h>

#include "base/deadline.h"

#include <time.h>

static double pretended_step, pretended_now; // s
static bool counts_processor;

void ss_clock_pretend(double step)
{
    pretended_step = step;
    pretended_now = 1.0;
}

void ss_clock_count_processor(bool counts)
{
    counts_processor = counts;
}

double ss_clock_seconds(void)
{
    if (pretended_step > 0.0) return pretended_now += pretended_step;
    struct timespec now = {0};
    clock_gettime(counts_processor ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
