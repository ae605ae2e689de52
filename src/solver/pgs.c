/* Projected Gauss-Seidel, as in game engines. Find impulses x and velocities w = A x + b with
 *
 *     rows        l_i <= x_i <= u_i;    w_i >= 0 where x_i = l_i,  w_i <= 0 where x_i = u_i,  else w_i = 0
 *     contacts    x_N >= 0, w_N >= 0, x_N w_N = 0;    |x_T| <= mu x_N,  w_T = 0 unless |x_T| = mu x_N: then
 *                 w_T points against x_T (Coulomb's law); rolling rows like tangents, with their own mu
 *
 * x in N s and w in m/s, of rows that turn N m s and rad/s; A = J M^-1 J', of rows that move in 1/kg; b is w
 * without impulses, and with it what the formulation makes of gaps and restitution. Free rows have no bounds,
 * coupled rows besides their own those of a partner, +-mu |x_partner|. Under the convex law a contact's x and
 * w lie in a cone and its dual. The method takes row after row:
 *
 *     x_i <- P(x_i - omega w_i / a_ii),  w = A x + b with the newest x
 *
 * P is the nearest point that the law allows, of a row between its bounds; omega is a pure number. It begins
 * from the x it is given, 0 or a guess.
 *
 * A block of the problem is a run of unknowns under one law. A cell is what one visit moves: a contact as a
 * whole, of any other block one row. The parts of a contact are its normal row, its tangents and its rolling
 * rows, visited in this order: the normal row, then the tangents together on the disc |x_T| <= mu x_N with
 * the newest x_N (step 1/lambda_max(A_TT): the same for both, or the slip direction would be wrong), then the
 * rolling rows likewise (core/law.h; spinning counts among the tangents). Their step takes the place of
 * 1/a_ii. A cone under the convex law is projected on at once.
 *
 * The driver ends the run when the gauge of the stop rule (`relative_energy<1e-8` unless set: the energy
 * error relative to that of doing nothing), measured on A x + b from scratch, is below its value. That may
 * cost more than a sweep, so it is done only when the energy that the last sweep changed, about sum of a_ii
 * dx_i^2 / 2 in J, suggests that the rule may hold, and whenever the number of sweeps has doubled
 * (ss_run_due). A sweep that changes nothing has converged. If the change has not reached a new minimum for
 * 500 sweeps, the order `auto` goes from batched to forward, to backward, to shuffle (by the seed of the
 * run); after 5000 in the last one, or in the one order asked for, the run has stalled (sweep/sweep.h). That
 * there is no solution it does not notice otherwise.
 *
 * Converges for bounds and symmetric positive semidefinite A, 0 < omega < 2, where there is a solution; with
 * Coulomb's law usually, without a proof. Slow on stacks, chains and large mass ratios. `psor` is the same
 * with omega = 1.3: more than 1 helps where the solution creeps in from one side (a few long chains); on
 * piles of contacts it mostly costs. Less than 1 calms sweeps that overshoot, as with unsymmetric A.
 *
 * References: Cryer, The solution of a quadratic programming problem using systematic overrelaxation (1971);
 * Cottle, Pang, Stone, The Linear Complementarity Problem (1992), section 5.2; Jourdan, Alart, Jean, A
 * Gauss-Seidel like algorithm to solve frictional contact problems (1998).
 */
#include "base/option_rows.h"
#include "solver/core/law.h"
#include "solver/sweep/batched.h"

typedef struct pgs_options {
    double omega;
    int sweep;
} pgs_options;

#define OMEGA_OPTION(value)                            \
    SS_ROW_REAL(pgs_options, omega, value, 0.01, 1.99, \
                "relaxation factor: 1 = Gauss-Seidel; must be below 2 to converge")

static const ss_option pgs_table[] = {
    OMEGA_OPTION("1"), SS_BATCHED_ORDER_OPTION(pgs_options, sweep, "auto"), {0}};
static const ss_option psor_table[] = {
    OMEGA_OPTION("1.3"), SS_BATCHED_ORDER_OPTION(pgs_options, sweep, "auto"), {0}};

/* Also the sweep of `morales`. *omega is read at every step, not copied. a_ii > 0 in every row: other
 * problems are not applicable to solvers with the trait SS_NEEDS_DIAGONAL (core/registry.c). Only tangents
 * and rolling rows without friction may have a_ii = 0; they stay 0. */
ss_sweep *ss_projected_sweep(const ss_problem *problem, const double *omega, uint64_t seed, ss_arena *arena)
{
    static const bool sequential = true; // a part sees what the parts before it did; not under the convex law
    ss_sweep *sweep = ss_sweep_create(problem, SS_ROWS_AND_CONES, seed, arena);
    bool good = sweep != NULL;
    for (int c = 0; good && c < sweep->A.cell_count; c++) {
        ss_cell *cell = &sweep->A.cells[c];
        const ss_block *block = &problem->blocks[cell->block];
        if (!ss_block_is_cone(block)) {
            good = ss_row_step_set(problem, cell, 1.0 / problem->diagonal[cell->first], omega, arena);
            continue;
        }

        // Step 1/a of each part; under the convex law, where all parts move at once, 1/(c a), c >= 1 being
        // how much they act on each other.
        double stiffness[SS_PARTS], step[SS_PARTS], coupling = 1.0;
        ss_cone_stiffness(cell->size, cell->own, stiffness);
        if (block->law == SS_LAW_CONVEX)
            good = ss_cone_coupling(cell->size, cell->own, stiffness, arena, &coupling);
        for (int part = 0; part < SS_PARTS; part++)
            step[part] = stiffness[part] > 0.0 ? 1.0 / (coupling * stiffness[part]) : 0.0;
        good = good && ss_cone_step_set(problem, cell, step, sequential, omega, arena);
    }
    return good ? sweep : NULL;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const pgs_options *set = options;
    ss_sweep_order order = (ss_sweep_order)set->sweep;
    double omega = set->omega, change;
    ss_status status;

    // Many contacts on bodies: the same steps on four contacts at a time, in another order of the contacts:
    // the iterates differ, the fixed points are the same. It declines (sweep/batched.c) orders other than
    // auto and batched, problems without bodies, with fewer than 16 contacts, more other cells than contacts,
    // too few contacts without a common body, or cones other than Coulomb's of three rows. Under auto it also
    // returns after 500 sweeps without progress, and the other orders continue from its x.
    if (ss_sweep_batched(problem, order, SS_BATCH_PROJECTED, omega, false, run, x, &status)) return status;

    // One by one. A pass visits every cell: its load w, the step x <- P(x - omega w / a), what that moves.
    // `change` is the sum of a_ii dx_i^2 over the pass, twice an energy in J.
    ss_sweep *sweep = ss_projected_sweep(problem, &omega, run->seed, run->arena);
    if (!sweep) return SS_FAILED;
    ss_sweep_start(sweep, order, x);
    do change = ss_sweep_pass(sweep, sweep->order, x);
    while (ss_sweep_goes_on(sweep, change, run, x));
    return sweep->status;
}

const ss_solver ss_solver_pgs = {
    .abi = SS_ABI,
    .name = "pgs",
    .summary = "projected Gauss-Seidel, row by row, as in game engines",
    .reference = "Cottle, Pang, Stone 1992, section 5.2; Jourdan, Alart, Jean 1998",
    .weakness = "slow on stacks, chains and large mass ratios",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_MANY_BODIES | SS_NEEDS_DIAGONAL | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = pgs_table,
    .options_size = sizeof(pgs_options),
    .solve = solve,
};

const ss_solver ss_solver_psor = {
    .abi = SS_ABI,
    .name = "psor",
    .summary = "projected Gauss-Seidel with over-relaxation",
    .reference = "Cryer 1971",
    .weakness = "as pgs; the best omega is not known in advance",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_MANY_BODIES | SS_NEEDS_DIAGONAL | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = psor_table,
    .options_size = sizeof(pgs_options),
    .solve = solve,
};
