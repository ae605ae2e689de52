#include "solver/core/operator.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/pairs.h"
#include "problem/bodies_form.h"
#include "problem/laws.h"

/* ---- visits ----------------------------------------------------------------------------------------- */

/* J v of one row and one body, as every visit sums it up */
static inline double dot(const double *J, const ss_three_pairs *v)
{
    ss_pair sum = ss_three_pairs_product(J, v);
    return sum[0] + sum[1];
}

/* v += M^-1 J' change */
static void push(ss_operator *A, const ss_cell *cell, const double *change)
{
    int size = cell->row.size;
    const double *push = cell->row.values + 6 * size;
    for (int k = 0; k < cell->bodies; k++, push += 12 * size) {
        double *v = A->velocity[cell->row.places[k]];
        for (int i = 0; i < size; i++) {
            for (int d = 0; d < 6; d++) v[d] += push[6 * i + d] * change[i];
        }
    }
}

/* A cell of any size. */
static double visit_any(ss_operator *A, const ss_cell *cell, double *x)
{
    const ss_problem *problem = A->problem;
    int size = cell->size, first = cell->first;
    double *load = A->load, *change = A->change, *r = x + first, sum = 0.0;
    for (int i = 0; i < size; i++) change[i] = -r[i];
    if (A->velocity) {
        const double *value = cell->row.values;
        for (int i = 0; i < size; i++)
            load[i] = problem->b[first + i] + problem->bodies->compliance[first + i] * r[i];
        for (int k = 0; k < cell->bodies; k++, value += 12 * size) {
            ss_three_pairs v = ss_three_pairs_load(A->velocity[cell->row.places[k]]);
            for (int i = 0; i < size; i++) load[i] += dot(value + 6 * i, &v);
        }
        for (int i = 0; cell->outer && i < size; i++) {
            for (int j = 0; j < size; j++) load[i] -= cell->own[size * i + j] * r[j];
        }
    } else {
        ss_cell_row_apply(&cell->row, problem->b + first, x, load);
    }
    cell->step(cell->data, load, r);

    for (int i = 0; i < size; i++) {
        change[i] += r[i];
        sum += problem->diagonal[first + i] * change[i] * change[i];
    }
    if (A->velocity && sum != 0.0) push(A, cell, change);
    return sum;
}

/* A row; nearly all cells are rows or contacts. */
static double visit_one(ss_operator *A, const ss_cell *cell, double *x)
{
    const ss_problem *problem = A->problem;
    const double *value = cell->row.values;
    int at = cell->first;
    double before = x[at], load = problem->b[at];
    if (A->velocity) {
        load += problem->bodies->compliance[at] * before;
        for (int k = 0; k < cell->bodies; k++, value += 12) {
            ss_three_pairs v = ss_three_pairs_load(A->velocity[cell->row.places[k]]);
            load += dot(value, &v);
        }
    } else {
        load = ss_cell_row_apply_one(&cell->row, load, x);
    }
    cell->step(cell->data, &load, x + at);

    double change = x[at] - before, energy = problem->diagonal[at] * change * change;
    if (!A->velocity || energy == 0.0) return energy;
    const double *push = cell->row.values + 6;
    for (int k = 0; k < cell->bodies; k++, push += 12) {
        double *v = A->velocity[cell->row.places[k]];
        for (int d = 0; d < 6; d += 2) {
            ss_pair sum = ss_pair_load(v + d) + ss_pair_load(push + d) * change;
            memcpy(v + d, &sum, sizeof sum);
        }
    }
    return energy;
}

/* A contact of three. */
static double visit_three(ss_operator *A, const ss_cell *cell, double *x)
{
    const ss_problem *problem = A->problem;
    const double *value = cell->row.values, *own = cell->own, *b = problem->b + cell->first;
    double *r = x + cell->first, before[3] = {r[0], r[1], r[2]}, load[3];
    if (A->velocity) {
        const double *compliance = problem->bodies->compliance + cell->first;
        for (int i = 0; i < 3; i++) load[i] = b[i] + compliance[i] * r[i];
        for (int k = 0; k < cell->bodies; k++, value += 36) {
            ss_three_pairs v = ss_three_pairs_load(A->velocity[cell->row.places[k]]);
            load[0] += dot(value, &v);
            load[1] += dot(value + 6, &v);
            load[2] += dot(value + 12, &v);
        }
        if (cell->outer) {
            load[0] -= own[0] * r[0] + own[1] * r[1] + own[2] * r[2];
            load[1] -= own[3] * r[0] + own[4] * r[1] + own[5] * r[2];
            load[2] -= own[6] * r[0] + own[7] * r[1] + own[8] * r[2];
        }
    } else {
        ss_cell_row_apply_three(&cell->row, b, x, load);
    }
    cell->step(cell->data, load, r);

    const double *a = problem->diagonal + cell->first;
    double change[3] = {r[0] - before[0], r[1] - before[1], r[2] - before[2]};
    double energy =
        a[0] * change[0] * change[0] + a[1] * change[1] * change[1] + a[2] * change[2] * change[2];
    if (!A->velocity || energy == 0.0) return energy;
    const double *push = cell->row.values + 18;
    for (int k = 0; k < cell->bodies; k++, push += 36) {
        double *v = A->velocity[cell->row.places[k]];
        for (int d = 0; d < 6; d += 2) {
            ss_pair sum = ss_pair_load(push + d) * change[0] + ss_pair_load(push + d + 6) * change[1] +
                          ss_pair_load(push + d + 12) * change[2];
            sum += ss_pair_load(v + d);
            memcpy(v + d, &sum, sizeof sum);
        }
    }
    return energy;
}

double ss_operator_pass(ss_operator *A, const int *order, bool backward, double *x)
{
    int count = A->cell_count, next = backward ? count - 1 : 0, stride = backward ? -1 : 1;
    double sum = 0.0;
    for (int k = 0; k < count; k++, next += stride) {
        const ss_cell *cell = &A->cells[order ? order[k] : next];
        sum += cell->size == 3   ? visit_three(A, cell, x)
               : cell->size == 1 ? visit_one(A, cell, x)
                                 : visit_any(A, cell, x);
    }
    return sum;
}

void ss_operator_refresh(ss_operator *A, const double *x)
{
    if (!A->velocity) return;
    memset(A->velocity, 0, (size_t)A->problem->bodies->bodies * sizeof *A->velocity);
    for (int c = 0; c < A->cell_count; c++) push(A, &A->cells[c], x + A->cells[c].first);
}

/* ---- cells ------------------------------------------------------------------------------------------ */

/* Cuts the problem and returns the number of cells; cells may be NULL. A free block on bodies is cut into its
 * joints, rows between the same two bodies: solving many at once takes the matrix. */
static int cut_cells(const ss_problem *problem, unsigned kinds, ss_cell *cells)
{
    const ss_bodies_form *form = problem->bodies;
    int count = 0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        bool is_cone = ss_law_is_cone(block->law), is_free = block->law == SS_LAW_FREE;
        int end = block->first + block->size;
        for (int i = block->first, size; i < end; i += size, count++) {
            size = is_cone || (is_free && kinds & SS_FREE_BLOCKS) ? block->size : 1;
            if (is_free && size > 1 && form) {
                for (size = 1; i + size < end; size++) {
                    bool same = form->pair[i + size][0] == form->pair[i][0] &&
                                form->pair[i + size][1] == form->pair[i][1];
                    if (!same || ss_bodies_further(form, i, i + size + 1) > 0) break;
                }
            }
            if (cells)
                cells[count] = (ss_cell){.first = i,
                                         .size = size,
                                         .block = k,
                                         .outer = is_cone && kinds & SS_OUTER_CONES,
                                         .row = {.first = i, .size = size}};
        }
    }
    return count;
}

/* ---- bodies: J and M^-1 J' of every cell -------------------------------------------------------------- */

static int find_body(const ss_cell *cell, int body)
{
    int k = 0;
    while (k < cell->bodies && cell->row.places[k] != body) k++;
    return k;
}

static bool build_bodies(ss_operator *A, ss_arena *arena)
{
    const ss_bodies_form *form = A->problem->bodies;
    int size = A->problem->size;
    size_t blocks = 2 * (size_t)size + (size_t)ss_bodies_further(form, 0, size);
    A->velocity = ss_arena_take(arena, (size_t)form->bodies, sizeof *A->velocity, "velocities");
    int *all_bodies = ss_arena_take(arena, blocks, sizeof *all_bodies, "bodies of cells");
    if (!A->velocity || !all_bodies) return false;
    for (int c = 0; c < A->cell_count; c++) {
        ss_cell *cell = &A->cells[c];
        int *bodies = all_bodies + 2 * cell->first + ss_bodies_further(form, 0, cell->first), body;
        const double *block;
        cell->row.places = bodies;
        for (int i = cell->first; i < cell->first + cell->size; i++) {
            for (int side = 0; ss_bodies_block(form, i, side, &body, &block); side++)
                if (body >= 0 && find_body(cell, body) == cell->bodies) bodies[cell->bodies++] = body;
        }

        size_t rows = (size_t)cell->size;
        double *values = ss_arena_take(arena, 12 * (size_t)cell->bodies * rows, sizeof *values, "Jacobians");
        if (!values) return false;
        for (int i = 0; i < cell->size; i++) {
            for (int side = 0; ss_bodies_block(form, cell->first + i, side, &body, &block); side++) {
                if (body < 0) continue;
                double *J = values + (size_t)find_body(cell, body) * 12 * rows + 6 * i, push[6];
                ss_bodies_push_one(form, body, block, push);
                for (int d = 0; d < 6; d++) {
                    J[d] += block[d];
                    J[6 * rows + (size_t)d] += push[d];
                }
            }
        }
        cell->row.values = values;
    }
    return true;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

void ss_operator_own(const ss_operator *A, const ss_cell *cell, double *own)
{
    int size = cell->size;
    if (!A->velocity) {
        ss_block_matrix(A->problem, &(ss_block){.first = cell->first, .size = size}, own);
        return;
    }
    memset(own, 0, (size_t)size * (size_t)size * sizeof *own);
    for (int body = 0; body < cell->bodies; body++) {
        const double *J = cell->row.values + (size_t)body * 12 * (size_t)size, *push = J + 6 * size;
        for (int i = 0; i < size; i++) {
            for (int j = 0; j < size; j++) own[i * size + j] += ss_bodies_product(J + 6 * i, push + 6 * j);
        }
    }
    for (int i = 0; i < size; i++) own[i * size + i] += A->problem->bodies->compliance[cell->first + i];
}

bool ss_operator_create(const ss_problem *problem, unsigned kinds, ss_arena *arena, ss_operator *A)
{
    int count = cut_cells(problem, kinds, NULL), largest = 0;
    size_t numbers = 0;
    *A = (ss_operator){.problem = problem, .cell_count = count};
    A->cells = ss_arena_take_unset(arena, (size_t)count, sizeof *A->cells, "cells");
    if (!A->cells) return false;
    cut_cells(problem, kinds, A->cells);
    for (int c = 0; c < count; c++) {
        int size = A->cells[c].size;
        if (size > largest) largest = size;
        if (ss_law_is_cone(problem->blocks[A->cells[c].block].law)) numbers += (size_t)(size * size);
    }
    A->load = ss_arena_take_unset(arena, 2 * (size_t)largest, sizeof *A->load, "load of a cell");
    double *own = ss_arena_take(arena, numbers, sizeof *own, "diagonal blocks"), *next = own;
    if (!A->load || !own) return false;
    A->change = A->load + largest;

    // Room for A_cc of all cones; rows of A leave it there where a step wants the outer load.
    for (int c = 0; c < count; c++) {
        ss_cell *cell = &A->cells[c];
        if (!ss_law_is_cone(problem->blocks[cell->block].law)) continue;
        cell->own = next;
        if (cell->outer) cell->row.own = next;
        next += cell->size * cell->size;
    }
    if (problem->bodies) {
        if (!build_bodies(A, arena)) return false;
    } else {
        ss_cell_row *rows = ss_arena_take_unset(arena, (size_t)count, sizeof *rows, "rows of cells");
        for (int c = 0; rows && c < count; c++) rows[c] = A->cells[c].row;
        if (!rows || !ss_cell_rows_create(problem->A, count, rows, arena)) return false;
        for (int c = 0; c < count; c++) A->cells[c].row = rows[c];
    }
    for (int c = 0; c < count; c++) {
        const ss_cell *cell = &A->cells[c];
        if (cell->own && (problem->bodies || !cell->outer)) ss_operator_own(A, cell, own + (cell->own - own));
    }
    return true;
}
