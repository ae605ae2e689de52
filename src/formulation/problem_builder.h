/* formulation/problem_builder.h - from rows to a problem: unknown by unknown, block by block. */
#ifndef FORMULATION_PROBLEM_BUILDER_H
#define FORMULATION_PROBLEM_BUILDER_H

#include "formulation/rows.h"
#include "problem/store.h"

typedef struct ss_problem_builder {
    ss_problem *problem; /* bodies form */
    int size, blocks;    /* so far */
    int first;           /* unknown of the block that is open */
    const ss_rows *rows;
} ss_problem_builder;

/* Takes over bodies and joint rows; leaves room for `unknowns` more in `blocks` more. In the memory of a
 * store, which keeps the problem. */
bool ss_builder_start(ss_problem_store *store, const ss_rows *rows, int64_t unknowns, int64_t blocks,
                      ss_problem_builder *builder, ss_error *err);
/* A new unknown without bounds; returns its index. */
int ss_builder_add(ss_problem_builder *builder, const int pair[2], const double jacobian[12],
                   double compliance, double offset);
/* The normal row of a contact, and one along a direction of its plane. */
int ss_builder_add_normal(ss_problem_builder *builder, const ss_contact_row *contact);
int ss_builder_add_tangent(ss_problem_builder *builder, const ss_contact_row *contact, ss_vec3 direction);
/* The rotation about the normal, whose moment is at most mu_torsion times the unknown `normal`. */
int ss_builder_add_spin(ss_problem_builder *builder, const ss_contact_row *contact, int normal);
/* The normal row and those along both tangents. */
void ss_builder_add_contact(ss_problem_builder *builder, const ss_contact_row *contact);
/* The unknowns added since the last block become a block, with the law, mu and origin of `like`. */
void ss_builder_close(ss_problem_builder *builder, ss_block like);
/* b, the diagonal, and the sizes as they came out; in minimal coordinates the rows as well. */
bool ss_builder_finish(ss_problem_builder *builder, ss_error *err);

/* The same problem with the velocities of live bodies as free unknowns in front, 6 for each
 * (linear, angular):
 *     0 = M v - J' x - M v*        w = J v + C x + c
 * The matrix is explicit and unsymmetric. */
ss_problem *ss_problem_to_descriptor(const ss_frame *frame, const ss_problem *problem, ss_error *err);
/* The same of a problem in minimal coordinates: their velocities are the free unknowns in front. */
ss_problem *ss_problem_to_generalized(const ss_frame *frame, const ss_problem *problem, ss_error *err);
/* The same problem with an explicit matrix only, so that entries can be added which come from no body. */
ss_problem *ss_problem_to_explicit(ss_problem *problem, ss_error *err);

#endif
