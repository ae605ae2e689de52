/* collision/separating_axes.h - along which direction two convex polyhedra are farthest apart, or
 * least overlapping.
 *
 * The separation along a unit direction n is min over b of n.x minus max over a of n.x. Its largest value
 * over all directions is found exactly: the candidates are the normals of the faces of the Minkowski
 * difference, which are the faces of a, the faces of b, and pairs of edges whose arcs cross on the Gauss
 * sphere. The largest one is the negative depth of penetration of overlapping bodies; of separated ones it is
 * the distance where a vertex is nearest to a face or an edge to an edge, and else a lower bound of it. */
#ifndef SS_COLLISION_SEPARATING_AXES_H
#define SS_COLLISION_SEPARATING_AXES_H

#include "collision/polyhedron.h"

typedef struct ss_axis {
    double separation; /* -INFINITY: there is none */
    ss_vec3 normal;    /* unit, from a to b, in a's frame */
    int feature;       /* the face; the edge of a */
    int vertex;        /* of the other body, nearest to the face */
    int edge_b[2];     /* pair of edges: the vertices of b's */
} ss_axis;

typedef struct ss_separating_axes {
    ss_axis face_a, face_b, edges;
    const ss_axis *last; /* which of them was found last */
} ss_separating_axes;

/* False as soon as some direction separates them by more than they may approach each other (in a's frame):
 * the last one. */
bool ss_separating_axes_find(const ss_hull_pair *pair, const ss_approach *approach, ss_separating_axes *best);

/* Every candidate, in the order face of a, face of b, edges; some pairs of edges come twice. */
typedef enum ss_axis_kind { SS_AXIS_FACE_A, SS_AXIS_FACE_B, SS_AXIS_EDGES } ss_axis_kind;
typedef void ss_axis_function(const ss_axis *axis, ss_axis_kind kind, void *context);
void ss_separating_axes_visit(const ss_hull_pair *pair, ss_axis_function *function, void *context);

#endif
