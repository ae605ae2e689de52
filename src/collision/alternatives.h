/* collision/alternatives.h - polyhedral exact geometry: everything that may keep two convex polyhedra apart
 * within a step (docs/peg.md).
 *
 * The free space of a against b is the outside of one convex polyhedron, their Minkowski difference: the two
 * are apart if they are apart along the normal of ANY of its facets. A facet is a face of a, a face of b, or
 * two edges that cross. Each one that may matter within the step is an alternative, with the manifold that is
 * seen along its normal. */
#ifndef SS_COLLISION_ALTERNATIVES_H
#define SS_COLLISION_ALTERNATIVES_H

#include <stickslip/collision.h>

#include "collision/separating_axes.h"

/* Share of the thinner body's width by which the straight path of a step may cut a corner: 0 gives more
 * impulses at grazed corners, infinity lets thin bodies through. Frames store the product alone. */
#define SS_CUT_SHARE 0.05

typedef struct ss_alternative_point {
    double point[3]; /* halfway between the surfaces, world */
    double gap;      /* along the alternative's normal */
    bool test;       /* does not touch now: tells whether the alternative holds, carries no impulse */
    uint64_t key;    /* of pair, alternative and features */
} ss_alternative_point;

typedef struct ss_alternative {
    ss_axis_kind kind;
    double normal[3];  /* unit, world, from a to b */
    double separation; /* min over b of n.x minus max over a of n.x */
    int first, count;  /* its points */
} ss_alternative;

/* One pair of convex polyhedra. */
typedef struct ss_contact_group {
    int shape[2], body[2];
    ss_material_pair material;
    double surface_velocity[3]; /* of b's surface minus a's: belts */
    double size;                /* m: width of the thinner one */
    double cut;                 /* m: how deep the straight path of a step may cut */
    double radius[2];           /* m: of each shape about the centre of its body */
    double centre[2][3];        /* m: of the bodies */
    double turn[2];             /* rad: by how much each body may turn within the step */
    double reach;               /* m: by how much their distance may change within the step */
    double margin;              /* m: and what is looked at beyond that */
    int first, count;           /* its alternatives, the best one first */
} ss_contact_group;

/* Memory is kept from step to step; ss_group_list_free on a zeroed one is safe. */
typedef struct ss_group_list {
    int count, capacity;
    ss_contact_group *groups;
    int alternative_count, alternative_capacity;
    ss_alternative *alternatives;
    int point_count, point_capacity;
    ss_alternative_point *points;
} ss_group_list;
void ss_group_list_free(ss_group_list *list);

/* Adds the groups of pair i of many to the list. */
typedef bool ss_group_function(int i, ss_group_list *to, void *context, ss_error *err);
/* All of them by the threads of a team (NULL: one), in order: the list does not depend on who found what. */
bool ss_group_list_fill(ss_group_list *list, int count, ss_team *team, ss_group_function *function,
                        void *context, ss_error *err);

/* Sets turn and reach by velocities of the two bodies; those larger already stay. NULL: it does not move. */
void ss_group_reach(ss_contact_group *group, double h, const double *a, const double *b);

/* Boxes and hulls. */
bool ss_shape_is_polyhedron(const ss_placed_shape *shape);

/* Adds the group of two polyhedra if they may meet within the step, that is, unless they are apart by more
 * than reach + margin. `group` says everything but its alternatives. reduce: most force points per
 * alternative, 0 = all. */
bool ss_group_find(const ss_placed_shape *a, const ss_placed_shape *b, const ss_contact_group *group,
                   int reduce, ss_group_list *list, ss_error *err);

/* As RPI-MATLAB-Simulator has it: a group for each vertex near the other body, whose alternatives are the
 * faces of that body, with one point each. Nothing keeps edges apart that cross. */
bool ss_vertex_groups_find(const ss_placed_shape *a, const ss_placed_shape *b, const ss_contact_group *group,
                           ss_group_list *list, ss_error *err);

/* Adds the force points of each group's first alternative to a list of contacts that has room for them. */
void ss_collision_list_groups(const ss_group_list *groups, ss_contact_list *contacts);
/* A shape of the world at its place, its body being `at` (NULL: the world). */
ss_placed_shape ss_shape_place(const ss_world *world, int shape, const ss_body *at);

/* The largest separation over all directions: negative when they overlap. */
double ss_polyhedra_separation(const ss_placed_shape *a, const ss_placed_shape *b);

/* From now on ss_collision_find finds groups of alternatives for pairs of polyhedra; their first alternative
 * is among the contacts (ss_contact.group). free_velocity: of every body of the world, as it would be at the
 * end of the step without contacts; must live as long as it is used. by_vertices: ss_vertex_groups_find. */
void ss_collision_use_alternatives(ss_collision *collision, double (*free_velocity)[6], bool by_vertices);
const ss_group_list *ss_collision_groups(const ss_collision *collision);

#endif
