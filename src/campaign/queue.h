/* campaign/queue.h - tasks in groups. A worker stays in its group, so that it need not read another file, and
 * helps out in the fullest one when nothing else is left. */
#ifndef SS_CAMPAIGN_QUEUE_H
#define SS_CAMPAIGN_QUEUE_H

#include "campaign/pool.h"

typedef struct ss_queue_group {
    int key, next, end; /* tasks next .. end - 1 are left */
    bool begun;
} ss_queue_group;

typedef struct ss_queue {
    ss_task *tasks;
    int count, capacity;
    ss_queue_group *groups;
    int group_count, group_capacity;
    int untouched;  /* groups before it have been begun */
    ss_task *again; /* to be done before all others */
    int again_count, again_capacity;
    bool out_of_memory; /* sticky */
} ss_queue;

/* Tasks of one group are added one after the other; each gets the number of its group. */
void ss_queue_add(ss_queue *queue, int group, const ss_task *task);
/* Once more. */
void ss_queue_again(ss_queue *queue, const ss_task *task);
/* `group`: of the worker's last task, -1 = none. False: nothing is left. */
bool ss_queue_take(ss_queue *queue, int group, ss_task *task);
void ss_queue_free(ss_queue *queue);

#endif
