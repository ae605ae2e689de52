/* campaign/worker.h - the worker's side of campaign/pool.h. */
#ifndef SS_CAMPAIGN_WORKER_H
#define SS_CAMPAIGN_WORKER_H

#include "campaign/pool.h"

#include <sys/types.h>

/* What parent and worker both see. */
typedef struct ss_worker_page {
    volatile int phase;
    volatile double since;           /* ss_clock_seconds at the start of the phase */
    volatile double since_processor; /* s of the worker's processor time then */
    volatile double forgiven;        /* s of the phase that do not count */
    volatile int cancel;
    volatile double crash_megabytes; /* address space when a signal struck, 0 = none did */
    volatile int retire;             /* it has grown: a new one is better */
} ss_worker_page;

typedef struct ss_message_head {
    uint64_t magic, serial, size;
} ss_message_head;
#define SS_MESSAGE_MAGIC UINT64_C(0x9e3a71c25bd0f846)

typedef struct ss_worker_request {
    uint64_t serial;
    ss_task task;
} ss_worker_request;

struct ss_worker {
    ss_worker_page *page;
    int socket;
    double start_megabytes; /* address space */
};

/* s of processor time that a process (0: this one) has taken; NaN when the kernel does not say. */
double ss_process_seconds(pid_t pid);
/* Address space and resident set of a process (0: this one), in MB; false when the kernel does not tell. */
bool ss_process_size(pid_t pid, double *space, double *resident);
/* Address space cannot be limited under a sanitizer, which maps terabytes. */
bool ss_worker_limits_space(void);

/* The life of a worker: never returns. */
_Noreturn void ss_worker_live(const ss_pool *pool, ss_worker_page *page, int socket, pid_t parent);

#endif
