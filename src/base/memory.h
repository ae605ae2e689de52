/* base/memory.h - allocations that are not set, and several at once. */
#ifndef SS_BASE_MEMORY_H
#define SS_BASE_MEMORY_H

#include <stickslip/base.h>

/* As ss_allocate, but with anything in it. */
void *ss_allocate_unset(size_t bytes);
/* As ss_arena_take, but with anything in it. */
void *ss_arena_take_unset(ss_arena *arena, size_t count, size_t size, const char *what);

/* Vectors of n doubles, all zero: each pointer of the list, which ends with NULL, is set to one.
 * False when out of memory. */
bool ss_arena_take_vectors(ss_arena *arena, size_t n, const char *what, double **const list[]);

/* Two variables of a type change places, such as a list and the one before. */
#define SS_SWAP(type, a, b) \
    do {                    \
        type held_ = (a);   \
        (a) = (b);          \
        (b) = held_;        \
    } while (0)

#endif
