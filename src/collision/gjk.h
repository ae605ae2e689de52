/* collision/gjk.h - distance of two convex cores (Gilbert, Johnson and Keerthi 1988), and how deep they
 * overlap (expanding polytope, van den Bergen 2001). */
#ifndef SS_COLLISION_GJK_H
#define SS_COLLISION_GJK_H

#include "collision/convex.h"

/* A point of the difference a - b, and the points of a and b it comes from. */
typedef struct ss_difference {
    ss_vec3 w, a, b;
} ss_difference;

typedef struct ss_simplex {
    int count;
    ss_difference point[4];
    double weight[4]; /* of the point nearest to the origin */
} ss_simplex;

typedef struct ss_gjk {
    double distance; /* of the cores; 0 when they overlap. Beyond `most` only a lower bound */
    ss_vec3 normal;  /* unit, from a to b; zero when they overlap */
    ss_vec3 on_a, on_b;
    ss_simplex simplex;
} ss_gjk;

/* Stops early once the distance is known to be larger than `most`. */
void ss_gjk_distance(const ss_convex *a, const ss_convex *b, double most, ss_gjk *result);

static inline ss_difference ss_difference_support(const ss_convex *a, const ss_convex *b, ss_vec3 direction)
{
    ss_difference p;
    p.a = ss_convex_support(a, direction);
    p.b = ss_convex_support(b, ss_vec3_negate(direction));
    p.w = ss_vec3_subtract(p.a, p.b);
    return p;
}

/* Reduces the simplex to the face that holds its point nearest to the origin, and returns that point. Four
 * points remain only when the origin is inside. */
ss_vec3 ss_simplex_nearest(ss_simplex *simplex);

/* How two bodies that overlap, or just touch, come apart with the least motion. */
typedef struct ss_escape {
    double gap;     /* of the bodies, radii included: the largest separation over all normals */
    ss_vec3 normal; /* unit, from a to b */
    ss_vec3 on_a, on_b;
} ss_escape;

/* From the simplex and normal GJK ended with. `candidate` are normals worth trying first, exact ones
 * of flat faces. */
ss_escape ss_epa_escape(const ss_convex *a, const ss_convex *b, const ss_simplex *start,
                        const ss_vec3 *candidate, int candidates);

#endif
