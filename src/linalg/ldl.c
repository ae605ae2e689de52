#include "linalg/factor.h"

#include "base/assert.h"
#include "linalg/pivots.h"

#include <cholmod.h>
#include <string.h>

/* Rows of L between their first entry and the diagonal, outside of which L is zero where the order is kept.
 * For few rows, and for chains in the order in which they were built, that is all that is needed. */
typedef struct envelope {
    int *begin;
    size_t *row;       // entry k of row j is at row[j] + k
    double *L, *D;     // L, with ones on a diagonal that is not stored
    double operations; // multiplications of a factorisation
} envelope;

struct ss_ldl {
    envelope envelope;     // its L is NULL where CHOLMOD factorises
    cholmod_common common; // settings and workspace: one each, so that objects are independent
    cholmod_factor *factor;
    cholmod_dense *solution, *work_y, *work_e; // kept between solves by cholmod_solve2
    ss_sparse *matrix;                         // copy of the last factorised matrix, for refinement
    double *residual, *correction;
    ss_pivots pivots;
};

/* A view of our arrays; CHOLMOD does not write to it. stype 1: symmetric, the upper triangle counts. */
static cholmod_sparse cholmod_view(const ss_sparse *matrix)
{
    return (cholmod_sparse){.nrow = (size_t)matrix->rows,
                            .ncol = (size_t)matrix->cols,
                            .nzmax = (size_t)ss_sparse_nonzeros(matrix),
                            .p = matrix->start,
                            .i = matrix->row,
                            .x = matrix->value,
                            .stype = 1,
                            .itype = CHOLMOD_INT,
                            .xtype = CHOLMOD_REAL,
                            .dtype = CHOLMOD_DOUBLE,
                            .sorted = 1,
                            .packed = 1};
}

/* ---- the envelope ----------------------------------------------------------------------------------- */

static bool find_envelope(const ss_sparse *pattern, envelope *to)
{
    size_t entries = 0;
    to->begin = ss_allocate((size_t)pattern->cols, sizeof *to->begin);
    to->row = ss_allocate((size_t)pattern->cols, sizeof *to->row);
    if (!to->begin || !to->row) return false;
    for (int j = 0; j < pattern->cols; j++) {
        int first = pattern->start[j];
        bool above = first < pattern->start[j + 1] && pattern->row[first] < j;
        to->begin[j] = above ? pattern->row[first] : j;
        double width = j - to->begin[j] + 1;
        to->row[j] = entries - (size_t)to->begin[j];
        to->operations += width * width;
        entries += (size_t)(j - to->begin[j]);
    }
    return true;
}

static bool allocate_envelope(const ss_sparse *pattern, envelope *to)
{
    int last = pattern->cols - 1;
    to->L = ss_allocate(last < 0 ? 1 : to->row[last] + (size_t)last, sizeof *to->L);
    to->D = ss_allocate((size_t)pattern->cols, sizeof *to->D);
    return to->L && to->D;
}

static void free_envelope(envelope *of)
{
    ss_release(of->begin);
    ss_release(of->row);
    ss_release(of->L);
    ss_release(of->D);
    *of = (envelope){0};
}

/* a . b, in four sums, which do not wait for each other */
static double dot(size_t count, const double *a, const double *b)
{
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    size_t i = 0;
    for (; i + 4 <= count; i += 4)
        for (size_t k = 0; k < 4; k++) sum[k] += a[i + k] * b[i + k];
    for (; i < count; i++) sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* Row by row: u = L_jk D_k from the rows above, then L and D of row j. False where a pivot is zero. */
static bool factor_envelope(const ss_sparse *matrix, const envelope *to)
{
    for (int j = 0; j < matrix->cols; j++) {
        int begin = to->begin[j];
        double *u = to->L + to->row[j], pivot = 0.0;
        for (int k = begin; k < j; k++) u[k] = 0.0;
        for (int p = matrix->start[j]; p < matrix->start[j + 1] && matrix->row[p] <= j; p++) {
            if (matrix->row[p] < j) u[matrix->row[p]] = matrix->value[p];
            if (matrix->row[p] == j) pivot = matrix->value[p];
        }

        for (int k = begin; k < j; k++) {
            int from = begin > to->begin[k] ? begin : to->begin[k];
            if (from < k) u[k] -= dot((size_t)(k - from), u + from, to->L + to->row[k] + from);
        }
        for (int k = begin; k < j; k++) {
            double l = u[k] / to->D[k];
            pivot -= l * u[k];
            u[k] = l;
        }
        to->D[j] = pivot;
        if (pivot == 0.0) return false;
    }
    return true;
}

static void solve_envelope(int n, const envelope *of, const double *b, double *x)
{
    for (int j = 0; j < n; j++) {
        int begin = of->begin[j];
        x[j] = b[j] - dot((size_t)(j - begin), of->L + of->row[j] + begin, x + begin);
    }
    for (int j = 0; j < n; j++) x[j] /= of->D[j];
    for (int j = n - 1; j >= 0; j--) {
        const double *row = of->L + of->row[j];
        for (int k = of->begin[j]; k < j; k++) x[k] -= row[k] * x[j];
    }
}

/* ---- an object -------------------------------------------------------------------------------------- */

/* Multiplications in the envelope that are made rather than looking for a better order, and how many more
 * than in that order are: CHOLMOD's take as long as some of ours. */
static const double few_operations = 4000.0, operations_of_one = 3.0;

ss_ldl *ss_ldl_create(const ss_sparse *pattern, ss_error *err)
{
    if (pattern->rows != pattern->cols) {
        ss_fail(err, SS_ERROR_INPUT, "LDL' of a %d x %d matrix: it must be square", pattern->rows,
                pattern->cols);
        return NULL;
    }
    ss_ldl *ldl = ss_allocate(1, sizeof *ldl);
    if (!ldl) {
        ss_fail(err, SS_ERROR_RESOURCES, "LDL': out of memory");
        return NULL;
    }

    /* Quiet, simplicial LDL' in AMD's order. */
    cholmod_common *common = &ldl->common;
    cholmod_start(common);
    common->print = 0;
    common->error_handler = NULL;
    common->supernodal = CHOLMOD_SIMPLICIAL;
    common->final_ll = 0;
    common->nmethods = 1;
    common->method[0].ordering = CHOLMOD_AMD;
    common->useGPU = 0;

    int n = pattern->cols;
    ldl->matrix = ss_sparse_copy(pattern, err);
    ldl->residual = ss_allocate((size_t)n, sizeof *ldl->residual);
    ldl->correction = ss_allocate((size_t)n, sizeof *ldl->correction);
    bool good = ldl->matrix && ldl->residual && ldl->correction && find_envelope(pattern, &ldl->envelope);
    double operations = ldl->envelope.operations;
    if (good && operations > few_operations) {
        cholmod_sparse view = cholmod_view(pattern);
        ldl->factor = cholmod_analyze(&view, common);
        good = ldl->factor != NULL;
    }
    if (good && ldl->factor && operations > operations_of_one * common->fl) {
        free_envelope(&ldl->envelope);
        return ldl;
    }
    cholmod_free_factor(&ldl->factor, common);
    if (good && allocate_envelope(pattern, &ldl->envelope)) return ldl;
    ss_fail(err, SS_ERROR_RESOURCES, "LDL' of a %d x %d matrix: out of memory", n, n);
    ss_ldl_destroy(ldl);
    return NULL;
}

void ss_ldl_destroy(ss_ldl *ldl)
{
    if (!ldl) return;
    free_envelope(&ldl->envelope);
    cholmod_free_factor(&ldl->factor, &ldl->common);
    cholmod_free_dense(&ldl->solution, &ldl->common);
    cholmod_free_dense(&ldl->work_y, &ldl->common);
    cholmod_free_dense(&ldl->work_e, &ldl->common);
    cholmod_finish(&ldl->common);
    ss_sparse_destroy(ldl->matrix);
    ss_release(ldl->residual);
    ss_release(ldl->correction);
    ss_release(ldl);
}

ss_linalg_status ss_ldl_factor(ss_ldl *ldl, const ss_sparse *matrix)
{
    SS_ASSERT(ss_sparse_same_pattern(ldl->matrix, matrix));
    memcpy(ldl->matrix->value, matrix->value, (size_t)ss_sparse_nonzeros(matrix) * sizeof *matrix->value);
    ldl->pivots = (ss_pivots){0};
    if (!ss_sparse_is_finite(matrix)) return SS_LINALG_NOT_FINITE;
    ss_pivot_counter counter = ss_pivots_start(ldl->matrix);
    if (ldl->envelope.L) {
        if (!factor_envelope(matrix, &ldl->envelope)) return SS_LINALG_SINGULAR;
        for (int j = 0; j < matrix->cols; j++) ss_pivots_note(&counter, ldl->envelope.D[j]);
        ldl->pivots = counter.pivots;
        return counter.usable ? SS_LINALG_OK : SS_LINALG_SINGULAR;
    }

    cholmod_sparse view = cholmod_view(ldl->matrix);
    ldl->common.status = CHOLMOD_OK;
    cholmod_factorize(&view, ldl->factor, &ldl->common);
    if (ldl->common.status < CHOLMOD_OK) return SS_LINALG_NO_MEMORY; // negative: out of memory, too large
    if (ldl->common.status == CHOLMOD_NOT_POSDEF) return SS_LINALG_SINGULAR; // of LDL': a zero pivot

    /* The pivots: D is the diagonal of L. */
    const cholmod_factor *factor = ldl->factor;
    const int *start = factor->p;
    const double *value = factor->x;
    for (size_t j = 0; j < factor->n; j++) ss_pivots_note(&counter, value[start[j]]);
    ldl->pivots = counter.pivots;
    return counter.usable ? SS_LINALG_OK : SS_LINALG_SINGULAR;
}

const ss_pivots *ss_ldl_pivots(const ss_ldl *ldl)
{
    return &ldl->pivots;
}

void ss_ldl_diagonal(const ss_ldl *ldl, double *pivots)
{
    if (ldl->envelope.L) {
        memcpy(pivots, ldl->envelope.D, (size_t)ldl->matrix->cols * sizeof *pivots);
        return;
    }
    const cholmod_factor *factor = ldl->factor;
    const int *start = factor->p, *place = factor->Perm;
    const double *value = factor->x;
    for (size_t j = 0; j < factor->n; j++) pivots[place[j]] = value[start[j]];
}

double ss_ldl_cost(const ss_ldl *ldl)
{
    return ldl->envelope.L ? ldl->envelope.operations : ldl->common.fl;
}

static bool solve_once(ss_ldl *ldl, const double *b, double *x)
{
    int n = ldl->matrix->cols;
    if (ldl->envelope.L) {
        solve_envelope(n, &ldl->envelope, b, x);
        return true;
    }
    cholmod_dense rhs = {.nrow = (size_t)n,
                         .ncol = 1,
                         .nzmax = (size_t)n,
                         .d = (size_t)n,
                         .x = (void *)(uintptr_t)b, // read only
                         .xtype = CHOLMOD_REAL,
                         .dtype = CHOLMOD_DOUBLE};
    if (!cholmod_solve2(CHOLMOD_A, ldl->factor, &rhs, NULL, &ldl->solution, NULL, &ldl->work_y, &ldl->work_e,
                        &ldl->common))
        return false;
    memcpy(x, ldl->solution->x, (size_t)n * sizeof *x);
    return true;
}

/* y -= A x, from the upper triangle */
static void subtract_symmetric_product(const ss_sparse *matrix, const double *x, double *y)
{
    for (int col = 0; col < matrix->cols; col++)
        for (int p = matrix->start[col]; p < matrix->start[col + 1]; p++) {
            int row = matrix->row[p];
            if (row > col) break; // rows ascend: the rest is the lower triangle
            y[row] -= matrix->value[p] * x[col];
            if (row < col) y[col] -= matrix->value[p] * x[row];
        }
}

ss_linalg_status ss_ldl_solve(ss_ldl *ldl, const double *b, double *x, ss_refine refine)
{
    int n = ldl->matrix->cols;
    if (n == 0) return SS_LINALG_OK;
    memcpy(ldl->residual, b, (size_t)n * sizeof *b);
    if (!solve_once(ldl, b, x)) return SS_LINALG_NO_MEMORY;
    if (refine == SS_REFINE_NEVER) return SS_LINALG_OK;
    subtract_symmetric_product(ldl->matrix, x, ldl->residual);
    if (!solve_once(ldl, ldl->residual, ldl->correction)) return SS_LINALG_NO_MEMORY;
    for (int i = 0; i < n; i++) x[i] += ldl->correction[i];
    return SS_LINALG_OK;
}
