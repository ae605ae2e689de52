/* Convex polyhedra for tests, and what is true of a pair of them by brute force: every vertex against every
 * face, every edge against every edge, every direction a separating axis can have. */
#ifndef STICKSLIP_TEST_POLYHEDRA_H
#define STICKSLIP_TEST_POLYHEDRA_H

#include <stickslip/collision.h>

#include "collision/pairs.h"
#include "collision/polyhedron.h"
#include "collision/separating_axes.h"
#include "linalg/quat.h"

#include <math.h>
#include <stdlib.h>

/* A box or hull in the world, or the core of a sphere or capsule. */
typedef struct solid {
    int vertex_count, edge_count, face_count;
    ss_vec3 *vertex, *normal;
    double *offset;
    const ss_hull *hull;
    ss_box_hull box;
    ss_core_hull core;
    double round; /* radius around the core */
} solid;

static inline const ss_hull *hull_of(const ss_placed_shape *placed, solid *s)
{
    const ss_shape *shape = placed->shape;
    bool capsule = shape->kind == SS_CAPSULE, core = capsule || shape->kind == SS_SPHERE;
    s->round = core ? shape->size[0] : 0.0;
    if (core) return ss_core_hull_fill(&s->core, capsule ? shape->size[1] : 0.0);
    return ss_placed_hull(placed, &s->box);
}

static inline void solid_place(const ss_placed_shape *placed, solid *s)
{
    const ss_hull *hull = s->hull = hull_of(placed, s);
    ss_mat3 turn = ss_mat3_load(placed->rotation);
    ss_vec3 shift = ss_vec3_load(placed->position);
    s->vertex_count = hull->vertex_count;
    s->edge_count = hull->edge_count;
    s->face_count = hull->face_count;
    s->vertex = calloc((size_t)s->vertex_count + 1, sizeof *s->vertex);
    s->normal = calloc((size_t)s->face_count + 1, sizeof *s->normal);
    s->offset = calloc((size_t)s->face_count + 1, sizeof *s->offset);
    for (int v = 0; v < s->vertex_count; v++)
        s->vertex[v] = ss_vec3_add(shift, ss_mat3_apply(turn, hull->vertex[v]));
    for (int f = 0; f < s->face_count; f++) {
        s->normal[f] = ss_mat3_apply(turn, hull->face[f].normal);
        s->offset[f] = hull->face[f].offset + ss_vec3_dot(s->normal[f], shift);
    }
}

static inline void solid_free(solid *s)
{
    free(s->vertex);
    free(s->normal);
    free(s->offset);
}

/* ---- truth ------------------------------------------------------------------------------------------ */

static inline double segment_distance(ss_vec3 p, ss_vec3 q, ss_vec3 r, ss_vec3 s)
{
    ss_vec3 d1 = ss_vec3_subtract(q, p), d2 = ss_vec3_subtract(s, r), w = ss_vec3_subtract(p, r);
    double a = ss_vec3_dot(d1, d1), b = ss_vec3_dot(d1, d2), c = ss_vec3_dot(d2, d2);
    double d = ss_vec3_dot(d1, w), e = ss_vec3_dot(d2, w), best = INFINITY;
    double det = a * c - b * b, start[5] = {0.0, 1.0, -d / a, (b - d) / a, (b * e - c * d) / det};
    for (int k = 0; k < 5; k++) { // ends, feet of the other's ends, crossing; what is not finite becomes 0
        double t = fmin(fmax(start[k], 0.0), 1.0), u = fmin(fmax((e + b * t) / c, 0.0), 1.0);
        ss_vec3 between = ss_vec3_add_scaled(ss_vec3_add_scaled(w, t, d1), -u, d2);
        best = fmin(best, ss_vec3_norm(between));
    }
    return best;
}

/* Distance of a point over the inside of a face from it; INFINITY elsewhere. */
static inline double face_distance(const solid *s, int f, ss_vec3 p)
{
    const ss_hull_face *face = &s->hull->face[f];
    for (int i = 0; i < face->size; i++) {
        ss_vec3 from = s->vertex[s->hull->loop[face->first + i]];
        ss_vec3 to = s->vertex[s->hull->loop[face->first + (i + 1) % face->size]];
        ss_vec3 outwards = ss_vec3_cross(ss_vec3_subtract(to, from), s->normal[f]);
        if (ss_vec3_dot(outwards, ss_vec3_subtract(p, from)) > 0.0) return INFINITY;
    }
    double height = ss_vec3_dot(s->normal[f], p) - s->offset[f];
    return height >= 0.0 ? height : INFINITY;
}

/* Vertices of a from the faces and edges of b. */
static inline double vertex_distance(const solid *a, const solid *b)
{
    double best = INFINITY;
    for (int v = 0; v < a->vertex_count; v++) {
        for (int f = 0; f < b->face_count; f++) best = fmin(best, face_distance(b, f, a->vertex[v]));
        for (int e = 0; e < b->edge_count; e++) {
            const int *end = b->hull->edge[e].vertex;
            ss_vec3 along = ss_vec3_subtract(b->vertex[end[1]], b->vertex[end[0]]);
            ss_vec3 from = ss_vec3_subtract(a->vertex[v], b->vertex[end[0]]);
            double t = fmin(fmax(ss_vec3_dot(from, along) / ss_vec3_dot(along, along), 0.0), 1.0);
            best = fmin(best, ss_vec3_norm(ss_vec3_add_scaled(from, -t, along)));
        }
    }
    return best;
}

/* Of two solids that do not overlap. */
static inline double true_distance(const solid *a, const solid *b)
{
    double best = fmin(vertex_distance(a, b), vertex_distance(b, a));
    for (int i = 0; i < a->edge_count; i++) {
        const int *p = a->hull->edge[i].vertex;
        for (int k = 0; k < b->edge_count; k++) {
            const int *q = b->hull->edge[k].vertex;
            best = fmin(best,
                        segment_distance(a->vertex[p[0]], a->vertex[p[1]], b->vertex[q[0]], b->vertex[q[1]]));
        }
    }
    return best;
}

static inline double separation_along(const solid *a, const solid *b, ss_vec3 n)
{
    double top = -INFINITY, bottom = INFINITY;
    for (int v = 0; v < a->vertex_count; v++) top = fmax(top, ss_vec3_dot(n, a->vertex[v]));
    for (int v = 0; v < b->vertex_count; v++) bottom = fmin(bottom, ss_vec3_dot(n, b->vertex[v]));
    return bottom - top;
}

static inline ss_vec3 edge_of(const solid *s, int e)
{
    const int *v = s->hull->edge[e].vertex;
    return ss_vec3_subtract(s->vertex[v[1]], s->vertex[v[0]]);
}

/* The largest separation over all directions: if negative, minus the depth of penetration. */
static inline double true_separation(const solid *a, const solid *b)
{
    double best = -INFINITY;
    for (int f = 0; f < a->face_count; f++) best = fmax(best, separation_along(a, b, a->normal[f]));
    for (int f = 0; f < b->face_count; f++)
        best = fmax(best, separation_along(a, b, ss_vec3_negate(b->normal[f])));
    for (int i = 0; i < a->edge_count; i++) {
        for (int k = 0; k < b->edge_count; k++) {
            double length, scale = ss_vec3_norm(edge_of(a, i)) * ss_vec3_norm(edge_of(b, k));
            ss_vec3 n = ss_vec3_normalise(ss_vec3_cross(edge_of(a, i), edge_of(b, k)), &length);
            if (length < 1e-7 * scale) continue;
            best = fmax(best, separation_along(a, b, n));
            best = fmax(best, separation_along(a, b, ss_vec3_negate(n)));
        }
    }
    return best;
}

/* The signed distance. */
static inline double true_gap(const ss_placed_shape *pa, const ss_placed_shape *pb)
{
    solid a, b;
    solid_place(pa, &a);
    solid_place(pb, &b);
    double gap = true_separation(&a, &b);
    if (gap > 0.0) gap = true_distance(&a, &b);
    solid_free(&a);
    solid_free(&b);
    return gap - a.round - b.round;
}

/* How far apart the bodies are along a direction. */
static inline double gap_along(const ss_placed_shape *pa, const ss_placed_shape *pb, const double normal[3])
{
    solid a, b;
    solid_place(pa, &a);
    solid_place(pb, &b);
    double gap = separation_along(&a, &b, ss_vec3_load(normal));
    solid_free(&a);
    solid_free(&b);
    return gap - a.round - b.round;
}

/* How far outside a body a point is: 0 inside; of polyhedra exact above faces, a lower bound elsewhere. */
static inline double outside_by(const ss_placed_shape *placed, const double point[3])
{
    solid s;
    solid_place(placed, &s);
    double most = 0.0;
    for (int f = 0; f < s.face_count; f++)
        most = fmax(most, ss_vec3_dot(s.normal[f], ss_vec3_load(point)) - s.offset[f]);
    if (s.face_count == 0) {
        ss_vec3 end = s.vertex[s.vertex_count - 1], x = ss_vec3_load(point);
        most = fmax(0.0, segment_distance(x, x, s.vertex[0], end) - s.round);
    }
    solid_free(&s);
    return most;
}

/* How far a point is from a feature: for faces, from their plane. */
static inline double feature_distance(const solid *s, uint32_t name, ss_vec3 x)
{
    int kind = (int)(name >> 14 & 3u), index = (int)(name & 0x3fffu);
    if (kind == SS_VERTEX) return ss_vec3_norm(ss_vec3_subtract(s->vertex[index], x));
    if (kind == SS_FACE) return fabs(ss_vec3_dot(s->normal[index], x) - s->offset[index]);
    const int *end = s->hull->edge[index].vertex;
    return segment_distance(x, x, s->vertex[end[0]], s->vertex[end[1]]);
}

/* How far a contact is from the two features it is named by, beyond half its gap and the radii of
 * rounded bodies. */
static inline double name_error(const ss_placed_shape *pa, const ss_placed_shape *pb,
                                const ss_contact_point *p)
{
    solid a, b;
    solid_place(pa, &a);
    solid_place(pb, &b);
    ss_vec3 x = ss_vec3_load(p->point);
    double far_a = feature_distance(&a, p->feature >> 16, x) - a.round;
    double far_b = feature_distance(&b, p->feature & 0xffffu, x) - b.round;
    solid_free(&a);
    solid_free(&b);
    return fmax(far_a, far_b) - 0.5 * fabs(p->gap);
}

/* ---- shapes and places ------------------------------------------------------------------------------ */

static inline void place_at(ss_placed_shape *placed, ss_vec3 position, ss_quat turn)
{
    ss_vec3_store(position, placed->position);
    ss_mat3_store(ss_quat_to_matrix(ss_quat_normalise(turn)), placed->rotation);
}

static inline ss_vec3 random_vector(ss_random *random)
{
    double x = ss_random_normal(random), y = ss_random_normal(random);
    return (ss_vec3){x, y, ss_random_normal(random)};
}

static inline ss_quat random_turn(ss_random *random)
{
    ss_vec3 v = random_vector(random);
    return ss_quat_normalise((ss_quat){ss_random_normal(random), v.x, v.y, v.z});
}

/* A hull as a shape of its own. */
typedef struct test_hull {
    ss_shape shape;
    ss_geometry *geometry;
} test_hull;

static inline bool test_hull_of_mesh(ss_mesh *mesh, test_hull *hull)
{
    *hull = (test_hull){.shape = {.kind = SS_HULL, .mesh = mesh}};
    hull->geometry = mesh ? ss_geometry_create(&hull->shape, NULL) : NULL;
    return hull->geometry != NULL;
}

/* Hull of `count` random points on an ellipsoid whose half axes are `size` times `thinnest` to 1. */
static inline bool test_hull_thin(ss_random *random, int count, double size, double thinnest, test_hull *hull)
{
    double(*points)[3] = malloc((size_t)count * sizeof *points), half[3];
    for (int k = 0; k < 3; k++) half[k] = size * ss_random_between(random, thinnest, 1.0);
    for (int i = 0; i < count; i++) {
        double x[3];
        ss_vec3_store(ss_vec3_normalise(random_vector(random), NULL), x);
        for (int k = 0; k < 3; k++) points[i][k] = half[k] * x[k];
    }
    ss_mesh *mesh = ss_mesh_hull((const double(*)[3])points, count, NULL);
    free(points);
    return test_hull_of_mesh(mesh, hull);
}

static inline bool test_hull_random(ss_random *random, int count, double size, test_hull *hull)
{
    return test_hull_thin(random, count, size, 0.3, hull);
}

/* The same in another unit of length. */
static inline bool test_hull_scaled(const test_hull *from, double unit, test_hull *hull)
{
    ss_mesh *mesh = ss_mesh_copy(from->shape.mesh, NULL);
    if (mesh) ss_mesh_transform(mesh, (double[3]){unit, unit, unit}, NULL, NULL);
    return test_hull_of_mesh(mesh, hull);
}

static inline void test_hull_free(test_hull *hull)
{
    ss_geometry_destroy(hull->geometry);
    ss_mesh_destroy((ss_mesh *)hull->shape.mesh);
}

static inline const ss_contact_point *deepest_point(const ss_manifold *manifold)
{
    const ss_contact_point *best = NULL;
    for (int i = 0; i < manifold->count; i++)
        if (!best || manifold->points[i].gap < best->gap) best = &manifold->points[i];
    return best;
}

#define UPRIGHT ((ss_quat){1.0, 0.0, 0.0, 0.0})

static inline ss_shape box_shape(double x, double y, double z)
{
    return (ss_shape){.kind = SS_BOX, .size = {x, y, z}};
}

static inline ss_placed_shape placed(const ss_shape *shape, double x, double y, double z, ss_quat turn)
{
    ss_placed_shape p = {.shape = shape};
    place_at(&p, (ss_vec3){x, y, z}, turn);
    return p;
}

static inline ss_quat turned(double angle, double x, double y, double z)
{
    ss_vec3 axis = ss_vec3_normalise((ss_vec3){x, y, z}, NULL);
    return ss_quat_exponential(ss_vec3_scale(angle, axis));
}

static inline bool is_sound(const ss_manifold *manifold, double margin)
{
    for (int i = 0; i < manifold->count; i++) {
        const ss_contact_point *p = &manifold->points[i];
        if (!(p->gap <= margin) || !(fabs(ss_vec3_norm(ss_vec3_load(p->normal)) - 1.0) < 1e-12)) return false;
        if (!isfinite(p->point[0] + p->point[1] + p->point[2])) return false;
        for (int k = 0; k < i; k++)
            if (manifold->points[k].feature == p->feature) return false;
    }
    return true;
}

/* Tests with brute force are shorter in builds with sanitizers. */
static inline int several(int number)
{
#ifdef SS_CHECKED
    return number / 5;
#else
    return number;
#endif
}

/* Moves b along a random line from a to where the largest separation is about `gap`. */
static inline void bring_to_gap(const ss_placed_shape *a, ss_placed_shape *b, double gap, ss_random *random)
{
    ss_vec3 direction = ss_vec3_normalise(random_vector(random), NULL);
    ss_box_hull box_a, box_b;
    const ss_hull *hull_a = ss_placed_hull(a, &box_a), *hull_b = ss_placed_hull(b, &box_b);
    ss_vec3 from = ss_vec3_subtract(ss_placed_to_world(a, hull_a->centre), ss_placed_turn(b, hull_b->centre));
    double near = 0.0, far = 2.0 * (hull_a->radius + hull_b->radius) + gap;
    for (int i = 0; i < 20; i++) {
        double middle = 0.5 * (near + far);
        ss_vec3_store(ss_vec3_add_scaled(from, middle, direction), b->position);
        ss_hull_pair pair = ss_hull_pair_place(a, hull_a, b, hull_b, 0.0);
        ss_separating_axes best;
        *(ss_separating_axes_find(&pair, &(ss_approach){.rest = gap}, &best) ? &near : &far) = middle;
    }
}

#endif
