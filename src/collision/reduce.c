#include "collision/reduce.h"

#include "linalg/vec3.h"

#include <math.h>

/* Points of one normal, projected on the plane across it, sorted by angle around their middle: in this order
 * any of them that lie on their convex hull are the corners of a polygon. The deepest one is at 0. */
typedef struct patch {
    int count, deepest; /* its place in the arrays */
    double reach;       /* distance of the farthest one from it */
    int index[SS_MANIFOLD_MOST];
    double x[SS_MANIFOLD_MOST], y[SS_MANIFOLD_MOST], angle[SS_MANIFOLD_MOST];
} patch;

/* Some places of a patch. */
typedef struct choice {
    int count;
    int place[SS_MANIFOLD_MOST];
    double value;
} choice;

/* ---- the patch -------------------------------------------------------------------------------------- */

static void exchange(patch *p, int i, int k)
{
    int index = p->index[i];
    double x = p->x[i], y = p->y[i], angle = p->angle[i];
    p->index[i] = p->index[k], p->x[i] = p->x[k], p->y[i] = p->y[k], p->angle[i] = p->angle[k];
    p->index[k] = index, p->x[k] = x, p->y[k] = y, p->angle[k] = angle;
}

/* Grows with the angle from the x axis, from -2 to 2. */
static double turn_of(double x, double y)
{
    double sum = fabs(x) + fabs(y), part = sum > 0.0 ? x / sum : 0.0;
    return y < 0.0 ? part - 1.0 : 1.0 - part;
}

static void sort_by_angle(patch *p)
{
    double middle_x = 0.0, middle_y = 0.0;
    for (int i = 0; i < p->count; i++) {
        middle_x += p->x[i] / p->count;
        middle_y += p->y[i] / p->count;
    }
    for (int i = 0; i < p->count; i++) p->angle[i] = turn_of(p->x[i] - middle_x, p->y[i] - middle_y);
    for (int i = 1; i < p->count; i++)
        for (int k = i; k > 0 && p->angle[k] < p->angle[k - 1]; k--) exchange(p, k, k - 1);
}

/* The points that share the normal of point `first`, the deepest, and are not done; they are then. */
static void collect(const ss_manifold *manifold, int first, bool *done, patch *p)
{
    ss_vec3 normal = ss_vec3_load(manifold->points[first].normal), t1, t2;
    ss_vec3 origin = ss_vec3_load(manifold->points[first].point);
    ss_vec3_tangents(normal, &t1, &t2);
    p->count = p->deepest = 0;
    p->reach = 0.0;
    for (int i = 0; i < manifold->count; i++) {
        if (done[i] || ss_vec3_dot(normal, ss_vec3_load(manifold->points[i].normal)) < 0.95) continue;
        ss_vec3 from = ss_vec3_subtract(ss_vec3_load(manifold->points[i].point), origin);
        p->index[p->count] = i;
        p->x[p->count] = ss_vec3_dot(t1, from);
        p->y[p->count++] = ss_vec3_dot(t2, from);
        done[i] = true;
    }
}

/* ---- the choice ------------------------------------------------------------------------------------- */

/* What the side from i to k adds to a polygon: twice the area of its triangle with the origin, and a little
 * for its length, so that points on a line, which have no area, are taken far from each other. */
static double side(const patch *p, int i, int k)
{
    double dx = p->x[k] - p->x[i], dy = p->y[k] - p->y[i], length = sqrt(dx * dx + dy * dy);
    return p->x[i] * p->y[k] - p->x[k] * p->y[i] + 1e-6 * p->reach * length;
}

/* The best polygon of that number of corners that begins at `start` and leaves out `without` (-1: none),
 * by dynamic programming over its last corner. */
static choice best_polygon(const patch *p, int start, int corners, int without)
{
    double value[SS_MANIFOLD_MOST][SS_MANIFOLD_MOST];
    int from[SS_MANIFOLD_MOST][SS_MANIFOLD_MOST], best = 0, n = p->count;
    for (int o = 0; o < n; o++) value[0][o] = o == 0 ? 0.0 : -INFINITY; // o: places after start
    for (int j = 1; j < corners; j++) {
        for (int o = 0; o < n; o++) {
            int place = (start + o) % n;
            value[j][o] = -INFINITY;
            for (int q = 0; q < o && place != without; q++) {
                double candidate = value[j - 1][q] + side(p, (start + q) % n, place);
                if (!(candidate > value[j][o])) continue;
                value[j][o] = candidate;
                from[j][o] = q;
            }
        }
    }
    choice c = {.count = corners, .value = -INFINITY};
    for (int o = 0; o < n; o++) {
        double closed = value[corners - 1][o] + side(p, (start + o) % n, start);
        if (!(closed > c.value)) continue;
        c.value = closed;
        best = o;
    }
    for (int j = corners - 1; j >= 0; best = j > 0 ? from[j][best] : 0, j--) c.place[j] = (start + best) % n;
    return c;
}

/* Whether everything is on one side of some line through the deepest point. */
static bool deepest_is_corner(const patch *p)
{
    for (int i = 0; i < p->count; i++) {
        bool all = i != p->deepest;
        for (int k = 0; all && k < p->count; k++) all = p->x[i] * p->y[k] - p->x[k] * p->y[i] >= 0.0;
        if (all) return true;
    }
    return false;
}

static choice choose(const patch *p, int most)
{
    choice best = best_polygon(p, p->deepest, most, -1);
    if (most <= 3 || deepest_is_corner(p)) return best;
    for (int start = 0; start < p->count; start++) {
        if (start == p->deepest) continue;
        choice around = best_polygon(p, start, most - 1, p->deepest);
        if (!(around.value > best.value * (1.0 + 1e-9))) continue;
        best = around;
        best.place[best.count++] = p->deepest;
    }
    return best;
}

static int deepest_of(const ss_manifold *manifold, const bool *done)
{
    int best = -1;
    for (int i = 0; i < manifold->count; i++)
        if (!done[i] && (best < 0 || manifold->points[i].gap < manifold->points[best].gap)) best = i;
    return best;
}

static void reduce_patch(const ss_manifold *manifold, int deepest, int most, bool *done, bool *keep)
{
    patch p;
    collect(manifold, deepest, done, &p);
    if (p.count <= most) {
        for (int i = 0; i < p.count; i++) keep[p.index[i]] = true;
        return;
    }
    sort_by_angle(&p);
    for (int i = 0; i < p.count; i++) {
        if (p.index[i] == deepest) p.deepest = i;
        p.reach = fmax(p.reach, hypot(p.x[i], p.y[i]));
    }
    choice chosen = choose(&p, most);
    for (int i = 0; i < chosen.count; i++) keep[p.index[chosen.place[i]]] = true;
}

void ss_manifold_reduce(ss_manifold *manifold, int most)
{
    if (manifold->count <= most) return;
    bool done[SS_MANIFOLD_MOST] = {false}, keep[SS_MANIFOLD_MOST] = {false};
    for (int first; (first = deepest_of(manifold, done)) >= 0;)
        reduce_patch(manifold, first, most, done, keep);
    int kept = 0;
    for (int i = 0; i < manifold->count; i++)
        if (keep[i]) manifold->points[kept++] = manifold->points[i];
    manifold->count = kept;
}
