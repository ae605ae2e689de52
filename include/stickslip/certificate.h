/* stickslip/certificate.h - what can be proved about an answer.
 *
 * Metrics measure an answer in double precision. A certificate states a theorem about it: its impulses,
 * adjusted in the last digits so that each obeys the law of its contact exactly, are the exact answer to a
 * problem whose free contact velocities differ from those of the frame by at most `bound` m/s. Nothing in it
 * is measured: rows, masses and velocities are computed from the numbers of the frame, by a verifier that
 * shares no code with formulations and solvers, in arithmetic that encloses every rounding error.
 *
 * docs/certificates.md derives it, and says what each level promises.
 *
 * Read after formulation.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_CERTIFICATE_H
#define STICKSLIP_CERTIFICATE_H

#include <stickslip/formulation.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What is known about an answer, from nothing to everything. ss_certify gives none, extended and higher ones;
 * measured and agreed stand for answers that a verifier could not, or not quite, prove. */
typedef enum ss_certificate_level {
    SS_CERTIFIED_NOT,      /* refused: `reason` says why */
    SS_CERTIFIED_MEASURED, /* metrics in double precision */
    SS_CERTIFIED_AGREED,   /* two families of methods, velocities within a stated distance */
    SS_CERTIFIED_EXTENDED, /* the bound is proved, but larger than the tolerance: at most its square root */
    SS_CERTIFIED_BACKWARD, /* proved: the exact answer to a problem within `bound` */
    SS_CERTIFIED_FORWARD,  /* proved: the exact velocities are within `forward` of the answer's */
    SS_CERTIFIED_EXACT,    /* proved in rational numbers: the exact answer itself */
    SS_CERTIFICATE_LEVELS
} ss_certificate_level;
SS_API const char *ss_certificate_level_name(ss_certificate_level level); /* "backward" */

/* The state of a contact in the certified answer. */
typedef enum ss_certified_state {
    SS_CERTIFIED_LEFT_OUT, /* no live body, or farther apart than contact_margin */
    SS_CERTIFIED_OPEN,
    SS_CERTIFIED_STICK,
    SS_CERTIFIED_SLIP,
} ss_certified_state;

typedef struct ss_certified_contact {
    uint8_t state; /* ss_certified_state */
    /* Does the state hold for every problem within the bound's reach: is its margin larger than the bound of
     * the certificate? 0: undecided */
    uint8_t certain;
    double bound; /* m/s: how far its free velocity is from one that the impulses answer exactly */
    /* m/s, how far the state is from changing: open: the speed of parting; slip: the speed of sliding; stick:
     * what is left of the friction, times the contact's inverse mass */
    double margin;
} ss_certified_contact;

typedef struct ss_certificate {
    ss_certificate_level level;
    ss_law law;         /* SS_LAW_CONE: Coulomb; SS_LAW_CONVEX; SS_LAW_BOX: a problem without cones */
    double bound;       /* m/s: the largest of all contacts; upper bounds, proved */
    double spin_bound;  /* rad/s: the same for rolling and torsional friction */
    double spin_speed;  /* m/s: the same times the coefficient of each, which is a length */
    double joint_bound; /* of joint rows, in the units of each */
    int worst_contact;  /* -1: none */
    int worst_row;      /* of the constraints; -1: none */
    double scale; /* m/s: the largest free velocity of a contact or joint row; at least 1e-6 of a body's */
    /* m/s and rad/s: the answer's body velocities against those of the certified impulses */
    double velocity_error, spin_error;
    double distance; /* m/s, with level exact: of each component of the contact velocities; else NaN */
    double forward;  /* J, with level forward: 1/2 |v - v_exact|^2 in the norm of M, upper bound; else NaN */
    /* Where it comes from, as far as that is known: the method, one of another family, and the largest
     * difference between their velocities in m/s and rad/s (NaN: none) */
    char solver[32], second[32];
    double agreed;
    int contacts; /* of the frame */
    ss_certified_contact *contact;
    char reason[160]; /* why the level is not higher */
    double tolerance; /* that of the options: level backward is a bound of at most this times scale */
    /* Of a stored one: of everything that was stored with the answer (docs/format.md), in hex, so that what
     * is recorded and not proved cannot change unnoticed; empty: computed when it is stored */
    char digest[33];
} ss_certificate;

#define SS_CERTIFIED_TOLERANCE 1e-8 /* the default one */

/* What is asked of a certificate. */
typedef struct ss_certify_options {
    ss_step_options step; /* the treatment of gaps and joints that the answer was made with */
    ss_law law;           /* 0: SS_LAW_CONE */
    /* Level backward is given where bound, joint_bound and the bounds of rolling and spinning, times their
     * coefficients, are at most this times scale; 0: SS_CERTIFIED_TOLERANCE */
    double tolerance;
    /* Level forward is tried where these are given, the law is convex, and there are no joints: an answer to
     * the same frame with surfaces that approach a little, so that every contact is safely apart. Else NULL
     * */
    const ss_answer *inside;
    int exact_unknowns; /* problems: level exact is tried with at most this many unknowns; 0: never */
} ss_certify_options;

/* Certifies a complete answer to a checked frame; with alternatives, to the ordinary frame that the answer
 * selects. options may be NULL: the defaults of formulation cone. NULL when out of memory; an answer that
 * cannot be certified has a level of SS_CERTIFIED_NOT, and a reason. */
SS_API ss_certificate *ss_certify(const ss_frame *frame, const ss_answer *answer,
                                  const ss_certify_options *options, ss_error *err);
/* The same for a problem without bodies, as in FCLIB: x[problem->size]. A and b are taken as exact. Laws
 * box, free, coupled, cone and convex; step and law of the options are not used. */
SS_API ss_certificate *ss_certify_problem(ss_problem *problem, const double *x,
                                          const ss_certify_options *options, ss_error *err);
SS_API void ss_certificate_destroy(ss_certificate *certificate);

#ifdef __cplusplus
}
#endif
#endif
