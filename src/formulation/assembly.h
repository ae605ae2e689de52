/* formulation/assembly.h - the inside of an ss_assembly: one frame's rows, made once, and everything
 * made from them. */
#ifndef FORMULATION_ASSEMBLY_H
#define FORMULATION_ASSEMBLY_H

#include "formulation/model.h"
#include "formulation/own.h"
#include "problem/store.h"

struct ss_assembly {
    const ss_formulation *formulation;
    void *options;          /* a copy, which begins with an ss_step_options */
    ss_rows rows;           /* of the frame that was assembled last */
    ss_problem_store store; /* the problem in impulses, its memory kept from frame to frame */
    /* the same in the form that the options ask for; NULL: that is the one in the store */
    ss_problem *transformed;
    ss_problem_store coulomb_store; /* where the formulation has another law */
    bool has_coulomb;
    ss_problem_store judged_store; /* of a planar frame, with both tangents */
    bool has_judged;
    ss_rows maximal_rows; /* of a problem in minimal coordinates: what its answer is judged by */
    bool has_maximal_rows;
    ss_own_laws own; /* of a formulation that is not the library's */
    ss_team *team;   /* the owner's, which shares the work; NULL: one thread */
};

/* What answers are judged by: the Coulomb problem with both tangents of every contact, planar or not, in
 * maximal coordinates; and an answer as its unknowns. */
ss_problem *ss_assembly_judged(ss_assembly *assembly, ss_error *err);
/* The rows of that problem, once it was made. */
const ss_rows *ss_assembly_judged_rows(const ss_assembly *assembly);
void ss_assembly_guess_judged(ss_assembly *assembly, const ss_answer *answer, double *x);
/* The problem in impulses whose rows are those of ss_assembly_coulomb, whatever form the solver got. */
bool ss_assembly_is_coulomb(const ss_assembly *assembly);

#endif
