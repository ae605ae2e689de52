/* bench/self/threads.h - one thread and two. */
#ifndef BENCH_SELF_THREADS_H
#define BENCH_SELF_THREADS_H

/* Memory, whole steps and single solves, of problems up to this many contacts. */
void print_threads(int most);

#endif
