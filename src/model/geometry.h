/* model/geometry.h - what is precomputed of a shape with many features, once when it is added to a world:
 * made here, used by the narrow phase. All in the shape's own frame. */
#ifndef SS_MODEL_GEOMETRY_H
#define SS_MODEL_GEOMETRY_H

#include <stickslip/model.h>

#include "base/inner.h"
#include "linalg/vec3.h"

/* A convex polyhedron: coplanar triangles of the mesh are one face. */
typedef struct ss_hull_face {
    ss_vec3 normal;  /* unit, outwards */
    double offset;   /* normal . x = offset on the face */
    int first, size; /* its corners, counter-clockwise from outside: loop[first .. first + size - 1] */
} ss_hull_face;

typedef struct ss_hull_edge {
    int vertex[2], face[2]; /* face[0] has the edge from vertex[0] to vertex[1] */
} ss_hull_edge;

/* The planes of four faces in single precision, number by number, to sort out most faces at once. Up to
 * SS_HULL_BLOCK faces are sorted out together; in the n of these that hold them, lane k has the faces
 * k n .. k n + n - 1, one after the other. Those that fill up the last lane are below everything. */
enum { SS_HULL_BLOCK = 64 };
typedef struct ss_hull_planes {
    _Alignas(16) float normal[3][4];
    float offset[4];
} ss_hull_planes;

/* Four vertices in single precision, number by number. */
typedef struct ss_hull_corners {
    _Alignas(16) float x[3][4];
} ss_hull_corners;

typedef struct ss_hull {
    int vertex_count, face_count, edge_count;
    ss_vec3 *vertex;
    ss_hull_corners *corners; /* all vertices four by four, the last one repeated; NULL of what needs none */
    ss_hull_face *face;
    ss_hull_planes *planes; /* of the faces, SS_HULL_BLOCK / 4 for each block of them */
    int *loop;              /* vertices of the faces */
    int *loop_edge;         /* of the same place in loop: the edge to the next corner */
    ss_hull_edge *edge;
    /* vertices across an edge from v: neighbour[start[v] .. start[v+1]-1] */
    int *neighbour_start, *neighbour;
    int *around;    /* faces at v, by rising number, at the same places: there are as many */
    ss_vec3 centre; /* mean of the vertices: inside */
    double radius;  /* of the smallest ball around `centre` */
    double extent;  /* m: no vertex is farther from the origin */
    double bend;    /* cosine of half the largest angle between the normals of two faces with an edge */
} ss_hull;

/* A node of a bounding box tree over triangles; leaves have count > 0. Children are `first`
 * and `first + 1`. */
typedef struct ss_tree_node {
    float low[3], high[3]; /* rounded outwards */
    int first, count;      /* leaf: triangles order[first ..] */
} ss_tree_node;

typedef struct ss_triangles {
    int vertex_count, count;
    ss_vec3 *vertex;
    int (*corner)[3];
    ss_vec3 *normal;     /* unit */
    int (*neighbour)[3]; /* triangle across the edge from corner k to k+1; -1 = open edge */
    bool (*convex)[3]; /* that edge sticks out: contact normals between the two faces' normals are allowed */
    ss_tree_node *node;
    int node_count;
    int *order;
} ss_triangles;

typedef struct ss_heightfield {
    int nx, ny;
    double dx, dy;
    double *height; /* x fastest */
    double low, high;
} ss_heightfield;

typedef struct ss_geometry {
    ss_hull *hull; /* of SS_HULL, and of SS_BOX: a unit-independent box as a hull, for pairs with hulls */
    ss_triangles *triangles; /* of SS_MESH */
    ss_heightfield *heights; /* of SS_HEIGHTFIELD */
    double low[3], high[3];  /* box around the shape in its own frame; infinite for planes */
} ss_geometry;

/* NULL with an error that says what is wrong with the shape ("hull: not convex: vertex 7 lies 0.003
 * outside face 2"). */
ss_geometry *ss_geometry_create(const ss_shape *shape, ss_error *err);
void ss_geometry_destroy(ss_geometry *geometry);

/* Of a shape of a world. */
SS_INNER const ss_geometry *ss_world_geometry(const ss_world *world, int shape);

/* How many pairs of bodies were kept apart so far, by ss_world_separate and by joints: grows when a
 * filter was added. */
int ss_world_separation_count(const ss_world *world);

/* Mass properties of one shape of this density in its own frame; planes, meshes and heightfields
 * weigh nothing. */
ss_mass_properties ss_shape_mass(const ss_shape *shape, double density);

#endif
