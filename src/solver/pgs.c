/* Projected Gauss-Seidel, as in the engines: row after row,
 *
 *     x_i <- P(x_i - omega w_i / a_ii),  w = A x + b with the newest x
 *
 * A contact is its normal row, then its tangents together on the disc |x_T| <= mu x_N with the newest x_N
 * (step 1/lambda_max(A_TT): the same for both, or the slip direction would be wrong), then its rolling rows
 * likewise. A cone under the convex law is projected on at once. psor is the same with relaxation.
 *
 * Converges for bounds and symmetric positive semidefinite A, 0 < omega < 2; with Coulomb's law as a rule.
 * Slow on stacks, chains and large mass ratios.
 *
 * References: Cottle, Pang, Stone, The Linear Complementarity Problem (1992), section 5.2; Jourdan, Alart,
 * Jean, A Gauss-Seidel like algorithm to solve frictional contact problems (1998).
 */
#include "solver/sweep/pgs.h"

#include "solver/sweep/coloured.h"
#include "solver/sweep/projected_step.h"

typedef struct pgs_options {
    int sweep;
} pgs_options;

static const ss_option options_table[] = {SS_BATCHED_ORDER_OPTION(pgs_options, sweep), {0}};

/* 1/a of the parts; under the convex law, where all move at once, less by how much they act on each other. */
static bool set_cone(const ss_sweep *sweep, ss_cell *cell, const double *omega, ss_arena *arena)
{
    const ss_block *block = &sweep->problem->blocks[cell->block];
    double stiffness[SS_PARTS], step[SS_PARTS], coupling = 1.0;
    ss_cone_stiffness(cell->size, cell->own, stiffness);
    if (block->law == SS_LAW_CONVEX &&
        !ss_cone_coupling(cell->size, cell->own, stiffness, arena, &coupling)) {
        return false;
    }
    for (int part = 0; part < SS_PARTS; part++) {
        step[part] = stiffness[part] > 0.0 ? 1.0 / (coupling * stiffness[part]) : 0.0;
    }
    return ss_cone_step_set(sweep, cell, step, true, omega, arena);
}

ss_sweep *ss_pgs_sweep(const ss_problem *problem, const double *omega, uint64_t seed, ss_arena *arena)
{
    ss_sweep *sweep = ss_sweep_create(problem, 0, seed, arena);
    bool good = sweep != NULL;
    for (int c = 0; good && c < sweep->cell_count; c++) {
        ss_cell *cell = &sweep->cells[c];
        good = ss_block_is_cone(&problem->blocks[cell->block])
                   ? set_cone(sweep, cell, omega, arena)
                   : ss_row_step_set(sweep, cell, 1.0 / problem->diagonal[cell->first], omega, arena);
    }
    return good ? sweep : NULL;
}

ss_status ss_pgs_solve(const ss_problem *problem, ss_sweep_order order, double omega, ss_run *run, double *x)
{
    ss_coloured_method batched = {.contact = SS_BATCH_PROJECTED, .relaxation = omega};
    ss_status status;
    if (ss_sweep_batched(problem, order, &batched, run, x, &status)) return status;
    ss_sweep *sweep = ss_pgs_sweep(problem, &omega, run->seed, run->arena);
    return sweep ? ss_sweep_iterate(sweep, order, run, x) : SS_FAILED;
}

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const pgs_options *set = options;
    return ss_pgs_solve(problem, (ss_sweep_order)set->sweep, 1.0, run, x);
}

const ss_solver ss_solver_pgs = {
    .abi = SS_ABI,
    .name = "pgs",
    .summary = "projected Gauss-Seidel, row by row, as in game engines",
    .reference = "Cottle, Pang, Stone 1992, section 5.2; Jourdan, Alart, Jean 1998",
    .weakness = "slow on stacks, chains and large mass ratios",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_MANY_BODIES | SS_NEEDS_DIAGONAL | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(pgs_options),
    .solve = solve,
};
