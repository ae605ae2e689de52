/* collision/ray_cast_world.h - many rays against a world that stands still. */
#ifndef SS_COLLISION_RAY_CAST_WORLD_H
#define SS_COLLISION_RAY_CAST_WORLD_H

#include <stickslip/collision.h>

#include "base/inner.h"

/* ss_collision_ray without looking whether something has moved since the last ss_collision_ray, or
 * ss_collision_find without a step (h = 0): for many rays. */
SS_INNER int ss_collision_cast(const ss_collision *collision, const double origin[3],
                               const double direction[3], double most, double *distance, double normal[3]);

#endif
