#include "plugin/plugin_set.h"

bool ss_plugin_set_open(const ss_option_list *paths, ss_plugin_set *set, ss_error *err)
{
    *set = (ss_plugin_set){0};
    for (int i = 0; i < paths->count; i++) {
        set->files[i] = ss_plugin_open(paths->items[i], err);
        if (!set->files[i]) {
            ss_plugin_set_close(set);
            return false;
        }
        set->count++;
    }
    return true;
}

void ss_plugin_set_close(ss_plugin_set *set)
{
    while (set->count > 0) ss_plugin_close(set->files[--set->count]);
}

int ss_plugin_set_index(const ss_plugin_set *set, const void *item)
{
    const ss_extension *from = ss_extension_of(item);
    for (int i = 0; from && i < set->count; i++)
        if (ss_plugin_contents(set->files[i]) == from) return i;
    return -1;
}
