/* linalg/cell_rows.h - a sparse matrix by rows of cells, for sweeps that visit cell after cell.
 *
 * The unknowns are cut into cells of one or more. An entry of a row of cells is the part of A in the rows of
 * one cell and the columns of another that has three (a contact), or one column of any other cell. Most cells
 * are rows or contacts: products with these are written out.
 */
#ifndef SS_LINALG_CELL_ROWS_H
#define SS_LINALG_CELL_ROWS_H

#include <stickslip/sparse.h>

#include "linalg/pairs.h"

typedef struct ss_cell_row {
    int first, size; /* unknowns */
    double *own; /* size x size zeros: what the cell has in its own columns goes here, row by row; NULL: it is
                      * an entry like others */
    /* First the columns of cells of three, size x 3 each, then single columns of `size`. An entry lies row by
     * row, but for 3 x 3, read in pairs: two columns row by row, then the third. */
    const double *values;
    const int *places; /* first column of each triple, each single */
    int triples, singles;
} ss_cell_row;

/* Cells come in order and cover all columns; first, size and own are set. A cell with `own` has no more than
 * five unknowns. False when out of memory. */
bool ss_cell_rows_create(const ss_sparse *A, int count, ss_cell_row *rows, ss_arena *arena);

/* b + A x of one unknown. Four partial sums: it would otherwise wait for one addition after the other. */
static inline double ss_cell_row_apply_one(const ss_cell_row *row, double b, const double *x)
{
    const double *value = row->values;
    const int *place = row->places;
    double sum[4] = {0};
    int k = 0;
    for (; k < row->triples; k++, value += 3, place++)
        sum[0] += value[0] * x[*place] + value[1] * x[*place + 1] + value[2] * x[*place + 2];
    for (k = 0; k + 4 <= row->singles; k += 4) {
        for (int lane = 0; lane < 4; lane++) sum[lane] += value[k + lane] * x[place[k + lane]];
    }
    for (; k < row->singles; k++) sum[0] += value[k] * x[place[k]];
    return b + ((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

/* y = b + A x of three, and of any number */
static inline void ss_cell_row_apply_three(const ss_cell_row *row, const double *b, const double *x,
                                           double *y)
{
    const double *value = row->values;
    const int *place = row->places;
    ss_pair row0 = {0}, row1 = {0}, row2 = {0}, last01 = {0};
    double last2 = 0.0;
    for (int k = 0; k < row->triples; k++, value += 9, place++) {
        const double *z = x + *place;
        ss_pair z01 = {z[0], z[1]};
        row0 += ss_pair_load(value) * z01;
        row1 += ss_pair_load(value + 2) * z01;
        row2 += ss_pair_load(value + 4) * z01;
        last01 += ss_pair_load(value + 6) * z[2];
        last2 += value[8] * z[2];
    }
    y[0] = b[0] + (row0[0] + row0[1] + last01[0]);
    y[1] = b[1] + (row1[0] + row1[1] + last01[1]);
    y[2] = b[2] + (row2[0] + row2[1] + last2);
    for (int k = 0; k < row->singles; k++, value += 3) {
        for (int i = 0; i < 3; i++) y[i] += value[i] * x[place[k]];
    }
}

static inline void ss_cell_row_apply(const ss_cell_row *row, const double *b, const double *x, double *y)
{
    const double *value = row->values;
    const int *place = row->places;
    for (int i = 0; i < row->size; i++) y[i] = b[i];
    for (int k = 0; k < row->triples; k++, place++) {
        const double *z = x + *place;
        for (int i = 0; i < row->size; i++, value += 3)
            y[i] += value[0] * z[0] + value[1] * z[1] + value[2] * z[2];
    }
    for (int k = 0; k < row->singles; k++) {
        for (int i = 0; i < row->size; i++) y[i] += *value++ * x[place[k]];
    }
}

#endif
