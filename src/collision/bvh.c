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

/* The box of a node that is not a leaf: around those below it. */
static void join(ss_bvh *tree, int node)
{
    ss_bvh_node *to = &tree->nodes[node];
    for (int k = 0; k < 3; k++) {
        to->low[k] = INFINITY;
        to->high[k] = -INFINITY;
    }
    for (int below = node + 1; below < to->past; below = tree->nodes[below].past) {
        const ss_bvh_node *a = &tree->nodes[below];
        for (int k = 0; k < 3; k++) {
            to->low[k] = a->low[k] < to->low[k] ? a->low[k] : to->low[k];
            to->high[k] = a->high[k] > to->high[k] ? a->high[k] : to->high[k];
        }
    }
}

/* ---- the tree --------------------------------------------------------------------------------------- */

static int add_leaf(ss_bvh *tree, const ss_bvh_node *leaf, int parent)
{
    int node = tree->count++;
    tree->parent[node] = parent;
    tree->nodes[node] = *leaf;
    tree->nodes[node].past = node + 1;
    return node;
}

/* The leaves begin .. end - 1, and the nodes above them. */
static void grow(ss_bvh *tree, int begin, int end, int parent, int depth)
{
    ss_bvh_node *leaves = tree->leaves;
    if (end - begin == 1) {
        add_leaf(tree, &leaves[begin], parent);
        return;
    }
    int node = tree->count++;
    tree->parent[node] = parent;
    tree->nodes[node].item = end - begin > SS_BVH_BLOCK_MOST ? SS_BVH_TWO : SS_BVH_BLOCK;
    if (end - begin <= SS_BVH_BLOCK_MOST) {
        for (int i = begin; i < end; i++) add_leaf(tree, &leaves[i], node);
        tree->nodes[node].past = tree->count;
        join(tree, node);
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

    // What lies below the middle comes first: of the others the foremost changes places with each that is
    // met, without a branch, which half of them would take.
    int first = begin;
    for (int i = begin; i < end; i++) {
        ss_bvh_node leaf = leaves[i];
        leaves[i] = leaves[first];
        leaves[first] = leaf;
        first += leaf.low[axis] + leaf.high[axis] < middle;
    }
    if (first == begin || first == end || depth >= DEPTH_MOST) first = begin + (end - begin) / 2;

    grow(tree, begin, first, node, depth + 1);
    grow(tree, first, end, node, depth + 1);
    tree->nodes[node].past = tree->count;
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

/* ---- all pairs -------------------------------------------------------------------------------------- */

/* The leaves of a block, or a single one, number by number. What is left of the eight is NaN, which meets
 * nothing, not even a box without end. */
typedef struct eight {
    float low[3][SS_BVH_BLOCK_MOST], high[3][SS_BVH_BLOCK_MOST];
    int item[SS_BVH_BLOCK_MOST];
} eight;

static bool is_block(const ss_bvh_node *node)
{
    return node->item != SS_BVH_TWO;
}

static int first_leaf(const ss_bvh *tree, int block)
{
    return tree->nodes[block].item == SS_BVH_BLOCK ? block + 1 : block;
}

static void gather(const ss_bvh *tree, int block, eight *to)
{
    int first = first_leaf(tree, block), count = tree->nodes[block].past - first;
    for (int i = 0; i < SS_BVH_BLOCK_MOST; i++) {
        const ss_bvh_node *leaf = &tree->nodes[first + (i < count ? i : 0)];
        for (int k = 0; k < 3; k++) {
            to->low[k][i] = i < count ? leaf->low[k] : NAN;
            to->high[k][i] = i < count ? leaf->high[k] : NAN;
        }
        to->item[i] = i < count ? leaf->item : -1;
    }
}

/* A bit for each of the eight that meets the box. */
static inline unsigned meeting(const eight *all, const ss_bvh_node *box)
{
    typedef float four __attribute__((vector_size(16)));
    typedef int32_t mask __attribute__((vector_size(16)));
    typedef uint64_t halves __attribute__((vector_size(16)));
    mask found = {0, 0, 0, 0}, bit = {1, 2, 4, 8};
#pragma GCC unroll 2
    for (int i = 0; i < SS_BVH_BLOCK_MOST; i += 4, bit <<= 4) {
        mask meet = {-1, -1, -1, -1};
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++) {
            four low, high;
            memcpy(&low, &all->low[k][i], sizeof low);
            memcpy(&high, &all->high[k][i], sizeof high);
            meet &= (low <= box->high[k]) & (high >= box->low[k]);
        }
        found |= meet & bit;
    }
    halves both = (halves)found;
    uint64_t bits = both[0] | both[1];
    return (unsigned)(bits | bits >> 32);
}

/* Those of the eight that meet this leaf, but for the first few. */
static bool visit_leaf(const eight *all, const ss_bvh_node *leaf, int from, ss_bvh_visit *visit,
                       void *context)
{
    for (unsigned left = meeting(all, leaf) & (~0u << from); left; left &= left - 1)
        if (!visit(all->item[__builtin_ctz(left)], leaf->item, context)) return false;
    return true;
}

bool ss_bvh_visit_pairs(const ss_bvh *tree, ss_bvh_visit *visit, void *context)
{
    const ss_bvh_node *nodes = tree->nodes;
    for (int block = 0; block < tree->count;
         block = is_block(&nodes[block]) ? nodes[block].past : block + 1) {
        if (!is_block(&nodes[block])) continue;
        eight all;
        gather(tree, block, &all);
        int first = first_leaf(tree, block);
        for (int leaf = first; leaf < nodes[block].past; leaf++)
            if (!visit_leaf(&all, &nodes[leaf], leaf - first + 1, visit, context)) return false;

        // What comes behind the block.
        for (int node = nodes[block].past; node < tree->count;) {
            bool meets = ss_bvh_boxes_meet(&nodes[node], &nodes[block]);
            if (meets && !is_block(&nodes[node])) {
                node++;
                continue;
            }
            int past = nodes[node].past;
            if (meets && meeting(&all, &nodes[node])) {
                for (int leaf = first_leaf(tree, node); leaf < past; leaf++)
                    if (!visit_leaf(&all, &nodes[leaf], 0, visit, context)) return false;
            }
            node = past;
        }
    }
    return true;
}
