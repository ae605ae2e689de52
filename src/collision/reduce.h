/* collision/reduce.h - fewer contact points that hold a body as well as all of them. */
#ifndef SS_COLLISION_REDUCE_H
#define SS_COLLISION_REDUCE_H

#include <stickslip/collision.h>

/* Of the points with one normal (to 18 degrees), keeps at most `most` >= 1: the deepest, and others that span
 * the largest area in the plane across the normal. The points that stay keep their order. */
void ss_manifold_reduce(ss_manifold *manifold, int most);

#endif
