#include "linalg/factor.h"

#include "base/assert.h"
#include "linalg/pivots.h"

#include <cholmod.h>
#include <string.h>

struct ss_ldl {
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
    cholmod_sparse view = cholmod_view(pattern);
    ldl->factor = cholmod_analyze(&view, common);
    if (ldl->matrix && ldl->residual && ldl->correction && ldl->factor) return ldl;
    ss_fail(err, SS_ERROR_RESOURCES, "LDL' of a %d x %d matrix: out of memory", n, n);
    ss_ldl_destroy(ldl);
    return NULL;
}

void ss_ldl_destroy(ss_ldl *ldl)
{
    if (!ldl) return;
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
    cholmod_sparse view = cholmod_view(ldl->matrix);
    ldl->common.status = CHOLMOD_OK;
    cholmod_factorize(&view, ldl->factor, &ldl->common);
    if (ldl->common.status < CHOLMOD_OK) return SS_LINALG_NO_MEMORY; // negative: out of memory, too large
    if (ldl->common.status == CHOLMOD_NOT_POSDEF) return SS_LINALG_SINGULAR; // of LDL': a zero pivot

    /* The pivots: D is the diagonal of L. */
    const cholmod_factor *factor = ldl->factor;
    const int *start = factor->p;
    const double *value = factor->x;
    ss_pivot_counter counter = ss_pivots_start(ldl->matrix);
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
    const cholmod_factor *factor = ldl->factor;
    const int *start = factor->p, *place = factor->Perm;
    const double *value = factor->x;
    for (size_t j = 0; j < factor->n; j++) pivots[place[j]] = value[start[j]];
}

double ss_ldl_cost(const ss_ldl *ldl)
{
    return ldl->common.fl;
}

static bool solve_once(ss_ldl *ldl, const double *b, double *x)
{
    int n = ldl->matrix->cols;
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
