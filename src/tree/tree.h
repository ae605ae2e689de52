/* tree/tree.h - the bodies of a world as trees: which joints hold them, and how they move along the free
 * coordinates of these joints.
 *
 * Every dynamic body is a link. Its parent is the body at the other side of one of its joints; a link without
 * such a joint is the root of a tree and moves freely. Joints between links that are connected already close
 * loops, and stay constraints, as do all kinds that leave no simple coordinates. Coordinates are read from
 * the poses of the bodies and written back to them, so that the world alone is the state: snapshots, user
 * functions and broken joints need no care of their own.
 *
 * Featherstone, Rigid Body Dynamics Algorithms, 2008; here with vectors of the world, each link about its
 * centre of mass. */
#ifndef SS_TREE_TREE_H
#define SS_TREE_TREE_H

#include <stickslip/frame.h>
#include <stickslip/model.h>

#include "base/inner.h"
#include "linalg/quat.h"
#include "linalg/vec3.h"
#include "model/joint_geometry.h"

enum { SS_LINK_COORDINATES = 6 }; /* at most */

/* One coordinate of a link: what its rate adds to the link's velocity. */
typedef struct ss_link_axis {
    ss_vec3 linear, angular; /* m/s of the centre of mass and rad/s, per unit of the rate */
} ss_link_axis;

typedef struct ss_link {
    int body;         /* of the world */
    int parent;       /* link, -1: what does not move, or nothing */
    int joint;        /* -1: it moves freely, by its own six velocities */
    int side;         /* of the joint that the link is: 1 is b */
    int first, count; /* coordinates */
    int tree, depth;  /* depth: coordinates from the root of the tree up to and with its own */
    bool alone;       /* a free body without any joints of the trees */
    bool slides;      /* anchors of the joint's two sides move apart */
    ss_link_axis axis[SS_LINK_COORDINATES];
    /* of the joint, in the world: of each coordinate the relative spin of b, and the rate of its anchor's
     * slide as seen from a */
    ss_vec3 joint_spin[3], joint_slide[3];
    ss_joint_pose pose; /* of the joint, and what it was found from */
    ss_joint_kind kind;
    double local_anchor[2][3], local_frame[2][4], ratio;
    double rate[SS_LINK_COORDINATES];
    ss_quat turn;                   /* of the body, when axes and pose were found */
    ss_vec3 centre, velocity, spin; /* m, m/s, rad/s: as the rates have it */
    ss_vec3 acceleration, angular;  /* m/s^2 and rad/s^2 at constant rates: the bias */
    ss_vec3 force, torque;          /* N, N m: the bias as bias.c has it */
    bool has_force;                 /* it is to be used */
} ss_link;

/* Where a link is. */
typedef struct ss_link_pose {
    ss_vec3 centre; /* m */
    ss_quat turn;
} ss_link_pose;

typedef struct ss_trees {
    int count; /* links, parents first, trees one after the other */
    int trees, coordinates;
    ss_link *link;
    int *of_body;  /* link of each body of the world, -1 = none */
    int *of_joint; /* of each joint: the link that it holds, -1 = it is a constraint */
    bool *holds;   /* of each joint: whether it could hold one */
    int bodies, joints, body_room, joint_room;
    int *scratch;
    double (*wrench)[6]; /* of each link, or of each coordinate on the way to one */
    int wrench_room;
    ss_link_pose *reached; /* by a move */
} ss_trees;

/* The trees of a world as it is now, with poses and velocities; used again from step to step. */
bool ss_trees_update(ss_trees *trees, const ss_world *world, ss_error *err);
/* The links alone, not where they are; *other: they are not those that were there. */
bool ss_trees_find(ss_trees *trees, const ss_world *world, bool *other, ss_error *err);
/* Of one link: where its joint is, with its axes, and its rates. */
void ss_trees_read_link(ss_trees *trees, int link, const ss_world *world);
void ss_trees_free(ss_trees *trees);
/* What remains of the links' accelerations when the rates stay as they are: the explicit bias. */
void ss_trees_accelerate(ss_trees *trees);
/* The links' velocities become those of the bodies, without those that are alone. */
void ss_trees_write_velocities(const ss_trees *trees, ss_world *world);
/* Poses move by h times the rates (NULL: read from the bodies' velocities) along the joints, and the bodies'
 * velocities become those of the new poses. Bodies that are alone are left out. */
void ss_trees_move(ss_trees *trees, ss_world *world, const double *rates, double h);
/* The poses alone: after h at these rates, NULL = the links', from where their axes were found. */
void ss_trees_reach(const ss_trees *trees, const double *rates, double h, ss_link_pose *reached);
/* The joint of a link alone, after h at these rates: the turn of frame b in frame a, and the slide in a. */
void ss_link_advance(const ss_link *link, const double *rate, double h, ss_quat *turn, ss_vec3 *slide);
/* After something else has moved the bodies: what the joints do not allow of it is dropped, of poses and of
 * velocities. */
void ss_trees_settle(ss_trees *trees, ss_world *world);

/* The joints of the trees count their turns (ss_joint_follow), after such a move. */
void ss_trees_follow(const ss_trees *trees, ss_world *world);

/* Room for the coordinates of the trees in a frame whose bodies are these links' (place of each body of the
 * world, -1 = none): T, velocities; M without what joints add, forces zero. */
bool ss_trees_fill(ss_trees *trees, const int *place, ss_frame *frame, ss_error *err);
/* f = T' of the forces of the frame's bodies. */
void ss_trees_fill_forces(const ss_trees *trees, const int *place, ss_frame *frame);
/* The linear laws of a link's joint, along its coordinates: what they add to M, and to h f. */
typedef struct ss_link_law {
    double resistance[SS_LINK_COORDINATES][SS_LINK_COORDINATES];
    double push[SS_LINK_COORDINATES];
} ss_link_law;
/* Adds a row J v + C x + c = 0 (`block`: its part of J for the link's body): (J T)'(J T)/C to the resistance,
 * and -(J T)'(J T v + c)/C to the push. */
void ss_link_add_law(const ss_link *link, const double block[6], double C, double c, ss_link_law *law);
/* Mass and inertia of a link, in the world and about its centre. */
typedef struct ss_link_mass {
    double mass, inertia[9];
} ss_link_mass;
/* Articulated bodies: what each link is to its parent, with these masses and the resistances of the laws;
 * then, as often as forces (N, N m, on each link) change, rates after a step of h (s) without constraints and
 * contacts, and by how much the velocities of the links change. Both are linear in the number of links. */
typedef struct ss_articulated ss_articulated;
ss_articulated *ss_trees_factor(const ss_trees *trees, const ss_link_mass *masses, const ss_link_law *laws,
                                ss_arena *scratch, ss_error *err);
void ss_trees_solve(const ss_trees *trees, ss_articulated *all, double h, const double (*force)[6],
                    const ss_link_law *laws, double *rate, double (*change)[6]);
/* The factor is M + R = (F'F)^-1, F triangular, so that impulses and velocities have one set of coordinates
 * in which the mass is one: what impulses p do is z = F T' p, and rates change by F' z. Three impulses on a
 * link (about its centre) as columns of F T': entries at the coordinates `index` from the link to
 * its root, whose number is returned; the fourth column is zero. Then the changes of rates and of the links'
 * velocities that belong to a z. */
int ss_trees_project(const ss_trees *trees, const ss_articulated *all, int link, const ss_link_axis push[3],
                     int *index, double (*column)[4]);
void ss_trees_respond(const ss_trees *trees, ss_articulated *all, const double *z, double *rate,
                      double (*change)[6]);

/* The bias of a step of h as forces of the links (bias.c), for those that have none yet. Bodies that are
 * alone are left out. Midway: force without any bias; rate and change are those of ss_trees_solve with force
 * and bias. A tree whose iteration does not converge is left without. */
bool ss_trees_turn_midway(ss_trees *trees, double h, const ss_link_mass *masses, const double (*force)[6],
                          const ss_link_law *laws, ss_articulated *factored, double *rate,
                          double (*change)[6], ss_arena *scratch, ss_error *err);
bool ss_trees_carry(ss_trees *trees, double h, const ss_link_mass *masses, ss_arena *scratch, ss_error *err);

/* Links with all they know, into memory that is used again. */
bool ss_trees_copy(const ss_trees *from, ss_trees *to, ss_error *err);

/* A row of a joint that a link hangs on, along the coordinates of the link: J T. */
void ss_link_project(const ss_link *link, const double block[6], double row[SS_LINK_COORDINATES]);

#endif
