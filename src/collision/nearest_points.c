#include "collision/patch.h"

/* Below this share of the bodies' size the direction of the distance is mostly rounding: asked from
 * the other side. */
#define TOUCHING 1e-8
#define CANDIDATES_MOST 160
#define HULL_FACES_MOST 64 /* of a hull with more faces the expanding polytope finds the right one sooner */

typedef struct candidates {
    int count;
    ss_vec3 normal[CANDIDATES_MOST];
} candidates;

static void add(candidates *list, ss_vec3 normal)
{
    if (list->count < CANDIDATES_MOST) list->normal[list->count++] = normal;
}

static void add_flat_faces(const ss_convex *convex, candidates *list)
{
    switch (convex->core) {
    case SS_CORE_BOX:
        for (int k = 0; k < 3; k++) add(list, ss_mat3_column(&convex->rotation, k));
        break;
    case SS_CORE_CYLINDER:
        add(list, ss_mat3_column(&convex->rotation, 2));
        break;
    case SS_CORE_HULL:
        for (int f = 0; f < convex->hull->face_count && convex->hull->face_count <= HULL_FACES_MOST; f++)
            add(list, ss_mat3_apply(convex->rotation, convex->hull->face[f].normal));
        break;
    case SS_CORE_CORNERS:
        add(list, convex->face_normal);
        break;
    default:
        break;
    }
}

/* A cylinder that is touched on its side is its axis with a radius: as long as the axis is not reached, that
 * gives the exact normal. */
static ss_convex as_axis(const ss_convex *convex)
{
    ss_convex axis = *convex;
    if (convex->core == SS_CORE_CYLINDER) axis.core = SS_CORE_SEGMENT;
    return axis;
}

static void add_across_axis(const ss_convex *convex, ss_vec3 normal, candidates *list)
{
    if (convex->core != SS_CORE_CYLINDER) return;
    ss_vec3 axis = ss_mat3_column(&convex->rotation, 2);
    ss_vec3 across = ss_vec3_add_scaled(normal, -ss_vec3_dot(normal, axis), axis);
    add(list, ss_vec3_normalise(across, NULL));
}

static void add_round_sides(const ss_convex *a, const ss_convex *b, candidates *list)
{
    if (a->core != SS_CORE_CYLINDER && b->core != SS_CORE_CYLINDER) return;
    ss_convex axis_a = as_axis(a), axis_b = as_axis(b);
    ss_gjk nearest;
    ss_gjk_distance(&axis_a, &axis_b, INFINITY, &nearest);
    ss_vec3 normal = nearest.normal;
    if (nearest.distance <= TOUCHING * (a->size + b->size)) // axes that cross are pushed apart across both
        normal = ss_vec3_normalise(
            ss_vec3_cross(ss_mat3_column(&a->rotation, 2), ss_mat3_column(&b->rotation, 2)), NULL);
    add(list, normal);
    add_across_axis(a, normal, list);
    add_across_axis(b, normal, list);
}

bool ss_convex_nearest_points(const ss_convex *a, const ss_convex *b, double margin,
                              ss_nearest_points *approach)
{
    double radii = a->radius + b->radius;
    ss_gjk nearest;
    ss_gjk_distance(a, b, margin + radii, &nearest);
    if (nearest.distance - radii > margin) return false;

    /* They touch or overlap: out by the shortest way, which most often is along a face or a round side. */
    if (nearest.distance <= TOUCHING * (a->size + b->size)) {
        candidates list = {.count = 0};
        add(&list, nearest.normal);
        add_flat_faces(a, &list);
        add_flat_faces(b, &list);
        add_round_sides(a, b, &list);
        ss_escape way = ss_epa_escape(a, b, &nearest.simplex, list.normal, list.count);
        approach->gap = way.gap;
        approach->normal = way.normal;
        ss_vec3 on_a = ss_vec3_add_scaled(way.on_a, a->radius, way.normal);
        ss_vec3 on_b = ss_vec3_add_scaled(way.on_b, -b->radius, way.normal);
        approach->point = ss_vec3_scale(0.5, ss_vec3_add(on_a, on_b));
        return approach->gap <= margin;
    }
    approach->gap = nearest.distance - radii;
    approach->normal = nearest.normal;
    approach->point = ss_vec3_add_scaled(nearest.on_a, a->radius + 0.5 * approach->gap, nearest.normal);
    return true;
}
