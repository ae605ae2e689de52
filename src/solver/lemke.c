/* Lemke's method:  w - A z - d z0 = b,  w, z, z0 >= 0,  w'z = 0, from the ray z0 = infinity until z0 leaves.
 *
 * Unknowns of the problem count from a finite bound, x = l + z or x = u - z; a second finite bound becomes a
 * slack row, and unknowns with l = u drop out. Free unknowns stay as they are, because eliminating them would
 * fill the matrix, with w = 0: they are basic from the start and never leave. Ties in
 * the ratio test are broken by the lexicographic rule (rows of B^-1), so that it cannot cycle; the covering
 * vector d is 1 with a small fixed irregularity, which makes ties rare. The matrices of Stewart and Trinkle
 * are copositive: where nothing overlaps it ends at a solution. The end is solved for once more on a fresh
 * factorisation and checked against the laws.
 *
 * Fails where contacts overlap and its path has no end, when rounding spoils the ratio test on badly
 * conditioned bases, or when the matrix is outside its class: then it ends on a ray. It tries again with
 * another d and a little compliance (1e-10 to 1e-6 of the diagonal), whose effect is removed from the
 * solution. Where there is none, compliance carries what nothing else can: z is huge, and its direction y
 * proves it (Farkas: y >= 0, A'y <= 0, b'y < 0). That is a ray, too.
 *
 * References: Cottle, Pang, Stone, The Linear Complementarity Problem (1992), section 4.4 and 4.9;
 * Stewart, Trinkle, Int. J. Numer. Methods Eng. 39 (1996).
 */
#include <stickslip/solver.h>

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/option_rows.h"
#include "linalg/basis.h"
#include "linalg/sparse_search.h"
#include "linalg/vector.h"
#include "solver/core/run_state.h"
#include "solver/core/watch.h"
#include "problem/scaled.h"

/* All of them relative to numbers of size 1: the LCP is scaled. */
static const double smallest_pivot = 1e-11; // of the largest in the column
static const double good_pivot = 1e-7;      // smaller ones are looked at twice
static const double slack = 1e-10;          // what may be negative by that is not worth a small pivot
static const double tie = 1e-12;
static const double lost = 1e-6;        // a basic variable this negative: the path was left
static const double redundancy = 1e-10; // compliance of free rows while pivoting: joints may be redundant
static const double absurd = 1e6;       // no answer, next to the load: proof against smaller ones is enough

typedef struct lemke_options {
    int pivot_factor;
} lemke_options;

static const ss_option options_table[] = {
    SS_ROW_INT(lemke_options, pivot_factor, "20", 1, 100000,
               "give up an attempt after this many pivots per unknown"),
    {0},
};

typedef struct path {
    ss_scaled scaled;
    int *place;            // per unknown of the problem: where it is in the LCP, -1 when fixed
    double *sign, *origin; // per unknown of the problem: x = origin + sign * z
    double *x;             // scratch
    int n;                 // of the LCP
    ss_sparse A;           // with every diagonal entry, if only as a zero
    double *b;
    bool *is_free;
    ss_basis basis;
    ss_run *run;
    double *value;              // of the basic variables, B^-1 b
    double *direction;          // B^-1 times the entering column
    double largest;             // entry of it
    double *row, *smallest_row; // scratch: rows of B^-1, residuals
    int *tied;
    double *z;
    ss_best best; // z of the ends that were reached so far
} path;

/* ---- the LCP ---------------------------------------------------------------------------------------- */

static bool has_two_bounds(const ss_scaled *s, int i)
{
    return isfinite(s->lower[i]) && isfinite(s->upper[i]) && !ss_scaled_is_fixed(s, i);
}

/* False when out of memory. */
static bool make_lcp(path *t, const ss_problem *problem, ss_arena *arena)
{
    ss_scaled *s = &t->scaled;
    size_t n = (size_t)problem->size;
    int second = 0, entry = 0, column = 0;
    bool is_same = true; // every unknown counts from below and stays where it is: the usual case
    t->place = ss_arena_take_unset(arena, n, sizeof *t->place, "places");
    t->sign = ss_arena_take_unset(arena, 3 * n, sizeof *t->sign, "signs, origins and x");
    if (!t->place || !t->sign || !ss_scaled_create(problem, arena, s)) return false;
    t->origin = t->sign + n;
    t->x = t->sign + 2 * n;

    // Where each unknown counts from.
    for (int i = 0; i < s->size; i++) {
        bool below = isfinite(s->lower[i]), above = isfinite(s->upper[i]), from_above = above && !below;
        t->place[i] = ss_scaled_is_fixed(s, i) ? -1 : t->n++;
        t->sign[i] = from_above ? -1.0 : 1.0;
        t->origin[i] = from_above ? s->upper[i] : below ? s->lower[i] : 0.0;
        second += has_two_bounds(s, i);
        is_same = is_same && t->place[i] == i && !from_above;
    }
    int slack_row = t->n, slack_load = t->n;
    t->n += second;
    size_t size = (size_t)t->n, nonzeros = (size_t)ss_sparse_nonzeros(&s->A) + 3 * (size_t)second;
    t->b = ss_arena_take_unset(arena, size, sizeof *t->b, "LCP load");
    t->is_free = ss_arena_take(arena, size, sizeof *t->is_free, "free unknowns");
    if (!t->b || !t->is_free) return false;

    // [S A S, I; -I, 0] with S the signs, without the rows and columns of fixed unknowns.
    t->A = s->A;
    if (!is_same || second > 0) {
        t->A = (ss_sparse){.rows = t->n, .cols = t->n};
        t->A.start = ss_arena_take(arena, size + 1, sizeof *t->A.start, "LCP matrix");
        t->A.row = ss_arena_take_unset(arena, nonzeros, sizeof *t->A.row, "LCP matrix");
        t->A.value = ss_arena_take_unset(arena, nonzeros, sizeof *t->A.value, "LCP matrix");
        if (!t->A.start || !t->A.row || !t->A.value) return false;
        for (int j = 0; j < s->size; j++) {
            if (t->place[j] < 0) continue;
            for (int k = s->A.start[j]; k < s->A.start[j + 1]; k++) {
                int i = s->A.row[k];
                if (t->place[i] >= 0)
                    ss_sparse_append(&t->A, &entry, t->place[i], t->sign[i] * t->sign[j] * s->A.value[k]);
            }
            if (has_two_bounds(s, j)) ss_sparse_append(&t->A, &entry, slack_row++, -1.0);
            t->A.start[++column] = entry;
        }
        for (int j = 0; j < s->size; j++) {
            if (!has_two_bounds(s, j)) continue;
            ss_sparse_append(&t->A, &entry, t->place[j], 1.0);
            ss_sparse_append(&t->A, &entry, column, 0.0);
            t->A.start[++column] = entry;
        }
    }

    // The load at the origins, and the room between two bounds.
    ss_scaled_apply(s, t->origin, t->x);
    for (int i = 0; i < s->size; i++) {
        int place = t->place[i];
        if (place < 0) continue;
        t->is_free[place] = isinf(s->lower[i]) && isinf(s->upper[i]);
        t->b[place] = t->sign[i] * t->x[i];
        if (has_two_bounds(s, i)) t->b[slack_load++] = s->upper[i] - s->lower[i];
    }
    return true;
}

/* z to the unknowns of the problem, clamped to their bounds. */
static void restore(const path *t, const double *z, double *x)
{
    for (int i = 0; i < t->scaled.size; i++) {
        int place = t->place[i];
        double step = place < 0 ? 0.0 : t->is_free[place] ? z[place] : fmax(z[place], 0.0);
        t->x[i] = t->origin[i] + t->sign[i] * step;
    }
    ss_scaled_restore(&t->scaled, t->x, x);
}

/* ---- the basis -------------------------------------------------------------------------------------- */

static bool may_leave(const path *t, int position)
{
    int code = t->basis.code[position];
    return code < t->n || code == 2 * t->n || !t->is_free[code - t->n];
}

/* value += B^-1 (b - B value). False when that was no more than rounding. */
static bool refine(path *t, bool shifted)
{
    double change = 0.0, largest = 0.0;
    ss_basis_residual(&t->basis, t->value, shifted, t->row);
    ss_basis_solve(&t->basis, t->row);
    for (int i = 0; i < t->n; i++) {
        t->value[i] += t->row[i];
        if (fabs(t->row[i]) > change) change = fabs(t->row[i]);
        if (fabs(t->value[i]) > largest) largest = fabs(t->value[i]);
    }
    return change > DBL_EPSILON * largest;
}

static bool refactor(path *t)
{
    double deadline = ss_run_deadline(t->run);
    if (ss_run_late(t->run) || !ss_run_has_factor(t->run, ss_basis_factor(&t->basis, deadline))) return false;
    memcpy(t->value, t->b, (size_t)t->n * sizeof *t->value);
    if (t->basis.kernel_size == 0) return true; // B = I
    ss_basis_solve(&t->basis, t->value);
    refine(t, true);
    return true;
}

/* ---- one pivot -------------------------------------------------------------------------------------- */

static double ratio(const path *t, int position)
{
    double value = t->value[position];
    return value > 0.0 ? value / t->direction[position] : 0.0;
}

/* Positions with an entry above `floor` whose ratio is the smallest, within rounding; none when that is above
 * `limit`. Returns how many. */
static int smallest_ratios(path *t, double floor, double limit)
{
    double best = limit;
    for (int i = 0; i < t->n; i++) {
        if (t->direction[i] > floor && ratio(t, i) < best && may_leave(t, i)) best = ratio(t, i);
    }
    if (!(best < limit)) return 0;
    int count = 0;
    best += tie * (1.0 + best);
    for (int i = 0; i < t->n; i++) {
        if (t->direction[i] > floor && ratio(t, i) <= best && may_leave(t, i)) t->tied[count++] = i;
    }
    return count;
}

/* Is a/scale_a lexicographically smaller than b/scale_b? */
static bool lexicographically_smaller(int n, const double *a, double scale_a, const double *b, double scale_b)
{
    for (int k = 0; k < n; k++) {
        double left = a[k] / scale_a, right = b[k] / scale_b;
        if (fabs(left - right) > tie * (1.0 + fabs(left) + fabs(right))) return left < right;
    }
    return false;
}

/* The position that leaves for the direction of the entering variable; -1 on a ray. */
static int leaving_position(path *t, int entering)
{
    t->largest = ss_basis_direction(&t->basis, entering, t->direction);

    // Small entries are rounding more often than not: they count only where passing them by would hurt, with
    // something negative by more than the slack (after Harris 1973).
    double floor = smallest_pivot * t->largest, enough = good_pivot * t->largest, limit = INFINITY;
    for (int i = 0; i < t->n; i++) {
        double entry = t->direction[i], value = t->value[i] > 0.0 ? t->value[i] : 0.0;
        if (entry > floor && entry <= enough && value + slack < limit * entry && may_leave(t, i))
            limit = (value + slack) / entry;
    }
    int count = smallest_ratios(t, enough, limit);
    if (count == 0) count = smallest_ratios(t, floor, INFINITY);
    if (count == 0) return -1;

    // z0 goes first whenever it can: that is the solution.
    for (int c = 0; c < count; c++) {
        if (t->basis.code[t->tied[c]] == 2 * t->n) return t->tied[c];
    }

    // Among tied ones the one whose row of B^-1, divided by its direction, is lexicographically smallest.
    int best = t->tied[0];
    if (count > 1) ss_basis_row(&t->basis, best, t->smallest_row);
    for (int c = 1; c < count; c++) {
        int other = t->tied[c];
        ss_basis_row(&t->basis, other, t->row);
        if (!lexicographically_smaller(t->n, t->row, t->direction[other], t->smallest_row,
                                       t->direction[best]))
            continue;
        best = other;
        memcpy(t->smallest_row, t->row, (size_t)t->n * sizeof *t->row);
    }
    return best;
}

static void pivot(path *t, int position, int entering)
{
    double step = t->value[position] / t->direction[position];
    for (int i = 0; i < t->n; i++) t->value[i] -= step * t->direction[i];
    t->value[position] = step;
    ss_basis_exchange(&t->basis, position, entering, t->direction);
}

/* ---- the end of a path ------------------------------------------------------------------------------ */

typedef enum outcome { SOLVED, ON_RAY, LOST, STOPPED, WRONG_END, NO_SOLUTION } outcome;

static void read_basis(const path *t, double *z)
{
    memset(z, 0, (size_t)t->n * sizeof *z);
    for (int i = 0; i < t->n; i++) {
        int code = t->basis.code[i];
        if (code >= t->n && code < 2 * t->n) z[code - t->n] = t->value[i];
    }
}

/* Is the basis, z0 left out, a solution? The error is max |z - P(z - w)| with w recomputed; the best of all
 * tries is kept. */
static bool check_end(path *t)
{
    double error = 0.0, *w = t->row;
    read_basis(t, t->z);
    for (int i = 0; i < t->n; i++) {
        if (!t->is_free[i]) t->z[i] = fmax(t->z[i], 0.0);
    }
    memcpy(w, t->b, (size_t)t->n * sizeof *w);
    ss_sparse_apply(&t->A, t->z, 1.0, w);
    for (int i = 0; i < t->n; i++) {
        double step = t->is_free[i] ? w[i] : fmin(t->z[i], w[i]);
        error = isnan(step) ? INFINITY : fmax(error, fabs(step));
    }
    ss_best_keep(&t->best, t->n, t->z, error);
    return ss_scaled_is_solved(error, 1.0 + ss_largest(t->n, t->z));
}

/* For every z >= 0 with A z + b >= 0 (free rows: z any, = 0):  0 <= y'(A z + b) <= max (A'y)+ sum z + b'y */
static bool proves_no_solution(path *t, double *y)
{
    double largest = ss_largest(t->n, y), along = 0.0, growth = 0.0;
    if (!(largest > absurd)) return false;
    for (int i = 0; i < t->n; i++) {
        y[i] /= largest;
        along += t->b[i] * y[i];
    }
    memset(t->row, 0, (size_t)t->n * sizeof *t->row);
    ss_sparse_apply_transposed(&t->A, y, 1.0, t->row);
    for (int i = 0; i < t->n; i++) growth = fmax(growth, t->is_free[i] ? fabs(t->row[i]) : t->row[i]);
    return -along > absurd * growth;
}

/* The last word comes from a fresh factorisation, without compliance. On the way to it, rounding may have put
 * a few variables that are all but zero on the wrong side: what is negative after all changes sides with its
 * complement. */
static outcome finish(path *t)
{
    enum { POLISHES = 3, CORRECTIONS = 5 };
    bool changed = true;
    for (int correction = 0; correction < CORRECTIONS && changed; correction++) {
        if (!refactor(t)) return LOST;
        for (int k = 0; k < POLISHES && refine(t, false); k++) continue;
        if (check_end(t)) return SOLVED;
        changed = false;
        for (int i = 0; i < t->n; i++) {
            if (!may_leave(t, i) || !(t->value[i] < 0.0)) continue;
            t->basis.code[i] = t->basis.code[i] < t->n ? t->n + i : i;
            changed = true;
        }
    }
    return proves_no_solution(t, t->z) ? NO_SOLUTION : WRONG_END;
}

/* ---- the method ------------------------------------------------------------------------------------- */

static outcome follow_path(path *t, int attempt, int64_t max_pivots, double *x)
{
    int n = t->n, position = -1;
    double worst = 0.0;

    // Everything free is basic, everything else is not.
    for (int i = 0; i < n; i++) {
        t->basis.code[i] = t->is_free[i] ? n + i : i;
        t->basis.cover[i] = t->is_free[i] ? 0.0 : 1.0 + 0.1 * ss_basis_irregular(i, attempt);
    }
    if (!refactor(t)) return LOST;

    // z0 enters at the position that makes everything feasible at once; of ties the last, which is
    // lexicographic.
    for (int i = 0; i < n; i++) {
        if (t->is_free[i] || !(t->value[i] < 0.0)) continue;
        double shortage = t->value[i] / t->basis.cover[i];
        if (shortage <= worst) worst = shortage, position = i;
    }
    if (position < 0) return finish(t); // all is feasible already
    int leaving = t->basis.code[position];
    for (int i = 0; i < n; i++) t->direction[i] = -t->basis.cover[i];
    pivot(t, position, 2 * n);

    for (int64_t k = 0; k < max_pivots; k++) {
        // The complement of what has left enters. A doubtful pivot is looked at again with fresh factors.
        int entering = leaving < n ? leaving + n : leaving - n;
        position = leaving_position(t, entering);
        bool is_doubtful = position < 0 || t->direction[position] < good_pivot * t->largest;
        if (ss_basis_is_full(&t->basis) || (is_doubtful && t->basis.eta_count > 0)) {
            if (!refactor(t)) return LOST;
            for (int i = 0; i < n; i++) {
                if (may_leave(t, i) && t->value[i] < -lost) return LOST;
            }
            position = leaving_position(t, entering);
        }
        if (position < 0) return check_end(t) ? SOLVED : ON_RAY; // z0 may be zero except for rounding

        leaving = t->basis.code[position];
        pivot(t, position, entering);
        if (leaving == 2 * n) return finish(t);

        // z0 is what all rows lack, and a good guess at the error.
        int at = 0;
        while (t->basis.code[at] != 2 * n) at++;
        bool due = ss_run_due(t->run, t->value[at] * t->value[at]);
        if (due) {
            read_basis(t, t->z);
            restore(t, t->z, x);
        }
        if (!ss_run_iteration(t->run, due ? x : NULL, NULL)) return STOPPED;
    }
    return LOST;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    enum { TRIES = 6 };
    static const double shifts[TRIES] = {0.0, 0.0, 1e-10, 1e-9, 1e-8, 1e-6};
    const lemke_options *set = options;
    path t = {.run = run, .best.error = INFINITY};
    if (ss_run_lacks(run, ss_run_scaling_cost(problem))) return ss_run_status(run);
    if (!make_lcp(&t, problem, run->arena)) return SS_FAILED;
    size_t n = (size_t)t.n;
    t.tied = ss_arena_take_unset(run->arena, n, sizeof *t.tied, "ties");
    if (!t.tied ||
        !ss_arena_take_vectors(
            run->arena, n, "vectors of the path",
            (double **[]){&t.value, &t.direction, &t.row, &t.smallest_row, &t.z, &t.best.x, NULL}) ||
        !ss_basis_create(&t.A, t.b, t.is_free, run->arena, &t.basis))
        return SS_FAILED;
    t.basis.free_shift = redundancy;

    // Again with another cover, and then with more and more compliance.
    ss_status status = SS_FAILED;
    outcome how = LOST;
    for (int attempt = 0; attempt < TRIES && !ss_run_late(run); attempt++) {
        t.basis.shift = shifts[attempt];
        how = follow_path(&t, attempt, (int64_t)set->pivot_factor * t.n, x);
        if (how == SOLVED || how == NO_SOLUTION || how == STOPPED) break;
        if (how == ON_RAY)
            status = SS_RAY;
        else if (status != SS_RAY) // with compliance there is an end even where there was a ray
            status = how == LOST ? SS_FAILED : SS_STALLED;
    }
    ss_basis_destroy(&t.basis);
    if (how == STOPPED) {
        read_basis(&t, t.z);
        restore(&t, t.z, x);
        return ss_run_status(run);
    }
    if (t.best.error < INFINITY) restore(&t, t.best.x, x);
    if (how == NO_SOLUTION) return SS_RAY;
    if (how != SOLVED) return status;
    return ss_run_iteration(run, x, NULL) ? SS_CONVERGED : ss_run_status(run);
}

const ss_solver ss_solver_lemke = {
    .abi = SS_ABI,
    .name = "lemke",
    .summary = "Lemke's pivoting method, lexicographic, on a factorised basis",
    .reference = "Cottle, Pang, Stone 1992, section 4.4; Stewart, Trinkle 1996",
    .weakness = "the number of pivots grows with the number of contacts; no warm start; sensitive to "
                "ill-conditioned bases",
    .laws = SS_LAW_FREE | SS_LAW_BOX,
    .traits = SS_EXACT,
    .options = options_table,
    .options_size = sizeof(lemke_options),
    .solve = solve,
};
