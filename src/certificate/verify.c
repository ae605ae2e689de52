/* The backward certificate of an answer: docs/certificates.md.
 *
 * Given impulses x, the velocities after the step are v = v- + M^-1 (h f + J' x), and every row has
 * w = J v + C x + c. The law of a block admits a set of w for each x; the distance of w to that set is by how
 * much the free velocity of the block has to differ for x to be the exact answer. Three steps:
 *
 *   1. w of the answer as it is decides what each block does: presses or not, sticks or slips.
 *   2. The impulses are put exactly where that state wants them: zero, or on the boundary of the cone. They
 *      need not be doubles for that, balls will do: some real number in each is meant.
 *      By how much they change counts like a distance: an answer whose impulses break the laws is not one.
 *   3. w of these impulses, in balls, and the largest distance that it can have from its set.
 */
#include "certificate/conclusion.h"
#include "certificate/forward.h"
#include "certificate/verifier.h"

#include <stdio.h>
#include <string.h>

/* ---- rows with bounds ------------------------------------------------------------------------------- */

/* What a row may take: its bounds, and friction times the impulse of its load. `settled`: of rows that follow
 * each other in a circle the first one has no load yet, and takes nothing. */
static void row_bounds(const ss_verifier *v, int r, bool settled, ss_midrad *lower, ss_midrad *upper)
{
    const ss_verified_row *row = &v->row[r];
    *lower = row->lower;
    *upper = row->upper;
    if (row->load < 0) return;
    const ss_verified_row *load = &v->row[row->load];
    ss_midrad reach = ss_midrad_of(0.0);
    if (load->in && settled) {
        ss_midrad pressed = load->x.high < 0.0 ? ss_midrad_negate(load->x) : load->x;
        reach = ss_midrad_multiply(ss_midrad_of(v->frame->constraints.friction[r]), pressed);
    }
    if (reach.high < upper->high) *upper = reach;
    if (-reach.high > lower->high) *lower = ss_midrad_negate(reach);
}

/* ---- what takes no part ------------------------------------------------------------------------------ */

static bool is_zero(const double *values, int count)
{
    for (int i = 0; i < count; i++)
        if (fabs(values[i]) > 0.0) return false; // NaN is not known
    return true;
}

/* Joints and contacts without a live body, and contacts that are left out, have no impulse in the answer;
 * bodies that are not live rest, or have the velocity that is stored for them. What does not, if any. */
static bool is_idle_at_rest(const ss_verifier *v, char what[80])
{
    const ss_frame *frame = v->frame;
    const ss_answer *answer = v->answer;
    for (int r = 0; r < frame->constraints.row_count; r++) {
        if (v->row[r].in || is_zero(&answer->row_impulse[r], 1)) continue;
        snprintf(what, 80, "joint row %d takes no part, but has an impulse", r);
        return false;
    }
    for (int c = 0, next = 0; c < frame->contacts.count; c++) {
        bool takes_part = next < v->contact_count && v->contact[next].contact == c;
        next += takes_part;
        if (takes_part ||
            (is_zero(&answer->normal_impulse[c], 1) && is_zero(answer->friction_impulse[c], 3) &&
             (!answer->rolling_impulse || is_zero(answer->rolling_impulse[c], 3))))
            continue;
        snprintf(what, 80, "contact %d takes no part, but has an impulse", c);
        return false;
    }
    for (int b = 0; b < frame->bodies.count; b++) {
        const double *after = answer->velocity[b], *before = frame->bodies.velocity[b];
        bool kept = true;
        for (int i = 0; i < 6; i++) kept &= after[i] == before[i];
        if (ss_frame_is_live(frame, b) || kept || is_zero(after, 6)) continue;
        snprintf(what, 80, "body %d takes no part, but its velocity changes", b);
        return false;
    }
    return true;
}

/* The largest difference between the velocities of the bodies and T times the generalised ones; 0 where the
 * answer has none. */
static double coordinate_error(const ss_frame *frame, const ss_answer *answer)
{
    const ss_generalized *g = &frame->generalized;
    double largest = 0.0;
    if (g->count == 0 || answer->coordinates != g->count || isnan(answer->generalized_velocity[0]))
        return 0.0;
    for (int i = 0; i < 6 * frame->bodies.count; i++) {
        double off = answer->velocity[i / 6][i % 6];
        for (int k = g->map_start[i]; k < g->map_start[i + 1]; k++)
            off -= g->map[k] * answer->generalized_velocity[g->map_column[k]];
        if (ss_frame_is_live(frame, i / 6) && !(fabs(off) <= largest)) largest = fabs(off);
    }
    return largest;
}

/* ---- together --------------------------------------------------------------------------------------- */

static void certify(ss_verifier *v, double tolerance, const ss_answer *inside, ss_certificate *to)
{
    const ss_frame *frame = v->frame;
    int rows = frame->constraints.row_count;
    ss_verifier_read(v);
    to->scale = ss_verifier_free_speed(v);

    // states from the answer as it is: all velocities before the first impulse is changed, and of rows each
    // after the one that its bounds follow
    double adjusted = 0.0;
    ss_verifier_move(v);
    ss_order_by_load(frame->constraints.friction ? frame->constraints.friction_row : NULL, rows, v->order,
                     v->place);
    for (int n = 0; n < rows; n++) {
        int r = v->order[n];
        ss_verified_row *row = &v->row[r];
        if (!row->in) continue;
        ss_midrad lower, upper, given = row->x;
        row_bounds(v, r, row->load >= 0 && v->place[row->load] < n, &lower, &upper);
        row->at =
            ss_row_settle(&row->x, lower, upper, row->inverse_mass, ss_verifier_row_velocity(v, r).high);
        adjusted = fmax(adjusted, ss_adjustment(given, row->x, row->inverse_mass));
    }
    for (int c = 0; c < v->contact_count; c++) {
        ss_midrad w[SS_COMPONENTS];
        ss_verifier_contact_velocity(v, &v->contact[c], w);
        ss_block_settle(&v->contact[c].law, w);
        adjusted = fmax(adjusted, v->contact[c].law.adjusted);
    }

    // velocities and distances of the impulses that fit
    ss_verifier_move(v);
    for (int r = 0; r < rows; r++) {
        if (!v->row[r].in) continue;
        ss_certificate_add_row(to, r, ss_row_distance(ss_verifier_row_velocity(v, r), v->row[r].at));
    }
    for (int c = 0; c < v->contact_count; c++) {
        const ss_verified_contact *contact = &v->contact[c];
        ss_midrad w[SS_COMPONENTS];
        ss_verifier_contact_velocity(v, contact, w);
        ss_certificate_add(to, contact->contact, contact->law.state, ss_block_distance(&contact->law, w));
    }

    // the velocities that the answer itself states
    double speed = to->scale, spin = to->scale;
    for (int b = 0; b < frame->bodies.count; b++) {
        if (!ss_frame_is_live(frame, b)) continue;
        for (int i = 0; i < 6; i++) {
            ss_midrad stated = ss_midrad_of(v->answer->velocity[b][i]);
            double off = ss_midrad_magnitude(ss_midrad_subtract(v->body[b].velocity[i], stated));
            double *error = i < 3 ? &to->velocity_error : &to->spin_error;
            if (!(off <= *error)) *error = off;
            double *fastest = i < 3 ? &speed : &spin;
            *fastest = fmax(*fastest, fabs(v->body[b].velocity[i].high));
        }
    }

    ss_certificate_conclude(to, adjusted, tolerance);

    // impulses without their velocities, with friction along the normal or where none act are not an answer
    bool proved = to->level >= SS_CERTIFIED_EXTENDED;
    double coordinates = coordinate_error(frame, v->answer);
    char idle[80];
    double share = to->level == SS_CERTIFIED_EXTENDED ? sqrt(to->tolerance) : to->tolerance;
    int odd = -1;
    for (int c = 0; c < v->contact_count; c++) {
        const ss_verified_contact *contact = &v->contact[c];
        const double *f = v->answer->friction_impulse[contact->contact];
        double size =
            fabs(f[0]) + fabs(f[1]) + fabs(f[2]) + fabs(v->answer->normal_impulse[contact->contact]);
        if (!(fabs(contact->along) <= share * size)) odd = contact->contact;
    }
    if (proved && !(to->velocity_error <= share * speed && to->spin_error <= share * fmax(spin, speed))) {
        to->level = SS_CERTIFIED_NOT;
        snprintf(to->reason, sizeof to->reason,
                 "the velocities differ from those of the impulses by %.2e m/s and %.2e rad/s",
                 to->velocity_error, to->spin_error);
    } else if (proved && odd >= 0) {
        to->level = SS_CERTIFIED_NOT;
        snprintf(to->reason, sizeof to->reason, "the friction of contact %d has a part along the normal",
                 odd);
    } else if (proved && !(coordinates <= share * fmax(spin, speed))) {
        to->level = SS_CERTIFIED_NOT;
        snprintf(to->reason, sizeof to->reason,
                 "the velocities of the bodies differ from the generalised ones by %.2e", coordinates);
    } else if (proved && !is_idle_at_rest(v, idle)) {
        to->level = SS_CERTIFIED_NOT;
        snprintf(to->reason, sizeof to->reason, "%s", idle);
    }

    // under the convex law also how far the exact velocities can be
    bool plain = true;
    for (int r = 0; r < rows; r++) plain &= !v->row[r].in;
    for (int c = 0; c < v->contact_count; c++) {
        const ss_block_case *law = &v->contact[c].law;
        bool slides = law->mu[SS_TANGENT] > 0.0 || law->mu[SS_TANGENT + 1] > 0.0;
        plain &= (law->mu[SS_SPIN] == 0.0 || (law->ellipsoid && slides)) && isfinite(law->mu[SS_TANGENT]) &&
                 isfinite(law->mu[SS_TANGENT + 1]);
    }
    if (to->level != SS_CERTIFIED_BACKWARD || v->law != SS_LAW_CONVEX || !inside || !plain) return;
    to->forward = ss_verify_forward(v, inside);
    if (to->forward < INFINITY) to->level = SS_CERTIFIED_FORWARD;
}

/* The answer to a frame with alternatives as one to the ordinary frame that it selected. */
static ss_answer *answer_of_selection(const ss_frame *frame, const ss_answer *answer,
                                      const ss_frame *selected, const int *origin, ss_error *err)
{
    ss_answer *to = ss_answer_create(selected, answer->rolling_impulse != NULL, err);
    if (!to) return NULL;
    memcpy(to->velocity, answer->velocity, (size_t)answer->bodies * sizeof *to->velocity);
    if (answer->coordinates)
        memcpy(to->generalized_velocity, answer->generalized_velocity,
               (size_t)answer->coordinates * sizeof *to->generalized_velocity);
    if (answer->rows)
        memcpy(to->row_impulse, answer->row_impulse, (size_t)answer->rows * sizeof *to->row_impulse);
    for (int c = 0; c < selected->contacts.count; c++) {
        bool further = origin[c] >= frame->contacts.count;
        int from = further ? origin[c] - frame->contacts.count : origin[c];
        to->normal_impulse[c] = (further ? answer->sub_normal_impulse : answer->normal_impulse)[from];
        memcpy(to->friction_impulse[c],
               (further ? answer->sub_friction_impulse : answer->friction_impulse)[from],
               sizeof to->friction_impulse[c]);
        double(*moments)[3] = further ? answer->sub_rolling_impulse : answer->rolling_impulse;
        if (to->rolling_impulse && moments)
            memcpy(to->rolling_impulse[c], moments[from], sizeof to->rolling_impulse[c]);
    }
    return to;
}

/* The first of the contacts, then of the further points, that is not in the frame of the selection although
 * it has an impulse; -1: none. */
static int find_unselected(const ss_frame *frame, const ss_answer *answer, const int *origin, int selected,
                           uint8_t *is_in)
{
    int contacts = frame->contacts.count, all = contacts + frame->subcontacts.count;
    for (int i = 0; i < selected; i++) is_in[origin[i]] = 1;
    for (int i = 0; i < all; i++) {
        bool further = i >= contacts;
        int k = further ? i - contacts : i;
        double(*moments)[3] = further ? answer->sub_rolling_impulse : answer->rolling_impulse;
        if (!is_in[i] &&
            !(is_zero(&(further ? answer->sub_normal_impulse : answer->normal_impulse)[k], 1) &&
              is_zero((further ? answer->sub_friction_impulse : answer->friction_impulse)[k], 3) &&
              (!moments || is_zero(moments[k], 3))))
            return i;
    }
    return -1;
}

/* Certifies the ordinary frame of the alternatives that the answer selected, with those of their test points
 * that carry an impulse; then the states go back to the contacts of the frame. */
static ss_certificate *certify_selection(const ss_frame *frame, const ss_answer *answer,
                                         const ss_certify_options *options, ss_error *err)
{
    int rows = frame->subcontacts.count, contacts = frame->contacts.count;
    uint8_t *promoted = ss_allocate((size_t)rows, sizeof *promoted);
    int *origin = ss_allocate((size_t)contacts + (size_t)rows, sizeof *origin);
    uint8_t *is_in = ss_allocate((size_t)contacts + (size_t)rows, sizeof *is_in);
    ss_frame *selected = NULL;
    ss_answer *own = NULL;
    ss_certificate *result = NULL;
    if (promoted && origin && is_in) {
        for (int r = 0; r < rows; r++) promoted[r] = answer->sub_normal_impulse[r] > 0.0;
        selected = ss_frame_select(frame, answer->selection, promoted, origin, err);
        if (selected) own = answer_of_selection(frame, answer, selected, origin, err);
    } else {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a certificate of %d contacts", contacts);
    }
    if (own) result = ss_certify(selected, own, options, err);

    int stray = result ? find_unselected(frame, answer, origin, selected->contacts.count, is_in) : -1;
    if (stray >= 0 && result->level > SS_CERTIFIED_NOT) {
        result->level = SS_CERTIFIED_NOT;
        snprintf(result->reason, sizeof result->reason,
                 "%s %d is of an alternative that is not selected, but has an impulse",
                 stray < contacts ? "contact" : "further point", stray < contacts ? stray : stray - contacts);
    }
    if (result) {
        ss_certified_contact *states = ss_allocate((size_t)contacts, sizeof *states);
        for (int c = 0; states && c < selected->contacts.count; c++)
            if (origin[c] < contacts) states[origin[c]] = result->contact[c];
        if (result->worst_contact >= 0 && origin[result->worst_contact] < contacts)
            result->worst_contact = origin[result->worst_contact];
        else
            result->worst_contact = -1;
        ss_release(result->contact);
        result->contact = states;
        result->contacts = contacts;
        if (!states) {
            ss_certificate_destroy(result);
            result = NULL;
            ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a certificate of %d contacts", contacts);
        }
    }
    ss_answer_destroy(own);
    ss_frame_destroy(selected);
    ss_release(promoted);
    ss_release(origin);
    ss_release(is_in);
    return result;
}

ss_certificate *ss_certify(const ss_frame *frame, const ss_answer *answer, const ss_certify_options *options,
                           ss_error *err)
{
    if (frame->subcontacts.groups && answer->selection && answer->groups == frame->subcontacts.groups)
        return certify_selection(frame, answer, options, err);
    size_t bodies = (size_t)frame->bodies.count, contacts = (size_t)frame->contacts.count;
    size_t rows = (size_t)frame->constraints.row_count;
    ss_step_options defaults = {.gamma = 1.0,
                                .restitution_speed = 0.01,
                                .contact_margin = INFINITY,
                                .joint_gamma = 1.0,
                                .joint_relaxation = 2.0};
    ss_verifier v = {.frame = frame,
                     .answer = answer,
                     .step = options ? options->step : defaults,
                     .law = options && options->law ? options->law : SS_LAW_CONE,
                     .body = ss_allocate(bodies, sizeof *v.body),
                     .contact = ss_allocate(contacts, sizeof *v.contact),
                     .row = ss_allocate(rows, sizeof *v.row),
                     .order = ss_allocate(2 * rows, sizeof *v.order)};
    if (v.order) v.place = v.order + rows;
    ss_certificate *to = ss_certificate_create(frame->contacts.count, err);

    bool good = v.body && v.contact && v.row && v.order && to;
    if (good) {
        to->law = v.law;
        if (!ss_answer_is_complete(answer))
            snprintf(to->reason, sizeof to->reason, "the answer is not complete");
        else
            certify(&v, options ? options->tolerance : 0.0, options ? options->inside : NULL, to);
    } else {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a certificate of %zu contacts", contacts);
        ss_certificate_destroy(to);
        to = NULL;
    }

    ss_release(v.body);
    ss_release(v.contact);
    ss_release(v.row);
    ss_release(v.order);
    return to;
}
