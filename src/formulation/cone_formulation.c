/* Coulomb's law on second-order cones, exact but for the time step (De Saxce's form of the
 * complementarity problem):
 *
 *     K contains r,  K* contains u~,  r . u~ = 0      u~ = u + (mu |u_T| + mu_r |u_M|) e_N,  u = A r + b
 *
 * A contact is a block (N, T1, T2); in a planar frame, or where one direction has no friction, (N, T); with
 * rolling friction (N, T1, T2, M1, M2). Coefficients that differ make an ellipse, which scaled rows turn
 * into a circle.
 */
#include "formulation/cone_law.h"

static const ss_option options_table[] = {SS_CONE_LAW_OPTION_ROWS, {0}};

const ss_formulation ss_formulation_cone = {
    .name = "cone",
    .summary = "Coulomb's law on second-order cones (De Saxce), exact up to time discretisation",
    .reference = "De Saxce, Feng 1998; Acary, Cadoux, Lemarechal, Malick 2011",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONE,
    .options = options_table,
    .options_size = sizeof(ss_cone_law_options),
    .model = &ss_coulomb_model,
};
