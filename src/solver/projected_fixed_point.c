/* Projected fixed point of the augmented Lagrangian: with factors rho (impulse per velocity),
 *
 *     r_N <- [r_N - rho_N u_N]+,   r_T <- P_disc(mu r_N)(r_T - rho_T u_T),   r_M likewise
 *
 * bounded rows x <- clamp(x - rho w), cones under the convex law r <- P_K(r - rho u). Contact after contact
 * with the newest velocities (Gauss-Seidel) or all at once (Jacobi). What differs is where rho comes from:
 *
 *   local     1 / lambda_max of the contact's own block: right for one contact, too long where many share a
 *             body and all move at once
 *   row-sum   1 / sum of the row's absolute values, each relative to the diagonal: never too long for
 *             symmetric A
 *   global    local, divided by lambda_max(D^-1 A): the Jacobi step
 *   adaptive  local times a factor that is halved, and the step taken back, when the residual doubles, halved
 *             when it runs in circles, and creeps up again while it falls
 *
 * Inertia: every iteration starts not from the last iterate but from beyond it, x + beta (x - x before) with
 * Nesterov's beta, which begins at zero and comes near to one; it begins again when an iteration moves
 * against the last step. Impulses travel through a stack in ten times fewer iterations. Coulomb's law is no
 * minimisation, and may run in circles then: once the residual has not fallen for a while, inertia is left
 * off, and rho adapts as above.
 *
 * Converges for steps below 2 / lambda; slowly without inertia. The residual of Coulomb's law may grow a
 * little on the way to the solution.
 *
 * References: Alart, Curnier (1991); Foerg, Pfeiffer, Ulbrich, Simulation of unilateral constrained
 * systems with many bodies (2005); Studer, Numerics of unilateral contacts and friction (2009), chapter 4.
 * Inertia: Nesterov (1983); O'Donoghue, Candes, Adaptive restart for accelerated gradient schemes (2015);
 * Mazhar, Heyn, Negrut, Tasora, Using Nesterov's method to accelerate multibody dynamics with friction and
 * contact (2015).
 */
#include "base/option_rows.h"
#include "solver/core/law.h"
#include "solver/sweep/sweep.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { LOCAL, ROW_SUM, GLOBAL, ADAPTIVE };
enum { GAUSS_SEIDEL, JACOBI };
enum { POWER_ITERATIONS = 20 };

typedef struct fixed_point_options {
    int rho, order, sweep;
    double scale;
    bool inertia;
} fixed_point_options;

static const ss_option options_table[] = {
    SS_ROW_CHOICE(fixed_point_options, rho, "adaptive", "local|row-sum|global|adaptive",
                  "source of the step lengths: the diagonal block of the contact, the absolute row sum, the "
                  "largest eigenvalue of the matrix, or adaptation"),
    SS_ROW_CHOICE(fixed_point_options, order, "gauss-seidel", "gauss-seidel|jacobi",
                  "update contacts one after another with the latest velocities, or all at once"),
    SS_SWEEP_ORDER_OPTION(fixed_point_options, sweep),
    SS_ROW_REAL(fixed_point_options, scale, "1", 1e-3, 1.99, "factor on all step lengths"),
    SS_ROW_BOOL(fixed_point_options, inertia, "true",
                "extrapolate from the last two iterates as long as that helps"),
    {0},
};

/* ---- step lengths ----------------------------------------------------------------------------------- */

/* False when out of memory. */
static bool find_steps(const ss_sweep *sweep, int rho, ss_run *run, double *step)
{
    const ss_problem *problem = sweep->A.problem;
    const ss_sparse *A = problem->A;
    const double *a = problem->diagonal;
    if (rho != ROW_SUM) {
        if (!ss_law_local_steps(&sweep->A, rho != GLOBAL, run, step)) return false;
        if (rho != GLOBAL) return true;
        double lambda = ss_largest_eigenvalue(problem, step, POWER_ITERATIONS, run);
        for (int i = 0; i < problem->size; i++) step[i] /= lambda;
        return lambda > 0.0;
    }

    // s_i = sum over j of |A_ij| / sqrt(a_ii a_jj), the same in every unit; D = a_ii s_i, in each part of a
    // contact the largest, is never below A.
    double *sum = ss_arena_take(run->arena, (size_t)problem->size, sizeof *sum, "row sums");
    if (!sum) return false;
    for (int j = 0; j < problem->size; j++) {
        for (int e = A->start[j]; e < A->start[j + 1]; e++) {
            double product = a[A->row[e]] * a[j];
            if (product > 0.0) sum[A->row[e]] += fabs(A->value[e]) / sqrt(product);
        }
    }
    for (int c = 0; c < sweep->A.cell_count; c++) {
        const ss_cell *cell = &sweep->A.cells[c];
        double part[SS_PARTS] = {0};
        for (int i = 0; i < cell->size; i++) {
            int row = cell->first + i, of = ss_part_of(cell->size, i);
            part[of] = fmax(part[of], a[row] * sum[row]);
        }
        for (int i = 0; i < cell->size; i++) {
            double own = part[ss_part_of(cell->size, i)];
            step[cell->first + i] = own > 0.0 ? 1.0 / own : 0.0;
        }
    }
    return true;
}

/* ---- adaptation ------------------------------------------------------------------------------------- */

enum { MEMORY = 10, FALLS = 5, NO_BEST = 50, STUCK = 5000 };

typedef struct adaptation {
    double recent[MEMORY], best; // squared residuals
    int count, falls, since_best;
    double safe; // a factor that does not make the iteration run in circles
} adaptation;

static bool has_grown(const adaptation *memory, double residual)
{
    static const double much = 4.0;
    int known = memory->count < MEMORY ? memory->count : MEMORY;
    for (int k = 0; k < known; k++) {
        if (residual > much * memory->recent[k]) return true;
    }
    return !isfinite(residual);
}

/* Longer steps while the residual falls, shorter ones when it has not for some time. */
static void adapt(adaptation *memory, double residual, double *factor)
{
    static const double longest = 1.9, growth = 1.05;
    bool falls = memory->count > 0 && residual < memory->recent[(memory->count - 1) % MEMORY];
    bool is_best = memory->count == 0 || residual < memory->best;
    memory->recent[memory->count++ % MEMORY] = residual;
    memory->falls = falls ? memory->falls + 1 : 0;
    memory->since_best = is_best ? 0 : memory->since_best + 1;
    if (is_best) memory->best = residual;
    if (memory->falls == FALLS) {
        memory->falls = 0;
        *factor = fmin(longest, growth * *factor);
    }
    if (memory->since_best == NO_BEST && *factor > memory->safe) {
        *factor = fmax(memory->safe, 0.5 * *factor);
        *memory = (adaptation){.safe = memory->safe};
    }
}

/* ---- inertia ---------------------------------------------------------------------------------------- */

typedef struct inertia {
    bool is_on;
    double theta;   // grows by about 1/2 per iteration
    ss_best best;   // x, by its squared residual
    int since_best; // iterations
    double *last;   // the iterate before
} inertia;

/* From x, where the step that began at `before` led to, on to where the next one begins. Returns whether x
 * has moved. */
static bool move_on(inertia *of, const ss_problem *problem, const double *before, double *x)
{
    const double *a = problem->diagonal;
    double turn = 0.0;
    for (int i = 0; i < problem->size; i++) turn += a[i] * (before[i] - x[i]) * (x[i] - of->last[i]);
    if (turn > 0.0) of->theta = 1.0;
    double next = 0.5 + sqrt(0.25 + of->theta * of->theta), beta = (of->theta - 1.0) / next;
    of->theta = next;
    for (int i = 0; i < problem->size; i++) {
        double here = x[i];
        x[i] += beta * (here - of->last[i]);
        of->last[i] = here;
    }
    return beta > 0.0;
}

/* ---- the method ------------------------------------------------------------------------------------- */

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    enum { PATIENCE = 100 };
    static const double shortest = 1e-3;
    const fixed_point_options *set = options;
    size_t n = (size_t)problem->size, bytes = n * sizeof *x;
    double factor = set->scale; // on all steps
    double *w, *before, *previous, *step, *last, *best_x;
    ss_arena *arena = run->arena;
    ss_sweep *sweep = ss_sweep_create(problem, 0, run->seed, arena);
    double *scratch =
        ss_arena_take(arena, (size_t)ss_problem_scratch(problem), sizeof *scratch, "velocities");
    if (!sweep || !scratch ||
        !ss_arena_take_vectors(arena, n, "projected fixed point",
                               (double **[]){&w, &before, &previous, &step, &last, &best_x, NULL}) ||
        !find_steps(sweep, set->rho, run, step) || !ss_law_use_steps(&sweep->A, step, &factor, arena))
        return SS_FAILED;

    // Gauss-Seidel is stable with local steps, Jacobi with those of the largest eigenvalue.
    adaptation memory = {.safe = 1.0};
    if (set->order == JACOBI) memory.safe /= ss_largest_eigenvalue(problem, step, POWER_ITERATIONS, run);
    inertia onward = {.is_on = set->inertia, .theta = 1.0, .best = {best_x, INFINITY}, .last = last};
    if (onward.is_on && set->rho == ADAPTIVE) factor *= memory.safe;
    memcpy(last, x, bytes);
    memcpy(best_x, x, bytes);
    memcpy(previous, x, bytes);

    ss_watch watch = {0};
    for (;;) {
        // Contact after contact, or all at once; the residual is the move in energy norm for a step of 1,
        // squared.
        double residual = 0.0;
        memcpy(before, x, bytes);
        if (set->order == GAUSS_SEIDEL) {
            residual = ss_sweep_pass(sweep, (ss_sweep_order)set->sweep, x);
        } else {
            ss_problem_apply(problem, x, scratch, w);
            ss_law_step_all(&sweep->A, w, x);
            for (size_t i = 0; i < n; i++)
                residual += problem->diagonal[i] * (x[i] - before[i]) * (x[i] - before[i]);
        }
        residual *= 1.0 / (factor * factor);

        bool adapts = set->rho == ADAPTIVE;
        if (onward.is_on) {
            // Does inertia still help? Otherwise the best x so far is where to go on without.
            if (ss_best_keep(&onward.best, problem->size, x, residual)) onward.since_best = 0;
            if (onward.since_best++ >= PATIENCE || !isfinite(residual)) {
                onward.is_on = false;
                memcpy(x, best_x, bytes);
                memcpy(previous, x, bytes);
                ss_operator_refresh(&sweep->A, x);
                watch = (ss_watch){0};
            }
        } else if (adapts && factor > shortest && has_grown(&memory, residual)) {
            // The step that led here was too long: back to where it began, and half as far.
            memcpy(x, previous, bytes);
            ss_operator_refresh(&sweep->A, x);
            factor *= 0.5;
            memory = (adaptation){.safe = memory.safe};
        } else if (!isfinite(residual)) {
            memcpy(x, before, bytes);
            return SS_FAILED;
        } else {
            memcpy(previous, before, bytes);
            if (adapts) adapt(&memory, residual, &factor);
        }

        bool due = ss_run_due(run, 0.5 * residual);
        if (!ss_run_iteration(run, due ? x : NULL, NULL)) return ss_run_status(run);
        if (residual == 0.0) return SS_CONVERGED;
        if (ss_watch_stalled(&watch, residual, STUCK)) return SS_STALLED;
        if (onward.is_on && move_on(&onward, problem, before, x)) ss_operator_refresh(&sweep->A, x);
    }
}

const ss_solver ss_solver_projected_fixed_point = {
    .abi = SS_ABI,
    .name = "projected-fixed-point",
    .summary = "projected fixed-point iteration with a choice of step lengths",
    .reference = "Alart, Curnier 1991; Foerg, Pfeiffer, Ulbrich 2005; Studer 2009",
    .weakness =
        "no proof of convergence under Coulomb's law; diverges if steps are too long, slow if they are "
        "too short",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_NEEDS_DIAGONAL | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = options_table,
    .options_size = sizeof(fixed_point_options),
    .solve = solve,
};
