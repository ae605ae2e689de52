/* Block principal pivoting: every unknown is at its lower bound, at its upper bound, or inside with w = 0. Solve for
 * those inside, move all that are on the wrong side at once, and go on until none is.
 *
 *     (A + eps)_FF x_F = eps c_F - b_F - A_FN x_N,   w = A x + b + eps (x - c)
 *     inside:  x < l -> lower,  x > u -> upper;   lower:  w < 0 -> inside;   upper:  w > 0 -> inside
 *
 * Redundant contacts make A singular; the compliance eps removes that, and proximal passes (c = the last x) remove its
 * effect. When ten exchanges in a row do not lower the number of wrong ones, or a choice of sides comes back, eps is
 * raised, and lowered again pass by pass. When that does not help either, only the last wrong one is moved (Murty's
 * rule), which is finite for P-matrices. Bounds that follow a partner are held within a pass and renewed between
 * passes. Usually 5 to 15 factorisations; each iteration is a basic solution of its own, so that a run cut short may
 * keep the best one.
 *
 * Fails by crawling when Murty's rule has to do the work, when coupled bounds do not settle (large friction), and when
 * the matrix is neither positive semidefinite nor a P-matrix; often it succeeds all the same.
 *
 * References: Judice, Pires, Comput. Oper. Res. 21 (1994); Enzenhoefer, Lefebvre, Andrews, 2019.
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "solver/face.h"
#include "solver/follower.h"
#include "solver/scaled.h"

enum { PATIENCE = 10, MAX_RESCUES = 30 };

/* Compliance next to the diagonal, which is 1. */
static const double stiff = 1e-3;    // of the first rescue, and of the first pass with coupled bounds
static const double softening = 0.3; // from pass to pass
static const double least_compliance = 1e-11; // what double precision can do with

/* All next to 1 + max |x|: loads and diagonal are of size 1. */
static const double wrong_by = 1e-12; // less is rounding
static const double settled = 1e-15;  // error of the laws at the end of the last pass
static const double settled_coupled = 1e-13;
static const double unfelt = 1e-14; // load that compliance adds

typedef struct block_pivot_options {
    double compliance;
    int passes;
} block_pivot_options;

static const ss_option options_table[] = {
    {.name = "compliance",
     .type = SS_OPTION_REAL,
     .offset = offsetof(block_pivot_options, compliance),
     .default_value = "1e-8",
     .min = 0,
     .max = 1,
     .help = "added to the diagonal, relative to it, while pivoting; proximal passes remove its effect"},
    {.name = "passes",
     .type = SS_OPTION_INT,
     .offset = offsetof(block_pivot_options, passes),
     .default_value = "100",
     .min = 1,
     .max = 1000000,
     .help = "renewals of proximal centre and coupled bounds at most"},
    {0},
};

typedef enum side { LOWER = -1, INSIDE = 0, UPPER = 1 } side;

typedef struct pivoting {
    ss_scaled s;
    ss_face face;
    int n;
    signed char *side;
    bool *inside;
    bool factor_is_old, sides_are_new; // since the last basis
    double *x, *w, *right, *step;
    double *centre, *last_centre;
    double *lower, *upper; // of this pass
    double size;           // 1 + max |x|
    /* how the exchanges go */
    int fewest, patience; // wrong ones at best in this pass; exchanges that may fail to lower it
    uint64_t seen[PATIENCE + 1];
    int seen_count;
    uint64_t milestone; // Brent: a choice of sides to be recognised if Murty's rule returns to it
    int64_t steps, next_milestone;
    /* how the passes go */
    double best_error, milestone_error;
    double *best; // x at the end of the best pass
    int passes, milestone_pass;
    double compliance; // the least, that of the options
    int rescues;
    ss_follower *follower; // NULL without coupled bounds
} pivoting;

static bool take_memory(pivoting *p, ss_arena *arena)
{
    size_t n = (size_t)p->n;
    p->side = ss_arena_take(arena, n, sizeof *p->side, "sides");
    p->inside = ss_arena_take(arena, n, sizeof *p->inside, "inside");
    p->x = ss_arena_take(arena, n, sizeof *p->x, "x");
    p->w = ss_arena_take(arena, n, sizeof *p->w, "w");
    p->centre = ss_arena_take(arena, n, sizeof *p->centre, "proximal centre");
    p->right = ss_arena_take(arena, n, sizeof *p->right, "right-hand side");
    p->lower = ss_arena_take(arena, n, sizeof *p->lower, "bounds");
    p->upper = ss_arena_take(arena, n, sizeof *p->upper, "bounds");
    p->step = ss_arena_take(arena, n, sizeof *p->step, "step");
    p->best = ss_arena_take(arena, n, sizeof *p->best, "best x");
    p->last_centre = ss_arena_take(arena, n, sizeof *p->last_centre, "proximal centre");
    if (p->s.coupled) p->follower = ss_follower_create(&p->s, arena);
    return p->side && p->inside && p->x && p->w && p->centre && p->right && p->lower && p->upper && p->step &&
           p->best && p->last_centre && (p->follower || !p->s.coupled);
}

/* ---- one basis -------------------------------------------------------------------------------------- */

static void set_side(pivoting *p, int i, side to)
{
    if (p->side[i] == (signed char)to) return;
    p->sides_are_new = true;
    p->factor_is_old = p->factor_is_old || p->inside[i] || to == INSIDE;
    p->side[i] = (signed char)to;
    p->inside[i] = to == INSIDE;
}

static double bound_of(const pivoting *p, int i)
{
    return p->side[i] == LOWER ? p->lower[i] : p->upper[i];
}

/* From the last basis, when only bounds and centre have changed. Solving for the change keeps rounding in
 * proportion to it: the normals of a hyperstatic stack would wander otherwise, and coupled bounds with them. */
static void update_basis(pivoting *p)
{
    double eps = p->face.shift;
    for (int i = 0; i < p->n; i++) {
        p->step[i] = p->inside[i] ? 0.0 : bound_of(p, i) - p->x[i];
        p->right[i] = eps * (p->centre[i] - p->last_centre[i]);
        p->w[i] -= p->right[i];
    }
    ss_sparse_apply(&p->s.A, p->step, -1.0, p->right);
    ss_face_solve(&p->face, p->right, p->step);
    for (int i = 0; i < p->n; i++) p->w[i] += eps * p->step[i];
    ss_sparse_apply(&p->s.A, p->step, 1.0, p->w);
    for (int i = 0; i < p->n; i++) p->x[i] = p->inside[i] ? p->x[i] + p->step[i] : bound_of(p, i);
}

static bool renew_basis(pivoting *p)
{
    double eps = p->face.shift;
    if (p->factor_is_old && !ss_face_factor(&p->face, p->inside)) return false;
    for (int i = 0; i < p->n; i++) p->x[i] = p->inside[i] ? 0.0 : bound_of(p, i);
    ss_scaled_apply(&p->s, p->x, p->w);
    for (int i = 0; i < p->n; i++) p->right[i] = eps * p->centre[i] - p->w[i];
    ss_face_solve(&p->face, p->right, p->x);
    ss_scaled_apply(&p->s, p->x, p->w);
    for (int i = 0; i < p->n; i++) p->w[i] += eps * (p->x[i] - p->centre[i]);
    return true;
}

static bool solve_basis(pivoting *p)
{
    if (!p->sides_are_new)
        update_basis(p);
    else if (!renew_basis(p))
        return false;
    p->factor_is_old = p->sides_are_new = false;
    memcpy(p->last_centre, p->centre, (size_t)p->n * sizeof *p->centre);
    p->size = 1.0;
    for (int i = 0; i < p->n; i++) {
        if (!isfinite(p->x[i])) return false;
        p->size = fmax(p->size, fabs(p->x[i]));
    }
    return true;
}

/* ---- which side is wrong ---------------------------------------------------------------------------- */

static side right_side(const pivoting *p, int i)
{
    double much = wrong_by * p->size;
    switch (p->side[i]) {
    case INSIDE:
        return p->x[i] < p->lower[i] - much ? LOWER : p->x[i] > p->upper[i] + much ? UPPER : INSIDE;
    case LOWER:
        return p->w[i] < -much && p->lower[i] < p->upper[i] ? INSIDE : LOWER;
    default:
        return p->w[i] > much && p->lower[i] < p->upper[i] ? INSIDE : UPPER;
    }
}

static int count_wrong(const pivoting *p, int *last)
{
    int wrong = 0;
    for (int i = 0; i < p->n; i++) {
        if (right_side(p, i) == p->side[i]) continue;
        *last = i;
        wrong++;
    }
    return wrong;
}

static uint64_t hash_sides(const pivoting *p)
{
    uint64_t hash = 0x9e3779b97f4a7c15u;
    for (int i = 0; i < p->n; i++) {
        hash = (hash ^ (uint64_t)(p->side[i] + 2)) * 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 29;
    }
    return hash;
}

static bool was_here(pivoting *p, uint64_t hash)
{
    for (int k = 0; k < p->seen_count; k++) {
        if (p->seen[k] == hash) return true;
    }
    if (p->seen_count <= PATIENCE) p->seen[p->seen_count++] = hash;
    return false;
}

/* Murty's rule is finite but for rounding: a choice of sides that comes back says so. */
static bool murty_cycles(pivoting *p, uint64_t hash)
{
    if (p->steps > 0 && hash == p->milestone) return true;
    if (p->steps == p->next_milestone) {
        p->milestone = hash;
        p->next_milestone = 2 * p->steps + 1;
    }
    p->steps++;
    return false;
}

static void forget(pivoting *p)
{
    p->patience = PATIENCE;
    p->seen_count = 0;
    p->steps = p->next_milestone = 0;
}

static void start_pass(pivoting *p)
{
    p->fewest = p->n + 1;
    forget(p);
}

static void sides_of_centre(pivoting *p)
{
    for (int i = 0; i < p->n; i++) {
        double c = p->centre[i];
        set_side(p, i, c <= p->lower[i] ? LOWER : c >= p->upper[i] ? UPPER : INSIDE);
    }
    p->factor_is_old = p->sides_are_new = true;
}

/* A stiffer proximal term makes the exchanges behave: they contract when it outweighs the coupling. Starts again
 * from the centre; later passes soften it. */
static bool rescue(pivoting *p)
{
    if (p->rescues == MAX_RESCUES || p->face.shift >= 1.0) return false;
    bool first = p->rescues++ == 0; // later ones go back a step or two only
    p->face.shift = fmin(1.0, first ? fmax(1e3 * p->face.shift, stiff) : 10.0 * p->face.shift);
    sides_of_centre(p);
    start_pass(p);
    return true;
}

/* Moves all, or the last, to the other side. False in a cycle. */
static bool exchange(pivoting *p, int wrong, int last)
{
    if (wrong < p->fewest) {
        p->fewest = wrong;
        forget(p);
    }
    uint64_t hash = hash_sides(p);
    if (p->patience > 0 && !was_here(p, hash)) {
        p->patience--;
        for (int i = 0; i < p->n; i++) set_side(p, i, right_side(p, i));
        return true;
    }
    p->patience = 0;
    if (rescue(p)) return true;
    if (murty_cycles(p, hash)) return false;
    set_side(p, last, right_side(p, last));
    return true;
}

/* ---- passes ----------------------------------------------------------------------------------------- */

static void start(pivoting *p, const double *x)
{
    ss_scaled_start(&p->s, x, p->centre);
    ss_scaled_bounds(&p->s, p->centre, p->lower, p->upper);
    for (int i = 0; i < p->n; i++) {
        p->inside[i] = true; // as the zeroed sides say
        p->centre[i] = fmin(fmax(p->centre[i], p->lower[i]), p->upper[i]);
    }
    sides_of_centre(p);
    p->best_error = p->milestone_error = INFINITY;
    if (p->follower) { // the first bounds are wrong anyway
        p->face.shift = fmax(stiff, p->compliance);
        ss_follower_start(p->follower, p->centre);
    }
    start_pass(p);
}

/* The error of x under the laws themselves: no compliance, bounds where x puts them. Leaves the clamped x in step. */
static double true_error(pivoting *p)
{
    for (int i = 0; i < p->n; i++) p->step[i] = fmin(fmax(p->x[i], p->lower[i]), p->upper[i]);
    ss_scaled_bounds(&p->s, p->step, p->lower, p->upper);
    ss_scaled_apply(&p->s, p->step, p->right);
    return ss_scaled_error(p->n, p->lower, p->upper, p->step, p->right);
}

/* The load that the compliance adds. */
static double felt_compliance(const pivoting *p)
{
    double felt = 0.0;
    for (int i = 0; i < p->n; i++) felt = fmax(felt, fabs(p->step[i] - p->centre[i]));
    return p->face.shift * felt;
}

/* Where A is singular, each move of the centre adds what rounding left over, divided by eps. Coupled bounds would
 * follow that: with them the centre moves only when the compliance is felt. */
static void renew_centre(pivoting *p, double felt)
{
    if (!p->follower || felt > unfelt * p->size) memcpy(p->centre, p->step, (size_t)p->n * sizeof *p->centre);
}

/* The bounds of the next pass. */
static void follow(pivoting *p, double shift, double error)
{
    if (!p->follower) return;
    ss_pass pass = {p->side, shift, p->last_centre, p->face.shift, p->centre, error};
    ss_follower_next(p->follower, &pass, p->step);
    ss_scaled_bounds(&p->s, p->step, p->lower, p->upper);
}

/* Progress is a tenth off within so many passes. */
static bool crawls(pivoting *p, double error)
{
    bool stiffened = p->face.shift > p->compliance; // slow for a known reason
    if (error < 0.9 * p->milestone_error) p->milestone_error = error, p->milestone_pass = p->passes;
    if (stiffened) p->milestone_pass = p->passes;
    return p->passes > p->milestone_pass + (p->follower ? 3 * PATIENCE : 3);
}

/* A stiff proximal term is softened pass by pass. */
static void soften(pivoting *p)
{
    if (p->face.shift <= p->compliance) return;
    p->face.shift = fmax(p->compliance, softening * p->face.shift);
    p->factor_is_old = p->sides_are_new = true;
}

/* Equations that contradict each other by a little, and unilateral contacts that could give way: forces grow with each
 * pass by what contradicts, divided by eps, until a contact opens. */
static bool lower_compliance(pivoting *p)
{
    if (p->follower || p->best_error <= 1e3 * settled * p->size || p->compliance < least_compliance)
        return false;
    p->compliance *= 0.01;
    p->milestone_pass = p->passes;
    return true;
}

static bool is_solved(const pivoting *p)
{
    return ss_scaled_is_solved(p->best_error, p->size);
}

typedef enum verdict { AGAIN, DONE, STUCK } verdict;

static verdict end_pass(pivoting *p, int max_passes)
{
    double error = true_error(p), felt = felt_compliance(p);
    if (error < p->best_error) memcpy(p->best, p->step, (size_t)p->n * sizeof *p->best);
    p->best_error = fmin(p->best_error, error);
    if (error <= (p->follower ? settled_coupled : settled) * p->size) return DONE;
    p->passes++;
    if (crawls(p, error) && !lower_compliance(p)) return is_solved(p) ? DONE : STUCK;
    if (p->passes >= max_passes) return is_solved(p) ? DONE : STUCK;
    double shift = p->face.shift;
    soften(p);
    renew_centre(p, felt);
    follow(p, shift, error);
    start_pass(p);
    return AGAIN;
}

/* ---- the loop --------------------------------------------------------------------------------------- */

static ss_status iterate(pivoting *p, int max_passes, ss_run *run, double *x)
{
    for (;;) {
        if (!solve_basis(p)) { // compliance too low for this precision, or not a number
            bool any = p->best_error < INFINITY;
            if (any) ss_scaled_restore(&p->s, p->best, x);
            return !any ? SS_FAILED : is_solved(p) ? SS_CONVERGED : SS_STALLED;
        }
        if (ss_run_measures(run)) ss_scaled_restore(&p->s, p->x, x);
        if (!ss_run_iteration(run, x, NULL)) {
            ss_scaled_restore(&p->s, p->x, x);
            return ss_run_status(run);
        }
        int last = -1, wrong = count_wrong(p, &last);
        if (wrong > 0 && exchange(p, wrong, last)) continue;
        verdict end = wrong > 0 ? STUCK : end_pass(p, max_passes);
        if (end == AGAIN) continue;
        ss_scaled_restore(&p->s, p->best_error < INFINITY ? p->best : p->x, x);
        return end == DONE ? SS_CONVERGED : SS_STALLED;
    }
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const block_pivot_options *set = options;
    pivoting p = {.n = problem->size, .compliance = set->compliance};
    ss_status status = SS_FAILED;
    if (ss_scaled_create(problem, run->arena, &p.s) && take_memory(&p, run->arena) &&
        ss_face_create(&p.s.A, problem->symmetric, set->compliance, run->arena, &p.face)) {
        start(&p, x);
        status = iterate(&p, set->passes, run, x);
    }
    ss_face_destroy(&p.face);
    return status;
}

const ss_solver ss_solver_block_pivot = {
    .abi = SS_ABI,
    .name = "block-pivot",
    .summary = "block principal pivoting with bounds, Murty's rule when it does not progress",
    .reference = "Judice, Pires 1994; Enzenhoefer, Lefebvre, Andrews 2019",
    .weakness = "no guarantee beyond P-matrices; coupled bounds need not settle for large friction",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .traits = SS_EXACT | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(block_pivot_options),
    .solve = solve,
};
