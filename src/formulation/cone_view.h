/* formulation/cone_view.h - which part of an assembled problem becomes which part of FCLIB's cone problem.
 * Making the problem, reading an answer out of it and listing what it cannot hold all go by this. */
#ifndef FORMULATION_CONE_VIEW_H
#define FORMULATION_CONE_VIEW_H

#include "formulation/assembly.h"

typedef struct ss_cone_view {
    const ss_rows *rows;
    const ss_problem *problem; /* the Coulomb problem of the assembly, in impulses */
    int dimension;             /* 3, or 5 when a contact has rolling friction */
    int contacts, equations;   /* limits count as contacts */
    int *component;            /* unknown of each component of each contact, -1 = none */
    double *sign;              /* per contact: -1 for a limit that pulls, else 1 */
    int *equation;             /* unknown of each equation */
    int limits, dropped;       /* bounded rows: those that became contacts, and those left out */
    int first_bounded;         /* unknown with bounds, -1 = none */
    int spins, first_spin;     /* contacts with torsional friction, which is left out; -1 = none */
    double *row;               /* of one unknown, in minimal coordinates */
} ss_cone_view;

bool ss_cone_view_make(ss_assembly *assembly, ss_cone_view *view, ss_error *err);
void ss_cone_view_free(ss_cone_view *view);

/* What the cone problem does not say any more: one loss per kind, at the place where it was. */
void ss_cone_view_losses(const ss_cone_view *view, const ss_step_options *step, ss_cone_form form,
                         const char *place, ss_findings *losses);

#endif
