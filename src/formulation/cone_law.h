/* formulation/cone_law.h - contacts as second-order cones, under Coulomb's law (De Saxce) or its
 * convex relaxation. */
#ifndef FORMULATION_CONE_LAW_H
#define FORMULATION_CONE_LAW_H

#include "formulation/model.h"

typedef struct ss_cone_law_options {
    ss_step_options step;
    int form; /* ss_problem_form */
} ss_cone_law_options;

typedef enum ss_problem_form {
    SS_FORM_REDUCED,   /* impulses only: A = J M^-1 J' + C, by the bodies */
    SS_FORM_DESCRIPTOR /* velocities as well: A = [M -J'; J C] */
} ss_problem_form;

#define SS_CONE_LAW_OPTION_ROWS                                                   \
    SS_STEP_OPTION_ROWS("preventive", "inf"),                                     \
        SS_ROW_CHOICE(ss_cone_law_options, form, "reduced", "reduced|descriptor", \
                      "unknowns: impulses only, or impulses and body velocities")

/* Unknowns of a contact: x_N, the tangents in the cone, with rolling friction two moments; then a free
 * row for a tangent that sticks. The same under Coulomb's law (ss_coulomb_model, model.h) and under its
 * convex relaxation. */
extern const ss_contact_model ss_convex_model;

#endif
