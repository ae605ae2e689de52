/* The preventive time stepper of Stewart and Trinkle: friction on a polygon, and gap/h in the normal row, so
 * that a contact may be reached within the step but not crossed. polygon.h has the equations.
 */
#include "formulation/polygon.h"

static const ss_option options_table[] = {SS_POLYGON_OPTION_ROWS("preventive", "inf"), {0}};

const ss_formulation ss_formulation_stewart_trinkle = {
    .name = "stewart-trinkle",
    .summary = "linear complementarity problem with a friction polygon and preventive gaps",
    .reference = "Stewart, Trinkle 1996; Williams et al. 2013, Eq. 7",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .options = options_table,
    .options_size = sizeof(ss_polygon_options),
    .model = &ss_polygon_model,
};
