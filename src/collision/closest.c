/* The algorithm of Gilbert, Johnson and Keerthi (1988) as in gjk.h, but for polyhedra: it ends when it
 * meets a pair of vertices again, after which the nearest points are those of known features, exact
 * but for rounding. */
#include "collision/closest.h"

#include "collision/gjk.h"

#include <string.h>

typedef struct vertex_pair {
    int a, b;
} vertex_pair;

/* A simplex, and which vertices its corners are. */
typedef struct corners {
    ss_simplex simplex;
    vertex_pair vertex[4];
} corners;

static vertex_pair support(const ss_hull_pair *pair, ss_vec3 from_a_to_b, vertex_pair last)
{
    ss_vec3 towards_a = ss_vec3_negate(ss_pair_turn_to_b(pair, from_a_to_b));
    return (vertex_pair){ss_hull_support(pair->a, from_a_to_b, last.a),
                         ss_hull_support(pair->b, towards_a, last.b)};
}

static ss_difference difference(const ss_hull_pair *pair, vertex_pair vertex)
{
    ss_vec3 a = pair->a->vertex[vertex.a], b = ss_pair_vertex_b(pair, vertex.b);
    return (ss_difference){ss_vec3_subtract(a, b), a, b};
}

static void add(corners *c, vertex_pair vertex, ss_difference point)
{
    c->vertex[c->simplex.count] = vertex;
    c->simplex.point[c->simplex.count++] = point;
}

/* Drops the corners that the nearest point does not need, which is returned. */
static ss_vec3 keep_nearest(corners *c)
{
    const corners all = *c;
    ss_vec3 nearest = ss_simplex_nearest(&c->simplex);
    for (int i = 0; i < c->simplex.count; i++)
        for (int k = 0; k < all.simplex.count; k++)
            if (!memcmp(&c->simplex.point[i], &all.simplex.point[k], sizeof(ss_difference)))
                c->vertex[i] = all.vertex[k];
    return nearest;
}

static void note(int vertex, int *list, int *count)
{
    for (int i = 0; i < *count; i++)
        if (list[i] == vertex) return;
    list[(*count)++] = vertex;
}

bool ss_hulls_closest(const ss_hull_pair *pair, ss_vec3 guess, ss_closest *closest)
{
    double rounding = 1e-15 * (pair->a->radius + pair->b->radius);
    corners now = {.simplex = {.count = 0}};
    vertex_pair last = support(pair, guess, (vertex_pair){0, 0});
    add(&now, last, difference(pair, last));
    ss_vec3 nearest = keep_nearest(&now);
    for (int step = 0; step < 200; step++) {
        double distance = ss_vec3_norm(nearest);
        if (distance <= rounding) return false;
        last = support(pair, ss_vec3_negate(nearest), last);
        ss_difference point = difference(pair, last);
        double gain = distance - ss_vec3_dot(nearest, point.w) / distance;
        bool known = false;
        for (int i = 0; i < now.simplex.count; i++)
            known |= now.vertex[i].a == last.a && now.vertex[i].b == last.b;
        if (gain <= rounding || known) break;
        corners next = now;
        add(&next, last, point);
        ss_vec3 nearer = keep_nearest(&next);
        if (next.simplex.count == 4) return false;
        if (ss_vec3_dot(nearer, nearer) >= distance * distance) break;
        now = next;
        nearest = nearer;
    }

    *closest = (ss_closest){0};
    for (int i = 0; i < now.simplex.count; i++) {
        double weight = now.simplex.weight[i];
        closest->on_a = ss_vec3_add_scaled(closest->on_a, weight, now.simplex.point[i].a);
        closest->on_b = ss_vec3_add_scaled(closest->on_b, weight, now.simplex.point[i].b);
        note(now.vertex[i].a, closest->vertex_a, &closest->count_a);
        note(now.vertex[i].b, closest->vertex_b, &closest->count_b);
    }
    closest->distance = ss_vec3_norm(ss_vec3_subtract(closest->on_b, closest->on_a));
    return true;
}
