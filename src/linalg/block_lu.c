#include "linalg/block_lu.h"

#include "base/assert.h"

#include <amd.h>
#include <limits.h>
#include <math.h>
#include <string.h>

/* Prefer the diagonal unless it is this much smaller than the largest candidate: keeps the ordering. */
static const double diagonal_preference = 0.1;

/* Columns of a triangular factor without its diagonal, growing to the right. */
typedef struct columns {
    int *start; // n + 1
    int *index;
    double *value;
    int capacity;
} columns;

struct ss_block_lu {
    int n;
    int *column;   // column[k] is eliminated in step k
    int *step_of;  // step in which a row is the pivot row; -1 not yet
    double *pivot; // by steps
    columns lower, upper;
};

/* A sparse vector in the making: the nonzeros of x are order[top .. n-1], each after all that
 * it depends on. */
typedef struct vector {
    int n, top;
    double *x;
    int *order;
    int *stack, *next; // depth-first search: the path, and where each node of it goes on
    int *stamp, epoch; // stamp[i] == epoch: already reached
} vector;

static bool out_of_memory(ss_error *err)
{
    return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a sparse factorisation");
}

/* ---- memory ----------------------------------------------------------------------------------------- */

static bool grow(columns *part, int used, int more, ss_error *err)
{
    if (used > INT_MAX - more) return ss_fail(err, SS_ERROR_RESOURCES, "a factor has over 2^31 entries");
    if (used + more <= part->capacity) return true;
    int capacity = used + more <= INT_MAX / 2 ? 2 * (used + more) : INT_MAX;
    int *index = ss_allocate((size_t)capacity, sizeof *index);
    double *value = ss_allocate((size_t)capacity, sizeof *value);
    if (!index || !value) {
        ss_release(index);
        ss_release(value);
        return out_of_memory(err);
    }
    if (used) {
        memcpy(index, part->index, (size_t)used * sizeof *index);
        memcpy(value, part->value, (size_t)used * sizeof *value);
    }
    ss_release(part->index);
    ss_release(part->value);
    part->index = index;
    part->value = value;
    part->capacity = capacity;
    return true;
}

static void free_columns(columns *part)
{
    ss_release(part->start);
    ss_release(part->index);
    ss_release(part->value);
}

static void free_vector(vector *v)
{
    ss_release(v->x);
    ss_release(v->order);
    ss_release(v->stack);
    ss_release(v->next);
    ss_release(v->stamp);
}

static bool make_vector(int n, vector *v, ss_error *err)
{
    size_t count = (size_t)n;
    *v = (vector){.n = n, .top = n};
    v->x = ss_allocate(count, sizeof *v->x);
    v->order = ss_allocate(count, sizeof *v->order);
    v->stack = ss_allocate(count, sizeof *v->stack);
    v->next = ss_allocate(count, sizeof *v->next);
    v->stamp = ss_allocate(count, sizeof *v->stamp);
    if (v->x && v->order && v->stack && v->next && v->stamp) return true;
    free_vector(v);
    return out_of_memory(err);
}

void ss_block_lu_destroy(ss_block_lu *lu)
{
    if (!lu) return;
    ss_release(lu->column);
    ss_release(lu->step_of);
    ss_release(lu->pivot);
    free_columns(&lu->lower);
    free_columns(&lu->upper);
    ss_release(lu);
}

static ss_block_lu *create(const ss_sparse *matrix, ss_error *err)
{
    size_t n = (size_t)matrix->cols;
    ss_block_lu *lu = ss_allocate(1, sizeof *lu);
    if (!lu) return out_of_memory(err), NULL;
    lu->n = matrix->cols;
    lu->column = ss_allocate(n, sizeof *lu->column);
    lu->step_of = ss_allocate(n, sizeof *lu->step_of);
    lu->pivot = ss_allocate(n, sizeof *lu->pivot);
    lu->lower.start = ss_allocate(n + 1, sizeof(int));
    lu->upper.start = ss_allocate(n + 1, sizeof(int));
    if (lu->column && lu->step_of && lu->pivot && lu->lower.start && lu->upper.start) {
        for (size_t i = 0; i < n; i++) lu->step_of[i] = -1;
        return lu;
    }
    ss_block_lu_destroy(lu);
    return out_of_memory(err), NULL;
}

/* ---- sparse triangular solves ----------------------------------------------------------------------- */

static int column_of(const int *step_of, int node)
{
    return step_of ? step_of[node] : node;
}

static void begin(vector *v)
{
    if (v->epoch == INT_MAX) {
        memset(v->stamp, 0, (size_t)v->n * sizeof *v->stamp);
        v->epoch = 0;
    }
    v->epoch++;
    v->top = v->n;
}

/* Adds a node and all that depend on it, unless they are there: depth-first search, finished nodes go to
 * the front of the order. step_of = NULL: column i belongs to node i. A node without a column (-1) leads
 * nowhere. */
static void reach(vector *v, const columns *part, const int *step_of, int seed)
{
    if (v->stamp[seed] == v->epoch) return;
    int depth = 0;
    v->stack[0] = seed;
    v->stamp[seed] = v->epoch;
    v->next[0] = -1;
    while (depth >= 0) {
        int node = v->stack[depth], column = column_of(step_of, node);
        int end = column < 0 ? 0 : part->start[column + 1];
        int at = v->next[depth] >= 0 ? v->next[depth] : (column < 0 ? 0 : part->start[column]);
        while (at < end && v->stamp[part->index[at]] == v->epoch) at++;
        if (at < end) {
            v->next[depth] = at + 1;
            v->stack[++depth] = part->index[at];
            v->stamp[part->index[at]] = v->epoch;
            v->next[depth] = -1;
        } else {
            v->order[--v->top] = node;
            depth--;
        }
    }
}

/* Eliminates in order; a pivot of NULL stands for a unit diagonal. */
static void substitute(vector *v, const columns *part, const int *step_of, const double *pivot)
{
    for (int k = v->top; k < v->n; k++) {
        int node = v->order[k], column = column_of(step_of, node);
        if (column < 0) continue;
        if (pivot) v->x[node] /= pivot[node];
        double x = v->x[node];
        for (int at = part->start[column]; at < part->start[column + 1]; at++) {
            v->x[part->index[at]] -= part->value[at] * x;
        }
    }
}

static void clear(vector *v)
{
    for (int k = v->top; k < v->n; k++) v->x[v->order[k]] = 0.0;
}

/* ---- factorisation ---------------------------------------------------------------------------------- */

static int choose_pivot_row(const vector *v, const ss_block_lu *lu, int column)
{
    int best = -1;
    double largest = 0.0;
    for (int k = v->top; k < v->n; k++) {
        int row = v->order[k];
        if (lu->step_of[row] < 0 && fabs(v->x[row]) > largest) {
            largest = fabs(v->x[row]);
            best = row;
        }
    }
    bool diagonal_is_free = v->stamp[column] == v->epoch && lu->step_of[column] < 0;
    return diagonal_is_free && fabs(v->x[column]) >= diagonal_preference * largest ? column : best;
}

/* Left-looking: column k of the matrix, less what the columns before it take, then split into a column of
 * U, the pivot, and a column of L. */
static bool eliminate(ss_block_lu *lu, vector *v, const ss_sparse *matrix, double tolerance, int *deficient,
                      ss_error *err)
{
    for (int k = 0; k < lu->n; k++) {
        int column = lu->column[k], first = matrix->start[column], end = matrix->start[column + 1];
        begin(v);
        for (int at = first; at < end; at++) reach(v, &lu->lower, lu->step_of, matrix->row[at]);
        for (int at = first; at < end; at++) v->x[matrix->row[at]] = matrix->value[at];
        substitute(v, &lu->lower, lu->step_of, NULL);

        /* The pivot is small against the diagonal, or the largest entry where that is zero: dependent. */
        double scale = fabs(ss_sparse_get(matrix, column, column)), largest = 0.0;
        for (int at = first; at < end; at++) largest = fmax(largest, fabs(matrix->value[at]));
        if (!(scale > 0.0)) scale = largest;
        int pivot_row = choose_pivot_row(v, lu, column);
        if (pivot_row < 0 || !(fabs(v->x[pivot_row]) > tolerance * scale)) {
            *deficient = column;
            return ss_fail(err, SS_ERROR_INPUT, "singular: column %d depends on others", column);
        }

        /* The finished column moves out of v, which is zero afterwards. */
        int lower = lu->lower.start[k], upper = lu->upper.start[k], count = v->n - v->top;
        if (!grow(&lu->lower, lower, count, err) || !grow(&lu->upper, upper, count, err)) return false;
        lu->pivot[k] = v->x[pivot_row];
        lu->step_of[pivot_row] = k;
        for (int i = v->top; i < v->n; i++) {
            int row = v->order[i], step = lu->step_of[row];
            if (step < 0) {
                lu->lower.index[lower] = row;
                lu->lower.value[lower++] = v->x[row] / lu->pivot[k];
            } else if (step < k) {
                lu->upper.index[upper] = step;
                lu->upper.value[upper++] = v->x[row];
            }
        }
        clear(v);
        lu->lower.start[k + 1] = lower;
        lu->upper.start[k + 1] = upper;
    }

    /* Only now every row has its step. */
    for (int at = 0; at < lu->lower.start[lu->n]; at++)
        lu->lower.index[at] = lu->step_of[lu->lower.index[at]];
    return true;
}

ss_block_lu *ss_block_lu_factor(const ss_sparse *matrix, double tolerance, int *deficient, ss_error *err)
{
    SS_ASSERT(matrix->rows == matrix->cols);
    *deficient = -1;
    ss_block_lu *lu = create(matrix, err);
    vector v;
    if (!lu || !make_vector(lu->n, &v, err)) {
        ss_block_lu_destroy(lu);
        return NULL;
    }

    int order = lu->n ? amd_order(lu->n, matrix->start, matrix->row, lu->column, NULL, NULL) : AMD_OK;
    SS_ASSERT(order != AMD_INVALID);
    bool good = order == AMD_OK || order == AMD_OK_BUT_JUMBLED || out_of_memory(err);
    good = good && eliminate(lu, &v, matrix, tolerance, deficient, err);
    free_vector(&v);
    if (good) return lu;
    ss_block_lu_destroy(lu);
    return NULL;
}

/* ---- use -------------------------------------------------------------------------------------------- */

bool ss_block_lu_solve(const ss_block_lu *lu, double *x, ss_error *err)
{
    double *y = ss_allocate((size_t)lu->n, sizeof *y);
    if (!y) return out_of_memory(err);
    for (int i = 0; i < lu->n; i++) y[lu->step_of[i]] = x[i];
    for (int k = 0; k < lu->n; k++) {
        for (int at = lu->lower.start[k]; at < lu->lower.start[k + 1]; at++) {
            y[lu->lower.index[at]] -= lu->lower.value[at] * y[k];
        }
    }
    for (int k = lu->n - 1; k >= 0; k--) {
        y[k] /= lu->pivot[k];
        for (int at = lu->upper.start[k]; at < lu->upper.start[k + 1]; at++) {
            y[lu->upper.index[at]] -= lu->upper.value[at] * y[k];
        }
    }
    for (int k = 0; k < lu->n; k++) x[lu->column[k]] = y[k];
    ss_release(y);
    return true;
}

/* v = U^-1 L^-1 (column j of right), indexed by steps */
static void solve_column(const ss_block_lu *lu, const ss_sparse *right, int j, vector *v, int *reached)
{
    begin(v);
    for (int at = right->start[j]; at < right->start[j + 1]; at++) {
        reach(v, &lu->lower, NULL, lu->step_of[right->row[at]]);
    }
    for (int at = right->start[j]; at < right->start[j + 1]; at++) {
        v->x[lu->step_of[right->row[at]]] = right->value[at];
    }
    substitute(v, &lu->lower, NULL, NULL);
    int count = v->n - v->top;
    memcpy(reached, v->order + v->top, (size_t)count * sizeof *reached);
    begin(v);
    for (int i = 0; i < count; i++) reach(v, &lu->upper, NULL, reached[i]);
    substitute(v, &lu->upper, NULL, lu->pivot);
}

ss_sparse *ss_block_lu_solve_sparse(const ss_block_lu *lu, const ss_sparse *right, ss_error *err)
{
    SS_ASSERT(right->rows == lu->n);
    vector v;
    if (!make_vector(lu->n, &v, err)) return NULL;
    int *reached = ss_allocate((size_t)lu->n, sizeof *reached);
    columns part = {.start = ss_allocate((size_t)right->cols + 1, sizeof(int))};
    bool good = (reached && part.start) || out_of_memory(err);

    for (int j = 0; good && j < right->cols; j++) {
        solve_column(lu, right, j, &v, reached);
        int used = part.start[j];
        good = grow(&part, used, v.n - v.top, err);
        for (int i = v.top; good && i < v.n; i++) {
            part.index[used] = lu->column[v.order[i]];
            part.value[used++] = v.x[v.order[i]];
        }
        clear(&v);
        part.start[j + 1] = used;
    }

    /* Entries came as the search found them: as triplets they are sorted. */
    int count = good ? part.start[right->cols] : 0, *column = NULL;
    ss_sparse *solution = NULL;
    if (good) {
        column = ss_allocate((size_t)count, sizeof *column);
        good = column || out_of_memory(err);
    }
    for (int j = 0; good && j < right->cols; j++)
        for (int at = part.start[j]; at < part.start[j + 1]; at++) column[at] = j;
    if (good)
        solution =
            ss_sparse_from_triplets(right->rows, right->cols, count, part.index, column, part.value, err);

    ss_release(column);
    free_columns(&part);
    ss_release(reached);
    free_vector(&v);
    return solution;
}
