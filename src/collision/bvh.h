/* collision/bvh.h - a dynamic tree of boxes: leaves are put where they enlarge the tree's surface least, and
 * nodes on the way up change places when that makes it smaller. */
#ifndef SS_COLLISION_BVH_H
#define SS_COLLISION_BVH_H

#include <stickslip/base.h>

#include "linalg/vec3.h"

typedef struct ss_box {
    ss_vec3 low, high;
} ss_box;

static inline bool ss_boxes_meet(const ss_box *a, const ss_box *b)
{
    return a->low.x <= b->high.x && b->low.x <= a->high.x && a->low.y <= b->high.y && b->low.y <= a->high.y &&
           a->low.z <= b->high.z && b->low.z <= a->high.z;
}

static inline bool ss_box_holds(const ss_box *outer, const ss_box *inner)
{
    return outer->low.x <= inner->low.x && outer->low.y <= inner->low.y && outer->low.z <= inner->low.z &&
           outer->high.x >= inner->high.x && outer->high.y >= inner->high.y && outer->high.z >= inner->high.z;
}

typedef struct ss_bvh_node {
    ss_box box;
    int parent;
    int child[2]; /* -1: a leaf */
    int item;
} ss_bvh_node;

typedef struct ss_bvh {
    ss_bvh_node *nodes;
    int root, spare; /* -1 = none; spare nodes hang on `parent` */
    int capacity;
} ss_bvh;

/* Starts from {.root = -1, .spare = -1}. Room for this many leaves; what is in the tree stays. */
bool ss_bvh_reserve(ss_bvh *tree, int leaves, ss_error *err);
void ss_bvh_free(ss_bvh *tree);
/* The number of the leaf, valid until it is removed. */
int ss_bvh_insert(ss_bvh *tree, const ss_box *box, int item);
void ss_bvh_remove(ss_bvh *tree, int leaf);

/* The first node of the tree in the order of a walk; then the next one, below `node` or beyond
 * it. -1 = no more. */
static inline int ss_bvh_first(const ss_bvh *tree)
{
    return tree->root;
}
int ss_bvh_next(const ss_bvh *tree, int node, bool below);

#endif
