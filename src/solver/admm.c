/* Alternating direction method of multipliers: a linear system of all bodies and the laws of the contacts one
 * by one, in turn. The problem, w = A x + b and a law for every row and contact (pgs.c), is scaled to pure
 * numbers and a diagonal of about 1 (problem/space.h), u = W r + q; all that follows has no unit. A node of
 * that space is what shares a law: a contact, or a row with those whose bounds follow it. Impulses r have two
 * copies, x and z, and the problem is split in two, W x + q = -lambda and the laws between z and lambda, held
 * together by x = z:
 *
 *     x = z + d,  (W + S) d = -(W z + q + lambda)            a linear system, the same until S changes
 *     y = z + omega d + lambda / S,  z <- p(y),  lambda <- S (y - z)             contact by contact
 *
 * S > 0 is diagonal: rho, a multiple of the unit diagonal, but tiny in rows without an inequality. omega is
 * the option relaxation, 1 unless set, and always 1 in such rows. p(y) solves each contact alone with W
 * replaced by S (newton/maps.h): for boxes and the convex law a projection, for Coulomb's law the normal part
 * on [0, inf), then the tangents on the disc that it allows. z obeys the bounds, -lambda is from the first
 * step on its velocity by the laws, and what is left to do is |W z + q + lambda|, which is also a bound for
 * the natural map. This is the error that is reported: when it has fallen enough the driver measures its stop
 * rule, and when it has not fallen for 5000 steps the run has stalled (core/progress.h). The system is solved
 * for the change d, so that rounding, amplified by a small S, goes with the error and not with z. Its
 * factors, in the velocities of the bodies (splitting/shifted_system.h), are used again and again: an
 * iteration is a product and a solve. rho is adapted to let both halves of the error fall together:
 *
 *     rho <- rho sqrt(|x - z| / |S (z - z_before)| * sqrt(|lambda| / |z|))
 *
 * z and lambda, and so the next y, are functions of y, which Anderson's mixing extrapolates
 * (linalg/anderson.h). Only bounds that follow a row of another node depend on more: p takes the partner from
 * the newest z, which at a fixed point is the same.
 *
 * Impulses reach across the whole structure in one iteration; that is what tall stacks need, where sweeps
 * pass the weight down one course at a time. For boxes and the convex law this is a proximal method with a
 * proof. Coulomb's law is not monotone: De Saxce's term is not lagged but inside the law of each contact,
 * which helps; still sliding piles converge slowly, or not at all. Redundant contacts that ask for slightly
 * different velocities make it creep.
 *
 * References: Boyd, Parikh, Chu, Peleato, Eckstein, Distributed optimization and statistical learning via
 * the alternating direction method of multipliers (2011); Zhang, O'Donoghue, Boyd, Globally convergent
 * type-I Anderson acceleration for nonsmooth fixed-point iterations (2020); Carpentier, Montaut, Le Lidec,
 * From compliant to rigid contact simulation: a unified and efficient approach (2024); Banjac, Goulart,
 * Stellato, Boyd, Infeasibility detection in the alternating direction method of multipliers for convex
 * optimization (2019).
 */
#include "solver/splitting/splitting.h"

#include <math.h>
#include <string.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "base/option_rows.h"
#include "solver/core/run_state.h"
#include "solver/newton/maps.h"
#include "solver/core/progress.h"

static const ss_option options_table[] = {
    SS_ROW_REAL(ss_splitting_options, rho, "0.01", 1e-7, 1e4,
                "initial penalty parameter, relative to the diagonal of the matrix"),
    SS_ROW_BOOL(ss_splitting_options, adaptive, "true",
                "adapt rho if primal and dual residual decrease at different rates; each change costs a "
                "factorisation"),
    SS_ROW_REAL(ss_splitting_options, relaxation, "1", 0.1, 1.9, "relaxation factor of a step"),
    SS_ROW_INT(ss_splitting_options, mixing, "5", 0, 16,
               "memory of Anderson acceleration, in steps; 0 = no acceleration"),
    {0},
};

/* ---- the start -------------------------------------------------------------------------------------- */

/* z = p(y); the bounds that follow a row of another node follow s->z, the newest there is. */
static void project(const ss_splitting *s, const double *y, double *z)
{
    for (int k = 0; k < s->space->node_count; k++) {
        const ss_node *node = &s->space->nodes[k];
        double p[SS_NODE_MAX];
        ss_newton_project(s->space, node, y + node->first, s->z, p, NULL);
        memcpy(z + node->first, p, (size_t)node->size * sizeof *p);
    }
}

/* u = W z + q, the residual -(u + lambda) and its length. */
static void update_residual(ss_splitting *s)
{
    double sum = 0.0;
    ss_space_velocity(s->space, s->z, s->u);
    for (int i = 0; i < s->space->size; i++) {
        s->residual[i] = -(s->u[i] + s->lambda[i]);
        sum += s->residual[i] * s->residual[i];
    }
    s->error = sqrt(sum);
}

bool ss_splitting_create(const ss_space *space, const ss_splitting_options *set, const double *r,
                         ss_arena *arena, ss_splitting *s)
{
    size_t n = (size_t)space->size;
    *s = (ss_splitting){.set = *set,
                        .space = space,
                        .arena = arena,
                        .rho = set->rho,
                        .checked = INFINITY,
                        .deadline = INFINITY};
    s->is_free = ss_arena_take(arena, n, sizeof *s->is_free, "free rows");
    if (!s->is_free ||
        !ss_arena_take_vectors(arena, n, "splitting",
                               (double **[]){&s->shift, &s->z, &s->lambda, &s->u, &s->residual, &s->d, &s->y,
                                             &s->image, &s->trial, NULL}) ||
        !ss_safeguarded_anderson_create(space->size, set->mixing, arena, &s->mixing))
        return false;

    // Rows that know no inequality.
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        for (int i = node->first; node->law == SS_LAW_BOX && i < node->first + node->size; i++)
            s->is_free[i] = isinf(space->lower[i]) && isinf(space->upper[i]) && space->partner[i] < 0;
    }

    // At a solution u = -lambda, and anywhere lambda = z - u - p(z - u) is one that the laws allow; then the
    // residual -(u + lambda) is p(z - u) - z, so that the error starts as the natural map itself.
    memcpy(s->z, r, n * sizeof *r);
    project(s, s->z, s->z);
    ss_space_velocity(s->space, s->z, s->u);
    for (size_t i = 0; i < n; i++) s->y[i] = s->z[i] - s->u[i];
    project(s, s->y, s->trial);
    for (size_t i = 0; i < n; i++) s->lambda[i] = s->is_free[i] ? 0.0 : s->y[i] - s->trial[i];
    update_residual(s);
    return true;
}

void ss_splitting_free(ss_splitting *s)
{
    ss_shifted_system_free(s->shifted);
    s->shifted = NULL;
}

/* ---- rho -------------------------------------------------------------------------------------------- */

static bool factor(ss_splitting *s)
{
    static const double free_shift = 1e-6; // the smaller the better, but for rounding
    // seconds per group until the first front of the first matrix, measured on pyramids of cubes: a matrix
    // that misses the deadline is not begun
    static const double per_group = 8e-7;
    s->is_late =
        !s->shifted &&
        ss_deadline_misses(s->deadline, per_group * (s->space->levers ? s->space->levers->group_count : 0));
    if (s->is_late) return false;
    if (!s->shifted) s->shifted = ss_shifted_system_create(s->space, s->arena);
    if (!s->shifted) return false;
    ss_shifted_system_set_deadline(s->shifted, s->deadline);
    ss_shifted_system_set_team(s->shifted, s->team);
    for (int i = 0; i < s->space->size; i++) s->shift[i] = s->is_free[i] ? fmin(free_shift, s->rho) : s->rho;
    s->factorizations++;
    ss_safeguarded_anderson_forget(&s->mixing); // with another S, y means something else
    s->has_y = false;
    s->is_factored = ss_shifted_system_factor(s->shifted, s->shift);
    s->is_late = ss_shifted_system_is_late(s->shifted);
    return s->is_factored;
}

/* After a factorisation it takes some steps to see whether it was a good one, and more when there were many.
 * True when rho has changed; the plain step is made then. */
static bool adapt(ss_splitting *s)
{
    enum { SOON = 10, LATER = 25, MANY = 3 };
    static const double band = 3.0, narrow = 1.2; // a smaller change is not worth a factorisation
    static const double jump = 20.0;              // of rho at once
    static const double slowly = 0.5;             // the error since the last look, at least
    static const double least_rho = 1e-7, largest_rho = 1e4;
    if (!s->set.adaptive || ++s->since < (s->factorizations > MANY ? LATER : SOON)) return false;
    s->since = 0;
    project(s, s->image, s->trial);

    // By how much rho should change: by the root of |x - z| / |S (z - z_before)| of a plain step, both taken
    // as they are, or relative to |z| and |lambda|: the inner root is the geometric mean of these two rules.
    // (The sums are squares.)
    double primal = 0.0, dual = 0.0, size = 0.0, load = 0.0;
    for (int i = 0; i < s->space->size; i++) {
        if (s->is_free[i]) continue;
        double apart = s->z[i] + s->d[i] - s->trial[i], moved = s->rho * (s->trial[i] - s->z[i]);
        double lambda = s->rho * (s->image[i] - s->trial[i]);
        primal += apart * apart;
        dual += moved * moved;
        size += s->trial[i] * s->trial[i];
        load += lambda * lambda;
    }
    bool is_known = dual > 0.0 && size > 0.0;
    double change = is_known ? sqrt(sqrt(primal / dual * sqrt(load / size))) : 1.0, width = band;

    // Where the error hardly falls, rho goes further, and for less.
    if (s->error > slowly * s->checked) {
        change *= change;
        width = narrow;
    }
    s->checked = s->error;
    if (!(change > width || change < 1.0 / width)) return false;
    double rho = s->rho * fmin(fmax(change, 1.0 / jump), jump);
    rho = fmin(fmax(rho, least_rho), largest_rho);
    if (rho == s->rho) return false;
    for (int i = 0; i < s->space->size; i++) s->lambda[i] = s->shift[i] * (s->image[i] - s->trial[i]);
    memcpy(s->z, s->trial, (size_t)s->space->size * sizeof *s->z);
    s->rho = rho;
    s->is_factored = false;
    return true;
}

/* ---- the method ------------------------------------------------------------------------------------- */

bool ss_splitting_step(ss_splitting *s)
{
    int n = s->space->size;

    // All bodies: d, and with it the image of y.
    if (!s->is_factored && !factor(s)) return false;
    ss_shifted_system_solve(s->shifted, s->residual, s->d);
    for (int i = 0; i < n; i++) {
        double stride = s->is_free[i] ? 1.0 : s->set.relaxation;
        s->image[i] = s->z[i] + stride * s->d[i] + s->lambda[i] / s->shift[i];
    }

    // Contact by contact: the laws, unless the plain step was made already for another rho.
    if (!adapt(s)) {
        if (s->has_y) ss_safeguarded_anderson_next(&s->mixing, s->y, s->image);
        memcpy(s->y, s->image, (size_t)n * sizeof *s->y);
        s->has_y = true;
        project(s, s->y, s->z);
        for (int i = 0; i < n; i++) s->lambda[i] = s->shift[i] * (s->y[i] - s->z[i]);
    }
    update_residual(s);
    return true;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    enum { STUCK = 5000, RAY_EVERY = 25 };
    static const double hardly = 0.5;
    size_t bytes = (size_t)problem->size * sizeof *x;
    ss_space *space = ss_space_create(problem, run->arena);
    double *start = ss_arena_take_unset(run->arena, (size_t)problem->size, sizeof *start, "start");
    double *before = ss_arena_take_unset(run->arena, (size_t)problem->size, sizeof *before, "y before");
    ss_splitting s;
    ss_progress progress;
    if (!space || !start || !before || !ss_progress_start(space, run, x, &progress)) return SS_FAILED;
    ss_space_enter(space, x, start);
    bool good = ss_splitting_create(space, options, start, run->arena, &s), is_ray = false;
    s.deadline = ss_run_deadline(run);
    s.team = run->team;

    double error_before = INFINITY; // at the last of these steps
    for (int step = 1, rays = 0; good && !is_ray && ss_progress_report(&progress, s.z, s.error, STUCK);
         step++) {
        // Where there is no solution the steps become all the same, and a ray: tested now and then, when the
        // error does not fall.
        bool tests_ray = step % RAY_EVERY == 0 && s.error > hardly * error_before && s.has_y;
        if (step % RAY_EVERY == 0) error_before = s.error;
        if (tests_ray) memcpy(before, s.y, bytes);

        // A step that changed rho has left y as it was, and shows nothing.
        good = ss_splitting_step(&s);
        if (!good || !tests_ray || !s.is_factored) continue;
        rays = ss_progress_drifts(&progress, before, s.y) ? rays + 1 : 0;
        is_ray = rays > 1; // Coulomb's law may find a way out of the first
    }

    // The status is that of the last report or, if the last test found one, SS_RAY; a failed step has none.
    // Where it failed because the time was up, the driver makes "time limit" of SS_FAILED (ss_run_outcome).
    if (!good && s.is_late) ss_run_give_up(run);
    ss_splitting_free(&s);
    if (!good) progress.status = SS_FAILED;
    return ss_progress_end(&progress);
}

const ss_solver ss_solver_admm = {
    .abi = SS_ABI,
    .name = "admm",
    .summary = "splitting method: alternates a linear system of all bodies and projections per contact; "
               "accelerated",
    .reference = "Boyd et al. 2011; Zhang, O'Donoghue, Boyd 2020; Carpentier et al. 2024",
    .weakness = "slow or failing on sliding piles, because Coulomb's law is not monotone; slow if redundant "
                "contacts contradict each other",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = options_table,
    .options_size = sizeof(ss_splitting_options),
    .solve = solve,
};
