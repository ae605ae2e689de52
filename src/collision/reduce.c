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
    double side[SS_MANIFOLD_MOST][SS_MANIFOLD_MOST]; /* of a polygon, from one to another: see find_sides */
} patch;

/* Some places of a patch. */
typedef struct choice {
    int count;
    int place[SS_MANIFOLD_MOST];
    double value;
} choice;

/* ---- the patch -------------------------------------------------------------------------------------- */

/* Sorts by angle around the middle, and finds the deepest point again. */
static void sort_by_angle(patch *p, int deepest)
{
    double middle_x = 0.0, middle_y = 0.0;
    for (int i = 0; i < p->count; i++) {
        middle_x += p->x[i] / p->count;
        middle_y += p->y[i] / p->count;
    }

    for (int i = 0; i < p->count; i++) {
        int index = p->index[i], k = i;
        double x = p->x[i], y = p->y[i], from_x = x - middle_x, from_y = y - middle_y;

        // grows with the angle from the x axis, from -2 to 2
        double sum = fabs(from_x) + fabs(from_y), part = sum > 0.0 ? from_x / sum : 0.0;
        double angle = from_y < 0.0 ? part - 1.0 : 1.0 - part;
        for (; k > 0 && angle < p->angle[k - 1]; k--) {
            p->index[k] = p->index[k - 1];
            p->x[k] = p->x[k - 1];
            p->y[k] = p->y[k - 1];
            p->angle[k] = p->angle[k - 1];
        }
        p->index[k] = index;
        p->x[k] = x;
        p->y[k] = y;
        p->angle[k] = angle;
    }

    for (int i = 0; i < p->count; i++) {
        if (p->index[i] == deepest) p->deepest = i;
        p->reach = fmax(p->reach, hypot(p->x[i], p->y[i]));
    }
}

/* ---- the choice ------------------------------------------------------------------------------------- */

/* What the side from i to k adds to a polygon: twice the area of its triangle with the origin, and a little
 * for its length, so that points on a line, which have no area, are taken far from each other. */
static void find_sides(patch *p)
{
    for (int i = 0; i < p->count; i++) {
        for (int k = 0; k < p->count; k++) {
            double dx = p->x[k] - p->x[i], dy = p->y[k] - p->y[i], length = sqrt(dx * dx + dy * dy);
            p->side[i][k] = p->x[i] * p->y[k] - p->x[k] * p->y[i] + 1e-6 * p->reach * length;
        }
    }
}

/* The place `after` another, around the patch. */
static inline int place_after(const patch *p, int start, int after)
{
    return start + after < p->count ? start + after : start + after - p->count;
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
            int place = place_after(p, start, o);
            value[j][o] = -INFINITY;
            for (int q = 0; q < o && place != without; q++) {
                double candidate = value[j - 1][q] + p->side[place_after(p, start, q)][place];
                if (!(candidate > value[j][o])) continue;
                value[j][o] = candidate;
                from[j][o] = q;
            }
        }
    }

    /* The best last corner, and the way back from it. */
    choice c = {.count = corners, .value = -INFINITY};
    for (int o = 0; o < n; o++) {
        double closed = value[corners - 1][o] + p->side[place_after(p, start, o)][start];
        if (!(closed > c.value)) continue;
        c.value = closed;
        best = o;
    }
    for (int j = corners - 1; j >= 0; best = j > 0 ? from[j][best] : 0, j--)
        c.place[j] = place_after(p, start, best);
    return c;
}

/* The largest polygon that has the deepest point as a corner; or inside, beside a larger one around it. */
static choice choose(const patch *p, int most)
{
    choice best = best_polygon(p, p->deepest, most, -1);
    if (most <= 3) return best;

    // With everything on one side of some line through the deepest point, it is a corner of any.
    for (int i = 0; i < p->count; i++) {
        bool all = i != p->deepest;
        for (int k = 0; all && k < p->count; k++) all = p->x[i] * p->y[k] - p->x[k] * p->y[i] >= 0.0;
        if (all) return best;
    }

    for (int start = 0; start < p->count; start++) {
        if (start == p->deepest) continue;
        choice around = best_polygon(p, start, most - 1, p->deepest);
        if (!(around.value > best.value * (1.0 + 1e-9))) continue;
        best = around;
        best.place[best.count++] = p->deepest;
    }
    return best;
}

void ss_manifold_reduce(ss_manifold *manifold, int most)
{
    if (manifold->count <= most) return;
    bool done[SS_MANIFOLD_MOST] = {false}, keep[SS_MANIFOLD_MOST] = {false};
    for (;;) {
        int deepest = -1;
        for (int i = 0; i < manifold->count; i++)
            if (!done[i] && (deepest < 0 || manifold->points[i].gap < manifold->points[deepest].gap))
                deepest = i;
        if (deepest < 0) break;

        // The patch around it: the points that share its normal and are not done; they are then.
        patch p;
        ss_vec3 normal = ss_vec3_load(manifold->points[deepest].normal), t1, t2;
        ss_vec3 origin = ss_vec3_load(manifold->points[deepest].point);
        ss_vec3_tangents(normal, &t1, &t2);
        p.count = p.deepest = 0;
        p.reach = 0.0;
        for (int i = 0; i < manifold->count; i++) {
            if (done[i] || ss_vec3_dot(normal, ss_vec3_load(manifold->points[i].normal)) < 0.95) continue;
            ss_vec3 from = ss_vec3_subtract(ss_vec3_load(manifold->points[i].point), origin);
            p.index[p.count] = i;
            p.x[p.count] = ss_vec3_dot(t1, from);
            p.y[p.count++] = ss_vec3_dot(t2, from);
            done[i] = true;
        }

        // Of it all points, or the best polygon.
        for (int i = 0; i < p.count && p.count <= most; i++) keep[p.index[i]] = true;
        if (p.count <= most) continue;
        sort_by_angle(&p, deepest);
        find_sides(&p);
        choice chosen = choose(&p, most);
        for (int i = 0; i < chosen.count; i++) keep[p.index[chosen.place[i]]] = true;
    }

    int kept = 0;
    for (int i = 0; i < manifold->count; i++)
        if (keep[i]) manifold->points[kept++] = manifold->points[i];
    manifold->count = kept;
}
