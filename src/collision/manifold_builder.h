/* collision/manifold_builder.h - puts the contact points that a polyhedral pair function finds
 * into a manifold. */
#ifndef SS_COLLISION_MANIFOLD_BUILDER_H
#define SS_COLLISION_MANIFOLD_BUILDER_H

#include <stickslip/collision.h>

#include "collision/features.h"
#include "linalg/mat3.h"

#include <math.h>

/* Points come in the frame of the placed shape `frame`, with normals and features from
 * `first` to `second`. */
typedef struct ss_manifold_builder {
    ss_manifold *manifold;
    ss_mat3 turn; /* to the world */
    ss_vec3 shift;
    bool flip;     /* `first` is shape b of the manifold */
    double margin; /* larger gaps are dropped */
    double round;  /* the second shape is a ball of this radius around every point of what is given */
    /* > 0: a point nearer than this to one that is there is dropped, and so is a known feature */
    double apart;
    double deepest; /* smallest gap that was kept, without `round`; INFINITY while there is none */
    bool crowded;   /* more than the manifold holds: it keeps the deepest and the outermost */
    /* Of polyhedra that were found to be farther apart than the margin: how far, and in which direction. */
    double separation; /* 0: not known */
    ss_vec3 axis;      /* unit, from the first to the second */
} ss_manifold_builder;

ss_manifold_builder ss_manifold_builder_start(ss_manifold *manifold, const ss_placed_shape *frame,
                                              double margin, bool flip);
/* Forgets what was gathered. */
void ss_manifold_builder_restart(ss_manifold_builder *builder);
/* `point` is halfway between the surfaces, before `round`. */
void ss_manifold_builder_add(ss_manifold_builder *builder, ss_vec3 point, ss_vec3 normal, double gap,
                             ss_feature first, ss_feature second);
/* After the last point. */
void ss_manifold_builder_finish(ss_manifold_builder *builder);

#endif
