/* base/memory.h - memory for who fills it himself. */
#ifndef SS_BASE_MEMORY_H
#define SS_BASE_MEMORY_H

#include <stickslip/base.h>

/* As ss_allocate, but with anything in it. */
void *ss_allocate_unset(size_t bytes);
/* As ss_arena_take, but with anything in it. */
void *ss_arena_take_unset(ss_arena *arena, size_t count, size_t size, const char *what);

#endif
