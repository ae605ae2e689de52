#include "formulation/friction.h"

#include <math.h>

bool ss_friction_drops_rolling(const ss_contact_row *contact)
{
    double low = fmin(contact->mu[0], contact->mu[1]), high = fmax(contact->mu[0], contact->mu[1]);
    return contact->mu_rolling > 0.0 && low != high && (low == 0.0 || isinf(high));
}

static ss_friction one_tangent(int tangent, double mu, int stuck)
{
    return (ss_friction){.mu = mu, .count = 1, .tangent = {tangent}, .scale = {1.0}, .stuck = stuck};
}

ss_friction ss_friction_of_special(const ss_contact_row *contact)
{
    const double *mu = contact->mu;
    bool rolls = contact->mu_rolling > 0.0 && !ss_friction_drops_rolling(contact);
    int larger = mu[1] > mu[0], smaller = 1 - larger;
    if (!rolls) {
        for (int k = 0; k < 2; k++) {
            if (!contact->in_plane[1 - k]) return one_tangent(k, mu[k], -1);
        }
        if (mu[larger] > 0.0 && mu[smaller] == 0.0) return one_tangent(larger, mu[larger], -1);
        if (isinf(mu[larger]) && !isinf(mu[smaller])) return one_tangent(smaller, mu[smaller], larger);
    }
    ss_friction both = {.mu = mu[larger],
                        .mu_rolling = rolls ? contact->mu_rolling : 0.0,
                        .count = 2,
                        .tangent = {0, 1},
                        .scale = {1.0, 1.0},
                        .stuck = -1};
    if (mu[0] != mu[1]) both.scale[smaller] = mu[smaller] / mu[larger];
    return both;
}

ss_vec3 ss_friction_direction(const ss_contact_row *contact, const ss_friction *friction, int k)
{
    return ss_vec3_scale(friction->scale[k], contact->tangent[friction->tangent[k]]);
}
