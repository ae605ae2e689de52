/* model/array.h - arrays that grow by doubling. */
#ifndef SS_MODEL_ARRAY_H
#define SS_MODEL_ARRAY_H

#include <stddef.h>

/* Room for one more item: the array itself or a larger copy, the old one released; NULL when
 * out of memory. */
void *ss_array_grow(void *items, int count, int *capacity, size_t size);

#endif
