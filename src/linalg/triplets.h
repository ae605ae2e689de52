/* linalg/triplets.h - a sparse matrix in the making. The room for all entries is taken at the start, so that
 * adding cannot fail. */
#ifndef PROBLEM_TRIPLETS_H
#define PROBLEM_TRIPLETS_H

#include <stickslip/sparse.h>

typedef struct ss_triplets {
    int *row, *column;
    double *value;
    size_t count, capacity;
} ss_triplets;

bool ss_triplets_start(ss_triplets *triplets, size_t capacity, ss_error *err);
void ss_triplets_add(ss_triplets *triplets, int row, int column, double value);
/* Every entry of a matrix times a factor. */
void ss_triplets_add_matrix(ss_triplets *triplets, const ss_sparse *matrix, double factor);
/* The matrix, or NULL with err set; the triplets are freed in any case. */
ss_sparse *ss_triplets_finish(ss_triplets *triplets, int rows, int cols, ss_error *err);
void ss_triplets_free(ss_triplets *triplets);

#endif
