/* Farkas' lemma for contacts. Let y be impulses that the laws allow in any amount, A y = 0 and b . y < 0.
 * Whatever the other impulses are, w . y = (A x + b) . y = b . y < 0. Under every law but Coulomb's with a
 * finite mu > 0, a solution has w . y >= 0: then there is none. Under Coulomb's law it has w_N y_N >= 0, so
 * the same holds for a y without friction; with friction, y shows that the bodies are wedged in: a solution
 * would have to slip at the contacts of y, against friction that grows with every push. */
#include "solver/core/ray.h"

#include <math.h>
#include <string.h>

#include "problem/laws.h"

/* The nearest y that may be added any number of times. */
static void project_on_recession(const ss_problem *problem, double *y)
{
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (ss_block_is_cone(block)) {
            ss_friction_cone_project(ss_block_cone(block), y + block->first);
            continue;
        }
        for (int i = block->first; i < block->first + block->size; i++) {
            if (!isinf(problem->lower[i])) y[i] = fmax(y[i], 0.0);
            if (!isinf(problem->upper[i])) y[i] = fmin(y[i], 0.0);
        }
    }
    for (int i = 0; i < problem->size; i++) { // partners are done
        if (problem->partner[i] < 0) continue;
        double limit = problem->factor[i] * fabs(y[problem->partner[i]]);
        y[i] = fmin(fmax(y[i], -limit), limit);
    }
}

typedef struct sizes {
    double impulse, load, moved; // roots of energy: |y|, |b|, |A y|
    double work;                 // -b . y
} sizes;

/* w = A y */
static sizes measure(const ss_problem *problem, const double *y, const double *w)
{
    sizes of = {0};
    for (int i = 0; i < problem->size; i++) {
        double a = problem->diagonal[i];
        of.work -= problem->b[i] * y[i];
        if (!(a > 0.0)) continue;
        of.impulse += a * y[i] * y[i];
        of.load += problem->b[i] * problem->b[i] / a;
        of.moved += w[i] * w[i] / a;
    }
    of.impulse = sqrt(of.impulse);
    of.load = sqrt(of.load);
    of.moved = sqrt(of.moved);
    return of;
}

/* Nothing that Coulomb's law could answer by slipping. */
static bool is_proof(const ss_problem *problem, const double *y)
{
    static const double rounding = 1e-9;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        double friction = 0.0, normal = fabs(y[block->first]);
        for (int i = block->first + 1; i < block->first + block->size; i++)
            friction = fmax(friction, fabs(y[i]));
        bool slips = block->law == SS_LAW_CONE && !(isinf(block->mu) && !ss_cone_rolls(block->size));
        if (slips && friction > rounding * normal) return false;
        if (block->law == SS_LAW_COUPLED && fmax(friction, normal) > 0.0) return false;
    }
    return true;
}

bool ss_ray_confirm(const ss_problem *problem, const double *y, double *scratch, double *w, ss_ray *ray)
{
    // |x| >= work / |A y| for any solution: this many times |b|, the impulses that free the contacts one
    // by one, is none
    static const double endless = 1e6, least_work = 1e-6;
    size_t n = (size_t)problem->size;
    if (!problem->bodies && !problem->symmetric) return false;
    double *impulse = ss_allocate(n, sizeof *impulse);
    if (!impulse) return false;
    memcpy(impulse, y, n * sizeof *y);
    project_on_recession(problem, impulse);
    sizes of = measure(problem, impulse, problem->b);
    // A y is found as (A y + b) - b: b must not drown it
    double scale = of.impulse > 0.0 && of.load > 0.0 ? 1e3 * of.load / of.impulse : 0.0;
    for (size_t i = 0; i < n; i++) impulse[i] *= scale;
    ss_problem_apply(problem, impulse, scratch, w);
    for (size_t i = 0; i < n; i++) w[i] -= problem->b[i];
    of = measure(problem, impulse, w);
    if (!(of.work > least_work * of.load * of.impulse && of.work > endless * of.load * of.moved)) {
        ss_release(impulse);
        return false;
    }
    for (size_t i = 0; i < n; i++) impulse[i] *= sqrt(2.0) / of.impulse;
    ss_release(ray->impulse);
    *ray = (ss_ray){.impulse = impulse, .is_proof = is_proof(problem, impulse)};
    return true;
}

/* ---- without friction ------------------------------------------------------------------------------- */

/* Does the law promise w y >= 0 of a solution for impulses of this unknown? See is_proof. */
static bool may_prove(const ss_problem *problem, const ss_block *block, int i)
{
    if (block->law == SS_LAW_COUPLED || problem->partner[i] >= 0) return false;
    if (!ss_block_is_cone(block) || i == block->first) return true;
    return isinf(block->mu) && !ss_cone_rolls(block->size);
}

/* The ray of the problem without friction, if that has one, as impulses y of the whole. */
static bool find_frictionless(const ss_problem *problem, const int *member, int count, double time_limit,
                              double *y)
{
    ss_problem *part = ss_problem_part(problem, count, member);
    if (part) part->symmetric = true;
    double *x = ss_allocate((size_t)count, sizeof *x);
    ss_run_options options = ss_run_defaults();
    options.max_iterations = 200; // an interior point method that finds one has it after a few dozen
    options.time_limit = time_limit;
    ss_solve_result result = {0};
    bool found =
        part && x &&
        ss_solve(
            &(ss_solve_request){.solver = ss_solver_find("interior-point"), .problem = part, .run = &options},
            x, &result, NULL) &&
        result.status == SS_RAY && result.ray.impulse;
    for (int k = 0; found && k < count; k++) y[member[k]] = result.ray.impulse[k];
    ss_solve_result_free(&result);
    ss_problem_destroy(part);
    ss_release(x);
    return found;
}

void ss_ray_prove(const ss_problem *problem, double time_limit, ss_ray *ray)
{
    enum { MOST = 6000 }; // unknowns: a matrix and a few factorisations of it
    if (!ray->impulse || ray->is_proof || problem->size > MOST) return;
    size_t n = (size_t)problem->size;
    ss_problem own = *problem; // as far as it may get a matrix
    bool makes_matrix = !own.A;
    if (makes_matrix && !ss_problem_need_matrix(&own, NULL)) return;
    int *member = ss_allocate(n, sizeof *member), count = 0;
    double *y = ss_allocate(2 * n, sizeof *y);
    double *scratch = ss_allocate((size_t)ss_problem_scratch(&own), sizeof *scratch);
    for (int b = 0; member && b < own.block_count; b++) {
        const ss_block *block = &own.blocks[b];
        for (int i = block->first; i < block->first + block->size; i++)
            if (may_prove(&own, block, i)) member[count++] = i;
    }
    ss_ray proof = {0};
    if (member && y && scratch && find_frictionless(&own, member, count, time_limit, y) &&
        ss_ray_confirm(&own, y, scratch, y + n, &proof) && proof.is_proof) {
        ss_release(ray->impulse);
        *ray = proof;
    } else {
        ss_release(proof.impulse);
    }
    ss_release(member);
    ss_release(y);
    ss_release(scratch);
    if (makes_matrix) ss_sparse_destroy(own.A);
}
