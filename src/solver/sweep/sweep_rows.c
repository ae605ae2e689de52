/* Block rows of A for sweeps: A is stored by columns, a sweep goes through it by rows of cells. */
#include "solver/sweep/sweep.h"

#include <string.h>

#include "base/memory.h"

/* An entry of a row of cells is the part of A in the rows of one cell and the columns of another that has
 * three, or one column of any other cell. Columns come in order, so that those of an entry come one after the
 * other, and the stamp of a row cell, the first column of the last entry it got, tells whether the entry is
 * there already. */
typedef struct row_builder {
    ss_cell *cells;
    int cell_count;
    const ss_sparse *A;
    int *cell_of; // of every unknown
    // where the number of a row goes in an entry: of the three columns in turn; of a single column
    int *index[4];
    int *stamp;                // per cell
    double **entry;            // per cell: the one at hand
    double **triple, **single; // per cell: where the next entry goes
    int **triple_place, **single_place;
} row_builder;

/* Row by row, but for 3 x 3, which the sweep reads in pairs: the first two columns row by row,
 * then the third. */
static int index_in_triple(int size, int i, int j)
{
    if (size != 3) return 3 * i + j;
    return j < 2 ? 2 * i + j : 6 + i;
}

static bool take_memory(row_builder *rows, size_t n, ss_arena *arena)
{
    size_t cells = (size_t)rows->cell_count;
    int *integers = ss_arena_take_unset(arena, 5 * n + cells, sizeof *integers, "cells of unknowns");
    double **values = ss_arena_take_unset(arena, 3 * cells, sizeof *values, "rows of cells");
    int **places = ss_arena_take_unset(arena, 2 * cells, sizeof *places, "rows of cells");
    if (!integers || !values || !places) return false;
    rows->cell_of = integers;
    for (int k = 0; k < 4; k++) rows->index[k] = integers + ((size_t)k + 1) * n;
    rows->stamp = integers + 5 * n;
    rows->entry = values;
    rows->triple = values + cells;
    rows->single = values + 2 * cells;
    rows->triple_place = places;
    rows->single_place = places + cells;
    return true;
}

static void look_up_unknowns(row_builder *rows)
{
    for (int c = 0; c < rows->cell_count; c++) {
        const ss_cell *cell = &rows->cells[c];
        for (int i = 0; i < cell->size; i++) {
            int row = cell->first + i;
            rows->cell_of[row] = c;
            for (int j = 0; j < 3; j++) rows->index[j][row] = index_in_triple(cell->size, i, j);
            rows->index[3][row] = i;
        }
    }
}

static void clear_stamps(row_builder *rows)
{
    for (int c = 0; c < rows->cell_count; c++) rows->stamp[c] = -1;
}

/* ---- counting --------------------------------------------------------------------------------------- */

/* The entries that the columns from `first` to `last` make: one in each row cell they meet. A cell with the
 * outer load has none of its own. */
static void count_entries(row_builder *rows, int column_cell, int first, int last)
{
    const ss_sparse *A = rows->A;
    bool is_triple = first < last;
    if (rows->cells[column_cell].outer) rows->stamp[column_cell] = first;
    for (int e = A->start[first]; e < A->start[last + 1]; e++) {
        int c = rows->cell_of[A->row[e]];
        if (rows->stamp[c] == first) continue;
        rows->stamp[c] = first;
        if (is_triple)
            rows->cells[c].triples++;
        else
            rows->cells[c].singles++;
    }
}

static void count_cell(row_builder *rows, int c)
{
    const ss_cell *cell = &rows->cells[c];
    if (cell->size == 3)
        count_entries(rows, c, cell->first, cell->first + 2);
    else
        for (int j = cell->first; j < cell->first + cell->size; j++) count_entries(rows, c, j, j);
}

/* Where the rows of each cell go in one long array each of values and places. */
static bool lay_out(row_builder *rows, ss_arena *arena)
{
    size_t numbers = 0, entries = 0;
    for (int c = 0; c < rows->cell_count; c++) {
        const ss_cell *cell = &rows->cells[c];
        numbers += (3 * (size_t)cell->triples + (size_t)cell->singles) * (size_t)cell->size;
        entries += (size_t)cell->triples + (size_t)cell->singles;
    }
    double *value = ss_arena_take(arena, numbers, sizeof *value, "block rows");
    int *place = ss_arena_take_unset(arena, entries, sizeof *place, "block columns");
    if (!value || !place) return false;
    for (int c = 0; c < rows->cell_count; c++) {
        ss_cell *cell = &rows->cells[c];
        cell->values = rows->triple[c] = value;
        cell->places = rows->triple_place[c] = place;
        rows->single[c] = value += 3 * cell->triples * cell->size;
        rows->single_place[c] = place += cell->triples;
        value += cell->singles * cell->size;
        place += cell->singles;
    }
    return true;
}

/* ---- filling ---------------------------------------------------------------------------------------- */

static void open_entry(row_builder *rows, int c, int first, bool is_triple)
{
    double **next = is_triple ? rows->triple : rows->single;
    int **place = is_triple ? rows->triple_place : rows->single_place;
    rows->stamp[c] = first;
    rows->entry[c] = next[c];
    next[c] += (is_triple ? 3 : 1) * rows->cells[c].size;
    *place[c]++ = first;
}

/* One column; `first` is the first of those that share its entries. */
static void fill_column(row_builder *rows, int column, int first, bool is_triple)
{
    const ss_sparse *A = rows->A;
    const int *row = A->row, *cell_of = rows->cell_of, *stamp = rows->stamp;
    const int *index = rows->index[is_triple ? column - first : 3];
    const double *value = A->value;
    double *const *entry = rows->entry;
    for (int e = A->start[column], end = A->start[column + 1]; e < end;) {
        int c = cell_of[row[e]], after = rows->cells[c].first + rows->cells[c].size;
        if (stamp[c] != first) open_entry(rows, c, first, is_triple);
        double *to = entry[c];
        do to[index[row[e]]] = value[e];
        while (++e < end && row[e] < after); // the rows of a cell come one after the other
    }
}

/* What a cell with the outer load has in its own columns is no entry, but A_cc; it comes in the
 * order of entries. */
static void order_own(int size, double *own)
{
    double entry[SS_CELL_CONE * SS_CELL_CONE];
    for (int k = 0; k < size * size; k++) entry[k] = own[k];
    if (size == 3) {
        memcpy(own,
               (double[]){entry[0], entry[1], entry[6], entry[2], entry[3], entry[7], entry[4], entry[5]},
               8 * sizeof *own);
        return;
    }
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) own[i * size + j] = entry[j * size + i];
    }
}

static void fill_cell(row_builder *rows, int c, double *own)
{
    const ss_cell *cell = &rows->cells[c];
    bool is_triple = cell->size == 3;
    for (int j = 0; j < cell->size; j++) {
        int column = cell->first + j, first = is_triple ? cell->first : column;
        if (own) {
            rows->stamp[c] = first;
            rows->entry[c] = is_triple ? own : own + j * cell->size;
        }
        fill_column(rows, column, first, is_triple);
    }
    if (own) order_own(cell->size, own);
}

bool ss_sweep_build_rows(ss_sweep *sweep, double *own, ss_arena *arena)
{
    row_builder rows = {.cells = sweep->cells, .cell_count = sweep->cell_count, .A = sweep->problem->A};
    if (!take_memory(&rows, (size_t)sweep->problem->size, arena)) return false;
    look_up_unknowns(&rows);
    clear_stamps(&rows);
    for (int c = 0; c < rows.cell_count; c++) count_cell(&rows, c);
    if (!lay_out(&rows, arena)) return false;
    clear_stamps(&rows);
    for (int c = 0; c < rows.cell_count; c++) {
        const ss_cell *cell = &rows.cells[c];
        fill_cell(&rows, c, cell->outer ? own + (cell->own - own) : NULL);
    }
    return true;
}
