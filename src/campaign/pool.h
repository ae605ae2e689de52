/* campaign/pool.h - worker processes. Tasks go to them one at a time and replies come back. A worker
 * that crashes, hangs, takes too much memory or answers nonsense is replaced, and its task has an
 * ending all the same.
 *
 * Workers are forked: they know everything the caller knows when ss_pool_run is called. Nothing they do
 * reaches the caller but their replies. The caller must have one thread only. */
#ifndef SS_CAMPAIGN_POOL_H
#define SS_CAMPAIGN_POOL_H

#include "base/text.h"
#include "campaign/ledger.h"

/* What a worker is at. Each phase has its own patience. */
typedef enum ss_phase {
    SS_PHASE_IDLE,
    SS_PHASE_READING,
    SS_PHASE_SOLVING,
    SS_PHASE_REFERENCE,
    SS_PHASE_JUDGING,
    SS_PHASE_REPLYING, /* the task is over, its reply on the way */
    SS_PHASES
} ss_phase;

typedef struct ss_patience {
    double soft; /* s: then the phase's `cancel` is set; 0 = never */
    double hard; /* s: then the worker is killed; 0 = never */
} ss_patience;

/* What to do; the numbers mean what the caller wants them to. */
typedef struct ss_task {
    int kind, problem, method, count;
    int group;    /* of the queue */
    int begin;    /* with start own: the first problem of the chain whose answer leads here */
    double limit; /* s of solving; 0 = none */
    bool plain;
    bool fresh;           /* the pool's: in a new process, so that no other task is to blame for its end */
    ss_patience patience; /* with its solving; all 0 = that of the pool */
} ss_task;

/* In the worker. */
typedef struct ss_worker ss_worker;
void ss_worker_phase(ss_worker *worker, ss_phase phase);
/* Seconds of the phase that patience does not count; the worker adds to them. */
volatile double *ss_worker_forgiven(ss_worker *worker);
/* Not zero once the soft patience with the phase is over. */
const volatile int *ss_worker_cancel(const ss_worker *worker);

/* How a task ended. */
typedef struct ss_ending {
    bool replied;
    ss_outcome outcome; /* without a reply: crashed, hung, out of memory, broken */
    ss_phase phase;     /* in which it died */
    bool fresh;         /* it was the first task of its process */
    char message[200];  /* why there is no reply: "signal 11 (Segmentation fault)" */
    char started[32];   /* UTC, ISO 8601 */
} ss_ending;

typedef struct ss_pool {
    int workers;
    int core;             /* every worker is pinned to it; -1 = none is */
    double max_megabytes; /* that a task may take; 0 = any */
    ss_patience patience[SS_PHASES];
    bool by_processor;        /* patience with solving counts the worker's processor time */
    const volatile int *stop; /* not zero: drop everything soon; may be NULL */
    void *context;

    /* In the worker. begin (may be NULL) runs once; what it returns is given to `work`. */
    void *(*begin)(void *context, ss_worker *worker);
    void (*work)(void *state, const ss_task *task, ss_text *reply);

    /* In the caller. False: nothing for it now. `last` is what that worker did before, NULL if nothing. */
    bool (*next)(void *context, const ss_task *last, ss_task *task);
    /* The reply, when there is one. False with err ends the run. */
    bool (*done)(void *context, const ss_task *task, const ss_ending *ending, const char *reply, size_t size,
                 ss_error *err);
    void (*idle)(void *context); /* now and then; may be NULL */
} ss_pool;

/* Until `next` has nothing for any worker and none is at work. False with err when `done` says so, or when no
 * process can be started; true as well when stopped. */
bool ss_pool_run(const ss_pool *pool, ss_error *err);

/* Now: UTC, ISO 8601, with milliseconds. */
void ss_pool_time(char text[32]);

#endif
