#include "solver/core/scaled.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/sparse_search.h"
#include "problem/bodies_form.h"
#include "problem/laws.h"

// relative: what rounding does to two bounds that were meant to be equal
static const double same_bound = 1e-14;

static bool take_memory(const ss_problem *problem, ss_arena *arena, ss_scaled *s)
{
    size_t n = (size_t)problem->size;
    s->A = (ss_sparse){.rows = problem->size, .cols = problem->size};
    if (problem->A) {
        size_t nonzeros = (size_t)ss_sparse_nonzeros(problem->A) + n;
        s->A.start = ss_arena_take_unset(arena, n + 1, sizeof *s->A.start, "scaled matrix");
        s->A.row = ss_arena_take_unset(arena, nonzeros, sizeof *s->A.row, "scaled matrix");
        s->A.value = ss_arena_take_unset(arena, nonzeros, sizeof *s->A.value, "scaled matrix");
        if (!s->A.start || !s->A.row || !s->A.value) return false;
    }
    double *vectors = ss_arena_take_unset(arena, 6 * n, sizeof *vectors, "scaled vectors");
    if (!vectors) return false;
    s->b = vectors;
    s->lower = vectors + n;
    s->upper = vectors + 2 * n;
    s->factor = vectors + 3 * n;
    s->unit = vectors + 4 * n;
    s->load_unit = vectors + 5 * n;
    return true;
}

static void share_in_cones(const ss_problem *problem, double *rho)
{
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (!ss_block_is_cone(block)) continue;
        double shared = sqrt(fabs(ss_block_inverse_mass(block, problem->diagonal)));
        for (int i = block->first; i < block->first + block->size && !(shared > 0.0); i++) shared = rho[i];
        for (int i = block->first; i < block->first + block->size; i++) rho[i] = shared;
    }
}

/* Where there is no scale yet, what those that have one suggest: |a_ij| / rho_j. True when that
 * helped someone. */
static bool ask_partners(const ss_problem *problem, const double *rho, double *found)
{
    const ss_sparse *A = problem->A;
    bool any = false;
    for (int i = 0; i < problem->size; i++) found[i] = 0.0;
    for (int j = 0; j < problem->size; j++) {
        for (int k = A->start[j]; k < A->start[j + 1] && rho[j] > 0.0; k++) {
            int i = A->row[k];
            if (rho[i] != 0.0) continue;
            found[i] = fmax(found[i], fabs(A->value[k]) / rho[j]);
            any = any || found[i] > 0.0;
        }
    }
    return any;
}

static bool lacks_some(const ss_problem *problem, const double *rho)
{
    for (int i = 0; i < problem->size; i++) {
        if (rho[i] == 0.0) return true;
    }
    return false;
}

/* Row scales: sqrt(a_ii); where the diagonal is zero, by way of the partners. The multiplier of a joint or
 * contact next to velocities gets the right unit that way, and by way of it the sliding speed of a friction
 * polygon. 0: unknown. */
static void scale_rows(const ss_problem *problem, double *rho, double *found)
{
    for (int i = 0; i < problem->size; i++) rho[i] = sqrt(fabs(problem->diagonal[i]));
    while (problem->A && lacks_some(problem, rho) && ask_partners(problem, rho, found)) {
        for (int i = 0; i < problem->size; i++) rho[i] = fmax(rho[i], found[i]);
    }
    share_in_cones(problem, rho);
}

/* The largest load; of bounds, when there is no load at all. */
static double load_scale(const ss_problem *problem, const double *rho)
{
    double load = 0.0, bound = 0.0;
    for (int i = 0; i < problem->size; i++) {
        if (!(rho[i] > 0.0)) continue;
        load = fmax(load, fabs(problem->b[i]) / rho[i]);
        if (isfinite(problem->lower[i])) bound = fmax(bound, fabs(problem->lower[i]) * rho[i]);
        if (isfinite(problem->upper[i])) bound = fmax(bound, fabs(problem->upper[i]) * rho[i]);
    }
    return load > 0.0 ? load : bound > 0.0 ? bound : 1.0;
}

/* Entries from..to of column j, at `entry` and after it. */
static int scale_entries(const ss_sparse *A, const double *rho, int j, int from, int to, ss_sparse *scaled,
                         int entry)
{
    int count = to - from;
    const int *row = A->row + from;
    const double *value = A->value + from;
    int *scaled_row = scaled->row + entry;
    double *scaled_value = scaled->value + entry, own = rho[j];
    for (int k = 0; k < count; k++) {
        scaled_row[k] = row[k];
        scaled_value[k] = value[k] / (rho[row[k]] * own);
    }
    return entry + count;
}

/* Every diagonal entry is there afterwards, be it zero. */
static void scale_matrix(const ss_sparse *A, const double *rho, ss_sparse *to)
{
    int entry = 0;
    to->start[0] = 0;
    for (int j = 0; j < A->cols; j++) {
        int diagonal = ss_sparse_first_entry(A, j, j), end = A->start[j + 1];
        entry = scale_entries(A, rho, j, A->start[j], diagonal, to, entry);
        if (diagonal == end || A->row[diagonal] != j) {
            to->row[entry] = j;
            to->value[entry++] = 0.0;
        }
        entry = scale_entries(A, rho, j, diagonal, end, to, entry);
        to->start[j + 1] = entry;
    }
}

static void scale_bounds(const ss_problem *problem, ss_scaled *s)
{
    for (int i = 0; i < problem->size; i++) {
        s->lower[i] = problem->lower[i] / s->unit[i];
        s->upper[i] = problem->upper[i] / s->unit[i];
        double size = fabs(s->lower[i]) + fabs(s->upper[i]);
        if (s->upper[i] - s->lower[i] <= same_bound * size && isfinite(size)) s->upper[i] = s->lower[i];
        int partner = problem->partner[i];
        s->factor[i] = 0.0;
        if (partner < 0) continue;
        s->factor[i] = problem->factor[i] * s->unit[partner] / s->unit[i];
        s->coupled = true;
    }
}

bool ss_scaled_create(const ss_problem *problem, ss_arena *arena, ss_scaled *s)
{
    *s = (ss_scaled){.problem = problem, .size = problem->size};
    if (!take_memory(problem, arena, s)) return false;
    double *rho = s->load_unit;
    scale_rows(problem, rho, s->b);
    double beta = load_scale(problem, rho);
    for (int i = 0; i < s->size; i++) {
        if (!(rho[i] > 0.0)) rho[i] = 1.0;
    }
    if (problem->A) scale_matrix(problem->A, rho, &s->A);
    for (int i = 0; i < s->size; i++) {
        s->b[i] = problem->b[i] / rho[i] / beta;
        s->unit[i] = beta / rho[i];
        s->load_unit[i] = beta * rho[i];
    }
    scale_bounds(problem, s);
    return true;
}

void ss_scaled_start(const ss_scaled *s, const double *original, double *x)
{
    for (int i = 0; i < s->size; i++) x[i] = original[i] / s->unit[i];
}

void ss_scaled_unscale(const ss_scaled *s, const double *x, double *original)
{
    for (int i = 0; i < s->size; i++) original[i] = x[i] * s->unit[i];
}

void ss_scaled_restore(const ss_scaled *s, const double *x, double *original)
{
    ss_scaled_unscale(s, x, original);
    ss_problem_project(s->problem, original);
}

void ss_scaled_apply(const ss_scaled *s, const double *x, double *w)
{
    memcpy(w, s->b, (size_t)s->size * sizeof *w);
    ss_sparse_apply(&s->A, x, 1.0, w);
}

size_t ss_scaled_scratch(const ss_scaled *s)
{
    return s->A.start ? 0 : 6 * (size_t)s->problem->bodies->bodies;
}

void ss_scaled_multiply(const ss_scaled *s, const double *v, double *scratch, double *product)
{
    if (s->A.start) {
        memset(product, 0, (size_t)s->size * sizeof *product);
        ss_sparse_apply(&s->A, v, 1.0, product);
        return;
    }
    const ss_bodies_form *form = s->problem->bodies;
    double(*velocity)[6] = (double(*)[6])scratch;
    memset(velocity, 0, (size_t)form->bodies * sizeof *velocity);
    for (int i = 0; i < s->size; i++) {
        if (v[i] != 0.0) ss_bodies_push(form, i, v[i] * s->unit[i], velocity);
    }
    for (int i = 0; i < s->size; i++) {
        double w = ss_bodies_row(form, i, velocity) + form->compliance[i] * v[i] * s->unit[i];
        product[i] = w / s->load_unit[i];
    }
}

void ss_scaled_bounds(const ss_scaled *s, const double *x, double *lower, double *upper)
{
    for (int i = 0; i < s->size; i++) {
        int partner = s->problem->partner[i];
        double limit = partner < 0 ? INFINITY : s->factor[i] * fabs(x[partner]);
        lower[i] = fmax(s->lower[i], -limit);
        upper[i] = fmin(s->upper[i], limit);
    }
}

double ss_scaled_error(int size, const double *lower, const double *upper, const double *x, const double *w)
{
    double largest = 0.0;
    for (int i = 0; i < size; i++) {
        double step = x[i] - fmin(fmax(x[i] - w[i], lower[i]), upper[i]);
        if (isnan(step)) return INFINITY;
        largest = fmax(largest, fabs(step));
    }
    return largest;
}
