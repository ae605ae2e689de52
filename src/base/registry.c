#include "base/registry.h"

#include <stdatomic.h>

/* The slots below `count` always hold a pointer, so that who reads while something is removed may see an item
 * twice or miss one, but never nothing. */
static struct list {
    atomic_int count;
    _Atomic(const void *) items[SS_REGISTERED_MOST];
} lists[SS_REGISTERED_KINDS];

int ss_registered_count(ss_registered_kind kind)
{
    return atomic_load_explicit(&lists[kind].count, memory_order_acquire);
}

const void *ss_registered_at(ss_registered_kind kind, int index)
{
    if (index < 0 || index >= ss_registered_count(kind)) return NULL;
    return atomic_load_explicit(&lists[kind].items[index], memory_order_acquire);
}

bool ss_is_registered(ss_registered_kind kind, const void *item)
{
    for (int i = 0; i < ss_registered_count(kind); i++) {
        if (ss_registered_at(kind, i) == item) return true;
    }
    return false;
}

bool ss_registered_add(ss_registered_kind kind, const void *item)
{
    int count = ss_registered_count(kind);
    if (count == SS_REGISTERED_MOST) return false;
    atomic_store_explicit(&lists[kind].items[count], item, memory_order_release);
    atomic_store_explicit(&lists[kind].count, count + 1, memory_order_release);
    return true;
}

void ss_registered_remove(ss_registered_kind kind, const void *item)
{
    int count = ss_registered_count(kind), at = 0;
    while (at < count && ss_registered_at(kind, at) != item) at++;
    if (at == count) return;
    for (; at + 1 < count; at++)
        atomic_store_explicit(&lists[kind].items[at], ss_registered_at(kind, at + 1), memory_order_release);
    atomic_store_explicit(&lists[kind].count, count - 1, memory_order_release);
}
