/* linalg/factor.h - sparse direct solvers: analyse a pattern once, factorise many matrices with it, solve.
 *
 *     ss_ldl *ldl = ss_ldl_create(matrix, err);
 *     status = ss_ldl_factor(ldl, matrix);             again and again, while the pattern stays
 *     ss_ldl_solve(ldl, b, x, SS_REFINE_ONCE);
 *     ss_ldl_destroy(ldl);
 *
 * One object is used by one thread at a time. CHOLMOD and CXSparse keep their factors in memory of their own
 * malloc, which the allocator of base.h does not see. Of CHOLMOD only the LGPL modules (Core, Cholesky) are
 * called.
 */
#ifndef SS_LINALG_FACTOR_H
#define SS_LINALG_FACTOR_H

#include "linalg/status.h"

#include <stickslip/sparse.h>

#include <math.h>

/* What the diagonal of D or U tells about the matrix. A pivot is tiny when rounding alone could have made it:
 * below n 2.2e-16 times the largest entry of the matrix. A matrix with tiny pivots is singular to working
 * precision or badly scaled; the factors are there, and the caller decides. */
typedef struct ss_pivots {
    double smallest, largest; /* absolute values; 0 for an empty matrix */
    int negative;             /* LDL' only: number of negative eigenvalues, by Sylvester's law */
    int tiny;
} ss_pivots;

typedef enum ss_refine { SS_REFINE_NEVER, SS_REFINE_ONCE } ss_refine;

/* ---- LDL' of a symmetric matrix (in its envelope, or CHOLMOD, simplicial) ----------------------------- */

/* Only the upper triangle is read; the lower may be there or not. D is diagonal and pivots are not exchanged:
 * safe for definite and quasi-definite matrices (Vanderbei 1995), a gamble for other indefinite ones. */
typedef struct ss_ldl ss_ldl;

ss_ldl *ss_ldl_create(const ss_sparse *pattern, ss_error *err);
void ss_ldl_destroy(ss_ldl *ldl);
/* OK, SINGULAR (a pivot is zero), NOT_FINITE or NO_MEMORY. The pattern must be that of ss_ldl_create. */
ss_linalg_status ss_ldl_factor(ss_ldl *ldl, const ss_sparse *matrix);
const ss_pivots *ss_ldl_pivots(const ss_ldl *ldl);
/* The pivot of every row, n numbers: after a factorisation that was OK. */
void ss_ldl_diagonal(const ss_ldl *ldl, double *pivots);
/* Multiplications that a factorisation takes, known from the pattern. */
double ss_ldl_cost(const ss_ldl *ldl);
/* After a factorisation that was OK. b and x may be the same array. OK or NO_MEMORY. */
ss_linalg_status ss_ldl_solve(ss_ldl *ldl, const double *b, double *x, ss_refine refine);

/* ---- LU of a square matrix (CXSparse) --------------------------------------------------------------- */

/* Columns are ordered by AMD on A'A, rows exchanged by partial pivoting. */
typedef struct ss_lu ss_lu;

ss_lu *ss_lu_create(const ss_sparse *pattern, ss_error *err);
void ss_lu_destroy(ss_lu *lu);
/* OK, SINGULAR or NOT_FINITE. CXSparse does not tell lack of memory from singularity: both are SINGULAR. */
ss_linalg_status ss_lu_factor(ss_lu *lu, const ss_sparse *matrix);
const ss_pivots *ss_lu_pivots(const ss_lu *lu);
/* s that one with this many entries takes, about, ordering included. */
static inline double ss_lu_seconds(double entries)
{
    return 2e-9 * entries * sqrt(entries);
}
/* After a factorisation that was OK. b and x may be the same array. */
void ss_lu_solve(ss_lu *lu, const double *b, double *x, ss_refine refine);
/* A' x = b, without refinement. */
void ss_lu_solve_transposed(ss_lu *lu, const double *b, double *x);

#endif
