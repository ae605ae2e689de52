#include <stickslip/sparse.h>

#include "base/assert.h"
#include "linalg/sparse_search.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* ---- life ------------------------------------------------------------------------------------------- */

static ss_sparse *fail_memory(int rows, int cols, int64_t nonzeros, ss_error *err)
{
    ss_fail(err, SS_ERROR_RESOURCES, "sparse matrix %d x %d with %lld entries: out of memory", rows, cols,
            (long long)nonzeros);
    return NULL;
}

static bool size_fits(int rows, int cols, int64_t nonzeros, ss_error *err)
{
    if (rows < 0 || cols < 0 || nonzeros < 0)
        return ss_fail(err, SS_ERROR_INPUT,
                       "sparse matrix %d x %d with %lld entries: sizes must not be negative", rows, cols,
                       (long long)nonzeros);
    if (nonzeros > INT_MAX || rows == INT_MAX || cols == INT_MAX)
        return ss_fail(err, SS_ERROR_RESOURCES,
                       "sparse matrix %d x %d with %lld entries: too many for 32-bit indices", rows, cols,
                       (long long)nonzeros);
    return true;
}

ss_sparse *ss_sparse_create(int rows, int cols, int64_t nonzeros, ss_error *err)
{
    if (!size_fits(rows, cols, nonzeros, err)) return NULL;
    ss_sparse *matrix = ss_allocate(1, sizeof *matrix);
    if (!matrix) return fail_memory(rows, cols, nonzeros, err);
    matrix->rows = rows;
    matrix->cols = cols;
    matrix->start = ss_allocate((size_t)cols + 1, sizeof *matrix->start);
    matrix->row = ss_allocate((size_t)nonzeros, sizeof *matrix->row);
    matrix->value = ss_allocate((size_t)nonzeros, sizeof *matrix->value);
    if (matrix->start && matrix->row && matrix->value) return matrix;
    ss_sparse_destroy(matrix);
    return fail_memory(rows, cols, nonzeros, err);
}

void ss_sparse_destroy(ss_sparse *matrix)
{
    if (!matrix) return;
    ss_release(matrix->start);
    ss_release(matrix->row);
    ss_release(matrix->value);
    ss_release(matrix);
}

ss_sparse *ss_sparse_copy(const ss_sparse *matrix, ss_error *err)
{
    size_t nonzeros = (size_t)ss_sparse_nonzeros(matrix);
    ss_sparse *copy = ss_sparse_create(matrix->rows, matrix->cols, (int64_t)nonzeros, err);
    if (!copy) return NULL;
    memcpy(copy->start, matrix->start, ((size_t)matrix->cols + 1) * sizeof *copy->start);
    memcpy(copy->row, matrix->row, nonzeros * sizeof *copy->row);
    memcpy(copy->value, matrix->value, nonzeros * sizeof *copy->value);
    return copy;
}

ss_sparse *ss_sparse_part(const ss_sparse *matrix, int count, const int *member, ss_error *err)
{
    int *place = ss_allocate((size_t)matrix->cols, sizeof *place), entry = 0;
    ss_sparse *part = place ? ss_sparse_create(count, count, ss_sparse_nonzeros(matrix), err) : NULL;
    if (!part) {
        ss_release(place);
        return fail_memory(count, count, ss_sparse_nonzeros(matrix), err);
    }
    for (int i = 0; i < matrix->cols; i++) place[i] = -1;
    for (int k = 0; k < count; k++) place[member[k]] = k;
    for (int k = 0; k < count; k++) {
        for (int e = matrix->start[member[k]]; e < matrix->start[member[k] + 1]; e++) {
            int row = place[matrix->row[e]];
            if (row >= 0) ss_sparse_append(part, &entry, row, matrix->value[e]);
        }
        part->start[k + 1] = entry;
    }
    ss_release(place);
    return part;
}

/* ---- from triplets ---------------------------------------------------------------------------------- */

static bool indices_in_range(int rows, int cols, int64_t count, const int *i, const int *j, ss_error *err)
{
    for (int64_t k = 0; k < count; k++) {
        if (i[k] < 0 || i[k] >= rows)
            return ss_fail(err, SS_ERROR_INPUT, "entry %lld: row %d, must be in 0..%d", (long long)k, i[k],
                           rows - 1);
        if (j[k] < 0 || j[k] >= cols)
            return ss_fail(err, SS_ERROR_INPUT, "entry %lld: column %d, must be in 0..%d", (long long)k, j[k],
                           cols - 1);
    }
    return true;
}

/* Counts of each key become the places where its entries begin; next[keys] is the total. */
static void counts_to_starts(int *next, int keys)
{
    int sum = 0;
    for (int key = 0; key <= keys; key++) {
        int count = next[key];
        next[key] = sum;
        sum += count;
    }
}

ss_sparse *ss_sparse_from_triplets(int rows, int cols, int64_t count, const int *i, const int *j,
                                   const double *x, ss_error *err)
{
    if (!size_fits(rows, cols, count, err) || !indices_in_range(rows, cols, count, i, j, err)) return NULL;
    size_t longest = (size_t)(rows > cols ? rows : cols) + 1;
    ss_sparse *matrix = ss_sparse_create(rows, cols, count, err);
    int *order = ss_allocate((size_t)count, sizeof *order), *next = ss_allocate(longest, sizeof *next);
    if (!matrix || !order || !next) {
        ss_release(order);
        ss_release(next);
        ss_sparse_destroy(matrix);
        return fail_memory(rows, cols, count, err);
    }

    /* Numbers of the entries sorted by row, those of one row in the order given. */
    for (int k = 0; k < count; k++) next[i[k]]++;
    counts_to_starts(next, rows);
    for (int k = 0; k < count; k++) order[next[i[k]]++] = k;

    /* Coming row by row, they are dealt out to their columns: each column is then sorted, duplicates side by
     * side. */
    for (int k = 0; k < count; k++) matrix->start[j[k]]++;
    counts_to_starts(matrix->start, cols);
    for (int col = 0; col < cols; col++) next[col] = matrix->start[col];
    for (int k = 0; k < count; k++) {
        int entry = order[k], place = next[j[entry]]++;
        matrix->row[place] = i[entry];
        matrix->value[place] = x[entry];
    }
    ss_release(order);
    ss_release(next);

    /* Duplicates are summed, and what follows moves up. */
    int kept = 0;
    for (int col = 0; col < cols; col++) {
        int begin = matrix->start[col], end = matrix->start[col + 1], first = kept;
        matrix->start[col] = first;
        for (int p = begin; p < end; p++) {
            if (kept > first && matrix->row[kept - 1] == matrix->row[p]) {
                matrix->value[kept - 1] += matrix->value[p];
                continue;
            }
            matrix->row[kept] = matrix->row[p];
            matrix->value[kept++] = matrix->value[p];
        }
    }
    matrix->start[cols] = kept;
    return matrix;
}

/* ---- transpose and product -------------------------------------------------------------------------- */

/* The columns of the result are sorted even where those of the matrix are not. */
ss_sparse *ss_sparse_transpose(const ss_sparse *matrix, ss_error *err)
{
    int nonzeros = ss_sparse_nonzeros(matrix);
    ss_sparse *result = ss_sparse_create(matrix->cols, matrix->rows, nonzeros, err);
    int *next = ss_allocate((size_t)matrix->rows, sizeof *next);
    if (!result || !next) {
        ss_release(next);
        ss_sparse_destroy(result);
        return fail_memory(matrix->cols, matrix->rows, nonzeros, err);
    }
    for (int p = 0; p < nonzeros; p++) result->start[matrix->row[p]]++;
    counts_to_starts(result->start, result->cols);
    for (int col = 0; col < result->cols; col++) next[col] = result->start[col];
    for (int col = 0; col < matrix->cols; col++)
        for (int p = matrix->start[col]; p < matrix->start[col + 1]; p++) {
            int place = next[matrix->row[p]]++;
            result->row[place] = col;
            result->value[place] = matrix->value[p];
        }
    ss_release(next);
    return result;
}

static ss_sparse *unsorted_product(const ss_sparse *left, const ss_sparse *right, ss_error *err)
{
    size_t rows = (size_t)left->rows;
    int *seen = ss_allocate(rows, sizeof *seen);
    if (!seen) return fail_memory(left->rows, right->cols, 0, err);

    /* How many entries: seen[row] = col + 1 marks those of a column that are counted. */
    int64_t count = 0;
    for (int col = 0; col < right->cols; col++) {
        int begin = right->start[col], end = right->start[col + 1];
        if (end - begin == 1) { // a multiple of one column of the left matrix
            int k = right->row[begin];
            count += left->start[k + 1] - left->start[k];
            continue;
        }
        for (int q = begin; q < end; q++) {
            int k = right->row[q];
            for (int p = left->start[k]; p < left->start[k + 1]; p++) {
                count += seen[left->row[p]] != col + 1;
                seen[left->row[p]] = col + 1;
            }
        }
    }
    ss_sparse *product = ss_sparse_create(left->rows, right->cols, count, err);
    if (!product) {
        ss_release(seen);
        return NULL;
    }

    /* Column by column, in the order the entries turn up (Gustavson 1978); place[i] - 1 is where row i of it
     * is. */
    int filled = 0, *place = seen;
    memset(place, 0, rows * sizeof *place);
    for (int col = 0; col < right->cols; col++) {
        int first = product->start[col] = filled;
        for (int q = right->start[col]; q < right->start[col + 1]; q++) {
            int k = right->row[q];
            for (int p = left->start[k]; p < left->start[k + 1]; p++) {
                int i = left->row[p];
                if (place[i] <= first) {
                    product->row[filled] = i;
                    place[i] = ++filled;
                }
                product->value[place[i] - 1] += left->value[p] * right->value[q];
            }
        }
    }
    product->start[right->cols] = filled;
    ss_release(seen);
    return product;
}

ss_sparse *ss_sparse_multiply(const ss_sparse *left, const ss_sparse *right, ss_error *err)
{
    if (left->cols != right->rows) {
        ss_fail(err, SS_ERROR_INPUT, "a %d x %d matrix cannot be multiplied by a %d x %d one", left->rows,
                left->cols, right->rows, right->cols);
        return NULL;
    }
    ss_sparse *unsorted = unsorted_product(left, right, err);
    ss_sparse *transposed = unsorted ? ss_sparse_transpose(unsorted, err) : NULL;
    ss_sparse_destroy(unsorted);
    ss_sparse *product = transposed ? ss_sparse_transpose(transposed, err) : NULL;
    ss_sparse_destroy(transposed);
    return product;
}

/* ---- use -------------------------------------------------------------------------------------------- */

void ss_sparse_apply(const ss_sparse *matrix, const double *x, double alpha, double *y)
{
    for (int col = 0; col < matrix->cols; col++) {
        double factor = alpha * x[col];
        if (factor == 0.0) continue; // open contacts are many
        for (int p = matrix->start[col]; p < matrix->start[col + 1]; p++)
            y[matrix->row[p]] += matrix->value[p] * factor;
    }
}

void ss_sparse_apply_transposed(const ss_sparse *matrix, const double *x, double alpha, double *y)
{
    for (int col = 0; col < matrix->cols; col++) {
        double sum = 0.0;
        for (int p = matrix->start[col]; p < matrix->start[col + 1]; p++)
            sum += matrix->value[p] * x[matrix->row[p]];
        y[col] += alpha * sum;
    }
}

int ss_sparse_nonzeros(const ss_sparse *matrix)
{
    return matrix->start[matrix->cols];
}

double ss_sparse_get(const ss_sparse *matrix, int row, int col)
{
    SS_ASSERT(row >= 0 && row < matrix->rows && col >= 0 && col < matrix->cols);
    int at = ss_sparse_first_entry(matrix, col, row);
    return at < matrix->start[col + 1] && matrix->row[at] == row ? matrix->value[at] : 0.0;
}

/* ---- checks ----------------------------------------------------------------------------------------- */

bool ss_sparse_check(const ss_sparse *matrix, ss_error *err)
{
    if (matrix->rows < 0 || matrix->cols < 0)
        return ss_fail(err, SS_ERROR_INPUT, "size %d x %d, must not be negative", matrix->rows, matrix->cols);
    if (matrix->start[0] != 0)
        return ss_fail(err, SS_ERROR_INPUT, "start[0] = %d, must be 0", matrix->start[0]);
    // All starts first: until they are known to ascend, none of them may be used to look at entries.
    for (int col = 0; col < matrix->cols; col++)
        if (matrix->start[col + 1] < matrix->start[col])
            return ss_fail(err, SS_ERROR_INPUT, "start[%d] = %d is below start[%d] = %d", col + 1,
                           matrix->start[col + 1], col, matrix->start[col]);

    for (int col = 0; col < matrix->cols; col++) {
        for (int p = matrix->start[col], last = -1; p < matrix->start[col + 1]; p++) {
            int row = matrix->row[p];
            if (row < 0 || row >= matrix->rows)
                return ss_fail(err, SS_ERROR_INPUT, "row[%d] = %d in column %d, must be in 0..%d", p, row,
                               col, matrix->rows - 1);
            if (row <= last)
                return ss_fail(err, SS_ERROR_INPUT,
                               "row[%d] = %d comes after row %d in column %d, must ascend", p, row, last,
                               col);
            if (!isfinite(matrix->value[p]))
                return ss_fail(err, SS_ERROR_INPUT, "value[%d] = %g at (%d, %d), must be finite", p,
                               matrix->value[p], row, col);
            last = row;
        }
    }
    return true;
}

double ss_sparse_symmetry_error(const ss_sparse *matrix)
{
    if (matrix->rows != matrix->cols) return INFINITY;
    double difference = 0.0, size = 0.0;
    for (int col = 0; col < matrix->cols; col++)
        for (int p = matrix->start[col]; p < matrix->start[col + 1]; p++) {
            double value = matrix->value[p], mirrored = ss_sparse_get(matrix, col, matrix->row[p]);
            if (isnan(value - mirrored)) return NAN;
            difference = fmax(difference, fabs(value - mirrored));
            size = fmax(size, fabs(value));
        }
    return size > 0.0 ? difference / size : 0.0;
}
