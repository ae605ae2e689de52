/* What does not fit into a batch: joints, bounded rows, cones of two and five, contacts that need more care
 * than a lane gives them. One after the other, each solved exactly. */
#include "solver/sweep/batches.h"

#include <math.h>
#include <string.h>

#include "problem/bodies_form.h"
#include "solver/local/local_cone.h"

enum { MOST_ROWS = 6 }; // of a joint that are solved together

/* Redundant joints: this share of the diagonal is added to the matrix that is inverted, not
 * to the problem. */
static const double redundancy = 1e-10;

struct ss_batch_cell {
    ss_law law;
    int first, size;
    int *row, bodies; // of y
    double (*J)[8];   // rows of J L, of the first body, then of the second
    double *own;      // cones: A_cc; others: its inverse
    ss_local_cone cone;
};

/* ---- making ----------------------------------------------------------------------------------------- */

static bool same_pair(const ss_bodies_form *form, int i, int j)
{
    return form->pair[i][0] == form->pair[j][0] && form->pair[i][1] == form->pair[j][1] &&
           ss_bodies_further(form, i, i + 1) == 0 && ss_bodies_further(form, j, j + 1) == 0;
}

/* The rows of the cell that begins at i: a cone, some free rows between the same bodies, one bounded row. */
static int cell_size(const ss_batched *batched, const ss_block *block, int i)
{
    const ss_problem *problem = batched->problem;
    if (ss_block_is_cone(block)) return block->size;
    if (batched->method.contact == SS_BATCH_PROJECTED) return 1;
    int most = block->law == SS_LAW_FREE ? block->first + block->size - i : 1, size = 1;
    while (size < most && size < MOST_ROWS && same_pair(problem->bodies, i, i + size)) size++;
    return size;
}

static void add_scaled_row(const ss_mass_root *root, const double *j, double scaled[8])
{
    double own[6];
    ss_mass_root_scale(root, j, own);
    for (int k = 0; k < 6; k++) scaled[k] += own[k];
}

static inline double dot(const double a[8], const double b[8])
{
    return ((a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]) + ((a[3] * b[3] + a[4] * b[4]) + a[5] * b[5]);
}

static void own_matrix(const ss_problem *problem, const ss_batch_cell *cell, double *A)
{
    int n = cell->size;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            for (int k = 0; k < cell->bodies; k++)
                A[n * i + j] += dot(cell->J[n * k + i], cell->J[n * k + j]);
        }
        A[n * i + i] += problem->bodies->compliance[cell->first + i];
    }
}

/* A (positive definite) becomes its inverse, by exchanging one unknown after the other. */
static void invert(int n, double *A)
{
    for (int k = 0; k < n; k++) {
        double pivot = 1.0 / A[n * k + k];
        A[n * k + k] = 1.0;
        for (int j = 0; j < n; j++) A[n * k + j] *= pivot;
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            double factor = A[n * i + k];
            A[n * i + k] = 0.0;
            for (int j = 0; j < n; j++) A[n * i + j] -= factor * A[n * k + j];
        }
    }
}

static bool set_own(const ss_batched *batched, const ss_block *block, ss_arena *arena, ss_batch_cell *cell)
{
    const ss_problem *problem = batched->problem;
    static const double local_tolerance = 1e-14;
    size_t n = (size_t)cell->size;
    cell->own = ss_arena_take(arena, n * n, sizeof *cell->own, "blocks of cells");
    if (!cell->own) return false;
    own_matrix(problem, cell, cell->own);
    if (ss_block_is_cone(block))
        return ss_local_cone_create(block, cell->own, local_tolerance, arena, &cell->cone);
    for (size_t i = 0; n > 1 && i < n; i++) cell->own[n * i + i] *= 1.0 + redundancy;
    invert(cell->size, cell->own);
    if (batched->method.contact == SS_BATCH_PROJECTED) cell->own[0] *= batched->method.relaxation;
    return true;
}

/* A row between a body and itself is one of that body; one on more than two bodies is a cell of its own. */
static bool set_cell(const ss_batched *batched, const ss_block *block, int first, int size, ss_arena *arena,
                     ss_batch_cell *cell)
{
    const ss_bodies_form *form = batched->problem->bodies;
    const int *pair = form->pair[first];
    *cell = (ss_batch_cell){.law = block->law, .first = first, .size = size};
    int further = ss_bodies_further(form, first, first + 1);
    size_t most = 2 + (size_t)further;
    cell->J = ss_arena_take(arena, most * (size_t)size, sizeof *cell->J, "rows of cells");
    cell->row = ss_arena_take(arena, most, sizeof *cell->row, "rows of cells");
    if (!cell->J || !cell->row) return false;
    for (int side = 0; side < 2; side++) {
        if (pair[side] < 0) continue;
        bool again = side && pair[0] == pair[1];
        if (!again) cell->row[cell->bodies++] = ss_batched_row(batched, pair[side]);
        for (int i = 0; i < size; i++) {
            add_scaled_row(&batched->roots[pair[side]], form->jacobian[first + i] + 6 * side,
                           cell->J[size * (cell->bodies - 1) + i]);
        }
    }
    for (int k = 0; k < further; k++) {
        int at = form->further_start[first] + k, body = form->further_body[at];
        for (int i = 0; i < size; i++) // all rows of a cone act on the same bodies
            add_scaled_row(&batched->roots[body], form->further_jacobian[form->further_start[first + i] + k],
                           cell->J[size * cell->bodies + i]);
        cell->row[cell->bodies++] = ss_batched_row(batched, body);
    }
    return set_own(batched, block, arena, cell);
}

/* Returns the number of cells; makes them when there is room. */
static int cut_cells(ss_batched *batched, ss_arena *arena, ss_batch_cell *cells)
{
    const ss_problem *problem = batched->problem;
    int count = 0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (batched->is_batched[k]) continue;
        for (int i = block->first, size; i < block->first + block->size; i += size, count++) {
            size = cell_size(batched, block, i);
            if (cells && !set_cell(batched, block, i, size, arena, &cells[count])) return -1;
        }
    }
    return count;
}

bool ss_batch_cells_create(ss_batched *batched, ss_arena *arena)
{
    int count = cut_cells(batched, arena, NULL);
    if (count == 0) return true;
    batched->cells = ss_arena_take(arena, (size_t)count, sizeof *batched->cells, "cells");
    batched->cell_count = count;
    return batched->cells && cut_cells(batched, arena, batched->cells) == count;
}

/* ---- visiting --------------------------------------------------------------------------------------- */

static void push(const ss_batch_cell *cell, const double *change, ss_scaled_twist *y)
{
    for (int k = 0; k < cell->bodies; k++) {
        double *twist = y[cell->row[k]];
        for (int i = 0; i < cell->size; i++) {
            const double *row = cell->J[cell->size * k + i];
            for (int d = 0; d < 6; d++) twist[d] += row[d] * change[i];
        }
    }
}

static void velocity_of(const ss_problem *problem, const ss_batch_cell *cell, ss_scaled_twist *y,
                        const double *r, double *w)
{
    const double *b = problem->b + cell->first, *compliance = problem->bodies->compliance + cell->first;
    for (int i = 0; i < cell->size; i++) {
        w[i] = b[i] + compliance[i] * r[i];
        for (int k = 0; k < cell->bodies; k++) w[i] += dot(cell->J[cell->size * k + i], y[cell->row[k]]);
    }
}

/* r <- the solution of the cell alone; w is used up. */
static void step(const ss_problem *problem, const ss_batch_cell *cell, double *x, double *w, double *r)
{
    int n = cell->size;
    if (cell->cone.solve) {
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) w[i] -= cell->own[n * i + j] * r[j];
        }
        cell->cone.solve(cell->cone.data, w, r);
        return;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) r[i] -= cell->own[n * i + j] * w[j];
    }
    if (cell->law == SS_LAW_FREE) return;
    double lower, upper;
    ss_problem_bounds(problem, x, cell->first, &lower, &upper);
    r[0] = fmin(fmax(r[0], lower), upper);
}

static double visit(const ss_batched *batched, const ss_batch_cell *cell, double *x)
{
    const ss_problem *problem = batched->problem;
    double *r = x + cell->first, before[MOST_ROWS], w[MOST_ROWS], sum = 0.0;
    memcpy(before, r, (size_t)cell->size * sizeof *r);
    velocity_of(problem, cell, batched->y, r, w);
    step(problem, cell, x, w, r);
    for (int i = 0; i < cell->size; i++) {
        w[i] = r[i] - before[i];
        sum += 0.5 * problem->diagonal[cell->first + i] * w[i] * w[i];
    }
    push(cell, w, batched->y);
    return sum;
}

double ss_batch_cells_sweep(ss_batched *batched, bool backward, double *x)
{
    double sum = 0.0;
    int count = batched->cell_count;
    for (int c = 0; c < count; c++) sum += visit(batched, &batched->cells[backward ? count - 1 - c : c], x);
    return sum;
}

void ss_batch_cells_push(ss_batched *batched, const double *x)
{
    for (int c = 0; c < batched->cell_count; c++) {
        const ss_batch_cell *cell = &batched->cells[c];
        push(cell, x + cell->first, batched->y);
    }
}

void ss_batch_cells_velocities(const ss_batched *batched, const double *x, double *w)
{
    for (int c = 0; c < batched->cell_count; c++) {
        const ss_batch_cell *cell = &batched->cells[c];
        velocity_of(batched->problem, cell, batched->y, x + cell->first, w + cell->first);
    }
}
