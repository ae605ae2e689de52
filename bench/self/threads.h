/* bench/self/threads.h - one thread and two. */
#ifndef BENCH_SELF_THREADS_H
#define BENCH_SELF_THREADS_H

/* Memory, whole steps and single solves, of problems up to this many contacts; unless `only` is empty, no
 * memory, and only rows that contain it. */
void print_threads(int most, const char *only);

#endif
