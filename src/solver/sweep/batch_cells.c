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

/* The rows of the cell that begins at i: a cone, some free rows between the same two bodies, one bounded
 * row. */
static int cell_size(const ss_batched *batched, const ss_block *block, int i)
{
    const ss_bodies_form *form = batched->problem->bodies;
    int end = block->first + block->size, size = 1;
    if (ss_block_is_cone(block)) return block->size;
    if (batched->method.contact == SS_BATCH_PROJECTED || block->law != SS_LAW_FREE) return 1;
    while (i + size < end && size < MOST_ROWS && form->pair[i][0] == form->pair[i + size][0] &&
           form->pair[i][1] == form->pair[i + size][1] && ss_bodies_further(form, i, i + 1) == 0 &&
           ss_bodies_further(form, i + size, i + size + 1) == 0)
        size++;
    return size;
}

static inline double dot(const double a[8], const double b[8])
{
    return ((a[0] * b[0] + a[1] * b[1]) + a[2] * b[2]) + ((a[3] * b[3] + a[4] * b[4]) + a[5] * b[5]);
}

/* Block by block: a row between a body and itself is one of that body; one on more than two bodies is a cell
 * of its own. All rows of a cell act on the same bodies. */
static bool set_cell(const ss_batched *batched, const ss_block *block, int first, int size, ss_arena *arena,
                     ss_batch_cell *cell)
{
    static const double local_tolerance = 1e-14;
    const ss_bodies_form *form = batched->problem->bodies;
    const double *jacobian;
    size_t n = (size_t)size, most = 2 + (size_t)ss_bodies_further(form, first, first + 1);
    *cell = (ss_batch_cell){.law = block->law, .first = first, .size = size};
    cell->J = ss_arena_take(arena, most * n, sizeof *cell->J, "rows of cells");
    cell->row = ss_arena_take(arena, most, sizeof *cell->row, "rows of cells");
    double *A = cell->own = ss_arena_take(arena, n * n, sizeof *A, "blocks of cells");
    if (!cell->J || !cell->row || !A) return false;

    // J L
    for (int side = 0, body; ss_bodies_block(form, first, side, &body, &jacobian); side++) {
        if (body < 0) continue;
        bool again = side == 1 && form->pair[first][0] == form->pair[first][1];
        if (!again) cell->row[cell->bodies++] = ss_batched_row(batched, body);
        for (int i = 0; i < size; i++) {
            double scaled[6], *to = cell->J[size * (cell->bodies - 1) + i];
            ss_bodies_block(form, first + i, side, &body, &jacobian);
            ss_mass_root_scale(&batched->roots[body], jacobian, scaled);
            for (int k = 0; k < 6; k++) to[k] += scaled[k];
        }
    }

    // A_cc = J M^-1 J' + C
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) {
            for (int k = 0; k < cell->bodies; k++)
                A[size * i + j] += dot(cell->J[size * k + i], cell->J[size * k + j]);
        }
        A[size * i + i] += form->compliance[first + i];
    }
    if (ss_block_is_cone(block)) return ss_local_cone_create(block, A, local_tolerance, arena, &cell->cone);

    // Its inverse, by exchanging one unknown after the other; steps of single rows are relaxed.
    for (int i = 0; size > 1 && i < size; i++) A[size * i + i] *= 1.0 + redundancy;
    for (int k = 0; k < size; k++) {
        double pivot = 1.0 / A[size * k + k];
        A[size * k + k] = 1.0;
        for (int j = 0; j < size; j++) A[size * k + j] *= pivot;
        for (int i = 0; i < size; i++) {
            if (i == k) continue;
            double factor = A[size * i + k];
            A[size * i + k] = 0.0;
            for (int j = 0; j < size; j++) A[size * i + j] -= factor * A[size * k + j];
        }
    }
    if (batched->method.contact == SS_BATCH_PROJECTED) A[0] *= batched->method.relaxation;
    return true;
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

double ss_batch_cells_sweep(ss_batched *batched, bool backward, double *x)
{
    const ss_problem *problem = batched->problem;
    double all = 0.0;
    for (int c = 0; c < batched->cell_count; c++) {
        const ss_batch_cell *cell = &batched->cells[backward ? batched->cell_count - 1 - c : c];
        double *r = x + cell->first, before[MOST_ROWS], w[MOST_ROWS], change[MOST_ROWS], sum = 0.0;
        int n = cell->size;
        memcpy(before, r, (size_t)n * sizeof *r);
        velocity_of(problem, cell, batched->y, r, w);

        // r <- the solution of the cell alone: a cone from the load without its own part, rows by the inverse
        if (cell->cone.solve) {
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) w[i] -= cell->own[n * i + j] * r[j];
            }
            cell->cone.solve(cell->cone.data, w, r);
        } else {
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) r[i] -= cell->own[n * i + j] * w[j];
            }
            double lower, upper;
            if (cell->law != SS_LAW_FREE) {
                ss_problem_bounds(problem, x, cell->first, &lower, &upper);
                r[0] = fmin(fmax(r[0], lower), upper);
            }
        }

        for (int i = 0; i < n; i++) {
            change[i] = r[i] - before[i];
            sum += 0.5 * problem->diagonal[cell->first + i] * change[i] * change[i];
        }
        push(cell, change, batched->y);
        all += sum;
    }
    return all;
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
