/* bench/self/machine.h - what this machine can do at most, measured with loops that do nothing else. */
#ifndef BENCH_SELF_MACHINE_H
#define BENCH_SELF_MACHINE_H

#include <stddef.h>
#include <stickslip/base.h>

enum { LEVELS = 4 };

typedef struct machine {
    const char *level[LEVELS];
    size_t bytes[LEVELS];   /* of the three arrays of the triad together */
    double triad[LEVELS];   /* GB/s, a = b + s c, what is read and written; one thread */
    double read[LEVELS];    /* GB/s, a sum; one thread */
    double fused, separate; /* Gflop/s of doubles: multiply-add in one instruction, and in two */
} machine;

/* s of processor time of this thread: other programs on the machine count as little as possible. */
double thread_seconds(void);
machine measure_machine(void);
/* GB/s of reading what needs this many bytes. */
double bandwidth_for(const machine *m, double bytes);
/* GB/s of memory, all workers of the team at once, each in arrays of its own, by the clock on the wall: of a
 * sum, or of the triad. */
double bandwidth_together(ss_team *team, bool triad);
void print_machine(const machine *m);

#endif
