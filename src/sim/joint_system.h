/* sim/joint_system.h - all rigid joints of a world as one linear system S y = b, S = G M^-1 G' + a little: G
 * the Jacobian of their own equations, M the mass matrix of the dynamic bodies. Sparse over the graph of
 * joints that share a body. A rotor (ss_axis_law.armature) is a row that resists every change of its
 * coordinate's rate: without error, and with 1 / armature added to its diagonal.
 *
 * Rows are scaled to a unit diagonal, which makes metres and radians alike, and 1e-10 is added to it:
 * that is what holds redundant sets (planar loops) together, and Newton's iterations around it remove
 * what it changes. */
#ifndef SS_SIM_JOINT_SYSTEM_H
#define SS_SIM_JOINT_SYSTEM_H

#include <stickslip/model.h>

#include "linalg/factor.h"
#include "linalg/mat6.h"

/* A body that a joint holds and that moves. */
typedef struct ss_joint_member {
    int body;
    bool dynamic;                      /* else kinematic: moves, but as told */
    double position[3], quaternion[4]; /* when G was last seen */
} ss_joint_member;

typedef struct ss_joint_block {
    int joint;
    int first, rows;             /* its rows of the system */
    int own;                     /* how many of them are its own equations; the others are rotors */
    int bodies;                  /* two, or more */
    int member[SS_JOINT_BODIES]; /* dynamic ones only; -1 = does not answer to impulses */
    /* as they were at the gathering: what the pattern depends on */
    int body[SS_JOINT_BODIES];
    ss_body_kind kind[SS_JOINT_BODIES];
} ss_joint_block;

typedef struct ss_joint_system {
    int joint_count, row_count, member_count;
    ss_joint_block *blocks;
    ss_joint_member *members;
    ss_mass *inverse;                        /* of each dynamic member, when last factored */
    double (*jacobian)[6 * SS_JOINT_BODIES]; /* as last seen */
    double (*response)[6 * SS_JOINT_BODIES]; /* M^-1 times it */
    double *scale;                           /* 1 / sqrt of S's diagonal; 0 for a row that moves nothing */
    double *softness;                        /* of rotors: 1 / armature; 0 of equations */
    double *work;
    int *neighbour_start, *neighbour; /* of block k: those before it that share a dynamic body, ascending */
    ss_sparse *matrix;                /* upper triangle */
    ss_ldl *ldl;
} ss_joint_system;

void ss_joint_system_free(ss_joint_system *system);
/* Finds the joints that take part. The symbolic work is done again only when they are others than before;
 * then false when out of memory, with the system empty. */
bool ss_joint_system_gather(ss_joint_system *system, const ss_world *world, ss_error *err);
/* G and violations (NULL: not wanted) at the present poses, of which it returns the largest; and then M, the
 * scales and the factors, at the same poses. */
double ss_joint_system_see(ss_joint_system *system, const ss_world *world, double *violation);
bool ss_joint_system_factor(ss_joint_system *system, const ss_world *world, ss_error *err);
/* The members are where they were when G was last seen. Whatever else it depends on is for the caller to
 * know. */
bool ss_joint_system_sees(const ss_joint_system *system, const ss_world *world);

/* G v with the G last seen; returns the largest. */
double ss_joint_system_speed(const ss_joint_system *system, const ss_world *world, double *speed);
/* Largest of such errors, each over the square root of its entry on S's diagonal: one unit for
 * metres and radians. */
double ss_joint_system_size(const ss_joint_system *system, const double *error);
/* motion = M^-1 G' y with S y = -error, for each member */
bool ss_joint_system_answer(ss_joint_system *system, const double *error, double (*motion)[6], ss_error *err);

#endif
