/* How far the exact velocities can be, under the convex law.
 *
 * The velocities minimise P(v) = 1/2 |v - v*|^2 + sum s^2 / (2 C), norms in M, over the convex set where
 * every contact has w = J v + c + s e_N in the dual cone, w_N >= sum |mu w_T|; s = 0 without compliance C.
 * For any v_f in that set and any x in the cones, with v_x = v* + M^-1 J' x,
 *
 *     1/2 |v_f - v_exact|^2 <= P(v_f) - D(x),   D(x) = -1/2 |v_x - v*|^2 - sum C x_N^2 / 2 - x . (J v* + c)
 *
 * because P is strongly convex and D(x) <= P(v_exact). The velocities of an answer miss the set by its
 * backward bound, so v_f is on the line from them to velocities well inside, as near to the answer as it can
 * be shown to be in the set. */
#include "certificate/forward.h"

/* v_f = (1 - t) v + t inside, in double precision: any v_f will do. */
static void go_inside(ss_verifier *v, const ss_answer *inside, double t)
{
    for (int b = 0; b < v->frame->bodies.count; b++) {
        for (int i = 0; i < 6 && ss_frame_is_live(v->frame, b); i++) {
            double own = v->answer->velocity[b][i];
            v->body[b].velocity[i] = ss_midrad_of(own + t * (inside->velocity[b][i] - own));
        }
    }
}

/* s of one contact at v_f, C x_N on the same line. */
static ss_midrad softness(const ss_verified_contact *contact, const ss_answer *inside, double t)
{
    double own = contact->law.x[SS_NORMAL].high;
    double other = fmax(0.0, inside->normal_impulse[contact->contact] + contact->pull.high);
    return ss_midrad_multiply(contact->compliance, ss_midrad_of(own + t * (other - own)));
}

/* Is w_N >= sum |mu w_T| for certain, at all contacts, with the velocities that the bodies have? */
static bool is_inside(const ss_verifier *v, const ss_answer *inside, double t)
{
    for (int c = 0; c < v->contact_count; c++) {
        const ss_verified_contact *contact = &v->contact[c];
        ss_midrad w[SS_COMPONENTS];
        ss_verifier_contact_velocity(v, contact, w);
        w[SS_NORMAL] = ss_midrad_subtract(w[SS_NORMAL],
                                          ss_midrad_multiply(contact->compliance, contact->law.x[SS_NORMAL]));
        w[SS_NORMAL] = ss_midrad_add(w[SS_NORMAL], softness(contact, inside, t));
        if (!(ss_midrad_lower(ss_block_lift(&contact->law, w)) >= 0.0)) return false;
    }
    return true;
}

/* 1/2 |v - v*|^2 in the norm of M */
static ss_midrad kinetic(const ss_frame *frame, int body, const ss_midrad v[6], const ss_midrad free[6])
{
    ss_midrad d[6], sum = ss_midrad_of(0.0);
    for (int i = 0; i < 6; i++) d[i] = ss_midrad_subtract(v[i], free[i]);
    for (int i = 0; i < 3; i++)
        sum = ss_midrad_add(
            sum, ss_midrad_multiply(ss_midrad_of(frame->bodies.mass[body]), ss_midrad_multiply(d[i], d[i])));
    for (int i = 0; i < 9; i++)
        sum = ss_midrad_add(sum, ss_midrad_multiply(ss_midrad_of(frame->bodies.inertia[body][i]),
                                                    ss_midrad_multiply(d[3 + i / 3], d[3 + i % 3])));
    return ss_midrad_multiply(ss_midrad_of(0.5), sum);
}

/* Sum over live bodies of the energy between two velocities, for the answer's and the ones that the bodies
 * have. */
static ss_midrad energy_between(const ss_verifier *v, bool of_answer)
{
    ss_midrad sum = ss_midrad_of(0.0);
    for (int b = 0; b < v->frame->bodies.count; b++) {
        if (!ss_frame_is_live(v->frame, b)) continue;
        ss_midrad stated[6];
        for (int i = 0; i < 6; i++) stated[i] = ss_midrad_of(v->answer->velocity[b][i]);
        const ss_midrad *velocity = v->body[b].velocity;
        sum = ss_midrad_add(sum, of_answer ? kinetic(v->frame, b, stated, velocity)
                                           : kinetic(v->frame, b, velocity, v->body[b].free));
    }
    return sum;
}

/* D(x): the bodies have v_x on entry, v* on return. */
static ss_midrad dual_value(ss_verifier *v)
{
    ss_midrad value = ss_midrad_negate(energy_between(v, false));
    for (int b = 0; b < v->frame->bodies.count; b++)
        for (int i = 0; i < 6; i++) v->body[b].velocity[i] = v->body[b].free[i];
    for (int c = 0; c < v->contact_count; c++) {
        const ss_verified_contact *contact = &v->contact[c];
        const ss_midrad *x = contact->law.x;
        ss_midrad w[SS_COMPONENTS]; // J v* + c + C x
        ss_verifier_contact_velocity(v, contact, w);
        for (int k = 0; k < SS_COMPONENTS; k++)
            value = ss_midrad_subtract(value, ss_midrad_multiply(x[k], w[k]));
        ss_midrad soft =
            ss_midrad_multiply(contact->compliance, ss_midrad_multiply(x[SS_NORMAL], x[SS_NORMAL]));
        value = ss_midrad_add(value, ss_midrad_multiply(ss_midrad_of(0.5), soft)); // - C x^2/2 + C x^2
    }
    return value;
}

double ss_verify_forward(ss_verifier *v, const ss_answer *inside)
{
    // D(x) of the impulses that were settled; then v* is what the bodies have without them
    ss_midrad dual = dual_value(v);

    // the nearest point to the answer on the line that is certainly in the set
    double t = 1e-16;
    for (go_inside(v, inside, t); !is_inside(v, inside, t); go_inside(v, inside, t)) {
        t *= 2.0;
        if (t > 1.0) return INFINITY;
    }

    ss_midrad primal = energy_between(v, false);
    for (int c = 0; c < v->contact_count; c++) {
        const ss_verified_contact *contact = &v->contact[c];
        if (ss_midrad_is_zero(contact->compliance)) continue;
        ss_midrad s = softness(contact, inside, t),
                  twice = ss_midrad_add(contact->compliance, contact->compliance);
        primal = ss_midrad_add(primal, ss_midrad_multiply(ss_midrad_multiply(s, s), ss_midrad_invert(twice)));
    }

    // |v - v_exact| <= |v - v_f| + |v_f - v_exact|, in the norm of M
    double gap = fmax(0.0, ss_midrad_upper(ss_midrad_subtract(primal, dual)));
    double step = fmax(0.0, ss_midrad_upper(energy_between(v, true)));
    double sum = ss_midrad_up(sqrt(gap) + sqrt(step));
    return ss_midrad_up(sum * sum);
}
