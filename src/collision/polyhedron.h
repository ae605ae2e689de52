/* collision/polyhedron.h - convex polyhedra as the narrow phase sees them: a pair of hulls in the
 * frame of the first. */
#ifndef SS_COLLISION_POLYHEDRON_H
#define SS_COLLISION_POLYHEDRON_H

#include <stickslip/collision.h>

#include "collision/clip.h"
#include "collision/features.h"
#include "collision/manifold_builder.h"
#include "linalg/mat3.h"
#include "model/geometry.h"

/* A box as a hull. Vertex v lies on the positive side of axis k where bit k of v is set; face 2k is the
 * negative, face 2k + 1 the positive one of axis k; edge 4k + m runs along axis k, on the positive side of
 * axis k+1 and k+2 where bit 0 and 1 of m are set (axes counted modulo 3). */
typedef struct ss_box_hull {
    ss_hull hull;
    ss_vec3 vertex[8];
    ss_hull_face face[6];
    ss_hull_planes planes[2];
} ss_box_hull;
const ss_hull *ss_box_hull_fill(ss_box_hull *box, const double size[3]);

void ss_box_vertices(const double size[3], ss_vec3 vertex[8]);
/* The corner vertices and edges of face f of a box, four each, counter-clockwise from outside. */
const int *ss_box_face_vertices(int face);
const int *ss_box_face_edges(int face);

/* What is inside a capsule or a sphere: a segment along z as a hull of two vertices and edge 0, or, when it
 * has no length, one vertex. It has no faces. */
typedef struct ss_core_hull {
    ss_hull hull;
    ss_vec3 vertex[2];
} ss_core_hull;
const ss_hull *ss_core_hull_fill(ss_core_hull *core, double length);

/* The hull of a placed box or hull; `box` is where a box's is put. */
const ss_hull *ss_placed_hull(const ss_placed_shape *shape, ss_box_hull *box);

/* b may be without faces, a not. */
typedef struct ss_hull_pair {
    const ss_hull *a, *b;
    ss_mat3 turn;  /* from b's frame to a's */
    ss_vec3 shift; /* b's origin in a's frame */
    double size;   /* the smaller radius: the length that tolerances are multiples of */
    /* which one is the reference when it makes no difference: must not depend on their order */
    bool favour_a;
} ss_hull_pair;
/* `round`: radius of the ball that b is the core of; it counts in the size only. */
ss_hull_pair ss_hull_pair_place(const ss_placed_shape *a, const ss_hull *hull_a, const ss_placed_shape *b,
                                const ss_hull *hull_b, double round);

static inline ss_vec3 ss_pair_vertex_b(const ss_hull_pair *pair, int vertex) /* in a's frame */
{
    return ss_vec3_add(pair->shift, ss_mat3_apply(pair->turn, pair->b->vertex[vertex]));
}

static inline ss_vec3 ss_pair_turn_to_b(const ss_hull_pair *pair, ss_vec3 direction)
{
    return ss_mat3_apply_transposed(pair->turn, direction);
}

/* How two hulls move within a step. Apart along a unit axis from a to b by more than ss_approach_along, they
 * do not come nearer to each other than `rest`: the way of b's centre against that of a closes the gap by its
 * share along the axis, and no point turns by more than `turning`. */
typedef struct ss_approach {
    double rest;     /* m */
    ss_vec3 way;     /* m: of b's centre against a's */
    double turning;  /* m: of both together */
    ss_vec3 turn[2]; /* rad: of a and b, in the world */
} ss_approach;

static inline double ss_approach_along(const ss_approach *approach, ss_vec3 axis)
{
    double closing = -ss_vec3_dot(axis, approach->way);
    return approach->rest + approach->turning + (closing > 0.0 ? closing : 0.0);
}

/* Of up to SS_HULL_BLOCK faces from `first` on, a bit for each whose height under a point may be `limit` or
 * more. In single precision, with some slack: none is missing, and few have a bit that are lower. */
uint64_t ss_hull_faces_below(const ss_hull *hull, int first, ss_vec3 x, double limit);
/* The face whose height under a point is the largest, to single precision. */
int ss_hull_farthest_face(const ss_hull *hull, ss_vec3 x);

/* The vertex farthest along a direction, by climbing from `start`. */
int ss_hull_support(const ss_hull *hull, ss_vec3 direction, int start);
/* The same, but the climb ends at any vertex that is farther than `enough`. */
int ss_hull_climb(const ss_hull *hull, ss_vec3 direction, int start, double enough);
/* The edge between two vertices; -1 if there is none. */
int ss_hull_find_edge(const ss_hull *hull, int v, int w);
/* The face at a vertex whose normal points most along `direction`; -1 if there is none. */
int ss_hull_find_face(const ss_hull *hull, ss_vec3 direction, int vertex);
/* The face whose normal n points most along the unit vector d; -1 if no n.d is `least` or more. */
int ss_hull_face_along(const ss_hull *hull, ss_vec3 d, double least);
/* The smallest feature that has all these vertices. */
ss_feature ss_hull_find_feature(const ss_hull *hull, const int *vertex, int count);
/* A face as a polygon in a's frame; of a hull without faces, the whole of it. */
void ss_pair_polygon(const ss_hull_pair *pair, bool of_a, int face, ss_polygon *polygon);

/* Multiples of the smaller body's radius. */
#define SS_CLIP_SLACK 1e-9      /* of the sides of a reference face */
#define SS_DISTANCE_EXACT 1e-10 /* a distance is known this well */
#define SS_FACE_BIAS 1e-6       /* faces are preferred to edges, and one body to the other, up to this */
#define SS_BESIDES 1e-3         /* contacts besides the nearest points are not nearer to them than this */
/* Which features give contacts besides the nearest points: faces this much along the normal (cosine), edges
 * of both bodies this much across it and not more turned from each other (sine). */
#define SS_ALMOST_ALONG 0.99
#define SS_ALMOST_ACROSS 0.01

/* Which body's face is the reference, by the values to be large. */
static inline bool ss_prefers_a(bool favour_a, double of_a, double of_b, double bias)
{
    return favour_a ? of_a >= of_b - bias : of_a > of_b + bias;
}

/* All contacts of two hulls with gap <= the builder's margin, unless they are apart by more than they may
 * approach each other (in a's frame). The builder's frame is that of a, its first shape. */
void ss_collide_hulls(const ss_hull_pair *pair, const ss_approach *approach, ss_manifold_builder *builder);

/* As ss_collide_hull_hull, unless the two are apart by more than they may approach each other (in the world):
 * then *axis is the axis of the world from a to b that shows it, and their separation along it is returned;
 * else 0. */
double ss_collide_hulls_or_part(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                                ss_approach approach, ss_manifold *manifold, ss_vec3 *axis);

/* A box or hull against a capsule, or a sphere when `length` is 0. `round_first`: it is shape a
 * of the manifold. */
void ss_collide_rounded(const ss_placed_shape *hull, const ss_placed_shape *round, double length,
                        double margin, bool round_first, ss_manifold *manifold);

#endif
