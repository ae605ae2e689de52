#include "problem/scaled.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/sparse_search.h"
#include "problem/bodies_form.h"
#include "problem/laws.h"

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

bool ss_scaled_create(const ss_problem *problem, ss_arena *arena, ss_scaled *s)
{
    static const double same_bound =
        1e-14; // relative: what rounding does to two bounds that were meant to be equal
    const ss_sparse *A = problem->A;
    int n = problem->size;
    *s = (ss_scaled){.problem = problem, .size = n, .A = {.rows = n, .cols = n}};
    if (A) {
        size_t nonzeros = (size_t)ss_sparse_nonzeros(A) + (size_t)n;
        s->A.start = ss_arena_take_unset(arena, (size_t)n + 1, sizeof *s->A.start, "scaled matrix");
        s->A.row = ss_arena_take_unset(arena, nonzeros, sizeof *s->A.row, "scaled matrix");
        s->A.value = ss_arena_take_unset(arena, nonzeros, sizeof *s->A.value, "scaled matrix");
        if (!s->A.start || !s->A.row || !s->A.value) return false;
    }
    double *vectors = ss_arena_take_unset(arena, 6 * (size_t)n, sizeof *vectors, "scaled vectors");
    if (!vectors) return false;
    double **const parts[] = {&s->b, &s->lower, &s->upper, &s->factor, &s->unit, &s->load_unit};
    for (int k = 0; k < 6; k++) *parts[k] = vectors + (size_t)k * (size_t)n;

    // Row scales: sqrt(a_ii); where the diagonal is zero, what the rows coupled to it lend, and what these
    // lend on. 0: unknown. The rows of a cone share theirs.
    double *rho = s->load_unit;
    for (int i = 0; i < n; i++) rho[i] = fabs(problem->diagonal[i]);
    while (ss_problem_lend_masses(problem, rho)) {
    }
    for (int i = 0; i < n; i++) rho[i] = sqrt(rho[i]);
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (!ss_block_is_cone(block)) continue;
        double shared = sqrt(fabs(ss_block_inverse_mass(block, problem->diagonal)));
        for (int i = block->first; i < block->first + block->size && !(shared > 0.0); i++) shared = rho[i];
        for (int i = block->first; i < block->first + block->size; i++) rho[i] = shared;
    }

    // The largest load; of bounds, when there is no load at all.
    double load = 0.0, bound = 0.0;
    for (int i = 0; i < n; i++) {
        if (!(rho[i] > 0.0)) continue;
        load = fmax(load, fabs(problem->b[i]) / rho[i]);
        if (isfinite(problem->lower[i])) bound = fmax(bound, fabs(problem->lower[i]) * rho[i]);
        if (isfinite(problem->upper[i])) bound = fmax(bound, fabs(problem->upper[i]) * rho[i]);
    }
    double beta = load > 0.0 ? load : bound > 0.0 ? bound : 1.0;
    for (int i = 0; i < n; i++) {
        if (!(rho[i] > 0.0)) rho[i] = 1.0;
    }

    // The matrix. Every diagonal entry is there afterwards, be it zero.
    if (A) s->A.start[0] = 0;
    for (int j = 0, entry = 0; A && j < n; j++) {
        int diagonal = ss_sparse_first_entry(A, j, j), end = A->start[j + 1];
        entry = scale_entries(A, rho, j, A->start[j], diagonal, &s->A, entry);
        if (diagonal == end || A->row[diagonal] != j) {
            s->A.row[entry] = j;
            s->A.value[entry++] = 0.0;
        }
        entry = scale_entries(A, rho, j, diagonal, end, &s->A, entry);
        s->A.start[j + 1] = entry;
    }

    // Loads and bounds; those closer than rounding become equal to the last bit.
    for (int i = 0; i < n; i++) {
        s->b[i] = problem->b[i] / rho[i] / beta;
        s->unit[i] = beta / rho[i];
        s->load_unit[i] = beta * rho[i];
    }
    for (int i = 0; i < n; i++) {
        int partner = problem->partner[i];
        s->lower[i] = problem->lower[i] / s->unit[i];
        s->upper[i] = problem->upper[i] / s->unit[i];
        double size = fabs(s->lower[i]) + fabs(s->upper[i]);
        if (s->upper[i] - s->lower[i] <= same_bound * size && isfinite(size)) s->upper[i] = s->lower[i];
        s->factor[i] = partner < 0 ? 0.0 : problem->factor[i] * s->unit[partner] / s->unit[i];
        s->coupled |= partner >= 0;
    }
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
