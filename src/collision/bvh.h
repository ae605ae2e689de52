/* collision/bvh.h - a tree of boxes in one array, in the order of a walk: a node, all that is below its first
 * half, all that is below its second. A search goes through the array from front to back and jumps over what
 * is below a box that it does not meet; what comes behind a block of leaves is what has not been compared
 * with them yet, so that all pairs of a tree are found once by searching from each block onwards.
 *
 * The tree is built from scratch, by halving the range of the centres along its longest side, down to blocks
 * of a few leaves. A leaf that moves only makes the boxes above it fit; after many moves it is time to build
 * again. All pairs are found block by block, eight boxes at a time. */
#ifndef SS_COLLISION_BVH_H
#define SS_COLLISION_BVH_H

#include <stickslip/base.h>

#include "linalg/vec3.h"

#include <string.h>

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

/* What a node has instead of an item: two nodes are below it, or up to eight leaves. */
enum { SS_BVH_TWO = -1, SS_BVH_BLOCK = -2, SS_BVH_BLOCK_MOST = 8 };

/* Half a line of cache. */
typedef struct ss_bvh_node {
    float low[3]; /* rounded outwards */
    int past;     /* the next node that is not below this one */
    float high[3];
    int item; /* of a leaf; SS_BVH_TWO, SS_BVH_BLOCK */
} ss_bvh_node;

typedef struct ss_bvh {
    ss_bvh_node *nodes, *leaves; /* leaves: those that the next tree is built from */
    int *parent;
    int count, leaf_count, capacity; /* capacity: of leaves */
    int moves;                       /* since the tree was built */
} ss_bvh;

/* Room for this many leaves; what is in the tree stays. */
bool ss_bvh_reserve(ss_bvh *tree, int leaves, ss_error *err);
void ss_bvh_free(ss_bvh *tree);
/* leaf_count of them, made by ss_bvh_leaf in `leaves`, which are put in another order. */
void ss_bvh_build(ss_bvh *tree);
ss_bvh_node ss_bvh_leaf(const ss_box *box, int item);
/* The leaf at this node has another box. */
void ss_bvh_move(ss_bvh *tree, int node, const ss_box *box);
/* Every pair of leaves whose boxes meet, once; false as soon as `visit` returns that. */
typedef bool ss_bvh_visit(int item_a, int item_b, void *context);
bool ss_bvh_visit_pairs(const ss_bvh *tree, ss_bvh_visit *visit, void *context);

static inline bool ss_bvh_boxes_meet(const ss_bvh_node *a, const ss_bvh_node *b)
{
    typedef float corner __attribute__((vector_size(16)));
    typedef int mask __attribute__((vector_size(16)));
    typedef long long halves __attribute__((vector_size(16)));
    corner a_low, a_high, b_low, b_high; // the fourth numbers are no coordinates
    memcpy(&a_low, a->low, sizeof a_low);
    memcpy(&a_high, a->high, sizeof a_high);
    memcpy(&b_low, b->low, sizeof b_low);
    memcpy(&b_high, b->high, sizeof b_high);
    halves meet = (halves)(((a_low <= b_high) & (b_low <= a_high)) | (mask){0, 0, 0, -1});
    return (meet[0] & meet[1]) == -1;
}

/* The next leaf, at `node` or behind it, whose box meets this one; tree->count if there is none. */
static inline int ss_bvh_find(const ss_bvh *tree, const ss_bvh_node *box, int node)
{
    while (node < tree->count) {
        const ss_bvh_node *n = &tree->nodes[node];
        bool meets = ss_bvh_boxes_meet(n, box);
        if (meets && n->item >= 0) break;
        node = meets ? node + 1 : n->past;
    }
    return node;
}

#endif
