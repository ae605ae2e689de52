#include "campaign/queue.h"

#include <string.h>

/* Room for one more; what was there is as it was when there is no memory (sticky). */
static void *grow(ss_queue *queue, void *items, int count, int *capacity, size_t size)
{
    if (count < *capacity) return items;
    int wanted = *capacity ? 2 * *capacity : 64;
    void *grown = ss_allocate((size_t)wanted, size);
    if (!grown) {
        queue->out_of_memory = true;
        return items;
    }
    if (count) memcpy(grown, items, (size_t)count * size);
    ss_release(items);
    *capacity = wanted;
    return grown;
}

void ss_queue_add(ss_queue *queue, int group, const ss_task *task)
{
    queue->tasks = grow(queue, queue->tasks, queue->count, &queue->capacity, sizeof *queue->tasks);
    if (queue->group_count == 0 || queue->groups[queue->group_count - 1].key != group) {
        queue->groups =
            grow(queue, queue->groups, queue->group_count, &queue->group_capacity, sizeof *queue->groups);
        while (group >= queue->place_capacity && !queue->out_of_memory)
            queue->places = grow(queue, queue->places, queue->place_capacity, &queue->place_capacity,
                                 sizeof *queue->places);
        if (!queue->out_of_memory) {
            queue->groups[queue->group_count++] =
                (ss_queue_group){.key = group, .next = queue->count, .end = queue->count};
            queue->places[group] = queue->group_count;
        }
    }
    if (queue->out_of_memory) return;

    queue->tasks[queue->count] = *task;
    queue->tasks[queue->count++].group = group;
    queue->groups[queue->group_count - 1].end = queue->count;
}

void ss_queue_add_link(ss_queue *queue, int group, const ss_task *task)
{
    ss_queue_add(queue, group, task);
    if (!queue->out_of_memory) queue->groups[queue->group_count - 1].chain = true;
}

/* NULL: there is none of this key. */
static ss_queue_group *group_of(ss_queue *queue, int key)
{
    int place = key >= 0 && key < queue->place_capacity ? queue->places[key] : 0;
    return place > 0 ? &queue->groups[place - 1] : NULL;
}

/* The chain that the task is out of; NULL: none. A task that was tried again is another one than before. */
static ss_queue_group *chain_of(ss_queue *queue, const ss_task *task)
{
    ss_queue_group *group = group_of(queue, task->group);
    bool is_out = group && group->chain && group->is_out && group->out.problem == task->problem &&
                  group->out.fresh == task->fresh && group->out.plain == task->plain;
    return is_out ? group : NULL;
}

void ss_queue_give_up(ss_queue *queue, const ss_task *task)
{
    ss_queue_group *chain = chain_of(queue, task);
    if (chain) chain->is_out = false;
}

void ss_queue_again(ss_queue *queue, const ss_task *task)
{
    queue->again =
        grow(queue, queue->again, queue->again_count, &queue->again_capacity, sizeof *queue->again);
    if (!queue->out_of_memory) queue->again[queue->again_count++] = *task;
    ss_queue_group *group = group_of(queue, task->group);
    if (group && group->is_out) group->out = *task;
}

static bool take_from(ss_queue *queue, ss_queue_group *group, ss_task *task)
{
    group->begun = true;
    *task = queue->tasks[group->next++];
    group->is_out = group->chain;
    group->out = *task;
    return true;
}

bool ss_queue_take(ss_queue *queue, const ss_task *last, ss_task *task)
{
    ss_queue_group *own = last ? group_of(queue, last->group) : NULL;
    if (last) ss_queue_give_up(queue, last); // replied to; one that is tried again is out under another name
    if (queue->again_count > 0) {
        *task = queue->again[--queue->again_count];
        return true;
    }

    // Its own group, whose file the worker has open.
    if (own && own->next < own->end && !own->is_out) return take_from(queue, own, task);

    // One that no worker has begun.
    while (queue->untouched < queue->group_count && queue->groups[queue->untouched].begun) queue->untouched++;
    if (queue->untouched < queue->group_count)
        return take_from(queue, &queue->groups[queue->untouched], task);

    // The one in which most is left.
    ss_queue_group *fullest = NULL;
    int most = 0;
    for (int i = 0; i < queue->group_count; i++) {
        int left = queue->groups[i].is_out ? 0 : queue->groups[i].end - queue->groups[i].next;
        if (left > most) fullest = &queue->groups[i], most = left;
    }
    return fullest && take_from(queue, fullest, task);
}

void ss_queue_free(ss_queue *queue)
{
    ss_release(queue->tasks);
    ss_release(queue->groups);
    ss_release(queue->places);
    ss_release(queue->again);
    *queue = (ss_queue){0};
}
