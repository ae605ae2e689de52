/* LAPACK stores matrices column by column: it sees the transpose of ours. For symmetric matrices that only
 * exchanges the triangles (our lower is its upper), for LU it turns A x = b into the transposed solve, and
 * singular values do not care. The *_work functions of LAPACKE in column order call LAPACK directly: they
 * neither allocate, print nor check. */
#include "linalg/dense.h"

#include "base/assert.h"
#include "base/memory.h"
#include "linalg/add_scaled.h"

#include <cblas.h>
#include <float.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

_Static_assert(sizeof(lapack_int) == sizeof(int), "pivots are passed as int");

/* ---- threads ---------------------------------------------------------------------------------------- */

extern void openblas_set_num_threads(int count) __attribute__((weak)); // absent in other BLAS libraries

static void set_one_thread(void)
{
    if (openblas_set_num_threads) openblas_set_num_threads(1);
}

void ss_blas_use_one_thread(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_one_thread);
}

void ss_blas_take_buffer(void)
{
    double one = 1.0;
    ss_blas_use_one_thread();
    LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', 1, &one, 1);
}

/* ---- helpers ---------------------------------------------------------------------------------------- */

/* LAPACK wants a leading dimension of at least 1. */
static int leading(int n)
{
    return n > 1 ? n : 1;
}

static bool all_finite(const double *a, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++) sum += 0.0 * a[i]; // NaN as soon as one is not finite
    return sum == 0.0;
}

static bool lower_triangle_finite(int n, const double *a)
{
    for (int i = 0; i < n; i++)
        if (!all_finite(a + (size_t)i * (size_t)n, (size_t)i + 1)) return false;
    return true;
}

static double *take_copy(ss_arena *scratch, const double *a, int rows, int cols, const char *what)
{
    size_t count = (size_t)rows * (size_t)cols;
    double *copy = ss_arena_take(scratch, count, sizeof *copy, what);
    if (copy && count) memcpy(copy, a, count * sizeof *copy);
    return copy;
}

/* Workspace of the size that a query with length -1 answered; NULL if LAPACK could not count it in an int. */
static double *take_work(ss_arena *scratch, double answer, int *length)
{
    if (!(answer < INT_MAX)) return NULL;
    *length = answer > 1.0 ? (int)answer : 1;
    return ss_arena_take(scratch, (size_t)*length, sizeof(double), "LAPACK workspace");
}

static int *take_integer_work(ss_arena *scratch, int length)
{
    return ss_arena_take(scratch, (size_t)leading(length), sizeof(int), "LAPACK integer workspace");
}

static ss_linalg_status decomposition_status(int info)
{
    return info == 0 ? SS_LINALG_OK : info > 0 ? SS_LINALG_NO_CONVERGENCE : SS_LINALG_NOT_FINITE;
}

/* ---- products --------------------------------------------------------------------------------------- */

/* What is left of a product with an empty matrix. */
static void scale(size_t count, double beta, double *y)
{
    for (size_t i = 0; i < count; i++) y[i] = beta == 0.0 ? 0.0 : beta * y[i];
}

static CBLAS_TRANSPOSE cblas_transpose(ss_transpose how)
{
    return how == SS_TRANSPOSED ? CblasTrans : CblasNoTrans;
}

/* Where a call of BLAS costs more than the work. */
static void apply_small(int rows, int cols, double alpha, const double *a, const double *x, double beta,
                        double *y)
{
    for (int i = 0; i < rows; i++, a += cols) {
        double sum = 0.0;
        for (int j = 0; j < cols; j++) sum += a[j] * x[j];
        y[i] = alpha * sum + (beta == 0.0 ? 0.0 : beta * y[i]);
    }
}

static void apply_small_transposed(int rows, int cols, double alpha, const double *a, const double *x,
                                   double beta, double *y)
{
    if (beta != 1.0) scale((size_t)cols, beta, y);
    for (int i = 0; i < rows; i++, a += cols) ss_add_scaled(cols, alpha * x[i], a, y);
}

void ss_dense_apply(int rows, int cols, double alpha, const double *a, ss_transpose how, const double *x,
                    double beta, double *y)
{
    enum { SMALL = 64 }; // numbers
    if (rows == 0 || cols == 0) {
        scale((size_t)(how == SS_TRANSPOSED ? cols : rows), beta, y);
        return;
    }
    if ((size_t)rows * (size_t)cols <= SMALL) {
        (how == SS_AS_IS ? apply_small : apply_small_transposed)(rows, cols, alpha, a, x, beta, y);
        return;
    }
    ss_blas_use_one_thread();
    cblas_dgemv(CblasRowMajor, cblas_transpose(how), rows, cols, alpha, a, cols, x, 1, beta, y, 1);
}

void ss_dense_multiply(int rows, int cols, int inner, double alpha, const double *a, ss_transpose how_a,
                       const double *b, ss_transpose how_b, double beta, double *c)
{
    ss_blas_use_one_thread();
    if (rows == 0 || cols == 0 || inner == 0) {
        scale((size_t)rows * (size_t)cols, beta, c);
        return;
    }
    int a_row = how_a == SS_TRANSPOSED ? rows : inner, b_row = how_b == SS_TRANSPOSED ? inner : cols;
    cblas_dgemm(CblasRowMajor, cblas_transpose(how_a), cblas_transpose(how_b), rows, cols, inner, alpha, a,
                a_row, b, b_row, beta, c, cols);
}

/* ---- factorisations --------------------------------------------------------------------------------- */

ss_linalg_status ss_dense_cholesky(int n, double *a)
{
    ss_blas_use_one_thread();
    if (!lower_triangle_finite(n, a)) return SS_LINALG_NOT_FINITE;
    int info = LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', n, a, leading(n));
    SS_ASSERT(info >= 0);
    return info == 0 ? SS_LINALG_OK : SS_LINALG_NOT_POSITIVE;
}

void ss_dense_cholesky_solve(int n, const double *factor, double *b, int count)
{
    ss_blas_use_one_thread();
    LAPACKE_dpotrs_work(LAPACK_COL_MAJOR, 'U', n, count, factor, leading(n), b, leading(n));
}

void ss_dense_lower_solve(int n, const double *lower, int stride, ss_transpose how, double *x)
{
    ss_blas_use_one_thread();
    cblas_dtrsv(CblasRowMajor, CblasLower, cblas_transpose(how), CblasNonUnit, n, lower, leading(stride), x,
                1);
}

/* Up to this size a call of LAPACK costs more than the work. */
enum { SMALL_LU = 48 };

/* As dgetrf does it. */
static bool factor_small(int n, double *a, int stride, int *exchange)
{
    for (int k = 0; k < n; k++) {
        double *column = a + (size_t)k * (size_t)stride;
        double largest = fabs(column[k]);
        int best = k;
        for (int i = k + 1; i < n; i++) {
            if (fabs(column[i]) > largest) largest = fabs(column[i]), best = i;
        }
        exchange[k] = best + 1;
        if (column[best] == 0.0) return false;
        double *across = a; // rows k and best change places in all columns
        for (int j = 0; best != k && j < n; j++, across += stride) {
            double kept = across[k];
            across[k] = across[best];
            across[best] = kept;
        }

        if (fabs(column[k]) >= DBL_MIN) {
            double inverse = 1.0 / column[k];
            for (int i = k + 1; i < n; i++) column[i] *= inverse;
        } else { // the inverse would be infinite
            for (int i = k + 1; i < n; i++) column[i] /= column[k];
        }
        for (int j = k + 1; j < n; j++) {
            double *other = a + (size_t)j * (size_t)stride;
            ss_add_scaled(n - k - 1, -other[k], column + k + 1, other + k + 1);
        }
    }
    return true;
}

static void exchange_entries(double *b, int i, int j)
{
    double kept = b[i];
    b[i] = b[j];
    b[j] = kept;
}

/* L U x = P b, with the factors by columns */
static void solve_small(int n, const double *a, const int *exchange, double *b)
{
    for (int k = 0; k < n; k++) exchange_entries(b, k, exchange[k] - 1);
    for (int k = 0; k < n; k++) ss_add_scaled(n - k - 1, -b[k], a + k * n + k + 1, b + k + 1);
    for (int k = n - 1; k >= 0; k--) {
        b[k] /= a[k * n + k];
        ss_add_scaled(k, -b[k], a + k * n, b);
    }
}

/* U' L' P x = b */
static void solve_small_transposed(int n, const double *a, const int *exchange, double *b)
{
    for (int k = 0; k < n; k++) {
        for (int i = 0; i < k; i++) b[k] -= a[k * n + i] * b[i];
        b[k] /= a[k * n + k];
    }
    for (int k = n - 1; k >= 0; k--) {
        for (int i = k + 1; i < n; i++) b[k] -= a[k * n + i] * b[i];
    }
    for (int k = n - 1; k >= 0; k--) exchange_entries(b, k, exchange[k] - 1);
}

bool ss_dense_lu_columns(int n, double *a, int stride, int *exchange)
{
    if (n <= SMALL_LU) return factor_small(n, a, stride, exchange);
    ss_blas_use_one_thread();
    int info = LAPACKE_dgetrf_work(LAPACK_COL_MAJOR, n, n, a, stride, exchange);
    SS_ASSERT(info >= 0);
    return info == 0;
}

ss_linalg_status ss_dense_lu(int n, double *a, int *pivot)
{
    if (!all_finite(a, (size_t)n * (size_t)n)) return SS_LINALG_NOT_FINITE;
    return ss_dense_lu_columns(n, a, leading(n), pivot) ? SS_LINALG_OK : SS_LINALG_SINGULAR;
}

void ss_dense_lu_solve(int n, const double *factor, const int *pivot, ss_transpose how, double *b, int count)
{
    for (int k = 0; n <= SMALL_LU && k < count; k++) {
        (how == SS_TRANSPOSED ? solve_small : solve_small_transposed)(n, factor, pivot, b + k * n);
    }
    if (n <= SMALL_LU) return;
    ss_blas_use_one_thread();
    char seen_by_lapack = how == SS_TRANSPOSED ? 'N' : 'T';
    LAPACKE_dgetrs_work(LAPACK_COL_MAJOR, seen_by_lapack, n, count, factor, leading(n), pivot, b, leading(n));
}

ss_linalg_status ss_dense_ldl(int n, double *a, int *pivot, ss_arena *scratch)
{
    ss_blas_use_one_thread();
    if (!lower_triangle_finite(n, a)) return SS_LINALG_NOT_FINITE;
    ss_arena_mark mark = ss_arena_get_mark(scratch);
    double answer = 0.0;
    int length = 0, info = 0;
    LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'U', n, a, leading(n), pivot, &answer, -1);
    double *work = take_work(scratch, answer, &length);
    if (work) info = LAPACKE_dsytrf_work(LAPACK_COL_MAJOR, 'U', n, a, leading(n), pivot, work, length);
    SS_ASSERT(info >= 0);
    ss_arena_reset(scratch, mark);
    return !work ? SS_LINALG_NO_MEMORY : info == 0 ? SS_LINALG_OK : SS_LINALG_SINGULAR;
}

void ss_dense_ldl_solve(int n, const double *factor, const int *pivot, double *b, int count)
{
    ss_blas_use_one_thread();
    LAPACKE_dsytrs_work(LAPACK_COL_MAJOR, 'U', n, count, factor, leading(n), pivot, b, leading(n));
}

/* ---- decompositions --------------------------------------------------------------------------------- */

static double tolerance_or_rounding(double tolerance, int rows, int cols)
{
    return tolerance < 0.0 ? DBL_EPSILON * (rows > cols ? rows : cols) : tolerance;
}

/* By dgelsd, divide and conquer: `rhs` is the right-hand side before, and x after. */
static ss_linalg_status least_squares(int rows, int cols, const double *a, const double *b, double tolerance,
                                      double *x, int *rank, ss_arena *scratch)
{
    int shortest = rows < cols ? rows : cols, longest = rows < cols ? cols : rows;
    double *columns =
        ss_arena_take(scratch, (size_t)rows * (size_t)cols, sizeof *columns, "least squares matrix");
    double *rhs = ss_arena_take(scratch, (size_t)longest, sizeof *rhs, "least squares right-hand side");
    double *values =
        ss_arena_take(scratch, (size_t)shortest, sizeof *values, "least squares singular values");
    if (!columns || !rhs || !values) return SS_LINALG_NO_MEMORY;
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            columns[(size_t)j * (size_t)rows + (size_t)i] = a[(size_t)i * (size_t)cols + (size_t)j];
    memcpy(rhs, b, (size_t)rows * sizeof *rhs);

    int integers = 0, length = 0;
    double answer = 0.0, least = tolerance_or_rounding(tolerance, rows, cols);
    LAPACKE_dgelsd_work(LAPACK_COL_MAJOR, rows, cols, 1, columns, rows, rhs, longest, values, least, rank,
                        &answer, -1, &integers);
    double *work = take_work(scratch, answer, &length);
    int *integer_work = take_integer_work(scratch, integers);
    if (!work || !integer_work) return SS_LINALG_NO_MEMORY;
    ss_linalg_status status =
        decomposition_status(LAPACKE_dgelsd_work(LAPACK_COL_MAJOR, rows, cols, 1, columns, rows, rhs, longest,
                                                 values, least, rank, work, length, integer_work));
    if (status == SS_LINALG_OK) memcpy(x, rhs, (size_t)cols * sizeof *x);
    return status;
}

ss_linalg_status ss_dense_least_squares(int rows, int cols, const double *a, const double *b,
                                        double tolerance, double *x, int *rank, ss_arena *scratch)
{
    ss_blas_use_one_thread();
    int found = 0;
    ss_linalg_status status = SS_LINALG_OK;
    if (rows == 0 || cols == 0) {
        for (int j = 0; j < cols; j++) x[j] = 0.0;
    } else if (!all_finite(a, (size_t)rows * (size_t)cols) || !all_finite(b, (size_t)rows)) {
        status = SS_LINALG_NOT_FINITE; // LAPACK's iterations would not end well
    } else {
        ss_arena_mark mark = ss_arena_get_mark(scratch);
        status = least_squares(rows, cols, a, b, tolerance, x, &found, scratch);
        ss_arena_reset(scratch, mark);
    }
    if (rank) *rank = found;
    return status;
}

static void exchange(double *a, double *b)
{
    double kept = *a;
    *a = *b;
    *b = kept;
}

ss_linalg_status ss_dense_solve_smallest(int n, const double *matrix, const double *b, double tolerance,
                                         double contradiction, double *x, ss_arena *scratch)
{
    size_t entries = (size_t)n * (size_t)n;
    ss_arena_mark mark = ss_arena_get_mark(scratch);
    double *a = ss_arena_take_unset(scratch, entries + (size_t)n, sizeof *a, "elimination");
    int *order = ss_arena_take_unset(scratch, (size_t)n, sizeof *order, "elimination"), rank = 0;
    double *right = a + entries, first = 0.0;
    bool is_good = a && order;
    if (is_good) {
        memcpy(a, matrix, entries * sizeof *a);
        memcpy(right, b, (size_t)n * sizeof *right);
    }
    for (int k = 0; is_good && k < n; k++) order[k] = k;
    for (; is_good && rank < n; rank++) {
        // The largest entry that is left comes to (rank, rank).
        int row = rank, col = rank, kept = order[rank];
        double pivot = -1.0;
        for (int i = rank; i < n; i++) {
            for (int j = rank; j < n; j++) {
                if (!(fabs(a[i * n + j]) > pivot)) continue;
                pivot = fabs(a[i * n + j]);
                row = i, col = j;
            }
        }
        for (int j = 0; j < n && row != rank; j++) exchange(&a[rank * n + j], &a[row * n + j]);
        for (int i = 0; i < n && col != rank; i++) exchange(&a[i * n + rank], &a[i * n + col]);
        exchange(&right[rank], &right[row]);
        order[rank] = order[col];
        order[col] = kept;

        first = fmax(first, pivot);
        if (!(pivot > tolerance * first)) break;
        for (int i = rank + 1; i < n; i++) {
            double factor = a[i * n + rank] / a[rank * n + rank];
            if (factor == 0.0) continue;
            for (int j = rank + 1; j < n; j++) a[i * n + j] -= factor * a[rank * n + j];
            right[i] -= factor * right[rank];
        }
    }

    ss_linalg_status status = is_good ? SS_LINALG_OK : SS_LINALG_NO_MEMORY;
    for (int k = n - 1; is_good && rank == n && k >= 0; k--) {
        for (int j = k + 1; j < n; j++) right[k] -= a[k * n + j] * right[j];
        right[k] /= a[k * n + k];
        x[order[k]] = right[k];
    }
    for (int i = rank; is_good && i < n; i++) { // nothing is left on the left
        if (!(fabs(right[i]) <= contradiction)) status = SS_LINALG_SINGULAR;
    }
    ss_arena_reset(scratch, mark);
    if (status != SS_LINALG_OK || rank == n) return status;
    return ss_dense_least_squares(n, n, matrix, b, tolerance, x, NULL, scratch);
}

ss_linalg_status ss_dense_singular_values(int rows, int cols, const double *a, double *values,
                                          ss_arena *scratch)
{
    ss_blas_use_one_thread();
    if (rows == 0 || cols == 0) return SS_LINALG_OK;
    if (!all_finite(a, (size_t)rows * (size_t)cols)) return SS_LINALG_NOT_FINITE;
    ss_arena_mark mark = ss_arena_get_mark(scratch);
    double *copy = take_copy(scratch, a, rows, cols, "singular value matrix"), *work = NULL;
    int *integer_work = take_integer_work(scratch, 8 * (rows < cols ? rows : cols));
    ss_linalg_status status = SS_LINALG_NO_MEMORY;
    double answer = 0.0;
    int length = 0;

    // The transpose, as LAPACK sees it, is cols x rows. No vectors, so their arrays are never touched.
    if (copy && integer_work) {
        LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'N', cols, rows, copy, cols, values, NULL, 1, NULL, 1, &answer,
                            -1, integer_work);
        work = take_work(scratch, answer, &length);
    }
    if (work)
        status =
            decomposition_status(LAPACKE_dgesdd_work(LAPACK_COL_MAJOR, 'N', cols, rows, copy, cols, values,
                                                     NULL, 1, NULL, 1, work, length, integer_work));
    ss_arena_reset(scratch, mark);
    return status;
}

ss_linalg_status ss_dense_rank(int rows, int cols, const double *a, double tolerance, int *rank,
                               ss_arena *scratch)
{
    int shortest = rows < cols ? rows : cols;
    ss_arena_mark mark = ss_arena_get_mark(scratch);
    double *values = ss_arena_take(scratch, (size_t)shortest, sizeof *values, "singular values");
    ss_linalg_status status =
        values ? ss_dense_singular_values(rows, cols, a, values, scratch) : SS_LINALG_NO_MEMORY;
    *rank = 0;
    if (status == SS_LINALG_OK)
        while (*rank < shortest && values[*rank] > tolerance_or_rounding(tolerance, rows, cols) * values[0])
            ++*rank;
    ss_arena_reset(scratch, mark);
    return status;
}

ss_linalg_status ss_dense_symmetric_eigen(int n, const double *a, double *values, double *vectors,
                                          ss_arena *scratch)
{
    ss_blas_use_one_thread();
    if (n == 0) return SS_LINALG_OK;
    if (!lower_triangle_finite(n, a)) return SS_LINALG_NOT_FINITE;
    ss_arena_mark mark = ss_arena_get_mark(scratch);
    double *copy = take_copy(scratch, a, n, n, "eigenvalue matrix"), *work = NULL;
    ss_linalg_status status = SS_LINALG_NO_MEMORY;
    char job = vectors ? 'V' : 'N';
    double answer = 0.0;
    int length = 0, integers = 0, *integer_work = NULL;

    if (copy) {
        LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'U', n, copy, n, values, &answer, -1, &integers, -1);
        work = take_work(scratch, answer, &length);
        integer_work = take_integer_work(scratch, integers);
    }
    if (work && integer_work)
        status = decomposition_status(LAPACKE_dsyevd_work(LAPACK_COL_MAJOR, job, 'U', n, copy, n, values,
                                                          work, length, integer_work, leading(integers)));
    // LAPACK leaves the vectors in its columns, which are our rows.
    if (status == SS_LINALG_OK && vectors) memcpy(vectors, copy, (size_t)n * (size_t)n * sizeof *vectors);
    ss_arena_reset(scratch, mark);
    return status;
}
