/* formulation/box.h - options of the box formulation, for callers that have normal impulses of
 * an earlier step. */
#ifndef FORMULATION_BOX_H
#define FORMULATION_BOX_H

#include <stickslip/formulation.h>

typedef enum ss_box_bound {
    SS_BOX_CURRENT, /* mu x_N of this very solve */
    SS_BOX_PREVIOUS /* mu times a known normal impulse: a plain mixed complementarity problem */
} ss_box_bound;

typedef enum ss_box_tangents {
    SS_BOX_FRAME, /* as the frame has them */
    SS_BOX_SLIP   /* the first along the predicted slip, where the box is exact */
} ss_box_tangents;

typedef struct ss_box_options {
    ss_step_options step;
    int bound;    /* ss_box_bound */
    int tangents; /* ss_box_tangents */
    /* N s of each contact of the frame, for `previous`; NULL, or NaN: those that would stop each contact if
     * it were alone. Not in the table */
    const double *normal_impulses;
} ss_box_options;

#endif
