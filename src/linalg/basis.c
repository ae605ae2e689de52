#include "linalg/basis.h"

#include <math.h>
#include <string.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "linalg/dense.h"

enum { SMALL_KERNEL = 24, DENSE_PERCENT = 15, DENSE_LIMIT = 1 << 25 }; // numbers of kernel and panel together

bool ss_basis_create(const ss_sparse *A, const double *b, const bool *is_free, ss_arena *arena,
                     ss_basis *basis)
{
    *basis = (ss_basis){.A = A, .b = b, .is_free = is_free, .arena = arena, .n = A->cols};
    size_t n = (size_t)A->cols, nonzeros = (size_t)ss_sparse_nonzeros(A) + n; // z0
    double *numbers = ss_arena_take_unset(arena, (3 + SS_BASIS_ETAS) * n, sizeof *numbers, "basis vectors");
    int *indices = ss_arena_take_unset(arena, 4 * n + 1, sizeof *indices, "basis");
    basis->sparse.row = ss_arena_take_unset(arena, nonzeros, sizeof *basis->sparse.row, "kernel");
    basis->sparse.value = ss_arena_take_unset(arena, nonzeros, sizeof *basis->sparse.value, "kernel");
    if (!numbers || !indices || !basis->sparse.row || !basis->sparse.value) return false;
    basis->cover = numbers;
    basis->right = numbers + n;
    basis->outer = numbers + 2 * n;
    basis->etas = numbers + 3 * n;
    basis->code = indices;
    basis->kernel_of = indices + n;
    basis->outer_of = indices + 2 * n;
    basis->sparse.start = indices + 3 * n;
    basis->sparse.start[0] = 0;
    return true;
}

void ss_basis_destroy(ss_basis *basis)
{
    ss_lu_destroy(basis->lu);
    basis->lu = NULL;
}

static double shift_of(const ss_basis *basis, int row)
{
    return basis->is_free[row] ? basis->free_shift : basis->shift;
}

void ss_basis_add_column(const ss_basis *basis, int code, double *column)
{
    const ss_sparse *A = basis->A;
    int n = basis->n, j = code - n;
    if (code < n) {
        column[code] += 1.0;
    } else if (code == 2 * n) {
        for (int i = 0; i < n; i++) column[i] -= basis->cover[i];
    } else {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) column[A->row[k]] -= A->value[k];
        column[j] -= shift_of(basis, j);
    }
}

/* ---- factorisation ---------------------------------------------------------------------------------- */

static ss_linalg_status factor_sparse(ss_basis *basis, double deadline)
{
    double entries = ss_sparse_nonzeros(&basis->sparse);
    double expected = basis->pace > 0.0 ? basis->pace * entries : ss_lu_seconds(entries);
    if (ss_deadline_misses(deadline, expected)) return SS_LINALG_LATE;
    double began = deadline < INFINITY ? ss_clock_seconds() : 0.0;
    ss_lu_destroy(basis->lu);
    basis->lu = ss_lu_create(&basis->sparse, NULL);
    if (!basis->lu) return SS_LINALG_NO_MEMORY;
    ss_linalg_status status = ss_lu_factor(basis->lu, &basis->sparse);
    if (status == SS_LINALG_OK && began > 0.0)
        basis->pace = (ss_clock_seconds() - began) / fmax(entries, 1.0);
    return status;
}

static ss_linalg_status factor_dense(ss_basis *basis, double deadline)
{
    static const double pace = 6e-11; // s per k^3, at least
    const ss_sparse *A = basis->A;
    int n = basis->n;
    double cube = (double)basis->kernel_size * basis->kernel_size * basis->kernel_size;
    size_t k = (size_t)basis->kernel_size;
    if (ss_deadline_misses(deadline, pace * cube)) return SS_LINALG_LATE;
    if (k == 0) return SS_LINALG_OK;

    // Memory for twice as much, so that this is seldom.
    if (basis->kernel_size > basis->capacity) {
        basis->capacity = 2 * basis->kernel_size < n ? 2 * basis->kernel_size : n;
        size_t most = (size_t)basis->capacity;
        basis->kernel = ss_arena_take_unset(basis->arena, most * most, sizeof *basis->kernel, "dense kernel");
        basis->panel =
            ss_arena_take_unset(basis->arena, (size_t)n * most, sizeof *basis->panel, "dense panel");
        basis->pivot = ss_arena_take_unset(basis->arena, most, sizeof *basis->pivot, "pivots");
        if (!basis->kernel || !basis->panel || !basis->pivot) return SS_LINALG_NO_MEMORY;
    }

    // The kernel, and below it the panel: what its columns have in the other rows.
    for (int i = 0; i < n; i++) {
        bool inside = basis->kernel_of[i] >= 0;
        double *row = inside ? basis->kernel + (size_t)basis->kernel_of[i] * k
                             : basis->panel + (size_t)basis->outer_of[i] * k;
        memset(row, 0, k * sizeof *row);
        if (basis->z0_position >= 0) row[basis->kernel_of[basis->z0_position]] = -basis->cover[i];
    }
    for (int p = 0; p < n; p++) {
        if (basis->kernel_of[p] < 0 || p == basis->z0_position) continue;
        size_t col = (size_t)basis->kernel_of[p];
        for (int e = A->start[p]; e < A->start[p + 1]; e++) {
            int i = A->row[e], inner = basis->kernel_of[i];
            if (inner < 0)
                basis->panel[(size_t)basis->outer_of[i] * k + col] = -A->value[e];
            else
                basis->kernel[(size_t)inner * k + col] = -A->value[e];
        }
        basis->kernel[col * k + col] -= shift_of(basis, p);
    }
    return ss_dense_lu(basis->kernel_size, basis->kernel, basis->pivot);
}

static void add_sparse(ss_basis *basis, int *entry, int row, double value)
{
    if (basis->kernel_of[row] < 0) return;
    basis->sparse.row[*entry] = basis->kernel_of[row];
    basis->sparse.value[(*entry)++] = value;
}

ss_linalg_status ss_basis_factor(ss_basis *basis, double deadline)
{
    const ss_sparse *A = basis->A;
    int n = basis->n, *owner = basis->outer_of, inner = 0, outer = 0, entry = 0;
    basis->eta_count = 0;

    // w_i or z_i to position i; z0 to the row that has neither. Then the rows are told apart.
    for (int i = 0; i < n; i++) owner[i] = 2 * n;
    for (int p = 0; p < n; p++) {
        int code = basis->code[p];
        if (code < 2 * n) owner[code % n] = code;
    }
    memcpy(basis->code, owner, (size_t)n * sizeof *owner);
    basis->z0_position = -1;
    for (int i = 0; i < n; i++) {
        bool outside = basis->code[i] < n;
        if (basis->code[i] == 2 * n) basis->z0_position = i;
        basis->kernel_of[i] = outside ? -1 : inner++;
        basis->outer_of[i] = outside ? outer++ : -1;
    }
    basis->kernel_size = inner;

    // A small kernel is dense; the entries of any other are gathered, which shows how full it is.
    double size = inner;
    basis->is_dense = size <= SMALL_KERNEL && size * n <= DENSE_LIMIT;
    if (basis->is_dense) return factor_dense(basis, deadline);
    for (int p = 0; p < n; p++) {
        if (basis->kernel_of[p] < 0) continue;
        if (p == basis->z0_position) {
            for (int i = 0; i < n; i++) add_sparse(basis, &entry, i, -basis->cover[i]);
        } else {
            for (int k = A->start[p]; k < A->start[p + 1]; k++) {
                double extra = A->row[k] == p ? shift_of(basis, p) : 0.0;
                add_sparse(basis, &entry, A->row[k], -A->value[k] - extra);
            }
        }
        basis->sparse.start[basis->kernel_of[p] + 1] = entry;
    }
    basis->sparse.rows = basis->sparse.cols = inner;
    basis->is_dense = size * n <= DENSE_LIMIT && entry > DENSE_PERCENT / 100.0 * size * size;
    return basis->is_dense ? factor_dense(basis, deadline) : factor_sparse(basis, deadline);
}

/* ---- solving ---------------------------------------------------------------------------------------- */

static const double *eta_of(const ss_basis *basis, int e)
{
    return basis->etas + (size_t)e * (size_t)basis->n;
}

void ss_basis_solve(ss_basis *basis, double *v)
{
    const ss_sparse *A = basis->A;
    int n = basis->n, k = basis->kernel_size;
    double *u = basis->right, *outer = basis->outer, step[SS_BASIS_ETAS];

    // The kernel: u = K^-1 v_R; the other rows are v_i - B_iC u.
    for (int i = 0; i < n && k > 0; i++) {
        if (basis->kernel_of[i] >= 0) u[basis->kernel_of[i]] = v[i];
    }
    if (k > 0 && basis->is_dense) {
        ss_dense_lu_solve(k, basis->kernel, basis->pivot, SS_AS_IS, u, 1);
        ss_dense_apply(n - k, k, -1.0, basis->panel, SS_AS_IS, u, 0.0, outer);
        for (int i = 0; i < n; i++) {
            if (basis->outer_of[i] >= 0) v[i] += outer[basis->outer_of[i]];
        }
    } else if (k > 0) {
        ss_lu_solve(basis->lu, u, u, SS_REFINE_NEVER);
        for (int p = 0; p < n; p++) { // all rows; in those of the kernel it is overwritten
            double value = basis->kernel_of[p] < 0 ? 0.0 : u[basis->kernel_of[p]];
            if (value == 0.0) continue;
            if (p == basis->z0_position) {
                for (int i = 0; i < n; i++) v[i] += basis->cover[i] * value;
            } else {
                for (int e = A->start[p]; e < A->start[p + 1]; e++) v[A->row[e]] += A->value[e] * value;
            }
        }
    }
    for (int i = 0; i < n && k > 0; i++) {
        if (basis->kernel_of[i] >= 0) v[i] = u[basis->kernel_of[i]];
    }

    // The pivots since then: v -= step_e eta_e, one after the other, step_e = v_r / pivot_e. The steps need
    // only the entries at the pivots, so that all of it is one product.
    if (basis->eta_count == 0) return;
    for (int e = 0; e < basis->eta_count; e++) {
        int r = basis->eta_position[e];
        double value = v[r];
        for (int f = 0; f < e; f++) value -= step[f] * eta_of(basis, f)[r];
        step[e] = value / basis->eta_pivot[e];
    }
    ss_dense_apply(basis->eta_count, n, -1.0, basis->etas, SS_TRANSPOSED, step, 1.0, v);
}

double ss_basis_direction(ss_basis *basis, int code, double *direction)
{
    double largest = 0.0;
    memset(direction, 0, (size_t)basis->n * sizeof *direction);
    ss_basis_add_column(basis, code, direction);
    ss_basis_solve(basis, direction);
    for (int p = 0; p < basis->n; p++) {
        double size = fabs(direction[p]);
        if (size > largest) largest = size;
    }
    return largest;
}

/* Column p of the kernel below and above it, [A, d]_Np, times v_N */
static double dot_outer_rows(const ss_basis *basis, int p, const double *v)
{
    const ss_sparse *A = basis->A;
    double sum = 0.0;
    if (p == basis->z0_position) {
        for (int i = 0; i < basis->n; i++) sum += basis->kernel_of[i] < 0 ? basis->cover[i] * v[i] : 0.0;
        return sum;
    }
    for (int k = A->start[p]; k < A->start[p + 1]; k++) {
        if (basis->kernel_of[A->row[k]] < 0) sum += A->value[k] * v[A->row[k]];
    }
    return sum;
}

void ss_basis_row(ss_basis *basis, int position, double *row)
{
    int n = basis->n, k = basis->kernel_size;
    double *u = basis->right, *outer = basis->outer, dot[SS_BASIS_ETAS], change[SS_BASIS_ETAS];
    memset(row, 0, (size_t)n * sizeof *row);
    row[position] = 1.0;

    // The pivots, backwards: row_r -= (eta_e . row) / pivot_e.
    if (basis->eta_count > 0) ss_dense_apply(basis->eta_count, n, 1.0, basis->etas, SS_AS_IS, row, 0.0, dot);
    for (int e = basis->eta_count - 1; e >= 0; e--) {
        for (int f = e + 1; f < basis->eta_count; f++)
            dot[e] += change[f] * eta_of(basis, e)[basis->eta_position[f]];
        change[e] = -dot[e] / basis->eta_pivot[e];
        row[basis->eta_position[e]] += change[e];
    }

    // The kernel: u = K'^-1 (row_C - B_NC' row_N); the other entries stay.
    for (int i = 0; i < n; i++) {
        if (basis->kernel_of[i] >= 0)
            u[basis->kernel_of[i]] = row[i] + (basis->is_dense ? 0.0 : dot_outer_rows(basis, i, row));
        else
            outer[basis->outer_of[i]] = row[i];
    }
    if (basis->is_dense) {
        ss_dense_apply(n - k, k, -1.0, basis->panel, SS_TRANSPOSED, outer, 1.0, u);
        ss_dense_lu_solve(k, basis->kernel, basis->pivot, SS_TRANSPOSED, u, 1);
    } else {
        ss_lu_solve_transposed(basis->lu, u, u);
    }
    for (int i = 0; i < n; i++) {
        if (basis->kernel_of[i] >= 0) row[i] = u[basis->kernel_of[i]];
    }
}

void ss_basis_residual(const ss_basis *basis, const double *x, bool shifted, double *residual)
{
    const ss_sparse *A = basis->A;
    int n = basis->n;
    memcpy(residual, basis->b, (size_t)n * sizeof *residual);
    for (int p = 0; p < n; p++) {
        int code = basis->code[p], j = code - n;
        if (x[p] == 0.0) continue;
        if (code < n) {
            residual[code] -= x[p];
        } else if (code == 2 * n) {
            for (int i = 0; i < n; i++) residual[i] += basis->cover[i] * x[p];
        } else {
            for (int k = A->start[j]; k < A->start[j + 1]; k++) residual[A->row[k]] += A->value[k] * x[p];
            if (shifted) residual[j] += shift_of(basis, j) * x[p];
        }
    }
}

void ss_basis_exchange(ss_basis *basis, int position, int entering, const double *direction)
{
    double *eta = basis->etas + (size_t)basis->eta_count * (size_t)basis->n;
    memcpy(eta, direction, (size_t)basis->n * sizeof *eta);
    eta[position] -= 1.0;
    basis->code[position] = entering;
    basis->eta_pivot[basis->eta_count] = direction[position];
    basis->eta_position[basis->eta_count++] = position;
}
