/* Planar contacts with a matrix: Gauss-Seidel sweeps that need next to no set-up, and the states they find
 * solved exactly.
 *
 * A planar contact has four states (open, sticking, sliding to either side), and a problem is linear once
 * they are known: u = 0 where it sticks, u_N = 0 and r_T = -+mu r_N where it slides. A few sweeps find the
 * states of a mechanism long before they find its impulses. So: sweep; when the states look settled and are
 * few, solve for them (dense, the active unknowns alone); read off the solution which states the contacts ask
 * for, and solve again until they stay. What is right is then right to rounding. Where they go round, sweeps
 * continue; where sweeps creep, other methods do.
 *
 * References: Alart, Curnier, A mixed formulation for frictional contact problems prone to Newton like
 * solution methods (1991), for the states; Judice, Pires, A block principal pivoting algorithm for
 * large-scale strictly monotone linear complementarity problems (1994), for exchanging many at once. */
#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "solver/auto/auto.h"

typedef enum contact_state { OPEN, STICKS, SLIDES_UP, SLIDES_DOWN } contact_state; // r_T = mu r_N, -mu r_N

typedef struct planar_contact {
    double a[4], inverse[4], mu; // A_cc and its inverse, row by row
} planar_contact;

typedef struct planar {
    const ss_problem *problem;
    planar_contact *contacts;
    double *w; // A x + b, kept up to date
    unsigned char *states, *tried;
    bool is_dense; // every entry is stored
} planar;

bool ss_auto_is_planar(const ss_problem *problem)
{
    if (problem->bodies || !problem->A) return false;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (block->law != SS_LAW_CONE || block->size != 2 || !(block->mu > 1e-100) || isinf(block->mu) ||
            !(problem->diagonal[2 * k] > 0.0) || !(problem->diagonal[2 * k + 1] > 0.0))
            return false;
    }
    return true;
}

/* False: out of memory, or the own block of some contact is singular. */
static bool create(const ss_problem *problem, const double *x, ss_arena *arena, planar *p)
{
    static const double rounding = 1e-13;
    size_t n = (size_t)problem->size, count = (size_t)problem->block_count;
    *p = (planar){.problem = problem, .is_dense = (size_t)problem->A->start[n] == n * n};
    p->contacts = ss_arena_take_unset(arena, count, sizeof *p->contacts, "planar contacts");
    p->w = ss_arena_take_unset(arena, n, sizeof *p->w, "velocities");
    p->states = ss_arena_take(arena, 2 * count, sizeof *p->states, "states of contacts");
    if (!p->contacts || !p->w || !p->states) return false;
    p->tried = p->states + count;
    for (int k = 0; k < problem->block_count; k++) {
        planar_contact *c = &p->contacts[k];
        double *a = c->a;
        ss_block_matrix(problem, &problem->blocks[k], a);
        double determinant = a[0] * a[3] - a[1] * a[2];
        if (!(determinant > rounding * a[0] * a[3])) return false;
        double scale = 1.0 / determinant;
        c->inverse[0] = a[3] * scale, c->inverse[1] = -a[1] * scale;
        c->inverse[2] = -a[2] * scale, c->inverse[3] = a[0] * scale;
        c->mu = problem->blocks[k].mu;
    }
    memcpy(p->w, problem->b, n * sizeof *x);
    ss_sparse_apply(problem->A, x, 1.0, p->w);
    return true;
}

/* ---- sweeps ----------------------------------------------------------------------------------------- */

/* w += column j of A times change */
static inline void push(planar *p, int j, double change)
{
    const ss_sparse *A = p->problem->A;
    int begin = A->start[j], end = A->start[j + 1];
    if (p->is_dense) {
        const double *column = A->value + begin;
        for (int i = 0; i < p->problem->size; i++) p->w[i] += column[i] * change;
    } else {
        for (int e = begin; e < end; e++) p->w[A->row[e]] += A->value[e] * change;
    }
}

/* One contact with the impulses of the others as they are (local/local_cone.c has the cases): its state, and
 * its impulse (n, t) in that state. r is its impulse now, w its velocity. */
static inline contact_state solve_one(const planar_contact *c, const double *r, const double *w, double *n,
                                      double *t)
{
    const double *a = c->a, *inverse = c->inverse;
    double q0 = w[0] - (a[0] * r[0] + a[1] * r[1]), q1 = w[1] - (a[2] * r[0] + a[3] * r[1]);
    *n = *t = 0.0;
    if (!(q0 < 0.0)) return OPEN;
    *n = -(inverse[0] * q0 + inverse[1] * q1);
    *t = -(inverse[2] * q0 + inverse[3] * q1);
    if (*n >= 0.0 && fabs(*t) <= c->mu * *n) return STICKS;

    // Against the velocity that the contact would have without friction.
    bool up = !(a[0] * q1 - a[2] * q0 > 0.0);
    double slope = up ? c->mu : -c->mu, stiff = a[0] + slope * a[1];
    *n = stiff > 0.0 ? -q0 / stiff : 0.0;
    *t = slope * *n;
    return up ? SLIDES_UP : SLIDES_DOWN;
}

/* Contact after contact, each solved with the newest impulses of the others. Returns the energy that changes;
 * *settled: no contact has another state than before. */
static double sweep(planar *p, double *x, bool *settled)
{
    double energy = 0.0, n, t;
    *settled = true;
    for (int k = 0; k < p->problem->block_count; k++) {
        const planar_contact *c = &p->contacts[k];
        double *r = x + 2 * k;
        contact_state state = solve_one(c, r, p->w + 2 * k, &n, &t);
        *settled &= p->states[k] == state;
        p->states[k] = (unsigned char)state;

        double dn = n - r[0], dt = t - r[1];
        if (dn != 0.0) push(p, 2 * k, dn);
        if (dt != 0.0) push(p, 2 * k + 1, dt);
        energy += 0.5 * (c->a[0] * dn * dn + c->a[3] * dt * dt);
        r[0] = n, r[1] = t;
    }
    return energy;
}

/* ---- states solved exactly -------------------------------------------------------------------------- */

enum { EXACT = 64 }; // active unknowns, at most: what a dense elimination does in a few sweeps' time

/* Elimination without exchange: principal parts of A are positive semidefinite, and those of sliding contacts
 * little else. False when a pivot is lost to rounding. Row by row, n x (n + 1), the last column is the right
 * hand side and then the solution. */
static bool eliminate(int n, double *M)
{
    static const double lost = 1e-11;
    int width = n + 1;
    for (int k = 0; k < n; k++) {
        const double *pivot = M + k * width;
        double largest = 0.0;
        for (int j = k; j < n; j++) largest = fmax(largest, fabs(pivot[j]));
        if (!(pivot[k] > lost * largest)) return false;
        for (int i = k + 1; i < n; i++) {
            double *row = M + i * width, factor = row[k] / pivot[k];
            if (factor == 0.0) continue;
            for (int j = k + 1; j <= n; j++) row[j] -= factor * pivot[j];
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        double sum = M[k * width + n];
        for (int j = k + 1; j < n; j++) sum -= M[k * width + j] * M[j * width + n];
        M[k * width + n] = sum / M[k * width + k];
    }
    return true;
}

static double slope_of(const planar *p, int k)
{
    return p->states[k] == SLIDES_UP ? p->contacts[k].mu : -p->contacts[k].mu;
}

/* x for the states, and w of it. False when there are too many unknowns or they do not determine it. */
static bool solve_states(planar *p, ss_arena *arena, double *x)
{
    const ss_problem *problem = p->problem;
    const ss_sparse *A = problem->A;
    int n = 0, *place = ss_arena_take_unset(arena, (size_t)problem->size, sizeof *place, "active unknowns");
    if (!place) return false;
    for (int k = 0; k < problem->block_count; k++) {
        place[2 * k] = p->states[k] == OPEN ? -1 : n++;
        place[2 * k + 1] = p->states[k] == STICKS ? n++ : -1;
    }
    if (n > EXACT) return false;
    double *M = ss_arena_take(arena, (size_t)(n * (n + 1)), sizeof *M, "active rows");
    if (n > 0 && !M) return false;
    int width = n + 1;
    for (int j = 0; j < problem->size; j++) {
        // the tangent of a sliding contact follows its normal
        bool slides = p->states[j / 2] >= SLIDES_UP, follows = slides && j % 2;
        int column = follows ? place[j - 1] : place[j];
        double factor = follows ? slope_of(p, j / 2) : 1.0;
        if (column < 0) continue;
        for (int e = A->start[j]; e < A->start[j + 1]; e++) {
            int row = place[A->row[e]];
            if (row >= 0) M[row * width + column] += factor * A->value[e];
        }
        if (place[j] >= 0) M[place[j] * width + n] = -problem->b[j];
    }
    if (!eliminate(n, M)) return false;
    memcpy(p->w, problem->b, (size_t)problem->size * sizeof *x);
    for (int k = 0; k < problem->block_count; k++) {
        double *r = x + 2 * k;
        r[0] = p->states[k] == OPEN ? 0.0 : M[place[2 * k] * width + n];
        r[1] = p->states[k] == OPEN     ? 0.0
               : p->states[k] == STICKS ? M[place[2 * k + 1] * width + n]
                                        : slope_of(p, k) * r[0];
        for (int i = 0; i < 2; i++) {
            if (r[i] != 0.0) push(p, 2 * k + i, r[i]);
        }
    }
    return true;
}

/* The states that the contacts ask for, each by itself. False when they are those x was solved with: then x
 * is the solution. */
static bool exchange(planar *p, const double *x)
{
    bool changes = false;
    double n, t;
    for (int k = 0; k < p->problem->block_count; k++) {
        contact_state state = solve_one(&p->contacts[k], x + 2 * k, p->w + 2 * k, &n, &t);
        changes |= p->states[k] != state;
        p->states[k] = (unsigned char)state;
    }
    return changes;
}

/* ---- all of it -------------------------------------------------------------------------------------- */

/* From x, whose states are set: true when x now solves the problem, and *status is that of the run. */
static bool finish(planar *p, ss_run *run, double *x, ss_status *status)
{
    enum { EXCHANGES = 6 };
    ss_arena_mark mark = ss_arena_get_mark(run->arena);
    bool changes = true, good = true;
    for (int k = 0; good && changes && k < EXCHANGES; k++) {
        ss_arena_reset(run->arena, mark);
        good = solve_states(p, run->arena, x);
        changes = good && exchange(p, x);
    }
    ss_arena_reset(run->arena, mark);
    if (!good || changes || ss_run_iteration(run, x, p->w)) return false;
    *status = ss_run_status(run);
    return true;
}

ss_auto_planar_end ss_auto_solve_planar(const ss_problem *problem, ss_run *run, double *x, ss_status *status)
{
    // Sweeps are left when their last PACE passes have not made the energy they change smaller by `fall`.
    enum { PACE = 4, MOST = 100, AT_ONCE = 4 };
    static const double fall = 0.05;
    size_t bytes = (size_t)problem->size * sizeof *x, states = (size_t)problem->block_count;
    ss_auto_planar_end end = {0};
    double past[PACE] = {0}, *kept = ss_arena_take_unset(run->arena, states, 2 * sizeof *kept, "swept x");
    planar p;
    if (!kept || !create(problem, x, run->arena, &p)) return end;
    for (int pass = 0; pass < MOST; pass++) {
        bool settled;
        double energy = sweep(&p, x, &settled);
        end.sweeps++;
        bool due = ss_run_due(run, energy);
        if (!ss_run_iteration(run, due ? x : NULL, due ? p.w : NULL)) {
            *status = ss_run_status(run);
            return end.is_over = true, end;
        }

        // The same states twice, not tried yet; a handful is tried at once.
        bool is_new = pass == 0 || memcmp(p.tried, p.states, states) != 0;
        if ((settled || problem->block_count <= AT_ONCE) && is_new) {
            memcpy(p.tried, p.states, states);
            memcpy(kept, x, bytes);
            if (finish(&p, run, x, status)) return end.is_over = end.is_exact = true, end;
            memcpy(x, kept, bytes);
            memcpy(p.states, p.tried, states);
            memcpy(p.w, problem->b, bytes);
            ss_sparse_apply(problem->A, x, 1.0, p.w);
        }
        if (energy == 0.0 || !isfinite(energy)) break;
        if (pass >= PACE && !(energy < fall * past[pass % PACE])) break;
        past[pass % PACE] = energy;
    }
    return end;
}
