#include "model/array.h"

#include <stickslip/base.h>

#include <limits.h>
#include <string.h>

void *ss_array_grow(void *items, int count, int *capacity, size_t size)
{
    if (count < *capacity) return items;
    if (*capacity > INT_MAX / 2) return NULL;
    int larger = *capacity < 16 ? 16 : 2 * *capacity;
    void *grown = ss_allocate((size_t)larger, size);
    if (!grown) return NULL;
    if (count > 0) memcpy(grown, items, (size_t)count * size);
    ss_release(items);
    *capacity = larger;
    return grown;
}
