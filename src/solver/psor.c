/* Projected successive over-relaxation: projected Gauss-Seidel (pgs.c) with every step times omega,
 *
 *     x_i <- P(x_i - omega w_i / a_ii),  0 < omega < 2
 *
 * More than 1 helps where the solution creeps in from one side (a few long chains); on piles of contacts it
 * mostly costs. Less than 1 calms sweeps that overshoot, as with unsymmetric A.
 *
 * Reference: Cryer, The solution of a quadratic programming problem using systematic overrelaxation (1971).
 */
#include "solver/sweep/pgs.h"

#include "base/option_rows.h"

typedef struct psor_options {
    double omega;
    int sweep;
} psor_options;

static const ss_option options_table[] = {
    SS_ROW_REAL(psor_options, omega, "1.3", 0.01, 1.99,
                "relaxation factor: 1 = Gauss-Seidel; must be below 2 to converge"),
    SS_BATCHED_ORDER_OPTION(psor_options, sweep),
    {0},
};

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const psor_options *set = options;
    return ss_pgs_solve(problem, (ss_sweep_order)set->sweep, set->omega, run, x);
}

const ss_solver ss_solver_psor = {
    .abi = SS_ABI,
    .name = "psor",
    .summary = "projected Gauss-Seidel with over-relaxation",
    .reference = "Cryer 1971",
    .weakness = "as pgs; the best omega is not known in advance",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_MANY_BODIES | SS_NEEDS_DIAGONAL | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(psor_options),
    .solve = solve,
};
