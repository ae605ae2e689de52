/* Lemke's method:  w - A z - d z0 = b,  w, z, z0 >= 0,  w'z = 0, from the ray z0 = infinity until z0 leaves.
 *
 * Free unknowns are basic from the start and never leave. Ties in the ratio test are broken by the
 * lexicographic rule (rows of B^-1), so that it cannot cycle; the covering vector d is 1 with a small fixed
 * irregularity, which makes ties rare. The matrices of Stewart and Trinkle are copositive: where nothing
 * overlaps it ends at a solution. The end is solved for once more on a fresh factorisation and checked
 * against the laws.
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
#include "solver/core/run_state.h"
#include "solver/pivot/basis.h"

enum { MAX_TRIES = 6, POLISHES = 3, CORRECTIONS = 5 };

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
    ss_lcp lcp;
    ss_basis basis;
    int n;
    double *value;              // of the basic variables, B^-1 b
    double *direction;          // B^-1 times the entering column
    double largest;             // entry of it
    double *row, *smallest_row; // scratch: rows of B^-1, residuals
    int *tied;
    double *z, *best_z;
    double best_error; // of the ends that were reached so far
} path;

/* A fixed irregular number in [0, 1): ties in symmetric stacks are the rule, not the exception. */
static double irregular(int i, int attempt)
{
    uint64_t bits = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u + (uint64_t)attempt * 0xbf58476d1ce4e5b9u;
    bits ^= bits >> 31;
    bits *= 0x94d049bb133111ebu;
    return (double)(bits >> 11) * 0x1p-53;
}

static bool may_leave(const path *t, int position)
{
    int code = t->basis.code[position];
    return code < t->n || code == 2 * t->n || !t->lcp.is_free[code - t->n];
}

static double smallest_value(const path *t)
{
    double smallest = 0.0;
    for (int i = 0; i < t->n; i++) {
        if (may_leave(t, i)) smallest = fmin(smallest, t->value[i]);
    }
    return smallest;
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
    if (!ss_basis_factor(&t->basis)) return false;
    memcpy(t->value, t->lcp.b, (size_t)t->n * sizeof *t->value);
    if (t->basis.kernel_size == 0) return true; // B = I
    ss_basis_solve(&t->basis, t->value);
    refine(t, true);
    return true;
}

/* ---- one pivot -------------------------------------------------------------------------------------- */

static void enter_column(path *t, int code)
{
    memset(t->direction, 0, (size_t)t->n * sizeof *t->direction);
    ss_basis_add_column(&t->basis, code, t->direction);
    ss_basis_solve(&t->basis, t->direction);
}

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

/* How far everything with a small entry lets us go, if it may become negative by a little. */
static double small_entries_limit(const path *t, double floor, double enough)
{
    double limit = INFINITY;
    for (int i = 0; i < t->n; i++) {
        double entry = t->direction[i], value = t->value[i] > 0.0 ? t->value[i] : 0.0;
        if (entry > floor && entry <= enough && value + slack < limit * entry && may_leave(t, i))
            limit = (value + slack) / entry;
    }
    return limit;
}

/* All positions that may leave. Small entries are rounding more often than not: they count only where passing
 * them by would hurt (after Harris 1973). */
static int candidates(path *t)
{
    t->largest = 0.0;
    for (int i = 0; i < t->n; i++) {
        double size = fabs(t->direction[i]);
        if (size > t->largest) t->largest = size;
    }
    double floor = smallest_pivot * t->largest, enough = good_pivot * t->largest;
    double limit = small_entries_limit(t, floor, enough);
    int count = smallest_ratios(t, enough, limit);
    return count ? count : smallest_ratios(t, floor, INFINITY);
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

/* Among tied positions the one whose row of B^-1, divided by its direction, is lexicographically smallest. */
static int break_tie(path *t, int count)
{
    const int *tied = t->tied;
    int best = tied[0];
    if (count > 1) ss_basis_row(&t->basis, best, t->smallest_row);
    for (int c = 1; c < count; c++) {
        ss_basis_row(&t->basis, tied[c], t->row);
        if (!lexicographically_smaller(t->n, t->row, t->direction[tied[c]], t->smallest_row,
                                       t->direction[best]))
            continue;
        best = tied[c];
        memcpy(t->smallest_row, t->row, (size_t)t->n * sizeof *t->row);
    }
    return best;
}

/* The position that leaves; -1 on a ray. z0 goes first whenever it can: that is the solution. */
static int leaving_position(path *t)
{
    int count = candidates(t);
    for (int c = 0; c < count; c++) {
        if (t->basis.code[t->tied[c]] == 2 * t->n) return t->tied[c];
    }
    return count ? break_tie(t, count) : -1;
}

static bool is_doubtful(const path *t, int position)
{
    return position < 0 || t->direction[position] < good_pivot * t->largest;
}

static void pivot(path *t, int position, int entering)
{
    double step = t->value[position] / t->direction[position];
    for (int i = 0; i < t->n; i++) t->value[i] -= step * t->direction[i];
    t->value[position] = step;
    ss_basis_exchange(&t->basis, position, entering, t->direction);
}

/* ---- one try ---------------------------------------------------------------------------------------- */

typedef enum outcome { SOLVED, ON_RAY, LOST, STOPPED, WRONG_END, NO_SOLUTION } outcome;

static void read_basis(const path *t, double *z)
{
    memset(z, 0, (size_t)t->n * sizeof *z);
    for (int i = 0; i < t->n; i++) {
        int code = t->basis.code[i];
        if (code >= t->n && code < 2 * t->n) z[code - t->n] = t->value[i];
    }
}

/* max |z - P(z - w)| with w recomputed */
static double error_of(const path *t, const double *z, double *w, double *largest)
{
    memcpy(w, t->lcp.b, (size_t)t->n * sizeof *w);
    ss_sparse_apply(&t->lcp.A, z, 1.0, w);
    double error = 0.0;
    *largest = 0.0;
    for (int i = 0; i < t->n; i++) {
        double step = t->lcp.is_free[i] ? w[i] : fmin(z[i], w[i]);
        if (isnan(step)) return INFINITY;
        error = fmax(error, fabs(step));
        *largest = fmax(*largest, fabs(z[i]));
    }
    return error;
}

/* Is the basis, z0 left out, a solution? The best of all tries is kept. */
static bool check_end(path *t)
{
    read_basis(t, t->z);
    for (int i = 0; i < t->n; i++) {
        if (!t->lcp.is_free[i]) t->z[i] = fmax(t->z[i], 0.0);
    }
    double largest, error = error_of(t, t->z, t->row, &largest);
    if (error < t->best_error) {
        t->best_error = error;
        memcpy(t->best_z, t->z, (size_t)t->n * sizeof *t->z);
    }
    return ss_scaled_is_solved(error, 1.0 + largest);
}

/* For every z >= 0 with A z + b >= 0 (free rows: z any, = 0):  0 <= y'(A z + b) <= max (A'y)+ sum z + b'y */
static bool proves_no_solution(path *t, double *y)
{
    double largest = 0.0, along = 0.0, growth = 0.0;
    for (int i = 0; i < t->n; i++) largest = fmax(largest, fabs(y[i]));
    if (!(largest > absurd)) return false;
    for (int i = 0; i < t->n; i++) {
        y[i] /= largest;
        along += t->lcp.b[i] * y[i];
    }
    memset(t->row, 0, (size_t)t->n * sizeof *t->row);
    ss_sparse_apply_transposed(&t->lcp.A, y, 1.0, t->row);
    for (int i = 0; i < t->n; i++) growth = fmax(growth, t->lcp.is_free[i] ? fabs(t->row[i]) : t->row[i]);
    return -along > absurd * growth;
}

/* What is negative after all changes sides with its complement. Returns whether there was something. */
static bool exchange_negative(path *t)
{
    bool changed = false;
    for (int i = 0; i < t->n; i++) {
        if (!may_leave(t, i) || !(t->value[i] < 0.0)) continue;
        t->basis.code[i] = t->basis.code[i] < t->n ? t->n + i : i;
        changed = true;
    }
    return changed;
}

/* The last word comes from a fresh factorisation, without compliance. On the way to it, rounding may have put
 * a few variables that are all but zero on the wrong side. */
static outcome finish(path *t)
{
    for (int correction = 0; correction < CORRECTIONS; correction++) {
        if (!refactor(t)) return LOST;
        for (int k = 0; k < POLISHES && refine(t, false); k++) continue;
        if (check_end(t)) return SOLVED;
        if (!exchange_negative(t)) break;
    }
    return proves_no_solution(t, t->z) ? NO_SOLUTION : WRONG_END;
}

/* Everything free is basic, everything else is not. */
static bool start(path *t, int attempt)
{
    for (int i = 0; i < t->n; i++) {
        bool is_free = t->lcp.is_free[i];
        t->basis.code[i] = is_free ? t->n + i : i;
        t->basis.cover[i] = is_free ? 0.0 : 1.0 + 0.1 * irregular(i, attempt);
    }
    return refactor(t);
}

/* z0 enters at the position that makes everything feasible at once; of ties the last, which is lexicographic.
 * Returns the variable it drives out, -1 when all is feasible already. */
static int enter_z0(path *t)
{
    int position = -1;
    double worst = 0.0;
    for (int i = 0; i < t->n; i++) {
        if (t->lcp.is_free[i] || !(t->value[i] < 0.0)) continue;
        double shortage = t->value[i] / t->basis.cover[i];
        if (shortage <= worst) worst = shortage, position = i;
    }
    if (position < 0) return -1;
    int leaving = t->basis.code[position];
    for (int i = 0; i < t->n; i++) t->direction[i] = -t->basis.cover[i];
    pivot(t, position, 2 * t->n);
    return leaving;
}

/* z0 is what all rows lack, and a good guess at the error. */
static bool go_on(path *t, ss_run *run, double *x)
{
    int at = 0;
    while (t->basis.code[at] != 2 * t->n) at++;
    bool due = ss_run_due(run, t->value[at] * t->value[at]);
    if (due) {
        read_basis(t, t->z);
        ss_lcp_restore(&t->lcp, t->z, x);
    }
    return ss_run_iteration(run, due ? x : NULL, NULL);
}

static outcome follow_path(path *t, ss_run *run, int attempt, int64_t max_pivots, double *x)
{
    if (!start(t, attempt)) return LOST;
    int leaving = enter_z0(t);
    if (leaving < 0) return finish(t);
    for (int64_t k = 0; k < max_pivots; k++) {
        int entering = leaving < t->n ? leaving + t->n : leaving - t->n;
        enter_column(t, entering);
        int position = leaving_position(t);
        if (ss_basis_is_full(&t->basis) || (is_doubtful(t, position) && t->basis.eta_count > 0)) {
            if (!refactor(t) || smallest_value(t) < -lost) return LOST;
            enter_column(t, entering);
            position = leaving_position(t);
        }
        if (position < 0) return check_end(t) ? SOLVED : ON_RAY; // z0 may be zero but for rounding
        leaving = t->basis.code[position];
        pivot(t, position, entering);
        if (leaving == 2 * t->n) return finish(t);
        if (!go_on(t, run, x)) return STOPPED;
    }
    return LOST;
}

/* ---- all tries -------------------------------------------------------------------------------------- */

static bool take_memory(path *t, ss_arena *arena)
{
    size_t n = (size_t)t->n;
    t->tied = ss_arena_take_unset(arena, n, sizeof *t->tied, "ties");
    double *numbers = ss_arena_take_unset(arena, 6 * n, sizeof *numbers, "vectors of the path");
    if (!t->tied || !numbers) return false;
    t->value = numbers;
    t->direction = numbers + n;
    t->row = numbers + 2 * n;
    t->smallest_row = numbers + 3 * n;
    t->z = numbers + 4 * n;
    t->best_z = numbers + 5 * n;
    return true;
}

static ss_status run_tries(path *t, const lemke_options *set, ss_run *run, double *x)
{
    static const double shifts[MAX_TRIES] = {0.0, 0.0, 1e-10, 1e-9, 1e-8, 1e-6};
    ss_status status = SS_FAILED;
    bool settled = false;
    t->best_error = INFINITY;
    t->basis.free_shift = redundancy;
    for (int attempt = 0; attempt < MAX_TRIES && !settled && !ss_run_late(run); attempt++) {
        t->basis.shift = shifts[attempt];
        outcome how = follow_path(t, run, attempt, (int64_t)set->pivot_factor * t->n, x);
        switch (how) {
        case SOLVED:
        case NO_SOLUTION:
            settled = true;
            status = how == SOLVED ? SS_CONVERGED : SS_RAY;
            break;
        case STOPPED:
            read_basis(t, t->z);
            ss_lcp_restore(&t->lcp, t->z, x);
            return ss_run_status(run);
        case ON_RAY:
            status = SS_RAY;
            break;
        case LOST:
            if (status != SS_RAY) status = SS_FAILED;
            break;
        case WRONG_END: // with compliance there is an end even where there was a ray
            if (status != SS_RAY) status = SS_STALLED;
        }
    }
    if (t->best_error < INFINITY) ss_lcp_restore(&t->lcp, t->best_z, x);
    if (status == SS_CONVERGED && !ss_run_iteration(run, x, NULL)) return ss_run_status(run);
    return status;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    path t = {0};
    if (ss_run_lacks(run, ss_run_scaling_cost(problem))) return ss_run_status(run);
    if (!ss_lcp_create(problem, run->arena, &t.lcp)) return SS_FAILED;
    t.n = t.lcp.size;
    ss_status status = SS_FAILED;
    if (take_memory(&t, run->arena) && ss_basis_create(&t.lcp, run, &t.basis))
        status = run_tries(&t, options, run, x);
    ss_basis_destroy(&t.basis);
    return status;
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
