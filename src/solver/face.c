#include "solver/face.h"

#include <string.h>

#include "linalg/dense.h"

enum { SMALL = 48, DENSE_PERCENT = 15, DENSE_LIMIT = 8000 }; // unknowns

/* Entries of column j that the factorisation reads: all, or the upper triangle; the diagonal in any case. */
static int masked_column(const ss_face *face, int j, int *rows, int *source)
{
    const ss_sparse *A = face->A;
    int count = 0;
    bool has_diagonal = false;
    for (int k = A->start[j]; k < A->start[j + 1]; k++) {
        int i = A->row[k];
        if (i >= j && !has_diagonal) {
            if (rows) rows[count] = j, source[count] = i == j ? k : -1;
            count++;
            has_diagonal = true;
            if (i == j) continue;
        }
        if (face->symmetric && i > j) break;
        if (rows) rows[count] = i, source[count] = k;
        count++;
    }
    if (has_diagonal) return count;
    if (rows) rows[count] = j, source[count] = -1;
    return count + 1;
}

static bool create_sparse(ss_face *face, ss_arena *arena)
{
    int n = face->A->cols;
    ss_sparse *masked = &face->masked;
    *masked = (ss_sparse){.rows = n, .cols = n};
    masked->start = ss_arena_take(arena, (size_t)n + 1, sizeof *masked->start, "face matrix");
    if (!masked->start) return false;
    for (int j = 0; j < n; j++) masked->start[j + 1] = masked->start[j] + masked_column(face, j, NULL, NULL);
    size_t nonzeros = (size_t)masked->start[n];
    masked->row = ss_arena_take(arena, nonzeros, sizeof *masked->row, "face matrix");
    masked->value = ss_arena_take(arena, nonzeros, sizeof *masked->value, "face matrix");
    face->source = ss_arena_take(arena, nonzeros, sizeof *face->source, "face matrix");
    if (!masked->row || !masked->value || !face->source) return false;
    for (int j = 0; j < n; j++)
        masked_column(face, j, masked->row + masked->start[j], face->source + masked->start[j]);
    if (face->symmetric)
        face->ldl = ss_ldl_create(masked, NULL);
    else
        face->lu = ss_lu_create(masked, NULL);
    return face->ldl || face->lu;
}

bool ss_face_create(const ss_sparse *A, bool symmetric, double shift, ss_arena *arena, ss_face *face)
{
    double n = A->cols, filled = ss_sparse_nonzeros(A);
    *face = (ss_face){.A = A, .symmetric = symmetric, .shift = shift};
    face->is_dense = n <= SMALL || (n <= DENSE_LIMIT && filled > DENSE_PERCENT / 100.0 * n * n);
    size_t size = (size_t)A->cols;
    face->member = ss_arena_take(arena, size, sizeof *face->member, "face");
    face->right = ss_arena_take(arena, size, sizeof *face->right, "right-hand side");
    if (!face->member || !face->right) return false;
    if (!face->is_dense) return create_sparse(face, arena);
    face->dense = ss_arena_take(arena, size * size, sizeof *face->dense, "face matrix");
    face->pivot = ss_arena_take(arena, size, sizeof *face->pivot, "pivots");
    return face->dense && face->pivot;
}

void ss_face_destroy(ss_face *face)
{
    ss_ldl_destroy(face->ldl);
    ss_lu_destroy(face->lu);
    face->ldl = NULL;
    face->lu = NULL;
}

static bool factor_dense(ss_face *face, int *place)
{
    const ss_sparse *A = face->A;
    size_t k = (size_t)face->size;
    memset(face->dense, 0, k * k * sizeof *face->dense);
    for (size_t col = 0; col < k;
         col++) { // symmetric or not: columns of A become rows, LAPACK sees the transpose
        int j = face->member[col];
        double *to = face->dense + col * k;
        for (int e = A->start[j]; e < A->start[j + 1]; e++) {
            if (place[A->row[e]] >= 0) to[place[A->row[e]]] = A->value[e];
        }
        to[col] += face->shift;
    }
    if (face->symmetric) return ss_dense_cholesky(face->size, face->dense) == SS_LINALG_OK;
    return ss_dense_lu(face->size, face->dense, face->pivot) == SS_LINALG_OK;
}

static bool factor_sparse(ss_face *face, const bool *in_face)
{
    ss_sparse *masked = &face->masked;
    for (int j = 0; j < masked->cols; j++) {
        for (int e = masked->start[j]; e < masked->start[j + 1]; e++) {
            int i = masked->row[e], from = face->source[e];
            double value = from < 0 ? 0.0 : face->A->value[from];
            if (i == j) value = in_face[j] ? value + face->shift : 1.0;
            masked->value[e] = in_face[i] && in_face[j] ? value : i == j ? 1.0 : 0.0;
        }
    }
    if (face->symmetric) {
        return ss_ldl_factor(face->ldl, masked) == SS_LINALG_OK && ss_ldl_pivots(face->ldl)->negative == 0;
    }
    return ss_lu_factor(face->lu, masked) == SS_LINALG_OK;
}

bool ss_face_factor(ss_face *face, const bool *in_face)
{
    int n = face->A->cols, *place = face->pivot; // the pivots are not needed yet
    face->size = 0;
    for (int i = 0; i < n; i++) {
        if (face->is_dense) place[i] = in_face[i] ? face->size : -1;
        if (in_face[i]) face->member[face->size++] = i;
    }
    return face->is_dense ? factor_dense(face, place) : factor_sparse(face, in_face);
}

void ss_face_solve(ss_face *face, const double *right, double *x)
{
    double *r = face->right;
    int k = face->size;
    if (face->is_dense) {
        for (int c = 0; c < k; c++) r[c] = right[face->member[c]];
        if (face->symmetric)
            ss_dense_cholesky_solve(k, face->dense, r, 1);
        else
            ss_dense_lu_solve(k, face->dense, face->pivot, SS_TRANSPOSED, r, 1);
        for (int c = 0; c < k; c++) x[face->member[c]] = r[c];
        return;
    }
    memset(r, 0, (size_t)face->A->cols * sizeof *r);
    for (int c = 0; c < k; c++) r[face->member[c]] = right[face->member[c]];
    if (face->symmetric)
        ss_ldl_solve(face->ldl, r, r, SS_REFINE_NEVER);
    else
        ss_lu_solve(face->lu, r, r, SS_REFINE_NEVER);
    for (int c = 0; c < k; c++) x[face->member[c]] = r[face->member[c]];
}
