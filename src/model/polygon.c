/* Cutting polygons into triangles: a fan where that is right, ears elsewhere. */
#include "model/mesh_read.h"

#include "linalg/vec3.h"

enum { MOST_DENTED = 2000 }; /* corners: cutting ears off takes the square of their number */

/* ---- fans ------------------------------------------------------------------------------------------- */

static ss_vec3 corner_at(const double (*vertex)[3], const int *corner, int k)
{
    return ss_vec3_load(vertex[corner[k]]);
}

/* Twice the area vector of the fan triangle (0, k, k + 1). */
static ss_vec3 fan_area(const double (*vertex)[3], const int *corner, int k)
{
    ss_vec3 origin = corner_at(vertex, corner, 0);
    return ss_vec3_cross(ss_vec3_subtract(corner_at(vertex, corner, k), origin),
                         ss_vec3_subtract(corner_at(vertex, corner, k + 1), origin));
}

/* All triangles of the fan turn the same way and have an area. */
static bool fan_is_good(const double (*vertex)[3], const int *corner, int corners, ss_vec3 normal)
{
    double largest = 0.0;
    for (int k = 1; k + 1 < corners; k++)
        largest = fmax(largest, ss_vec3_dot(normal, fan_area(vertex, corner, k)));
    for (int k = 1; k + 1 < corners; k++)
        if (!(ss_vec3_dot(normal, fan_area(vertex, corner, k)) > 1e-12 * largest)) return false;
    return true;
}

/* ---- ears ------------------------------------------------------------------------------------------- */

/* One corner of what is left of the polygon, seen along its normal. */
typedef struct ring {
    double x, y;
    int previous, next;
} ring;

static double turn(const ring *a, const ring *b, const ring *c)
{
    return (b->x - a->x) * (c->y - a->y) - (b->y - a->y) * (c->x - a->x);
}

static bool is_same_place(const ring *a, const ring *b)
{
    return a->x == b->x && a->y == b->y;
}

/* The triangle at corner i is part of the polygon: it turns left, and no other corner is in it. */
static bool is_ear(const ring *at, int i)
{
    const ring *a = &at[at[i].previous], *b = &at[i], *c = &at[at[i].next];
    if (!(turn(a, b, c) > 0.0)) return false;
    for (int k = c->next; k != b->previous; k = at[k].next) {
        const ring *p = &at[k];
        if (is_same_place(p, a) || is_same_place(p, b) || is_same_place(p, c)) continue;
        if (turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0) return false;
    }
    return true;
}

bool ss_polygon_cut(const double (*vertex)[3], const int *corner, int corners, int (*triangle)[3],
                    ss_error *err)
{
    ss_vec3 area = {0.0, 0.0, 0.0}, x, y;
    for (int k = 1; k + 1 < corners; k++) area = ss_vec3_add(area, fan_area(vertex, corner, k));
    ss_vec3 normal = ss_vec3_normalise(area, NULL);

    if (corners == 3 || ss_vec3_max_abs(normal) == 0.0 || fan_is_good(vertex, corner, corners, normal)) {
        for (int k = 1; k + 1 < corners; k++, triangle++) {
            (*triangle)[0] = corner[0];
            (*triangle)[1] = corner[k];
            (*triangle)[2] = corner[k + 1];
        }
        return true;
    }

    /* Ears are found in the plane across the normal, with what is left of the polygon as a ring. */
    if (corners > MOST_DENTED)
        return ss_fail(err, SS_ERROR_INPUT, "a non-convex face with %d corners, must be at most %d", corners,
                       MOST_DENTED);
    ring *at = ss_allocate((size_t)corners, sizeof *at);
    if (!at) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a face of %d corners", corners);
    ss_vec3_tangents(normal, &x, &y);
    for (int k = 0; k < corners; k++) {
        ss_vec3 arm = ss_vec3_subtract(corner_at(vertex, corner, k), corner_at(vertex, corner, 0));
        at[k] =
            (ring){ss_vec3_dot(x, arm), ss_vec3_dot(y, arm), (k + corners - 1) % corners, (k + 1) % corners};
    }

    /* A polygon that crosses itself may have no ear: then the corner at hand is cut off all the same, and the
     * check of the mesh will say what came of it. */
    for (int i = 0, left = corners; left > 2; left--, triangle++) {
        for (int tried = 0; tried < left && !is_ear(at, i); tried++) i = at[i].next;
        ring *ear = &at[i];
        (*triangle)[0] = corner[ear->previous];
        (*triangle)[1] = corner[i];
        (*triangle)[2] = corner[ear->next];
        at[ear->previous].next = ear->next;
        at[ear->next].previous = ear->previous;
        i = ear->next;
    }
    ss_release(at);
    return true;
}
