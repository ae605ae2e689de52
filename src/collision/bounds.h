/* collision/bounds.h - how large shapes are. */
#ifndef SS_COLLISION_BOUNDS_H
#define SS_COLLISION_BOUNDS_H

#include <stickslip/collision.h>

#include "collision/bvh.h"

/* The box around a placed shape, with edges along the world's axes. Infinite for planes. ss_turned_box: as
 * seen from the shape's origin, so that it depends on its rotation alone. */
ss_box ss_turned_box(const ss_placed_shape *shape);
ss_box ss_placed_box(const ss_placed_shape *shape);
/* All of the shape is within, about its own origin. */
double ss_shape_radius(const ss_placed_shape *shape);
/* Its smallest extent: what margins are measured with. Infinite for planes, meshes and heightfields. */
double ss_shape_smallest(const ss_placed_shape *shape);

#endif
