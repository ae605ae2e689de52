/* Semismooth Newton on the Fischer-Burmeister function, with a proximal term:
 *
 *     phi(r, u) = 0,   u = W r + q + alpha (r - r_k)
 *
 * phi(a, b) = a + b - sqrt(a^2 + b^2) for rows, the same in the algebra of the Lorentz cone for contacts
 * (newton_fischer.h). |phi|^2 is smooth, unlike that of the natural map, so that the line search leads
 * further from a poor start; unsymmetric matrices (Stewart and Trinkle's) are welcome. The proximal term, the
 * search and the sweeps at the start are those of minmap-newton.
 *
 * References: Fischer, A special Newton-type optimization method (1992); De Luca, Facchinei, Kanzow (1996);
 * Fukushima, Luo, Tseng, Smoothing functions for second-order-cone complementarity problems (2002).
 */
#include "solver/newton/newton_start.h"

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    return ss_newton_from_start(problem, SS_FISCHER_MAP, options, run, x);
}

const ss_solver ss_solver_fischer_newton = {
    .abi = SS_ABI,
    .name = "fischer-newton",
    .summary = "proximal Newton method on the Fischer-Burmeister function of boxes and Lorentz cones",
    .reference = "Fischer 1992; Fukushima, Luo, Tseng 2002",
    .weakness = "slow on stacks with redundant contacts; may stop in a local minimum",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS,
    .options = ss_newton_start_table,
    .options_size = sizeof(ss_newton_start),
    .solve = solve,
};
