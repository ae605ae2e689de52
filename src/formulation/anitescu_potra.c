/* The time stepper of Anitescu and Potra: as Stewart and Trinkle's, but on velocities only. The gap does not
 * enter the normal row; it decides whether there is a contact at all. That choice, contact_margin, is the
 * weak point of the method: too small and bodies fall into each other, too large and they stop in the air.
 * The default is a ten-thousandth of a body of 1 m.
 */
#include "formulation/polygon.h"

static const ss_option options_table[] = {SS_POLYGON_OPTION_ROWS("zero", "1e-4"), {0}};

const ss_formulation ss_formulation_anitescu_potra = {
    .name = "anitescu-potra",
    .summary = "linear complementarity problem with a friction polygon, on velocities, without gaps",
    .reference = "Anitescu, Potra 1997; Williams et al. 2013, section 3.3",
    .laws = SS_LAW_FREE | SS_LAW_BOX | SS_LAW_COUPLED,
    .options = options_table,
    .options_size = sizeof(ss_polygon_options),
    .model = &ss_polygon_model,
};
