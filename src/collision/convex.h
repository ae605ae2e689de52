/* collision/convex.h - a convex body as GJK sees it: a core, known by its support function, with a ball of
 * `radius` swept over it. The core keeps round shapes smooth: as long as two cores do not overlap, distance
 * and penetration of the bodies follow exactly from the distance of the cores.
 *
 *   sphere      point + radius
 *   capsule     segment + radius
 *   ellipsoid   its inner parallel body + most of its smallest radius of curvature (support function
 *               h(n) - r, still convex)
 *   box, cylinder, hull, triangle, prism   themselves, radius 0
 */
#ifndef SS_COLLISION_CONVEX_H
#define SS_COLLISION_CONVEX_H

#include <stickslip/collision.h>

#include "linalg/mat3.h"
#include "model/geometry.h"

typedef enum ss_core {
    SS_CORE_POINT,
    SS_CORE_SEGMENT, /* |z| <= half.z */
    SS_CORE_BOX,
    SS_CORE_CYLINDER, /* half = (r, r, half length) */
    SS_CORE_ELLIPSOID,
    SS_CORE_HULL,
    SS_CORE_CORNERS, /* triangle (3) or triangular prism (6), corners relative to the centre, not rotated */
} ss_core;

typedef struct ss_convex {
    ss_core core;
    double radius;
    double size;      /* largest extent, radius included: the length to measure tolerances with */
    ss_vec3 centre;   /* relative to the origin the caller chose */
    ss_mat3 rotation; /* to the world */
    ss_vec3 half;
    const ss_hull *hull;
    int corner_count;
    ss_vec3 corner[6];
    ss_vec3 face_normal; /* of corners 0, 1, 2, unit */
} ss_convex;

/* Any shape but planes, meshes and heightfields. Positions become relative to `origin`. */
ss_convex ss_convex_of(const ss_placed_shape *shape, ss_vec3 origin);
/* A triangle with its unit normal; depth > 0 makes it a prism that reaches so far behind it. */
ss_convex ss_convex_of_triangle(const ss_vec3 corner[3], ss_vec3 normal, double depth);

/* The point of the core farthest along `direction`, which need not be a unit vector. */
ss_vec3 ss_convex_support(const ss_convex *convex, ss_vec3 direction);

/* What faces along a unit direction: a point, an edge, or a face, on the surface (radius included). A face is
 * flat within SS_FACING of the direction. Ids name the feature's corners within the shape. */
#define SS_SUPPORT_FEATURE_MOST 32
#define SS_FACING 0.1 /* rad */
typedef struct ss_support_feature {
    int count; /* 1: point, 2: segment, more: convex polygon */
    ss_vec3 point[SS_SUPPORT_FEATURE_MOST];
    uint32_t id[SS_SUPPORT_FEATURE_MOST]; /* < 4096 */
} ss_support_feature;
void ss_convex_facing(const ss_convex *convex, ss_vec3 direction, ss_support_feature *feature);

/* Distance of b from a along a unit normal: negative when they overlap in that direction by so much. */
static inline double ss_convex_separation(const ss_convex *a, const ss_convex *b, ss_vec3 normal)
{
    ss_vec3 top = ss_convex_support(a, normal), bottom = ss_convex_support(b, ss_vec3_negate(normal));
    return ss_vec3_dot(normal, ss_vec3_subtract(bottom, top)) - (a->radius + b->radius);
}

#endif
