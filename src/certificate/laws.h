/* certificate/laws.h - what the laws admit: the state of a contact or row from its velocity, impulses that
 * fit it exactly, and the distance of the velocity to what these impulses admit. The same for frames and for
 * problems without bodies. */
#ifndef CERTIFICATE_LAWS_H
#define CERTIFICATE_LAWS_H

#include <stickslip/certificate.h>

#include "certificate/midrad.h"

/* Components of a contact: normal, two tangents, rolling about these, spinning about the normal. */
enum { SS_NORMAL, SS_TANGENT, SS_ROLLING = 3, SS_SPIN = 5, SS_COMPONENTS };

typedef struct ss_block_case {
    double mu[SS_COMPONENTS];           /* most of each component per unit of normal impulse */
    bool ellipsoid;                     /* sliding and spinning share one friction */
    bool convex;                        /* the convex law instead of Coulomb's */
    double inverse_mass[SS_COMPONENTS]; /* own entries of A, rounded: for decisions only */
    ss_midrad x[SS_COMPONENTS];         /* of what presses beyond the pull of adhesion */
    ss_certified_state state;           /* from here on: set by ss_block_settle */
    bool slips[3];                      /* of the frictions that it has: sliding, rolling, spinning */
    double adjusted;                    /* m/s: by how much x was changed to fit */
} ss_block_case;

typedef struct ss_shortfall {
    double linear, angular; /* m/s and rad/s, upper bounds */
    double turning;         /* m/s: the angular part times its coefficient of friction, a length */
    double margin;
} ss_shortfall;

/* The state that w, of the answer as it is, asks for by the natural map; then x is made to fit it exactly. */
void ss_block_settle(ss_block_case *block, const ss_midrad w[SS_COMPONENTS]);
/* The distance of w to what the law admits for x, in the state that was settled. */
ss_shortfall ss_block_distance(const ss_block_case *block, const ss_midrad w[SS_COMPONENTS]);

/* w_N - sum |mu w_T| over all frictions: what the convex law wants to be zero or more. */
ss_midrad ss_block_lift(const ss_block_case *block, const ss_midrad w[SS_COMPONENTS]);

/* Rows in an order in which each comes after its load, the row that its friction follows: load[row], or -1;
 * NULL: no row has one. Of rows that follow each other in a circle one comes before its load. place is the
 * inverse of order. */
void ss_order_by_load(const int *load, int count, int *order, int *place);

/* The same as for a block for a row lower <= x <= upper. -1: at its lower bound, where w >= 0; 1: at its
 * upper one, where w <= 0; 0: in between, where w vanishes; SS_ROW_CONTRADICTS: nothing is within both. */
enum { SS_ROW_CONTRADICTS = 2 };
int ss_row_settle(ss_midrad *x, ss_midrad lower, ss_midrad upper, double inverse_mass, double w);
/* A change of an impulse as the velocity that it gives to its own row. */
double ss_adjustment(ss_midrad from, ss_midrad to, double inverse_mass);
double ss_row_distance(ss_midrad w, int at);

#endif
