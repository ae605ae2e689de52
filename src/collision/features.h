/* collision/features.h - names of what touches: vertices, edges and faces of polyhedra by their numbers.
 *
 * A contact is named by the pair of features that makes it: vertex on face, edge across edge. The name is
 * the same whichever of the two bodies the contact was computed from, so it survives a change of
 * reference face. */
#ifndef SS_COLLISION_FEATURES_H
#define SS_COLLISION_FEATURES_H

#include <stdint.h>

typedef enum ss_feature_kind {
    SS_VERTEX,
    SS_EDGE,
    SS_FACE,
} ss_feature_kind;

typedef struct ss_feature {
    ss_feature_kind kind;
    int index;
} ss_feature;

/* 2 bits of kind and 14 bits of number for each side. Polyhedra with more than 16384 edges
 * share some names. */
static inline uint32_t ss_feature_name(ss_feature feature)
{
    return (uint32_t)feature.kind << 14 | ((uint32_t)feature.index & 0x3fffu);
}

static inline uint32_t ss_feature_pair(ss_feature a, ss_feature b)
{
    return ss_feature_name(a) << 16 | ss_feature_name(b);
}

#endif
