/* collision/meeting.h - whether a world can have contacts at all. */
#ifndef SS_COLLISION_MEETING_H
#define SS_COLLISION_MEETING_H

#include <stickslip/collision.h>

/* False in a world of few shapes in which no two may touch, wherever they are, as in a chain whose links do
 * not collide: then there is no need to look for contacts. */
bool ss_collision_has_pairs(ss_collision *collision);

#endif
