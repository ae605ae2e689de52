/* collision/gather.h - puts the contact points that a polyhedral pair function finds into a manifold. */
#ifndef SS_COLLISION_GATHER_H
#define SS_COLLISION_GATHER_H

#include <stickslip/collision.h>

#include "collision/features.h"
#include "linalg/mat3.h"

#include <math.h>

/* Points come in the frame of the placed shape `frame`, with normals and features from `first` to `second`. */
typedef struct ss_gather {
    ss_manifold *manifold;
    ss_mat3 turn; /* to the world */
    ss_vec3 shift;
    bool flip;     /* `first` is shape b of the manifold */
    double margin; /* larger gaps are dropped */
    double round;  /* the second shape is a ball of this radius around every point of what is given */
    double
        apart; /* > 0: a point nearer than this to one that is there is dropped, and so is a known feature */
    double deepest; /* smallest gap that was kept, without `round`; INFINITY while there is none */
    bool crowded;   /* more than the manifold holds: it keeps the deepest and the outermost */
} ss_gather;

ss_gather ss_gather_start(ss_manifold *manifold, const ss_placed_shape *frame, double margin, bool flip);
/* Forgets what was gathered. */
void ss_gather_restart(ss_gather *gather);
/* `point` is halfway between the surfaces, before `round`. */
void ss_gather_add(ss_gather *gather, ss_vec3 point, ss_vec3 normal, double gap, ss_feature first,
                   ss_feature second);
/* After the last point. */
void ss_gather_finish(ss_gather *gather);

#endif
