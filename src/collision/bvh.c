#include "collision/bvh.h"
#include "base/assert.h"

#include <string.h>

#define NONE (-1)

static ss_box join(const ss_box *a, const ss_box *b)
{
    return (ss_box){{fmin(a->low.x, b->low.x), fmin(a->low.y, b->low.y), fmin(a->low.z, b->low.z)},
                    {fmax(a->high.x, b->high.x), fmax(a->high.y, b->high.y), fmax(a->high.z, b->high.z)}};
}

/* Half the surface. */
static double area(const ss_box *box)
{
    double x = box->high.x - box->low.x, y = box->high.y - box->low.y, z = box->high.z - box->low.z;
    return x * y + y * z + z * x;
}

static double joint_area(const ss_box *a, const ss_box *b)
{
    ss_box both = join(a, b);
    return area(&both);
}

/* ---- memory ----------------------------------------------------------------------------------------- */

bool ss_bvh_reserve(ss_bvh *tree, int leaves, ss_error *err)
{
    if (leaves > INT32_MAX / 4)
        return ss_fail(err, SS_ERROR_RESOURCES, "collision: too many shapes (%d)", leaves);
    int wanted = 2 * leaves;
    if (wanted <= tree->capacity) return true;
    ss_bvh_node *larger = ss_allocate((size_t)wanted, sizeof *larger);
    if (!larger)
        return ss_fail(err, SS_ERROR_RESOURCES, "collision: no memory for a tree of %d boxes", wanted);
    if (tree->capacity) memcpy(larger, tree->nodes, (size_t)tree->capacity * sizeof *larger);
    for (int i = wanted - 1; i >= tree->capacity; i--) {
        larger[i].parent = tree->spare;
        tree->spare = i;
    }
    ss_release(tree->nodes);
    tree->nodes = larger;
    tree->capacity = wanted;
    return true;
}

void ss_bvh_free(ss_bvh *tree)
{
    ss_release(tree->nodes);
    *tree = (ss_bvh){.root = NONE, .spare = NONE};
}

static int take(ss_bvh *tree)
{
    SS_ASSERT(tree->spare != NONE);
    int node = tree->spare;
    tree->spare = tree->nodes[node].parent;
    return node;
}

static void give_back(ss_bvh *tree, int node)
{
    tree->nodes[node].parent = tree->spare;
    tree->spare = node;
}

/* ---- shape of the tree ------------------------------------------------------------------------------ */

static bool is_leaf(const ss_bvh_node *node)
{
    return node->child[0] == NONE;
}

static void refit(ss_bvh *tree, int node)
{
    ss_bvh_node *n = &tree->nodes[node];
    n->box = join(&tree->nodes[n->child[0]].box, &tree->nodes[n->child[1]].box);
}

static void hang(ss_bvh *tree, int parent, int place, int child)
{
    tree->nodes[parent].child[place] = child;
    tree->nodes[child].parent = parent;
}

/* A child of `node` and a child of the other child change places when that makes the other
 * child's box smaller. */
static void rotate(ss_bvh *tree, int node)
{
    ss_bvh_node *nodes = tree->nodes;
    double best = 0.0;
    int best_place = NONE, best_grandchild = NONE;
    for (int place = 0; place < 2; place++) {
        int mover = nodes[node].child[place], other = nodes[node].child[1 - place];
        if (is_leaf(&nodes[other])) continue;
        double now = area(&nodes[other].box);
        for (int g = 0; g < 2; g++) {
            int stays = nodes[other].child[1 - g];
            double saved = now - joint_area(&nodes[mover].box, &nodes[stays].box);
            if (saved <= best) continue;
            best = saved;
            best_place = place;
            best_grandchild = g;
        }
    }
    if (best_place == NONE) return;

    int mover = nodes[node].child[best_place], other = nodes[node].child[1 - best_place];
    int rises = nodes[other].child[best_grandchild];
    hang(tree, other, best_grandchild, mover);
    hang(tree, node, best_place, rises);
    refit(tree, other);
}

static void refit_up(ss_bvh *tree, int node)
{
    for (; node != NONE; node = tree->nodes[node].parent) {
        refit(tree, node);
        rotate(tree, node);
    }
}

/* What it costs at least to go down to a child: how much it grows, or the new node when it is a leaf. */
static double descent_cost(const ss_bvh_node *child, const ss_box *box)
{
    double joined = joint_area(&child->box, box);
    return is_leaf(child) ? joined : joined - area(&child->box);
}

int ss_bvh_insert(ss_bvh *tree, const ss_box *box, int item)
{
    int leaf = take(tree);
    tree->nodes[leaf] = (ss_bvh_node){.box = *box, .parent = NONE, .child = {NONE, NONE}, .item = item};
    if (tree->root == NONE) {
        tree->root = leaf;
        return leaf;
    }

    /* Down to the sibling: while a child costs less than a new node here would. */
    int sibling = tree->root;
    while (!is_leaf(&tree->nodes[sibling])) {
        const ss_bvh_node *n = &tree->nodes[sibling];
        double joined = joint_area(&n->box, box), growth = joined - area(&n->box);
        double left = growth + descent_cost(&tree->nodes[n->child[0]], box);
        double right = growth + descent_cost(&tree->nodes[n->child[1]], box);
        if (joined < left && joined < right) break;
        sibling = n->child[left <= right ? 0 : 1];
    }

    int above = tree->nodes[sibling].parent, made = take(tree);
    tree->nodes[made].parent = above;
    tree->nodes[made].item = NONE;
    if (above == NONE)
        tree->root = made;
    else
        tree->nodes[above].child[tree->nodes[above].child[1] == sibling] = made;
    hang(tree, made, 0, sibling);
    hang(tree, made, 1, leaf);
    refit_up(tree, made);
    return leaf;
}

void ss_bvh_remove(ss_bvh *tree, int leaf)
{
    int parent = tree->nodes[leaf].parent;
    give_back(tree, leaf);
    if (parent == NONE) {
        tree->root = NONE;
        return;
    }
    int sibling = tree->nodes[parent].child[tree->nodes[parent].child[0] == leaf];
    int above = tree->nodes[parent].parent;
    tree->nodes[sibling].parent = above;
    if (above == NONE)
        tree->root = sibling;
    else
        tree->nodes[above].child[tree->nodes[above].child[1] == parent] = sibling;
    give_back(tree, parent);
    refit_up(tree, above);
}

int ss_bvh_next(const ss_bvh *tree, int node, bool below)
{
    const ss_bvh_node *nodes = tree->nodes;
    if (below && !is_leaf(&nodes[node])) return nodes[node].child[0];
    for (int parent = nodes[node].parent; parent != NONE; node = parent, parent = nodes[node].parent)
        if (nodes[parent].child[0] == node) return nodes[parent].child[1];
    return NONE;
}
