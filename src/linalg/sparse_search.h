/* linalg/sparse_search.h - finding entries in a column, whose rows ascend, writing them one
 * by one, and a part of a matrix. */
#ifndef SS_LINALG_SPARSE_SEARCH_H
#define SS_LINALG_SPARSE_SEARCH_H

#include <stickslip/sparse.h>

/* The first entry of a column in this row or below; the end of the column when there is none. */
static inline int ss_sparse_first_entry(const ss_sparse *matrix, int column, int row)
{
    int low = matrix->start[column], high = matrix->start[column + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (matrix->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The next entry of the column at hand, whose end is start[column + 1] = *entry when it is whole. */
static inline void ss_sparse_append(ss_sparse *matrix, int *entry, int row, double value)
{
    matrix->row[*entry] = row;
    matrix->value[(*entry)++] = value;
}

/* The rows and columns of `member`, ascending; NULL when out of memory. */
ss_sparse *ss_sparse_part(const ss_sparse *matrix, int count, const int *member, ss_error *err);

#endif
