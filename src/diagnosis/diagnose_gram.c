#include "diagnosis/diagnose_gram.h"

#include <math.h>

static const double affordable = 1e10; // flops of one factorisation: some seconds

void ss_gram_free(ss_gram *of)
{
    ss_sparse_destroy(of->matrix);
    ss_release(of->place);
    ss_release(of->length);
    ss_ldl_destroy(of->ldl);
    ss_release(of->pivots);
}

static void set_diagonal(ss_gram *of, double value)
{
    const ss_sparse *matrix = of->matrix;
    for (int j = 0; j < matrix->cols; j++) {
        for (int k = matrix->start[j]; k < matrix->start[j + 1]; k++) {
            if (matrix->row[k] == j) matrix->value[k] = value;
        }
    }
}

/* Eigenvalues below t; -1 when a pivot is zero, or memory is short. */
static int count_below(ss_gram *of, double t)
{
    set_diagonal(of, 1.0 - t);
    return ss_ldl_factor(of->ldl, of->matrix) == SS_LINALG_OK ? ss_ldl_pivots(of->ldl)->negative : -1;
}

bool ss_gram_make(const ss_sparse *raw, const double *diagonal, ss_gram *of)
{
    size_t n = (size_t)raw->cols;
    *of = (ss_gram){.place = ss_allocate(n, sizeof *of->place),
                    .length = ss_allocate(n, sizeof *of->length),
                    .pivots = ss_allocate(n, sizeof *of->pivots)};
    if (!of->place || !of->length || !of->pivots) return false;

    // Columns of zeros are left out.
    int count = 0;
    for (int j = 0; j < raw->cols; j++) {
        of->place[j] = diagonal[j] > 0.0 ? count : -1;
        if (diagonal[j] > 0.0) of->length[count++] = sqrt(diagonal[j]);
    }

    of->matrix = ss_sparse_create(count, count, ss_sparse_nonzeros(raw), NULL);
    if (!of->matrix) return false;

    // Unit length of the others.
    int entry = 0;
    for (int j = 0; j < raw->cols; j++) {
        if (of->place[j] < 0) continue;
        for (int k = raw->start[j]; k < raw->start[j + 1]; k++) {
            int i = raw->row[k];
            if (of->place[i] < 0) continue;
            of->matrix->row[entry] = of->place[i];
            of->matrix->value[entry++] =
                i == j ? 1.0 + ss_gram_shift
                       : raw->value[k] / of->length[of->place[i]] / of->length[of->place[j]];
        }
        of->matrix->start[of->place[j] + 1] = entry;
    }

    // Eigenvalues by the signs of pivots; then the pivots themselves.
    of->ldl = ss_ldl_create(of->matrix, NULL);
    if (!of->ldl) return false;
    if (ss_ldl_cost(of->ldl) > affordable) return true;
    int below = count_below(of, ss_gram_dependent);
    of->negative = count_below(of, -ss_gram_dependent);
    of->dependent = below - of->negative;
    bool counted = below >= 0 && of->negative >= 0 && of->dependent >= 0;
    set_diagonal(of, 1.0 + ss_gram_shift);
    of->is_known = counted && ss_ldl_factor(of->ldl, of->matrix) == SS_LINALG_OK;
    if (of->is_known) ss_ldl_diagonal(of->ldl, of->pivots);
    return true;
}
