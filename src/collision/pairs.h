/* collision/pairs.h - the narrow phase, one function per pair of shape kinds (pairs.def).
 *
 * Contract of every function: kinds in the order of ss_shape_kind; `manifold` comes in with any contents and
 * goes out with all contacts of gap <= margin (margin >= 0). Normals point from a to b, gaps are true signed
 * distances along them, points lie halfway between the two surfaces, and no two points of a manifold have the
 * same feature. Nothing in it may depend on the unit of length or on where in the world the pair is. */
#ifndef SS_COLLISION_PAIRS_H
#define SS_COLLISION_PAIRS_H

#include <stickslip/collision.h>

#include "linalg/mat3.h"

typedef void ss_collide_function(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                                 ss_manifold *manifold);

#define SS_PAIR(KIND_A, KIND_B, function) ss_collide_function ss_collide_##function;
#include "collision/pairs.def"
#undef SS_PAIR

/* NULL: the two never touch. Needs a <= b. */
ss_collide_function *ss_pair_find(ss_shape_kind a, ss_shape_kind b);

/* ---- what the functions share ----------------------------------------------------------------------- */

/* A point with its surfaces `gap` apart; ignored when the manifold is full. */
static inline void ss_manifold_add(ss_manifold *manifold, ss_vec3 point, ss_vec3 normal, double gap,
                                   uint32_t feature)
{
    if (manifold->count == SS_MANIFOLD_MOST) return;
    ss_contact_point *to = &manifold->points[manifold->count++];
    ss_vec3_store(point, to->point);
    ss_vec3_store(normal, to->normal);
    to->gap = gap;
    to->feature = feature;
}

/* The same contacts seen from the other side. */
static inline void ss_manifold_flip(ss_manifold *manifold)
{
    for (int i = 0; i < manifold->count; i++)
        for (int k = 0; k < 3; k++) manifold->points[i].normal[k] *= -1.0;
}

static inline ss_vec3 ss_placed_position(const ss_placed_shape *shape)
{
    return ss_vec3_load(shape->position);
}

/* Axis k of the shape's frame in the world: column k of its rotation. */
static inline ss_vec3 ss_placed_axis(const ss_placed_shape *shape, int k)
{
    return (ss_vec3){shape->rotation[k], shape->rotation[3 + k], shape->rotation[6 + k]};
}

static inline ss_vec3 ss_placed_turn(const ss_placed_shape *shape, ss_vec3 v)
{
    return ss_mat3_apply(ss_mat3_load(shape->rotation), v);
}

static inline ss_vec3 ss_placed_turn_back(const ss_placed_shape *shape, ss_vec3 v)
{
    return ss_mat3_apply_transposed(ss_mat3_load(shape->rotation), v);
}

static inline ss_vec3 ss_placed_to_world(const ss_placed_shape *shape, ss_vec3 local)
{
    return ss_vec3_add(ss_placed_position(shape), ss_placed_turn(shape, local));
}

static inline ss_vec3 ss_placed_to_local(const ss_placed_shape *shape, ss_vec3 world)
{
    return ss_placed_turn_back(shape, ss_vec3_subtract(world, ss_placed_position(shape)));
}

#endif
