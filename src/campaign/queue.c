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

static void add_group(ss_queue *queue, int key)
{
    queue->groups =
        grow(queue, queue->groups, queue->group_count, &queue->group_capacity, sizeof *queue->groups);
    if (queue->out_of_memory) return;
    queue->groups[queue->group_count++] =
        (ss_queue_group){.key = key, .next = queue->count, .end = queue->count};
}

void ss_queue_add(ss_queue *queue, int group, const ss_task *task)
{
    queue->tasks = grow(queue, queue->tasks, queue->count, &queue->capacity, sizeof *queue->tasks);
    if (queue->group_count == 0 || queue->groups[queue->group_count - 1].key != group)
        add_group(queue, group);
    if (queue->out_of_memory) return;
    queue->tasks[queue->count++] = *task;
    queue->groups[queue->group_count - 1].end = queue->count;
}

void ss_queue_again(ss_queue *queue, const ss_task *task)
{
    queue->again =
        grow(queue, queue->again, queue->again_count, &queue->again_capacity, sizeof *queue->again);
    if (!queue->out_of_memory) queue->again[queue->again_count++] = *task;
}

static bool take_from(ss_queue *queue, ss_queue_group *group, ss_task *task)
{
    group->begun = true;
    *task = queue->tasks[group->next++];
    return true;
}

static ss_queue_group *find_group(ss_queue *queue, int key)
{
    for (int i = 0; i < queue->group_count; i++)
        if (queue->groups[i].key == key) return &queue->groups[i];
    return NULL;
}

static ss_queue_group *fullest(ss_queue *queue)
{
    ss_queue_group *best = NULL;
    int most = 0;
    for (int i = 0; i < queue->group_count; i++) {
        int left = queue->groups[i].end - queue->groups[i].next;
        if (left > most) best = &queue->groups[i], most = left;
    }
    return best;
}

bool ss_queue_take(ss_queue *queue, int key, ss_task *task)
{
    if (queue->again_count > 0) {
        *task = queue->again[--queue->again_count];
        return true;
    }
    ss_queue_group *group = key >= 0 ? find_group(queue, key) : NULL;
    if (group && group->next < group->end) return take_from(queue, group, task);
    while (queue->untouched < queue->group_count && queue->groups[queue->untouched].begun) queue->untouched++;
    if (queue->untouched < queue->group_count)
        return take_from(queue, &queue->groups[queue->untouched], task);
    group = fullest(queue);
    return group && take_from(queue, group, task);
}

void ss_queue_free(ss_queue *queue)
{
    ss_release(queue->tasks);
    ss_release(queue->groups);
    ss_release(queue->again);
    *queue = (ss_queue){0};
}
