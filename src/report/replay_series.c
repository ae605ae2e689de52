#include "report/replay_internal.h"

#include <math.h>
#include <string.h>

static ss_replay_series *find(ss_replay_series_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->items[i].name, name) == 0) return &list->items[i];
    return NULL;
}

static bool make_room(ss_replay_series_list *list)
{
    if (list->count < list->capacity) return true;
    int larger = list->capacity ? 2 * list->capacity : 16;
    ss_replay_series *items = ss_allocate((size_t)larger, sizeof *items);
    if (!items) return false;
    if (list->count) memcpy(items, list->items, (size_t)list->count * sizeof *items);
    ss_release(list->items);
    list->items = items;
    list->capacity = larger;
    return true;
}

static ss_replay_series *add(ss_replay_series_list *list, const char *name, const char *unit)
{
    if (!make_room(list)) return NULL;
    ss_replay_series *series = &list->items[list->count++]; // counted at once, so that it is freed
    *series = (ss_replay_series){.name = ss_text_copy(name),
                                 .unit = ss_text_copy(unit),
                                 .values = ss_allocate((size_t)list->frames, sizeof *series->values)};
    if (!series->name || !series->unit || !series->values) return NULL;
    for (int i = 0; i < list->frames; i++) series->values[i] = NAN;
    return series;
}

void ss_replay_series_set(ss_replay_series_list *list, const char *name, const char *unit, int frame,
                          double value)
{
    if (list->out_of_memory) return;
    ss_replay_series *series = find(list, name);
    if (!series) series = add(list, name, unit);
    if (series)
        series->values[frame] = value;
    else
        list->out_of_memory = true;
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
