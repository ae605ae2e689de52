#include "linalg/cell_rows.h"

#include "base/memory.h"

/* A is stored by columns, a sweep goes through it by rows of cells. Columns come in order, so that those of
 * an entry come one after the other, and the stamp of a row cell, the first column of the last entry it got,
 * shows whether the entry is there already. */
bool ss_cell_rows_create(const ss_sparse *A, int count, ss_cell_row *rows, ss_arena *arena)
{
    size_t n = (size_t)A->cols, cells = (size_t)count, numbers = 0, entries = 0;
    int *cell_of = ss_arena_take_unset(arena, 5 * n + cells, sizeof *cell_of, "cells of unknowns");
    double **entry = ss_arena_take_unset(arena, 3 * cells, sizeof *entry, "rows of cells"); // the one at hand
    int **triple_place = ss_arena_take_unset(arena, 2 * cells, sizeof *triple_place, "rows of cells");
    if (!cell_of || !entry || !triple_place) return false;
    double **triple = entry + cells, **single = triple + cells; // per cell: where the next entry goes
    int **single_place = triple_place + cells, *stamp = cell_of + 5 * n;

    // Where the number of a row goes in an entry: of the three columns in turn; of a single column.
    int *index[4] = {cell_of + n, cell_of + 2 * n, cell_of + 3 * n, cell_of + 4 * n};
    for (int c = 0; c < count; c++) {
        for (int i = 0; i < rows[c].size; i++) {
            int row = rows[c].first + i;
            cell_of[row] = c;
            for (int j = 0; j < 3; j++)
                index[j][row] = rows[c].size != 3 ? 3 * i + j : j < 2 ? 2 * i + j : 6 + i;
            index[3][row] = i;
        }
    }

    // Count the entries that columns make, one in each row cell they meet; a cell that keeps its own has none
    // there.
    for (int c = 0; c < count; c++) {
        stamp[c] = -1;
        rows[c].triples = rows[c].singles = 0;
    }
    for (int c = 0; c < count; c++) {
        int width = rows[c].size == 3 ? 3 : 1;
        for (int j = rows[c].first; j < rows[c].first + rows[c].size; j += width) {
            if (rows[c].own) stamp[c] = j;
            for (int e = A->start[j]; e < A->start[j + width]; e++) {
                int met = cell_of[A->row[e]];
                if (stamp[met] == j) continue;
                stamp[met] = j;
                ++*(width == 3 ? &rows[met].triples : &rows[met].singles);
            }
        }
    }

    // Lay the rows out, in one long array each of values and places.
    for (int c = 0; c < count; c++) {
        numbers += (3 * (size_t)rows[c].triples + (size_t)rows[c].singles) * (size_t)rows[c].size;
        entries += (size_t)rows[c].triples + (size_t)rows[c].singles;
    }
    double *value = ss_arena_take(arena, numbers, sizeof *value, "block rows");
    int *place = ss_arena_take_unset(arena, entries, sizeof *place, "block columns");
    if (!value || !place) return false;
    for (int c = 0; c < count; c++) {
        ss_cell_row *row = &rows[c];
        row->values = triple[c] = value;
        row->places = triple_place[c] = place;
        single[c] = value += 3 * row->triples * row->size;
        single_place[c] = place += row->triples;
        value += row->singles * row->size;
        place += row->singles;
        stamp[c] = -1;
    }

    // Fill, column by column; `first` is the first of those that share their entries.
    for (int c = 0; c < count; c++) {
        bool is_triple = rows[c].size == 3;
        double *own = rows[c].own;
        for (int j = 0; j < rows[c].size; j++) {
            int column = rows[c].first + j, first = is_triple ? rows[c].first : column;
            const int *to = index[is_triple ? j : 3];
            if (own) {
                stamp[c] = first;
                entry[c] = is_triple ? own : own + j * rows[c].size;
            }
            for (int e = A->start[column], end = A->start[column + 1]; e < end;) {
                int met = cell_of[A->row[e]], after = rows[met].first + rows[met].size;
                if (stamp[met] != first) {
                    double **next = is_triple ? triple : single;
                    stamp[met] = first;
                    entry[met] = next[met];
                    next[met] += (is_triple ? 3 : 1) * rows[met].size;
                    *(is_triple ? triple_place : single_place)[met]++ = first;
                }
                double *values = entry[met];
                do values[to[A->row[e]]] = A->value[e];
                while (++e < end && A->row[e] < after); // the rows of a cell come one after the other
            }
        }

        // What a cell keeps comes in the order of entries: row by row instead.
        enum { LARGEST = 6 };
        double e[LARGEST * LARGEST];
        int size = rows[c].size;
        for (int k = 0; own && k < size * size; k++) e[k] = own[k];
        for (int i = 0; own && i < size; i++) {
            for (int k = 0; k < size; k++)
                own[i * size + k] = !is_triple ? e[k * size + i] : k < 2 ? e[2 * i + k] : e[6 + i];
        }
    }
    return true;
}
