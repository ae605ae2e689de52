#include "linalg/block_rows.h"

#include <string.h>

/* ---- pattern ---------------------------------------------------------------------------------------- */

typedef struct pattern_work {
    const ss_sparse *A;
    const int *to, *from; /* unknown of A to number, and back */
    int *node_of;         /* per number */
    int *seen;            /* per node: the last node that met it, -1 = none */
} pattern_work;

/* Calls for every (row node, column node) of A once per pair, and for the diagonal; counts into counts[] and,
 * when list is there, appends the row node to list at counts[column]. */
static void meet(const ss_block_rows *matrix, const pattern_work *work, int *counts, int *list)
{
    for (int node = 0; node < matrix->nodes; node++) work->seen[node] = -1;
    for (int column = 0; column < matrix->nodes; column++) {
        work->seen[column] = column;
        if (list) list[counts[column]] = column;
        counts[column]++;
        for (int number = matrix->first[column]; number < matrix->first[column + 1]; number++) {
            int j = work->from[number];
            for (int k = work->A->start[j]; k < work->A->start[j + 1]; k++) {
                int row = work->node_of[work->to[work->A->row[k]]];
                if (work->seen[row] == column) continue;
                work->seen[row] = column;
                if (list) list[counts[column]] = row;
                counts[column]++;
            }
        }
    }
}

static void counts_to_starts(int *starts, int count)
{
    int total = 0;
    for (int i = 0; i <= count; i++) {
        int own = starts[i];
        starts[i] = total;
        total += own;
    }
}

/* lists[i], i < nodes, transposed: node i is appended to the list of every member of its own. Members of the
 * new lists ascend. */
static void transpose_lists(int nodes, const int *start, const int *list, int *next, int *transposed)
{
    for (int i = 0; i < nodes; i++) {
        for (int k = start[i]; k < start[i + 1]; k++) transposed[next[list[k]]++] = i;
    }
}

/* The union of a pattern and its transpose, by rows with ascending columns. */
static bool make_symmetric_pattern(ss_block_rows *matrix, const pattern_work *work, ss_arena *arena)
{
    size_t n = (size_t)matrix->nodes;
    int *start = ss_arena_take(arena, n + 1, sizeof *start, "block pattern");
    int *next = ss_arena_take(arena, n + 1, sizeof *next, "block pattern");
    if (!start || !next) return false;
    meet(matrix, work, start, NULL);
    counts_to_starts(start, matrix->nodes);
    size_t count = (size_t)start[n];
    int *columns = ss_arena_take(arena, count, sizeof *columns, "block pattern");
    int *rows = ss_arena_take(arena, count, sizeof *rows, "block pattern");
    int *row_start = ss_arena_take(arena, n + 1, sizeof *row_start, "block pattern");
    int *both = ss_arena_take(arena, 2 * count, sizeof *both, "block pattern");
    if (!columns || !rows || !row_start || !both) return false;
    memcpy(next, start, n * sizeof *next);
    meet(matrix, work, next, columns); // columns: row nodes of each column
    for (size_t k = 0; k < count; k++) row_start[columns[k]]++;
    counts_to_starts(row_start, matrix->nodes);
    memcpy(next, row_start, n * sizeof *next);
    transpose_lists(matrix->nodes, start, columns, next, rows); // rows: column nodes of each row
    int total = 0;
    for (int i = 0; i < matrix->nodes; i++) work->seen[i] = -1;
    int *both_start = next;
    for (int i = 0; i < matrix->nodes; i++) {
        both_start[i] = total;
        for (int part = 0; part < 2; part++) {
            const int *list = part ? rows : columns, *ends = part ? row_start : start;
            for (int k = ends[i]; k < ends[i + 1]; k++) {
                if (work->seen[list[k]] == i) continue;
                work->seen[list[k]] = i;
                both[total++] = list[k];
            }
        }
    }
    both_start[n] = total;
    matrix->column = ss_arena_take(arena, (size_t)total, sizeof *matrix->column, "block pattern");
    if (!matrix->column) return false;
    memcpy(matrix->start, both_start, (n + 1) * sizeof *matrix->start);
    memcpy(start, both_start, (n + 1) * sizeof *start);
    transpose_lists(matrix->nodes, matrix->start, both, start, matrix->column); // sorts
    return true;
}

static bool index_entries(ss_block_rows *matrix, ss_arena *arena)
{
    size_t n = (size_t)matrix->nodes, count = (size_t)matrix->start[n];
    int *next = ss_arena_take(arena, n, sizeof *next, "block pattern");
    matrix->mirror = ss_arena_take(arena, count, sizeof *matrix->mirror, "block pattern");
    matrix->place = ss_arena_take(arena, count + 1, sizeof *matrix->place, "block pattern");
    if (!next || !matrix->mirror || !matrix->place) return false;
    memcpy(next, matrix->start, n * sizeof *next);
    size_t place = 0;
    for (int i = 0; i < matrix->nodes; i++) {
        for (int k = matrix->start[i]; k < matrix->start[i + 1]; k++) {
            int j = matrix->column[k];
            if (i == j) matrix->diagonal[i] = k;
            matrix->mirror[k] = next[j]++; // as i ascends, so do the columns of row j
            matrix->place[k] = place;
            place += (size_t)ss_block_rows_size(matrix, i) * (size_t)ss_block_rows_size(matrix, j);
        }
    }
    matrix->place[count] = place;
    matrix->value = ss_arena_take(arena, place, sizeof *matrix->value, "block values");
    return matrix->value != NULL;
}

/* ---- values ----------------------------------------------------------------------------------------- */

static void fill(ss_block_rows *matrix, const pattern_work *work, const double *left, const double *right)
{
    int *entry = work->seen; // per node: the entry in the column at hand
    for (int column = 0; column < matrix->nodes; column++) {
        int width = ss_block_rows_size(matrix, column);
        for (int k = matrix->start[column]; k < matrix->start[column + 1]; k++) {
            entry[matrix->column[k]] = matrix->mirror[k];
        }
        for (int number = matrix->first[column]; number < matrix->first[column + 1]; number++) {
            int j = work->from[number];
            for (int k = work->A->start[j]; k < work->A->start[j + 1]; k++) {
                int i = work->A->row[k], to = work->to[i], row = work->node_of[to];
                double *block = matrix->value + matrix->place[entry[row]];
                block[(to - matrix->first[row]) * width + number - matrix->first[column]] =
                    left[i] * work->A->value[k] * right[j];
            }
        }
    }
}

ss_block_rows *ss_block_rows_create(const ss_sparse *A, int nodes, const int *first, const int *to,
                                    const double *left, const double *right, ss_arena *arena)
{
    size_t n = (size_t)nodes, size = (size_t)A->cols;
    ss_block_rows *matrix = ss_arena_take(arena, 1, sizeof *matrix, "block matrix");
    int *from = ss_arena_take(arena, size, sizeof *from, "block pattern");
    int *node_of = ss_arena_take(arena, size, sizeof *node_of, "block pattern");
    int *seen = ss_arena_take(arena, n, sizeof *seen, "block pattern");
    if (!matrix || !from || !node_of || !seen) return NULL;
    matrix->nodes = nodes;
    matrix->first = ss_arena_take(arena, n + 1, sizeof *matrix->first, "block pattern");
    matrix->start = ss_arena_take(arena, n + 1, sizeof *matrix->start, "block pattern");
    matrix->diagonal = ss_arena_take(arena, n, sizeof *matrix->diagonal, "block pattern");
    if (!matrix->first || !matrix->start || !matrix->diagonal) return NULL;
    memcpy(matrix->first, first, (n + 1) * sizeof *first);
    for (int i = 0; i < A->cols; i++) from[to[i]] = i;
    for (int node = 0; node < nodes; node++) {
        for (int number = first[node]; number < first[node + 1]; number++) node_of[number] = node;
    }
    pattern_work work = {A, to, from, node_of, seen};
    if (!make_symmetric_pattern(matrix, &work, arena) || !index_entries(matrix, arena)) return NULL;
    fill(matrix, &work, left, right);
    return matrix;
}

/* ---- products --------------------------------------------------------------------------------------- */

static void add_product_3x3(const double *block, const double *x, double *y)
{
    y[0] += block[0] * x[0] + block[1] * x[1] + block[2] * x[2];
    y[1] += block[3] * x[0] + block[4] * x[1] + block[5] * x[2];
    y[2] += block[6] * x[0] + block[7] * x[1] + block[8] * x[2];
}

static void add_product(int rows, int cols, const double *block, const double *x, double *y)
{
    for (int i = 0; i < rows; i++, block += cols) {
        double sum = 0.0;
        for (int j = 0; j < cols; j++) sum += block[j] * x[j];
        y[i] += sum;
    }
}

void ss_block_rows_apply_node(const ss_block_rows *matrix, int node, const double *x, double *y)
{
    int rows = ss_block_rows_size(matrix, node);
    for (int i = 0; i < rows; i++) y[i] = 0.0;
    for (int k = matrix->start[node]; k < matrix->start[node + 1]; k++) {
        int j = matrix->column[k], cols = ss_block_rows_size(matrix, j);
        const double *block = matrix->value + matrix->place[k], *part = x + matrix->first[j];
        if (rows == 3 && cols == 3)
            add_product_3x3(block, part, y);
        else
            add_product(rows, cols, block, part, y);
    }
}

void ss_block_rows_apply(const ss_block_rows *matrix, const double *x, double *y)
{
    for (int i = 0; i < matrix->nodes; i++) ss_block_rows_apply_node(matrix, i, x, y + matrix->first[i]);
}
