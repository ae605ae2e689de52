/* collision/closest.h - nearest points of two separated convex polyhedra. */
#ifndef SS_COLLISION_CLOSEST_H
#define SS_COLLISION_CLOSEST_H

#include "collision/polyhedron.h"

typedef struct ss_closest {
    double distance;
    ss_vec3 on_a, on_b;           /* in a's frame */
    int count_a, count_b;         /* the points are mixtures of this many vertices each: */
    int vertex_a[4], vertex_b[4]; /* these */
} ss_closest;

/* False when they overlap, or touch to within rounding. `guess`: a direction from a to b, in a's frame. */
bool ss_hulls_closest(const ss_hull_pair *pair, ss_vec3 guess, ss_closest *closest);

#endif
