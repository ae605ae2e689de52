/* Cutting a problem into cells, and laying out what a sweep reads. */
#include "solver/sweep.h"

#include <string.h>

#include "problem/bodies_form.h"

/* ---- cells ------------------------------------------------------------------------------------------ */

/* Rows between the same bodies, from i on. */
static int rows_of_one_pair(const ss_bodies_form *form, int i, int end)
{
    int last = i + 1;
    while (last < end && form->pair[last][0] == form->pair[i][0] && form->pair[last][1] == form->pair[i][1])
        last++;
    return last - i;
}

/* The size of the cell that begins at unknown i. A free block on bodies is cut into its joints: solving many at
 * once takes the matrix. */
static int cell_size(const ss_problem *problem, const ss_block *block, int i, unsigned kinds)
{
    int end = block->first + block->size;
    if (ss_block_is_cone(block)) return block->size;
    if (block->law != SS_LAW_FREE || !(kinds & SS_FREE_BLOCKS)) return 1;
    return problem->bodies ? rows_of_one_pair(problem->bodies, i, end) : block->size;
}

/* Returns the number of cells; cells may be NULL. */
static int cut_cells(const ss_problem *problem, unsigned kinds, ss_cell *cells)
{
    int count = 0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first, size; i < block->first + block->size; i += size, count++) {
            size = cell_size(problem, block, i, kinds);
            if (!cells) continue;
            bool outer = ss_block_is_cone(block) && kinds & SS_OUTER_CONES;
            cells[count] = (ss_cell){.first = i, .size = size, .block = k, .outer = outer};
        }
    }
    return count;
}

static int largest_cell(const ss_sweep *sweep)
{
    int largest = 0;
    for (int c = 0; c < sweep->cell_count; c++) {
        if (sweep->cells[c].size > largest) largest = sweep->cells[c].size;
    }
    return largest;
}

/* ---- block rows of A -------------------------------------------------------------------------------- */

/* A is stored by columns. Going through them in order, the columns of a cell of three come one after the
 * other, so that one stamp per row cell tells whether its entry for these columns is there already. */
typedef struct row_builder {
    ss_cell *cells;
    const ss_sparse *A;
    const int *cell_of;   // of every unknown
    int *stamp;           // per row cell: the last column group seen
    int *triple, *single; // per row cell: entries made so far
    double **values;
    int **places;
} row_builder;

/* Columns of one group share an entry. */
static int column_group(const row_builder *rows, int column)
{
    const ss_cell *cell = &rows->cells[rows->cell_of[column]];
    return cell->size == 3 ? cell->first : column;
}

static bool is_left_out(const row_builder *rows, int cell, int column)
{
    return rows->cells[cell].outer && rows->cell_of[column] == cell;
}

static void clear_stamps(row_builder *rows, int cell_count)
{
    for (int c = 0; c < cell_count; c++) rows->stamp[c] = -1;
}

/* Entries of a column ascend, and come cell by cell: the end of those in a cell, from entry e on. As a rule all rows are
 * there. */
static int end_of_cell(const ss_sparse *A, const ss_cell *cell, int e, int end)
{
    int last_row = cell->first + cell->size - 1, last = e + last_row - A->row[e];
    if (last < end && A->row[last] == last_row) return last + 1;
    while (e < end && A->row[e] <= last_row) e++;
    return e;
}

static void count_entries(row_builder *rows)
{
    const ss_sparse *A = rows->A;
    for (int j = 0; j < A->cols; j++) {
        int group = column_group(rows, j), end = A->start[j + 1];
        for (int e = A->start[j], c; e < end; e = end_of_cell(A, &rows->cells[c], e, end)) {
            c = rows->cell_of[A->row[e]];
            if (rows->stamp[c] == group || is_left_out(rows, c, j)) continue;
            rows->stamp[c] = group;
            if (rows->cells[rows->cell_of[j]].size == 3)
                rows->cells[c].triples++;
            else
                rows->cells[c].singles++;
        }
    }
}

/* Where a column of an entry begins, and how far apart its numbers are. Row by row, but for 3 x 3, which the sweep reads
 * in pairs: the first two columns row by row, then the third. */
static int column_in_entry(int size, int width, int column, int *stride)
{
    bool is_pair = size == 3 && width == 3;
    *stride = !is_pair ? width : column < 2 ? 2 : 1;
    return is_pair && column == 2 ? 6 : column;
}

/* The entry of a row cell for a group of columns, made when it is the first of them. */
static double *entry_of(row_builder *rows, int c, int group, int width)
{
    const ss_cell *cell = &rows->cells[c];
    int *count = width == 3 ? &rows->triple[c] : &rows->single[c];
    if (rows->stamp[c] != group) rows->places[c][(width == 3 ? 0 : cell->triples) + (*count)++] = group;
    rows->stamp[c] = group;
    size_t skip = width == 3 ? 0 : 3 * (size_t)cell->triples;
    return rows->values[c] + (skip + (size_t)width * (size_t)(*count - 1)) * (size_t)cell->size;
}

static void fill_entries(row_builder *rows)
{
    const ss_sparse *A = rows->A;
    for (int j = 0; j < A->cols; j++) {
        const ss_cell *column_cell = &rows->cells[rows->cell_of[j]];
        int group = column_group(rows, j), width = column_cell->size == 3 ? 3 : 1;
        for (int e = A->start[j], last; e < A->start[j + 1]; e = last) {
            int c = rows->cell_of[A->row[e]], stride;
            const ss_cell *cell = &rows->cells[c];
            last = end_of_cell(A, cell, e, A->start[j + 1]);
            if (is_left_out(rows, c, j)) continue;
            double *column = entry_of(rows, c, group, width);
            column += column_in_entry(cell->size, width, j - group, &stride);
            for (; e < last; e++) column[(A->row[e] - cell->first) * stride] = A->value[e];
        }
    }
}

/* Where the rows of each cell go in one long array each of values and places. */
static bool lay_out_rows(ss_sweep *sweep, row_builder *rows, ss_arena *arena)
{
    size_t numbers = 0, entries = 0;
    for (int c = 0; c < sweep->cell_count; c++) {
        const ss_cell *cell = &sweep->cells[c];
        numbers += (3 * (size_t)cell->triples + (size_t)cell->singles) * (size_t)cell->size;
        entries += (size_t)cell->triples + (size_t)cell->singles;
    }
    double *value = ss_arena_take(arena, numbers, sizeof *value, "block rows");
    int *place = ss_arena_take(arena, entries, sizeof *place, "block columns");
    if (!value || !place) return false;
    for (int c = 0; c < sweep->cell_count; c++) {
        ss_cell *cell = &sweep->cells[c];
        cell->values = rows->values[c] = value;
        cell->places = rows->places[c] = place;
        value += (3 * cell->triples + cell->singles) * cell->size;
        place += cell->triples + cell->singles;
    }
    return true;
}

static bool build_rows(ss_sweep *sweep, ss_arena *arena)
{
    size_t cells = (size_t)sweep->cell_count, n = (size_t)sweep->problem->size;
    int *cell_of = ss_arena_take(arena, n, sizeof *cell_of, "cell of unknown");
    int *work = ss_arena_take(arena, 3 * cells, sizeof *work, "row counts");
    double **values = ss_arena_take(arena, cells, sizeof *values, "row values");
    int **places = ss_arena_take(arena, cells, sizeof *places, "row places");
    if (!cell_of || !work || !values || !places) return false;
    for (int c = 0; c < sweep->cell_count; c++) {
        for (int i = 0; i < sweep->cells[c].size; i++) cell_of[sweep->cells[c].first + i] = c;
    }
    row_builder rows = {.cells = sweep->cells,
                        .A = sweep->problem->A,
                        .cell_of = cell_of,
                        .stamp = work,
                        .triple = work + cells,
                        .single = work + 2 * cells,
                        .values = values,
                        .places = places};
    clear_stamps(&rows, sweep->cell_count);
    count_entries(&rows);
    if (!lay_out_rows(sweep, &rows, arena)) return false;
    clear_stamps(&rows, sweep->cell_count);
    fill_entries(&rows);
    return true;
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

static int find_body(const int *bodies, int count, int body)
{
    int k = 0;
    while (k < count && bodies[k] != body) k++;
    return k;
}

static void add_side(const ss_bodies_form *form, const ss_cell *cell, int i, int side, double *values)
{
    int body = form->pair[cell->first + i][side], size = cell->size;
    if (body < 0) return;
    const double *block = form->jacobian[cell->first + i] + 6 * side;
    double *J = values + (size_t)find_body(cell->places, cell->bodies, body) * 12 * (size_t)size + 6 * i,
           push[6];
    ss_bodies_push_one(form, body, block, push);
    for (int k = 0; k < 6; k++) {
        J[k] += block[k];
        J[6 * size + k] += push[k];
    }
}

static void list_bodies(const ss_bodies_form *form, ss_cell *cell, int *bodies)
{
    for (int i = cell->first; i < cell->first + cell->size; i++) {
        for (int side = 0; side < 2; side++) {
            int body = form->pair[i][side];
            if (body < 0 || find_body(bodies, cell->bodies, body) < cell->bodies) continue;
            bodies[cell->bodies++] = body;
        }
    }
    cell->places = bodies;
}

static bool build_bodies(ss_sweep *sweep, ss_arena *arena)
{
    const ss_bodies_form *form = sweep->problem->bodies;
    sweep->velocity = ss_arena_take(arena, (size_t)form->bodies, sizeof *sweep->velocity, "velocities");
    int *bodies = ss_arena_take(arena, 2 * (size_t)sweep->problem->size, sizeof *bodies, "bodies of cells");
    if (!sweep->velocity || !bodies) return false;
    for (int c = 0; c < sweep->cell_count; c++) {
        ss_cell *cell = &sweep->cells[c];
        list_bodies(form, cell, bodies + 2 * cell->first);
        size_t numbers = 12 * (size_t)cell->bodies * (size_t)cell->size;
        double *values = ss_arena_take(arena, numbers, sizeof *values, "Jacobians");
        if (!values) return false;
        for (int i = 0; i < cell->size; i++) {
            for (int side = 0; side < 2; side++) add_side(form, cell, i, side, values);
        }
        cell->values = values;
    }
    return true;
}

/* ---- A_cc ------------------------------------------------------------------------------------------- */

static void own_from_matrix(const ss_problem *problem, const ss_cell *cell, double *own)
{
    const ss_sparse *A = problem->A;
    for (int j = 0; j < cell->size; j++) {
        int column = cell->first + j;
        for (int e = A->start[column]; e < A->start[column + 1]; e++) {
            int i = A->row[e] - cell->first;
            if (i >= 0 && i < cell->size) own[i * cell->size + j] = A->value[e];
        }
    }
}

static double dot(const double *a, const double *b)
{
    return (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) + (a[3] * b[3] + a[4] * b[4] + a[5] * b[5]);
}

static void own_from_bodies(const ss_problem *problem, const ss_cell *cell, double *own)
{
    int size = cell->size;
    for (int body = 0; body < cell->bodies; body++) {
        const double *J = cell->values + (size_t)body * 12 * (size_t)size, *push = J + 6 * size;
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) own[i * size + j] += dot(J + 6 * i, push + 6 * j);
        }
    }
    for (int i = 0; i < size; i++) own[i * size + i] += problem->bodies->compliance[cell->first + i];
}

void ss_sweep_own(const ss_sweep *sweep, const ss_cell *cell, double *own)
{
    memset(own, 0, (size_t)cell->size * (size_t)cell->size * sizeof *own);
    (sweep->velocity ? own_from_bodies : own_from_matrix)(sweep->problem, cell, own);
}

static bool store_own(ss_sweep *sweep, ss_arena *arena)
{
    for (int c = 0; c < sweep->cell_count; c++) {
        ss_cell *cell = &sweep->cells[c];
        if (!ss_block_is_cone(&sweep->problem->blocks[cell->block])) continue;
        double *own = ss_arena_take(arena, (size_t)(cell->size * cell->size), sizeof *own, "diagonal blocks");
        if (!own) return false;
        ss_sweep_own(sweep, cell, own);
        cell->own = own;
    }
    return true;
}

ss_sweep *ss_sweep_create(const ss_problem *problem, unsigned kinds, uint64_t seed, ss_arena *arena)
{
    ss_sweep *sweep = ss_arena_take(arena, 1, sizeof *sweep, "sweep");
    if (!sweep) return NULL;
    sweep->problem = problem;
    sweep->random = ss_random_start(seed, 0);
    sweep->cell_count = cut_cells(problem, kinds, NULL);
    sweep->cells = ss_arena_take(arena, (size_t)sweep->cell_count, sizeof *sweep->cells, "cells");
    sweep->order = ss_arena_take(arena, (size_t)sweep->cell_count, sizeof *sweep->order, "order");
    sweep->last_good = ss_arena_take(arena, (size_t)problem->size, sizeof *sweep->last_good, "last good x");
    if (!sweep->cells || !sweep->order || !sweep->last_good) return NULL;
    for (int c = 0; c < sweep->cell_count; c++) sweep->order[c] = c;
    cut_cells(problem, kinds, sweep->cells);
    size_t largest = (size_t)largest_cell(sweep);
    sweep->load = ss_arena_take(arena, largest, sizeof *sweep->load, "load");
    sweep->change = ss_arena_take(arena, largest, sizeof *sweep->change, "before");
    if (!sweep->load || !sweep->change) return NULL;
    bool good = problem->bodies ? build_bodies(sweep, arena) : build_rows(sweep, arena);
    return good && store_own(sweep, arena) ? sweep : NULL;
}
