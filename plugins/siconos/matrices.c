#include "matrices.h"

#include <stdlib.h>
#include <string.h>

#include <CSparseMatrix_internal.h>
#include <NumericsSparseMatrix.h>
#include <SparseBlockMatrix.h>

/* Siconos frees it, so it is a copy that belongs to it. */
NumericsMatrix *ss_siconos_sparse(const ss_sparse *A)
{
    NumericsMatrix *matrix = NM_create(NM_SPARSE, A->rows, A->cols);
    int entries = ss_sparse_nonzeros(A);
    NM_csc_alloc(matrix, entries > 0 ? entries : 1);
    matrix->matrix2->origin = NSM_CSC;
    CSparseMatrix *csc = matrix->matrix2->csc;
    for (int j = 0; j <= A->cols; j++) csc->p[j] = A->start[j];
    for (int k = 0; k < entries; k++) csc->i[k] = A->row[k];
    memcpy(csc->x, A->value, (size_t)entries * sizeof *csc->x);
    return matrix;
}

NumericsMatrix *ss_siconos_block(const ss_sparse *A, int dimension)
{
    NumericsMatrix *sparse = ss_siconos_sparse(A), *matrix = NM_create(NM_SPARSE_BLOCK, A->rows, A->cols);
    SBM_from_csparse(dimension, sparse->matrix2->csc, matrix->matrix1);
    NM_clear(sparse);
    free(sparse);
    return matrix;
}

NumericsMatrix *ss_siconos_dense(const ss_sparse *A)
{
    NumericsMatrix *matrix = NM_create(NM_DENSE, A->rows, A->cols);
    memset(matrix->matrix0, 0, (size_t)A->rows * (size_t)A->cols * sizeof(double));
    for (int j = 0; j < A->cols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++)
            matrix->matrix0[(size_t)j * (size_t)A->rows + (size_t)A->row[k]] = A->value[k];
    }
    return matrix;
}
