/* formulation/model.h - how a formulation treats one contact. What all formulations have in common is in
 * assembly.c: bodies, joints, walking over the contacts, velocities. The unknowns of a problem are, in this
 * order: in the descriptor form the velocities of live bodies; the joint rows; for each contact that is kept
 * its own unknowns.
 */
#ifndef FORMULATION_MODEL_H
#define FORMULATION_MODEL_H

#include "base/option_rows.h"
#include "formulation/problem_builder.h"
#include "formulation/rows.h"

/* Beside ss_formulation_models: contact impulses are known beforehand, they push the bodies, and only joints
 * are solved for; groups of alternatives are modelled, without a selection beforehand. */
enum { SS_MODELS_FORCES = 8, SS_MODELS_ALTERNATIVES = 16 };

struct ss_contact_model {
    unsigned traits; /* ss_formulation_models, and those above */
    /* How many unknowns the contact has, in how many blocks. */
    int (*unknowns)(const ss_contact_row *contact, const void *options, int *blocks);
    void (*add)(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                ss_problem_builder *builder);
    /* x: the contact's own unknowns */
    ss_contact_impulse (*read)(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                               const double *x);
    /* The other way; rows->velocity is the one after the step. */
    void (*write)(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                  const ss_contact_impulse *impulse, double *x);
    /* Another form of the problem, such as one with an explicit matrix, where the options ask for it: *other
     * is the caller's then, and NULL when the problem is right as it is. NULL: there is no other form. */
    bool (*transform)(const ss_frame *frame, ss_problem *problem, const void *options, ss_problem **other,
                      ss_error *err);
    /* Changes the rows before anything is made of them, and puts the answer right afterwards; may be NULL. */
    void (*prepare)(ss_rows *rows, const void *options);
    void (*settle)(const ss_rows *rows, ss_answer *answer);
};
typedef struct ss_contact_model ss_contact_model;

/* Coulomb's law on cones, reduced to impulses (cone_law.c). */
extern const ss_contact_model ss_coulomb_model;

/* The same with both tangents of every contact, though nothing moves along one of them in a planar frame:
 * what answers are judged by must not depend on how the scene lies in space. */
extern const ss_contact_model ss_judged_model;

/* Notes what the model leaves out of the frame: one loss per kind. */
void ss_model_note_losses(unsigned models, const ss_rows *rows, const ss_step_options *step,
                          ss_findings *notes);

#endif
