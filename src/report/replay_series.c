#include "report/replay_internal.h"

#include <math.h>
#include <string.h>

void ss_replay_series_set(ss_replay_series_list *list, const char *name, const char *unit, int frame,
                          double value)
{
    if (list->out_of_memory) return;
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->items[i].name, name) != 0) continue;
        list->items[i].values[frame] = value;
        return;
    }

    // A new one: out of memory, which is for good, until it is complete.
    list->out_of_memory = true;
    if (list->count == list->capacity) {
        int larger = list->capacity ? 2 * list->capacity : 16;
        ss_replay_series *items = ss_allocate((size_t)larger, sizeof *items);
        if (!items) return;
        if (list->count) memcpy(items, list->items, (size_t)list->count * sizeof *items);
        ss_release(list->items);
        list->items = items;
        list->capacity = larger;
    }
    ss_replay_series *series = &list->items[list->count++]; // counted at once, so that it is freed
    *series = (ss_replay_series){.name = ss_text_copy(name),
                                 .unit = ss_text_copy(unit),
                                 .values = ss_allocate((size_t)list->frames, sizeof *series->values)};
    if (!series->name || !series->unit || !series->values) return;
    for (int i = 0; i < list->frames; i++) series->values[i] = NAN;
    series->values[frame] = value;
    list->out_of_memory = false;
}

void ss_replay_series_free(ss_replay_series_list *list)
{
    for (int i = 0; i < list->count; i++) {
        ss_release(list->items[i].name);
        ss_release(list->items[i].unit);
        ss_release(list->items[i].values);
    }
    ss_release(list->items);
    *list = (ss_replay_series_list){.frames = list->frames};
}
