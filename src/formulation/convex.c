/* The convex relaxation of Coulomb's law: r minimises 1/2 r' A r + b' r over the cones, with velocities that
 * are unique. The price: a contact that slips also lifts off, at u_N = mu |u_T|.
 */
#include "formulation/cone_law.h"

static const ss_option options_table[] = {SS_CONE_LAW_OPTION_ROWS, {0}};

const ss_formulation ss_formulation_convex = {
    .name = "convex",
    .summary = "convex relaxation of Coulomb's law: always solvable, but sliding contacts separate",
    .reference = "Anitescu 2006; Tasora, Anitescu 2011",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED | SS_LAW_CONVEX,
    .options = options_table,
    .options_size = sizeof(ss_cone_law_options),
    .model = &ss_convex_model,
};
