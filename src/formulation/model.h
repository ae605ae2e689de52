/* formulation/model.h - how a formulation treats one contact. What all have in common is in model.c: bodies, joints,
 * walking over the contacts, velocities, notes. The unknowns of a problem are, in this order: in the descriptor form
 * the velocities of live bodies; the joint rows; for each contact that is kept its own unknowns.
 */
#ifndef FORMULATION_MODEL_H
#define FORMULATION_MODEL_H

#include "formulation/assembly.h"
#include "formulation/rows.h"

enum ss_model_traits {
    SS_MODELS_FRICTION = 1,
    SS_MODELS_ROLLING = 2,
    SS_MODELS_GAPS = 4, /* the gap term, and with it restitution */
    SS_MODELS_FORCES =
        8, /* contact impulses are known beforehand: they push the bodies, only joints are solved for */
};

typedef struct ss_contact_model {
    unsigned traits;
    /* How many unknowns the contact has, in how many blocks. */
    int (*unknowns)(const ss_contact_row *contact, const void *options, int *blocks);
    void (*add)(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                ss_assembly *assembly);
    /* x: the contact's own unknowns */
    ss_contact_impulse (*read)(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                               const double *x);
    /* The other way; rows->velocity is the one after the step. */
    void (*write)(const ss_rows *rows, const ss_contact_row *contact, const void *options,
                  const ss_contact_impulse *impulse, double *x);
} ss_contact_model;

/* The three functions of a formulation, but for the model. Options begin with an ss_step_options. */
ss_problem *ss_model_assemble(const ss_contact_model *model, const ss_frame *frame, const void *options,
                              ss_findings *notes, ss_error *err);
bool ss_model_recover(const ss_contact_model *model, const ss_frame *frame, const void *options,
                      const ss_problem *problem, const double *x, ss_answer *answer, ss_error *err);
bool ss_model_guess(const ss_contact_model *model, const ss_frame *frame, const void *options,
                    const ss_problem *problem, const ss_answer *answer, double *x, ss_error *err);

/* ---- frame after frame ------------------------------------------------------------------------------ */

/* The same three for who has one frame after the other: memory is kept, and rows are made once for all three. For models
 * that do not push bodies while they assemble. The problem is the session's. */
typedef struct ss_session {
    ss_rows rows;
    ss_problem_store store;
} ss_session; /* starts zeroed */

ss_problem *ss_session_assemble(ss_session *session, const ss_contact_model *model, const ss_frame *frame,
                                const void *options, ss_error *err);
/* Of the frame that was assembled last. */
void ss_session_guess(ss_session *session, const ss_contact_model *model, const void *options,
                      const ss_answer *answer, double *x);
void ss_session_recover(ss_session *session, const ss_contact_model *model, const void *options,
                        const double *x, ss_answer *answer);
void ss_session_free(ss_session *session);

/* Tells what of the frame the model leaves out: one loss per kind. */
void ss_model_tell(const ss_contact_model *model, const ss_rows *rows, const ss_step_options *step,
                   ss_findings *notes);

#endif
