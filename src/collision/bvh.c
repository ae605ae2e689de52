#include "collision/bvh.h"
#include "base/memory.h"

#include <float.h>

/* Halving ends here, and what is left is split by number: places that get closer and closer would make a
 * path of it. */
enum { DEPTH_MOST = 48 };

/* ---- memory ----------------------------------------------------------------------------------------- */

bool ss_bvh_reserve(ss_bvh *tree, int leaves, ss_error *err)
{
    if (leaves > INT32_MAX / 4)
        return ss_fail(err, SS_ERROR_RESOURCES, "collision: too many shapes (%d)", leaves);
    if (leaves <= tree->capacity) return true;
    size_t nodes = 2 * (size_t)leaves;
    ss_bvh_node *larger = ss_allocate(nodes, sizeof *larger);
    ss_bvh_node *more = ss_allocate((size_t)leaves, sizeof *more);
    int *parent = ss_allocate(nodes, sizeof *parent);
    if (!larger || !more || !parent) {
        ss_release(larger);
        ss_release(more);
        ss_release(parent);
        return ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for a tree of %d boxes", leaves);
    }

    if (tree->count) memcpy(larger, tree->nodes, (size_t)tree->count * sizeof *larger);
    if (tree->count) memcpy(parent, tree->parent, (size_t)tree->count * sizeof *parent);
    ss_release(tree->nodes);
    ss_release(tree->leaves);
    ss_release(tree->parent);
    tree->nodes = larger;
    tree->leaves = more;
    tree->parent = parent;
    tree->capacity = leaves;
    return true;
}

void ss_bvh_free(ss_bvh *tree)
{
    ss_release(tree->nodes);
    ss_release(tree->leaves);
    ss_release(tree->parent);
    *tree = (ss_bvh){0};
}

/* ---- boxes ------------------------------------------------------------------------------------------ */

/* The nearest float of a number that is lower by 2^-23 of itself is not above it; nor is it of the smallest
 * ones, whose floats are FLT_MIN 2^-23 apart. */
static float round_down(double x)
{
    return (float)(x - fabs(x) * (double)FLT_EPSILON - (double)FLT_MIN);
}

/* A box with a NaN meets nothing, and must not spoil the boxes above it: it is turned inside out. */
ss_bvh_node ss_bvh_leaf(const ss_box *box, int item)
{
    ss_bvh_node leaf = {
        .low = {round_down(box->low.x), round_down(box->low.y), round_down(box->low.z)},
        .high = {-round_down(-box->high.x), -round_down(-box->high.y), -round_down(-box->high.z)},
        .item = item,
    };
    for (int k = 0; k < 3; k++)
        if (!(leaf.low[k] <= leaf.high[k])) {
            leaf.low[k] = INFINITY;
            leaf.high[k] = -INFINITY;
        }
    return leaf;
}

/* The box of a node that is not a leaf: around the two below it. */
static void join(ss_bvh *tree, int node)
{
    const ss_bvh_node *a = &tree->nodes[node + 1], *b = &tree->nodes[a->past];
    ss_bvh_node *to = &tree->nodes[node];
    for (int k = 0; k < 3; k++) {
        to->low[k] = a->low[k] < b->low[k] ? a->low[k] : b->low[k];
        to->high[k] = a->high[k] > b->high[k] ? a->high[k] : b->high[k];
    }
}

/* ---- the tree --------------------------------------------------------------------------------------- */

/* The leaves begin .. end - 1, and the nodes above them. */
static void grow(ss_bvh *tree, int begin, int end, int parent, int depth)
{
    ss_bvh_node *leaves = tree->leaves;
    int node = tree->count++;
    tree->parent[node] = parent;
    if (end - begin == 1) {
        tree->nodes[node] = leaves[begin];
        tree->nodes[node].past = node + 1;
        return;
    }

    // The range of the centres, doubled, and the middle of its longest side.
    float low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) {
            float centre = leaves[i].low[k] + leaves[i].high[k];
            low[k] = centre < low[k] ? centre : low[k];
            high[k] = centre > high[k] ? centre : high[k];
        }
    int axis = 0;
    for (int k = 1; k < 3; k++)
        if (high[k] - low[k] > high[axis] - low[axis]) axis = k;
    float middle = low[axis] + 0.5f * (high[axis] - low[axis]);

    // What lies below the middle comes first.
    int first = begin, last = end;
    while (first < last) {
        if (leaves[first].low[axis] + leaves[first].high[axis] < middle) {
            first++;
        } else {
            last--;
            SS_SWAP(ss_bvh_node, leaves[first], leaves[last]);
        }
    }
    if (first == begin || first == end || depth >= DEPTH_MOST) first = begin + (end - begin) / 2;

    grow(tree, begin, first, node, depth + 1);
    grow(tree, first, end, node, depth + 1);
    tree->nodes[node].past = tree->count;
    tree->nodes[node].item = -1;
    join(tree, node);
}

void ss_bvh_build(ss_bvh *tree)
{
    tree->count = tree->moves = 0;
    if (tree->leaf_count > 0) grow(tree, 0, tree->leaf_count, -1, 0);
}

void ss_bvh_move(ss_bvh *tree, int node, const ss_box *box)
{
    int item = tree->nodes[node].item;
    tree->nodes[node] = ss_bvh_leaf(box, item);
    tree->nodes[node].past = node + 1;
    tree->moves++;
    for (int above = tree->parent[node]; above >= 0; above = tree->parent[above]) join(tree, above);
}
