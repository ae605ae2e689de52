#include "solver/newton/active_set_factor.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"
#include "solver/core/run_state.h"

enum { SMALL = 48, DENSE_LIMIT = 8000 }; // unknowns

/* From this share of entries on, LAPACK is faster than a sparse factorisation. */
static const double filled_symmetric = 0.15, filled_unsymmetric = 0.05;

bool ss_active_set_factor_create(const ss_sparse *A, bool symmetric, double shift, ss_run *run,
                                 ss_active_set_factor *face)
{
    ss_arena *arena = run->arena;
    *face =
        (ss_active_set_factor){.A = A, .run = run, .symmetric = symmetric, .shift = shift, .slowness = 1.0};
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

/* ---- gathering -------------------------------------------------------------------------------------- */

/* The upper triangle is enough when symmetric. */
static void gather_sparse(ss_active_set_factor *face)
{
    const ss_sparse *A = face->A;
    ss_sparse *to = &face->sparse;
    int entry = 0;
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
}

static bool grow_dense(ss_active_set_factor *face)
{
    size_t k = (size_t)face->size;
    if (k * k <= face->capacity) return true;
    size_t n = (size_t)face->A->cols;
    face->capacity = 2 * k * k < n * n ? 2 * k * k : n * n;
    face->dense = ss_arena_take(face->run->arena, face->capacity, sizeof *face->dense, "face matrix");
    if (!face->dense) face->capacity = 0;
    return face->dense != NULL;
}

/* Columns become rows: of a symmetric matrix the upper triangle becomes the lower, which is the one that is
 * read, and an unsymmetric one is transposed. */
static void gather_dense(ss_active_set_factor *face)
{
    const ss_sparse *from = &face->sparse;
    size_t k = (size_t)face->size;
    if (k == 0) return; // no memory was taken for an empty face
    memset(face->dense, 0, k * k * sizeof *face->dense);
    for (int col = 0; col < face->size; col++) {
        double *to = face->dense + (size_t)col * k;
        for (int e = from->start[col]; e < from->start[col + 1]; e++) to[from->row[e]] = from->value[e];
    }
}

/* ---- factorising, solving --------------------------------------------------------------------------- */

static bool factor_dense(ss_active_set_factor *face)
{
    static const double pace = 3e-11; // s per k^3, at least, of Cholesky's; LU takes twice that
    double k = face->size;
    if (ss_run_lacks(face->run, pace * k * k * k * (face->symmetric ? 1.0 : 2.0)) || !grow_dense(face))
        return false;
    gather_dense(face);
    if (face->symmetric) return ss_dense_cholesky(face->size, face->dense) == SS_LINALG_OK;
    return ss_dense_lu(face->size, face->dense, face->pivot) == SS_LINALG_OK;
}

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
static double look(const ss_active_set_factor *face)
{
    return ss_run_deadline(face->run) < INFINITY ? ss_clock_seconds() : 0.0;
}

void ss_active_set_learn(ss_active_set_factor *face, double took, double expected)
{
    static const double fastest = 0.25, slowest = 10.0; // beyond is an interruption
    if (took > 0.0 && expected > 0.0) face->slowness = fmin(fmax(took / expected, fastest), slowest);
}

static bool lacks(ss_active_set_factor *face, double seconds)
{
    return ss_run_lacks(face->run, face->slowness * seconds);
}

static bool factor_symmetric(ss_active_set_factor *face)
{
    double entries = ss_sparse_nonzeros(&face->sparse), began = look(face);
    // whatever the ordering finds, each entry is visited
    if (lacks(face, time_to_order(entries) + time_to_factor(entries, entries) + time_to_use(face, entries)))
        return false;
    face->ldl = ss_ldl_create(&face->sparse, NULL);
    if (!face->ldl) return false;
    ss_active_set_learn(face, look(face) - began, time_to_order(entries));

    double expected = time_to_factor(entries, ss_ldl_cost(face->ldl));
    if (lacks(face, expected + time_to_use(face, entries))) return false;
    began = look(face);
    bool good =
        ss_ldl_factor(face->ldl, &face->sparse) == SS_LINALG_OK && ss_ldl_pivots(face->ldl)->negative == 0;
    ss_active_set_learn(face, look(face) - began, expected);
    return good && !lacks(face, time_to_use(face, entries));
}

/* The first is estimated, later ones by what the last one took. */
static bool factor_unsymmetric(ss_active_set_factor *face)
{
    static const double and_use = 1.5; // a solve and a new residual take about a half of it
    double entries = ss_sparse_nonzeros(&face->sparse), began = look(face);
    bool is_known = face->pace > 0.0;
    if (is_known ? ss_run_lacks(face->run, and_use * face->pace * entries)
                 : lacks(face, ss_run_lu_cost(entries)))
        return false;
    face->lu = ss_lu_create(&face->sparse, NULL);
    bool good = face->lu && ss_lu_factor(face->lu, &face->sparse) == SS_LINALG_OK;
    if (good && began > 0.0) face->pace = (ss_clock_seconds() - began) / fmax(entries, 1.0);
    return good;
}

static bool factor_sparse(ss_active_set_factor *face)
{
    ss_active_set_factor_destroy(face);
    return face->symmetric ? factor_symmetric(face) : factor_unsymmetric(face);
}

bool ss_active_set_factorise(ss_active_set_factor *face, const bool *in_face)
{
    static const double gathering = 2e-9; // s per entry
    double entries = 0.0;
    face->size = 0;
    for (int i = 0; i < face->A->cols; i++) {
        face->place[i] = in_face[i] ? face->size : -1;
        if (!in_face[i]) continue;
        face->member[face->size++] = i;
        entries += face->A->start[i + 1] - face->A->start[i];
    }
    if (ss_run_late(face->run) || lacks(face, gathering * entries)) return false;
    gather_sparse(face);
    double k = face->size, filled = ss_sparse_nonzeros(&face->sparse);
    double enough = face->symmetric ? 0.5 * filled_symmetric : filled_unsymmetric; // half of it is stored
    face->is_dense = k <= SMALL || (k <= DENSE_LIMIT && filled > enough * k * k);
    return face->is_dense ? factor_dense(face) : factor_sparse(face);
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
