/* The problem as a convex quadratic program, min 1/2 x'A x + b'x over boxes and friction cones (the convex
 * law), by gradient projection and conjugate gradients.
 *
 *     off the face     x <- P(x - alpha g), g = A x + b: changes many bounds at once
 *     along the face   x <- P(x + alpha d), (A + bending) d = -g on the face, by conjugate gradients or, when
 *                      the face has settled or they take long, by a direct solve
 *
 * alpha is halved until the function falls enough. Which of the two comes next is decided by which part of
 * the gradient is larger. Without cones it is exact after finitely many faces; with cones the last steps are
 * Newton's. Redundant contacts do no harm. Works without a matrix.
 *
 * Fails when A is not positive semidefinite or the function has no lower bound (equations that
 * contradict each other).
 *
 * References: More, Toraldo, SIAM J. Optim. 1 (1991); Dostal, Optimal Quadratic Programming
 * Algorithms (2009).
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "base/option_rows.h"
#include "linalg/active_set_factor.h"
#include "linalg/vector.h"
#include "solver/core/run_state.h"
#include "solver/pivot/active_manifold.h"

/* Loads and diagonal are of size 1. */
static const double settled = 1e-14;   // |x - P(x - g)| next to 1 + max |x|
static const double redundancy = 1e-9; // on the diagonal of a direct solve; refinement removes its effect
static const double enough = 0.01;     // share of the promised decrease that a step must bring

typedef struct qp_options {
    bool direct;
} qp_options;

static const ss_option options_table[] = {
    SS_ROW_BOOL(qp_options, direct, "true",
                "solve directly once the face has settled; false = conjugate gradients only, matrix-free"),
    {0},
};

typedef struct program {
    ss_scaled s;
    ss_active_manifold face;
    ss_run *run;
    bool has_direct, prefers_direct, curved;
    int n;
    double *x, *g; // feasible point, gradient
    double *trial, *trial_g;
    double *step;                  // P(x - g) - x, later the direction of a search
    double *residual, *z, *p, *hp; // conjugate gradients
    double *scratch;               // of products
    bool *in_face;
    double error, error2, size; // max norm and square of P(x - g) - x; 1 + max |x|
    uint64_t last_face;
    int visits;     // of this face in a row
    int halvings;   // of the last search
    double damping; // of direct solves
    double forcing; // how well the equations of the face are solved
    int stuck;      // iterations since the error was last improved
    double cost;    // s of a product, with a deadline
} program;

/* Products take almost all of the time: none is begun that cannot end, with what follows it, before the
 * deadline. */
static bool lacks_time(program *q)
{
    return ss_run_late(q->run) || ss_run_lacks(q->run, 1.5 * q->cost);
}

static void multiply(program *q, const double *x, double *product)
{
    bool is_timed = ss_run_deadline(q->run) < INFINITY;
    double began = is_timed ? ss_clock_seconds() : 0.0;
    ss_scaled_multiply(&q->s, x, q->scratch, product);
    if (is_timed) q->cost = ss_clock_seconds() - began;
}

static void find_gradient(program *q, const double *x, double *g)
{
    multiply(q, x, g);
    for (int i = 0; i < q->n; i++) g[i] += q->s.b[i];
}

static void measure(program *q)
{
    q->error = q->error2 = 0.0;
    q->size = 1.0;
    for (int i = 0; i < q->n; i++) q->step[i] = q->x[i] - q->g[i];
    ss_active_manifold_project(&q->s, q->step);
    for (int i = 0; i < q->n; i++) {
        q->step[i] -= q->x[i];
        q->error = fmax(q->error, fabs(q->step[i]));
        q->error2 += q->step[i] * q->step[i];
        q->size = fmax(q->size, 1.0 + fabs(q->x[i]));
    }
}

typedef enum search_kind { OFF_THE_FACE, ALONG_THE_FACE } search_kind;

/* The first of P(x + alpha d), P(x + alpha d/2), ... that brings enough; no need to go below `least`. The
 * change of the function is written with differences, 1/2 (g + g') . dx, which rounding does not spoil
 * near the solution. */
static bool search(program *q, search_kind how, const double *direction, double alpha, double least)
{
    enum { HALVINGS = 40 };
    for (int k = 0; k < HALVINGS && !lacks_time(q); k++, alpha *= 0.5) {
        double promise = 0.0, change = 0.0;
        if (alpha < least) {
            alpha = least;
            k = HALVINGS;
        }
        for (int i = 0; i < q->n; i++) q->trial[i] = q->x[i] + alpha * direction[i];
        if (how == ALONG_THE_FACE) ss_active_manifold_catch_apex(&q->s, q->trial);
        ss_active_manifold_project(&q->s, q->trial);
        for (int i = 0; i < q->n; i++) promise += q->g[i] * (q->trial[i] - q->x[i]);
        if (!(promise < 0.0)) continue;
        find_gradient(q, q->trial, q->trial_g);
        for (int i = 0; i < q->n; i++) change += 0.5 * (q->g[i] + q->trial_g[i]) * (q->trial[i] - q->x[i]);
        q->halvings = k;
        if (change <= enough * promise) return true;
    }
    return false;
}

/* ---- along the face --------------------------------------------------------------------------------- */

/* z = (1 + bending)^-1 r: near the apex of a cone the surface bends without limit */
static double precondition(program *q)
{
    memcpy(q->z, q->residual, (size_t)q->n * sizeof *q->z);
    ss_active_manifold_unbend(&q->face, q->z);
    return ss_dot(q->n, q->residual, q->z);
}

/* Conjugate gradients for (A + bending) d = residual on the face, d in q->step. */
static void solve_by_gradients(program *q)
{
    enum { PATIENCE = 30, MANY = 50 };
    int n = q->n;
    double *d = q->step, *r = q->residual, *z = q->z, *p = q->p, *hp = q->hp;
    double square = precondition(q), goal = q->forcing * q->forcing * square;
    memset(d, 0, (size_t)n * sizeof *d);
    memcpy(p, z, (size_t)n * sizeof *p);
    int most = q->has_direct ? MANY : n + PATIENCE;
    for (int k = 0; k < most && square > goal && !lacks_time(q); k++) {
        q->prefers_direct = q->has_direct && k == most - 1; // badly conditioned
        multiply(q, p, hp);
        ss_active_manifold_bend(&q->face, p, hp);
        ss_active_manifold_flatten(&q->face, hp);
        double curvature = ss_dot(n, p, hp), length = ss_dot(n, p, p);
        if (!(curvature > 1e-15 * length)) { // downhill without end: bounds decide
            if (k == 0) memcpy(d, p, (size_t)n * sizeof *d);
            for (int i = 0; i < n && k == 0; i++) d[i] *= 1e6 * q->size / sqrt(length);
            return;
        }
        double alpha = square / curvature, before = square;
        for (int i = 0; i < n; i++) d[i] += alpha * p[i], r[i] -= alpha * hp[i];
        square = precondition(q);
        for (int i = 0; i < n; i++) p[i] = z[i] + square / before * p[i];
    }
}

/* (Q'A Q + bending + damping) y = Q'residual, d = Q y in q->step, with the coordinates Q along the face;
 * refinement removes the effect of the least damping. False when out of memory, late, or singular. */
static bool solve_directly(program *q)
{
    enum { REFINEMENTS = 10 };
    int n = q->n;
    size_t bytes = (size_t)n * sizeof *q->step;
    ss_run *run = q->run;
    ss_arena_mark mark = ss_arena_get_mark(run->arena);
    ss_active_set_factor face = {0};
    double *stiffness = q->p;
    ss_sparse *Q = ss_active_manifold_coordinates(&q->face, q->in_face, stiffness);
    ss_sparse *transposed = Q && !ss_run_late(run) ? ss_sparse_transpose(Q, NULL) : NULL;
    ss_sparse *half = transposed ? ss_sparse_multiply(transposed, &q->s.A, NULL) : NULL;
    ss_sparse *matrix = half && !ss_run_late(run) ? ss_sparse_multiply(half, Q, NULL) : NULL;
    ss_sparse_destroy(half);
    ss_sparse_destroy(transposed);
    for (int j = 0; matrix && j < n; j++) {
        for (int e = matrix->start[j]; e < matrix->start[j + 1]; e++) {
            if (matrix->row[e] == j) matrix->value[e] += stiffness[j];
        }
    }

    bool good = matrix && ss_active_set_factor_create(matrix, true, q->damping, run->arena, &face) &&
                ss_run_factorise(run, &face, q->in_face);
    if (good) {
        double *right = q->trial_g, *y = q->trial;
        memset(right, 0, bytes);
        ss_sparse_apply_transposed(Q, q->residual, 1.0, right);
        ss_active_set_refine(&face, right, q->damping > redundancy ? 1 : REFINEMENTS, q->hp, q->z, y);
        memset(q->step, 0, bytes);
        ss_sparse_apply(Q, y, 1.0, q->step);
    }
    ss_active_set_factor_destroy(&face);
    ss_sparse_destroy(matrix);
    ss_sparse_destroy(Q);
    ss_arena_reset(run->arena, mark);
    return good;
}

static bool move_along(program *q)
{
    // Directly once the face has settled, or where conjugate gradients take long.
    bool again = q->face.hash == q->last_face;
    q->visits = again ? q->visits + 1 : 0;
    q->forcing = again ? fmax(1e-2 * q->forcing, 1e-9) : 0.1;
    q->last_face = q->face.hash;
    bool direct = q->has_direct && (q->visits > 0 || q->prefers_direct) && solve_directly(q);
    if (!direct) solve_by_gradients(q);

    // Up to the first bound the way is straight and downhill: no need to go back beyond that.
    double way = q->curved ? 0.0 : 1.0;
    for (int i = 0; i < q->n && !q->curved; i++) {
        double room = q->step[i] > 0.0 ? q->s.upper[i] - q->x[i] : q->x[i] - q->s.lower[i];
        if (room < way * fabs(q->step[i])) way = room / fabs(q->step[i]);
    }
    bool found = search(q, ALONG_THE_FACE, q->step, 1.0, way);

    // Redundant contacts leave directions without curvature, along which a full step goes far beyond where a
    // curved face looks like its tangent.
    if (!direct || !q->curved) return found;
    if (q->halvings > 1) q->damping = fmin(1.0, fmax(30.0 * q->damping, 1e-6));
    if (q->halvings == 0) q->damping = fmax(0.1 * q->damping, redundancy);
    return found;
}

/* ---- the method ------------------------------------------------------------------------------------- */

enum { SOME = 5 };

/* The next point in trial, its gradient in trial_g; false when there is none. */
static bool advance(program *q)
{
    // The part of the gradient along the face, and the square of the step that it would bring: bounds close
    // by make it short.
    double along = 0.0;
    ss_active_manifold_find(&q->face, q->x, q->g);
    for (int i = 0; i < q->n; i++) q->residual[i] = -q->g[i];
    ss_active_manifold_flatten(&q->face, q->residual);
    for (int i = 0; i < q->n; i++) q->trial[i] = q->x[i] + q->residual[i];
    ss_active_manifold_project(&q->s, q->trial);
    for (int i = 0; i < q->n; i++) along += (q->trial[i] - q->x[i]) * (q->trial[i] - q->x[i]);

    // The larger part of the gradient says where to go. When that does not help for a while on curved faces,
    // both in turn: bounds are met exactly, but a surface may be left and met again and again.
    bool stays = 4.0 * along >= q->error2 && (!q->curved || q->stuck < SOME || q->stuck % 2);
    if (stays && move_along(q)) return true;

    // Off the face, as far as is exact along the first piece of the way.
    measure(q);
    if (!lacks_time(q)) {
        multiply(q, q->step, q->hp);
        double curvature = ss_dot(q->n, q->step, q->hp), slope = -ss_dot(q->n, q->g, q->step);
        double alpha = curvature * 1e4 > slope ? slope / curvature : 1e4;
        for (int i = 0; i < q->n; i++) q->p[i] = -q->g[i];
        if (search(q, OFF_THE_FACE, q->p, fmax(alpha, 0.1), 0.0)) return true;
    }
    return !stays && along > 0.0 && move_along(q);
}

/* On curved faces a decrease that rounding hides is the square of the error. */
static bool is_good(const program *q)
{
    return ss_scaled_is_solved(q->curved ? 0.03 * q->error : q->error, q->size);
}

static ss_status iterate(program *q, ss_run *run, double *x)
{
    double best_error = INFINITY;
    for (int k = 1;; k++) {
        measure(q);
        if (!isfinite(q->error2)) return SS_FAILED;
        if (q->error <= settled * q->size) return SS_CONVERGED;

        // Nothing below 0.1 % for long; at what may well be the end, sooner.
        q->stuck = q->error < 0.999 * best_error ? 0 : q->stuck + 1;
        best_error = fmin(best_error, q->error);
        bool crawls = is_good(q) ? q->stuck > 2 * SOME : q->stuck > 200 && q->stuck > k / 4;
        if (crawls || !advance(q)) return is_good(q) ? SS_CONVERGED : SS_STALLED;
        SS_SWAP(double *, q->x, q->trial);
        SS_SWAP(double *, q->g, q->trial_g);
        if (ss_run_measures(run)) ss_scaled_restore(&q->s, q->x, x);
        if (!ss_run_iteration(run, x, NULL)) return ss_run_status(run);
    }
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const qp_options *set = options;
    ss_arena *arena = run->arena;
    size_t n = (size_t)problem->size;
    program q = {.n = problem->size, .run = run, .damping = redundancy};

    // Direct solves need a matrix; where there is none, we make one for ourselves, if there is time for it
    // and for as much again.
    ss_problem own = *problem;
    bool has_time = !ss_deadline_misses(ss_run_deadline(run), 2.0 * ss_run_matrix_cost(problem));
    bool makes_matrix = set->direct && !problem->A && has_time && ss_problem_need_matrix(&own, NULL);
    q.curved = ss_problem_laws(&own) & SS_LAW_CONVEX;
    q.has_direct = set->direct && own.A;

    ss_status status = SS_FAILED;
    q.in_face = ss_arena_take(arena, n, sizeof *q.in_face, "face");
    if (q.in_face && ss_scaled_create(&own, arena, &q.s) &&
        ss_arena_take_vectors(
            arena, n, "vectors",
            (double **[]){&q.x, &q.g, &q.trial, &q.trial_g, &q.step, &q.residual, &q.z, &q.p, &q.hp, NULL}) &&
        (q.scratch = ss_arena_take(arena, ss_scaled_scratch(&q.s), sizeof *q.scratch, "velocities")) &&
        ss_active_manifold_create(&q.s, arena, &q.face)) {
        ss_scaled_start(&q.s, x, q.x);
        ss_active_manifold_project(&q.s, q.x);
        find_gradient(&q, q.x, q.g);
        status = iterate(&q, run, x);
        ss_scaled_restore(&q.s, q.x, x);
    }
    if (makes_matrix) ss_sparse_destroy(own.A);
    return status;
}

const ss_solver ss_solver_qp = {
    .abi = SS_ABI,
    .name = "qp",
    .summary =
        "convex quadratic program: gradient projection, conjugate gradients on faces, direct solve at the "
        "end",
    .reference = "More, Toraldo 1991; Dostal 2009",
    .weakness = "needs a symmetric positive semidefinite matrix; convex friction law only, not Coulomb's",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_NEEDS_SYMMETRIC | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = options_table,
    .options_size = sizeof(qp_options),
    .solve = solve,
};
