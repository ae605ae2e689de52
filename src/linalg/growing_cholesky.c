#include "linalg/growing_cholesky.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"

bool ss_growing_cholesky_create(int capacity, ss_arena *arena, ss_growing_cholesky *factor)
{
    size_t n = (size_t)capacity;
    *factor = (ss_growing_cholesky){.capacity = capacity};
    factor->member = ss_arena_take(arena, n, sizeof *factor->member, "members");
    factor->lower = ss_arena_take_unset(arena, n * n, sizeof *factor->lower, "growing factor");
    factor->cosine = ss_arena_take(arena, n, sizeof *factor->cosine, "rotations");
    factor->sine = ss_arena_take(arena, n, sizeof *factor->sine, "rotations");
    return factor->member && factor->lower && factor->cosine && factor->sine;
}

static double *row_of(const ss_growing_cholesky *factor, int row)
{
    return factor->lower + (size_t)row * (size_t)factor->capacity;
}

bool ss_growing_cholesky_add(ss_growing_cholesky *factor, int unknown, double *column, double diagonal,
                             double smallest)
{
    int size = factor->size;
    ss_dense_lower_solve(size, factor->lower, factor->capacity, SS_AS_IS, column);
    double left = diagonal;
    for (int i = 0; i < size; i++) left -= column[i] * column[i];
    if (!(left > smallest)) return false;
    double *row = row_of(factor, size);
    memcpy(row, column, (size_t)size * sizeof *row);
    row[size] = sqrt(left);
    factor->member[factor->size++] = unknown;
    return true;
}

/* Turns columns j and j+1 of one row. */
static void rotate(double *row, int j, double cosine, double sine)
{
    double a = row[j], b = row[j + 1];
    row[j] = cosine * a + sine * b;
    row[j + 1] = cosine * b - sine * a;
}

/* Without its row, L has one entry too many right of the diagonal in each row below; rotations of
 * neighbouring columns move them out, row by row. */
void ss_growing_cholesky_remove(ss_growing_cholesky *factor, int unknown)
{
    int r = 0;
    while (factor->member[r] != unknown) r++;
    factor->size--;
    for (int i = r; i < factor->size; i++) {
        double *row = row_of(factor, i);
        memcpy(row, row_of(factor, i + 1), ((size_t)i + 2) * sizeof *row);
        factor->member[i] = factor->member[i + 1];
        for (int j = r; j < i; j++) rotate(row, j, factor->cosine[j], factor->sine[j]);
        double length = hypot(row[i], row[i + 1]);
        factor->cosine[i] = row[i] / length;
        factor->sine[i] = row[i + 1] / length;
        row[i] = length;
    }
}

void ss_growing_cholesky_solve(const ss_growing_cholesky *factor, double *b)
{
    ss_dense_lower_solve(factor->size, factor->lower, factor->capacity, SS_AS_IS, b);
    ss_dense_lower_solve(factor->size, factor->lower, factor->capacity, SS_TRANSPOSED, b);
}
