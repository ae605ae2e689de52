/* stickslip/sparse.h - sparse matrices in compressed columns, the form SuiteSparse works on (32-bit indices).
 *
 * Column j holds the entries start[j] .. start[j+1]-1: rows strictly ascending, so sorted and without
 * duplicates. Explicit zeros are allowed and kept: two matrices with the same pattern can share one symbolic
 * analysis.
 *
 * Read after base.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_SPARSE_H
#define STICKSLIP_SPARSE_H

#include <stickslip/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ss_sparse {
    int rows, cols;
    int *start;    /* cols + 1; start[0] = 0 */
    int *row;      /* start[cols] row indices */
    double *value; /* start[cols] values */
} ss_sparse;

/* Room for `nonzeros` entries, all zeroed: start, row and value are for the caller to fill. */
SS_API ss_sparse *ss_sparse_create(int rows, int cols, int64_t nonzeros, ss_error *err);
SS_API void ss_sparse_destroy(ss_sparse *matrix);

/* Entry k is x[k] at (i[k], j[k]), in any order; entries at the same place are added in the order given. */
SS_API ss_sparse *ss_sparse_from_triplets(int rows, int cols, int64_t count, const int *i, const int *j,
                                          const double *x, ss_error *err);
SS_API ss_sparse *ss_sparse_copy(const ss_sparse *matrix, ss_error *err);
SS_API ss_sparse *ss_sparse_transpose(const ss_sparse *matrix, ss_error *err);
/* left * right; keeps entries that cancel to zero, so that the pattern does not depend on the values */
SS_API ss_sparse *ss_sparse_multiply(const ss_sparse *left, const ss_sparse *right, ss_error *err);

/* y += alpha A x, and y += alpha A' x. x and y must not overlap. */
SS_API void ss_sparse_apply(const ss_sparse *matrix, const double *x, double alpha, double *y);
SS_API void ss_sparse_apply_transposed(const ss_sparse *matrix, const double *x, double alpha, double *y);

SS_API int ss_sparse_nonzeros(const ss_sparse *matrix);                 /* explicit zeros count */
SS_API double ss_sparse_get(const ss_sparse *matrix, int row, int col); /* 0 where nothing is stored */

/* Is this a valid matrix: start monotone from 0, rows ascending and in range, values finite? */
SS_API bool ss_sparse_check(const ss_sparse *matrix, ss_error *err);
/* max |A - A'| / max |A|: 0 for a symmetric or zero matrix, infinite for one that is not square */
SS_API double ss_sparse_symmetry_error(const ss_sparse *matrix);

#ifdef __cplusplus
}
#endif
#endif
