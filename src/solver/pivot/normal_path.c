#include "solver/pivot/normal_path.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/vector.h"
#include "solver/core/run_state.h"

/* All of them relative to numbers of size 1. */
static const double smallest_pivot = 1e-11; // of the largest in the column
static const double good_pivot = 1e-7;      // smaller ones are looked at twice
static const double redundancy = 1e-10;     // least compliance of free rows: joints may be redundant
static const double lost = 1e-5; // of the largest: basic variables this far out of bounds have left the path

bool ss_normal_path_create(const ss_mcp *mcp, ss_run *run, double *x, ss_normal_path *path)
{
    *path = (ss_normal_path){.mcp = mcp, .run = run, .x = x, .n = mcp->size};
    size_t n = (size_t)mcp->size;
    path->side = ss_arena_take(run->arena, n, sizeof *path->side, "sides");
    path->is_free = ss_arena_take(run->arena, n, sizeof *path->is_free, "free unknowns");
    if (!path->side || !path->is_free ||
        !ss_arena_take_vectors(run->arena, n, "vectors of the path",
                               (double **[]){&path->centre, &path->z, &path->value, &path->direction,
                                             &path->scratch, &path->load, NULL}))
        return false;
    for (int i = 0; i < path->n; i++) path->is_free[i] = isinf(mcp->lower[i]) && isinf(mcp->upper[i]);
    return ss_basis_create(&mcp->A, path->load, path->is_free, run->arena, &path->basis);
}

void ss_normal_path_destroy(ss_normal_path *path)
{
    ss_basis_destroy(&path->basis);
}

/* ---- variables -------------------------------------------------------------------------------------- */

typedef struct range {
    double low, high;
} range;

/* Between what a variable may move: w_i, z_i or tau. */
static range range_of(const ss_normal_path *path, int code)
{
    const ss_mcp *mcp = path->mcp;
    int n = path->n, i = code - n;
    if (code == 2 * n) return (range){0.0, INFINITY};
    if (code > n - 1) return (range){mcp->lower[i], mcp->upper[i]};
    if (mcp->lower[code] == mcp->upper[code]) return (range){-INFINITY, INFINITY};
    return path->side[code] < 0 ? (range){0.0, INFINITY} : (range){-INFINITY, 0.0};
}

/* How far position p is from the end of its range that it moves to; a little negative when rounding has
 * put it beyond. */
static double room_of(const ss_normal_path *path, int p, double rate)
{
    range may = range_of(path, path->basis.code[p]);
    return rate < 0.0 ? path->value[p] - may.low : may.high - path->value[p];
}

static double bound_of(const ss_normal_path *path, int i)
{
    return path->side[i] < 0 ? path->mcp->lower[i] : path->mcp->upper[i];
}

void ss_normal_path_read(ss_normal_path *path)
{
    int n = path->n;
    for (int i = 0; i < n; i++) {
        if (path->side[i] != 0) path->z[i] = bound_of(path, i);
    }
    for (int p = 0; p < n; p++) {
        int code = path->basis.code[p], i = code - n;
        if (i < 0 || i >= n) continue;
        path->z[i] = fmin(fmax(path->value[p], path->mcp->lower[i]), path->mcp->upper[i]);
    }
}

/* ---- the basis -------------------------------------------------------------------------------------- */

/* b - eps centre + (A + eps) z of what is not basic, with tau as long as that is not */
static void renew_load(ss_normal_path *path)
{
    const ss_mcp *mcp = path->mcp;
    double *fixed = path->scratch;
    for (int i = 0; i < path->n; i++) {
        double shift = path->is_free[i] ? fmax(path->eps, redundancy) : path->eps;
        fixed[i] = path->side[i] != 0 ? bound_of(path, i) : 0.0;
        path->load[i] = mcp->b[i] + shift * (fixed[i] - path->centre[i]);
    }
    ss_sparse_apply(&mcp->A, fixed, 1.0, path->load);
    for (int i = 0; i < path->n && path->tau_waits; i++) path->load[i] += path->basis.cover[i];
}

static bool solve_values(ss_normal_path *path)
{
    renew_load(path);
    memcpy(path->value, path->load, (size_t)path->n * sizeof *path->value);
    ss_basis_solve(&path->basis, path->value);
    ss_basis_residual(&path->basis, path->value, true, path->scratch);
    ss_basis_solve(&path->basis, path->scratch);
    bool finite = true;
    for (int p = 0; p < path->n; p++) {
        path->value[p] += path->scratch[p];
        finite = finite && isfinite(path->value[p]);
    }
    return finite;
}

static bool factor(ss_normal_path *path)
{
    path->basis.shift = path->eps;
    path->basis.free_shift = fmax(path->eps, redundancy);
    double deadline = ss_run_deadline(path->run);
    return !ss_run_late(path->run) && ss_run_has_factor(path->run, ss_basis_factor(&path->basis, deadline));
}

static double largest_miss(const ss_normal_path *path)
{
    double miss = 0.0;
    for (int p = 0; p < path->n; p++) {
        range may = range_of(path, path->basis.code[p]);
        miss = fmax(miss, fmax(may.low - path->value[p], path->value[p] - may.high));
    }
    return miss;
}

double ss_normal_path_solve(ss_normal_path *path)
{
    path->tau_waits = false;
    return factor(path) && solve_values(path) ? largest_miss(path) : INFINITY;
}

/* ---- starts ----------------------------------------------------------------------------------------- */

/* Into the range, and off its ends by the push or a third of the way. */
static double inside(range may, double value, double push)
{
    double width = may.high - may.low;
    push = fmin(push, width / 3.0);
    return fmin(fmax(value, may.low + push), may.high - push);
}

/* Takes the basic values for the start, and what F is there for r; tau is 1. */
static void start_here(ss_normal_path *path)
{
    path->tau_waits = false;
    renew_load(path);
    ss_basis_residual(&path->basis, path->value, true, path->scratch); // b - B value = F
    for (int i = 0; i < path->n; i++) path->basis.cover[i] = -path->scratch[i];
    path->start_square = ss_dot(path->n, path->scratch, path->scratch);
    path->tau_waits = true;
}

void ss_normal_path_mend(ss_normal_path *path, double push, int attempt)
{
    for (int p = 0; p < path->n; p++) {
        range may = range_of(path, path->basis.code[p]);
        path->value[p] = inside(may, path->value[p], push * (0.5 + ss_basis_irregular(p, attempt)));
    }
    start_here(path);
}

bool ss_normal_path_from_point(ss_normal_path *path, const double *z, const double *w, double push,
                               int attempt)
{
    const ss_mcp *mcp = path->mcp;
    for (int i = 0; i < path->n; i++) {
        double x = z[i] - w[i];
        bool fixed = mcp->lower[i] == mcp->upper[i];
        path->side[i] = (signed char)(fixed || x <= mcp->lower[i] ? -1 : x >= mcp->upper[i] ? 1 : 0);
        path->basis.code[i] = path->side[i] ? i : path->n + i;
        path->value[i] = path->side[i] ? w[i] : z[i];
        range may = range_of(path, path->basis.code[i]);
        path->value[i] = inside(may, path->value[i], push * (0.5 + ss_basis_irregular(i, attempt)));
    }
    if (!factor(path)) return false;
    start_here(path);
    return true;
}

bool ss_normal_path_from_ray(ss_normal_path *path, int attempt)
{
    const ss_mcp *mcp = path->mcp;
    double most = 0.0;
    for (int i = 0; i < path->n; i++) {
        path->side[i] = (signed char)(isfinite(mcp->lower[i]) ? -1 : isfinite(mcp->upper[i]) ? 1 : 0);
        path->basis.code[i] = path->side[i] ? i : path->n + i;
    }
    path->tau_waits = false;
    if (!factor(path) || !solve_values(path)) return false;
    for (int i = 0; i < path->n; i++) {
        if (path->side[i]) most = fmax(most, fabs(path->value[i]));
    }
    for (int i = 0; i < path->n; i++) {
        if (path->side[i])
            path->value[i] -= path->side[i] * 2.0 * most * (1.0 + 0.1 * ss_basis_irregular(i, attempt));
    }
    start_here(path);
    for (int i = 0; i < path->n; i++) {
        if (!path->side[i]) path->basis.cover[i] = 0.0; // which it is, except for rounding
    }
    return true;
}

/* ---- one pivot -------------------------------------------------------------------------------------- */

typedef struct move {
    int entering; // code
    double sign;  // +1: it grows
} move;

/* Of all that would stop the move within the slack, the one with the largest entry: ties are rounding,
 * and small entries as well (Harris 1973). tau first, whenever it can: that is the solution. -1:
 * nothing stops it. */
static int leaving_position(ss_normal_path *path, move next, double *way)
{
    path->largest = ss_basis_direction(&path->basis, next.entering, path->direction);
    double floor = smallest_pivot * path->largest, limit = INFINITY, best = 0.0;
    int leaving = -1;
    for (int p = 0; p < path->n; p++) {
        double rate = -next.sign * path->direction[p], size = fabs(rate);
        if (size > floor) limit = fmin(limit, (fmax(room_of(path, p, rate), 0.0) + path->slack) / size);
    }
    *way = INFINITY;
    for (int p = 0; p < path->n && isfinite(limit); p++) {
        double rate = -next.sign * path->direction[p], size = fabs(rate);
        if (!(size > floor)) continue;
        double room = room_of(path, p, rate);
        if (!(room <= limit * size)) continue;
        bool is_end = path->basis.code[p] == 2 * path->n && rate < 0.0;
        if (!is_end && size <= best) continue;
        leaving = p;
        *way = room / size;
        best = is_end ? INFINITY : size;
    }
    return leaving;
}

static void go(ss_normal_path *path, double sign, double way)
{
    for (int p = 0; p < path->n; p++) path->value[p] -= sign * way * path->direction[p];
}

/* The complement of what has just met a bound: w of a z on a bound, or z of a w at zero. */
static move complement(ss_normal_path *path, int leaving, double rate)
{
    int n = path->n, i = leaving - n;
    if (leaving == 2 * n) return (move){0};
    if (leaving >= n) {
        path->side[i] = rate < 0.0 ? -1 : 1;
        return (move){i, -path->side[i]};
    }
    return (move){n + leaving, -path->side[leaving]};
}

/* ---- the way ---------------------------------------------------------------------------------------- */

/* A number for a variable that enters, and for a choice of basis their sum. */
static uint64_t mark_of(int code, double sign)
{
    uint64_t bits = 2 * (uint64_t)code + (sign > 0.0) + 1;
    bits = (bits ^ (bits >> 31)) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9u;
    return bits ^ (bits >> 32);
}

ss_path_end ss_normal_path_follow(ss_normal_path *path, int64_t max_pivots)
{
    const ss_scaled *s = &path->mcp->scaled;
    int n = path->n;
    move next = {2 * n, -1.0};
    uint64_t here = 0, milestone = 0;
    int64_t next_milestone = 0;
    for (int64_t k = 0; k < max_pivots; k++) {
        // Brent's: is this a choice of basis and entering variable that was there before? Rounding can make
        // the way a circle.
        uint64_t state = here ^ mark_of(next.entering, next.sign);
        if (k > 0 && state == milestone) return SS_PATH_LOST;
        if (k == next_milestone) {
            milestone = state;
            next_milestone = 2 * k + 1;
        }

        // What stops the move. A doubtful pivot is looked at again with fresh factors, if those still find
        // everything within its bounds.
        double way;
        int position = leaving_position(path, next, &way);
        bool is_doubtful = position < 0 || fabs(path->direction[position]) < good_pivot * path->largest;
        if (ss_basis_is_full(&path->basis) || (is_doubtful && path->basis.eta_count > 0)) {
            if (!factor(path) || !solve_values(path)) return SS_PATH_LOST;
            if (!(largest_miss(path) < lost * fmax(1.0, ss_largest(n, path->value)))) return SS_PATH_LOST;
            position = leaving_position(path, next, &way);
        }

        // How far the entering variable can go by itself: to its other bound. A w has none.
        bool is_tau = next.entering == 2 * n, is_z = next.entering >= n && !is_tau;
        range may = range_of(path, next.entering);
        double own = is_tau ? 1.0 : is_z ? may.high - may.low : INFINITY;
        if (position < 0 && !isfinite(own)) return SS_PATH_RAY;

        if (own <= way) { // nothing else stops it before it is on its other side
            go(path, next.sign, own);
            path->tau_waits = false;
            if (is_tau) return SS_PATH_SOLVED;
            next = complement(path, next.entering, next.sign); // its sign tells the bounds apart
        } else {
            // What was met makes room for the entering variable, and its complement comes next.
            int leaving = path->basis.code[position];
            double rate = -next.sign * path->direction[position];
            double before = is_tau ? 1.0 : is_z ? bound_of(path, next.entering - n) : 0.0;
            here ^= mark_of(leaving, 1.0) ^ mark_of(next.entering, 1.0);
            go(path, next.sign, way);
            path->value[position] = before + next.sign * way;
            ss_basis_exchange(&path->basis, position, next.entering, path->direction);
            if (is_tau) path->tau_waits = false;
            if (is_z) path->side[next.entering - n] = 0;
            next = complement(path, leaving, rate);
            if (leaving == 2 * n) return SS_PATH_SOLVED;
        }

        // tau is what is left of the error.
        double tau = 1.0, unit = n > 0 ? s->unit[0] * s->load_unit[0] : 1.0;
        for (int p = 0; p < n; p++) {
            if (path->basis.code[p] == 2 * n) tau = path->value[p];
        }
        path->pivots++;
        bool due = ss_run_due(path->run, tau * tau * path->start_square * unit);
        if (due) {
            ss_normal_path_read(path);
            ss_mcp_restore(path->mcp, path->z, path->x);
        }
        if (!ss_run_iteration(path->run, due ? path->x : NULL, NULL)) return SS_PATH_STOPPED;
    }
    return SS_PATH_LOST;
}
