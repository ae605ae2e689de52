/* collision/round.h - what round shapes share. */
#ifndef SS_COLLISION_ROUND_H
#define SS_COLLISION_ROUND_H

#include <stickslip/collision.h>

#include "collision/segment.h"

/* Sine of the angle below which two axes are taken side by side: contacts at both ends of the common length,
 * each with its own true distance. */
#define SS_NEARLY_PARALLEL 0.1

/* The axis of a capsule or cylinder. */
ss_segment ss_placed_segment(const ss_placed_shape *shape);

#endif
