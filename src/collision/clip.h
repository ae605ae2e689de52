/* collision/clip.h - the contact points of two faces that lie against each other: the part of one face that
 * is over the other (Sutherland and Hodgman 1974). */
#ifndef SS_COLLISION_CLIP_H
#define SS_COLLISION_CLIP_H

#include "collision/manifold_builder.h"
#include "linalg/vec3.h"

#define SS_POLYGON_MOST 128

/* A face; corners counter-clockwise seen from outside. */
typedef struct ss_polygon {
    int size;
    ss_vec3 corner[SS_POLYGON_MOST];
    int vertex[SS_POLYGON_MOST]; /* numbers of the corners on their polyhedron */
    int edge[SS_POLYGON_MOST];   /* number of the edge from corner i to the next */
    ss_vec3 normal;              /* outwards */
    double offset;               /* normal . x = offset on the face */
    int face;
} ss_polygon;

/* Gathers the corners of what lies of `incident` over `reference`, gaps measured from the plane of
 * `reference` along its normal. `reference_first`: it belongs to the builder's first shape. The reference is
 * taken larger by `slack` on all sides, so that faces of the same size that lie on each other keep their
 * corners as contacts whatever rounding does. */
void ss_clip_faces(const ss_polygon *reference, const ss_polygon *incident, bool reference_first,
                   double slack, ss_manifold_builder *builder);

#endif
