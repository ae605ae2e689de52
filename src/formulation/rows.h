/* formulation/rows.h - what every formulation starts from: the live bodies, constraint rows and contacts of
 * a frame in the units of a problem, velocities and impulses. A row is w = J v+ + C x + c with J in the
 * frame's own sense.
 *
 * Bodies that do not take part count as the world, at rest. Live bodies are numbered densely in storage
 * order. A joint on more than two bodies has live ones in its pair as far as there are any, then further
 * blocks. Constraint rows and contacts that touch no live body are left out, and contacts farther apart
 * than the margin.
 */
#ifndef FORMULATION_ROWS_H
#define FORMULATION_ROWS_H

#include <stickslip/formulation.h>

#include "formulation/coordinates.h"
#include "formulation/reactions.h"
#include "linalg/mat6.h"
#include "linalg/vec3.h"

#include <stddef.h>

/* ---- rows ------------------------------------------------------------------------------------------- */

typedef struct ss_joint_row {
    int row, joint;             /* of the frame */
    int pair[2];                /* live bodies, -1 = world */
    double jacobian[12];        /* zero on bodies that do not move */
    int further, further_count; /* blocks on live bodies beyond the pair: in ss_rows.further_* */
    double compliance, offset;  /* C and c: position term + dg/dt */
    ss_law law; /* free, box or coupled; the partner of a coupled row is a box, if need be infinite */
    double lower, upper; /* N s or N m s */
    int partner;         /* coupled: index among the rows that are kept */
    double factor;
} ss_joint_row;

typedef struct ss_contact_row {
    int contact; /* of the frame */
    int pair[2]; /* live bodies, -1 = world */
    ss_vec3 normal, tangent[2];
    ss_vec3 arm[2];
    /* false for the tangent that leaves the plane of a planar frame: u_T is 0 there anyway */
    bool in_plane[2];
    double mu[2];      /* along the two tangents, >= 0, infinity allowed */
    double mu_rolling; /* m */
    double mu_torsion; /* m; 0 in a planar frame, where nothing spins */
    ss_spin_coupling spin_coupling;
    double compliance, offset; /* of the normal row */
    /* N s, adhesion times h: the impulses here, and so the unknowns of problems, are what presses beyond
     * the pull, nu + pull; rows->free_velocity contains the pull */
    double pull;
    ss_vec3 surface;           /* m/s, of b's surface minus a's */
    int alternatives, primary; /* peg-mlcp alone: how many more there are, and the one that this is */
} ss_contact_row;

/* What a contact does to its bodies: the force on the second one, and the torques about both centres, as if
 * both were the second. */
typedef struct ss_contact_push {
    ss_vec3 force, turning[2];
    int pair[2];
} ss_contact_push;

typedef struct ss_rows {
    const ss_frame *frame;
    int body_count;
    int *body;            /* of the frame to live, -1 = does not move */
    double *inverse_mass; /* live bodies from here on */
    double (*inverse_inertia)[9];
    double (*free_velocity)[6]; /* v* = v + h M^-1 f, f with the pull of adhesion */
    double (*velocity)[6];      /* v* and whatever has been pushed on top of it */
    double (*momentum)[6];      /* pushes that are not in the velocity yet */
    int joint_count, contact_count;
    ss_joint_row *joint;
    ss_contact_row *contact;
    bool is_planar;      /* the frame: contacts have a tangent that leaves the plane */
    int far_contacts;    /* left out because of the margin */
    int capped_contacts; /* with less friction because of mu_max */
    int *further_body;   /* live; blocks of joint rows on more than two bodies */
    double (*further_jacobian)[6];
    int further_count;
    int body_room, joint_room, contact_room, further_room;
    int *place; /* of the frame's constraint rows among the rows */
    /* Unknowns and blocks of the contacts in front of each chunk of them, as a model has them: written by who
     * goes through them. */
    int64_t (*start)[2];
    ss_contact_push *push; /* of every contact, where a team goes through them */
    ss_team *team;         /* shares all loops over contacts and bodies of a frame; NULL: one thread */
    /* In minimal coordinates implied joints are left out, and pushes move the coordinates. Rows between
     * bodies of which T moves none are left out as well. */
    bool minimal;
    int *frame_body; /* live to the frame */
    ss_coordinates coordinates;
    ss_reactions reactions;
} ss_rows;

/* Contacts, bodies and unknowns of a frame are gone through in chunks of this many. */
enum { SS_ROWS_AT_ONCE = 256 };

/* Who goes through the contacts; in minimal coordinates they share memory. */
static inline ss_team *ss_rows_team(const ss_rows *rows)
{
    return rows->minimal ? NULL : rows->team;
}

/* `rows` is zeroed, or of another frame: its memory is used again. Fails when out of memory, when a mass
 * matrix is singular, and when both sides of a joint or contact are one body. */
bool ss_rows_make(const ss_frame *frame, const ss_step_options *step, ss_rows *rows, ss_error *err);
void ss_rows_free(ss_rows *rows);
/* Forgets what was pushed. */
void ss_rows_let_go(ss_rows *rows);

/* The mass of a body of the frame; what rounding left of the symmetry of its inertia is made good. */
static inline ss_mass ss_frame_mass(const ss_frame *frame, int body)
{
    return (ss_mass){frame->bodies.mass[body],
                     ss_mat3_symmetric_part(ss_mat3_load(frame->bodies.inertia[body]))};
}

/* J of relative motion along `direction` at the contact point, and of relative rotation about it. */
static inline void ss_contact_sliding_row(const ss_contact_row *contact, ss_vec3 direction,
                                          double jacobian[12])
{
    for (int side = 0; side < 2; side++) {
        double sign = contact->pair[side] < 0 ? 0.0 : side ? 1.0 : -1.0;
        ss_vec3_store(ss_vec3_scale(sign, direction), jacobian + 6 * side);
        ss_vec3_store(ss_vec3_scale(sign, ss_vec3_cross(contact->arm[side], direction)),
                      jacobian + 6 * side + 3);
    }
}
void ss_contact_turning_row(const ss_contact_row *contact, ss_vec3 direction, double jacobian[12]);
/* J v with velocities of live bodies */
double ss_rows_speed(const int pair[2], const double jacobian[12], double (*velocity)[6]);
/* How fast b's surface slides past a's along `direction`: with the given velocities of live bodies, and
 * before the step. */
double ss_contact_speed(const ss_contact_row *contact, ss_vec3 direction, double (*velocity)[6]);
double ss_contact_speed_before(const ss_rows *rows, const ss_contact_row *contact, ss_vec3 direction);
/* m/s: what the gap of a contact that does not bounce adds to its normal speed. */
double ss_gap_term_of(const ss_step_options *step, double gap, double h);
/* The same of one that bounces, with restitution e > 0 and the normal speed before the step. */
double ss_bounce_term_of(const ss_step_options *step, double gap, double h, double e, double before);
/* J M^-1 J' */
double ss_rows_inverse_mass(const ss_rows *rows, const int pair[2], const double jacobian[12]);

/* ---- impulses --------------------------------------------------------------------------------------- */

/* Components in the frame of the contact, on body b: N s, rolling and spin N m s. The normal one is counted
 * from the pull of the contact. */
typedef struct ss_contact_impulse {
    double normal, tangent[2], rolling[2], spin;
} ss_contact_impulse;

/* momentum += J' impulse */
void ss_rows_push_joint(ss_rows *rows, const ss_joint_row *joint, double impulse);
void ss_rows_push_contact(ss_rows *rows, const ss_contact_row *contact, const ss_contact_impulse *impulse);
/* The same of all contacts at once, by the team, with the pushes that ss_rows_set_contact left. */
void ss_rows_push_contacts(ss_rows *rows);
/* velocity += M^-1 momentum, when all have been pushed */
void ss_rows_move(ss_rows *rows);

/* All impulses of the answer zero; then one by one, pushing the bodies as well; at last the velocities. */
void ss_rows_start_answer(ss_answer *answer);
void ss_rows_add_joint(ss_rows *rows, const ss_joint_row *joint, double impulse, ss_answer *answer);
void ss_rows_add_contact(ss_rows *rows, const ss_contact_row *contact, const ss_contact_impulse *impulse,
                         ss_answer *answer);
/* As ss_rows_add_contact of contact k of the rows, but the bodies are pushed later. */
void ss_rows_set_contact(ss_rows *rows, int k, const ss_contact_impulse *impulse, ss_answer *answer);
void ss_rows_end_answer(ss_rows *rows, ss_answer *answer);
/* The other way: what an answer says about one contact. */
ss_contact_impulse ss_contact_impulse_of(const ss_contact_row *contact, const ss_answer *answer);

#endif
