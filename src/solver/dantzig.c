/* Dantzig's and Cottle's principal pivoting: unknowns join one after the other, and those that joined before
 * keep their laws all the way.
 *
 *     C           inside its bounds, w = 0
 *     N           at a bound (or not yet joined), x fixed
 *     joining k   x_k moves with dx_C = -A_CC^-1 A_Ck dx_k, dw = A dx until w_k = 0 or x_k meets its bound;
 *                 whenever another unknown meets a bound it goes from C to N, whenever a w of N vanishes from
 *                 N to C
 *
 * Free unknowns join first, then boxes, then those whose bounds follow a partner, with the bounds of that
 * moment. So far it is the solver of the Open Dynamics Engine (passes = 1). The partners move again when the
 * last ones join: further passes lead the bounds to where they follow their partners, as one more motion of
 * the same kind. A_CC is kept as a dense Cholesky factor that gains and loses rows. Redundant contacts never
 * enter C together, so that no compliance is needed; only those passes use a little, because bounds that
 * follow an arbitrary one of many normals do not settle.
 *
 * Fails when the matrix is not positive semidefinite, or by rounding when it is badly conditioned; slow for
 * thousands of unknowns. Cannot start from a guess.
 *
 * References: Cottle, Dantzig, Linear Algebra Appl. 1 (1968); Baraff, SIGGRAPH 1994; Smith, Open
 * Dynamics Engine.
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/option_rows.h"
#include "linalg/dense.h"
#include "linalg/growing_cholesky.h"
#include "solver/core/run_state.h"
#include "solver/core/watch.h"
#include "problem/scaled.h"
#include "solver/pivot/coupled_bounds.h"

enum { MAX_SIZE = 10000 }; // matrix and factor are dense: 1.6 GB
static const char too_large[] = "accepts at most 10000 unknowns";

/* Loads and diagonal are of size 1. */
static const double dependent = 1e-12; // of the diagonal: what is left of a row that depends on others
static const double still = 1e-12;     // rates next to the fastest: not moving
static const double tie = 1e-13;
static const double no_load = 1e-13; // w next to 1 + max |x|
static const double settled = 1e-12; // error of the laws next to 1 + max |x|: end
static const double unfelt = 1e-14;  // w that compliance adds
static const double hopeless = 1e4;  // an error this many times the best: passes diverge

typedef struct dantzig_options {
    int passes;
    double compliance;
} dantzig_options;

static const ss_option options_table[] = {
    SS_ROW_INT(dantzig_options, passes, "100", 1, 1000000,
               "largest number of passes that update coupled bounds; 1 = bounds stay as when they were "
               "first set, as in ODE"),
    SS_ROW_REAL(dantzig_options, compliance, "1e-8", 0, 1,
                "regularisation relative to the diagonal, if coupled bounds have more than one pass; "
                "proximal steps remove its effect"),
    {0},
};

/* HELD: between its bounds with w = 0, but its row depends on those of C. */
typedef enum place { WAITING, LOWER, UPPER, HELD, INSIDE } place;

typedef struct pivoting {
    ss_scaled s;
    ss_run *run;
    double *out; // x of the problem
    ss_growing_cholesky factor;
    int n;
    unsigned char *place;
    signed char *side; // as the coupled wants it
    bool *refused;     // could not enter C since C changed last
    double *x, *w, *dx, *dw;
    double *lower, *upper, *lower_rate, *upper_rate;
    double *new_lower, *new_upper; // where coupled bounds go
    double eps;                    // compliance: w = (A + eps) x + b - eps centre
    double *centre, *new_centre, *centre_rate, *load_rate;
    double *column;         // scratch, in the order of C
    ss_best best;           // x
    double *dense, *spread; // A when it is filled, else NULL; scratch
    double size;            // 1 + the largest |x| so far
    int idle;               // exchanges without a motion, in a row
    int64_t exchanges, max_exchanges;
} pivoting;

/* ---- C ---------------------------------------------------------------------------------------------- */

static void c_changed(pivoting *p)
{
    memset(p->refused, 0, (size_t)p->n * sizeof *p->refused);
}

static bool enter(pivoting *p, int k)
{
    const ss_sparse *A = &p->s.A;
    double *column = p->dw; // of A
    memset(column, 0, (size_t)p->n * sizeof *column);
    for (int e = A->start[k]; e < A->start[k + 1]; e++) column[A->row[e]] = A->value[e];
    for (int c = 0; c < p->factor.size; c++) p->column[c] = column[p->factor.member[c]];
    if (!ss_growing_cholesky_add(&p->factor, k, p->column, column[k], dependent)) return false;
    p->place[k] = INSIDE;
    p->w[k] = 0.0;
    c_changed(p);
    return true;
}

static void leave(pivoting *p, int k, place to)
{
    if (p->place[k] == INSIDE) {
        ss_growing_cholesky_remove(&p->factor, k);
        c_changed(p);
    }
    p->place[k] = (unsigned char)to;
    p->x[k] = to == LOWER ? p->lower[k] : p->upper[k];
}

/* to += A_:j value */
static void add_column(const pivoting *p, int j, double value, double *to)
{
    const ss_sparse *A = &p->s.A;
    if (value == 0.0) return;
    for (int e = A->start[j]; e < A->start[j + 1]; e++) to[A->row[e]] += A->value[e] * value;
}

/* ---- motions ---------------------------------------------------------------------------------------- */

/* dx of N is given, and what the load does by itself; C follows: dw = 0 there. Returns the fastest rate. */
static double set_in_motion(pivoting *p)
{
    const int *member = p->factor.member;
    int size = p->factor.size;
    double fastest = 0.0;
    memcpy(p->dw, p->load_rate, (size_t)p->n * sizeof *p->dw);
    for (int c = 0; c < size; c++) p->dx[member[c]] = 0.0;
    for (int i = 0; i < p->n; i++) add_column(p, i, p->dx[i], p->dw);
    for (int c = 0; c < size; c++) p->column[c] = -p->dw[member[c]];
    ss_growing_cholesky_solve(&p->factor, p->column);

    // dw += A_:C dx_C
    if (p->dense && size > 0) {
        memset(p->spread, 0, (size_t)p->n * sizeof *p->spread);
        for (int c = 0; c < size; c++) p->spread[member[c]] = p->column[c];
        ss_dense_apply(p->n, p->n, 1.0, p->dense, SS_AS_IS, p->spread, 1.0, p->dw);
    } else {
        for (int c = 0; c < size; c++) add_column(p, member[c], p->column[c], p->dw);
    }
    for (int c = 0; c < size; c++) p->dx[member[c]] = p->column[c];
    for (int i = 0; i < p->n; i++) {
        if (fabs(p->dx[i]) > fastest) fastest = fabs(p->dx[i]);
    }
    return fastest;
}

static void advance(pivoting *p, double step)
{
    for (int i = 0; i < p->n; i++) {
        p->x[i] += step * p->dx[i];
        if (fabs(p->x[i]) >= p->size) p->size = 1.0 + fabs(p->x[i]);
        p->w[i] = p->place[i] == INSIDE ? 0.0 : p->w[i] + step * p->dw[i];
    }
    if (!p->s.coupled) return;
    for (int i = 0; i < p->n; i++) {
        p->lower[i] += step * p->lower_rate[i];
        p->upper[i] += step * p->upper_rate[i];
        p->centre[i] += step * p->centre_rate[i];
    }
}

typedef enum event_kind { END, JOINED, MEETS_LOWER, MEETS_UPPER, VANISHES } event_kind;

typedef struct event {
    event_kind kind;
    int unknown;
    double step, rate;
} event;

/* Of events at the same time the fastest is the safest; the first unknown cannot cycle. */
static void consider(const pivoting *p, event_kind kind, int unknown, double distance, double rate,
                     event *first)
{
    double step = distance > 0.0 ? distance / rate : 0.0;
    double same = tie * (1.0 + first->step);
    bool first_of_all = p->idle > p->n;
    if (step > first->step + same) return;
    if (step >= first->step - same && (first_of_all || rate <= first->rate)) return;
    *first = (event){kind, unknown, step, rate};
}

static event first_event(const pivoting *p, double fastest, int joining, double limit)
{
    event first = {END, joining, limit, 0.0};
    double slowest = still * fastest;
    for (int i = 0; i < p->n; i++) {
        if (i == joining || p->place[i] == WAITING) continue;

        // w that vanishes in N, where there is room to enter C.
        if (p->place[i] == LOWER || p->place[i] == UPPER) {
            bool room = p->lower[i] < p->upper[i] || p->lower_rate[i] < p->upper_rate[i];
            double fall = p->place[i] == LOWER ? -p->dw[i] : p->dw[i];
            if (room && !p->refused[i] && fall > slowest)
                consider(p, VANISHES, i, fabs(p->w[i]), fall, &first);
            continue;
        }

        // Bounds that x meets; they may move as well.
        double down = p->lower_rate[i] - p->dx[i], up = p->dx[i] - p->upper_rate[i];
        if (down > slowest) consider(p, MEETS_LOWER, i, p->x[i] - p->lower[i], down, &first);
        if (up > slowest) consider(p, MEETS_UPPER, i, p->upper[i] - p->x[i], up, &first);
        if (p->place[i] == HELD && !p->refused[i] && fabs(p->dw[i]) > slowest)
            consider(p, VANISHES, i, 0.0, fabs(p->dw[i]), &first);
    }
    if (joining >= 0 && p->w[joining] * p->dw[joining] < 0.0 && fabs(p->dw[joining]) > dependent * fastest)
        consider(p, JOINED, joining, fabs(p->w[joining]), fabs(p->dw[joining]), &first);
    return first;
}

static void exchange(pivoting *p, event what)
{
    int i = what.unknown;
    if (what.kind == MEETS_LOWER) leave(p, i, LOWER);
    if (what.kind == MEETS_UPPER) leave(p, i, UPPER);
    if (what.kind != VANISHES) return;
    p->w[i] = 0.0;
    p->refused[i] = !enter(p, i);
}

/* One exchange is one iteration. */
static bool go_on(pivoting *p, double step)
{
    p->idle = step > 0.0 ? 0 : p->idle + 1;
    if (++p->exchanges > p->max_exchanges) return false;
    if (ss_run_measures(p->run)) ss_scaled_restore(&p->s, p->x, p->out);
    return ss_run_iteration(p->run, p->out, NULL);
}

/* ---- joining ---------------------------------------------------------------------------------------- */

/* False when the run ends here. */
static bool join(pivoting *p, int k)
{
    p->place[k] = WAITING;
    for (;;) {
        // Is k right where it is?
        bool low = p->x[k] <= p->lower[k], high = p->x[k] >= p->upper[k];
        bool none = fabs(p->w[k]) <= no_load * p->size;
        if (low && (high || none || p->w[k] > 0.0)) return p->place[k] = LOWER, true;
        if (high && (none || p->w[k] < 0.0)) return p->place[k] = UPPER, true;
        if (none) {
            if (!enter(p, k)) p->place[k] = HELD;
            return true;
        }

        // It moves until something happens.
        double way = p->w[k] < 0.0 ? 1.0 : -1.0;
        memset(p->dx, 0, (size_t)p->n * sizeof *p->dx);
        p->dx[k] = way;
        double fastest = set_in_motion(p);
        event next = first_event(p, fastest, k, way > 0.0 ? p->upper[k] - p->x[k] : p->x[k] - p->lower[k]);
        if (isinf(next.step)) // no force can change w_k: an equation that contradicts others
            return p->place[k] = HELD, true;
        advance(p, next.step);
        if (next.kind == END) p->x[k] = way > 0.0 ? p->upper[k] : p->lower[k];
        if (next.kind == JOINED) p->w[k] = 0.0;
        exchange(p, next);
        if (!go_on(p, next.step)) return false;
    }
}

/* ---- coupled bounds --------------------------------------------------------------------------------- */

/* Brings bounds and centre to their new places; N is carried along. False when the run ends here. */
static bool move_bounds(pivoting *p)
{
    const int *partner = p->s.problem->partner;
    bool goes_on = true, moves = true;

    // A bound that opens from zero width is left on the side the load pushes to.
    for (int i = 0; i < p->n; i++) {
        if (partner[i] < 0 || p->lower[i] < p->upper[i] || p->place[i] == INSIDE) continue;
        p->place[i] = p->w[i] > 0.0 ? LOWER : UPPER;
    }
    while (goes_on && moves) {
        // The rates that lead there at time 1.
        moves = false;
        for (int i = 0; i < p->n; i++) {
            double down = p->lower_rate[i] = partner[i] < 0 ? 0.0 : p->new_lower[i] - p->lower[i];
            double up = p->upper_rate[i] = partner[i] < 0 ? 0.0 : p->new_upper[i] - p->upper[i];
            p->dx[i] = p->place[i] == LOWER ? down : p->place[i] == UPPER ? up : 0.0;
            p->centre_rate[i] = p->new_centre[i] - p->centre[i];
            p->load_rate[i] = -p->eps * p->centre_rate[i];
            moves = moves || down != 0.0 || up != 0.0 || p->load_rate[i] != 0.0;
        }
        if (!moves) break;

        event next = first_event(p, fmax(set_in_motion(p), 1.0), -1, 1.0);
        advance(p, next.step);
        exchange(p, next);
        if (next.kind == END) memcpy(p->centre, p->new_centre, (size_t)p->n * sizeof *p->centre);
        for (int i = 0; i < p->n && next.kind == END; i++) {
            if (partner[i] < 0) continue;
            p->lower[i] = p->new_lower[i];
            p->upper[i] = p->new_upper[i];
            if (p->place[i] == LOWER) p->x[i] = p->lower[i];
            if (p->place[i] == UPPER) p->x[i] = p->upper[i];
        }
        goes_on = go_on(p, next.step);
    }
    double *rates[] = {p->lower_rate, p->upper_rate, p->centre_rate, p->load_rate};
    for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
        memset(rates[r], 0, (size_t)p->n * sizeof *rates[r]);
    return goes_on;
}

/* ---- the method ------------------------------------------------------------------------------------- */

static void renew_load(pivoting *p)
{
    ss_scaled_apply(&p->s, p->x, p->w);
    for (int i = 0; i < p->n; i++) p->w[i] -= p->eps * p->centre[i];
}

/* Solves for C once more if rounding has added up. Not otherwise: where A is all but singular, each time
 * would move x by the rounding error of w, divided by eps. */
static void refine(pivoting *p)
{
    const int *member = p->factor.member;
    double worst = 0.0;
    renew_load(p);
    for (int c = 0; c < p->factor.size; c++) {
        p->column[c] = -p->w[member[c]];
        worst = fmax(worst, fabs(p->column[c]));
    }
    if (worst <= no_load * p->size) return;
    ss_growing_cholesky_solve(&p->factor, p->column);
    for (int c = 0; c < p->factor.size; c++) {
        int i = member[c];
        p->x[i] = fmin(fmax(p->x[i] + p->column[c], p->lower[i]), p->upper[i]);
    }
    renew_load(p);
}

/* ODE's answer first, then passes until the bounds follow their partners. What is to be returned is in
 * `best`. */
static ss_status iterate(pivoting *p, int passes, ss_coupled_bounds *coupled)
{
    enum { PATIENCE = 30 };
    int n = p->n, best_pass = 0;
    size_t bytes = (size_t)n * sizeof *p->x;
    bool goes_on = true;

    // All join: free ones, boxes, and then those with coupled bounds.
    for (int round = 0; round < 3; round++) {
        if (round == 2) ss_scaled_bounds(&p->s, p->x, p->lower, p->upper);
        for (int k = 0; k < n && goes_on; k++) {
            bool is_free = isinf(p->s.lower[k]) && isinf(p->s.upper[k]);
            int turn = p->s.problem->partner[k] >= 0 ? 2 : is_free ? 0 : 1;
            if (turn != round) continue;
            if (turn == 2) p->x[k] = fmin(fmax(p->x[k], p->lower[k]), p->upper[k]);
            goes_on = !ss_run_late(p->run) && join(p, k);
        }
    }
    if (coupled) ss_coupled_bounds_start(coupled, p->x);

    for (int pass = 1; goes_on; pass++) {
        // What rounding has left on the wrong side joins again.
        refine(p);
        for (int k = 0; k < n && goes_on; k++) {
            double much = settled * p->size;
            bool wrong = p->place[k] == LOWER ? p->w[k] < -much : p->place[k] == UPPER && p->w[k] > much;
            if (wrong && p->lower[k] != p->upper[k]) goes_on = join(p, k);
        }

        // The error with the bounds where x puts them, without compliance.
        ss_scaled_bounds(&p->s, p->x, p->new_lower, p->new_upper);
        for (int i = 0; i < n; i++) p->dw[i] = p->w[i] - p->eps * (p->x[i] - p->centre[i]);
        double error = ss_scaled_error(n, p->new_lower, p->new_upper, p->x, p->dw);
        if (error < 0.9 * p->best.error) best_pass = pass;
        bool is_last = pass == passes || pass > best_pass + PATIENCE || !coupled;
        is_last = is_last || error > hopeless * p->best.error;
        ss_best_keep(&p->best, n, p->x, error);
        if (error <= settled * p->size) return SS_CONVERGED;
        if (is_last) return ss_scaled_is_solved(p->best.error, p->size) ? SS_CONVERGED : SS_STALLED;

        // Bounds and centre of the next pass. The centre moves only when the compliance is felt: where A is
        // singular each move adds what rounding left over, divided by eps.
        double felt = 0.0;
        for (int i = 0; i < n; i++) {
            felt = fmax(felt, p->eps * fabs(p->x[i] - p->centre[i]));
            p->side[i] = p->place[i] == LOWER ? -1 : p->place[i] == UPPER ? 1 : 0;
        }
        memcpy(p->new_centre, felt > unfelt * p->size ? p->x : p->centre, bytes);
        memcpy(p->dx, p->x, bytes);
        ss_pass found = {p->side, p->eps, p->centre, p->eps, p->new_centre, error};
        ss_coupled_bounds_next(coupled, &found, p->dx);
        ss_scaled_bounds(&p->s, p->dx, p->new_lower, p->new_upper);
        goes_on = goes_on && move_bounds(p);
    }
    memcpy(p->best.x, p->x, bytes); // the run has ended at this one
    return p->exchanges > p->max_exchanges ? SS_STALLED : ss_run_status(p->run);
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const dantzig_options *set = options;
    ss_arena *arena = run->arena;
    size_t n = (size_t)problem->size;
    pivoting p = {.run = run,
                  .out = x,
                  .n = problem->size,
                  .size = 1.0,
                  .best.error = INFINITY,
                  .max_exchanges = 50 * (int64_t)problem->size + 1000};
    if (ss_run_lacks(run, ss_run_scaling_cost(problem)) || !ss_scaled_create(problem, arena, &p.s) ||
        ss_run_late(run))
        return SS_FAILED;
    ss_coupled_bounds *coupled = p.s.coupled ? ss_coupled_bounds_create(&p.s, run) : NULL;
    p.place = ss_arena_take(arena, n, sizeof *p.place, "places");
    p.side = ss_arena_take(arena, n, sizeof *p.side, "sides");
    p.refused = ss_arena_take(arena, n, sizeof *p.refused, "refused");
    if (!p.place || !p.side || !p.refused || (p.s.coupled && !coupled) ||
        !ss_arena_take_vectors(arena, n, "dantzig vectors",
                               (double **[]){&p.x, &p.w, &p.dx, &p.dw, &p.lower, &p.upper, &p.lower_rate,
                                             &p.upper_rate, &p.new_lower, &p.new_upper, &p.column, &p.centre,
                                             &p.new_centre, &p.centre_rate, &p.load_rate, &p.best.x,
                                             &p.spread, NULL}) ||
        !ss_growing_cholesky_create(p.n, arena, &p.factor))
        return SS_FAILED;

    // x = 0, or the bound next to it.
    for (int i = 0; i < p.n; i++) {
        p.lower[i] = p.s.lower[i];
        p.upper[i] = p.s.upper[i];
        p.x[i] = fmin(fmax(0.0, p.lower[i]), p.upper[i]);
        p.size = fmax(p.size, 1.0 + fabs(p.x[i]));
    }

    // The matrix with its compliance; a filled one dense as well, because BLAS is faster from there on.
    const ss_sparse *A = &p.s.A;
    if (p.s.coupled && set->passes > 1) p.eps = set->compliance;
    for (int j = 0; j < p.n && p.eps > 0.0; j++) {
        for (int e = A->start[j]; e < A->start[j + 1]; e++) {
            if (A->row[e] == j) A->value[e] += p.eps;
        }
    }
    if (ss_sparse_nonzeros(A) >= 0.2 * (double)n * (double)n) {
        p.dense = ss_arena_take(arena, n * n, sizeof *p.dense, "dense matrix");
        if (!p.dense) return SS_FAILED;
        for (int j = 0; j < p.n; j++) {
            double *column = p.dense + (size_t)j * n; // a row as well: A is symmetric
            for (int e = A->start[j]; e < A->start[j + 1]; e++) column[A->row[e]] = A->value[e];
        }
    }

    renew_load(&p);
    ss_status status = iterate(&p, set->passes, coupled);
    if (set->passes == 1) // ODE's answer, beyond its bounds where the partners have given way
        ss_scaled_unscale(&p.s, p.best.x, x);
    else
        ss_scaled_restore(&p.s, p.best.x, x);
    return status;
}

static const char *refusal(const ss_problem *problem)
{
    return problem->size > MAX_SIZE ? too_large : NULL;
}

const ss_solver ss_solver_dantzig = {
    .abi = SS_ABI,
    .name = "dantzig",
    .summary = "principal pivoting of Cottle and Dantzig, one unknown after the other, as in ODE",
    .reference = "Cottle, Dantzig 1968; Baraff 1994",
    .weakness = "dense: slow for thousands of unknowns; no warm start; coupled bounds may not converge",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .traits = SS_NEEDS_SYMMETRIC | SS_EXACT,
    .options = options_table,
    .options_size = sizeof(dantzig_options),
    .solve = solve,
    .refusal = refusal,
};
