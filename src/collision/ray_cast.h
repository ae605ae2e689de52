/* collision/ray_cast.h - rays against single shapes. */
#ifndef SS_COLLISION_RAY_CAST_H
#define SS_COLLISION_RAY_CAST_H

#include <stickslip/collision.h>

#include "linalg/vec3.h"

/* origin + t direction, 0 <= t <= most; the direction is a unit vector. */
typedef struct ss_ray_segment {
    ss_vec3 origin, direction;
    double most;
} ss_ray_segment;

/* Where the ray enters the shape: at once, against its own direction, when it starts inside. Meshes have no
 * inside: they are hit on the faces that look towards the ray. False when it passes. */
bool ss_ray_segment_hits(const ss_ray_segment *ray, const ss_placed_shape *shape, double *distance,
                         ss_vec3 *normal);

/* The same for a mesh or heightfield, all in its frame. */
bool ss_ray_segment_hits_surface(const ss_ray_segment *ray, const ss_placed_shape *shape, double *distance,
                                 ss_vec3 *normal);

/* Does it meet the box before `most`? */
bool ss_ray_segment_meets_box(const ss_ray_segment *ray, ss_vec3 low, ss_vec3 high);

#endif
