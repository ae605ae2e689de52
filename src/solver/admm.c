/* Alternating direction method of multipliers: a linear system of all bodies and the laws of the contacts one
 * by one, in turn (splitting.h). The matrix stays the same for many iterations, so that its factors, in the
 * velocities of the bodies (shifted_system.h), are used again and again: an iteration is two products and a
 * solve. Impulses reach across the whole structure in one iteration; that is what tall stacks need, where
 * sweeps pass the weight down one course at a time.
 *
 * For boxes and the convex law this is a proximal method with a proof. Coulomb's law is not monotone: De
 * Saxce's term is not lagged but inside the law of each contact, which helps; still sliding piles converge
 * slowly, or not at all. Redundant contacts that ask for slightly different velocities make it creep.
 *
 * References: Boyd, Parikh, Chu, Peleato, Eckstein, Distributed optimization and statistical learning via
 * the alternating direction method of multipliers (2011); Zhang, O'Donoghue, Boyd, Globally convergent
 * type-I Anderson acceleration for nonsmooth fixed-point iterations (2020); Carpentier, Montaut, Le Lidec,
 * From compliant to rigid contact simulation: a unified and efficient approach (2024); Banjac, Goulart,
 * Stellato, Boyd, Infeasibility detection in the alternating direction method of multipliers for convex
 * optimization (2019).
 */
#include <stickslip/solver.h>

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "base/option_rows.h"
#include "solver/core/run_state.h"
#include "solver/newton/progress.h"
#include "solver/splitting/splitting.h"

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

/* Where there is no solution the steps become all the same, and a ray (Banjac, Goulart, Stellato, Boyd 2019):
 * worth a look now and then, when the error does not fall. */
typedef struct drift {
    double *before; // y
    double error;   // at the last look
    int steps, rays;
} drift;

static bool is_time_to_look(drift *of, const ss_splitting *splitting)
{
    enum { EVERY = 25 };
    static const double hardly = 0.5;
    if (++of->steps % EVERY != 0) return false;
    bool slow = splitting->error > hardly * of->error;
    of->error = splitting->error;
    return slow;
}

static bool step(ss_splitting *splitting, ss_progress *progress, drift *of, bool *is_ray)
{
    bool looks = is_time_to_look(of, splitting) && splitting->has_y;
    if (looks) memcpy(of->before, splitting->y, (size_t)splitting->space->size * sizeof *of->before);
    if (!ss_splitting_step(splitting)) return false;
    if (!looks || !splitting->has_y) return true;
    of->rays = ss_progress_drifts(progress, of->before, splitting->y) ? of->rays + 1 : 0;
    *is_ray = of->rays > 1; // Coulomb's law may find a way out of the first
    return true;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    enum { STUCK = 5000 };
    ss_newton_space *space = ss_newton_space_create(problem, run->arena);
    double *start = ss_arena_take_unset(run->arena, (size_t)problem->size, sizeof *start, "start");
    ss_splitting splitting;
    ss_progress progress;
    drift drifting = {.error = INFINITY};
    drifting.before = ss_arena_take_unset(run->arena, (size_t)problem->size, sizeof *start, "drift");
    if (!space || !start || !drifting.before || !ss_progress_start(space, run, x, &progress))
        return SS_FAILED;
    ss_newton_space_enter(space, x, start);
    bool good = ss_splitting_create(space, options, start, run->arena, &splitting);
    bool is_ray = false;
    splitting.deadline = ss_run_deadline(run);
    while (good && !is_ray && ss_progress_report(&progress, splitting.z, splitting.error, STUCK))
        good = step(&splitting, &progress, &drifting, &is_ray);
    if (!good && splitting.is_late) ss_run_give_up(run);
    ss_splitting_free(&splitting);
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
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(ss_splitting_options),
    .solve = solve,
};
