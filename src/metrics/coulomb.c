/* The metrics of the BPMD paper, with thresholds that carry their units: a contact rests when its impulse is
 * more than what stops v_tol, and sticks or slides by how much of its friction is used, not by how fast it
 * is, because creep would be small by definition then. */
#include "metrics/judgement.h"

#include <math.h>

static const double saturated = 0.999; // |f| from this share of mu nu on counts as sliding

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

/* ---- along the tangents ---------------------------------------------------------------------------- */

/* Friction is limited along a tangent when its coefficient is finite; a tangent is rough when it has any. */
enum { LIMITED = 1, ROUGH = 2 };

static bool is_along(const ss_contact_state *state, int tangent, unsigned kind)
{
    double mu = state->mu[tangent];
    return !(kind & LIMITED && isinf(mu)) && !(kind & ROUGH && mu == 0.0);
}

/* The length of what lies along tangents of this kind. */
static double length_along(const ss_contact_state *state, unsigned kind, const double v[SS_SLIDING])
{
    double length = 0.0;
    for (int i = 0; i < SS_SLIDING; i++)
        if (is_along(state, i, kind)) length = hypot(length, v[i]);
    return length;
}

/* |f| in units of the cone: f/mu along each rough tangent. Friction along a smooth one is no share of
 * anything: its rounding would be an infinite one. */
static double friction_ratio(const ss_contact_state *state)
{
    double ratio = 0.0;
    for (int i = 0; i < SS_SLIDING; i++)
        if (is_along(state, i, ROUGH)) ratio = hypot(ratio, state->friction[i] / state->mu[i]);
    return ratio;
}

/* f . v_t, with the work of spinning */
static double power_of(const ss_contact_state *state)
{
    return state->friction[0] * state->slip[0] + state->friction[1] * state->slip[1] +
           state->friction[2] * state->slip[2];
}

const char *ss_contact_status_name(ss_contact_status status)
{
    static const char *const names[SS_CONTACT_STATUS_COUNT] = {"open", "stick", "slip", "negative friction"};
    return names[status];
}

ss_contact_status ss_contact_status_of(const ss_judgement *judgement, const ss_contact_state *state)
{
    if (!(state->normal * state->inverse_mass > judgement->slow)) return SS_CONTACT_OPEN;

    /* Without any friction, what rests slides: 0 >= 0.999 * 0. */
    bool smooth = state->mu[0] == 0.0 && state->mu[1] == 0.0;
    if (!smooth && !(friction_ratio(state) >= saturated * state->normal)) return SS_CONTACT_STICK;

    /* What is about to slide moves no faster than rounding and tolerance let it, in any direction. */
    double friction = hypot(hypot(state->friction[0], state->friction[1]), state->friction[2]);
    bool driven = power_of(state) > judgement->slow * friction;
    return driven ? SS_CONTACT_NEGATIVE_FRICTION : SS_CONTACT_SLIP;
}

/* What is beyond the cone along the rough tangents, and everything along a smooth one. */
static double cone_excess(const ss_contact_state *state)
{
    double normal = fmax(state->normal, 0.0),
           friction = length_along(state, LIMITED | ROUGH, state->friction);
    double ratio = friction_ratio(state), smooth = 0.0;
    for (int i = 0; i < SS_SLIDING; i++)
        if (!is_along(state, i, ROUGH)) smooth = hypot(smooth, state->friction[i]);
    // along its own direction the cone reaches to nu |f| / ratio
    double excess = friction > 0.0 ? fmax(0.0, friction * (1.0 - normal / ratio)) : 0.0;
    return hypot(excess, smooth);
}

/* nu |(mu_u v_u, mu_v v_v)|, the most that friction can take from this sliding, and what it does take less
 * than that. A direction of infinite friction has no such limit and does not count. */
static double missing_dissipation(const ss_contact_state *state)
{
    double due = 0.0, power = 0.0;
    for (int i = 0; i < SS_SLIDING; i++) {
        if (!is_along(state, i, LIMITED)) continue;
        due = hypot(due, state->mu[i] * state->slip[i]);
        power += state->friction[i] * state->slip[i];
    }
    return fmax(state->normal, 0.0) * due + power;
}

/* 1 + the cosine between f and (mu_u^2 v_u, mu_v^2 v_v), to which the law says it is opposite; for one
 * coefficient that is the sliding itself. NAN where there is nothing to compare. */
static double misalignment(const ss_contact_state *state, double slow)
{
    double friction = length_along(state, LIMITED, state->friction), dot = 0.0, length = 0.0;
    if (!(length_along(state, LIMITED | ROUGH, state->slip) > slow) || friction == 0.0) return NAN;
    for (int i = 0; i < SS_SLIDING; i++) {
        if (!is_along(state, i, LIMITED)) continue;
        double against = state->mu[i] * state->mu[i] * state->slip[i];
        dot += state->friction[i] * against;
        length = hypot(length, against);
    }
    return dot / (friction * length) + 1.0;
}

static void set_total(ss_judgement *judgement, enum ss_metric_id id, total of, bool root)
{
    ss_metric_set(judgement, id, root ? sqrt(of.sum) : of.sum, of.contact, -1);
}

static void set_largest(ss_judgement *judgement, enum ss_metric_id id, total of)
{
    ss_metric_set(judgement, id, sqrt(of.largest), of.contact, -1);
}

/* Of all contacts of the frame that can move: those beyond the margin were left out of the problem, which
 * does not keep them from being crossed. */
static void penetration(ss_judgement *judgement)
{
    const ss_frame *frame = judgement->frame;
    const char *why = !frame                       ? "needs gaps: the file has none"
                      : frame->contacts.count == 0 ? "no contacts"
                                                   : NULL;
    if (why) {
        ss_metric_refuse(judgement, SS_METRIC_penetration, why);
        ss_metric_refuse(judgement, SS_METRIC_penetration_max, why);
        return;
    }
    total depth = {0, 0, -1};
    for (int c = 0; c < frame->contacts.count; c++) {
        const int *pair = frame->contacts.pair[c];
        if (!ss_frame_is_live(frame, pair[0]) && !ss_frame_is_live(frame, pair[1])) continue;
        double after = ss_contact_gap_after(judgement, c);
        if (after < 0.0) add(&depth, after * after, c);
    }
    set_total(judgement, SS_METRIC_penetration, depth, true);
    set_largest(judgement, SS_METRIC_penetration_max, depth);
}

void ss_metrics_coulomb(ss_judgement *judgement)
{
    total resting = {0, 0, -1}, sliding = resting, sticking = resting, anomalous = resting,
          alignment = resting, creep = resting, cone = resting, tension = resting, driving = resting,
          missing = resting, complementarity = resting;
    int driven = 0, aligned = 0;
    if (judgement->contact_count == 0) {
        for (int id = SS_METRIC_resting; id <= SS_METRIC_complementarity; id++) {
            ss_metric_refuse(judgement, (enum ss_metric_id)id, "no contacts");
        }
        penetration(judgement);
        return;
    }

    for (int k = 0; k < judgement->contact_count; k++) {
        const ss_contact_state *state = &judgement->contacts[k];
        double excess = cone_excess(state), pull = fmax(0.0, -state->normal), power = power_of(state);
        add(&cone, excess * excess, state->contact);
        add(&tension, pull * pull, state->contact);
        add(&missing, missing_dissipation(state), state->contact);
        add(&complementarity, fabs(state->normal * state->speed), state->contact);
        if (power > 0.0) add(&driving, power * power, state->contact);

        /* Only what rests can stick or slide. */
        ss_contact_status status = ss_contact_status_of(judgement, state);
        if (status == SS_CONTACT_OPEN) continue;
        add(&resting, 1.0, state->contact);
        if (status == SS_CONTACT_STICK) {
            double speed = length_along(state, ROUGH, state->slip);
            add(&sticking, 1.0, state->contact);
            add(&creep, speed * speed, state->contact);
            continue;
        }
        add(&sliding, 1.0, state->contact);
        if (status == SS_CONTACT_NEGATIVE_FRICTION) add(&anomalous, power, state->contact), driven++;
        double off = misalignment(state, judgement->slow);
        if (isnan(off)) continue;
        add(&alignment, off * off, state->contact);
        aligned++;
    }

    ss_metric_set(judgement, SS_METRIC_resting, resting.sum, -1, -1);
    ss_metric_set(judgement, SS_METRIC_sliding, sliding.sum, -1, -1);
    ss_metric_set(judgement, SS_METRIC_sticking, sticking.sum, -1, -1);
    ss_metric_set(judgement, SS_METRIC_anomalous_contacts, driven, anomalous.contact, -1);
    if (aligned > 0)
        set_total(judgement, SS_METRIC_alignment, alignment, true);
    else
        ss_metric_refuse(judgement, SS_METRIC_alignment, "nothing slides against friction");
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
