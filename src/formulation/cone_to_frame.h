/* formulation/cone_to_frame.h - what the parts of ss_frame_from_cone share. */
#ifndef FORMULATION_CONE_TO_FRAME_H
#define FORMULATION_CONE_TO_FRAME_H

#include <stickslip/formulation.h>

#include "linalg/mat3.h"

/* How far a number may be from the rigid-body value and still count as it: what single precision leaves of it
 * after a few operations. */
#define SS_RIGID 1e-6

/* A few columns of H or G that belong together, body by body. */
typedef struct ss_rigid_block {
    int bodies;             /* 0, 1 or 2; more are counted, not kept */
    int body[2];            /* ascending */
    double column[2][5][6]; /* body, column, dof */
} ss_rigid_block;
void ss_rigid_block_read(const ss_sparse *matrix, int first, int count, ss_rigid_block *block);

typedef struct ss_rigid_contact {
    bool is_limit; /* no tangents: a joint limit, or anything else that only pushes */
    int pair[2];   /* a, b */
    ss_vec3 normal, tangent;
    ss_vec3 r_a, r_b; /* zero for the world */
} ss_rigid_contact;

/* Reads every contact out of H. Fails, with count and size of the deviation, when they are not those of rigid
 * bodies in the world frame. `contacts` has room for all. */
bool ss_rigid_contacts_read(const ss_cone *cone, ss_rigid_contact *contacts, ss_findings *findings,
                            ss_error *err);

/* How many contacts have frames that are not orthonormal, and the worst of them. False when the question
 * makes no sense: a local or planar problem, or one whose mass matrix is not that of rigid bodies. */
bool ss_rigid_skewness(const ss_cone *cone, int *skewed, int *worst, double *largest);

/* Positions of the bodies so that the lever arms of every contact meet in one point. Where they cannot
 * (*meet = false) the positions are right for as many contacts as form a tree. Fails for lack of memory. */
bool ss_rigid_positions(const ss_rigid_contact *contacts, int count, int bodies, double (*position)[3],
                        bool *meet, ss_error *err);

/* The planar problem (x, y, rotation; N, T) as a spatial one in the plane z = 0, with the z axis as
 * second tangent. */
ss_cone *ss_cone_embed(const ss_cone *planar, ss_error *err);

#endif
