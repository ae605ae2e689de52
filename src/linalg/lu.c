#include "linalg/factor.h"

#include "base/assert.h"
#include "linalg/pivots.h"

#include <cs.h>
#include <limits.h>
#include <string.h>

#define ORDER_BY_AMD_OF_ATA 2 // cs_sqr: AMD on A'A without its dense rows, the choice for LU
#define PARTIAL_PIVOTING 1.0  // cs_lu: the largest entry of the column is the pivot

struct ss_lu {
    cs_dis *symbolic;
    cs_din *numeric;   // NULL until a factorisation was OK
    ss_sparse *matrix; // copy of the last factorised matrix, for refinement
    double *permuted, *residual;
    ss_pivots pivots;
};

/* A view of our arrays; CXSparse does not write to it. nz = -1: compressed columns. */
static cs_di cs_view(const ss_sparse *matrix)
{
    return (cs_di){.nzmax = ss_sparse_nonzeros(matrix),
                   .m = matrix->rows,
                   .n = matrix->cols,
                   .p = matrix->start,
                   .i = matrix->row,
                   .x = matrix->value,
                   .nz = -1};
}

ss_lu *ss_lu_create(const ss_sparse *pattern, ss_error *err)
{
    if (pattern->rows != pattern->cols) {
        ss_fail(err, SS_ERROR_INPUT, "LU of a %d x %d matrix: it must be square", pattern->rows,
                pattern->cols);
        return NULL;
    }
    // cs_sqr's guess of the fill
    bool countable = 4LL * ss_sparse_nonzeros(pattern) + pattern->cols <= INT_MAX;
    ss_lu *lu = countable ? ss_allocate(1, sizeof *lu) : NULL;
    if (!lu) {
        ss_fail(err, SS_ERROR_RESOURCES, "LU of a %d x %d matrix: %s", pattern->rows, pattern->cols,
                countable ? "out of memory" : "too many entries");
        return NULL;
    }

    size_t n = (size_t)pattern->cols;
    lu->matrix = ss_sparse_copy(pattern, err);
    lu->permuted = ss_allocate(n, sizeof *lu->permuted);
    lu->residual = ss_allocate(n, sizeof *lu->residual);
    cs_di view = cs_view(pattern);
    lu->symbolic = cs_di_sqr(ORDER_BY_AMD_OF_ATA, &view, 0);
    if (lu->matrix && lu->permuted && lu->residual && lu->symbolic) return lu;
    ss_fail(err, SS_ERROR_RESOURCES, "LU of a %d x %d matrix: out of memory", pattern->rows, pattern->cols);
    ss_lu_destroy(lu);
    return NULL;
}

void ss_lu_destroy(ss_lu *lu)
{
    if (!lu) return;
    cs_di_nfree(lu->numeric);
    cs_di_sfree(lu->symbolic);
    ss_sparse_destroy(lu->matrix);
    ss_release(lu->permuted);
    ss_release(lu->residual);
    ss_release(lu);
}

ss_linalg_status ss_lu_factor(ss_lu *lu, const ss_sparse *matrix)
{
    SS_ASSERT(ss_sparse_same_pattern(lu->matrix, matrix));
    memcpy(lu->matrix->value, matrix->value, (size_t)ss_sparse_nonzeros(matrix) * sizeof *matrix->value);
    lu->pivots = (ss_pivots){0};
    lu->numeric = cs_di_nfree(lu->numeric);
    if (matrix->cols == 0) return SS_LINALG_OK;
    if (!ss_sparse_is_finite(matrix)) return SS_LINALG_NOT_FINITE;
    cs_di view = cs_view(lu->matrix);
    lu->numeric = cs_di_lu(&view, lu->symbolic, PARTIAL_PIVOTING);
    if (!lu->numeric) return SS_LINALG_SINGULAR;

    /* The pivots are the last entries of the columns of U. */
    const cs_di *upper = lu->numeric->U;
    ss_pivot_counter counter = ss_pivots_start(lu->matrix);
    for (int j = 0; j < upper->n; j++) ss_pivots_note(&counter, upper->x[upper->p[j + 1] - 1]);
    counter.pivots.negative = 0; // says nothing about eigenvalues once rows are exchanged
    lu->pivots = counter.pivots;
    return counter.usable ? SS_LINALG_OK : SS_LINALG_SINGULAR;
}

const ss_pivots *ss_lu_pivots(const ss_lu *lu)
{
    return &lu->pivots;
}

/* x = Q U^-1 L^-1 P b */
static void solve_once(ss_lu *lu, const double *b, double *x)
{
    int n = lu->matrix->cols;
    cs_di_ipvec(lu->numeric->pinv, b, lu->permuted, n);
    cs_di_lsolve(lu->numeric->L, lu->permuted);
    cs_di_usolve(lu->numeric->U, lu->permuted);
    cs_di_ipvec(lu->symbolic->q, lu->permuted, x, n);
}

void ss_lu_solve(ss_lu *lu, const double *b, double *x, ss_refine refine)
{
    int n = lu->matrix->cols;
    if (n == 0) return;
    SS_ASSERT(lu->numeric);
    memcpy(lu->residual, b, (size_t)n * sizeof *b);
    solve_once(lu, b, x);
    if (refine == SS_REFINE_NEVER) return;
    ss_sparse_apply(lu->matrix, x, -1.0, lu->residual);
    solve_once(lu, lu->residual, lu->residual);
    for (int i = 0; i < n; i++) x[i] += lu->residual[i];
}

/* x = P' L'^-1 U'^-1 Q' b */
void ss_lu_solve_transposed(ss_lu *lu, const double *b, double *x)
{
    int n = lu->matrix->cols;
    if (n == 0) return;
    SS_ASSERT(lu->numeric);
    cs_di_pvec(lu->symbolic->q, b, lu->permuted, n);
    cs_di_utsolve(lu->numeric->U, lu->permuted);
    cs_di_ltsolve(lu->numeric->L, lu->permuted);
    cs_di_pvec(lu->numeric->pinv, lu->permuted, x, n);
}
