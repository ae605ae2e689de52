/* bench/self/counts.h - instructions of fixed pieces of work, which no neighbour on the machine disturbs. */
#ifndef BENCH_SELF_COUNTS_H
#define BENCH_SELF_COUNTS_H

#include <stdbool.h>

/* Does one piece of work and prints nothing, for callgrind to count. False: no such piece. */
int do_counted(const char *name);
/* Counts all by running `program` under callgrind; compares with the reference file, or writes it. Returns an
 * exit code: 0 also when there is no callgrind. With `check` 1 when a piece takes more instructions than the
 * reference allows, and 77 when the two cannot be compared: no callgrind, another compiler or processor. */
int print_counts(const char *program, const char *reference, bool write, bool check);

#endif
