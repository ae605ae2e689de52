/* campaign/queue.h - tasks in groups. A worker stays in its group, so that it need not read another file, and
 * helps out in the fullest one when nothing else is left. In a chain each task needs what the one before did:
 * only one is out at a time. */
#ifndef SS_CAMPAIGN_QUEUE_H
#define SS_CAMPAIGN_QUEUE_H

#include "campaign/pool.h"

typedef struct ss_queue_group {
    int key, next, end; /* tasks next .. end - 1 are left */
    bool begun;
    bool chain;
    bool is_out; /* chain: a task of it, `out`, is with a worker, or waits to be tried again */
    ss_task out;
} ss_queue_group;

typedef struct ss_queue {
    ss_task *tasks;
    int count, capacity;
    ss_queue_group *groups;
    int group_count, group_capacity;
    int *places; /* of a group, by its key: its index + 1; 0 = there is none */
    int place_capacity;
    int untouched;  /* groups before it have been begun */
    ss_task *again; /* to be done before all others */
    int again_count, again_capacity;
    bool out_of_memory; /* sticky */
} ss_queue;

/* Tasks of one group are added one after the other; each gets the key of its group,
 * which is a small number. */
void ss_queue_add(ss_queue *queue, int group, const ss_task *task);
/* The same, for a group that is a chain. */
void ss_queue_add_link(ss_queue *queue, int group, const ss_task *task);
/* Once more. */
void ss_queue_again(ss_queue *queue, const ss_task *task);
/* A task that will not be tried again although no worker has replied to it: its chain goes on. */
void ss_queue_give_up(ss_queue *queue, const ss_task *task);
/* `last`: of the worker, which has replied to it or died of it; NULL = none. False: nothing is left. */
bool ss_queue_take(ss_queue *queue, const ss_task *last, ss_task *task);
void ss_queue_free(ss_queue *queue);

#endif
