/* Cutting a problem into cells, and laying out what a sweep reads of bodies. */
#include "solver/sweep/sweep.h"

#include <string.h>

#include "base/memory.h"
#include "problem/bodies_form.h"
#include "problem/laws.h"

/* ---- cells ------------------------------------------------------------------------------------------ */

/* Rows between the same bodies, from i on. */
static int rows_of_one_pair(const ss_bodies_form *form, int i, int end)
{
    int last = i + 1;
    while (last < end && ss_bodies_further(form, i, last + 1) == 0 &&
           form->pair[last][0] == form->pair[i][0] && form->pair[last][1] == form->pair[i][1])
        last++;
    return last - i;
}

/* The size of the cell that begins at unknown i. A free block on bodies is cut into its joints: solving many
 * at once takes the matrix. */
static int cell_size(const ss_problem *problem, const ss_block *block, int i, unsigned kinds)
{
    int end = block->first + block->size;
    if (ss_law_is_cone(block->law)) return block->size;
    if (block->law != SS_LAW_FREE || !(kinds & SS_FREE_BLOCKS)) return 1;
    return problem->bodies ? rows_of_one_pair(problem->bodies, i, end) : block->size;
}

/* Returns the number of cells; cells may be NULL. */
static int cut_cells(const ss_problem *problem, unsigned kinds, ss_cell *cells)
{
    int count = 0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        bool outer = ss_law_is_cone(block->law) && kinds & SS_OUTER_CONES;
        for (int i = block->first, size; i < block->first + block->size; i += size, count++) {
            size = cell_size(problem, block, i, kinds);
            if (cells) cells[count] = (ss_cell){.first = i, .size = size, .block = k, .outer = outer};
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

/* ---- bodies ----------------------------------------------------------------------------------------- */

static int find_body(const int *bodies, int count, int body)
{
    int k = 0;
    while (k < count && bodies[k] != body) k++;
    return k;
}

static void add_block(const ss_bodies_form *form, const ss_cell *cell, int i, int body, const double *block,
                      double *values)
{
    int size = cell->size;
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
        const double *block;
        for (int side = 0, body; ss_bodies_block(form, i, side, &body, &block); side++) {
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
    int size = sweep->problem->size;
    size_t blocks = 2 * (size_t)size + (size_t)ss_bodies_further(form, 0, size);
    int *bodies = ss_arena_take(arena, blocks, sizeof *bodies, "bodies of cells");
    if (!sweep->velocity || !bodies) return false;
    for (int c = 0; c < sweep->cell_count; c++) {
        ss_cell *cell = &sweep->cells[c];
        list_bodies(form, cell, bodies + 2 * cell->first + ss_bodies_further(form, 0, cell->first));
        size_t numbers = 12 * (size_t)cell->bodies * (size_t)cell->size;
        double *values = ss_arena_take(arena, numbers, sizeof *values, "Jacobians");
        if (!values) return false;
        for (int i = 0; i < cell->size; i++) {
            const double *block;
            for (int side = 0, body; ss_bodies_block(form, cell->first + i, side, &body, &block); side++)
                if (body >= 0) add_block(form, cell, i, body, block, values);
        }
        cell->values = values;
    }
    return true;
}

/* ---- A_cc ------------------------------------------------------------------------------------------- */

/* The first entry of a column in this row or below. */
static int first_entry(const ss_sparse *A, int column, int row)
{
    int low = A->start[column], high = A->start[column + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (A->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void own_from_matrix(const ss_problem *problem, const ss_cell *cell, double *own)
{
    const ss_sparse *A = problem->A;
    for (int j = 0; j < cell->size; j++) {
        int column = cell->first + j;
        for (int e = first_entry(A, column, cell->first); e < A->start[column + 1]; e++) {
            int i = A->row[e] - cell->first;
            if (i >= cell->size) break;
            own[i * cell->size + j] = A->value[e];
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

static bool is_cone(const ss_sweep *sweep, const ss_cell *cell)
{
    return ss_law_is_cone(sweep->problem->blocks[cell->block].law);
}

/* Room for A_cc of all cones, one after the other, zero so far. NULL when out of memory. */
static double *take_own(ss_sweep *sweep, ss_arena *arena)
{
    size_t numbers = 0;
    for (int c = 0; c < sweep->cell_count; c++) {
        const ss_cell *cell = &sweep->cells[c];
        if (is_cone(sweep, cell)) numbers += (size_t)(cell->size * cell->size);
    }
    double *own = ss_arena_take(arena, numbers, sizeof *own, "diagonal blocks"), *next = own;
    for (int c = 0; own && c < sweep->cell_count; c++) {
        ss_cell *cell = &sweep->cells[c];
        if (!is_cone(sweep, cell)) continue;
        cell->own = next;
        next += cell->size * cell->size;
    }
    return own;
}

static bool build(ss_sweep *sweep, ss_arena *arena)
{
    double *own = take_own(sweep, arena);
    bool bodies = sweep->problem->bodies != NULL;
    if (!own) return false;
    if (!(bodies ? build_bodies(sweep, arena) : ss_sweep_build_rows(sweep, own, arena))) return false;
    for (int c = 0; c < sweep->cell_count; c++) {
        const ss_cell *cell = &sweep->cells[c];
        if (cell->own && (bodies || !cell->outer)) ss_sweep_own(sweep, cell, own + (cell->own - own));
    }
    return true;
}

ss_sweep *ss_sweep_create(const ss_problem *problem, unsigned kinds, uint64_t seed, ss_arena *arena)
{
    int count = cut_cells(problem, kinds, NULL);
    ss_sweep *sweep = ss_arena_take_unset(arena, 1, sizeof *sweep, "sweep");
    ss_cell *cells = ss_arena_take_unset(arena, (size_t)count, sizeof *cells, "cells");
    int *order = ss_arena_take_unset(arena, (size_t)count, sizeof *order, "order");
    if (!sweep || !cells || !order) return NULL;
    *sweep =
        (ss_sweep){.problem = problem, .cells = cells, .cell_count = count, .order = order, .seed = seed};
    cut_cells(problem, kinds, cells);
    size_t n = (size_t)problem->size, largest = (size_t)largest_cell(sweep);
    sweep->last_good = ss_arena_take_unset(arena, n + 2 * largest, sizeof(double), "vectors of the sweep");
    if (!sweep->last_good) return NULL;
    sweep->load = sweep->last_good + n;
    sweep->change = sweep->load + largest;
    return build(sweep, arena) ? sweep : NULL;
}
