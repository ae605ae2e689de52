/* Semismooth Newton on the natural (min) map, with a proximal term:
 *
 *     Phi(r, u) = r - p(r - rho u) = 0,   u = W r + q + alpha (r - r_k),   rho = 1 / (1 + alpha)
 *
 * p: projection on boxes, on cones for the convex law, Alart's and Curnier's map for Coulomb's law
 * (newton_natural.h). A step linearises Phi and solves one linear system; for boxes this is the primal-dual
 * active set method: rows with l < r - rho u < u are free, the others sit on a bound. One Newton step for
 * every proximal centre r_k, alpha falls while steps are good and grows when they are not (newton.h). Bounds
 * that follow a partner are differentiated with it. Starts from a few Gauss-Seidel sweeps.
 *
 * Converges quadratically from a good start. Far away it may wander, and where redundant contacts carry no
 * force and do not move (no strict complementarity) it becomes slow.
 *
 * References: Alart, Curnier (1991); Hintermueller, Ito, Kunisch, The primal-dual active set strategy as a
 * semismooth Newton method (2002); Rockafellar, Monotone operators and the proximal point algorithm (1976).
 */
#include "solver/newton/newton_start.h"

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    return ss_newton_from_start(problem, SS_NATURAL_MAP, options, run, x);
}

const ss_solver ss_solver_minmap_newton = {
    .abi = SS_ABI,
    .name = "minmap-newton",
    .summary = "proximal Newton method on the natural map: active sets for boxes, Alart-Curnier for cones",
    .reference = "Alart, Curnier 1991; Hintermueller, Ito, Kunisch 2002",
    .weakness = "slow on stacks with redundant contacts; may diverge",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS,
    .options = ss_newton_start_table,
    .options_size = sizeof(ss_newton_start),
    .solve = solve,
};
