/* collision/state.h - the inside of ss_collision, for its own files alone.
 *
 *     proxies (proxy.c)  a shape at its place: tight box for this step, fat box in the tree
 *     pairs (broad_phase.c)    whose fat boxes meet and that may touch; kept from step to step, by
 *                              rising shape numbers
 *     contacts (narrow_phase.c)
 */
#ifndef SS_COLLISION_STATE_H
#define SS_COLLISION_STATE_H

#include <stickslip/collision.h>

#include "collision/alternatives.h"
#include "collision/bvh.h"
#include "collision/kept.h"
#include "collision/polyhedron.h"
#include "model/world.h"

/* Of the smaller shape's size: contacts up to this gap are kept whatever the speed. */
#define SS_MARGIN_SHARE 0.01

typedef struct ss_proxy {
    ss_placed_shape placed;
    double state[30]; /* what `placed` and the boxes were made from, to see whether it changed */
    ss_box around;    /* ss_turned_box */
    ss_vec3 centre, linear, angular; /* of the body: centre of mass, velocity */
    double radius;                   /* all of the shape is within, about its origin */
    double size;                     /* smallest extent; infinite for planes, meshes and heightfields */
    double speed;  /* m/s, no point of the surface approaches anything faster by its own motion */
    double margin; /* contacts are looked for so far beyond the shape */
    int body, material;
    ss_vec3 belt;    /* the shape's surface velocity, in the world */
    uint64_t filter; /* a number made of everything of the shape that ss_world_may_touch depends on */
    bool active, dynamic;
} ss_proxy;

/* What is looked at for every shape or pair in every step is kept by itself, close together in memory: */

/* where a shape is in the tree, and the news of this step, */
typedef struct ss_tree_place {
    int leaf;        /* -1: not in the tree */
    bool has_leaf;   /* it should be */
    bool leaves;     /* it left its fat box */
    bool refiltered; /* it may touch others than before */
    bool reshaped;   /* it is another one */
} ss_tree_place;

/* and what the margins of pairs are made from. */

typedef struct ss_ball {
    ss_vec3 centre;
    double radius;       /* m: all of the shape is within; infinite for planes */
    ss_vec3 way;         /* m: of the centre in this step, at its present velocity */
    double turn;         /* rad: how far the shape turns in this step */
    double size, margin; /* as in ss_proxy */
} ss_ball;

/* (a, b) with a < b as one number that sorts like the pair. */
typedef uint64_t ss_shape_pair;
static inline ss_shape_pair ss_shape_pair_make(int a, int b)
{
    return a < b ? (uint64_t)a << 32 | (uint32_t)b : (uint64_t)b << 32 | (uint32_t)a;
}
static inline int ss_shape_pair_a(ss_shape_pair pair)
{
    return (int)(pair >> 32);
}
static inline int ss_shape_pair_b(ss_shape_pair pair)
{
    return (int)(pair & 0xffffffffu);
}

typedef struct ss_pair_list {
    int count, capacity;
    ss_shape_pair *items;
} ss_pair_list;

/* Where the contacts of a pair are: points first .. first + count - 1 of a worker's store; and where they go
 * in the list. */
typedef struct ss_pair_result {
    int worker, first, count, place;
} ss_pair_result;

/* What one worker found; `wanted` goes on counting when the store is full. */
typedef struct ss_point_store {
    int capacity, wanted;
    ss_contact_point *items;
} ss_point_store;

/* Where a pair's manifold was kept in the last step, and where it goes; NULL = nowhere. */
typedef struct ss_kept_slot {
    ss_kept_manifold *from, *to;
} ss_kept_slot;

typedef struct ss_replacement {
    ss_pair_function *function;
    void *context;
} ss_replacement;

struct ss_collision {
    const ss_world *world;
    ss_collision_options options;
    ss_replacement replaced[SS_SHAPE_KINDS][SS_SHAPE_KINDS];
    double h, gravity; /* s, m/s^2 */
    uint32_t met;      /* groups of all shapes: one that collides with none of them need not be followed */

    int proxy_count, proxy_capacity;
    ss_proxy *proxies;
    ss_tree_place *places; /* of the proxies, as the following */
    ss_box *fat, *tight;   /* tight: with the margin of this step. Of what takes no part: turned inside out */
    ss_ball *balls;
    int plane_count, moved_count;
    int *planes, *moved; /* numbers of proxies */
    bool *has_moved;     /* is in `moved` */
    ss_bvh tree;
    uint64_t joint_filters; /* like ss_proxy.filter, of joints and of bodies kept apart */
    bool refiltered;        /* some proxy was, since the pairs were last found */

    ss_pair_list pairs, fresh, spare;
    int *buckets; /* by which pairs are sorted: one for each proxy, and one more */
    int near_count, pair_capacity;
    int *near;               /* which of the pairs may have contacts in this step */
    double *margins;         /* m, of each pair: no contact with a larger gap counts; -1: none can */
    ss_pair_result *results; /* of those that are near */
    int store_count;
    ss_point_store *stores; /* one per worker */
    int contact_capacity;
    ss_contact_list contacts;
    double (*free_velocity)[6]; /* the caller's; NULL: no alternatives */
    bool by_vertices;           /* a group for each vertex, not for each pair */
    ss_group_list groups;

    /* kept manifolds (kept.h) */
    bool keeps;
    int kept_count, kept_capacity, kept_next_capacity;
    ss_kept_manifold *kept, *kept_next; /* of the last step, and room for the next one */
    ss_kept_slot *slots;                /* of each pair that is near */

    ss_collision_work work;
};

/* A slot for every pair that is near and worth it. */
bool ss_kept_follow_pairs(ss_collision *collision, ss_error *err);
/* How much wider a margin must be for what is kept to last. */
double ss_kept_reserve(const ss_proxy *a, const ss_proxy *b);
/* Nothing within the margin is missing. */
bool ss_kept_holds(const ss_kept_manifold *kept, const ss_proxy *a, const ss_proxy *b, double margin);
/* margin: with which it was found. Keeps nothing of what has several normals, or too many points. */
void ss_kept_fill(const ss_manifold *manifold, const ss_proxy *a, const ss_proxy *b, double margin,
                  ss_kept_manifold *kept);
/* There are no contacts: two hulls are so far apart along this axis of the world, from a to b. */
void ss_kept_part(const ss_proxy *a, const ss_proxy *b, double separation, ss_vec3 axis,
                  ss_kept_manifold *kept);
/* Are two hulls still farther apart along the axis that is kept than they may approach each other? Then `to`
 * is what is kept of their new places. */
bool ss_kept_are_apart(const ss_kept_manifold *kept, const ss_proxy *a, const ss_proxy *b,
                       const ss_approach *approach, ss_kept_manifold *to);
void ss_kept_read(const ss_kept_manifold *kept, const ss_proxy *a, const ss_proxy *b, ss_manifold *manifold);

/* Places, boxes and the tree follow the world; unless all, those of shapes that can meet others. */
bool ss_proxies_update(ss_collision *collision, bool all, ss_team *team, ss_error *err);
/* Does the box reach into the half-space? */
bool ss_box_meets_plane(const ss_box *box, const ss_placed_shape *plane);
/* Pairs follow the boxes. */
bool ss_pairs_update(ss_collision *collision, ss_error *err);
bool ss_contacts_find(ss_collision *collision, ss_team *team, ss_error *err);
/* The pair is left to ss_collision_find_groups. */
bool ss_collision_has_alternatives(const ss_collision *collision, ss_shape_pair pair);
bool ss_collision_find_groups(ss_collision *collision, ss_team *team, ss_error *err);

#endif
