/* model/mesh.h - what the files that work on triangle meshes share. */
#ifndef SS_MODEL_MESH_H
#define SS_MODEL_MESH_H

#include <stickslip/model.h>

#include "linalg/vec3.h"

/* One side of one face: from corner k to corner k+1. */
typedef struct ss_mesh_side {
    int low, high; /* vertices, low < high */
    int face, corner;
    bool forward; /* the face goes from low to high */
} ss_mesh_side;

/* All 3 face_count sides by rising (low, high), then face: the sides of one edge stand together. Radix sort,
 * O(n). NULL when out of memory. Indices must be in range. */
ss_mesh_side *ss_mesh_sides(const ss_mesh *mesh);
ss_mesh_side ss_mesh_side_between(int from, int to, int face, int corner);
/* The same order for sides of faces with any number of corners. False when out of memory. */
bool ss_mesh_sort_sides(ss_mesh_side *sides, size_t count, int vertices);
/* How many sides from `first` on belong to the same edge. */
int ss_mesh_side_run(const ss_mesh_side *sides, int count, int first);

static inline ss_vec3 ss_mesh_corner(const ss_mesh *mesh, int face, int k)
{
    return ss_vec3_load(mesh->vertex[mesh->face[face][k]]);
}

/* Two sides of one edge that go against each other, as in a closed oriented surface. */
bool ss_mesh_sides_meet(const ss_mesh_side *sides, int run);

/* (b - a) x (c - a): twice the area, outwards */
static inline ss_vec3 ss_mesh_area2(const ss_mesh *mesh, int face)
{
    ss_vec3 a = ss_mesh_corner(mesh, face, 0);
    return ss_vec3_cross(ss_vec3_subtract(ss_mesh_corner(mesh, face, 1), a),
                         ss_vec3_subtract(ss_mesh_corner(mesh, face, 2), a));
}

/* False with the first fault in words, without a place: "face 3: corner 1 is vertex 99 of 8". */
bool ss_mesh_indices_are_good(const ss_mesh *mesh, ss_error *err);
/* False for an area that is nothing but the rounding of its corners. */
bool ss_mesh_has_area(const ss_mesh *mesh, int face);
/* Largest extent along an axis of the vertices that faces use. */
double ss_mesh_extent(const ss_mesh *mesh);

/* A closed mesh that is convex within the tolerance, a length; or what is wrong with it: "not convex: vertex
 * 7 lies 0.003 outside face 2". */
bool ss_mesh_require_convex(const ss_mesh *mesh, double tolerance, ss_error *err);

#endif
