/* Semismooth Newton on the function of Alart and Curnier, or one of two others (newton_alart.h):
 *
 *     Phi_N = r_N - [r_N - rho_N u_N]+ = 0,   Phi_T = r_T - P(mu [r_N - rho_N u_N]+, r_T - rho_T u_T) = 0
 *
 * with steps rho of its own for the normal, the tangents and the rolling part of each contact, from the
 * contact's own block of the matrix. Line search, proximal term, and sweeps at the start only, are
 * those of minmap-newton (newton.h), which has the first of these maps with the step 1 / (1 + alpha)
 * for all of a contact.
 *
 * Which map it is matters little, up to 1.5 times the factorisations on one problem or the other. The step
 * matters: five times as long, contacts of piles at rest find out sooner whether they stick. Against
 * minmap-newton, to 1e-8: half the factorisations on 40 frames of box-pyramid, three quarters on log-pile and
 * rock-pile, the same on masonry-arch and card-house, 1.6 times as many on sphere-pile, where contacts come
 * and go; rho=1 is better there.
 *
 * References: Alart, Curnier, A mixed formulation for frictional contact problems prone to Newton like
 * solution methods (1991); Jean, The non-smooth contact dynamics method (1999); De Saxce, Feng, The
 * bipotential method (1998).
 */
#include "solver/newton/newton_start.h"

#include "base/option_rows.h"

typedef struct alart_options {
    ss_newton_start start;
    int map;
    double rho;
} alart_options;

static const ss_option options_table[] = {
    SS_NEWTON_START_OPTIONS(alart_options, start),
    {.name = "map",
     .type = SS_OPTION_CHOICE,
     .offset = offsetof(alart_options, map),
     .default_value = "alart-curnier",
     .choices = "alart-curnier|jean-moreau|de-saxce", // in the order of ss_alart_variant
     .help = "function whose root is sought: friction discs scaled by the predicted normal impulse, by "
             "the current one, or projection onto the whole cone"},
    SS_ROW_REAL(alart_options, rho, "5", 1e-3, 1e3,
                "augmentation parameter, relative to the effective mass of a contact: larger for resting "
                "piles, smaller for moving bodies"),
    {0},
};

static ss_status solve(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    const alart_options *set = options;
    ss_newton newton;
    if (!ss_newton_begin(problem, run, SS_ALART_MAP, x, &newton) ||
        !ss_alart_create(newton.space, (ss_alart_variant)set->map, set->rho, run->arena, &newton.alart)) {
        ss_newton_end(&newton);
        return SS_FAILED;
    }
    return ss_newton_run(&newton, &set->start);
}

const ss_solver ss_solver_alart_curnier = {
    .abi = SS_ABI,
    .name = "alart-curnier",
    .summary = "proximal Newton method on the Alart-Curnier, Jean-Moreau or De Saxce function",
    .reference = "Alart, Curnier 1991; Jean 1999; De Saxce, Feng 1998",
    .weakness = "slow on stacks with redundant contacts; large rho suffers if contacts open and close",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE | SS_LAW_CONVEX,
    .traits = SS_MATRIX_FREE | SS_WARM_STARTS,
    .options = options_table,
    .options_size = sizeof(alart_options),
    .solve = solve,
};
