/* The backward certificate of an answer: docs/certificates.md.
 *
 * Given impulses x, the velocities after the step are v = v- + M^-1 (h f + J' x), and every row has
 * w = J v + C x + c. The law of a block admits a set of w for each x; the distance of w to that set is by how much the
 * free velocity of the block has to differ for x to be the exact answer. Three steps:
 *
 *   1. w of the answer as it is decides what each block does: presses or not, sticks or slips.
 *   2. The impulses are put exactly where that state wants them: zero, or on the boundary of the cone. They
 *      need not be doubles for that, balls will do: some real number in each is meant.
 *   3. w of these impulses, in balls, and the largest distance that it can have from its set.
 */
#include "certificate/verifier.h"

#include <stdio.h>
#include <string.h>

/* ---- step 2: impulses where the laws want them ------------------------------------------------------ */

/* A friction of a contact: the components that share one disc. */
typedef struct friction_group {
    int count, component[3];
} friction_group;

/* Sliding, rolling, spinning; components without friction (zero impulse) and with infinite friction (no
 * motion) are in none. Returns how many groups. */
static int groups_of(const ss_verified_contact *contact, friction_group groups[3])
{
    int count = 0;
    const int parts[3][3] = {{SS_TANGENT, SS_TANGENT + 1, contact->ellipsoid ? SS_SPIN : -1},
                             {SS_ROLLING, SS_ROLLING + 1, -1},
                             {contact->ellipsoid ? -1 : SS_SPIN, -1, -1}};
    for (int p = 0; p < 3; p++) {
        friction_group group = {0};
        for (int k = 0; k < 3; k++) {
            int component = parts[p][k];
            if (component < 0 || contact->mu[component] == 0.0 || isinf(contact->mu[component])) continue;
            group.component[group.count++] = component;
        }
        if (group.count) groups[count++] = group;
    }
    return count;
}

/* x of a group onto the boundary of its disc, in the direction that it has: x_i -> x_i nu / |x / mu|. */
static void put_on_boundary(ss_verified_contact *contact, const friction_group *group)
{
    ss_midrad share[3];
    for (int k = 0; k < group->count; k++) {
        int i = group->component[k];
        share[k] = ss_midrad_multiply(contact->x[i], ss_midrad_invert(ss_midrad_of(contact->mu[i])));
    }
    ss_midrad scale =
        ss_midrad_multiply(contact->x[SS_NORMAL],
                           ss_midrad_invert(ss_midrad_root(ss_midrad_sum_of_squares(share, group->count))));
    for (int k = 0; k < group->count; k++)
        contact->x[group->component[k]] = ss_midrad_multiply(scale, contact->x[group->component[k]]);
}

/* The state that w, of the answer as it is, asks for by the natural map; then x is made to fit exactly. */
static ss_certified_state settle_contact(const ss_verifier *v, ss_verified_contact *contact, uint8_t slips[3])
{
    ss_midrad w[SS_COMPONENTS];
    ss_verifier_contact_velocity(v, contact, w);
    double a = contact->inverse_mass[SS_NORMAL], widening = 0.0;
    friction_group groups[3];
    int count = groups_of(contact, groups);
    for (int g = 0; v->law == SS_LAW_CONVEX && g < count; g++) {
        double sum = 0.0; // the convex law lifts what slides: w_N = |mu w_T|
        for (int k = 0; k < groups[g].count; k++) {
            double y = contact->mu[groups[g].component[k]] * w[groups[g].component[k]].high;
            sum += y * y;
        }
        widening += sqrt(sum);
    }
    bool presses =
        contact->x[SS_NORMAL].high > 0.0 && a * contact->x[SS_NORMAL].high > w[SS_NORMAL].high - widening;
    for (int k = 0; k < SS_COMPONENTS; k++) {
        bool stuck = k != SS_NORMAL && isinf(contact->mu[k]);
        if (!stuck && (!presses || (k != SS_NORMAL && contact->mu[k] == 0.0)))
            contact->x[k] = ss_midrad_of(0.0);
    }
    if (!presses) return SS_CERTIFIED_OPEN;

    // a group slips when x - w/a leaves its disc, or x itself is not clearly inside
    ss_certified_state state = SS_CERTIFIED_STICK;
    for (int g = 0; g < count; g++) {
        double beyond = 0.0, inside = 0.0;
        for (int k = 0; k < groups[g].count; k++) {
            int i = groups[g].component[k];
            double next = (contact->x[i].high - w[i].high / contact->inverse_mass[i]) / contact->mu[i];
            double now = contact->x[i].high / contact->mu[i];
            beyond += next * next;
            inside += now * now;
        }
        double radius = contact->x[SS_NORMAL].high * contact->x[SS_NORMAL].high;
        slips[g] = inside > 0.0 && (beyond > radius || inside > radius * (1.0 - 1e-14));
        if (slips[g]) put_on_boundary(contact, &groups[g]);
        if (slips[g] && groups[g].component[0] < SS_ROLLING) state = SS_CERTIFIED_SLIP;
    }
    if (contact->mu[SS_TANGENT] == 0.0 && contact->mu[SS_TANGENT + 1] == 0.0) state = SS_CERTIFIED_SLIP;
    return state;
}

/* What a row may take: its bounds, and friction times the impulse of its load. */
static void row_bounds(const ss_verifier *v, const ss_verified_row *row, int r, ss_midrad *lower,
                       ss_midrad *upper)
{
    *lower = row->lower;
    *upper = row->upper;
    if (row->load < 0) return;
    const ss_verified_row *load = &v->row[row->load];
    ss_midrad reach = ss_midrad_of(0.0);
    if (load->in) {
        ss_midrad pressed = load->x.high < 0.0 ? ss_midrad_negate(load->x) : load->x;
        reach = ss_midrad_multiply(ss_midrad_of(v->frame->constraints.friction[r]), pressed);
    }
    if (reach.high < upper->high) *upper = reach;
    if (-reach.high > lower->high) *lower = ss_midrad_negate(reach);
}

/* -1: at its lower bound, 1: at its upper one, 0: in between, where w must vanish */
static int settle_row(const ss_verifier *v, int r, double w)
{
    ss_verified_row *row = &v->row[r];
    ss_midrad lower, upper;
    row_bounds(v, row, r, &lower, &upper);
    double next = row->inverse_mass > 0.0 ? row->x.high - w / row->inverse_mass : row->x.high;
    if (next <= lower.high) {
        row->x = lower;
        return -1;
    }
    if (next >= upper.high) {
        row->x = upper;
        return 1;
    }
    return 0;
}

/* ---- step 3: distances ------------------------------------------------------------------------------ */

typedef struct shortfall {
    double linear, angular; /* m/s and rad/s, upper bounds */
    double turning;         /* m/s: the angular part times its coefficient of friction, a length */
    double margin;
} shortfall;

static double norm_up(double a, double b)
{
    return ss_midrad_up(sqrt(ss_midrad_up(a * a + b * b)));
}

/* The distance of w to what the law admits for x, in the state that was settled. */
static shortfall distance_of(const ss_verifier *v, const ss_verified_contact *contact,
                             ss_certified_state state, const uint8_t slips[3])
{
    ss_midrad w[SS_COMPONENTS], lift = ss_midrad_of(0.0);
    ss_verifier_contact_velocity(v, contact, w);
    shortfall result = {.margin = INFINITY};
    friction_group groups[3];
    int count = groups_of(contact, groups);

    // no motion along infinite friction, whether or not anything presses
    for (int k = SS_TANGENT; k < SS_COMPONENTS; k++) {
        double *sum = k < SS_ROLLING ? &result.linear : &result.angular;
        if (isinf(contact->mu[k])) *sum = norm_up(*sum, ss_midrad_magnitude(w[k]));
    }

    for (int g = 0; g < count; g++) {
        // y = mu w, and the direction of friction c = x / (mu nu), a unit vector where it slips
        ss_midrad y[3], c[3], along = ss_midrad_of(0.0);
        int n = groups[g].count;
        for (int k = 0; k < n; k++)
            y[k] = ss_midrad_multiply(ss_midrad_of(contact->mu[groups[g].component[k]]),
                                      w[groups[g].component[k]]);
        if (state == SS_CERTIFIED_OPEN) {
            lift = ss_midrad_add(lift, ss_midrad_root(ss_midrad_sum_of_squares(y, n)));
            continue;
        }
        ss_midrad per = ss_midrad_invert(contact->x[SS_NORMAL]);
        for (int k = 0; k < n; k++) {
            int i = groups[g].component[k];
            c[k] = ss_midrad_multiply(
                contact->x[i], ss_midrad_multiply(per, ss_midrad_invert(ss_midrad_of(contact->mu[i]))));
            along = ss_midrad_add(along, ss_midrad_multiply(c[k], y[k]));
        }

        // sticking: y = 0. Slipping: y = -s c for some s >= 0, and the nearest one is s = -c . y
        ss_midrad speed = slips[g] && along.high < 0.0 ? ss_midrad_negate(along) : ss_midrad_of(0.0);
        for (int k = 0; k < n; k++) {
            int i = groups[g].component[k];
            ss_midrad rest = ss_midrad_add(y[k], ss_midrad_multiply(speed, c[k]));
            double off =
                ss_midrad_magnitude(ss_midrad_multiply(rest, ss_midrad_invert(ss_midrad_of(contact->mu[i]))));
            double *sum = i < SS_ROLLING ? &result.linear : &result.angular;
            *sum = norm_up(*sum, off);
            if (i >= SS_ROLLING) result.turning = norm_up(result.turning, off * contact->mu[i]);
        }
        lift = ss_midrad_add(lift, speed);

        // how far from the other state
        if (groups[g].component[0] >= SS_ROLLING) continue;
        if (slips[g]) {
            result.margin = speed.high / contact->mu[groups[g].component[0]];
        } else {
            double used = sqrt(ss_midrad_sum_of_squares(c, n).high);
            result.margin = (1.0 - used) * contact->x[SS_NORMAL].high * contact->inverse_mass[SS_NORMAL];
        }
    }

    // the normal: w_N = 0 where it presses, w_N >= 0 where it does not; the convex law adds what slides
    ss_midrad normal = v->law == SS_LAW_CONVEX ? ss_midrad_subtract(w[SS_NORMAL], lift) : w[SS_NORMAL];
    double short_of =
        state == SS_CERTIFIED_OPEN ? fmax(0.0, -ss_midrad_lower(normal)) : ss_midrad_magnitude(normal);
    result.linear = norm_up(result.linear, short_of);
    double presses = contact->x[SS_NORMAL].high * contact->inverse_mass[SS_NORMAL];
    result.margin = state == SS_CERTIFIED_OPEN ? normal.high : fmin(result.margin, presses);
    return result;
}

static double row_distance(const ss_verifier *v, int r, int at)
{
    ss_midrad w = ss_verifier_row_velocity(v, r);
    if (at < 0) return fmax(0.0, -ss_midrad_lower(w));
    if (at > 0) return fmax(0.0, ss_midrad_upper(w));
    return ss_midrad_magnitude(w);
}

/* ---- together --------------------------------------------------------------------------------------- */

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

static void certify(ss_verifier *v, int8_t *at, uint8_t (*slips)[3], double tolerance, ss_certificate *to)
{
    const ss_frame *frame = v->frame;
    int rows = frame->constraints.row_count;
    double turning = 0.0;
    ss_verifier_read(v);
    to->scale = ss_verifier_free_speed(v);

    // states from the answer as it is; all of them before the first impulse is changed
    ss_verifier_move(v);
    for (int r = 0; r < rows; r++) {
        if (v->row[r].in) at[r] = (int8_t)settle_row(v, r, ss_verifier_row_velocity(v, r).high);
    }
    for (int c = 0; c < v->contact_count; c++) {
        ss_verified_contact *contact = &v->contact[c];
        to->contact[contact->contact].state = (uint8_t)settle_contact(v, contact, slips[c]);
    }

    // velocities and distances of the impulses that fit
    ss_verifier_move(v);
    for (int r = 0; r < rows; r++) {
        if (!v->row[r].in) continue;
        double off = row_distance(v, r, at[r]);
        if (!(off <= to->joint_bound)) {
            to->joint_bound = off;
            to->worst_row = r;
        }
    }
    for (int c = 0; c < v->contact_count; c++) {
        ss_verified_contact *contact = &v->contact[c];
        ss_certified_contact *state = &to->contact[contact->contact];
        shortfall off = distance_of(v, contact, (ss_certified_state)state->state, slips[c]);
        state->bound = off.linear;
        state->margin = off.margin;
        if (!(off.angular <= to->spin_bound)) to->spin_bound = off.angular;
        if (!(off.turning <= turning)) turning = off.turning;
        if (!(off.linear <= to->bound)) {
            to->bound = off.linear;
            to->worst_contact = contact->contact;
        }
    }
    for (int c = 0; c < frame->contacts.count; c++)
        to->contact[c].certain = to->contact[c].state && to->contact[c].margin > to->bound;

    // the velocities that the answer itself states
    for (int b = 0; b < frame->bodies.count; b++) {
        if (!ss_frame_is_live(frame, b)) continue;
        for (int i = 0; i < 6; i++) {
            ss_midrad stated = ss_midrad_of(v->answer->velocity[b][i]);
            double off = ss_midrad_magnitude(ss_midrad_subtract(v->body[b].velocity[i], stated));
            double *error = i < 3 ? &to->velocity_error : &to->spin_error;
            if (!(off <= *error)) *error = off;
        }
    }

    double limit = tolerance * to->scale;
    if (!(to->bound < INFINITY && to->spin_bound < INFINITY && to->joint_bound < INFINITY))
        snprintf(to->reason, sizeof to->reason,
                 "no finite bound: a mass matrix is singular in double-double precision");
    else if (!(to->bound <= limit && turning <= limit && to->joint_bound <= limit))
        snprintf(to->reason, sizeof to->reason,
                 "the answer belongs to a problem %.2e m/s away (joints %.2e), more than %.2e",
                 fmax(to->bound, turning), to->joint_bound, limit);
    else
        to->level = SS_CERTIFIED_BACKWARD;
}

/* The answer to a frame with alternatives as one to the ordinary frame that it selected. */
static ss_answer *answer_of_selection(const ss_frame *frame, const ss_answer *answer,
                                      const ss_frame *selected, const int *origin, ss_error *err)
{
    ss_answer *to = ss_answer_create(selected, answer->rolling_impulse != NULL, err);
    if (!to) return NULL;
    memcpy(to->velocity, answer->velocity, (size_t)answer->bodies * sizeof *to->velocity);
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

/* Certifies the ordinary frame of the alternatives that the answer selected, with those of their test points
 * that carry an impulse; then the states go back to the contacts of the frame. */
static ss_certificate *certify_selection(const ss_frame *frame, const ss_answer *answer,
                                         const ss_certify_options *options, ss_error *err)
{
    int rows = frame->subcontacts.count, contacts = frame->contacts.count;
    uint8_t *promoted = ss_allocate((size_t)rows, sizeof *promoted);
    int *origin = ss_allocate((size_t)contacts + (size_t)rows, sizeof *origin);
    ss_frame *selected = NULL;
    ss_answer *own = NULL;
    ss_certificate *result = NULL;
    if (promoted && origin) {
        for (int r = 0; r < rows; r++) promoted[r] = answer->sub_normal_impulse[r] > 0.0;
        selected = ss_frame_select(frame, answer->selection, promoted, origin, err);
        if (selected) own = answer_of_selection(frame, answer, selected, origin, err);
    } else {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a certificate of %d contacts", contacts);
    }
    if (own) result = ss_certify(selected, own, options, err);

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
                     .row = ss_allocate(rows, sizeof *v.row)};
    int8_t *at = ss_allocate(rows, sizeof *at);
    uint8_t(*slips)[3] = ss_allocate(contacts, sizeof *slips);
    ss_certificate *to = ss_allocate(1, sizeof *to);
    if (to) to->contact = ss_allocate(contacts, sizeof *to->contact);

    bool good = v.body && v.contact && v.row && at && slips && to && to->contact;
    if (good) {
        to->law = v.law;
        to->contacts = frame->contacts.count;
        to->worst_contact = to->worst_row = -1;
        to->forward = NAN;
        if (!ss_answer_is_complete(answer))
            snprintf(to->reason, sizeof to->reason, "the answer is not complete");
        else
            certify(&v, at, slips, options && options->tolerance > 0.0 ? options->tolerance : 1e-8, to);
    } else {
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a certificate of %zu contacts", contacts);
        ss_certificate_destroy(to);
        to = NULL;
    }

    ss_release(v.body);
    ss_release(v.contact);
    ss_release(v.row);
    ss_release(at);
    ss_release(slips);
    return to;
}
