/* Proximal fixed point of the augmented Lagrangian: with factors rho (impulse per velocity),
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
#include "solver/core/spectrum.h"
#include "solver/sweep/sweep.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

enum { LOCAL, ROW_SUM, GLOBAL, ADAPTIVE };
enum { GAUSS_SEIDEL, JACOBI };
enum { POWER_ITERATIONS = 20 };

typedef struct prox_options {
    int rho, order, sweep;
    double scale;
    bool inertia;
} prox_options;

static const ss_option options_table[] = {
    SS_ROW_CHOICE(prox_options, rho, "adaptive", "local|row-sum|global|adaptive",
                  "source of the step lengths: the diagonal block of the contact, the absolute row sum, the "
                  "largest eigenvalue of the matrix, or adaptation"),
    SS_ROW_CHOICE(prox_options, order, "gauss-seidel", "gauss-seidel|jacobi",
                  "update contacts one after another with the latest velocities, or all at once"),
    SS_SWEEP_ORDER_OPTION(prox_options, sweep),
    SS_ROW_REAL(prox_options, scale, "1", 1e-3, 1.99, "factor on all step lengths"),
    SS_ROW_BOOL(prox_options, inertia, "true",
                "extrapolate from the last two iterates as long as that helps"),
    {0},
};

/* ---- step lengths ----------------------------------------------------------------------------------- */

/* 1 / D: the diagonal, in a contact the largest eigenvalue of the part; `relaxed` also divides by how much
 * the parts of a contact act on each other. */
static bool local_steps(const ss_sweep *sweep, bool relaxed, ss_run *run, double *step)
{
    for (int c = 0; c < sweep->A.cell_count; c++) {
        const ss_cell *cell = &sweep->A.cells[c];
        double part[SS_PARTS] = {0}, coupling = 1.0;
        if (!cell->own) {
            step[cell->first] = 1.0 / sweep->A.problem->diagonal[cell->first];
            continue;
        }
        if (ss_run_late(run)) return false;
        ss_cone_stiffness(cell->size, cell->own, part);
        if (relaxed && !ss_cone_coupling(cell->size, cell->own, part, run->arena, &coupling)) return false;
        for (int i = 0; i < cell->size; i++) {
            double stiffness = part[ss_part_of(i)];
            step[cell->first + i] = stiffness > 0.0 ? 1.0 / (coupling * stiffness) : 0.0;
        }
    }
    return true;
}

/* s_i = sum over j of |A_ij| / sqrt(a_ii a_jj), the same in every unit; D = a_ii s_i, in each part of a
 * contact the largest, is never below A. */
static bool row_sum_steps(const ss_sweep *sweep, ss_arena *arena, double *step)
{
    const ss_problem *problem = sweep->A.problem;
    const ss_sparse *A = problem->A;
    const double *a = problem->diagonal;
    double *sum = ss_arena_take(arena, (size_t)problem->size, sizeof *sum, "row sums");
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
            int row = cell->first + i;
            part[ss_part_of(i)] = fmax(part[ss_part_of(i)], a[row] * sum[row]);
        }
        for (int i = 0; i < cell->size; i++) {
            step[cell->first + i] = part[ss_part_of(i)] > 0.0 ? 1.0 / part[ss_part_of(i)] : 0.0;
        }
    }
    return true;
}

static bool global_steps(const ss_sweep *sweep, ss_run *run, double *step)
{
    if (!local_steps(sweep, false, run, step)) return false;
    double lambda = ss_largest_eigenvalue(sweep->A.problem, step, POWER_ITERATIONS, run);
    for (int i = 0; i < sweep->A.problem->size; i++) step[i] /= lambda;
    return lambda > 0.0;
}

static bool find_steps(const ss_sweep *sweep, int rho, ss_run *run, double *step)
{
    switch (rho) {
    case ROW_SUM:
        return row_sum_steps(sweep, run->arena, step);
    case GLOBAL:
        return global_steps(sweep, run, step);
    default:
        return local_steps(sweep, true, run, step);
    }
}

/* ---- one step --------------------------------------------------------------------------------------- */

typedef struct prox {
    const ss_problem *problem;
    ss_sweep *sweep;
    int order;
    ss_sweep_order sweep_order;
    double factor;       // on all steps
    double *w, *scratch; // Jacobi
    double *before, *previous, *step;
} prox;

static bool set_cells(prox *state, ss_arena *arena)
{
    bool good = true;
    for (int c = 0; good && c < state->sweep->A.cell_count; c++) {
        ss_cell *cell = &state->sweep->A.cells[c];
        double part[SS_PARTS] = {0};
        for (int i = 0; i < cell->size; i++) part[ss_part_of(i)] = state->step[cell->first + i];
        good = cell->own ? ss_cone_step_set(state->problem, cell, part, false, &state->factor, arena)
                         : ss_row_step_set(state->problem, cell, part[0], &state->factor, arena);
    }
    return good;
}

static bool prepare(const ss_problem *problem, const prox_options *set, ss_run *run, prox *state)
{
    ss_arena *arena = run->arena;
    size_t n = (size_t)problem->size;
    *state = (prox){
        .problem = problem,
        .sweep = ss_sweep_create(problem, 0, run->seed, arena),
        .order = set->order,
        .sweep_order = (ss_sweep_order)set->sweep,
        .factor = set->scale,
        .w = ss_arena_take(arena, n, sizeof(double), "w"),
        .scratch = ss_arena_take(arena, (size_t)ss_problem_scratch(problem), sizeof(double), "velocities"),
        .before = ss_arena_take(arena, n, sizeof(double), "x before"),
        .previous = ss_arena_take(arena, n, sizeof(double), "x before that"),
        .step = ss_arena_take(arena, n, sizeof(double), "steps")};
    return state->sweep && state->w && state->scratch && state->before && state->previous && state->step &&
           find_steps(state->sweep, set->rho, run, state->step) && set_cells(state, arena);
}

/* Moves x; returns the squared residual, the move in energy norm for a step of 1. */
static double advance(prox *state, double *x)
{
    double scale = 1.0 / (state->factor * state->factor), sum = 0.0;
    if (state->order == GAUSS_SEIDEL) return scale * ss_sweep_pass(state->sweep, state->sweep_order, x);
    ss_problem_apply(state->problem, x, state->scratch, state->w);
    for (int c = 0; c < state->sweep->A.cell_count; c++) {
        const ss_cell *cell = &state->sweep->A.cells[c];
        cell->step(cell->data, state->w + cell->first, x + cell->first);
    }
    for (int i = 0; i < state->problem->size; i++) {
        double change = x[i] - state->before[i];
        sum += state->problem->diagonal[i] * change * change;
    }
    return scale * sum;
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

/* The step that led here was too long: back to where it began, and half as far. */
static void take_back(adaptation *memory, prox *state, double *x)
{
    memcpy(x, state->previous, (size_t)state->problem->size * sizeof *x);
    ss_operator_refresh(&state->sweep->A, x);
    state->factor *= 0.5;
    *memory = (adaptation){.safe = memory->safe};
}

/* Longer steps while the residual falls, shorter ones when it has not for some time. */
static void adapt(adaptation *memory, double residual, prox *state)
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
        state->factor = fmin(longest, growth * state->factor);
    }
    if (memory->since_best == NO_BEST && state->factor > memory->safe) {
        state->factor = fmax(memory->safe, 0.5 * state->factor);
        *memory = (adaptation){.safe = memory->safe};
    }
}

/* Gauss-Seidel is stable with local steps, Jacobi with those of the largest eigenvalue. */
static double safe_factor(const prox *state, ss_run *run)
{
    if (state->order == GAUSS_SEIDEL) return 1.0;
    return 1.0 / ss_largest_eigenvalue(state->problem, state->step, POWER_ITERATIONS, run);
}

/* ---- inertia ---------------------------------------------------------------------------------------- */

enum { PATIENCE = 100 };

typedef struct inertia {
    bool is_on;
    double theta;   // grows by about 1/2 per iteration
    double best;    // squared residual
    int since_best; // iterations
    double *last;   // the iterate before
    double *best_x;
} inertia;

static bool prepare_inertia(const prox_options *set, size_t n, const double *x, ss_arena *arena, inertia *of)
{
    *of = (inertia){.is_on = set->inertia, .theta = 1.0, .best = INFINITY};
    if (!set->inertia) return true;
    of->last = ss_arena_take_unset(arena, 2 * n, sizeof *of->last, "inertia");
    if (!of->last) return false;
    of->best_x = of->last + n;
    memcpy(of->last, x, n * sizeof *x);
    memcpy(of->best_x, x, n * sizeof *x);
    return true;
}

/* Does it still help? Otherwise the best x so far is where to go on without. */
static bool still_helps(inertia *of, double residual, prox *state, double *x)
{
    size_t bytes = (size_t)state->problem->size * sizeof *x;
    if (residual < of->best) {
        of->best = residual;
        of->since_best = 0;
        memcpy(of->best_x, x, bytes);
    }
    if (of->since_best++ < PATIENCE && isfinite(residual)) return true;
    of->is_on = false;
    memcpy(x, of->best_x, bytes);
    memcpy(state->previous, x, bytes);
    ss_operator_refresh(&state->sweep->A, x);
    return false;
}

/* From x, where the step that began at `before` led to, on to where the next one begins. */
static void move_on(inertia *of, const prox *state, double *x)
{
    const double *a = state->problem->diagonal, *before = state->before;
    double turn = 0.0;
    for (int i = 0; i < state->problem->size; i++) turn += a[i] * (before[i] - x[i]) * (x[i] - of->last[i]);
    if (turn > 0.0) of->theta = 1.0;
    double next = 0.5 + sqrt(0.25 + of->theta * of->theta), beta = (of->theta - 1.0) / next;
    of->theta = next;
    for (int i = 0; i < state->problem->size; i++) {
        double here = x[i];
        x[i] += beta * (here - of->last[i]);
        of->last[i] = here;
    }
    if (beta > 0.0) ss_operator_refresh(&state->sweep->A, x);
}

/* ---- the solver ------------------------------------------------------------------------------------- */

/* What the residual means for the step lengths. False when nothing can be done any more. */
static bool react(prox *state, bool adaptive, adaptation *memory, double residual, double *x)
{
    static const double shortest = 1e-3;
    size_t bytes = (size_t)state->problem->size * sizeof *x;
    if (adaptive && state->factor > shortest && has_grown(memory, residual)) {
        take_back(memory, state, x);
    } else if (!isfinite(residual)) {
        memcpy(x, state->before, bytes);
        return false;
    } else {
        memcpy(state->previous, state->before, bytes);
        if (adaptive) adapt(memory, residual, state);
    }
    return true;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const prox_options *set = options;
    size_t bytes = (size_t)problem->size * sizeof *x;
    prox state;
    inertia onward;
    if (!prepare(problem, set, run, &state)) return SS_FAILED;
    if (!prepare_inertia(set, (size_t)problem->size, x, run->arena, &onward)) return SS_FAILED;
    adaptation memory = {.safe = safe_factor(&state, run)};
    if (onward.is_on && set->rho == ADAPTIVE) state.factor *= memory.safe;
    ss_watch watch = {0};
    memcpy(state.previous, x, bytes);
    for (;;) {
        memcpy(state.before, x, bytes);
        double residual = advance(&state, x);
        bool moved_on = onward.is_on;
        if (moved_on && !still_helps(&onward, residual, &state, x)) watch = (ss_watch){0};
        if (!moved_on && !react(&state, set->rho == ADAPTIVE, &memory, residual, x)) return SS_FAILED;
        bool due = ss_run_due(run, 0.5 * residual);
        if (!ss_run_iteration(run, due ? x : NULL, NULL)) return ss_run_status(run);
        if (residual == 0.0) return SS_CONVERGED;
        if (ss_watch_stalled(&watch, residual, STUCK)) return SS_STALLED;
        if (onward.is_on) move_on(&onward, &state, x);
    }
}

const ss_solver ss_solver_prox = {
    .abi = SS_ABI,
    .name = "prox",
    .summary = "proximal fixed-point iteration with a choice of step lengths",
    .reference = "Alart, Curnier 1991; Foerg, Pfeiffer, Ulbrich 2005; Studer 2009",
    .weakness =
        "no proof of convergence under Coulomb's law; diverges if steps are too long, slow if they are "
        "too short",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_NEEDS_DIAGONAL | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(prox_options),
    .solve = solve,
};
