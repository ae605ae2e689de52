#include "linalg/block_rows.h"

#include <string.h>

/* ---- pattern ---------------------------------------------------------------------------------------- */

static void counts_to_starts(int *starts, int count)
{
    int total = 0;
    for (int i = 0; i <= count; i++) {
        int own = starts[i];
        starts[i] = total;
        total += own;
    }
}

/* Pairs of nodes that meet, each maybe more than once and in one direction only: others[k] for k in
 * start[i] .. start[i+1]-1 meet i. */
typedef struct meetings {
    int *start, *others;
} meetings;

/* The same pairs seen from the other side; others ascend. */
static bool turn(int nodes, const meetings *from, ss_arena *arena, meetings *to)
{
    size_t n = (size_t)nodes, count = (size_t)from->start[n];
    to->start = ss_arena_take(arena, n + 1, sizeof *to->start, "block pattern");
    to->others = ss_arena_take(arena, count, sizeof *to->others, "block pattern");
    int *next = ss_arena_take(arena, n + 1, sizeof *next, "block pattern");
    if (!to->start || !to->others || !next) return false;
    for (size_t k = 0; k < count; k++) to->start[from->others[k]]++;
    counts_to_starts(to->start, nodes);
    memcpy(next, to->start, n * sizeof *next);
    for (int i = 0; i < nodes; i++) {
        for (int k = from->start[i]; k < from->start[i + 1]; k++) to->others[next[from->others[k]]++] = i;
    }
    return true;
}

/* Both directions and the diagonal, each pair once, in no order. */
static bool unite(int nodes, const meetings *one, const meetings *other, ss_arena *arena, meetings *both)
{
    size_t n = (size_t)nodes;
    both->start = ss_arena_take(arena, n + 1, sizeof *both->start, "block pattern");
    both->others = ss_arena_take(arena, (size_t)one->start[n] + (size_t)other->start[n] + n,
                                 sizeof *both->others, "block pattern");
    int *seen = ss_arena_take(arena, n, sizeof *seen, "block pattern");
    if (!both->start || !both->others || !seen) return false;
    int total = 0;
    for (int i = 0; i < nodes; i++) {
        seen[i] = i + 1;
        both->others[total++] = i;
        for (int part = 0; part < 2; part++) {
            const meetings *list = part ? other : one;
            for (int k = list->start[i]; k < list->start[i + 1]; k++) {
                if (seen[list->others[k]] == i + 1) continue;
                seen[list->others[k]] = i + 1;
                both->others[total++] = list->others[k];
            }
        }
        both->start[i + 1] = total;
    }
    return true;
}

static ss_block_rows *create(int nodes, const int *first, const meetings *met, ss_arena *arena)
{
    size_t n = (size_t)nodes;
    ss_block_rows *matrix = ss_arena_take(arena, 1, sizeof *matrix, "block matrix");
    if (!matrix) return NULL;
    matrix->nodes = nodes;
    matrix->first = ss_arena_take(arena, n + 1, sizeof *matrix->first, "block pattern");
    matrix->diagonal = ss_arena_take(arena, n, sizeof *matrix->diagonal, "block pattern");
    if (!matrix->first || !matrix->diagonal) return NULL;
    memcpy(matrix->first, first, (n + 1) * sizeof *first);

    /* Symmetric, with sorted rows: the transpose of the union is the union itself, sorted. */
    meetings turned, both, sorted;
    if (!turn(nodes, met, arena, &turned) || !unite(nodes, met, &turned, arena, &both) ||
        !turn(nodes, &both, arena, &sorted))
        return NULL;
    matrix->start = sorted.start;
    matrix->column = sorted.others;

    /* Where each block, its mirror image and its numbers are. */
    size_t count = (size_t)matrix->start[n], place = 0;
    int *next = ss_arena_take(arena, n, sizeof *next, "block pattern");
    matrix->mirror = ss_arena_take(arena, count, sizeof *matrix->mirror, "block pattern");
    matrix->place = ss_arena_take(arena, count + 1, sizeof *matrix->place, "block pattern");
    if (!next || !matrix->mirror || !matrix->place) return NULL;
    memcpy(next, matrix->start, n * sizeof *next);
    for (int i = 0; i < nodes; i++) {
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
    return matrix->value ? matrix : NULL;
}

/* ---- from a sparse matrix --------------------------------------------------------------------------- */

ss_block_rows *ss_block_rows_create(const ss_sparse *A, int nodes, const int *first, const int *to,
                                    const double *left, const double *right, ss_arena *arena)
{
    /* `to` numbers the unknowns of A; the way back, and the node of each number. */
    size_t size = (size_t)A->cols;
    int *from = ss_arena_take(arena, size, sizeof *from, "block pattern");
    int *node_of = ss_arena_take(arena, size, sizeof *node_of, "block pattern");
    if (!from || !node_of) return NULL;
    for (int i = 0; i < A->cols; i++) from[to[i]] = i;
    for (int node = 0; node < nodes; node++)
        for (int number = first[node]; number < first[node + 1]; number++) node_of[number] = node;

    /* For every column of nodes, the rows that its entries are in. */
    meetings met = {ss_arena_take(arena, (size_t)nodes + 1, sizeof *met.start, "block pattern"),
                    ss_arena_take(arena, (size_t)ss_sparse_nonzeros(A), sizeof *met.others, "block pattern")};
    if (!met.start || !met.others) return NULL;
    int total = 0;
    for (int column = 0; column < nodes; column++) {
        for (int number = first[column]; number < first[column + 1]; number++) {
            int j = from[number];
            for (int k = A->start[j]; k < A->start[j + 1]; k++) {
                int row = node_of[to[A->row[k]]];
                if (total > met.start[column] && met.others[total - 1] == row) continue;
                met.others[total++] = row;
            }
        }
        met.start[column + 1] = total;
    }

    /* The numbers; `entry` is that of each row in the column at hand. */
    ss_block_rows *matrix = create(nodes, first, &met, arena);
    int *entry = ss_arena_take(arena, (size_t)nodes, sizeof *entry, "block pattern");
    if (!matrix || !entry) return NULL;
    for (int column = 0; column < nodes; column++) {
        int width = ss_block_rows_size(matrix, column);
        for (int k = matrix->start[column]; k < matrix->start[column + 1]; k++)
            entry[matrix->column[k]] = matrix->mirror[k];
        for (int number = first[column]; number < first[column + 1]; number++) {
            int j = from[number];
            for (int k = A->start[j]; k < A->start[j + 1]; k++) {
                int i = A->row[k], row = node_of[to[i]];
                double *block = matrix->value + matrix->place[entry[row]];
                block[(to[i] - first[row]) * width + number - first[column]] =
                    left[i] * A->value[k] * right[j];
            }
        }
    }
    return matrix;
}

/* ---- from groups ------------------------------------------------------------------------------------ */

ss_block_rows *ss_block_rows_of_groups(int nodes, int size, int groups, const int *start, const int *member,
                                       ss_arena *arena)
{
    size_t pairs = 0;
    for (int g = 0; g < groups; g++)
        pairs += (size_t)(start[g + 1] - start[g]) * (size_t)(start[g + 1] - start[g]);
    int *first = ss_arena_take(arena, (size_t)nodes + 1, sizeof *first, "block pattern");
    int *next = ss_arena_take(arena, (size_t)nodes + 1, sizeof *next, "block pattern");
    meetings met = {ss_arena_take(arena, (size_t)nodes + 1, sizeof *met.start, "block pattern"),
                    ss_arena_take(arena, pairs, sizeof *met.others, "block pattern")};
    if (!first || !next || !met.start || !met.others) return NULL;
    for (int i = 0; i <= nodes; i++) first[i] = size * i;

    /* Every member of a group meets every other, and itself. */
    for (int g = 0; g < groups; g++) {
        for (int k = start[g]; k < start[g + 1]; k++) met.start[member[k]] += start[g + 1] - start[g];
    }
    counts_to_starts(met.start, nodes);
    memcpy(next, met.start, (size_t)nodes * sizeof *next);
    for (int g = 0; g < groups; g++) {
        for (int k = start[g]; k < start[g + 1]; k++) {
            for (int l = start[g]; l < start[g + 1]; l++) met.others[next[member[k]]++] = member[l];
        }
    }
    return create(nodes, first, &met, arena);
}

int ss_block_rows_find(const ss_block_rows *matrix, int i, int j)
{
    int low = matrix->start[i], high = matrix->start[i + 1] - 1;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (matrix->column[middle] < j)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- products --------------------------------------------------------------------------------------- */

void ss_block_rows_apply_node(const ss_block_rows *matrix, int node, const double *x, double *y)
{
    int rows = ss_block_rows_size(matrix, node);
    for (int i = 0; i < rows; i++) y[i] = 0.0;
    for (int k = matrix->start[node]; k < matrix->start[node + 1]; k++) {
        int j = matrix->column[k], cols = ss_block_rows_size(matrix, j);
        const double *block = matrix->value + matrix->place[k], *part = x + matrix->first[j];
        if (rows == 3 && cols == 3) { // a contact with friction: nearly all
            y[0] += block[0] * part[0] + block[1] * part[1] + block[2] * part[2];
            y[1] += block[3] * part[0] + block[4] * part[1] + block[5] * part[2];
            y[2] += block[6] * part[0] + block[7] * part[1] + block[8] * part[2];
            continue;
        }
        for (int i = 0; i < rows; i++, block += cols) {
            double sum = 0.0;
            for (int c = 0; c < cols; c++) sum += block[c] * part[c];
            y[i] += sum;
        }
    }
}

void ss_block_rows_apply(const ss_block_rows *matrix, const double *x, double *y)
{
    for (int i = 0; i < matrix->nodes; i++) ss_block_rows_apply_node(matrix, i, x, y + matrix->first[i]);
}
