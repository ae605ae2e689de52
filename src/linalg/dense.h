/* linalg/dense.h - dense matrices, row by row without padding, over CBLAS and LAPACK.
 *
 * Right-hand sides come one after the other: b[k*n .. k*n+n-1] is number k, and is overwritten by its
 * solution. What needs workspace takes it from an arena and gives it back. Sizes may be zero.
 *
 * Threads inside BLAS: none. How OpenBLAS splits a product depends on its number of threads, and with it the
 * rounding; we promise the same bits for any number of threads, and parallelise outside (ss_team). This
 * OpenBLAS has only a switch for the whole process, so the first call of any function below sets it to one
 * thread, once, from whichever thread comes first; the manual says so for host programs that share the
 * library with us. Other BLAS libraries are left alone: who links one is responsible for running it with one
 * thread.
 */
#ifndef SS_LINALG_DENSE_H
#define SS_LINALG_DENSE_H

#include "base/inner.h"
#include "linalg/status.h"

/* Runs by itself before every use of BLAS; for those who call BLAS in another way. Cheap, from any thread. */
SS_INNER void ss_blas_use_one_thread(void);
/* OpenBLAS takes 128 MB of address space at the first call that needs a buffer, and asks without end where it
 * cannot have them: before a process limits its memory, this makes that call. */
SS_INNER void ss_blas_take_buffer(void);

/* ---- products --------------------------------------------------------------------------------------- */

typedef enum ss_transpose { SS_AS_IS, SS_TRANSPOSED } ss_transpose;

/* y = alpha op(A) x + beta y; A is rows x cols as stored. With beta = 0 the old y is not looked at. */
void ss_dense_apply(int rows, int cols, double alpha, const double *a, ss_transpose how, const double *x,
                    double beta, double *y);
/* C = alpha op(A) op(B) + beta C; C is rows x cols, `inner` is the size that op(A) and op(B) share. */
void ss_dense_multiply(int rows, int cols, int inner, double alpha, const double *a, ss_transpose how_a,
                       const double *b, ss_transpose how_b, double beta, double *c);

/* ---- factorisations, in place ----------------------------------------------------------------------- */

/* A = L L' of a symmetric positive definite matrix. Reads and overwrites the lower triangle only.
 * OK, NOT_POSITIVE or NOT_FINITE. */
ss_linalg_status ss_dense_cholesky(int n, double *a);
void ss_dense_cholesky_solve(int n, const double *factor, double *b, int count);
/* Solves op(L) x = x in place with the lower triangle of a matrix whose rows are `stride` numbers apart. */
void ss_dense_lower_solve(int n, const double *lower, int stride, ss_transpose how, double *x);

/* A = L U with exchange of columns; pivot has n entries. OK, SINGULAR (a pivot is exactly zero) or
 * NOT_FINITE. A matrix that is singular but for rounding passes: ss_dense_rank can tell. */
SS_INNER ss_linalg_status ss_dense_lu(int n, double *a, int *pivot);
/* Solves op(A) x = b. */
SS_INNER void ss_dense_lu_solve(int n, const double *factor, const int *pivot, ss_transpose how, double *b,
                                int count);

/* P A = L U of the first n rows of a matrix by columns, `stride` numbers apart, with exchange of rows, which
 * are counted from 1. False when a pivot is zero. */
bool ss_dense_lu_columns(int n, double *a, int stride, int *exchange);

/* A = L D L' of a symmetric matrix, definite or not (Bunch-Kaufman). Reads and overwrites the lower triangle
 * only; pivot has n entries. OK, SINGULAR, NOT_FINITE or NO_MEMORY. */
ss_linalg_status ss_dense_ldl(int n, double *a, int *pivot, ss_arena *scratch);
void ss_dense_ldl_solve(int n, const double *factor, const int *pivot, double *b, int count);

/* ---- decompositions; the matrix is kept ------------------------------------------------------------- */

/* The x of smallest norm among those that minimise |A x - b|. Singular values below `tolerance` times the
 * largest count as zero; tolerance < 0 stands for rounding error, max(rows, cols) * 2.2e-16. *rank may be
 * NULL. OK, NOT_FINITE, NO_CONVERGENCE or NO_MEMORY. */
ss_linalg_status ss_dense_least_squares(int rows, int cols, const double *a, const double *b,
                                        double tolerance, double *x, int *rank, ss_arena *scratch);

/* A x = b, n x n, by elimination with exchange of rows and columns. Where a pivot is below `tolerance` times
 * the largest before it, A is singular: then the smallest of the many x, unless what is left of b on the
 * empty rows is above `contradiction`, which is SINGULAR. Otherwise as above. */
ss_linalg_status ss_dense_solve_smallest(int n, const double *a, const double *b, double tolerance,
                                         double contradiction, double *x, ss_arena *scratch);

/* min(rows, cols) singular values, descending. Same outcomes. */
ss_linalg_status ss_dense_singular_values(int rows, int cols, const double *a, double *values,
                                          ss_arena *scratch);
/* Number of singular values above the tolerance, as in ss_dense_least_squares. */
ss_linalg_status ss_dense_rank(int rows, int cols, const double *a, double tolerance, int *rank,
                               ss_arena *scratch);

/* Eigenvalues of a symmetric matrix, ascending; row k of `vectors` (n x n; NULL if not wanted) is the unit
 * eigenvector of values[k]. Reads the lower triangle only. Same outcomes. */
ss_linalg_status ss_dense_symmetric_eigen(int n, const double *a, double *values, double *vectors,
                                          ss_arena *scratch);

#endif
