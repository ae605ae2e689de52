#include "formulation/friction.h"

#include <math.h>

bool ss_friction_drops_rolling(const ss_contact_row *contact)
{
    double low = fmin(contact->mu[0], contact->mu[1]), high = fmax(contact->mu[0], contact->mu[1]);
    return contact->mu_rolling > 0.0 && low != high && (low == 0.0 || isinf(high));
}

/* Where nothing or everything limits sliding, spinning has its own limit alone. */
static double spin_of(const ss_contact_row *contact, double mu)
{
    bool coupled = contact->spin_coupling == SS_SPIN_ELLIPSOID && mu > 0.0 && !isinf(mu);
    return coupled ? contact->mu_torsion / mu : 0.0;
}

static ss_friction one_tangent(const ss_contact_row *contact, int tangent, int stuck)
{
    double mu = contact->mu[tangent];
    return (ss_friction){.mu = mu,
                         .count = 1,
                         .tangent = {tangent},
                         .scale = {1.0},
                         .stuck = stuck,
                         .spin = spin_of(contact, mu)};
}

ss_friction ss_friction_of_special(const ss_contact_row *contact)
{
    const double *mu = contact->mu;
    bool rolls = contact->mu_rolling > 0.0 && !ss_friction_drops_rolling(contact);
    int larger = mu[1] > mu[0], smaller = 1 - larger;
    if (!rolls) {
        for (int k = 0; k < 2; k++) {
            if (!contact->in_plane[1 - k]) return one_tangent(contact, k, -1);
        }
        if (mu[larger] > 0.0 && mu[smaller] == 0.0) return one_tangent(contact, larger, -1);
        if (isinf(mu[larger]) && !isinf(mu[smaller])) return one_tangent(contact, smaller, larger);
    }
    ss_friction both = {.mu = mu[larger],
                        .mu_rolling = rolls ? contact->mu_rolling : 0.0,
                        .count = 2,
                        .tangent = {0, 1},
                        .scale = {1.0, 1.0},
                        .stuck = -1,
                        .spin = spin_of(contact, mu[larger])};
    if (mu[0] != mu[1]) both.scale[smaller] = mu[smaller] / mu[larger];
    return both;
}

ss_vec3 ss_friction_direction(const ss_contact_row *contact, const ss_friction *friction, int k)
{
    return ss_vec3_scale(friction->scale[k], contact->tangent[friction->tangent[k]]);
}
