#include "linalg/active_set_factor.h"

#include <math.h>
#include <string.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "linalg/dense.h"

enum { SMALL = 48, DENSE_LIMIT = 8000 }; // unknowns

/* From this share of entries on, LAPACK is faster than a sparse factorisation. */
static const double filled_symmetric = 0.15, filled_unsymmetric = 0.05;

bool ss_active_set_factor_create(const ss_sparse *A, bool symmetric, double shift, ss_arena *arena,
                                 ss_active_set_factor *face)
{
    *face = (ss_active_set_factor){
        .A = A, .arena = arena, .symmetric = symmetric, .shift = shift, .slowness = 1.0};
    size_t n = (size_t)A->cols, nonzeros = (size_t)ss_sparse_nonzeros(A);
    // Everything is written before it is read, and zeros for the whole matrix take long.
    face->member = ss_arena_take_unset(arena, n, sizeof *face->member, "face");
    face->place = ss_arena_take_unset(arena, n, sizeof *face->place, "face");
    face->pivot = ss_arena_take_unset(arena, n, sizeof *face->pivot, "pivots");
    face->right = ss_arena_take_unset(arena, n, sizeof *face->right, "right-hand side");
    face->sparse.start = ss_arena_take_unset(arena, n + 1, sizeof *face->sparse.start, "face matrix");
    face->sparse.row = ss_arena_take_unset(arena, nonzeros, sizeof *face->sparse.row, "face matrix");
    face->sparse.value = ss_arena_take_unset(arena, nonzeros, sizeof *face->sparse.value, "face matrix");
    return face->member && face->place && face->pivot && face->right && face->sparse.start &&
           face->sparse.row && face->sparse.value;
}

void ss_active_set_factor_destroy(ss_active_set_factor *face)
{
    ss_ldl_destroy(face->ldl);
    ss_lu_destroy(face->lu);
    face->ldl = NULL;
    face->lu = NULL;
}

/* ---- time ------------------------------------------------------------------------------------------- */

/* How long the parts of a sparse factorisation take, s: fitted to pyramids of cubes, where each is right
 * within a third. A machine that is slower, or busy, shows it in the part before: `slowness`. */
static double time_to_order(double entries)
{
    return 7e-8 * entries;
}

static double time_to_factor(double entries, double operations)
{
    return 3.5e-8 * entries + 7e-10 * operations;
}

/* A solve and a new residual, without which the factors are of no use. */
static double time_to_use(const ss_active_set_factor *face, double entries)
{
    return 1.5e-8 * entries + 1e-9 * ss_sparse_nonzeros(face->A);
}

/* The clock, if there is a deadline: without one nothing may depend on it. */
static double look(double deadline)
{
    return deadline < INFINITY ? ss_clock_seconds() : 0.0;
}

void ss_active_set_learn(ss_active_set_factor *face, double took, double expected)
{
    static const double fastest = 0.25, slowest = 10.0; // beyond is an interruption
    if (took > 0.0 && expected > 0.0) face->slowness = fmin(fmax(took / expected, fastest), slowest);
}

static bool misses(const ss_active_set_factor *face, double deadline, double seconds)
{
    return ss_deadline_misses(deadline, face->slowness * seconds);
}

/* ---- factorising, solving --------------------------------------------------------------------------- */

static ss_linalg_status factor_dense(ss_active_set_factor *face, double deadline)
{
    static const double pace = 3e-11; // s per k^3, at least, of Cholesky's; LU takes twice that
    const ss_sparse *from = &face->sparse;
    size_t k = (size_t)face->size, n = (size_t)face->A->cols;
    double cube = (double)face->size * face->size * face->size;
    if (ss_deadline_misses(deadline, pace * cube * (face->symmetric ? 1.0 : 2.0))) return SS_LINALG_LATE;
    if (k * k > face->capacity) {
        face->capacity = 2 * k * k < n * n ? 2 * k * k : n * n;
        face->dense = ss_arena_take(face->arena, face->capacity, sizeof *face->dense, "face matrix");
        if (!face->dense) return face->capacity = 0, SS_LINALG_NO_MEMORY;
    }

    // Columns become rows: of a symmetric matrix the upper triangle becomes the lower, which is the one that
    // is read, and an unsymmetric one is transposed.
    if (k > 0) memset(face->dense, 0, k * k * sizeof *face->dense);
    for (int col = 0; col < face->size; col++) {
        double *to = face->dense + (size_t)col * k;
        for (int e = from->start[col]; e < from->start[col + 1]; e++) to[from->row[e]] = from->value[e];
    }
    return face->symmetric ? ss_dense_cholesky(face->size, face->dense)
                           : ss_dense_lu(face->size, face->dense, face->pivot);
}

static ss_linalg_status factor_symmetric(ss_active_set_factor *face, double deadline)
{
    double entries = ss_sparse_nonzeros(&face->sparse), began = look(deadline);
    // whatever the ordering finds, each entry is visited
    double least = time_to_order(entries) + time_to_factor(entries, entries) + time_to_use(face, entries);
    if (misses(face, deadline, least)) return SS_LINALG_LATE;
    face->ldl = ss_ldl_create(&face->sparse, NULL);
    if (!face->ldl) return SS_LINALG_NO_MEMORY;
    ss_active_set_learn(face, look(deadline) - began, time_to_order(entries));

    double expected = time_to_factor(entries, ss_ldl_cost(face->ldl));
    if (misses(face, deadline, expected + time_to_use(face, entries))) return SS_LINALG_LATE;
    began = look(deadline);
    ss_linalg_status status = ss_ldl_factor(face->ldl, &face->sparse);
    if (status == SS_LINALG_OK && ss_ldl_pivots(face->ldl)->negative > 0) status = SS_LINALG_NOT_POSITIVE;
    ss_active_set_learn(face, look(deadline) - began, expected);
    if (status == SS_LINALG_OK && misses(face, deadline, time_to_use(face, entries))) return SS_LINALG_LATE;
    return status;
}

/* The first is estimated, later ones by what the last one took. */
static ss_linalg_status factor_unsymmetric(ss_active_set_factor *face, double deadline)
{
    static const double and_use = 1.5; // a solve and a new residual take about a half of it
    double entries = ss_sparse_nonzeros(&face->sparse), began = look(deadline);
    double expected =
        face->pace > 0.0 ? and_use * face->pace * entries : face->slowness * ss_lu_seconds(entries);
    if (ss_deadline_misses(deadline, expected)) return SS_LINALG_LATE;
    face->lu = ss_lu_create(&face->sparse, NULL);
    if (!face->lu) return SS_LINALG_NO_MEMORY;
    ss_linalg_status status = ss_lu_factor(face->lu, &face->sparse);
    if (status == SS_LINALG_OK && began > 0.0) face->pace = (ss_clock_seconds() - began) / fmax(entries, 1.0);
    return status;
}

ss_linalg_status ss_active_set_factorise(ss_active_set_factor *face, const bool *in_face, double deadline)
{
    static const double gathering = 2e-9; // s per entry
    const ss_sparse *A = face->A;
    ss_sparse *to = &face->sparse;
    double entries = 0.0;
    int entry = 0;
    face->size = 0;
    for (int i = 0; i < A->cols; i++) {
        face->place[i] = in_face[i] ? face->size : -1;
        if (!in_face[i]) continue;
        face->member[face->size++] = i;
        entries += A->start[i + 1] - A->start[i];
    }
    if (misses(face, deadline, gathering * entries)) return SS_LINALG_LATE;

    // A_FF; the upper triangle is enough when symmetric.
    to->start[0] = 0;
    for (int col = 0; col < face->size; col++) {
        int j = face->member[col];
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            int row = face->place[A->row[k]];
            if (row < 0 || (face->symmetric && row > col)) continue;
            to->row[entry] = row;
            to->value[entry++] = A->value[k] + (row == col ? face->shift : 0.0);
        }
        to->start[col + 1] = entry;
    }
    to->rows = to->cols = face->size;

    double k = face->size, filled = ss_sparse_nonzeros(to);
    double enough = face->symmetric ? 0.5 * filled_symmetric : filled_unsymmetric; // half of it is stored
    face->is_dense = k <= SMALL || (k <= DENSE_LIMIT && filled > enough * k * k);
    if (face->is_dense) return factor_dense(face, deadline);
    ss_active_set_factor_destroy(face);
    return face->symmetric ? factor_symmetric(face, deadline) : factor_unsymmetric(face, deadline);
}

void ss_active_set_solve(ss_active_set_factor *face, const double *right, double *x)
{
    double *r = face->right;
    int k = face->size;
    for (int c = 0; c < k; c++) r[c] = right[face->member[c]];
    if (face->is_dense && face->symmetric)
        ss_dense_cholesky_solve(k, face->dense, r, 1);
    else if (face->is_dense)
        ss_dense_lu_solve(k, face->dense, face->pivot, SS_TRANSPOSED, r, 1);
    else if (face->symmetric)
        ss_ldl_solve(face->ldl, r, r, SS_REFINE_NEVER);
    else
        ss_lu_solve(face->lu, r, r, SS_REFINE_NEVER);
    for (int c = 0; c < k; c++) x[face->member[c]] = r[c];
}

void ss_active_set_refine(ss_active_set_factor *face, const double *right, int rounds, double *rest,
                          double *change, double *x)
{
    int n = face->A->cols;
    double last = INFINITY;
    memset(x, 0, (size_t)n * sizeof *x);
    memset(change, 0, (size_t)n * sizeof *change);
    for (int k = 0; k < rounds; k++) {
        double left = 0.0;
        memcpy(rest, right, (size_t)n * sizeof *rest);
        ss_sparse_apply(face->A, x, -1.0, rest);
        for (int c = 0; c < face->size; c++) left = fmax(left, fabs(rest[face->member[c]]));
        if (!(left < 0.5 * last)) return;
        last = left;
        ss_active_set_solve(face, rest, change);
        for (int i = 0; i < n; i++) x[i] += change[i];
    }
}
