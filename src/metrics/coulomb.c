/* The metrics of the BPMD paper, with thresholds that carry their units: a contact rests when its impulse is
 * more than what stops v_tol, and sticks or slides by how much of its friction is used, not by how fast it
 * is, because creep would be small by definition then. */
#include "metrics/judgement.h"

#include <math.h>

static const double saturated = 0.999; // |f| from this share of mu nu on counts as sliding

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double norm(const double a[3])
{
    return sqrt(dot(a, a));
}

/* A 2-norm, or a sum, with the contact that contributes most. */
typedef struct total {
    double sum, largest;
    int contact;
} total;

static void add(total *so_far, double part, int contact)
{
    so_far->sum += part;
    if (part > so_far->largest) {
        so_far->largest = part;
        so_far->contact = contact;
    }
}

static bool is_resting(const ss_judgement *judgement, const ss_contact_state *state)
{
    return state->normal * state->inverse_mass > judgement->slow;
}

static bool is_sliding(const ss_contact_state *state)
{
    return state->limit_ratio >= saturated * state->normal;
}

const char *ss_contact_status_name(ss_contact_status status)
{
    static const char *const names[SS_CONTACT_STATUS_COUNT] = {"open", "stick", "slip", "negative friction"};
    return names[status];
}

ss_contact_status ss_contact_status_of(const ss_judgement *judgement, const ss_contact_state *state)
{
    if (!is_resting(judgement, state)) return SS_CONTACT_OPEN;
    if (!is_sliding(state)) return SS_CONTACT_STICK;
    // what is about to slide moves no faster than rounding and tolerance let it, in any direction
    bool driven = norm(state->sliding) > judgement->slow && dot(state->friction, state->sliding) > 0.0;
    return driven ? SS_CONTACT_NEGATIVE_FRICTION : SS_CONTACT_SLIP;
}

static double cone_excess(const ss_contact_state *state)
{
    double normal = fmax(state->normal, 0.0), friction = norm(state->friction);
    if (friction == 0.0 || isinf(state->mu)) return 0.0;
    if (isinf(state->limit_ratio)) return friction;
    // along its own direction the cone reaches to nu |f| / ratio
    return fmax(0.0, friction * (1.0 - normal / state->limit_ratio));
}

/* Largest friction the law allows against this direction of sliding, times its speed. */
static double due_dissipation(const ss_contact_state *state)
{
    double speed = norm(state->sliding);
    return isinf(state->mu) || speed == 0.0 ? 0.0 : state->mu * fmax(state->normal, 0.0) * speed;
}

static void set_total(ss_judgement *judgement, enum ss_metric_id id, total of, bool root)
{
    ss_metric_set(judgement, id, root ? sqrt(of.sum) : of.sum, of.contact, -1);
}

static void set_largest(ss_judgement *judgement, enum ss_metric_id id, total of)
{
    ss_metric_set(judgement, id, sqrt(of.largest), of.contact, -1);
}

static void penetration(ss_judgement *judgement)
{
    const ss_frame *frame = judgement->frame;
    if (!frame) {
        ss_metric_refuse(judgement, SS_METRIC_penetration, "needs gaps: the file has none");
        ss_metric_refuse(judgement, SS_METRIC_penetration_max, "needs gaps: the file has none");
        return;
    }
    total depth = {0, 0, -1};
    for (int k = 0; k < judgement->contact_count; k++) {
        int contact = judgement->contacts[k].contact;
        double after = ss_contact_gap_after(judgement, contact);
        if (after < 0.0) add(&depth, after * after, contact);
    }
    set_total(judgement, SS_METRIC_penetration, depth, true);
    set_largest(judgement, SS_METRIC_penetration_max, depth);
}

void ss_metrics_coulomb(ss_judgement *judgement)
{
    total resting = {0, 0, -1}, sliding = resting, sticking = resting, anomalous = resting,
          alignment = resting, creep = resting, cone = resting, tension = resting, driving = resting,
          missing = resting, complementarity = resting;
    int aligned = 0;
    if (judgement->contact_count == 0) {
        for (int id = SS_METRIC_resting; id <= SS_METRIC_complementarity; id++) {
            ss_metric_refuse(judgement, (enum ss_metric_id)id, "no contacts");
        }
        return;
    }
    for (int k = 0; k < judgement->contact_count; k++) {
        const ss_contact_state *state = &judgement->contacts[k];
        double power = dot(state->friction, state->sliding), speed = norm(state->sliding);
        double excess = cone_excess(state), pull = fmax(0.0, -state->normal);
        add(&cone, excess * excess, state->contact);
        add(&tension, pull * pull, state->contact);
        add(&complementarity, fabs(state->normal * state->speed), state->contact);
        ss_contact_status status = ss_contact_status_of(judgement, state);
        if (status == SS_CONTACT_OPEN) continue;
        add(&resting, 1.0, state->contact);
        add(&missing, due_dissipation(state) + power, state->contact);
        if (status == SS_CONTACT_STICK) {
            add(&sticking, 1.0, state->contact);
            add(&creep, speed * speed, state->contact);
            continue;
        }
        add(&sliding, 1.0, state->contact);
        if (status == SS_CONTACT_NEGATIVE_FRICTION) add(&anomalous, 1.0, state->contact);
        if (power > 0.0) add(&driving, power * power, state->contact);
        double friction = norm(state->friction);
        if (speed > judgement->slow && friction > 0.0) {
            double off = power / (friction * speed) + 1.0;
            add(&alignment, off * off, state->contact);
            aligned++;
        }
    }
    ss_metric_set(judgement, SS_METRIC_resting, resting.sum, -1, -1);
    ss_metric_set(judgement, SS_METRIC_sliding, sliding.sum, -1, -1);
    ss_metric_set(judgement, SS_METRIC_sticking, sticking.sum, -1, -1);
    ss_metric_set(judgement, SS_METRIC_anomalous_contacts, anomalous.sum, driving.contact, -1);
    if (aligned > 0)
        set_total(judgement, SS_METRIC_alignment, alignment, true);
    else
        ss_metric_refuse(judgement, SS_METRIC_alignment, "nothing slides");
    if (sticking.sum > 0.0) {
        set_total(judgement, SS_METRIC_creep, creep, true);
        set_largest(judgement, SS_METRIC_creep_max, creep);
    } else {
        ss_metric_refuse(judgement, SS_METRIC_creep, "nothing sticks");
        ss_metric_refuse(judgement, SS_METRIC_creep_max, "nothing sticks");
    }
    set_total(judgement, SS_METRIC_cone, cone, true);
    set_total(judgement, SS_METRIC_tension, tension, true);
    set_total(judgement, SS_METRIC_anomalous_friction, driving, true);
    set_total(judgement, SS_METRIC_dissipation_gap, missing, false);
    set_total(judgement, SS_METRIC_complementarity, complementarity, false);
    penetration(judgement);
}
