/* linalg/front_lu.h - LU of a matrix of blocks by dense fronts (multifrontal method, Duff and Reid 1983).
 *
 *     ss_front_lu *lu = ss_front_lu_create(pattern, err);          orders the nodes once (AMD)
 *     status = ss_front_lu_factor(lu, values, active);             again and again
 *     ss_front_lu_solve(lu, b, x);
 *     ss_front_lu_destroy(lu);
 *
 * The nodes are eliminated along a tree; nodes with nearly the same neighbours form one front, a dense matrix
 * whose pivot columns are eliminated by BLAS. A full matrix is one front. Rows are exchanged within the
 * pivots of a front only: fine for matrices that are positive definite or dominated by their diagonal blocks,
 * a gamble for others, so check the residual. Rows and columns of nodes that are not active are left out.
 */
#ifndef SS_LINALG_FRONT_LU_H
#define SS_LINALG_FRONT_LU_H

#include "linalg/block_rows.h"
#include "linalg/status.h"

typedef struct ss_front_lu ss_front_lu;

/* The pattern must outlive the factor; its values are not looked at. */
ss_front_lu *ss_front_lu_create(const ss_block_rows *pattern, ss_error *err);
void ss_front_lu_destroy(ss_front_lu *lu);
/* From now on matrices are symmetric and positive definite: L L' instead of L U, half the work. One that is
 * not counts as singular. */
void ss_front_lu_use_symmetry(ss_front_lu *lu);
/* Factorisations that cannot end before it are given up (base/deadline.h); INFINITY, as at first: none. */
void ss_front_lu_set_deadline(ss_front_lu *lu, double deadline);
/* Shares factorisations and solves of large matrices, with the same bits; NULL, as at first: one thread. */
void ss_front_lu_set_team(ss_front_lu *lu, ss_team *team);
/* `values` as laid out by the pattern; `active` per node, NULL = all. OK, SINGULAR (a pivot is zero or not
 * finite), LATE or NO_MEMORY. */
ss_linalg_status ss_front_lu_factor(ss_front_lu *lu, const double *values, const bool *active);
/* After a factorisation that was OK, for the active nodes; the others keep their x. b and x
 * may be the same. */
void ss_front_lu_solve(ss_front_lu *lu, const double *b, double *x);

#endif
