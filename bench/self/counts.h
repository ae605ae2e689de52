/* bench/self/counts.h - instructions of fixed pieces of work, which no neighbour on the machine disturbs. */
#ifndef BENCH_SELF_COUNTS_H
#define BENCH_SELF_COUNTS_H

/* Does one piece of work and prints nothing, for callgrind to count. False: no such piece. */
int do_counted(const char *name);
/* Counts all by running `program` under callgrind; compares with the reference file, or writes it. Returns an
 * exit code: 0 also when there is no callgrind. */
int print_counts(const char *program, const char *reference, int write);

#endif
