/* formulation/cone_layout.h - which part of a frame becomes which part of its cone problem. Assembling and recovering
 * follow one layout, which depends on the frame alone. */
#ifndef FORMULATION_CONE_LAYOUT_H
#define FORMULATION_CONE_LAYOUT_H

#include <stickslip/formulation.h>

#include "linalg/mat6.h"

typedef struct ss_cone_layout {
    int dimension; /* 3, or 5 with rolling friction */
    int dofs, contacts, equations;
    int *dof;        /* of each body: its first dof, -1 = it does not move */
    int *contact;    /* of each contact: its cone, -1 = it touches nothing that moves */
    int *equation;   /* of each row: its equation, -1 = none */
    int *limit;      /* of each row: its cone, -1 = none */
    double *turned;  /* of each limit: 1, or -1 where the cone has the row turned round (upper bound 0) */
    int limits;      /* rows that became cones */
    int dropped;     /* rows with other bounds: motors, joint friction */
    int first_bound; /* the first row with a finite bound, -1 = none */
    int idle_contacts, idle_rows; /* those that touch nothing that moves */
} ss_cone_layout;

bool ss_cone_layout_make(const ss_frame *frame, ss_cone_layout *layout, ss_error *err);
void ss_cone_layout_free(ss_cone_layout *layout);

/* The joint that a row belongs to, for all rows in turn: start with joint = 0, end_row = 0. */
typedef struct ss_row_walk {
    int row, joint, end_row;
} ss_row_walk;
bool ss_row_next(const ss_frame *frame, ss_row_walk *walk);

/* The block of M that belongs to a body. Rounding may have left the stored tensor unsymmetric; M is symmetric. */
ss_mass ss_cone_body_mass(const ss_frame *frame, int body);

/* The three or five directions of a cone on body a and b: columns of H. A body that does not move has zeros. */
typedef struct ss_contact_columns {
    double a[5][6], b[5][6];
    double surface[5]; /* what moving surfaces add */
} ss_contact_columns;
void ss_contact_columns_of(const ss_frame *frame, int contact, ss_contact_columns *columns);

/* Says what the problem cannot hold: one loss per kind. */
void ss_cone_tell_losses(const ss_frame *frame, const ss_cone_options *options, const ss_cone_layout *layout,
                         ss_cone_form form, const char *place, ss_findings *losses);

#endif
