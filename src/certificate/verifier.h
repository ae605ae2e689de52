/* certificate/verifier.h - the rows of a frame in balls: masses, contacts, joints, and the velocities that
 * impulses make. Everything is computed from the arrays of the frame; nothing of src/formulation,
 * src/problem or src/solver takes part, so that an error there shows here. */
#ifndef CERTIFICATE_VERIFIER_H
#define CERTIFICATE_VERIFIER_H

#include <stickslip/certificate.h>

#include "certificate/laws.h"

typedef struct ss_verified_body {
    ss_midrad inverse_mass, inverse_inertia[9];
    ss_midrad before[6];   /* v- */
    ss_midrad free[6];     /* v*, after ss_verifier_free_speed */
    ss_midrad momentum[6]; /* h f, and what was pushed */
    ss_midrad velocity[6]; /* after ss_verifier_move */
} ss_verified_body;

typedef struct ss_verified_contact {
    int contact; /* of the frame */
    int body[2]; /* -1: does not move */
    ss_midrad arm[2][3];
    double direction[3][3]; /* normal, tangents */
    ss_midrad compliance, offset, pull;
    ss_block_case law;
    double along; /* N s: of the friction that the answer has, along the normal */
} ss_verified_contact;

typedef struct ss_verified_row {
    bool in;
    ss_midrad compliance, offset, lower, upper;
    double inverse_mass;
    int further, further_end;
    int joint, load; /* load: the row that its friction follows, -1 */
    int at;          /* of ss_row_settle */
    ss_midrad x;
} ss_verified_row;

typedef struct ss_verifier {
    const ss_frame *frame;
    const ss_answer *answer;
    ss_step_options step;
    ss_law law;
    ss_verified_body *body;
    ss_verified_contact *contact;
    int contact_count;
    ss_verified_row *row;
    int *order, *place; /* of rows: ss_order_by_load */
} ss_verifier;

/* Bodies, rows and contacts of the frame, with the impulses of the answer. The arrays of the verifier have
 * room for all of them; frame, answer, step and law are set. */
void ss_verifier_read(ss_verifier *v);
/* The velocities of all bodies without any impulse; returns the largest one that a contact or a joint row
 * would have then. */
double ss_verifier_free_speed(ss_verifier *v);

/* velocity = before + M^-1 (h f + J' x) of all bodies, with the impulses of all rows and contacts */
void ss_verifier_move(ss_verifier *v);
/* w of one contact, by components, and of one row: J v + C x + c */
void ss_verifier_contact_velocity(const ss_verifier *v, const ss_verified_contact *contact,
                                  ss_midrad w[SS_COMPONENTS]);
ss_midrad ss_verifier_row_velocity(const ss_verifier *v, int r);

#endif
