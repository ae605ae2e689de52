/* formulation/polygon.h - friction on a polygon of n directions, the linear complementarity problem of
 * Stewart, Trinkle, Anitescu and Potra. The unknowns of a contact are p_n, p_f for each direction and s, the
 * sliding speed:
 *
 *     0 <= p_n  perp  N v + C p_n + c            >= 0
 *     0 <= p_f  perp  D v + e s                  >= 0      one row of D for each direction, e = (1, ..., 1)'
 *     0 <= s    perp  mu p_n - e' p_f            >= 0
 *
 * Directions are d_j = mu_u/mu cos(2 pi j/n) t_u + mu_v/mu sin(2 pi j/n) t_v, mu the larger coefficient: the
 * corners of the polygon are on the friction ellipse. A contact with one tangent (planar frames, or no
 * friction along the other) has two directions, and its friction is exact.
 */
#ifndef FORMULATION_POLYGON_H
#define FORMULATION_POLYGON_H

#include "formulation/model.h"

typedef enum ss_polygon_size {
    SS_POLYGON_INSCRIBED,     /* corners on the circle: at most mu, between corners mu cos(pi/n) */
    SS_POLYGON_CIRCUMSCRIBED, /* sides on the circle: at least mu, at corners mu / cos(pi/n) */
    SS_POLYGON_EQUAL_AREA
} ss_polygon_size;

typedef enum ss_polygon_form {
    SS_POLYGON_REDUCED, /* joint rows, p_n, p_f, s */
    SS_POLYGON_MIXED    /* and the velocities in front */
} ss_polygon_form;

typedef struct ss_polygon_options {
    ss_step_options step;
    int directions;
    int polygon; /* ss_polygon_size */
    int form;    /* ss_polygon_form */
} ss_polygon_options;

#define SS_POLYGON_OPTION_ROWS(gap_term_default, contact_margin_default)                                    \
    SS_STEP_OPTION_ROWS(gap_term_default, contact_margin_default),                                          \
        {SS_ROW_OF(SS_OPTION_INT, ss_polygon_options, directions, "8"), .min = 3, .max = 1000,              \
         .value_name = "N",                                                                                 \
         .help = "number of friction directions per contact; if odd, directions have no opposites; planar " \
                 "frames always use 2, which is exact"},                                                    \
        SS_ROW_CHOICE(ss_polygon_options, polygon, "inscribed", "inscribed|circumscribed|equal-area",       \
                      "size of the friction polygon relative to the circle it approximates"),               \
        SS_ROW_CHOICE(ss_polygon_options, form, "reduced", "reduced|mixed",                                 \
                      "unknowns: impulses and sliding speeds only, or also body velocities")

extern const ss_contact_model ss_polygon_model;

#endif
