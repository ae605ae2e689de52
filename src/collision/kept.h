/* collision/kept.h - manifolds of polyhedra that are kept while the two hardly move against each other.
 *
 * A manifold is found with a margin that is wider than asked for by a share of the smaller shape's size, and
 * kept as points on both bodies, in their own frames. As long as no point of one shape has moved relative to
 * the other by more than what the margin was wider, no new feature can have come within the margin, and the
 * points follow their bodies: the gap is the distance of the two along the normal, which is fixed to the
 * larger body. That costs a tenth of finding them. Positions along the faces are then exact to that share.
 *
 * Two hulls that do not touch are kept with the axis along which they were found to be apart. As long as they
 * are apart along it by more than they approach each other along it within the step, nothing else is looked
 * at, however fast they pass each other.
 *
 * What is kept is a state: it decides the bits of later contacts. So it belongs to snapshots, and it is
 * dropped as soon as a pair is not near any more, whether or not the broad phase still lists it.
 */
#ifndef SS_COLLISION_KEPT_H
#define SS_COLLISION_KEPT_H

#include <stickslip/collision.h>

enum { SS_KEPT_POINTS = 4, SS_KEPT_NOTHING = -1 };

typedef struct ss_kept_manifold {
    uint64_t pair;                    /* of shapes, as in state.h */
    int32_t count;                    /* of points, or SS_KEPT_NOTHING */
    int32_t base;                     /* 0: the frame of a is that of the next three; 1: of b */
    double shift[3];                  /* from the base's origin to the other's */
    double turn[9];                   /* of the other shape against the base */
    double normal[3];                 /* from a to b; without points, an axis that separates them, or 0 */
    double on[2][SS_KEPT_POINTS][3];  /* points on a and b, each in the frame of its own shape */
    double margin;                    /* m: nothing nearer than this is missing */
    uint32_t feature[SS_KEPT_POINTS]; /* without points: the outermost vertices along the axis */
} ss_kept_manifold;

/* From now on manifolds are kept. */
void ss_collision_keep(ss_collision *collision);
/* What is kept, by rising pairs; some entries hold nothing. The snapshot of another simulation of the same
 * world may take its place: false when out of memory. */
const ss_kept_manifold *ss_collision_kept(const ss_collision *collision, int *count);
bool ss_collision_take_kept(ss_collision *collision, const ss_kept_manifold *items, int count);

#endif
