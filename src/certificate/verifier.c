#include "certificate/verifier.h"

#include <string.h>

#include "linalg/vec3.h"

/* ---- vectors of balls ------------------------------------------------------------------------------- */

static ss_midrad dot(const double direction[3], const ss_midrad v[3])
{
    ss_midrad sum = ss_midrad_multiply(ss_midrad_of(direction[0]), v[0]);
    for (int i = 1; i < 3; i++)
        sum = ss_midrad_add(sum, ss_midrad_multiply(ss_midrad_of(direction[i]), v[i]));
    return sum;
}

static void cross(const ss_midrad a[3], const ss_midrad b[3], ss_midrad c[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = ss_midrad_subtract(ss_midrad_multiply(a[j], b[k]), ss_midrad_multiply(a[k], b[j]));
    }
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

/* The inverse of the symmetric part of the inertia, by cofactors. */
static void invert_inertia(const double inertia[9], ss_midrad inverse[9])
{
    ss_midrad a[3][3], cofactor[3][3], half = ss_midrad_of(0.5);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i][j] = ss_midrad_multiply(half, ss_midrad_two_sum(inertia[3 * i + j], inertia[3 * j + i]));

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            cofactor[i][j] = ss_midrad_subtract(ss_midrad_multiply(a[i1][j1], a[i2][j2]),
                                                ss_midrad_multiply(a[i1][j2], a[i2][j1]));
        }
    }

    ss_midrad determinant = ss_midrad_of(0.0);
    for (int j = 0; j < 3; j++)
        determinant = ss_midrad_add(determinant, ss_midrad_multiply(a[0][j], cofactor[0][j]));
    ss_midrad scale = ss_midrad_invert(determinant);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) inverse[3 * i + j] = ss_midrad_multiply(scale, cofactor[j][i]);
}

/* momentum of all bodies = h f, the pull of adhesion included */
static void start_momenta(ss_verifier *v)
{
    for (int b = 0; b < v->frame->bodies.count; b++)
        for (int i = 0; i < 6; i++)
            v->body[b].momentum[i] =
                ss_midrad_multiply(ss_midrad_of(v->frame->h), ss_midrad_of(v->frame->bodies.force[b][i]));
}

static void move_bodies(ss_verifier *v)
{
    for (int b = 0; b < v->frame->bodies.count; b++) {
        ss_verified_body *body = &v->body[b];
        for (int i = 0; i < 3; i++) {
            ss_midrad turn = ss_midrad_of(0.0);
            for (int j = 0; j < 3; j++)
                turn = ss_midrad_add(
                    turn, ss_midrad_multiply(body->inverse_inertia[3 * i + j], body->momentum[3 + j]));
            body->velocity[i] =
                ss_midrad_add(body->before[i], ss_midrad_multiply(body->inverse_mass, body->momentum[i]));
            body->velocity[3 + i] = ss_midrad_add(body->before[3 + i], turn);
        }
    }
}

/* ---- contacts --------------------------------------------------------------------------------------- */

/* Velocity of b's surface against a's at the contact, and of b's rotation against a's; with `before`
 * before the step. */
static void relative_motion(const ss_verifier *v, const ss_verified_contact *contact, bool before,
                            ss_midrad linear[3], ss_midrad angular[3])
{
    const ss_contacts *contacts = &v->frame->contacts;
    for (int i = 0; i < 3; i++) {
        const double *surface =
            contacts->surface_velocity ? contacts->surface_velocity[contact->contact] : NULL;
        linear[i] = ss_midrad_of(surface ? surface[i] : 0.0);
        angular[i] = ss_midrad_of(0.0);
    }
    for (int side = 0; side < 2; side++) {
        if (contact->body[side] < 0) continue;
        const ss_verified_body *body = &v->body[contact->body[side]];
        const ss_midrad *velocity = before ? body->before : body->velocity;
        ss_midrad turning[3];
        cross(velocity + 3, contact->arm[side], turning);
        for (int i = 0; i < 3; i++) {
            ss_midrad at = ss_midrad_add(velocity[i], turning[i]), spin = velocity[3 + i];
            linear[i] = side ? ss_midrad_add(linear[i], at) : ss_midrad_subtract(linear[i], at);
            angular[i] = side ? ss_midrad_add(angular[i], spin) : ss_midrad_subtract(angular[i], spin);
        }
    }
}

/* w of all components */
void ss_verifier_contact_velocity(const ss_verifier *v, const ss_verified_contact *contact,
                                  ss_midrad w[SS_COMPONENTS])
{
    ss_midrad linear[3], angular[3];
    relative_motion(v, contact, false, linear, angular);
    for (int k = 0; k < 3; k++) w[k] = dot(contact->direction[k], linear);
    for (int k = 0; k < 2; k++) w[SS_ROLLING + k] = dot(contact->direction[SS_TANGENT + k], angular);
    w[SS_SPIN] = dot(contact->direction[SS_NORMAL], angular);
    w[SS_NORMAL] = ss_midrad_add(
        w[SS_NORMAL],
        ss_midrad_add(contact->offset, ss_midrad_multiply(contact->compliance, contact->law.x[SS_NORMAL])));
}

/* Momenta of both bodies from the impulses of a contact; what presses beyond the pull less the pull is nu. */
static void push_contact(ss_verifier *v, const ss_verified_contact *contact)
{
    ss_midrad nu = ss_midrad_subtract(contact->law.x[SS_NORMAL], contact->pull), force[3], moment[3];
    for (int i = 0; i < 3; i++) {
        force[i] = ss_midrad_multiply(nu, ss_midrad_of(contact->direction[SS_NORMAL][i]));
        moment[i] =
            ss_midrad_multiply(contact->law.x[SS_SPIN], ss_midrad_of(contact->direction[SS_NORMAL][i]));
        for (int k = 0; k < 2; k++) {
            ss_midrad along = ss_midrad_of(contact->direction[SS_TANGENT + k][i]);
            force[i] = ss_midrad_add(force[i], ss_midrad_multiply(contact->law.x[SS_TANGENT + k], along));
            moment[i] = ss_midrad_add(moment[i], ss_midrad_multiply(contact->law.x[SS_ROLLING + k], along));
        }
    }
    for (int side = 0; side < 2; side++) {
        if (contact->body[side] < 0) continue;
        ss_midrad *momentum = v->body[contact->body[side]].momentum, torque[3];
        cross(contact->arm[side], force, torque);
        for (int i = 0; i < 3; i++) {
            ss_midrad about = ss_midrad_add(torque[i], moment[i]);
            momentum[i] =
                side ? ss_midrad_add(momentum[i], force[i]) : ss_midrad_subtract(momentum[i], force[i]);
            momentum[3 + i] =
                side ? ss_midrad_add(momentum[3 + i], about) : ss_midrad_subtract(momentum[3 + i], about);
        }
    }
}

/* The gap's part of the normal row (docs/formulations.md): what the words say, written a second time. */
static ss_midrad gap_offset(const ss_verifier *v, const ss_verified_contact *contact)
{
    const ss_contacts *contacts = &v->frame->contacts;
    const ss_step_options *step = &v->step;
    int c = contact->contact;
    double gap = contacts->gap[c], e = contacts->restitution ? contacts->restitution[c] : 0.0;
    ss_midrad rate = ss_midrad_invert(ss_midrad_of(v->frame->h)); // 1/h
    ss_midrad whole = ss_midrad_multiply(ss_midrad_of(gap), rate);
    ss_midrad linear[3], angular[3], slop = ss_midrad_of(step->slop), gamma = ss_midrad_of(step->gamma);
    relative_motion(v, contact, true, linear, angular);
    ss_midrad before = dot(contact->direction[SS_NORMAL], linear);

    // a fraction gamma of what overlaps beyond the slop, or of what is open within it
    ss_midrad part = ss_midrad_multiply(gamma, whole);
    if (gap > step->slop)
        part = ss_midrad_add(whole, ss_midrad_multiply(ss_midrad_multiply(slop, rate),
                                                       ss_midrad_subtract(gamma, ss_midrad_of(1.0))));
    else if (gap < -step->slop)
        part = ss_midrad_multiply(ss_midrad_multiply(gamma, rate), ss_midrad_two_sum(gap, step->slop));
    else if (gap <= 0.0)
        part = ss_midrad_of(0.0);

    switch ((ss_gap_term)step->gap_term) {
    case SS_GAP_ZERO:
        return ss_midrad_of(0.0);
    case SS_GAP_STABILISED:
        return part;
    case SS_GAP_RESTITUTION: {
        bool hit = gap <= 0.0 || before.high + part.high <= 0.0;
        if (e > 0.0 && hit && before.high < -step->restitution_speed)
            return ss_midrad_multiply(ss_midrad_of(e), before);
        return part;
    }
    case SS_GAP_PAOLI_SCHATZMAN:
        return ss_midrad_subtract(ss_midrad_add(whole, ss_midrad_multiply(ss_midrad_of(e), whole)),
                                  ss_midrad_multiply(ss_midrad_of(e), before));
    case SS_GAP_PREVENTIVE:
        break;
    }
    return whole;
}

static void read_contact(ss_verifier *v, int c, ss_verified_contact *to)
{
    const ss_frame *frame = v->frame;
    const ss_contacts *contacts = &frame->contacts;
    *to = (ss_verified_contact){.contact = c, .law.convex = v->law == SS_LAW_CONVEX};
    memcpy(to->direction[SS_NORMAL], contacts->normal[c], sizeof to->direction[SS_NORMAL]);
    ss_contact_tangents(frame, c, to->direction[SS_TANGENT], to->direction[SS_TANGENT + 1]);
    for (int side = 0; side < 2; side++) {
        int body = contacts->pair[c][side];
        to->body[side] = ss_frame_is_live(frame, body) ? body : -1;
        for (int i = 0; i < 3; i++) {
            to->arm[side][i] = ss_midrad_of(0.0);
            if (contacts->lever_arm)
                to->arm[side][i] = ss_midrad_of(contacts->lever_arm[c][3 * side + i]);
            else if (body != SS_WORLD)
                to->arm[side][i] = ss_midrad_two_sum(contacts->point[c][i], -frame->bodies.position[body][i]);
        }
    }

    // coefficients: those of the frame, limited by mu_max
    double most = v->step.mu_max > 0.0 ? v->step.mu_max : INFINITY;
    for (int k = 0; k < 2; k++) {
        to->law.mu[SS_TANGENT + k] = fmin(contacts->mu[c][k], most);
        to->law.mu[SS_ROLLING + k] = contacts->mu_rolling ? contacts->mu_rolling[c] : 0.0;
    }
    // rolling friction needs two tangents in the cone
    double low = fmin(to->law.mu[SS_TANGENT], to->law.mu[SS_TANGENT + 1]);
    double high = fmax(to->law.mu[SS_TANGENT], to->law.mu[SS_TANGENT + 1]);
    if (low != high && (low == 0.0 || isinf(high))) to->law.mu[SS_ROLLING] = to->law.mu[SS_ROLLING + 1] = 0.0;
    to->law.mu[SS_SPIN] = contacts->mu_torsion ? contacts->mu_torsion[c] : 0.0;
    to->law.ellipsoid = contacts->spin_coupling && contacts->spin_coupling[c] == SS_SPIN_ELLIPSOID &&
                        to->law.mu[SS_SPIN] > 0.0;

    // C and c of the normal row: a spring with a damper has terms of its own
    ss_midrad h = ss_midrad_of(frame->h);
    to->pull =
        contacts->adhesion ? ss_midrad_multiply(h, ss_midrad_of(contacts->adhesion[c])) : ss_midrad_of(0.0);
    to->compliance = ss_midrad_of(contacts->compliance ? contacts->compliance[c] : 0.0);
    ss_midrad gap = gap_offset(v, to);
    if (contacts->damping && contacts->compliance && contacts->compliance[c] > 0.0) {
        ss_midrad damped =
            ss_midrad_multiply(ss_midrad_multiply(h, ss_midrad_of(contacts->damping[c])), to->compliance);
        ss_midrad softer = ss_midrad_invert(ss_midrad_add(ss_midrad_of(1.0), damped));
        to->compliance = ss_midrad_multiply(to->compliance, softer);
        gap = ss_midrad_multiply(softer,
                                 ss_midrad_multiply(ss_midrad_of(contacts->gap[c]), ss_midrad_invert(h)));
    }
    to->offset = ss_midrad_subtract(gap, ss_midrad_multiply(to->compliance, to->pull));

    // the inverse mass of each component, in double precision
    for (int k = 0; k < SS_COMPONENTS; k++) {
        const double *d = to->direction[k < SS_ROLLING ? k
                                        : k < SS_SPIN  ? k - SS_ROLLING + SS_TANGENT
                                                       : SS_NORMAL];
        double sum = k == SS_NORMAL ? to->compliance.high : 0.0;
        for (int side = 0; side < 2; side++) {
            if (to->body[side] < 0) continue;
            const ss_verified_body *body = &v->body[to->body[side]];
            double turn[3] = {d[0], d[1], d[2]};
            for (int i = 0; k < SS_ROLLING && i < 3; i++) {
                int j = (i + 1) % 3, l = (i + 2) % 3;
                turn[i] = to->arm[side][j].high * d[l] - to->arm[side][l].high * d[j];
            }
            if (k < SS_ROLLING) sum += body->inverse_mass.high;
            for (int i = 0; i < 9; i++) sum += turn[i / 3] * body->inverse_inertia[i].high * turn[i % 3];
        }
        to->law.inverse_mass[k] = sum;
    }

    // impulses of the answer
    const ss_answer *answer = v->answer;
    to->law.x[SS_NORMAL] = ss_midrad_add(ss_midrad_of(answer->normal_impulse[c]), to->pull);
    ss_vec3 axis[3];
    for (int k = 0; k < 3; k++) axis[k] = ss_vec3_load(to->direction[SS_NORMAL + k]);
    double parts[3];
    ss_vec3_components(ss_vec3_load(answer->friction_impulse[c]), axis[0], axis[1], axis[2], parts);
    for (int k = 0; k < 2; k++) to->law.x[SS_TANGENT + k] = ss_midrad_of(parts[k]);
    to->along = parts[2];
    memset(parts, 0, sizeof parts);
    if (answer->rolling_impulse)
        ss_vec3_components(ss_vec3_load(answer->rolling_impulse[c]), axis[0], axis[1], axis[2], parts);
    for (int k = 0; k < 2; k++) to->law.x[SS_ROLLING + k] = ss_midrad_of(parts[k]);
    to->law.x[SS_SPIN] = ss_midrad_of(parts[2]);
}

/* ---- joints ----------------------------------------------------------------------------------------- */

static const double *row_block(const ss_frame *frame, const ss_verified_row *row, int r, int k, int *body)
{
    const ss_constraints *constraints = &frame->constraints;
    if (k < 2) {
        *body = constraints->pair[row->joint][k];
        return constraints->jacobian[r] + 6 * k;
    }
    *body = constraints->further_body[row->further + k - 2];
    return constraints->further_jacobian[row->further + k - 2];
}

static int row_blocks(const ss_verified_row *row)
{
    return 2 + row->further_end - row->further;
}

/* J v */
static ss_midrad row_speed(const ss_verifier *v, int r, bool before)
{
    const ss_verified_row *row = &v->row[r];
    ss_midrad sum = ss_midrad_of(0.0);
    for (int k = 0; k < row_blocks(row); k++) {
        int body;
        const double *block = row_block(v->frame, row, r, k, &body);
        if (!ss_frame_is_live(v->frame, body)) continue;
        const ss_midrad *velocity = before ? v->body[body].before : v->body[body].velocity;
        for (int i = 0; i < 6; i++)
            sum = ss_midrad_add(sum, ss_midrad_multiply(ss_midrad_of(block[i]), velocity[i]));
    }
    return sum;
}

static void push_row(ss_verifier *v, int r)
{
    const ss_verified_row *row = &v->row[r];
    for (int k = 0; row->in && k < row_blocks(row); k++) {
        int body;
        const double *block = row_block(v->frame, row, r, k, &body);
        if (!ss_frame_is_live(v->frame, body)) continue;
        ss_midrad *momentum = v->body[body].momentum;
        for (int i = 0; i < 6; i++)
            momentum[i] = ss_midrad_add(momentum[i], ss_midrad_multiply(row->x, ss_midrad_of(block[i])));
    }
}

static void read_row(ss_verifier *v, int joint, int r, int further, int further_end)
{
    const ss_frame *frame = v->frame;
    const ss_constraints *constraints = &frame->constraints;
    ss_verified_row *row = &v->row[r];
    *row = (ss_verified_row){.joint = joint, .further = further, .further_end = further_end, .load = -1};
    for (int k = 0; k < row_blocks(row); k++) {
        int body;
        const double *block = row_block(frame, row, r, k, &body);
        if (!ss_frame_is_live(frame, body)) continue;
        row->in = true;
        for (int i = 0; i < 3; i++)
            row->inverse_mass += block[i] * block[i] * v->body[body].inverse_mass.high;
        for (int i = 0; i < 9; i++)
            row->inverse_mass += block[3 + i / 3] * v->body[body].inverse_inertia[i].high * block[3 + i % 3];
    }
    if (!row->in) return;

    // the law
    ss_midrad h = ss_midrad_of(frame->h), rate = ss_midrad_invert(h);
    const double *bounds = constraints->bounds[r];
    bool bilateral = bounds[0] == -INFINITY && bounds[1] == INFINITY;
    row->lower =
        isinf(bounds[0]) ? (ss_midrad){bounds[0], 0.0, 0.0} : ss_midrad_multiply(h, ss_midrad_of(bounds[0]));
    row->upper =
        isinf(bounds[1]) ? (ss_midrad){bounds[1], 0.0, 0.0} : ss_midrad_multiply(h, ss_midrad_of(bounds[1]));
    row->compliance = ss_midrad_of(constraints->regularization ? constraints->regularization[r] : 0.0);
    row->inverse_mass += row->compliance.high;
    row->x = ss_midrad_of(v->answer->row_impulse[r]);
    if (constraints->friction && constraints->friction_row && constraints->friction_row[r] >= 0)
        row->load = constraints->friction_row[r];

    // the error of the joint's position, and its own rate
    row->offset = ss_midrad_of(constraints->time_derivative[r]);
    if (constraints->holonomic && !constraints->holonomic[joint]) return;
    double g = constraints->violation[r];
    ss_midrad whole = ss_midrad_multiply(ss_midrad_of(g), rate), term = whole;
    bool open = (bounds[0] >= 0.0 && g > 0.0) || (bounds[1] <= 0.0 && g < 0.0);
    if (!open) term = ss_midrad_multiply(ss_midrad_of(v->step.joint_gamma), whole);
    if (!open && bilateral && v->step.joint_term == SS_JOINT_ZERO) term = ss_midrad_of(0.0);
    if (!open && bilateral && v->step.joint_term == SS_JOINT_SPOOK) {
        ss_midrad before = ss_midrad_add(row_speed(v, r, true), row->offset);
        ss_midrad damping = ss_midrad_add(
            ss_midrad_of(1.0), ss_midrad_multiply(ss_midrad_of(4.0), ss_midrad_of(v->step.joint_relaxation)));
        term = ss_midrad_multiply(ss_midrad_subtract(ss_midrad_multiply(ss_midrad_of(4.0), whole), before),
                                  ss_midrad_invert(damping));
    }
    row->offset = ss_midrad_add(row->offset, term);
}

ss_midrad ss_verifier_row_velocity(const ss_verifier *v, int r)
{
    const ss_verified_row *row = &v->row[r];
    return ss_midrad_add(row_speed(v, r, false),
                         ss_midrad_add(row->offset, ss_midrad_multiply(row->compliance, row->x)));
}

/* ---- velocities of all impulses --------------------------------------------------------------------- */

void ss_verifier_move(ss_verifier *v)
{
    start_momenta(v);
    for (int r = 0; r < v->frame->constraints.row_count; r++) push_row(v, r);
    for (int c = 0; c < v->contact_count; c++) push_contact(v, &v->contact[c]);
    move_bodies(v);
}

/* ---- the frame -------------------------------------------------------------------------------------- */

void ss_verifier_read(ss_verifier *v)
{
    const ss_frame *frame = v->frame;
    for (int b = 0; b < frame->bodies.count; b++) {
        ss_verified_body *body = &v->body[b];
        bool live = ss_frame_is_live(frame, b);
        for (int i = 0; i < 6; i++) body->before[i] = ss_midrad_of(live ? frame->bodies.velocity[b][i] : 0.0);
        body->inverse_mass = ss_midrad_of(0.0);
        for (int i = 0; i < 9; i++) body->inverse_inertia[i] = ss_midrad_of(0.0);
        if (!live) continue;
        body->inverse_mass = ss_midrad_invert(ss_midrad_of(frame->bodies.mass[b]));
        invert_inertia(frame->bodies.inertia[b], body->inverse_inertia);
    }

    const ss_constraints *constraints = &frame->constraints;
    for (int joint = 0, r = 0, further = 0; joint < constraints->count; joint++) {
        for (int k = 0; k < constraints->rows[joint]; k++, r++) {
            int end = further;
            while (end < constraints->further_count && constraints->further_row[end] == r) end++;
            read_row(v, joint, r, further, end);
            further = end;
        }
    }

    for (int c = 0; c < frame->contacts.count; c++) {
        bool live = ss_frame_is_live(frame, frame->contacts.pair[c][0]) ||
                    ss_frame_is_live(frame, frame->contacts.pair[c][1]);
        if (live && !(frame->contacts.gap[c] > v->step.contact_margin))
            read_contact(v, c, &v->contact[v->contact_count++]);
    }
}

double ss_verifier_free_speed(ss_verifier *v)
{
    double largest = 0.0;
    start_momenta(v);
    for (int c = 0; c < v->contact_count; c++) { // adhesion pulls all the same
        ss_verified_contact alone = v->contact[c];
        for (int k = 0; k < SS_COMPONENTS; k++) alone.law.x[k] = ss_midrad_of(0.0);
        push_contact(v, &alone);
    }
    move_bodies(v);
    for (int b = 0; b < v->frame->bodies.count; b++) {
        memcpy(v->body[b].free, v->body[b].velocity, sizeof v->body[b].free);
        // where contacts and joints stay as they are anyway, a millionth of the bodies' speed counts
        for (int i = 0; i < 3; i++) largest = fmax(largest, 1e-6 * fabs(v->body[b].free[i].high));
    }
    for (int r = 0; r < v->frame->constraints.row_count; r++)
        if (v->row[r].in)
            largest = fmax(largest, fabs(ss_midrad_add(row_speed(v, r, false), v->row[r].offset).high));
    for (int c = 0; c < v->contact_count; c++) {
        ss_midrad linear[3], angular[3], sum = v->contact[c].offset;
        relative_motion(v, &v->contact[c], false, linear, angular);
        sum = ss_midrad_add(sum, dot(v->contact[c].direction[SS_NORMAL], linear));
        double along = dot(v->contact[c].direction[SS_TANGENT], linear).high;
        double across = dot(v->contact[c].direction[SS_TANGENT + 1], linear).high;
        largest = fmax(largest, sqrt(sum.high * sum.high + along * along + across * across));
    }
    return largest;
}
