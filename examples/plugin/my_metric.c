/* A metric as a plug-in: the largest share of its friction that a contact uses, |f| / (mu nu), in excess
 * of 1. It is computed for every answer that is judged, by any solver, and can be a stop rule. */
#include <stickslip/plugin.h>

static bool overload(const ss_metric *metric, const ss_case *what, ss_metric_value *value, ss_error *err)
{
    (void)metric, (void)err;
    const ss_contacts *contacts = &ss_assembly_frame(what->assembly)->contacts;
    *value = (ss_metric_value){.applies = true, .worst_contact = -1, .worst_constraint = -1};
    for (int c = 0; c < contacts->count; c++) {
        const double *f = what->answer->friction_impulse[c];
        double most = contacts->mu[c][0] * what->answer->normal_impulse[c];
        double excess = sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]) / most - 1.0;
        if (!(most > 0.0) || excess <= value->value) continue;
        value->value = excess;
        value->worst_contact = c;
    }
    return true;
}

static const ss_metric friction_overload = {
    .name = "friction_overload",
    .unit = "1",
    .summary = "friction beyond Coulomb's limit, as a share of it",
    .definition = "max of |f| / (mu nu) - 1 over contacts with nu > 0, not below 0",
    .measure = overload,
};

static const ss_metric *const metrics[] = {&friction_overload, NULL};
const ss_extension ss_plugin = {.abi = SS_ABI, .metrics = metrics};
