/* Projected Gauss-Seidel, as in the engines: row after row,
 *
 *     x_i <- P(x_i - omega w_i / a_ii),  w = A x + b with the newest x
 *
 * A contact is its normal row, then its tangents together on the disc |x_T| <= mu x_N with the newest x_N
 * (step 1/lambda_max(A_TT): the same for both, or the slip direction would be wrong), then its rolling rows
 * likewise (core/law.h). A cone under the convex law is projected on at once.
 *
 * Converges for bounds and symmetric positive semidefinite A, 0 < omega < 2; with Coulomb's law as a rule.
 * Slow on stacks, chains and large mass ratios. `psor` is the same with omega = 1.3: more than 1 helps where
 * the solution creeps in from one side (a few long chains); on piles of contacts it mostly costs. Less than 1
 * calms sweeps that overshoot, as with unsymmetric A.
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

static const ss_option pgs_table[] = {OMEGA_OPTION("1"), SS_BATCHED_ORDER_OPTION(pgs_options, sweep), {0}};
static const ss_option psor_table[] = {OMEGA_OPTION("1.3"), SS_BATCHED_ORDER_OPTION(pgs_options, sweep), {0}};

ss_sweep *ss_projected_sweep(const ss_problem *problem, const double *omega, uint64_t seed, ss_arena *arena)
{
    ss_sweep *sweep = ss_sweep_create(problem, 0, seed, arena);
    bool good = sweep != NULL;
    for (int c = 0; good && c < sweep->A.cell_count; c++) {
        ss_cell *cell = &sweep->A.cells[c];
        const ss_block *block = &problem->blocks[cell->block];
        if (!ss_block_is_cone(block)) {
            good = ss_row_step_set(problem, cell, 1.0 / problem->diagonal[cell->first], omega, arena);
            continue;
        }

        // 1/a of the parts; under the convex law, where all move at once, less by how much they act on each
        // other
        double stiffness[SS_PARTS], step[SS_PARTS], coupling = 1.0;
        ss_cone_stiffness(cell->size, cell->own, stiffness);
        if (block->law == SS_LAW_CONVEX)
            good = ss_cone_coupling(cell->size, cell->own, stiffness, arena, &coupling);
        for (int part = 0; part < SS_PARTS; part++)
            step[part] = stiffness[part] > 0.0 ? 1.0 / (coupling * stiffness[part]) : 0.0;
        good = good && ss_cone_step_set(problem, cell, step, true, omega, arena);
    }
    return good ? sweep : NULL;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const pgs_options *set = options;
    ss_sweep_order order = (ss_sweep_order)set->sweep;
    double omega = set->omega, change;
    ss_status status;

    // Many contacts on bodies: the same sweep, four contacts at a time.
    if (ss_sweep_batched(problem, order, SS_BATCH_PROJECTED, omega, run, x, &status)) return status;

    // One by one. A pass visits every cell: its load w, the step x <- P(x - omega w / a), what that moves.
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
