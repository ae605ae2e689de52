#include "linalg/pivots.h"

#include <float.h>
#include <math.h>
#include <string.h>

bool ss_sparse_is_finite(const ss_sparse *matrix)
{
    int nonzeros = ss_sparse_nonzeros(matrix);
    for (int p = 0; p < nonzeros; p++)
        if (!isfinite(matrix->value[p])) return false;
    return true;
}

bool ss_sparse_same_pattern(const ss_sparse *a, const ss_sparse *b)
{
    if (a->rows != b->rows || a->cols != b->cols || ss_sparse_nonzeros(a) != ss_sparse_nonzeros(b))
        return false;
    return memcmp(a->start, b->start, ((size_t)a->cols + 1) * sizeof *a->start) == 0 &&
           memcmp(a->row, b->row, (size_t)ss_sparse_nonzeros(a) * sizeof *a->row) == 0;
}

ss_pivot_counter ss_pivots_start(const ss_sparse *matrix)
{
    double size = 0.0;
    int nonzeros = ss_sparse_nonzeros(matrix);
    for (int p = 0; p < nonzeros; p++) size = fmax(size, fabs(matrix->value[p]));
    ss_pivot_counter counter = {.tiny_below = matrix->cols * DBL_EPSILON * size, .usable = true};
    counter.pivots.smallest = matrix->cols ? INFINITY : 0.0;
    return counter;
}

void ss_pivots_note(ss_pivot_counter *counter, double pivot)
{
    ss_pivots *pivots = &counter->pivots;
    double size = fabs(pivot);
    pivots->smallest = fmin(pivots->smallest, size);
    pivots->largest = fmax(pivots->largest, size);
    pivots->negative += pivot < 0.0;
    pivots->tiny += !(size >= counter->tiny_below);
    counter->usable = counter->usable && size > 0.0 && isfinite(size);
}
