#include "solver/core/operator.h"

#include <string.h>

#include "base/memory.h"
#include "problem/bodies_form.h"
#include "problem/laws.h"

/* ---- visits ----------------------------------------------------------------------------------------- */

/* Two numbers at a time; for one and three unknowns that is written out, because nearly all cells are rows or
 * contacts. */
typedef double pair __attribute__((vector_size(16)));

static inline pair load_pair(const double *from)
{
    pair two;
    memcpy(&two, from, sizeof two);
    return two;
}

/* J v of one row and one body */
static inline double dot_pairs(const double *J, pair v0, pair v1, pair v2)
{
    pair sum = load_pair(J) * v0 + load_pair(J + 2) * v1 + load_pair(J + 4) * v2;
    return sum[0] + sum[1];
}

/* Cells of any size. */
static void gather(const ss_operator *A, const ss_cell *cell, const double *x, double *load)
{
    const double *b = A->problem->b + cell->first, *r = x + cell->first, *value = cell->values;
    int size = cell->size;
    if (!A->velocity) {
        memcpy(load, b, (size_t)size * sizeof *load);
        const int *place = cell->places;
        for (int k = 0; k < cell->triples; k++, place++) {
            const double *y = x + *place;
            for (int i = 0; i < size; i++, value += 3)
                load[i] += value[0] * y[0] + value[1] * y[1] + value[2] * y[2];
        }
        for (int k = 0; k < cell->singles; k++) {
            for (int i = 0; i < size; i++) load[i] += *value++ * x[place[k]];
        }
        return;
    }
    const double *compliance = A->problem->bodies->compliance + cell->first;
    for (int i = 0; i < size; i++) load[i] = b[i] + compliance[i] * r[i];
    for (int k = 0; k < cell->bodies; k++, value += 12 * size) {
        const double *v = A->velocity[cell->places[k]];
        for (int i = 0; i < size; i++)
            load[i] += dot_pairs(value + 6 * i, load_pair(v), load_pair(v + 2), load_pair(v + 4));
    }
    for (int i = 0; cell->outer && i < size; i++) {
        for (int j = 0; j < size; j++) load[i] -= cell->own[size * i + j] * r[j];
    }
}

static void push(ss_operator *A, const ss_cell *cell, const double *change)
{
    int size = cell->size;
    const double *push = cell->values + 6 * size;
    for (int k = 0; k < cell->bodies; k++, push += 12 * size) {
        double *v = A->velocity[cell->places[k]];
        for (int i = 0; i < size; i++) {
            for (int d = 0; d < 6; d++) v[d] += push[6 * i + d] * change[i];
        }
    }
}

static double visit_any(ss_operator *A, const ss_cell *cell, double *x)
{
    double *load = A->load, *change = A->change, *r = x + cell->first, sum = 0.0;
    for (int i = 0; i < cell->size; i++) change[i] = -r[i];
    gather(A, cell, x, load);
    cell->step(cell->data, load, r);

    const double *a = A->problem->diagonal + cell->first;
    for (int i = 0; i < cell->size; i++) {
        change[i] += r[i];
        sum += a[i] * change[i] * change[i];
    }
    if (A->velocity && sum != 0.0) push(A, cell, change);
    return sum;
}

/* A row. Four partial sums: it would otherwise wait for one addition after the other. */
static double visit_one(ss_operator *A, const ss_cell *cell, double *x)
{
    const ss_problem *problem = A->problem;
    const double *value = cell->values;
    const int *place = cell->places;
    int at = cell->first;
    double before = x[at], load = problem->b[at];
    if (A->velocity) {
        load += problem->bodies->compliance[at] * before;
        for (int k = 0; k < cell->bodies; k++, value += 12) {
            const double *v = A->velocity[place[k]];
            load += dot_pairs(value, load_pair(v), load_pair(v + 2), load_pair(v + 4));
        }
    } else {
        double sum[4] = {0};
        for (int k = 0; k < cell->triples; k++, value += 3, place++)
            sum[0] += value[0] * x[*place] + value[1] * x[*place + 1] + value[2] * x[*place + 2];
        int k = 0;
        for (; k + 4 <= cell->singles; k += 4) {
            for (int lane = 0; lane < 4; lane++) sum[lane] += value[k + lane] * x[place[k + lane]];
        }
        for (; k < cell->singles; k++) sum[0] += value[k] * x[place[k]];
        load += (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
    cell->step(cell->data, &load, x + at);

    double change = x[at] - before, energy = problem->diagonal[at] * change * change;
    if (!A->velocity || energy == 0.0) return energy;
    for (int k = 0; k < cell->bodies; k++) {
        double *v = A->velocity[cell->places[k]];
        const double *push = cell->values + 12 * k + 6;
        for (int d = 0; d < 6; d += 2) {
            pair sum = load_pair(v + d) + load_pair(push + d) * change;
            memcpy(v + d, &sum, sizeof sum);
        }
    }
    return energy;
}

/* A contact of three. */
static double visit_three(ss_operator *A, const ss_cell *cell, double *x)
{
    const ss_problem *problem = A->problem;
    const double *value = cell->values, *own = cell->own, *b = problem->b + cell->first;
    double *r = x + cell->first, before[3] = {r[0], r[1], r[2]}, load[3];
    if (A->velocity) {
        const double *compliance = problem->bodies->compliance + cell->first;
        for (int i = 0; i < 3; i++) load[i] = b[i] + compliance[i] * r[i];
        for (int k = 0; k < cell->bodies; k++, value += 36) {
            const double *v = A->velocity[cell->places[k]];
            pair v0 = load_pair(v), v1 = load_pair(v + 2), v2 = load_pair(v + 4);
            load[0] += dot_pairs(value, v0, v1, v2);
            load[1] += dot_pairs(value + 6, v0, v1, v2);
            load[2] += dot_pairs(value + 12, v0, v1, v2);
        }
        if (cell->outer) {
            load[0] -= own[0] * r[0] + own[1] * r[1] + own[2] * r[2];
            load[1] -= own[3] * r[0] + own[4] * r[1] + own[5] * r[2];
            load[2] -= own[6] * r[0] + own[7] * r[1] + own[8] * r[2];
        }
    } else {
        const int *place = cell->places;
        pair row0 = {0}, row1 = {0}, row2 = {0}, last01 = {0};
        double last2 = 0.0;
        for (int k = 0; k < cell->triples; k++, value += 9) {
            const double *y = x + place[k];
            pair y01 = {y[0], y[1]};
            row0 += load_pair(value) * y01;
            row1 += load_pair(value + 2) * y01;
            row2 += load_pair(value + 4) * y01;
            last01 += load_pair(value + 6) * y[2];
            last2 += value[8] * y[2];
        }
        load[0] = b[0] + (row0[0] + row0[1] + last01[0]);
        load[1] = b[1] + (row1[0] + row1[1] + last01[1]);
        load[2] = b[2] + (row2[0] + row2[1] + last2);
        place += cell->triples;
        for (int k = 0; k < cell->singles; k++, value += 3) {
            for (int i = 0; i < 3; i++) load[i] += value[i] * x[place[k]];
        }
    }
    cell->step(cell->data, load, r);

    const double *a = problem->diagonal + cell->first;
    double change[3] = {r[0] - before[0], r[1] - before[1], r[2] - before[2]};
    double energy =
        a[0] * change[0] * change[0] + a[1] * change[1] * change[1] + a[2] * change[2] * change[2];
    if (!A->velocity || energy == 0.0) return energy;
    const double *push = cell->values + 18;
    for (int k = 0; k < cell->bodies; k++, push += 36) {
        double *v = A->velocity[cell->places[k]];
        for (int d = 0; d < 6; d += 2) {
            pair sum = load_pair(push + d) * change[0] + load_pair(push + d + 6) * change[1] +
                       load_pair(push + d + 12) * change[2];
            sum += load_pair(v + d);
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
                cells[count] = (ss_cell){
                    .first = i, .size = size, .block = k, .outer = is_cone && kinds & SS_OUTER_CONES};
        }
    }
    return count;
}

/* ---- bodies: J and M^-1 J' of every cell -------------------------------------------------------------- */

static int find_body(const ss_cell *cell, int body)
{
    int k = 0;
    while (k < cell->bodies && cell->places[k] != body) k++;
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
        cell->places = bodies;
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
        cell->values = values;
    }
    return true;
}

/* ---- block rows of A ---------------------------------------------------------------------------------- */

/* A is stored by columns, a sweep goes through it by rows of cells. An entry of a row of cells is the part of
 * A in the rows of one cell and the columns of another that has three, or one column of any other cell.
 * Columns come in order, so that those of an entry come one after the other, and the stamp of a row cell, the
 * first column of the last entry it got, shows whether the entry is there already. */
typedef struct row_builder {
    int *cell_of; // of every unknown
    // where the number of a row goes in an entry: of the three columns in turn; of a single column
    int *index[4];
    int *stamp;                // per cell
    double **entry;            // per cell: the one at hand
    double **triple, **single; // per cell: where the next entry goes
    int **triple_place, **single_place;
} row_builder;

/* Counts the entries that the columns from `first` to `last` make: one in each row cell they meet. A cell
 * with the outer load has none of its own. */
static void count_entries(ss_operator *A, row_builder *rows, int column_cell, int first, int last)
{
    const ss_sparse *matrix = A->problem->A;
    if (A->cells[column_cell].outer) rows->stamp[column_cell] = first;
    for (int e = matrix->start[first]; e < matrix->start[last + 1]; e++) {
        int c = rows->cell_of[matrix->row[e]];
        if (rows->stamp[c] == first) continue;
        rows->stamp[c] = first;
        ++*(first < last ? &A->cells[c].triples : &A->cells[c].singles);
    }
}

/* One column; `first` is the first of those that share its entries. */
static void fill_column(const ss_operator *A, row_builder *rows, int column, int first, bool is_triple)
{
    const ss_sparse *matrix = A->problem->A;
    const int *row = matrix->row, *cell_of = rows->cell_of;
    const int *index = rows->index[is_triple ? column - first : 3];
    for (int e = matrix->start[column], end = matrix->start[column + 1]; e < end;) {
        int c = cell_of[row[e]], after = A->cells[c].first + A->cells[c].size;
        if (rows->stamp[c] != first) {
            double **next = is_triple ? rows->triple : rows->single;
            rows->stamp[c] = first;
            rows->entry[c] = next[c];
            next[c] += (is_triple ? 3 : 1) * A->cells[c].size;
            *(is_triple ? rows->triple_place : rows->single_place)[c]++ = first;
        }
        double *to = rows->entry[c];
        do to[index[row[e]]] = matrix->value[e];
        while (++e < end && row[e] < after); // the rows of a cell come one after the other
    }
}

/* What a cell with the outer load has in its own columns is no entry, but A_cc; it comes in the order of
 * entries. */
static void order_own(int size, double *own)
{
    double e[SS_CELL_CONE * SS_CELL_CONE];
    for (int k = 0; k < size * size; k++) e[k] = own[k];
    if (size == 3) {
        memcpy(own, (double[]){e[0], e[1], e[6], e[2], e[3], e[7], e[4], e[5]}, 8 * sizeof *own);
        return;
    }
    for (int i = 0; i < size; i++) {
        for (int j = 0; j < size; j++) own[i * size + j] = e[j * size + i];
    }
}

/* `own`: room for A_cc of all cones, zero so far. */
static bool build_rows(ss_operator *A, double *own, ss_arena *arena)
{
    size_t n = (size_t)A->problem->size, count = (size_t)A->cell_count, numbers = 0, entries = 0;
    int *integers = ss_arena_take_unset(arena, 5 * n + count, sizeof *integers, "cells of unknowns");
    double **pointers = ss_arena_take_unset(arena, 3 * count, sizeof *pointers, "rows of cells");
    int **places = ss_arena_take_unset(arena, 2 * count, sizeof *places, "rows of cells");
    if (!integers || !pointers || !places) return false;
    row_builder rows = {.cell_of = integers,
                        .index = {integers + n, integers + 2 * n, integers + 3 * n, integers + 4 * n},
                        .stamp = integers + 5 * n,
                        .entry = pointers,
                        .triple = pointers + count,
                        .single = pointers + 2 * count,
                        .triple_place = places,
                        .single_place = places + count};

    // An entry lies row by row, but for 3 x 3, read in pairs: two columns row by row, then the third.
    for (int c = 0; c < A->cell_count; c++) {
        const ss_cell *cell = &A->cells[c];
        for (int i = 0; i < cell->size; i++) {
            int row = cell->first + i;
            rows.cell_of[row] = c;
            for (int j = 0; j < 3; j++)
                rows.index[j][row] = cell->size != 3 ? 3 * i + j : j < 2 ? 2 * i + j : 6 + i;
            rows.index[3][row] = i;
        }
    }

    // Count, and lay the rows of each cell out in one long array each of values and places.
    for (size_t c = 0; c < count; c++) rows.stamp[c] = -1;
    for (int c = 0; c < A->cell_count; c++) {
        const ss_cell *cell = &A->cells[c];
        int width = cell->size == 3 ? 3 : 1;
        for (int j = cell->first; j < cell->first + cell->size; j += width)
            count_entries(A, &rows, c, j, j + width - 1);
    }
    for (int c = 0; c < A->cell_count; c++) {
        const ss_cell *cell = &A->cells[c];
        numbers += (3 * (size_t)cell->triples + (size_t)cell->singles) * (size_t)cell->size;
        entries += (size_t)cell->triples + (size_t)cell->singles;
    }
    double *value = ss_arena_take(arena, numbers, sizeof *value, "block rows");
    int *place = ss_arena_take_unset(arena, entries, sizeof *place, "block columns");
    if (!value || !place) return false;
    for (int c = 0; c < A->cell_count; c++) {
        ss_cell *cell = &A->cells[c];
        cell->values = rows.triple[c] = value;
        cell->places = rows.triple_place[c] = place;
        rows.single[c] = value += 3 * cell->triples * cell->size;
        rows.single_place[c] = place += cell->triples;
        value += cell->singles * cell->size;
        place += cell->singles;
    }

    // Fill, cell by cell of columns.
    for (size_t c = 0; c < count; c++) rows.stamp[c] = -1;
    for (int c = 0; c < A->cell_count; c++) {
        const ss_cell *cell = &A->cells[c];
        bool is_triple = cell->size == 3;
        double *own_block = cell->outer ? own + (cell->own - own) : NULL;
        for (int j = 0; j < cell->size; j++) {
            int column = cell->first + j, first = is_triple ? cell->first : column;
            if (own_block) {
                rows.stamp[c] = first;
                rows.entry[c] = is_triple ? own_block : own_block + j * cell->size;
            }
            fill_column(A, &rows, column, first, is_triple);
        }
        if (own_block) order_own(cell->size, own_block);
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
        const double *J = cell->values + (size_t)body * 12 * (size_t)size, *push = J + 6 * size;
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
    for (int c = 0; c < count; c++) {
        ss_cell *cell = &A->cells[c];
        if (!ss_law_is_cone(problem->blocks[cell->block].law)) continue;
        cell->own = next;
        next += cell->size * cell->size;
    }
    if (!(problem->bodies ? build_bodies(A, arena) : build_rows(A, own, arena))) return false;
    for (int c = 0; c < count; c++) {
        const ss_cell *cell = &A->cells[c];
        if (cell->own && (problem->bodies || !cell->outer)) ss_operator_own(A, cell, own + (cell->own - own));
    }
    return true;
}
