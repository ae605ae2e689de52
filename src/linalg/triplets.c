#include "linalg/triplets.h"

#include "base/assert.h"

bool ss_triplets_start(ss_triplets *triplets, size_t capacity, ss_error *err)
{
    *triplets = (ss_triplets){.row = ss_allocate(capacity, sizeof(int)),
                              .column = ss_allocate(capacity, sizeof(int)),
                              .value = ss_allocate(capacity, sizeof(double)),
                              .capacity = capacity};
    if (triplets->row && triplets->column && triplets->value) return true;
    ss_triplets_free(triplets);
    return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a sparse matrix of %zu entries", capacity);
}

void ss_triplets_add(ss_triplets *triplets, int row, int column, double value)
{
    SS_ASSERT(triplets->count < triplets->capacity);
    triplets->row[triplets->count] = row;
    triplets->column[triplets->count] = column;
    triplets->value[triplets->count++] = value;
}

void ss_triplets_add_matrix(ss_triplets *triplets, const ss_sparse *matrix, double factor)
{
    for (int column = 0; column < matrix->cols; column++) {
        for (int at = matrix->start[column]; at < matrix->start[column + 1]; at++) {
            ss_triplets_add(triplets, matrix->row[at], column, factor * matrix->value[at]);
        }
    }
}

ss_sparse *ss_triplets_finish(ss_triplets *triplets, int rows, int cols, ss_error *err)
{
    ss_sparse *matrix = ss_sparse_from_triplets(rows, cols, (int64_t)triplets->count, triplets->row,
                                                triplets->column, triplets->value, err);
    ss_triplets_free(triplets);
    return matrix;
}

void ss_triplets_free(ss_triplets *triplets)
{
    ss_release(triplets->row);
    ss_release(triplets->column);
    ss_release(triplets->value);
    *triplets = (ss_triplets){0};
}
