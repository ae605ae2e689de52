/* How long the steps of a demo take, when the environment has DEMO_TIME: for tools/bench-recorders. */
#ifndef DEMO_STEP_TIME_H
#define DEMO_STEP_TIME_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { STEP_TIMES = 1 << 16 };
static double step_time[2][STEP_TIMES]; /* s: of the processor, for this thread; of the clock on the wall */
static int step_times;

static double step_time_now(int which)
{
    struct timespec now;
    clock_gettime(which ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void step_time_begin(void)
{
    for (int i = 0; step_times < STEP_TIMES && i < 2; i++) step_time[i][step_times] = -step_time_now(i);
}

static void step_time_end(void)
{
    for (int i = 0; step_times < STEP_TIMES && i < 2; i++) step_time[i][step_times] += step_time_now(i);
    if (step_times < STEP_TIMES) step_times++;
}

static int step_time_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void step_time_print(double contacts)
{
    if (!getenv("DEMO_TIME") || step_times == 0) return;
    printf("%.1f contacts", contacts / step_times);
    for (int i = 0; i < 2; i++) {
        double sum = 0.0;
        for (int k = 0; k < step_times; k++) sum += step_time[i][k];
        qsort(step_time[i], (size_t)step_times, sizeof **step_time, step_time_order);
        printf("; %s: median %.1f us, mean %.1f us", i ? "wall" : "processor",
               1e6 * step_time[i][step_times / 2], 1e6 * sum / step_times);
    }
    printf("\n");
}

#endif
