/* formulation/friction.h - the friction of one contact as a circular cone, whatever its coefficients are.
 *
 * Different coefficients along the two tangents make an elliptic cone. Rows scaled by mu_i / mu, mu the
 * larger one, make it circular again: |(x_u, x_v)| <= mu x_N with r_i = (mu_i / mu) x_i. A tangent without
 * friction needs no row. One with infinite friction beside a finite one cannot be in the same cone: it
 * sticks, x anything and u = 0. The ellipsoid of sliding and spinning is a cone of one dimension more, by a
 * row for spinning scaled by mu_t / mu: |(x_u, x_v, x_s)| <= mu x_N with r_S = (mu_t / mu) x_s.
 */
#ifndef FORMULATION_FRICTION_H
#define FORMULATION_FRICTION_H

#include "formulation/rows.h"

typedef struct ss_friction {
    double mu;         /* of the circular cone; 0 and infinity are possible */
    double mu_rolling; /* m; > 0 only with two tangents in the cone */
    int count;         /* tangents in the cone: 1 or 2 */
    int tangent[2];    /* which ones: 0 = t_u, 1 = t_v */
    double scale[2];   /* of their rows: mu_i / mu, in (0, 1] */
    int stuck;         /* the tangent that sticks beside the cone, -1 = none */
    /* spinning as one more tangent: its row is scaled by mu_t / mu, in m; 0: not in the cone */
    double spin;
} ss_friction;

ss_friction ss_friction_of_special(const ss_contact_row *contact);
/* Most contacts are alike: the same coefficient all around, and no rolling friction. */
static inline ss_friction ss_friction_of(const ss_contact_row *contact)
{
    if (contact->mu[0] != contact->mu[1] || contact->mu_rolling > 0.0 || !contact->in_plane[0] ||
        !contact->in_plane[1] || contact->mu_torsion > 0.0)
        return ss_friction_of_special(contact);
    return (ss_friction){
        .mu = contact->mu[0], .count = 2, .tangent = {0, 1}, .scale = {1.0, 1.0}, .stuck = -1};
}
/* Rolling friction is left out where sliding friction is zero or infinite in one direction only: such a
 * contact has one tangent in its cone, and rolling friction needs two. */
bool ss_friction_drops_rolling(const ss_contact_row *contact);

/* The k-th tangent in the cone, scaled. */
ss_vec3 ss_friction_direction(const ss_contact_row *contact, const ss_friction *friction, int k);

#endif
