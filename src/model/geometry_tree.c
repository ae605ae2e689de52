/* A tree of boxes over triangles: halves by the middles of the triangles along the longest axis. */
#include "model/geometry_parts.h"

#include <math.h>

enum { LEAF = 4 }; /* triangles at most */

typedef struct planting {
    ss_triangles *t;
    const ss_vec3 *middle; /* three times the centre of each triangle */
} planting;

/* ---- boxes ------------------------------------------------------------------------------------------ */

static float round_down(double x)
{
    float f = (float)x;
    return (double)f > x ? nextafterf(f, -INFINITY) : f;
}

static float round_up(double x)
{
    float f = (float)x;
    return (double)f < x ? nextafterf(f, INFINITY) : f;
}

/* Children come after their parents: from the end to the root. */
void ss_triangles_refit(ss_triangles *t)
{
    for (int n = t->node_count - 1; n >= 0; n--) {
        ss_tree_node *node = &t->node[n];

        /* The box of a node that is no leaf holds those of its children. */
        if (node->count == 0) {
            const ss_tree_node *a = &t->node[node->first], *b = a + 1;
            for (int k = 0; k < 3; k++) {
                node->low[k] = fminf(a->low[k], b->low[k]);
                node->high[k] = fmaxf(a->high[k], b->high[k]);
            }
            continue;
        }

        double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
        for (int i = node->first; i < node->first + node->count; i++)
            for (int c = 0; c < 3; c++) {
                ss_vec3 v = t->vertex[t->corner[t->order[i]][c]];
                const double x[3] = {v.x, v.y, v.z};
                for (int k = 0; k < 3; k++) {
                    low[k] = fmin(low[k], x[k]);
                    high[k] = fmax(high[k], x[k]);
                }
            }
        for (int k = 0; k < 3; k++) {
            node->low[k] = round_down(low[k]);
            node->high[k] = round_up(high[k]);
        }
    }
}

/* ---- splitting -------------------------------------------------------------------------------------- */

static double along(const planting *p, int triangle, int axis)
{
    ss_vec3 m = p->middle[triangle];
    return axis == 0 ? m.x : axis == 1 ? m.y : m.z;
}

/* Ties go by number: the tree does not depend on how the sort came about. */
static bool comes_before(const planting *p, int a, int b, int axis)
{
    double x = along(p, a, axis), y = along(p, b, axis);
    return x < y || (x == y && a < b);
}

static int longest_axis(const planting *p, int first, int count)
{
    int axis = 0;
    double longest = -1.0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int i = first; i < first + count; i++) {
            double x = along(p, p->t->order[i], k);
            low = fmin(low, x);
            high = fmax(high, x);
        }
        if (high - low > longest) {
            longest = high - low;
            axis = k;
        }
    }
    return axis;
}

static void swap(int *a, int *b)
{
    int kept = *a;
    *a = *b;
    *b = kept;
}

/* Hoare's selection: afterwards order[first .. middle-1] come before order[middle ..]. The middle element of
 * three as pivot keeps sorted input fast. */
static void select_middle(planting *p, int first, int last, int middle, int axis)
{
    int *order = p->t->order;
    while (first < last) {
        int centre = first + (last - first) / 2;
        if (comes_before(p, order[centre], order[first], axis)) swap(&order[centre], &order[first]);
        if (comes_before(p, order[last], order[first], axis)) swap(&order[last], &order[first]);
        if (comes_before(p, order[last], order[centre], axis)) swap(&order[last], &order[centre]);
        int pivot = order[centre], i = first, j = last;
        while (i <= j) {
            while (comes_before(p, order[i], pivot, axis)) i++;
            while (comes_before(p, pivot, order[j], axis)) j--;
            if (i <= j) swap(&order[i++], &order[j--]);
        }
        if (middle <= j)
            last = j;
        else if (middle >= i)
            first = i;
        else
            return;
    }
}

bool ss_triangles_plant(ss_triangles *t, ss_error *err)
{
    size_t n = (size_t)t->count;
    ss_vec3 *middle = ss_allocate(n, sizeof *middle);
    t->order = ss_allocate(n, sizeof *t->order);
    t->node = ss_allocate(2 * n, sizeof *t->node); // a leaf has at least one triangle
    if (!middle || !t->order || !t->node) {
        ss_release(middle);
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a tree over %d triangles", t->count);
    }

    for (int i = 0; i < t->count; i++) {
        const int *corner = t->corner[i];
        t->order[i] = i;
        middle[i] =
            ss_vec3_add(t->vertex[corner[0]], ss_vec3_add(t->vertex[corner[1]], t->vertex[corner[2]]));
    }

    /* Nodes are split in the order they were made: the array itself is the list of what is to be done. */
    planting p = {t, middle};
    t->node[0] = (ss_tree_node){.first = 0, .count = t->count};
    t->node_count = 1;
    for (int i = 0; i < t->node_count; i++) {
        int first = t->node[i].first, count = t->node[i].count, half = count / 2;
        if (count <= LEAF) continue;
        select_middle(&p, first, first + count - 1, first + half, longest_axis(&p, first, count));
        t->node[i].first = t->node_count;
        t->node[i].count = 0;
        t->node[t->node_count++] = (ss_tree_node){.first = first, .count = half};
        t->node[t->node_count++] = (ss_tree_node){.first = first + half, .count = count - half};
    }
    ss_release(middle);

    ss_triangles_refit(t);
    return true;
}
