/* Semismooth Newton on a map whose root is the solution, with a proximal term:
 *
 *     Phi(r, u) = 0,   u = W r + q + alpha (r - r_k)
 *
 * A step linearises Phi and solves one linear system. One Newton step for every proximal centre r_k; alpha
 * falls while steps are good and grows when they are not (newton/newton.h). It starts from a few Gauss-Seidel
 * sweeps. One method under three names, which differ in the default of the option `map` (newton/maps.h):
 *
 *   minmap-newton   the natural (min) map, r - p(r - rho u) with rho = 1 / (1 + alpha). p is the projection
 *                   on boxes, on cones for the convex law, Alart's and Curnier's map for Coulomb's law. For
 *                   boxes this is the primal-dual active set method: rows with l < r - rho u < u are free,
 *                   the others sit on a bound. Bounds that follow a partner are differentiated with it.
 *   fischer-newton  the function of Fischer and Burmeister, a + b - sqrt(a^2 + b^2) for rows, the same in the
 *                   algebra of the Lorentz cone for contacts. |Phi|^2 is smooth, unlike that of the natural
 *                   map, so that the line search leads further from a poor start; unsymmetric matrices
 *                   (Stewart and Trinkle's) are welcome.
 *   alart-curnier   Phi_N = r_N - [y_N]+,  Phi_T = r_T - P(mu [y_N]+, y_T),  y = r - rho u, or one of two
 *                   others, with steps rho of its own for the normal, the tangents and the
 *                   rolling part of each contact, from the contact's own block of the matrix. Which of the
 *                   three it is matters little, up to 1.5 times the factorisations on one problem or the
 *                   other. The step matters: five times as long, contacts of piles at rest find out sooner
 *                   whether they stick. Against minmap-newton, to 1e-8: half the factorisations on 40 frames
 *                   of box-pyramid, three quarters on log-pile and rock-pile, the same on masonry-arch and
 *                   card-house, 1.6 times as many on sphere-pile, where contacts come and go; rho=1 is better
 *                   there.
 *
 * Converges quadratically from a good start. Far away it may wander, and where redundant contacts carry no
 * force and do not move (no strict complementarity) it becomes slow.
 *
 * References: Alart, Curnier, A mixed formulation for frictional contact problems prone to Newton like
 * solution methods (1991); Fischer, A special Newton-type optimization method (1992); De Luca, Facchinei,
 * Kanzow (1996); De Saxce, Feng, The bipotential method (1998); Jean, The non-smooth contact dynamics method
 * (1999); Fukushima, Luo, Tseng, Smoothing functions for second-order-cone complementarity problems (2002);
 * Hintermueller, Ito, Kunisch, The primal-dual active set strategy as a semismooth Newton method (2002);
 * Rockafellar, Monotone operators and the proximal point algorithm (1976).
 */
#include "base/option_rows.h"
#include "solver/newton/newton.h"

typedef struct newton_options {
    int map, sweeps;
    double regularization, rho;
} newton_options;

enum { NATURAL, FISCHER, ALART }; // maps; from ALART on in the order of ss_alart_variant

#define NEWTON_OPTIONS(map_of_name)                                                                         \
    SS_ROW_INT(newton_options, sweeps, "30", 0, 1e6,                                                        \
               "projected Gauss-Seidel sweeps before the first Newton step; at most 4 for up to 48 "        \
               "unknowns"),                                                                                 \
        SS_ROW_REAL(newton_options, regularization, "0.01", 0, 10,                                          \
                    "proximal term of the first step, relative to the diagonal of the matrix"),             \
        SS_ROW_CHOICE(newton_options, map, map_of_name,                                                     \
                      "natural|fischer-burmeister|alart-curnier|jean-moreau|de-saxce",                      \
                      "function whose root is sought: the natural map; that of Fischer and Burmeister; "    \
                      "with friction discs scaled by the predicted normal impulse, or by the current one; " \
                      "or with projection onto the whole cone"),                                            \
        SS_ROW_REAL(newton_options, rho, "5", 1e-3, 1e3,                                                    \
                    "augmentation parameter of the last three maps, relative to the effective mass of a "   \
                    "contact: larger for resting piles, smaller for moving bodies")

static const ss_option minmap_table[] = {NEWTON_OPTIONS("natural"), {0}};
static const ss_option fischer_table[] = {NEWTON_OPTIONS("fischer-burmeister"), {0}};
static const ss_option alart_table[] = {NEWTON_OPTIONS("alart-curnier"), {0}};

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const newton_options *set = options;
    ss_newton_map map = set->map == NATURAL   ? SS_NATURAL_MAP
                        : set->map == FISCHER ? SS_FISCHER_MAP
                                              : SS_ALART_MAP;
    size_t n = (size_t)problem->size;
    ss_newton newton;
    bool good = ss_newton_begin(problem, run, map, x, &newton);
    if (good && map == SS_ALART_MAP)
        good = ss_alart_create(newton.space, (ss_alart_variant)(set->map - ALART), set->rho, run->arena,
                               &newton.alart);
    double *r = ss_arena_take(run->arena, n, sizeof *r, "r"),
           *u = ss_arena_take(run->arena, n, sizeof *u, "u");
    if (!good || !r || !u) {
        ss_newton_end(&newton);
        return SS_FAILED;
    }

    // Sweeps from x, which are the first iterate, then Newton steps to the end.
    ss_space_enter(newton.space, x, r);
    ss_space_velocity(newton.space, r, u);
    ss_newton_sweeps(&newton, set->sweeps, r, u);
    ss_newton_plan plan = {
        .steps = run->max_iterations, .alpha = set->regularization, .shrink = 0.2, .shrink_fast = 0.03};
    if (ss_newton_report(&newton, r) && !ss_newton_exact(&newton)) ss_newton_steps(&newton, &plan, r, u);
    return ss_newton_end(&newton);
}

const ss_solver ss_solver_minmap_newton = {
    .abi = SS_ABI,
    .name = "minmap-newton",
    .summary = "proximal Newton method on the natural map: active sets for boxes, Alart-Curnier for cones",
    .reference = "Alart, Curnier 1991; Hintermueller, Ito, Kunisch 2002",
    .weakness = "slow on stacks with redundant contacts; may diverge",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = minmap_table,
    .options_size = sizeof(newton_options),
    .solve = solve,
};

const ss_solver ss_solver_fischer_newton = {
    .abi = SS_ABI,
    .name = "fischer-newton",
    .summary = "proximal Newton method on the Fischer-Burmeister function of boxes and Lorentz cones",
    .reference = "Fischer 1992; Fukushima, Luo, Tseng 2002",
    .weakness = "slow on stacks with redundant contacts; may stop in a local minimum",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = fischer_table,
    .options_size = sizeof(newton_options),
    .solve = solve,
};

const ss_solver ss_solver_alart_curnier = {
    .abi = SS_ABI,
    .name = "alart-curnier",
    .summary = "proximal Newton method on the Alart-Curnier, Jean-Moreau or De Saxce function",
    .reference = "Alart, Curnier 1991; Jean 1999; De Saxce, Feng 1998",
    .weakness = "slow on stacks with redundant contacts; large rho suffers if contacts open and close",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS | SS_SPINNING_CONES,
    .options = alart_table,
    .options_size = sizeof(newton_options),
    .solve = solve,
};
