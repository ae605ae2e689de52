/* collision/surface.h - triangle meshes and heightfields alike: numbered triangles with neighbours. A
 * cell (i, j) of a heightfield is cut from point (i, j) to (i+1, j+1) into two triangles. All in the
 * shape's own frame. */
#ifndef SS_COLLISION_SURFACE_H
#define SS_COLLISION_SURFACE_H

#include <stickslip/collision.h>

#include "model/geometry.h"

/* Exactly one of the two is there. */
typedef struct ss_surface {
    const ss_triangles *triangles;
    const ss_heightfield *heights;
} ss_surface;

typedef struct ss_surface_triangle {
    int number;
    int vertex[3];
    ss_vec3 corner[3];
    ss_vec3 normal; /* unit, outwards */
} ss_surface_triangle;

ss_surface ss_surface_of(const ss_placed_shape *shape);
ss_surface_triangle ss_surface_get(const ss_surface *surface, int triangle);
/* Across the edge from corner k to the next; -1 where the surface ends. */
int ss_surface_neighbour(const ss_surface *surface, int triangle, int k);
ss_vec3 ss_surface_vertex(const ss_surface *surface, int vertex);

/* Nodes of a mesh's tree that wait to be visited: its trees are balanced, this is enough for
 * 2^31 triangles. */
#define SS_SURFACE_STACK 96

/* Triangles whose boxes meet a box, in an order that depends on nothing else. Of a heightfield those below
 * the box too, because it is solid. */
typedef void ss_surface_visitor(const ss_surface *surface, int triangle, void *context);
void ss_surface_visit(const ss_surface *surface, ss_vec3 low, ss_vec3 high, ss_surface_visitor *visit,
                      void *context);

/* How the surface goes on across the edge from corner k. */
typedef enum ss_surface_edge {
    SS_EDGE_FLAT,    /* in one plane with the neighbour */
    SS_EDGE_HOLLOW,  /* a valley: the neighbour rises */
    SS_EDGE_OUTWARD, /* sticks out, or the surface ends here */
} ss_surface_edge;
ss_surface_edge ss_surface_look_across(const ss_surface *surface, const ss_surface_triangle *triangle, int k);

/* May the surface be touched with this outward unit normal at the part of the triangle that is farthest along
 * it? Only when all that surrounds the part lies behind: edges between triangles of one plane, or in a
 * valley, are never felt. */
bool ss_surface_supports(const ss_surface *surface, const ss_surface_triangle *triangle, ss_vec3 outward);

#endif
