/* Tries everything: each unknown at its lower bound, at its upper bound or inside, each contact open,
 * sticking or sliding; one system of equations for every combination, until one of them obeys all laws.
 *
 *     inside, sticking   w = 0            at a bound, open   x = bound, x = 0
 *     follows a partner  x = +-factor s x_partner,  s = +-1 the sign of the partner
 *     sliding            x_T = -mu x_N t,  w_N = 0 (convex law: w_N = mu t . w_T),  t' . w_T = 0, t' across t
 *
 * A planar contact slides one way or the other. In space the direction t(theta) is found by Newton's method
 * from several first directions. For tiny problems, as the truth that others are measured by. The first
 * solution found is returned; there may be others.
 *
 * Complete for boxes and planar contacts, except for singular systems: of their many solutions only the
 * smallest is tried. That is enough for boxes with a symmetric matrix, because the other combinations have
 * the rest. Two or more contacts that slide in space may be missed. Refuses what has too many combinations,
 * and rolling friction.
 *
 * Reference: Murty, Linear Complementarity, Linear and Nonlinear Programming (1988), section 1.5.
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"
#include "problem/laws.h"
#include "problem/scaled.h"
#include "solver/core/watch.h"

enum { MAX_STATES = 5, DIRECTIONS = 8, NEWTON_STEPS = 40 };
enum { MAX_SIZE = 60, MAX_SYSTEMS = 5000 }; // a second or less
static const char too_large[] = "accepts at most 60 unknowns";
static const char too_many[] = "accepts at most 5000 combinations of states";

/* Next to 1 + max |x|; loads and diagonal are of size 1. */
static const double still = 1e-13;        // Newton's step
static const double far_off = 1e-6;       // error of the laws that rounding does not explain
static const double longest_turn = 0.5;   // rad
static const double dependent = 1e-12;    // pivot next to the largest
static const double contradiction = 1e-9; // load that nothing balances

typedef enum state {
    INSIDE,
    AT_LOWER,
    AT_UPPER,
    FOLLOWS_DOWN, // x = -factor |x_partner|
    FOLLOWS_UP,
    PLUS, // the sign of a partner that may have both
    MINUS,
    OPEN,
    STICK,
    SLIDE_UP, // planar: t = 1
    SLIDE_DOWN,
    SLIDE, // in space
} state;

/* Something with a choice. */
typedef struct site {
    int unknown; // its first one
    int count, chosen;
    state states[MAX_STATES];
} site;

typedef struct search {
    ss_scaled s;
    int n;
    double *dense; // A
    site *sites;
    int site_count;
    state *state; // per unknown: of a box, or of the contact at its first one
    double *sign; // per unknown: that a follower takes for its partner's
    int slider_count;
    double *theta; // directions of the contacts that slide in space, in this combination
    double *x, *w, *matrix, *right, *step;
    double *scratch, *reduced; // for elimination
    int *order;
    ss_best best; // x
    ss_arena *arena;
} search;

/* ---- choices ---------------------------------------------------------------------------------------- */

static void add_state(site *where, state what)
{
    where->states[where->count++] = what;
}

/* Everything with a choice, and how many systems that makes. Returns their number; sites may be NULL. */
static int list_sites(const ss_problem *problem, site *sites, double *systems)
{
    int count = 0;
    *systems = 1.0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        bool is_cone = ss_block_is_cone(block);
        for (int i = block->first; i < block->first + (is_cone ? 1 : block->size); i++) {
            site where = {.unknown = i};
            int directions = 0; // of sliding in space, beyond the first
            if (is_cone) {
                bool slides = block->mu > 0.0 && !isinf(block->mu), is_planar = block->size == 2;
                add_state(&where, OPEN);
                add_state(&where, STICK);
                if (slides) add_state(&where, is_planar ? SLIDE_UP : SLIDE);
                if (slides && is_planar) add_state(&where, SLIDE_DOWN);
                if (slides && !is_planar) directions = DIRECTIONS - 1;
            } else {
                double lower = problem->lower[i], upper = problem->upper[i];
                if (isfinite(lower)) add_state(&where, AT_LOWER);
                if (isfinite(upper) && upper != lower) add_state(&where, AT_UPPER);
                if (upper != lower) add_state(&where, INSIDE);
                if (problem->partner[i] >= 0) add_state(&where, FOLLOWS_DOWN);
                if (problem->partner[i] >= 0) add_state(&where, FOLLOWS_UP);
            }
            *systems *= where.count + directions;
            if (sites) sites[count] = where;
            count++;
        }
    }

    // The signs of partners that may have both, once for each.
    for (int i = 0; i < problem->size; i++) {
        int partner = problem->partner[i];
        bool is_first = partner >= 0;
        for (int k = 0; k < i && is_first; k++) is_first = problem->partner[k] != partner;
        if (!is_first || !(problem->lower[partner] < 0.0 && problem->upper[partner] > 0.0)) continue;
        *systems *= 2.0;
        if (sites) sites[count] = (site){.unknown = partner, .count = 2, .states = {PLUS, MINUS}};
        count++;
    }
    return count;
}

/* ---- equations -------------------------------------------------------------------------------------- */

/* Row `row` of the system: sum of weights times rows of A x + b. */
static void add_load_row(search *e, int row, double weight, int i)
{
    int size = e->n + e->slider_count;
    double *to = e->matrix + (size_t)row * (size_t)size;
    const double *from = e->dense + (size_t)i * (size_t)e->n;
    for (int j = 0; j < e->n; j++) to[j] += weight * from[j];
    e->right[row] -= weight * e->w[i];
}

static void add_unknown(search *e, int row, double weight, int i)
{
    e->matrix[(size_t)row * (size_t)(e->n + e->slider_count) + (size_t)i] += weight;
    e->right[row] -= weight * e->x[i];
}

/* Sliding along t: the tangents follow the normal; `theta_column` < 0 when t is fixed. */
static void set_sliding(search *e, const ss_block *block, const double t[2], int theta_column)
{
    int n = block->first, size = e->n + e->slider_count;
    double convex = block->law == SS_LAW_CONVEX ? block->mu : 0.0, speed = 0.0, across_speed = 0.0;
    double across[2] = {-t[1], t[0]};
    add_load_row(e, n, 1.0, n);
    for (int k = 0; k < block->size - 1; k++) {
        add_load_row(e, n, -convex * t[k], n + 1 + k);
        add_unknown(e, n + 1 + k, 1.0, n + 1 + k);
        add_unknown(e, n + 1 + k, block->mu * t[k], n);
        speed += t[k] * e->w[n + 1 + k];
        across_speed += across[k] * e->w[n + 1 + k];
    }
    if (theta_column < 0) return;
    e->matrix[(size_t)n * (size_t)size + (size_t)theta_column] -= convex * across_speed;
    for (int k = 0; k < 2; k++) {
        e->matrix[(size_t)(n + 1 + k) * (size_t)size + (size_t)theta_column] +=
            block->mu * across[k] * e->x[n];
        add_load_row(e, theta_column, across[k], n + 1 + k);
    }
    e->matrix[(size_t)theta_column * (size_t)size + (size_t)theta_column] -= speed;
}

/* J d = -F at (x, theta) */
static void set_equations(search *e)
{
    const ss_problem *problem = e->s.problem;
    size_t size = (size_t)(e->n + e->slider_count);
    memset(e->matrix, 0, size * size * sizeof *e->matrix);
    memset(e->right, 0, size * sizeof *e->right);
    ss_scaled_apply(&e->s, e->x, e->w);
    for (int k = 0, sliders = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        int n = block->first, end = n + block->size;
        for (int i = n; i < end && !ss_block_is_cone(block); i++) {
            if (e->state[i] == INSIDE) {
                add_load_row(e, i, 1.0, i);
                continue;
            }
            add_unknown(e, i, 1.0, i);
            if (e->state[i] == AT_LOWER || e->state[i] == AT_UPPER) {
                e->right[i] += e->state[i] == AT_LOWER ? e->s.lower[i] : e->s.upper[i];
            } else {
                double sense = e->state[i] == FOLLOWS_DOWN ? 1.0 : -1.0;
                int partner = problem->partner[i];
                add_unknown(e, i, sense * e->s.factor[i] * e->sign[partner], partner);
            }
        }
        if (!ss_block_is_cone(block)) continue;
        if (e->state[n] == SLIDE) {
            double angle = e->theta[sliders], t[2] = {cos(angle), sin(angle)};
            set_sliding(e, block, t, e->n + sliders++);
            continue;
        }
        if (e->state[n] == SLIDE_UP || e->state[n] == SLIDE_DOWN) {
            set_sliding(e, block, (double[2]){e->state[n] == SLIDE_UP ? 1.0 : -1.0, 0.0}, -1);
            continue;
        }
        for (int i = n; i < end; i++) { // open, or sticking
            bool is_normal = i == n, free_tangent = !is_normal && isinf(block->mu),
                 no_tangent = !is_normal && !(block->mu > 0.0);
            if (free_tangent || (e->state[n] == STICK && !no_tangent))
                add_load_row(e, i, 1.0, i);
            else
                add_unknown(e, i, 1.0, i);
        }
    }
}

/* step = matrix^-1 right, of many the smallest; false when there is none */
static bool solve_equations(search *e)
{
    double *a = e->scratch, *right = e->reduced;
    int size = e->n + e->slider_count, rest = 0;

    // Unknowns whose equation names no other one are solved for at once.
    for (int i = 0; i < size; i++) {
        const double *row = e->matrix + i * size;
        bool known = row[i] != 0.0;
        for (int j = 0; j < size && known; j++) known = row[j] == 0.0 || j == i;
        e->step[i] = known ? e->right[i] / row[i] : 0.0;
        if (!known) e->order[rest++] = i;
    }

    // A smaller system of the others.
    for (int k = 0; k < rest; k++) {
        const double *row = e->matrix + e->order[k] * size;
        right[k] = e->right[e->order[k]];
        for (int j = 0; j < size; j++) right[k] -= row[j] * e->step[j];
        for (int j = 0; j < rest; j++) a[k * rest + j] = row[e->order[j]];
    }
    if (ss_dense_solve_smallest(rest, a, right, dependent, contradiction, e->right, e->arena) != SS_LINALG_OK)
        return false;
    for (int k = 0; k < rest; k++) e->step[e->order[k]] = e->right[k];
    return true;
}

/* ---- one system ------------------------------------------------------------------------------------- */

/* max |x - P(x - w~)| with the bounds where x puts them */
static double error_of(search *e, double *size)
{
    const ss_problem *problem = e->s.problem;
    double *lower = e->matrix, *upper = e->matrix + e->n, *image = e->scratch, error = 0.0;
    ss_scaled_apply(&e->s, e->x, e->w);
    ss_scaled_bounds(&e->s, e->x, lower, upper);
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        int end = block->first + block->size;
        if (ss_block_is_cone(block)) ss_block_dual(block, e->w + block->first, e->w + block->first);
        for (int i = block->first; i < end; i++) image[i] = e->x[i] - e->w[i];
        if (ss_block_is_cone(block)) ss_friction_cone_project(ss_block_cone(block), image + block->first);
        for (int i = block->first; i < end && !ss_block_is_cone(block); i++)
            image[i] = fmin(fmax(image[i], lower[i]), upper[i]);
    }
    *size = 1.0;
    for (int i = 0; i < e->n; i++) {
        error = fmax(error, fabs(image[i] - e->x[i]));
        *size = fmax(*size, 1.0 + fabs(e->x[i]));
    }
    return error;
}

/* Newton's step. Returns its size, next to that of x; infinite when there is none. */
static double improve(search *e)
{
    double change = 0.0, size = 1.0;
    set_equations(e);
    if (!solve_equations(e)) return INFINITY;
    for (int i = 0; i < e->n; i++) {
        e->x[i] += e->step[i];
        if (!isfinite(e->x[i])) return INFINITY;
        change = fmax(change, fabs(e->step[i]));
        size = fmax(size, 1.0 + fabs(e->x[i]));
    }
    for (int c = 0; c < e->slider_count; c++) {
        double turn = e->step[e->n + c];
        e->theta[c] += fmin(fmax(turn, -longest_turn), longest_turn);
        change = fmax(change, fabs(turn));
    }
    return change / size;
}

/* True when this is it. */
static bool try_system(search *e)
{
    // Without sliding in space the equations are linear and one step is exact.
    double step = INFINITY, size;
    memset(e->x, 0, (size_t)e->n * sizeof *e->x);
    for (int k = 0; k < (e->slider_count ? NEWTON_STEPS : 1) && step > still; k++) {
        step = improve(e);
        if (isinf(step)) return false;
    }
    double error = error_of(e, &size);
    if (error <= far_off * size) { // what remains may be rounding
        if (isinf(improve(e))) return false;
        error = error_of(e, &size);
    }
    ss_best_keep(&e->best, e->n, e->x, error);
    return ss_scaled_is_solved(error, size);
}

/* ---- all of them ------------------------------------------------------------------------------------ */

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)options;
    double systems;
    search e = {.n = problem->size, .arena = run->arena, .best.error = INFINITY};
    ss_arena *arena = run->arena;
    size_t n = (size_t)e.n, size = 2 * n; // of a system: one angle per contact; lower and upper bounds
    e.sites = ss_arena_take(arena, size, sizeof *e.sites, "sites"); // rows, and signs of partners
    e.state = ss_arena_take(arena, n, sizeof *e.state, "states");
    e.order = ss_arena_take(arena, size, sizeof *e.order, "order");
    e.dense = ss_arena_take(arena, n * n, sizeof *e.dense, "dense matrix");
    if (!e.sites || !e.state || !e.order || !e.dense || !ss_scaled_create(problem, arena, &e.s) ||
        !ss_arena_take_vectors(
            arena, size, "vectors",
            (double **[]){&e.sign, &e.theta, &e.x, &e.w, &e.best.x, &e.right, &e.step, &e.reduced, NULL}) ||
        !ss_arena_take_vectors(arena, size * size, "system", (double **[]){&e.matrix, &e.scratch, NULL}))
        return SS_FAILED;
    for (int j = 0; j < e.n; j++) {
        for (int k = e.s.A.start[j]; k < e.s.A.start[j + 1]; k++)
            e.dense[e.s.A.row[k] * e.n + j] = e.s.A.value[k];
    }
    e.site_count = list_sites(problem, e.sites, &systems);
    for (int i = 0; i < e.n; i++) e.sign[i] = problem->upper[i] <= 0.0 ? -1.0 : 1.0;

    // A combination of choices is an iteration.
    for (bool more = true; more;) {
        e.slider_count = 0;
        for (int k = 0; k < e.site_count; k++) {
            const site *where = &e.sites[k];
            state chosen = where->states[where->chosen];
            if (chosen == PLUS || chosen == MINUS)
                e.sign[where->unknown] = chosen == PLUS ? 1.0 : -1.0;
            else
                e.state[where->unknown] = chosen;
            e.slider_count += chosen == SLIDE;
        }

        // All first directions of the sliding contacts, as digits of one number.
        int64_t starts = (int64_t)pow(DIRECTIONS, e.slider_count);
        bool found = false;
        for (int64_t start = 0; start < starts && !found; start++) {
            int64_t digits = start;
            for (int c = 0; c < e.slider_count; c++) {
                e.theta[c] = 2.0 * M_PI * ((double)(digits % DIRECTIONS) + 0.25) / DIRECTIONS;
                digits /= DIRECTIONS;
            }
            found = try_system(&e);
        }
        if (e.best.error < INFINITY) ss_scaled_restore(&e.s, e.best.x, x);
        if (!ss_run_iteration(run, x, NULL)) return ss_run_status(run);
        if (found) return SS_CONVERGED;

        // The next combination: count up, site by site.
        more = false;
        for (int k = 0; k < e.site_count && !more; k++) {
            more = ++e.sites[k].chosen < e.sites[k].count;
            if (!more) e.sites[k].chosen = 0;
        }
    }
    return SS_STALLED;
}

static const char *refusal(const ss_problem *problem)
{
    double systems;
    for (int k = 0; k < problem->block_count; k++) {
        if (ss_block_is_cone(&problem->blocks[k]) && problem->blocks[k].size > 3)
            return "does not accept rolling friction";
    }
    if (problem->size > MAX_SIZE) return too_large;
    list_sites(problem, NULL, &systems);
    return systems > MAX_SYSTEMS ? too_many : NULL;
}

const ss_solver ss_solver_enumerate = {
    .abi = SS_ABI,
    .name = "enumerate",
    .summary = "tries all combinations of contact states: a reference for tiny problems",
    .reference = "Murty 1988, section 1.5",
    .weakness = "exponential cost: about a dozen bounds or three spatial contacts; no rolling friction; "
                "may fail on redundant contacts",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .solve = solve,
    .refusal = refusal,
};
