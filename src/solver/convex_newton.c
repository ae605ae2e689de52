/* Newton's method on the velocities of all bodies, for boxes, joints and the convex law of friction: with v
 * the change of velocity that the impulses make, H the levers of the contacts (problem/space.h) and P the
 * projection on the laws,
 *
 *     min over v   1/2 |v|^2 + 1/(2k) |P(y)|^2,    y = g - k (H v + q)
 *
 * is smooth and strictly convex. Its gradient is v - H'p with p = P(y), its second derivative 1 + k H' P'(y)
 * H, sparse and positive definite: six unknowns for a body, analysed once, L L' at every step. The search
 * along the step is exact, because the derivative along a line costs no product.
 *
 * With g = 0 this is the compliant contact of MuJoCo and SAP: p = P(-k u), a spring between impulse and
 * velocity. Option `compliance` solves that model and stops. Otherwise g <- p and k grows where that brings
 * little: the method of multipliers, at whose end p = g = P(g - k u), the rigid problem. Redundant contacts
 * do no harm, g picks one answer.
 *
 * v = H's all the way, so that we keep s, an impulse, and u = W s + q: then it works without bodies, and with
 * W of any kind. In these terms the Newton step is (1 + k P' W) ds = p - s.
 *
 * Fails when W is not positive semidefinite. Coulomb's law has no such function to minimise: De Saxce's
 * term as a load that is renewed from time to time diverges on confined packings, so that only the
 * convex law is taken.
 *
 * References: Todorov, Convex and analytically-invertible dynamics with contacts and constraints (2014);
 * Castro, Permenter, Han, An unconstrained convex formulation of compliant contact (2022); Rockafellar,
 * Augmented Lagrangians and applications of the proximal point algorithm in convex programming (1976).
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/option_rows.h"
#include "linalg/vector.h"
#include "solver/local/local_cone.h"
#include "solver/newton/newton.h"
#include "solver/newton/maps.h"
#include "problem/space.h"
#include "solver/splitting/gradient.h"

typedef struct convex_newton_options {
    double compliance;
    double stiffness;
    int sweeps;
} convex_newton_options;

static const ss_option options_table[] = {
    SS_ROW_REAL(convex_newton_options, compliance, "0", 0, 1e6,
                "compliance of every row, relative to its diagonal a: the model is w = -compliance a x "
                "inside the laws, as in MuJoCo and SAP ((1 - d)/d with impedance d; beta^2 / 4 pi^2 near the "
                "rigid limit); 0 = rigid"),
    SS_ROW_REAL(convex_newton_options, stiffness, "1e3", 1e-3, 1e8,
                "initial k, relative to the inverse diagonal; increased if the multipliers converge slowly"),
    SS_ROW_INT(convex_newton_options, sweeps, "60", 0, 1e6,
               "projected Gauss-Seidel sweeps before the first Newton step; at most 4 for up to 48 unknowns"),
    {0},
};

typedef struct newton_run {
    const ss_space *space;
    ss_newton_system *system;
    double k;
    double *s, *u;  // v = H's; u = W s + q
    double *g;      // multipliers
    double *p, *pu; // P(g - k u), and its own velocity W p + q
    double *z, *zu; // P(s), what is reported, and its velocity
    double *ds, *du, *rhs;
    double *swept;
    double *blocks;    // k P' that was factorised
    double inner;      // energy norm of v - H'p: what Newton has still to do
    double outer;      // |p - g| / k: what the multipliers have
    double last_outer; // when they were renewed last
    int steps;         // since then
    bool has_factor;
} newton_run;

/* ---- the function ----------------------------------------------------------------------------------- */

/* P(g - k u) of a node, u + t du in the place of u. */
static void project_node(const newton_run *c, const ss_node *node, double t, double *p, double *D)
{
    double y[SS_NODE_MAX];
    for (int i = 0; i < node->size; i++) {
        int at = node->first + i;
        y[i] = c->g[at] - c->k * (t == 0.0 ? c->u[at] : c->u[at] + t * c->du[at]);
    }
    ss_newton_project(c->space, node, y, c->g, p, D);
}

/* p, z and both halves of the error at s. */
static void evaluate(newton_run *c)
{
    int n = c->space->size;
    double apart = 0.0, moved = 0.0;
    for (int i = 0; i < n; i++) c->p[i] = c->g[i] - c->k * c->u[i];
    ss_gradient_project(c->space, c->p, c->p, c->p);
    ss_space_velocity(c->space, c->p, c->pu);
    ss_gradient_project(c->space, c->s, c->s, c->z);
    ss_space_velocity(c->space, c->z, c->zu);
    for (int i = 0; i < n; i++) {
        c->rhs[i] = c->p[i] - c->s[i];
        apart += c->rhs[i] * (c->pu[i] - c->u[i]);
        moved += (c->p[i] - c->g[i]) * (c->p[i] - c->g[i]);
    }
    c->inner = sqrt(fmax(apart, 0.0));
    c->outer = sqrt(moved) / c->k;
}

/* Of the function along s + t ds; slope of that in *curvature. */
static double derivative(const newton_run *c, double t, double *curvature)
{
    double sum = 0.0;
    *curvature = ss_dot(c->space->size, c->du, c->ds);
    for (int k = 0; k < c->space->node_count; k++) {
        const ss_node *node = &c->space->nodes[k];
        double p[SS_NODE_MAX], D[SS_NODE_MAX * SS_NODE_MAX];
        const double *du = c->du + node->first;
        project_node(c, node, t, p, D);
        for (int i = 0; i < node->size; i++) {
            int at = node->first + i;
            sum += du[i] * (c->s[at] + t * c->ds[at] - p[i]);
            for (int j = 0; j < node->size; j++) *curvature += c->k * du[i] * D[i * node->size + j] * du[j];
        }
    }
    return sum;
}

/* Where the derivative vanishes, nearly: Newton's method between bounds. The derivative grows with t. */
static double search(const newton_run *c)
{
    enum { TRIALS = 30 };
    static const double enough = 0.01;
    double curvature, low = 0.0, high = INFINITY, t = 1.0;
    double goal = enough * fabs(derivative(c, 0.0, &curvature));
    for (int k = 0; k < TRIALS && !ss_run_late(c->system->run); k++) {
        double slope = derivative(c, t, &curvature);
        if (fabs(slope) <= goal) break;
        if (slope < 0.0)
            low = t;
        else
            high = t;
        t = ss_root_trial(t - slope / curvature, low, high, 1.0);
    }
    return t;
}

/* ---- steps ------------------------------------------------------------------------------------------ */

/* False when the matrix is of no use. */
static bool newton_step(newton_run *c)
{
    ss_newton_system *system = c->system;
    size_t bytes = ss_newton_system_squares(c->space) * sizeof *c->blocks;
    c->steps++;

    // 1 + k P' W. Where only bounds were met that stay, the matrix is the one of the last step.
    for (int k = 0; k < c->space->node_count; k++) {
        const ss_node *node = &c->space->nodes[k];
        int n = node->size;
        double p[SS_NODE_MAX], *F = system->F + system->square[k], *B = system->B + system->square[k];
        project_node(c, node, 0.0, p, B);
        for (int i = 0; i < n * n; i++) {
            F[i] = i % (n + 1) == 0 ? 1.0 : 0.0;
            B[i] *= c->k;
        }
    }
    if (!c->has_factor || memcmp(c->blocks, system->B, bytes) != 0) {
        memcpy(c->blocks, system->B, bytes);
        c->has_factor = ss_newton_system_factor(system, 0.0);
    }
    if (!c->has_factor || !ss_newton_system_solve(system, c->rhs, c->ds, c->du)) return false;

    double t = search(c);
    for (int i = 0; i < c->space->size; i++) c->s[i] += t * c->ds[i];
    ss_space_velocity(c->space, c->s, c->u);
    evaluate(c);
    return true;
}

/* g <- z; stiffer when that was easy, or when the last renewal brought little. Far beyond 1e7 only when
 * nothing moves otherwise: k times rounding is seen in p. (Redundant equations that contradict each other by
 * a little: multipliers grow by k times the contradiction until a contact opens.) */
static void renew_multipliers(newton_run *c)
{
    static const double quick = 0.1, creeping = 0.9, stiffer = 10.0, stiff = 1e7, stiffest = 1e9;
    double most = c->outer > creeping * c->last_outer ? stiffest : stiff;
    memcpy(c->g, c->z, (size_t)c->space->size * sizeof *c->g);
    if (c->steps <= 1 || c->outer > quick * c->last_outer) c->k = fmin(stiffer * c->k, fmax(most, c->k));
    c->steps = 0;
    c->last_outer = c->outer;
    evaluate(c);
}

static void start(newton_run *c)
{
    memcpy(c->s, c->z, (size_t)c->space->size * sizeof *c->s);
    ss_space_velocity(c->space, c->s, c->u);
    c->last_outer = INFINITY;
    evaluate(c);
}

/* ---- both models ------------------------------------------------------------------------------------ */

/* What is minimised: 1/2 |v|^2 + 1/(2k) |p|^2 */
static double value(const newton_run *c)
{
    double kinetic = 0.0;
    for (int i = 0; i < c->space->size; i++) kinetic += c->s[i] * (c->u[i] - c->space->q[i]);
    return 0.5 * kinetic + 0.5 / c->k * ss_dot(c->space->size, c->p, c->p);
}

/* The point to the driver; false: stop. */
static bool report(newton_run *c, ss_newton *newton, double *error)
{
    *error = ss_newton_note(newton, c->z, c->zu);
    return ss_newton_report(newton, c->z) && !ss_newton_exact(newton);
}

/* Sweeps know packings, where loads travel short ways, and a first Newton step knows stacks: the lower value
 * wins. Only the velocities come from the sweeps, the multipliers stay: sweeps load one of several redundant
 * contacts, and it takes many steps to undo that. False: stop. */
static bool start_rigid(newton_run *c, ss_newton *newton, int sweeps)
{
    size_t bytes = (size_t)c->space->size * sizeof *c->s;
    double error;
    ss_space_enter(c->space, newton->progress.x, c->z);
    memcpy(c->g, c->z, bytes);
    ss_space_velocity(c->space, c->z, c->zu);
    if (!report(c, newton, &error)) return false;
    ss_newton_sweeps(newton, sweeps, c->z, c->zu);
    if (sweeps > 0 && !report(c, newton, &error)) return false;
    memcpy(c->swept, c->z, bytes);
    start(c);
    double value_swept = value(c);
    memcpy(c->z, c->g, bytes);
    start(c);
    if (!newton_step(c)) return false;
    if (sweeps == 0 || value(c) <= value_swept) return true;
    memcpy(c->z, c->swept, bytes);
    start(c);
    return newton_step(c);
}

static ss_status solve_rigid(newton_run *c, ss_newton *newton, int sweeps)
{
    enum { STUCK = 300 }; // the error of z is not what falls with every step
    static const double small = 0.1, near = 1.01;
    ss_watch watch = {0};
    double error;
    bool more = start_rigid(c, newton, sweeps);
    while (more && report(c, newton, &error)) {
        // Where there is no solution the multipliers grow without bound.
        if (ss_watch_stalled(&watch, error, STUCK)) {
            ss_progress_drifts(&newton->progress, newton->progress.best.x, c->z);
            break;
        }

        // Has Newton done its part? Rounding in p is k times that of u, in z it is not: what is left of z may
        // be all due to the multipliers though p says otherwise.
        if (c->inner <= small * c->outer || error * newton->start_size <= near * c->outer)
            renew_multipliers(c);
        more = newton_step(c);
    }
    ss_run_note(newton->progress.run, "%d factorisations", c->system->factorizations);
    return ss_newton_end(newton);
}

/* To the minimum and no further. That it does not solve the rigid problem is for the driver to say. */
static ss_status solve_compliant(newton_run *c, ss_newton *newton)
{
    enum { STUCK = 20 };
    static const double rounding = 1e-15; // of the velocities, next to the loads
    ss_watch watch = {0};
    ss_space_enter(c->space, newton->progress.x, c->z);
    start(c);
    bool good = true, done = false;
    double size = ss_norm(c->space->size, c->space->q);
    while (good && !done) {
        if (!ss_newton_report(newton, c->z)) break;
        done = c->inner <= (100.0 + c->k) * rounding * size || ss_watch_stalled(&watch, c->inner, STUCK);
        if (!done) good = newton_step(c);
    }
    ss_space_leave(c->space, c->z, newton->progress.x);
    return ss_newton_is_over(newton) ? newton->progress.status : good ? SS_CONVERGED : SS_FAILED;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const convex_newton_options *set = options;
    ss_newton newton;
    newton_run c = {.system = &newton.system,
                    .k = set->compliance > 0.0 ? 1.0 / set->compliance : set->stiffness};
    ss_status status = SS_FAILED;
    bool good = ss_newton_begin(problem, run, SS_NATURAL_MAP, x, &newton);
    if (good) {
        c.space = newton.space;
        size_t squares = ss_newton_system_squares(c.space);
        c.blocks = ss_arena_take(run->arena, squares, sizeof *c.blocks, "Newton blocks");
        good = c.blocks && ss_arena_take_vectors(run->arena, (size_t)c.space->size, "velocities",
                                                 (double **[]){&c.s, &c.u, &c.g, &c.p, &c.pu, &c.z, &c.zu,
                                                               &c.ds, &c.du, &c.rhs, &c.swept, NULL});
    }
    if (good) {
        newton.system.is_symmetric = true;
        if (set->compliance == 0.0) return solve_rigid(&c, &newton, set->sweeps);
        status = solve_compliant(&c, &newton);
    }
    ss_newton_system_free(&newton.system);
    return status;
}

const ss_solver ss_solver_convex_newton = {
    .abi = SS_ABI,
    .name = "convex-newton",
    .summary = "Newton's method on the velocities of all bodies, rigid (by multipliers) or compliant as "
               "in MuJoCo and SAP",
    .reference = "Todorov 2014; Castro, Permenter, Han 2022; Rockafellar 1976",
    .weakness = "needs a symmetric positive semidefinite matrix; convex friction law only, not Coulomb's",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_NEEDS_SYMMETRIC | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = options_table,
    .options_size = sizeof(convex_newton_options),
    .solve = solve,
};
