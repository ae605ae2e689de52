/* base/partition.h - which of n things belong together: islands of bodies, parts of a mesh. Tarjan's forest
 * with halved paths: parent[i] is i itself for the one thing that stands for its class. */
#ifndef SS_BASE_PARTITION_H
#define SS_BASE_PARTITION_H

#include <stdbool.h>

/* Every thing alone. */
static inline void ss_partition_start(int *parent, int count)
{
    for (int i = 0; i < count; i++) parent[i] = i;
}

/* The one that stands for the class of i. */
static inline int ss_partition_find(int *parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* The smaller number stands for both, so that the result does not depend on the order of the calls. Returns
 * whether they were apart. */
static inline bool ss_partition_join(int *parent, int a, int b)
{
    a = ss_partition_find(parent, a);
    b = ss_partition_find(parent, b);
    parent[a > b ? a : b] = a > b ? b : a;
    return a != b;
}

#endif
