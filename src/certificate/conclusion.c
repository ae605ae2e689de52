#include "certificate/conclusion.h"

#include <stdio.h>

const char *ss_certificate_level_name(ss_certificate_level level)
{
    static const char *const names[] = {"none",     "measured", "agreed", "extended",
                                        "backward", "forward",  "exact"};
    return level >= 0 && level < SS_CERTIFICATE_LEVELS ? names[level] : NULL;
}

void ss_certificate_destroy(ss_certificate *certificate)
{
    if (!certificate) return;
    ss_release(certificate->contact);
    ss_release(certificate);
}

ss_certificate *ss_certificate_create(int contacts, ss_error *err)
{
    ss_certificate *to = ss_allocate(1, sizeof *to);
    if (to) to->contact = ss_allocate((size_t)contacts, sizeof *to->contact);
    if (!to || !to->contact) {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a certificate of %d contacts", contacts);
        ss_certificate_destroy(to);
        return NULL;
    }
    to->contacts = contacts;
    to->worst_contact = to->worst_row = -1;
    to->forward = to->distance = to->agreed = NAN;
    return to;
}

/* NaN counts as more than anything: nothing was proved. */
static bool raise_to(double *largest, double value)
{
    if (value <= *largest || isnan(*largest)) return false;
    *largest = value;
    return true;
}

void ss_certificate_add(ss_certificate *to, int contact, ss_certified_state state, ss_shortfall off)
{
    if (raise_to(&to->bound, off.linear)) to->worst_contact = contact;
    raise_to(&to->spin_bound, off.angular);
    raise_to(&to->spin_speed, off.turning);
    if (contact < 0) return;
    to->contact[contact].state = (uint8_t)state;
    to->contact[contact].bound = off.linear;
    to->contact[contact].margin = off.margin;
}

void ss_certificate_add_row(ss_certificate *to, int row, double off)
{
    if (raise_to(&to->joint_bound, off)) to->worst_row = row;
}

void ss_certificate_conclude(ss_certificate *to, double adjusted, double tolerance)
{
    for (int c = 0; c < to->contacts; c++)
        to->contact[c].certain = to->contact[c].state && to->contact[c].margin > to->bound;

    double share = to->tolerance = tolerance > 0.0 ? tolerance : SS_CERTIFIED_TOLERANCE;
    double limit = share * to->scale;
    double most = fmax(fmax(to->bound, to->spin_speed), to->joint_bound);
    if (!(to->bound < INFINITY && to->spin_bound < INFINITY && to->joint_bound < INFINITY)) { // NaN is not
        snprintf(
            to->reason, sizeof to->reason,
            "no finite bound: a mass matrix is singular in double-double precision, a number overflows, or "
            "the bounds of a row exclude each other");
        return;
    }
    if (most <= limit && adjusted <= limit) {
        to->level = SS_CERTIFIED_BACKWARD;
        return;
    }
    if (most <= limit)
        snprintf(to->reason, sizeof to->reason,
                 "the impulses break the laws: those that obey them differ by what moves a contact or joint "
                 "by %.2e m/s",
                 adjusted);
    else
        snprintf(to->reason, sizeof to->reason,
                 "the answer belongs to a problem %.2e m/s away (joints %.2e), more than %.2e",
                 fmax(to->bound, to->spin_speed), to->joint_bound, limit);
    double far = sqrt(share) * to->scale;
    if (most <= far && adjusted <= far) to->level = SS_CERTIFIED_EXTENDED;
}
