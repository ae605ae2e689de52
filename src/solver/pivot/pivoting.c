#include "solver/pivot/pivoting.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solver/core/run_state.h"

enum { MAX_RESCUES = 30 };

static const double stiff = 1e-3;     // compliance of the first rescue, next to the diagonal
static const double wrong_by = 1e-12; // next to 1 + max |x|: less is rounding

/* ---- life ------------------------------------------------------------------------------------------- */

bool ss_pivoting_create(const ss_problem *problem, double compliance, ss_run *run, ss_pivoting *p)
{
    ss_arena *arena = run->arena;
    *p = (ss_pivoting){.run = run, .n = problem->size};
    double expected = ss_run_scaling_cost(problem);
    if (ss_run_lacks(run, expected)) return false;
    double began = ss_run_deadline(run) < INFINITY ? ss_clock_seconds() : 0.0;
    if (!ss_scaled_create(problem, arena, &p->s)) return false;
    double took = began > 0.0 ? ss_clock_seconds() - began : 0.0;
    size_t n = (size_t)p->n;
    if (!ss_arena_take_vectors(arena, n, "pivoting",
                               (double **[]){&p->x, &p->w, &p->right, &p->step, &p->centre, &p->last_centre,
                                             &p->lower, &p->upper, &p->load_change, NULL}))
        return false;
    p->side = ss_arena_take(arena, n, sizeof *p->side, "sides");
    p->inside = ss_arena_take(arena, n, sizeof *p->inside, "inside");
    for (int i = 0; p->inside && i < p->n; i++) p->inside[i] = true; // as the zeroed sides say
    if (!p->side || !p->inside ||
        !ss_active_set_factor_create(&p->s.A, problem->symmetric, compliance, arena, &p->face))
        return false;
    ss_active_set_learn(&p->face, took, expected);
    return true;
}

void ss_pivoting_free(ss_pivoting *p)
{
    ss_active_set_factor_destroy(&p->face);
}

/* ---- one basis -------------------------------------------------------------------------------------- */

static void set_side(ss_pivoting *p, int i, ss_side to)
{
    if (p->side[i] == (signed char)to) return;
    p->sides_are_new = true;
    p->factor_is_old = p->factor_is_old || p->inside[i] || to == SS_INSIDE;
    p->side[i] = (signed char)to;
    p->inside[i] = to == SS_INSIDE;
}

static double bound_of(const ss_pivoting *p, int i)
{
    return p->side[i] == SS_LOWER ? p->lower[i] : p->upper[i];
}

bool ss_pivoting_solve(ss_pivoting *p)
{
    int n = p->n;
    double eps = p->face.shift, *x = p->x, *w = p->w;
    if (p->factor_is_old) {
        p->factorizations++;
        if (!ss_run_factorise(p->run, &p->face, p->inside)) return false;
    }

    if (p->sides_are_new) {
        for (int i = 0; i < n; i++) x[i] = p->inside[i] ? 0.0 : bound_of(p, i);
        ss_scaled_apply(&p->s, x, w);
        for (int i = 0; i < n; i++) p->right[i] = eps * p->centre[i] - w[i];
        ss_active_set_solve(&p->face, p->right, x);
        ss_scaled_apply(&p->s, x, w);
        for (int i = 0; i < n; i++) w[i] += eps * (x[i] - p->centre[i]);
    } else {
        // Only bounds and centre have changed. Solving for the change keeps rounding in proportion to it: the
        // normals of a hyperstatic stack would wander otherwise, and coupled bounds with them.
        for (int i = 0; i < n; i++) {
            p->step[i] = p->inside[i] ? 0.0 : bound_of(p, i) - x[i];
            p->right[i] = eps * (p->centre[i] - p->last_centre[i]) - p->load_change[i];
            w[i] -= p->right[i];
        }
        ss_sparse_apply(&p->s.A, p->step, -1.0, p->right);
        ss_active_set_solve(&p->face, p->right, p->step);
        for (int i = 0; i < n; i++) w[i] += eps * p->step[i];
        ss_sparse_apply(&p->s.A, p->step, 1.0, w);
        for (int i = 0; i < n; i++) x[i] = p->inside[i] ? x[i] + p->step[i] : bound_of(p, i);
    }

    p->factor_is_old = p->sides_are_new = false;
    memset(p->load_change, 0, (size_t)n * sizeof *p->load_change);
    memcpy(p->last_centre, p->centre, (size_t)n * sizeof *p->centre);
    p->size = 1.0;
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) return false;
        p->size = fmax(p->size, fabs(x[i]));
    }
    return true;
}

void ss_pivoting_set_load(ss_pivoting *p, const double *b)
{
    for (int i = 0; i < p->n; i++) {
        p->load_change[i] += b[i] - p->s.b[i];
        p->s.b[i] = b[i];
    }
}

void ss_pivoting_set_compliance(ss_pivoting *p, double compliance)
{
    if (p->face.shift == compliance) return;
    p->face.shift = compliance;
    p->factor_is_old = p->sides_are_new = true;
}

/* ---- which side is wrong ---------------------------------------------------------------------------- */

static ss_side right_side(const ss_pivoting *p, int i)
{
    double much = wrong_by * p->size;
    switch (p->side[i]) {
    case SS_INSIDE:
        return p->x[i] < p->lower[i] - much ? SS_LOWER : p->x[i] > p->upper[i] + much ? SS_UPPER : SS_INSIDE;
    case SS_LOWER:
        return p->w[i] < -much && p->lower[i] < p->upper[i] ? SS_INSIDE : SS_LOWER;
    default:
        return p->w[i] > much && p->lower[i] < p->upper[i] ? SS_INSIDE : SS_UPPER;
    }
}

int ss_pivoting_wrong(const ss_pivoting *p, int *last)
{
    int wrong = 0;
    for (int i = 0; i < p->n; i++) {
        if (right_side(p, i) == p->side[i]) continue;
        *last = i;
        wrong++;
    }
    return wrong;
}

static void forget(ss_pivoting *p)
{
    p->patience = SS_PIVOTING_PATIENCE;
    p->seen_count = 0;
    p->steps = p->next_milestone = 0;
}

void ss_pivoting_begin(ss_pivoting *p)
{
    p->fewest = p->n + 1;
    forget(p);
}

void ss_pivoting_start(ss_pivoting *p)
{
    for (int i = 0; i < p->n; i++) {
        double c = p->centre[i];
        set_side(p, i, c <= p->lower[i] ? SS_LOWER : c >= p->upper[i] ? SS_UPPER : SS_INSIDE);
    }
    p->factor_is_old = p->sides_are_new = true;
}

bool ss_pivoting_exchange(ss_pivoting *p, int wrong, int last)
{
    if (wrong < p->fewest) {
        p->fewest = wrong;
        forget(p);
    }

    // All at once, as long as the choice of sides is new and there is patience.
    uint64_t hash = 0x9e3779b97f4a7c15u;
    bool was_here = false;
    for (int i = 0; i < p->n; i++) {
        hash = (hash ^ (uint64_t)(p->side[i] + 2)) * 0xbf58476d1ce4e5b9u;
        hash ^= hash >> 29;
    }
    if (p->patience > 0) {
        for (int k = 0; k < p->seen_count; k++) was_here = was_here || p->seen[k] == hash;
        if (!was_here && p->seen_count <= SS_PIVOTING_PATIENCE) p->seen[p->seen_count++] = hash;
    }
    if (p->patience > 0 && !was_here) {
        p->patience--;
        for (int i = 0; i < p->n; i++) set_side(p, i, right_side(p, i));
        return true;
    }
    p->patience = 0;

    // A stiffer proximal term makes the exchanges behave: they contract when it outweighs the coupling.
    // Starts again from the centre; later passes soften it, and later rescues go back a step or two only.
    if (p->rescues < MAX_RESCUES && p->face.shift < 1.0) {
        bool first = p->rescues++ == 0;
        p->face.shift = fmin(1.0, first ? fmax(1e3 * p->face.shift, stiff) : 10.0 * p->face.shift);
        ss_pivoting_start(p);
        ss_pivoting_begin(p);
        return true;
    }

    // Murty's rule is finite except for rounding: a choice of sides that comes back says so.
    if (p->steps > 0 && hash == p->milestone) return false;
    if (p->steps == p->next_milestone) {
        p->milestone = hash;
        p->next_milestone = 2 * p->steps + 1;
    }
    p->steps++;
    set_side(p, last, right_side(p, last));
    return true;
}
