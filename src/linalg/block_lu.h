/* linalg/block_lu.h - sparse LU for matrices that fall into many small blocks (the mass matrix of rigid
 * bodies) or a few large ones (finite elements, joints), and for many sparse right-hand sides: a solve
 * touches only the entries that its right-hand side reaches, so that M^-1 H of a thousand bodies costs no
 * more than the blocks that H touches. Other than linalg's LU it tells which column of a singular matrix
 * depends on others. Minimum degree ordering (AMD), elimination by columns after Gilbert and Peierls (1988),
 * pivots on the diagonal unless they are small. */
#ifndef PROBLEM_BLOCK_LU_H
#define PROBLEM_BLOCK_LU_H

#include <stickslip/sparse.h>

typedef struct ss_block_lu ss_block_lu;

/* A pivot that is not larger than `tolerance` times the original diagonal entry (or, where that is zero, the
 * largest entry of the column) counts as zero. On failure *deficient is the column that depends on others, -1
 * for lack of memory; err is set in any case, for the caller to put into context. */
ss_block_lu *ss_block_lu_factor(const ss_sparse *matrix, double tolerance, int *deficient, ss_error *err);
void ss_block_lu_destroy(ss_block_lu *lu);

/* x = A^-1 x */
bool ss_block_lu_solve(const ss_block_lu *lu, double *x, ss_error *err);
/* A^-1 B with the pattern that B's columns reach */
ss_sparse *ss_block_lu_solve_sparse(const ss_block_lu *lu, const ss_sparse *right, ss_error *err);

#endif
