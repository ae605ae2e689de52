/* sim/joint_system.h - all rigid joints of a world as one linear system S y = b, S = G M^-1 G' + a little: G
 * the Jacobian of their own equations, M the mass matrix of the dynamic bodies. Sparse over the graph of
 * joints that share a body. A rotor (ss_axis_law.armature) is a row that resists every change of its
 * coordinate's rate: without error, and with 1 / armature added to its diagonal.
 *
 * The diagonal is enlarged by a share of 1e-10: that is what holds redundant sets (planar loops) together,
 * and Newton's iterations around it remove what it changes. G, M and the factors are kept as long as poses
 * and joints are: the factors at the end of a step are those of the start of the next one. */
#ifndef SS_SIM_JOINT_SYSTEM_H
#define SS_SIM_JOINT_SYSTEM_H

#include <stickslip/model.h>

#include "linalg/block_ldl.h"
#include "linalg/factor.h"
#include "linalg/mat6.h"

/* A body that a joint holds and that moves. */
typedef struct ss_joint_member {
    int body;
    bool dynamic;                      /* else kinematic: moves, but as told */
    ss_body *now;                      /* in the world, since the last gathering */
    double position[3], quaternion[4]; /* when G was last seen */
    double mass, inertia[9];           /* when M was last inverted, and of the inertia */
    ss_mat3 inverse;                   /* the inverse, in the body's frame */
} ss_joint_member;

typedef struct ss_joint_block {
    int joint;
    int first, rows;             /* its rows of the system */
    int own;                     /* how many of them are its own equations; the others are rotors */
    int bodies;                  /* two, or more */
    int member[SS_JOINT_BODIES]; /* dynamic ones only; -1 = does not answer to impulses */
    int entry;                   /* of its rows in `jacobian` and `response`, 6 numbers for each body */
    /* as they were at the gathering: what the pattern depends on */
    int body[SS_JOINT_BODIES];
    ss_body_kind kind[SS_JOINT_BODIES];
    ss_joint_kind joint_kind;
    const ss_joint *now;     /* in the world, and the bodies of its sides, NULL for the world; */
    const ss_body *sides[2]; /* since the last gathering */
    ss_vec3 arm[2]; /* of a ball: to the anchor of b, when G was last seen; of a's with a minus sign */
    double sign[2]; /* of a ball: -1 for a, 1 for b, 0 for the world */
    /* as they were when G was last seen: what it depends on beside the poses of members */
    double anchors[2][3], frames[2][4], still[2][7]; /* still: poses of static bodies */
    bool depends_on_more;
} ss_joint_block;

/* Where two blocks hold the same dynamic body: columns of the one and of the other. */
typedef struct ss_shared_bodies {
    int count, one[SS_JOINT_BODIES], other[SS_JOINT_BODIES];
} ss_shared_bodies;

typedef struct ss_joint_system {
    int joint_count, row_count, member_count;
    ss_joint_block *blocks;
    ss_joint_member *members;
    int *member_of, body_count; /* of each body of the world: its member, -1 = none */
    ss_mass *inverse;           /* of each dynamic member, when last factored */
    double *jacobian;           /* as last seen */
    double *response;           /* M^-1 times it */
    double *scale;              /* 1 / sqrt of S's diagonal; 0 for a row that moves nothing */
    double *softness;           /* of rotors: 1 / armature; 0 of equations */
    double *work;
    int *neighbour_start, *neighbour; /* of block k: those before it that share a dynamic body, ascending */
    ss_shared_bodies *shared;         /* of each neighbour with its block; then of each block with itself */
    ss_block_ldl *ldl;                /* of mechanisms that are trees, or nearly */
    ss_sparse *matrix;                /* otherwise: the upper triangle */
    ss_ldl *sparse_ldl;
    bool is_seen, is_factored; /* G, and S with it */
    bool has_balls_only;       /* then there are no rows of numbers in `jacobian` and `response` */
} ss_joint_system;

void ss_joint_system_free(ss_joint_system *system);
/* Finds the joints that take part. The symbolic work is done again only when they are others than before;
 * then false when out of memory, with the system empty. */
bool ss_joint_system_gather(ss_joint_system *system, const ss_world *world, ss_error *err);
/* Violations at the present poses, of which it returns the largest. */
double ss_joint_system_violations(const ss_joint_system *system, const ss_world *world, double *violation);
/* G at the present poses; then M, the scales and the factors, at the same poses. Both are kept: nothing is
 * done where bodies and joints are as they were. */
void ss_joint_system_see(ss_joint_system *system, const ss_world *world);
bool ss_joint_system_factor(ss_joint_system *system, ss_error *err);

/* G v with the G last seen; returns the largest. velocity: of all bodies; NULL: those of the world. */
double ss_joint_system_speed(const ss_joint_system *system, const ss_world *world,
                             const double (*velocity)[6], double *speed);
/* Largest of such errors, each over the square root of its entry on S's diagonal: one unit for
 * metres and radians. */
double ss_joint_system_size(const ss_joint_system *system, const double *error);
/* motion = M^-1 G' y with S y = -error, for each member; y is left in `work`. */
bool ss_joint_system_answer(ss_joint_system *system, const double *error, double (*motion)[6], ss_error *err);

#endif
