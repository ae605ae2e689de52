/* model/world.h - the inside of a world. Only src/model looks into it; the rooms of the step include it for
 * the lookups below, all others <stickslip/model.h> and model/geometry.h. */
#ifndef SS_MODEL_WORLD_H
#define SS_MODEL_WORLD_H

#include "linalg/quat.h"
#include "model/array.h"
#include "model/geometry.h"

#include <math.h>

/* What the world keeps of a body besides the user's copy, which the user may write into. */
typedef struct ss_body_record {
    char *name;
    bool finished;           /* ss_world_finish has found its centre of mass */
    double mass, inertia[9]; /* as ss_world_finish computed them; 0 = it did not, they are the user's */
} ss_body_record;

typedef struct ss_shape_record {
    ss_geometry *geometry;
    ss_mesh *mesh;
    double *heights;
} ss_shape_record;

typedef struct ss_named_pair {
    uint64_t key; /* ss_pair_key of two numbers */
    ss_material_pair pair;
} ss_named_pair;

/* Two bodies that do not touch: always, or as long as a joint says so. */
typedef struct ss_separation {
    uint64_t key;
    int joint; /* -1 = by ss_world_separate */
} ss_separation;

struct ss_world {
    int body_count, body_capacity, body_record_capacity;
    ss_body *bodies;
    ss_body_record *body_records;
    int shape_count, shape_capacity, shape_record_capacity;
    ss_shape *shapes;
    ss_shape_record *shape_records;
    int joint_count, joint_capacity, joint_name_capacity;
    ss_joint *joints;
    char **joint_names;
    int material_count, material_capacity;
    ss_material *materials;
    int pair_count, pair_capacity;
    ss_named_pair *pairs; /* by rising key */
    int separation_count, separation_capacity;
    ss_separation *separations; /* by rising key, then joint */
    double gravity[3];
};

/* ---- lookups ---------------------------------------------------------------------------------------- */

/* Part of every loop over bodies, joints and shapes: inlined within the library, and functions for its users,
 * which world.c makes of them. */
#ifndef SS_LOOKUP
#define SS_LOOKUP extern inline __attribute__((gnu_inline))
#endif
SS_LOOKUP int ss_world_body_count(const ss_world *world)
{
    return world->body_count;
}
SS_LOOKUP int ss_world_shape_count(const ss_world *world)
{
    return world->shape_count;
}
SS_LOOKUP int ss_world_joint_count(const ss_world *world)
{
    return world->joint_count;
}
SS_LOOKUP ss_body *ss_world_body(const ss_world *world, int body)
{
    return body >= 0 && body < world->body_count ? &world->bodies[body] : NULL;
}
SS_LOOKUP ss_shape *ss_world_shape(const ss_world *world, int shape)
{
    return shape >= 0 && shape < world->shape_count ? &world->shapes[shape] : NULL;
}
SS_LOOKUP ss_joint *ss_world_joint(const ss_world *world, int joint)
{
    return joint >= 0 && joint < world->joint_count ? &world->joints[joint] : NULL;
}

/* ---- materials and pairs ---------------------------------------------------------------------------- */

static inline bool ss_material_has_grain(const ss_material *material)
{
    return ss_vec3_max_abs(ss_vec3_load(material->grain)) > 0.0;
}

/* The same for (a, b) and (b, a). */
static inline uint64_t ss_pair_key(int a, int b)
{
    uint32_t low = (uint32_t)(a < b ? a : b) ^ 0x80000000u, high = (uint32_t)(a < b ? b : a) ^ 0x80000000u;
    return (uint64_t)low << 32 | high;
}

/* Fails with the field named unless all numbers are finite. */
bool ss_require_finite(const double *values, int count, const char *field, ss_error *err);
bool ss_require_not_negative(double value, const char *field, ss_error *err);
/* All zeros become the identity, everything else a unit quaternion. */
bool ss_require_rotation(double quaternion[4], const char *field, ss_error *err);

/* Dynamic bodies carry solids, meshes move only as told, planes and heightfields never. */
bool ss_shape_fits_body(ss_shape_kind shape, const ss_body *body, ss_error *err);

/* What gravity is multiplied with. */
static inline double ss_body_gravity_scale(const ss_body *body)
{
    if (isnan(body->gravity_scale)) return 0.0;
    return body->gravity_scale == 0.0 ? 1.0 : body->gravity_scale;
}

/* ---- joints ----------------------------------------------------------------------------------------- */

/* The joint frame of side 0 (fixed in a) or 1 (fixed in b) as it stood in the world when the joint was
 * placed. z is the axis; x is any direction across it, the same for both sides. But:
 *   universal  a: z = axis, x = axis2 made perpendicular to axis; b: z = axis2, x = axis made
 *              perpendicular to axis2
 *   gear       a: z = axis; b: z = axis2; x across each */
ss_quat ss_joint_start_frame(const ss_joint *joint, int side);

/* Checks the joint's axes, makes them unit vectors and fills local_anchor, local_frame and
 * start_length from the present poses of its bodies: point in the world = x + R local_anchor, frame in
 * the world = q local_frame. */
bool ss_joint_place(const ss_world *world, ss_joint *joint, ss_error *err);

/* Bodies of a joint stay apart (ss_joint.bodies_collide): told once, when it is added. */
bool ss_world_note_joint(ss_world *world, int joint, ss_error *err);

#endif
