/* stickslip/collision.h - from a world to contact points.
 *
 * Broad phase: a dynamic tree of enlarged boxes around every shape. Narrow phase: one function per pair of
 * shape kinds (pairs.def). Contact points are found up to a margin before bodies touch, with the true signed
 * distance as gap, and carry a key made of the features that touch, which stays the same from step to step.
 *
 * Same world, same contacts in the same order, for any number of threads: pairs are visited in the order of
 * their shape numbers.
 *
 * Read after model.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_COLLISION_H
#define STICKSLIP_COLLISION_H

#include <stickslip/model.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SS_MANIFOLD_MOST 32 /* points of one pair of shapes before reduction */

/* One point where shape a meets shape b. */
typedef struct ss_contact_point {
    double point[3];  /* halfway between the two surfaces */
    double normal[3]; /* unit, from a to b */
    double gap;       /* signed distance along the normal: < 0 overlapping */
    uint32_t feature; /* which features touch, stable from step to step as long as the same ones do */
} ss_contact_point;

typedef struct ss_manifold {
    int count;
    ss_contact_point points[SS_MANIFOLD_MOST];
} ss_manifold;

/* A shape at its place in the world. */
typedef struct ss_placed_shape {
    const ss_shape *shape;
    /* data precomputed for hulls, meshes and heightfields; else NULL */
    const struct ss_geometry *geometry;
    double position[3];
    double rotation[9]; /* to the world, row by row */
    int number;         /* of the shape in its world */
} ss_placed_shape;

/* One contact of the world, ready for a frame. */
typedef struct ss_contact {
    int shape_a, shape_b; /* a is the first of the pair, from which `normal` points */
    int body_a, body_b;   /* SS_WORLD for shapes of the world */
    double point[3], normal[3], gap;
    ss_material_pair material;
    double surface_velocity[3]; /* of b's surface minus a's, world frame: belts */
    uint64_t key;               /* shapes and feature, unique within a step */
    int group;                  /* of alternatives, from 1 (docs/peg.md); 0 = an ordinary contact */
} ss_contact;

typedef struct ss_contact_list {
    int count;
    ss_contact *items;
} ss_contact_list;

typedef struct ss_collision_options {
    /* m: contacts up to this gap; 0 = by speed: h * approach + 1 % of the smaller shape's size */
    double margin;
    /* points kept per pair of shapes and normal; 0 = all. Keeps the deepest ones and the largest area */
    int reduce;
} ss_collision_options;
extern SS_API const ss_option ss_collision_option_table[];

typedef struct ss_collision ss_collision; /* the tree, the pairs and their memory */
SS_API ss_collision *ss_collision_create(const ss_world *world, const ss_collision_options *options,
                                         ss_error *err);
SS_API void ss_collision_destroy(ss_collision *collision);
/* Contacts of the world as it is now. h (s) and the velocities only enlarge boxes and margins. The list lives
 * until the next call. */
SS_API bool ss_collision_find(ss_collision *collision, double h, ss_team *team, ss_contact_list *contacts,
                              ss_error *err);

/* The work of the last call, for the profile. */
typedef struct ss_collision_work {
    int pairs_tested, pairs_touching, contacts;
    double broad_seconds, narrow_seconds;
} ss_collision_work;
SS_API ss_collision_work ss_collision_last_work(const ss_collision *collision);

/* The narrow phase of one pair alone, by the same table: contacts with gap <= margin. */
SS_API void ss_collide(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                       ss_manifold *manifold);
/* Replaces the narrow phase for a pair of kinds (a <= b as in ss_shape_kind) by a user function; NULL
 * restores ours. Several threads call it at once, and sometimes twice for a pair: its result must depend on
 * its arguments alone. */
typedef void ss_pair_function(const ss_placed_shape *a, const ss_placed_shape *b, double margin,
                              ss_manifold *manifold, void *context);
SS_API bool ss_collision_replace(ss_collision *collision, ss_shape_kind a, ss_shape_kind b,
                                 ss_pair_function *function, void *context, ss_error *err);

/* Closest point of all shapes along a ray: shape number or -1; distance along the unit direction. */
SS_API int ss_collision_ray(ss_collision *collision, const double origin[3], const double direction[3],
                            double most, double *distance, double normal[3]);

#ifdef __cplusplus
}
#endif
#endif
