/* Joints and normals directly, friction by sweeps, in turn: what AGX does.
 *
 *     direct     joints and normal impulses with the friction given: a problem with fixed bounds (pivoting.h)
 *     friction   some Gauss-Seidel sweeps over the tangents with the normals given: bounds mu x_N, discs
 *                |x_T| <= mu x_N, and discs mu_r x_N of rolling friction
 *
 * Where it ends both halves hold, and that is Coulomb's law, De Saxce's term and all, for it is the law of
 * the normals with the tangents given and of the tangents with the normals given. The direct half passes
 * loads through tall stacks and long chains at once and is exact; the sweeps are cheap. While the contacts
 * stay closed or open as they are, the direct half costs one solve with the factors of last time. Tangents
 * without a limit (mu = inf) are joints and go with them.
 *
 * The turns are Gauss-Seidel on two halves. Where friction carries what normals push (wedges, arches, tilted
 * walls) they creep, and with large friction run in circles; Anderson's mixing of the tangents helps against
 * the first, and the best iterate is kept against the second. There is no proof. The convex law is not a law
 * of halves and is not accepted: with the tangents given its normals would be held by them.
 *
 * References: Lacoursiere, Linde, Spook: a variational time-stepping scheme (2011); Servin, Wang,
 * Lacoursiere, Bodin, Examining the smooth and nonsmooth discrete element approaches to granular matter
 * (2014); Walker, Ni (2011).
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/option_rows.h"
#include "problem/laws.h"
#include "problem/gauge.h"
#include "solver/core/law.h"
#include "solver/local/local_cone.h"
#include "solver/pivot/pivoting.h"
#include "linalg/anderson.h"
#include "solver/sweep/sweep.h"

typedef struct splitting_options {
    int sweeps, mixing;
    double compliance;
} splitting_options;

static const ss_option options_table[] = {
    SS_ROW_INT(splitting_options, sweeps, "5", 1, 10000,
               "symmetric sweeps over the friction after every direct solve"),
    SS_ROW_INT(splitting_options, mixing, "5", 0, 16,
               "memory of Anderson acceleration, in rounds; 0 = no acceleration"),
    SS_ROW_REAL(
        splitting_options, compliance, "1e-8", 0, 1,
        "regularisation of the direct part, relative to its diagonal; further rounds remove its effect"),
    {0},
};

typedef struct halves {
    const ss_problem *problem;
    ss_run *run;
    /* the direct half */
    ss_problem *direct; // joints and normals, their matrix
    ss_pivoting pivoting;
    int *member; // the unknowns of the direct half, ascending
    bool *is_direct;
    double compliance;
    /* the friction half */
    ss_problem rows; // the problem by its matrix
    ss_sweep *sweep; // its cells are those with tangents
    int *tangent;    // their unknowns
    int tangents;
    ss_safeguarded_anderson mixing;
    double *before, *after; // tangents at the beginning and the end of a turn
    /* both */
    double *x, *w, *load;
    ss_best best; // x, by its energy
} halves;

/* ---- the direct half -------------------------------------------------------------------------------- */

/* Exchanges until no side is wrong, or for now enough of them: the next turn goes on. False when the matrix
 * is singular however compliant. */
static bool solve_direct(halves *h)
{
    enum { ENOUGH = 50 };
    static const double unfelt = 1e-14, softening = 0.1;
    const ss_problem *problem = h->problem;
    ss_pivoting *p = &h->pivoting;

    // b + A x_T, what the joints and normals have to carry.
    for (int i = 0; i < problem->size; i++) h->load[i] = h->is_direct[i] ? 0.0 : h->x[i];
    memcpy(h->w, problem->b, (size_t)problem->size * sizeof *h->w);
    ss_sparse_apply(problem->A, h->load, 1.0, h->w);
    for (int i = 0; i < p->n; i++) h->load[i] = h->w[h->member[i]] / p->s.load_unit[i];
    ss_pivoting_set_load(p, h->load);

    ss_pivoting_begin(p);
    for (int k = 0, last = -1; k < ENOUGH; k++) {
        while (!ss_pivoting_solve(p)) {
            if (p->face.shift >= 1e-3 || ss_run_late(h->run)) return false;
            ss_pivoting_set_compliance(p, fmax(100.0 * p->face.shift, 1e-10));
        }
        int wrong = ss_pivoting_wrong(p, &last);
        if (wrong == 0 || !ss_pivoting_exchange(p, wrong, last)) break;
    }
    for (int i = 0; i < p->n; i++)
        h->x[h->member[i]] = p->s.unit[i] * fmin(fmax(p->x[i], p->lower[i]), p->upper[i]);

    // The proximal centre follows, but not for what is rounding only: where contacts are redundant each move
    // would add to it. A compliance that was raised to get out of a cycle is lowered again.
    double apart = 0.0;
    for (int i = 0; i < p->n; i++) apart = fmax(apart, fabs(p->x[i] - p->centre[i]));
    if (p->face.shift * apart > unfelt * p->size) {
        for (int i = 0; i < p->n; i++) p->centre[i] = fmin(fmax(p->x[i], p->lower[i]), p->upper[i]);
    }
    ss_pivoting_set_compliance(p, fmax(h->compliance, softening * p->face.shift));
    return true;
}

/* ---- the friction half ------------------------------------------------------------------------------ */

typedef struct tangents {
    const ss_block *block;
    const double *A; // of the contact
} tangents;

/* The step of a contact in the sweep: its normal impulse stays, the tangents are solved for on their disc,
 * then the rolling part on its own. Where friction has no limit they stay as well. `q` is the load of all
 * other contacts. */
static void step_tangents(void *data, const double *q, double *r)
{
    const tangents *of = data;
    int size = of->block->size;
    for (int at = 1, count = ss_cone_tangents(size); at < size; at += count, count = 2) {
        double mu = ss_block_friction(of->block, at), B[9] = {1.0, 0.0, 0.0, 1.0}, c[3] = {0}, y[3];
        int width = count == 3 ? 3 : 2;
        if (isinf(mu)) continue;
        for (int i = 0; i < count; i++) {
            c[i] = q[at + i];
            for (int j = 0; j < size; j++) {
                double a = of->A[size * (at + i) + j];
                if (j >= at && j < at + count)
                    B[width * i + j - at] = a;
                else
                    c[i] += a * r[j];
            }
        }
        (count == 3 ? ss_ball_solve : ss_disc_solve)(B, c, mu * r[0], y);
        for (int i = 0; i < count; i++) r[at + i] = y[i];
    }
}

/* Of the cells only those that have tangents stay. The sweep reads rows of the matrix, where no cell depends
 * on another being visited. */
static bool make_friction(halves *h, int mixing, ss_arena *arena)
{
    static const double full = 1.0;
    int kept = 0;
    h->rows = *h->problem;
    h->rows.bodies = NULL;
    h->sweep = ss_sweep_create(&h->rows, SS_OUTER_CONES, 0, arena);
    if (!h->sweep) return false;
    ss_operator *A = &h->sweep->A;
    for (int c = 0; c < A->cell_count; c++) {
        bool has_tangents = false;
        for (int i = 0; i < A->cells[c].size; i++) has_tangents |= !h->is_direct[A->cells[c].first + i];
        if (!has_tangents) continue;
        ss_cell *cell = &A->cells[kept++];
        *cell = A->cells[c];
        const ss_block *block = &h->problem->blocks[cell->block];
        if (block->law == SS_LAW_CONE) {
            tangents *of = ss_arena_take_unset(arena, 1, sizeof *of, "tangents");
            if (!of) return false;
            *of = (tangents){block, cell->own};
            cell->step = step_tangents;
            cell->data = of;
        } else if (!ss_row_step_set(&h->rows, cell, 1.0 / h->problem->diagonal[cell->first], &full, arena)) {
            return false;
        }
    }
    A->cell_count = kept;
    return ss_safeguarded_anderson_create(h->tangents, mixing, arena, &h->mixing);
}

/* ---- turns ------------------------------------------------------------------------------------------ */

static ss_status iterate(halves *h, int sweeps, ss_run *run, double *x)
{
    enum { STUCK = 300 };
    const ss_problem *problem = h->problem;
    int n = problem->size;
    size_t bytes = (size_t)n * sizeof *x;
    ss_status status = SS_MAX_ITERATIONS;
    ss_watch watch = {0};
    while (status == SS_MAX_ITERATIONS) {
        // Joints and normals with the friction given, then friction with these given.
        for (int i = 0; i < h->tangents; i++) h->before[i] = h->x[h->tangent[i]];
        bool good = solve_direct(h);
        for (int k = 0; good && k < sweeps && !ss_run_late(h->run); k++) {
            if (!(ss_sweep_pass(h->sweep, SS_SWEEP_SYMMETRIC, h->x) > 0.0)) break;
        }

        // The error; x is kept when it is the best.
        double energy = 0.0;
        memcpy(h->w, problem->b, bytes);
        if (good) ss_sparse_apply(problem->A, h->x, 1.0, h->w);
        for (int k = 0; good && k < problem->block_count; k++)
            energy += ss_gauge_of_block(problem, problem->diagonal, k, h->x, h->w, SS_WANT_ENERGY).energy;
        if (!good || !isfinite(energy)) {
            status = h->best.error < INFINITY ? SS_STALLED : SS_FAILED;
            break;
        }
        ss_best_keep(&h->best, n, h->x, energy);

        memcpy(x, h->x, bytes);
        if (!ss_run_iteration(run, x, h->w)) {
            status = ss_run_status(run);
            if (status == SS_CONVERGED) return status;
            break;
        }
        if (energy == 0.0) return SS_CONVERGED;
        if (ss_watch_stalled(&watch, energy, STUCK)) {
            // Where there is no solution the direct half grows without bound.
            for (int i = 0; i < n; i++) h->load[i] = h->x[i] - h->best.x[i];
            status = ss_run_ray(run, h->load) ? SS_RAY : SS_STALLED;
        }

        // From the tangents of this turn to those of the next.
        for (int i = 0; i < h->tangents; i++) h->after[i] = h->x[h->tangent[i]];
        ss_safeguarded_anderson_next(&h->mixing, h->before, h->after);
        for (int i = 0; i < h->tangents; i++) h->x[h->tangent[i]] = h->after[i];
    }
    if (h->best.error < INFINITY) memcpy(x, h->best.x, bytes);
    return status;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const splitting_options *set = options;
    size_t n = (size_t)problem->size;
    halves h = {.problem = problem, .run = run, .compliance = set->compliance, .best.error = INFINITY};
    ss_status status = SS_FAILED;
    h.member = ss_arena_take(run->arena, n, sizeof *h.member, "halves");
    h.tangent = ss_arena_take(run->arena, n, sizeof *h.tangent, "halves");
    h.is_direct = ss_arena_take(run->arena, n, sizeof *h.is_direct, "halves");
    if (!h.member || !h.tangent || !h.is_direct ||
        !ss_arena_take_vectors(run->arena, n, "halves",
                               (double **[]){&h.x, &h.w, &h.load, &h.best.x, &h.before, &h.after, NULL}))
        return SS_FAILED;

    // Which unknown belongs to which half.
    for (int k = 0, directs = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = 0; i < block->size; i++) {
            int at = block->first + i;
            bool is_tangent = block->law == SS_LAW_CONE ? i > 0 && !isinf(ss_block_friction(block, i))
                                                        : problem->partner[at] >= 0;
            h.is_direct[at] = !is_tangent;
            if (is_tangent)
                h.tangent[h.tangents++] = at;
            else
                h.member[directs++] = at;
        }
    }
    memcpy(h.x, x, n * sizeof *x);
    ss_problem_project(problem, h.x);

    // Both halves, each of which takes as long as a turn; the direct one begins with the sides of x.
    h.direct = ss_problem_part(problem, problem->size - h.tangents, h.member);
    if (h.direct && ss_pivoting_create(h.direct, set->compliance, run, &h.pivoting) && !ss_run_late(run) &&
        make_friction(&h, set->mixing, run->arena) && !ss_run_late(run)) {
        ss_pivoting *p = &h.pivoting;
        memcpy(p->lower, p->s.lower, (size_t)p->n * sizeof *p->lower);
        memcpy(p->upper, p->s.upper, (size_t)p->n * sizeof *p->upper);
        for (int i = 0; i < p->n; i++)
            p->centre[i] = fmin(fmax(h.x[h.member[i]] / p->s.unit[i], p->lower[i]), p->upper[i]);
        ss_pivoting_start(p);
        status = iterate(&h, set->sweeps, run, x);
        ss_run_note(run, "%d factorisations", p->factorizations);
    }
    ss_pivoting_free(&h.pivoting);
    ss_problem_destroy(h.direct);
    return status;
}

const ss_solver ss_solver_normal_friction_splitting = {
    .abi = SS_ABI,
    .name = "normal-friction-splitting",
    .summary = "alternates a direct solve of joints and normals by pivoting with friction by sweeps",
    .reference = "Lacoursiere, Linde 2011; Servin et al. 2014; Walker, Ni 2011",
    .weakness = "slow if friction carries load from the normals; may cycle with large friction",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE,
    .traits = SS_NEEDS_DIAGONAL | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = options_table,
    .options_size = sizeof(splitting_options),
    .solve = solve,
};
