/* formulation/own.h - formulations from outside the library: the law of one contact, stated by a function of
 * its author once for every contact, or a whole problem. */
#ifndef FORMULATION_OWN_H
#define FORMULATION_OWN_H

#include "formulation/problem_builder.h"
#include "formulation/rows.h"

/* What the author's function said about every contact that takes part, in the order of the rows. */
typedef struct ss_own_laws {
    ss_contact_unknown *unknown; /* of all contacts */
    int *first;                  /* [contacts + 1]: which of them belong to each contact */
    double (*known)[3];          /* N s on b: known beforehand */
    double (*mu)[2];             /* sliding and rolling, of cones */
    int unknown_room, contact_room;
} ss_own_laws;

/* Asks about every contact and checks what comes back. */
bool ss_own_ask(const ss_formulation *formulation, const void *options, const ss_rows *rows,
                ss_own_laws *laws, ss_error *err);
void ss_own_free(ss_own_laws *laws);
/* The problem of the rows under these laws, in the memory of the store. */
bool ss_own_build(const ss_own_laws *laws, ss_rows *rows, ss_problem_store *store, ss_error *err);
/* x: the unknowns of contacts alone. */
void ss_own_recover(const ss_own_laws *laws, ss_rows *rows, const double *x, ss_answer *answer);
void ss_own_guess(const ss_own_laws *laws, const ss_rows *rows, const ss_answer *answer, double *x);

/* A problem as an author's `assemble` made it from the frame: laws, bounds, blocks, numbers. */
bool ss_own_check_problem(const ss_formulation *formulation, const ss_frame *frame, ss_problem *problem,
                          ss_error *err);

#endif
