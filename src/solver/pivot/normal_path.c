#include "solver/pivot/normal_path.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* All of them relative to numbers of size 1. */
static const double smallest_pivot = 1e-11; // of the largest in the column
static const double good_pivot = 1e-7;      // smaller ones are looked at twice
static const double redundancy = 1e-10;     // least compliance of free rows: joints may be redundant
static const double lost = 1e-5; // of the largest: basic variables this far out of bounds have left the path

bool ss_normal_path_create(const ss_mcp *mcp, ss_run *run, double *x, ss_normal_path *path)
{
    *path = (ss_normal_path){.mcp = mcp, .run = run, .x = x, .n = mcp->size};
    size_t n = (size_t)mcp->size;
    double *numbers = ss_arena_take(run->arena, 6 * n, sizeof *numbers, "vectors of the path");
    path->side = ss_arena_take(run->arena, n, sizeof *path->side, "sides");
    path->system = (ss_lcp){.size = mcp->size, .A = mcp->A};
    path->system.is_free = ss_arena_take(run->arena, n, sizeof *path->system.is_free, "free unknowns");
    if (!numbers || !path->side || !path->system.is_free) return false;
    path->centre = numbers;
    path->z = numbers + n;
    path->value = numbers + 2 * n;
    path->direction = numbers + 3 * n;
    path->scratch = numbers + 4 * n;
    path->system.b = numbers + 5 * n;
    for (int i = 0; i < path->n; i++) path->system.is_free[i] = isinf(mcp->lower[i]) && isinf(mcp->upper[i]);
    return ss_basis_create(&path->system, run, &path->basis);
}

void ss_normal_path_destroy(ss_normal_path *path)
{
    ss_basis_destroy(&path->basis);
}

/* A fixed irregular number in [0, 1) */
static double irregular(int i, int attempt)
{
    uint64_t bits = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u + (uint64_t)attempt * 0xbf58476d1ce4e5b9u;
    bits ^= bits >> 31;
    bits *= 0x94d049bb133111ebu;
    return (double)(bits >> 11) * 0x1p-53;
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

static double shift_of(const ss_normal_path *path, int i)
{
    return path->system.is_free[i] ? fmax(path->eps, redundancy) : path->eps;
}

/* b - eps centre + (A + eps) z of what is not basic, with tau as long as that is not */
static void renew_load(ss_normal_path *path)
{
    const ss_mcp *mcp = path->mcp;
    double *fixed = path->scratch;
    for (int i = 0; i < path->n; i++) {
        fixed[i] = path->side[i] != 0 ? bound_of(path, i) : 0.0;
        path->system.b[i] = mcp->b[i] + shift_of(path, i) * (fixed[i] - path->centre[i]);
    }
    ss_sparse_apply(&mcp->A, fixed, 1.0, path->system.b);
    for (int i = 0; i < path->n && path->tau_waits; i++) path->system.b[i] += path->basis.cover[i];
}

static bool solve_values(ss_normal_path *path)
{
    renew_load(path);
    memcpy(path->value, path->system.b, (size_t)path->n * sizeof *path->value);
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
    return ss_basis_factor(&path->basis);
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
    path->start_square = 0.0;
    for (int i = 0; i < path->n; i++) path->start_square += path->scratch[i] * path->scratch[i];
    path->tau_waits = true;
}

void ss_normal_path_mend(ss_normal_path *path, double push, int attempt)
{
    for (int p = 0; p < path->n; p++) {
        range may = range_of(path, path->basis.code[p]);
        path->value[p] = inside(may, path->value[p], push * (0.5 + irregular(p, attempt)));
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
        path->value[i] = inside(may, path->value[i], push * (0.5 + irregular(i, attempt)));
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
        if (path->side[i]) path->value[i] -= path->side[i] * 2.0 * most * (1.0 + 0.1 * irregular(i, attempt));
    }
    start_here(path);
    for (int i = 0; i < path->n; i++) {
        if (!path->side[i]) path->basis.cover[i] = 0.0; // but for rounding it is
    }
    return true;
}

/* ---- one pivot -------------------------------------------------------------------------------------- */

typedef struct move {
    int entering; // code
    double sign;  // +1: it grows
} move;

/* tau is not basic: at 1 before the first pivot. */
static void enter_column(ss_normal_path *path, move next)
{
    memset(path->direction, 0, (size_t)path->n * sizeof *path->direction);
    ss_basis_add_column(&path->basis, next.entering, path->direction);
    ss_basis_solve(&path->basis, path->direction);
    path->largest = 0.0;
    for (int p = 0; p < path->n; p++) path->largest = fmax(path->largest, fabs(path->direction[p]));
}

/* Of all that would stop the move within the slack, the one with the largest entry: ties are rounding,
 * and small entries as well (Harris 1973). tau first, whenever it can: that is the solution. -1:
 * nothing stops it. */
static int leaving_position(const ss_normal_path *path, double sign, double *way)
{
    double floor = smallest_pivot * path->largest, limit = INFINITY, best = 0.0;
    int leaving = -1;
    for (int p = 0; p < path->n; p++) {
        double rate = -sign * path->direction[p], size = fabs(rate);
        if (size > floor) limit = fmin(limit, (fmax(room_of(path, p, rate), 0.0) + path->slack) / size);
    }
    *way = INFINITY;
    for (int p = 0; p < path->n && isfinite(limit); p++) {
        double rate = -sign * path->direction[p], size = fabs(rate);
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

static bool is_doubtful(const ss_normal_path *path, int position)
{
    return position < 0 || fabs(path->direction[position]) < good_pivot * path->largest;
}

/* What the entering variable is worth before it moves. */
static double value_of_entering(const ss_normal_path *path, int code)
{
    if (code == 2 * path->n) return 1.0;
    return code < path->n ? 0.0 : bound_of(path, code - path->n);
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

/* How far the entering variable can go by itself: to its other bound. */
static double own_way(const ss_normal_path *path, move next)
{
    range may = range_of(path, next.entering);
    return next.entering == 2 * path->n ? 1.0 : next.entering < path->n ? INFINITY : may.high - may.low;
}

static bool refresh(ss_normal_path *path)
{
    double size = 1.0;
    if (!factor(path) || !solve_values(path)) return false;
    for (int p = 0; p < path->n; p++) size = fmax(size, fabs(path->value[p]));
    return largest_miss(path) < lost * size;
}

/* Finds what stops the move; false when the basis has become useless. */
static bool look_ahead(ss_normal_path *path, move next, int *position, double *way)
{
    enter_column(path, next);
    *position = leaving_position(path, next.sign, way);
    bool doubtful = is_doubtful(path, *position) && path->basis.eta_count > 0;
    if (!ss_basis_is_full(&path->basis) && !doubtful) return true;
    if (!refresh(path)) return false;
    enter_column(path, next);
    *position = leaving_position(path, next.sign, way);
    return true;
}

/* The variable at the position makes room for the entering one. Returns what comes next. */
static move exchange(ss_normal_path *path, move now, int position, double way)
{
    int n = path->n, leaving = path->basis.code[position];
    double rate = -now.sign * path->direction[position];
    double value = value_of_entering(path, now.entering) + now.sign * way;
    go(path, now.sign, way);
    path->value[position] = value;
    ss_basis_exchange(&path->basis, position, now.entering, path->direction);
    if (now.entering == 2 * n)
        path->tau_waits = false;
    else if (now.entering >= n)
        path->side[now.entering - n] = 0;
    return complement(path, leaving, rate);
}

/* tau is what is left of the error. */
static bool go_on(ss_normal_path *path)
{
    double tau = 1.0, unit = path->n > 0 ? path->mcp->scaled.unit[0] * path->mcp->scaled.load_unit[0] : 1.0;
    for (int p = 0; p < path->n; p++) {
        if (path->basis.code[p] == 2 * path->n) tau = path->value[p];
    }
    path->pivots++;
    bool due = ss_run_due(path->run, tau * tau * path->start_square * unit);
    if (due) {
        ss_normal_path_read(path);
        ss_mcp_restore(path->mcp, path->z, path->x);
    }
    return ss_run_iteration(path->run, due ? path->x : NULL, NULL);
}

static uint64_t mark_of(int code, double sign)
{
    uint64_t bits = 2 * (uint64_t)code + (sign > 0.0) + 1;
    bits = (bits ^ (bits >> 31)) * 0x9e3779b97f4a7c15u;
    bits = (bits ^ (bits >> 29)) * 0xbf58476d1ce4e5b9u;
    return bits ^ (bits >> 32);
}

/* Brent's: is this a choice of basis and entering variable that was there before? Rounding can make
 * the way a circle. */
typedef struct circle {
    uint64_t here, milestone;
    int64_t next;
} circle;

static bool closes(circle *c, int64_t k, move next)
{
    uint64_t state = c->here ^ mark_of(next.entering, next.sign);
    if (k > 0 && state == c->milestone) return true;
    if (k == c->next) {
        c->milestone = state;
        c->next = 2 * k + 1;
    }
    return false;
}

ss_path_end ss_normal_path_follow(ss_normal_path *path, int64_t max_pivots)
{
    int n = path->n, position;
    move next = {2 * n, -1.0};
    circle seen = {0};
    for (int64_t k = 0; k < max_pivots; k++) {
        if (closes(&seen, k, next)) return SS_PATH_LOST;
        double way, own = own_way(path, next);
        if (!look_ahead(path, next, &position, &way)) return SS_PATH_LOST;
        if (position < 0 && !isfinite(own)) return SS_PATH_RAY;
        if (own <= way) { // nothing else stops it before it is on its other side
            go(path, next.sign, own);
            path->tau_waits = false;
            if (next.entering == 2 * n) return SS_PATH_SOLVED;
            next = complement(path, next.entering, next.sign); // its sign tells the bounds apart
        } else {
            int leaving = path->basis.code[position];
            bool is_end = leaving == 2 * n;
            seen.here ^= mark_of(leaving, 1.0) ^ mark_of(next.entering, 1.0);
            next = exchange(path, next, position, way);
            if (is_end) return SS_PATH_SOLVED;
        }
        if (!go_on(path)) return SS_PATH_STOPPED;
    }
    return SS_PATH_LOST;
}
