/* base/memory.h - memory for who fills it himself. */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stddef.h>

/* As ss_allocate, but with anything in it. */
void *ss_allocate_unset(size_t bytes);

#endif
