/* The backward certificate of an answer: docs/certificates.md.
 *
 * Given impulses x, the velocities after the step are v = v- + M^-1 (h f + J' x), and every row has w = J v + C
 * x + c. The law of a block admits a set of w for each x; the distance of w to that set is by how much the
 * free velocity of the block has to differ for x to be the exact answer. Three steps:
 *
 *   1. w of the answer as it is decides what each block does: presses or not, sticks or slips.
 *   2. The impulses are put exactly where that state wants them: zero, or on the boundary of the cone. They
 *      need not be doubles for that, balls will do: some real number in each is meant.
 *   3. w of these impulses, in balls, and the largest distance that it can have from its set.
 *
 * Everything is computed from the arrays of the frame. Nothing of src/formulation, src/problem or src/solver
 * takes part: an error there shows here. */
#include <stickslip/certificate.h>

#include "base/memory.h"
#include "certificate/ball.h"

#include <stdio.h>
#include <string.h>

/* Components of a contact: normal, two tangents, rolling about the two tangents, spinning about the normal. */
enum { NORMAL, TANGENT, ROLLING = 3, SPIN = 5, COMPONENTS };

typedef struct verified_body {
    ss_ball inverse_mass, inverse_inertia[9];
    ss_ball before[6];   /* v- */
    ss_ball momentum[6]; /* h f, and what was pushed */
    ss_ball velocity[6]; /* after ss_move_bodies */
} verified_body;

typedef struct verified_contact {
    int contact; /* of the frame */
    int body[2]; /* -1: does not move */
    ss_ball arm[2][3];
    double direction[3][3]; /* normal, tangents */
    double mu[COMPONENTS];  /* radius of the friction of each component per unit of normal impulse */
    bool ellipsoid;         /* sliding and spinning share one friction */
    ss_ball compliance, offset, pull;
    double inverse_mass[COMPONENTS]; /* J M^-1 J' + C, rounded: for decisions only */
    ss_ball x[COMPONENTS];           /* of what presses beyond the pull of adhesion */
} verified_contact;

typedef struct verified_row {
    bool in;
    ss_ball compliance, offset, lower, upper;
    double inverse_mass;
    int further, further_end;
    int joint, load; /* load: the row that its friction follows, -1 */
    ss_ball x;
} verified_row;

typedef struct verifier {
    const ss_frame *frame;
    const ss_answer *answer;
    ss_step_options step;
    ss_law law;
    verified_body *body;
    verified_contact *contact;
    int contact_count;
    verified_row *row;
} verifier;

/* ---- vectors of balls ------------------------------------------------------------------------------- */

static ss_ball dot(const double direction[3], const ss_ball v[3])
{
    ss_ball sum = ss_ball_multiply(ss_ball_of(direction[0]), v[0]);
    for (int i = 1; i < 3; i++) sum = ss_ball_add(sum, ss_ball_multiply(ss_ball_of(direction[i]), v[i]));
    return sum;
}

static void cross(const ss_ball a[3], const ss_ball b[3], ss_ball c[3])
{
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = ss_ball_subtract(ss_ball_multiply(a[j], b[k]), ss_ball_multiply(a[k], b[j]));
    }
}

static ss_ball sum_of_squares(const ss_ball *v, int count)
{
    ss_ball sum = ss_ball_of(0.0);
    for (int i = 0; i < count; i++) sum = ss_ball_add(sum, ss_ball_multiply(v[i], v[i]));
    return sum;
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

/* The inverse of the symmetric part of the inertia, by cofactors. */
static void invert_inertia(const double inertia[9], ss_ball inverse[9])
{
    ss_ball a[3][3], cofactor[3][3], half = ss_ball_of(0.5);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            a[i][j] = ss_ball_multiply(half, ss_ball_two_sum(inertia[3 * i + j], inertia[3 * j + i]));

    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            cofactor[i][j] = ss_ball_subtract(ss_ball_multiply(a[i1][j1], a[i2][j2]),
                                              ss_ball_multiply(a[i1][j2], a[i2][j1]));
        }
    }

    ss_ball determinant = ss_ball_of(0.0);
    for (int j = 0; j < 3; j++)
        determinant = ss_ball_add(determinant, ss_ball_multiply(a[0][j], cofactor[0][j]));
    ss_ball scale = ss_ball_invert(determinant);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) inverse[3 * i + j] = ss_ball_multiply(scale, cofactor[j][i]);
}

/* momentum of all bodies = h f, the pull of adhesion included */
static void start_momenta(verifier *v)
{
    for (int b = 0; b < v->frame->bodies.count; b++)
        for (int i = 0; i < 6; i++)
            v->body[b].momentum[i] =
                ss_ball_multiply(ss_ball_of(v->frame->h), ss_ball_of(v->frame->bodies.force[b][i]));
}

static void move_bodies(verifier *v)
{
    for (int b = 0; b < v->frame->bodies.count; b++) {
        verified_body *body = &v->body[b];
        for (int i = 0; i < 3; i++) {
            ss_ball turn = ss_ball_of(0.0);
            for (int j = 0; j < 3; j++)
                turn = ss_ball_add(turn,
                                   ss_ball_multiply(body->inverse_inertia[3 * i + j], body->momentum[3 + j]));
            body->velocity[i] =
                ss_ball_add(body->before[i], ss_ball_multiply(body->inverse_mass, body->momentum[i]));
            body->velocity[3 + i] = ss_ball_add(body->before[3 + i], turn);
        }
    }
}

/* ---- contacts --------------------------------------------------------------------------------------- */

/* Velocity of b's surface against a's at the contact, and of b's rotation against a's; of bodies with `before`
 * true before the step. */
static void relative_motion(const verifier *v, const verified_contact *contact, bool before,
                            ss_ball linear[3], ss_ball angular[3])
{
    const ss_contacts *contacts = &v->frame->contacts;
    for (int i = 0; i < 3; i++) {
        const double *surface =
            contacts->surface_velocity ? contacts->surface_velocity[contact->contact] : NULL;
        linear[i] = ss_ball_of(surface ? surface[i] : 0.0);
        angular[i] = ss_ball_of(0.0);
    }
    for (int side = 0; side < 2; side++) {
        if (contact->body[side] < 0) continue;
        const verified_body *body = &v->body[contact->body[side]];
        const ss_ball *velocity = before ? body->before : body->velocity;
        ss_ball turning[3];
        cross(velocity + 3, contact->arm[side], turning);
        for (int i = 0; i < 3; i++) {
            ss_ball at = ss_ball_add(velocity[i], turning[i]), spin = velocity[3 + i];
            linear[i] = side ? ss_ball_add(linear[i], at) : ss_ball_subtract(linear[i], at);
            angular[i] = side ? ss_ball_add(angular[i], spin) : ss_ball_subtract(angular[i], spin);
        }
    }
}

/* w of all components */
static void contact_velocity(const verifier *v, const verified_contact *contact, ss_ball w[COMPONENTS])
{
    ss_ball linear[3], angular[3];
    relative_motion(v, contact, false, linear, angular);
    for (int k = 0; k < 3; k++) w[k] = dot(contact->direction[k], linear);
    for (int k = 0; k < 2; k++) w[ROLLING + k] = dot(contact->direction[TANGENT + k], angular);
    w[SPIN] = dot(contact->direction[NORMAL], angular);
    w[NORMAL] = ss_ball_add(
        w[NORMAL], ss_ball_add(contact->offset, ss_ball_multiply(contact->compliance, contact->x[NORMAL])));
}

/* Momenta of both bodies from the impulses of a contact; what presses beyond the pull less the pull is nu. */
static void push_contact(verifier *v, const verified_contact *contact)
{
    ss_ball nu = ss_ball_subtract(contact->x[NORMAL], contact->pull), force[3], moment[3];
    for (int i = 0; i < 3; i++) {
        force[i] = ss_ball_multiply(nu, ss_ball_of(contact->direction[NORMAL][i]));
        moment[i] = ss_ball_multiply(contact->x[SPIN], ss_ball_of(contact->direction[NORMAL][i]));
        for (int k = 0; k < 2; k++) {
            ss_ball along = ss_ball_of(contact->direction[TANGENT + k][i]);
            force[i] = ss_ball_add(force[i], ss_ball_multiply(contact->x[TANGENT + k], along));
            moment[i] = ss_ball_add(moment[i], ss_ball_multiply(contact->x[ROLLING + k], along));
        }
    }
    for (int side = 0; side < 2; side++) {
        if (contact->body[side] < 0) continue;
        ss_ball *momentum = v->body[contact->body[side]].momentum, torque[3];
        cross(contact->arm[side], force, torque);
        for (int i = 0; i < 3; i++) {
            ss_ball about = ss_ball_add(torque[i], moment[i]);
            momentum[i] = side ? ss_ball_add(momentum[i], force[i]) : ss_ball_subtract(momentum[i], force[i]);
            momentum[3 + i] =
                side ? ss_ball_add(momentum[3 + i], about) : ss_ball_subtract(momentum[3 + i], about);
        }
    }
}

/* The gap's part of the normal row (docs/formulations.md): what the words say, written a second time. */
static ss_ball gap_offset(const verifier *v, const verified_contact *contact)
{
    const ss_contacts *contacts = &v->frame->contacts;
    const ss_step_options *step = &v->step;
    int c = contact->contact;
    double gap = contacts->gap[c], e = contacts->restitution ? contacts->restitution[c] : 0.0;
    ss_ball rate = ss_ball_invert(ss_ball_of(v->frame->h)); // 1/h
    ss_ball whole = ss_ball_multiply(ss_ball_of(gap), rate);
    ss_ball linear[3], angular[3], slop = ss_ball_of(step->slop), gamma = ss_ball_of(step->gamma);
    relative_motion(v, contact, true, linear, angular);
    ss_ball before = dot(contact->direction[NORMAL], linear);

    // a fraction gamma of what overlaps beyond the slop, or of what is open within it
    ss_ball part = ss_ball_multiply(gamma, whole);
    if (gap > step->slop)
        part = ss_ball_add(
            whole, ss_ball_multiply(ss_ball_multiply(slop, rate), ss_ball_subtract(gamma, ss_ball_of(1.0))));
    else if (gap < -step->slop)
        part = ss_ball_multiply(ss_ball_multiply(gamma, rate), ss_ball_two_sum(gap, step->slop));
    else if (gap <= 0.0)
        part = ss_ball_of(0.0);

    switch ((ss_gap_term)step->gap_term) {
    case SS_GAP_ZERO:
        return ss_ball_of(0.0);
    case SS_GAP_STABILISED:
        return part;
    case SS_GAP_RESTITUTION: {
        bool hit = gap <= 0.0 || before.high + part.high <= 0.0;
        if (e > 0.0 && hit && before.high < -step->restitution_speed)
            return ss_ball_multiply(ss_ball_of(e), before);
        return part;
    }
    case SS_GAP_PAOLI_SCHATZMAN:
        return ss_ball_subtract(ss_ball_add(whole, ss_ball_multiply(ss_ball_of(e), whole)),
                                ss_ball_multiply(ss_ball_of(e), before));
    case SS_GAP_PREVENTIVE:
        break;
    }
    return whole;
}

static void read_contact(verifier *v, int c, verified_contact *to)
{
    const ss_frame *frame = v->frame;
    const ss_contacts *contacts = &frame->contacts;
    *to = (verified_contact){.contact = c};
    memcpy(to->direction[NORMAL], contacts->normal[c], sizeof to->direction[NORMAL]);
    ss_contact_tangents(frame, c, to->direction[TANGENT], to->direction[TANGENT + 1]);
    for (int side = 0; side < 2; side++) {
        int body = contacts->pair[c][side];
        to->body[side] = ss_frame_is_live(frame, body) ? body : -1;
        for (int i = 0; i < 3; i++) {
            to->arm[side][i] = ss_ball_of(0.0);
            if (contacts->lever_arm)
                to->arm[side][i] = ss_ball_of(contacts->lever_arm[c][3 * side + i]);
            else if (body != SS_WORLD)
                to->arm[side][i] = ss_ball_two_sum(contacts->point[c][i], -frame->bodies.position[body][i]);
        }
    }

    // coefficients: those of the frame, limited by mu_max
    double most = v->step.mu_max > 0.0 ? v->step.mu_max : INFINITY;
    for (int k = 0; k < 2; k++) {
        to->mu[TANGENT + k] = fmin(contacts->mu[c][k], most);
        to->mu[ROLLING + k] = contacts->mu_rolling ? contacts->mu_rolling[c] : 0.0;
    }
    to->mu[SPIN] = contacts->mu_torsion ? contacts->mu_torsion[c] : 0.0;
    to->ellipsoid =
        contacts->spin_coupling && contacts->spin_coupling[c] == SS_SPIN_ELLIPSOID && to->mu[SPIN] > 0.0;

    // C and c of the normal row: a spring with a damper has terms of its own
    ss_ball h = ss_ball_of(frame->h);
    to->pull = contacts->adhesion ? ss_ball_multiply(h, ss_ball_of(contacts->adhesion[c])) : ss_ball_of(0.0);
    to->compliance = ss_ball_of(contacts->compliance ? contacts->compliance[c] : 0.0);
    ss_ball gap = gap_offset(v, to);
    if (contacts->damping && contacts->compliance && contacts->compliance[c] > 0.0) {
        ss_ball damped =
            ss_ball_multiply(ss_ball_multiply(h, ss_ball_of(contacts->damping[c])), to->compliance);
        ss_ball softer = ss_ball_invert(ss_ball_add(ss_ball_of(1.0), damped));
        to->compliance = ss_ball_multiply(to->compliance, softer);
        gap = ss_ball_multiply(softer, ss_ball_multiply(ss_ball_of(contacts->gap[c]), ss_ball_invert(h)));
    }
    to->offset = ss_ball_subtract(gap, ss_ball_multiply(to->compliance, to->pull));

    // the inverse mass of each component, in double precision
    for (int k = 0; k < COMPONENTS; k++) {
        const double *d = to->direction[k < ROLLING ? k : k < SPIN ? k - ROLLING + TANGENT : NORMAL];
        double sum = k == NORMAL ? to->compliance.high : 0.0;
        for (int side = 0; side < 2; side++) {
            if (to->body[side] < 0) continue;
            const verified_body *body = &v->body[to->body[side]];
            double turn[3] = {d[0], d[1], d[2]};
            for (int i = 0; k < ROLLING && i < 3; i++) {
                int j = (i + 1) % 3, l = (i + 2) % 3;
                turn[i] = to->arm[side][j].high * d[l] - to->arm[side][l].high * d[j];
            }
            if (k < ROLLING) sum += body->inverse_mass.high;
            for (int i = 0; i < 9; i++) sum += turn[i / 3] * body->inverse_inertia[i].high * turn[i % 3];
        }
        to->inverse_mass[k] = sum;
    }

    // impulses of the answer
    const ss_answer *answer = v->answer;
    to->x[NORMAL] = ss_ball_add(ss_ball_of(answer->normal_impulse[c]), to->pull);
    for (int k = 0; k < COMPONENTS; k++) {
        if (k == NORMAL) continue;
        const double *vector = k < ROLLING               ? answer->friction_impulse[c]
                               : answer->rolling_impulse ? answer->rolling_impulse[c]
                                                         : NULL;
        const double *d = to->direction[k < ROLLING ? k : k < SPIN ? k - ROLLING + TANGENT : NORMAL];
        double sum = 0.0;
        for (int i = 0; vector && i < 3; i++) sum += d[i] * vector[i];
        to->x[k] = ss_ball_of(sum);
    }
}

/* ---- joints ----------------------------------------------------------------------------------------- */

static const double *row_block(const ss_frame *frame, const verified_row *row, int r, int k, int *body)
{
    const ss_constraints *constraints = &frame->constraints;
    if (k < 2) {
        *body = constraints->pair[row->joint][k];
        return constraints->jacobian[r] + 6 * k;
    }
    *body = constraints->further_body[row->further + k - 2];
    return constraints->further_jacobian[row->further + k - 2];
}

static int row_blocks(const verified_row *row)
{
    return 2 + row->further_end - row->further;
}

/* J v */
static ss_ball row_speed(const verifier *v, int r, bool before)
{
    const verified_row *row = &v->row[r];
    ss_ball sum = ss_ball_of(0.0);
    for (int k = 0; k < row_blocks(row); k++) {
        int body;
        const double *block = row_block(v->frame, row, r, k, &body);
        if (!ss_frame_is_live(v->frame, body)) continue;
        const ss_ball *velocity = before ? v->body[body].before : v->body[body].velocity;
        for (int i = 0; i < 6; i++)
            sum = ss_ball_add(sum, ss_ball_multiply(ss_ball_of(block[i]), velocity[i]));
    }
    return sum;
}

static void push_row(verifier *v, int r)
{
    const verified_row *row = &v->row[r];
    for (int k = 0; row->in && k < row_blocks(row); k++) {
        int body;
        const double *block = row_block(v->frame, row, r, k, &body);
        if (!ss_frame_is_live(v->frame, body)) continue;
        ss_ball *momentum = v->body[body].momentum;
        for (int i = 0; i < 6; i++)
            momentum[i] = ss_ball_add(momentum[i], ss_ball_multiply(row->x, ss_ball_of(block[i])));
    }
}

static void read_row(verifier *v, int joint, int r, int further, int further_end)
{
    const ss_frame *frame = v->frame;
    const ss_constraints *constraints = &frame->constraints;
    verified_row *row = &v->row[r];
    *row = (verified_row){.joint = joint, .further = further, .further_end = further_end, .load = -1};
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
    ss_ball h = ss_ball_of(frame->h), rate = ss_ball_invert(h);
    const double *bounds = constraints->bounds[r];
    bool bilateral = bounds[0] == -INFINITY && bounds[1] == INFINITY;
    row->lower =
        isinf(bounds[0]) ? (ss_ball){bounds[0], 0.0, 0.0} : ss_ball_multiply(h, ss_ball_of(bounds[0]));
    row->upper =
        isinf(bounds[1]) ? (ss_ball){bounds[1], 0.0, 0.0} : ss_ball_multiply(h, ss_ball_of(bounds[1]));
    row->compliance = ss_ball_of(constraints->regularization ? constraints->regularization[r] : 0.0);
    row->inverse_mass += row->compliance.high;
    row->x = ss_ball_of(v->answer->row_impulse[r]);
    if (constraints->friction && constraints->friction_row && constraints->friction_row[r] >= 0)
        row->load = constraints->friction_row[r];

    // the error of the joint's position, and its own rate
    row->offset = ss_ball_of(constraints->time_derivative[r]);
    if (constraints->holonomic && !constraints->holonomic[joint]) return;
    double g = constraints->violation[r];
    ss_ball whole = ss_ball_multiply(ss_ball_of(g), rate), term = whole;
    bool open = (bounds[0] >= 0.0 && g > 0.0) || (bounds[1] <= 0.0 && g < 0.0);
    if (!open) term = ss_ball_multiply(ss_ball_of(v->step.joint_gamma), whole);
    if (!open && bilateral && v->step.joint_term == SS_JOINT_ZERO) term = ss_ball_of(0.0);
    if (!open && bilateral && v->step.joint_term == SS_JOINT_SPOOK) {
        ss_ball before = ss_ball_add(row_speed(v, r, true), row->offset);
        ss_ball damping = ss_ball_add(
            ss_ball_of(1.0), ss_ball_multiply(ss_ball_of(4.0), ss_ball_of(v->step.joint_relaxation)));
        term = ss_ball_multiply(ss_ball_subtract(ss_ball_multiply(ss_ball_of(4.0), whole), before),
                                ss_ball_invert(damping));
    }
    row->offset = ss_ball_add(row->offset, term);
}

static ss_ball row_velocity(const verifier *v, int r)
{
    const verified_row *row = &v->row[r];
    return ss_ball_add(row_speed(v, r, false),
                       ss_ball_add(row->offset, ss_ball_multiply(row->compliance, row->x)));
}

/* ---- velocities of all impulses --------------------------------------------------------------------- */

static void move(verifier *v)
{
    start_momenta(v);
    for (int r = 0; r < v->frame->constraints.row_count; r++) push_row(v, r);
    for (int c = 0; c < v->contact_count; c++) push_contact(v, &v->contact[c]);
    move_bodies(v);
}

/* ---- step 2: impulses where the laws want them ------------------------------------------------------ */

/* A friction of a contact: the components that share one disc. */
typedef struct friction_group {
    int count, component[3];
} friction_group;

/* Sliding, rolling, spinning; components without friction (zero impulse) and with infinite friction (no
 * motion) are in none. Returns how many groups. */
static int groups_of(const verified_contact *contact, friction_group groups[3])
{
    int count = 0;
    const int parts[3][3] = {{TANGENT, TANGENT + 1, contact->ellipsoid ? SPIN : -1},
                             {ROLLING, ROLLING + 1, -1},
                             {contact->ellipsoid ? -1 : SPIN, -1, -1}};
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
static void put_on_boundary(verified_contact *contact, const friction_group *group)
{
    ss_ball share[3];
    for (int k = 0; k < group->count; k++) {
        int i = group->component[k];
        share[k] = ss_ball_multiply(contact->x[i], ss_ball_invert(ss_ball_of(contact->mu[i])));
    }
    ss_ball scale = ss_ball_multiply(contact->x[NORMAL],
                                     ss_ball_invert(ss_ball_root(sum_of_squares(share, group->count))));
    for (int k = 0; k < group->count; k++)
        contact->x[group->component[k]] = ss_ball_multiply(scale, contact->x[group->component[k]]);
}

/* The state that w, of the answer as it is, asks for by the natural map; then x is made to fit exactly. */
static ss_certified_state settle_contact(const verifier *v, verified_contact *contact, uint8_t slips[3])
{
    ss_ball w[COMPONENTS];
    contact_velocity(v, contact, w);
    double a = contact->inverse_mass[NORMAL], widening = 0.0;
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
    bool presses = contact->x[NORMAL].high > 0.0 && a * contact->x[NORMAL].high > w[NORMAL].high - widening;
    for (int k = 0; k < COMPONENTS; k++) {
        bool stuck = k != NORMAL && isinf(contact->mu[k]);
        if (!stuck && (!presses || (k != NORMAL && contact->mu[k] == 0.0))) contact->x[k] = ss_ball_of(0.0);
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
        double radius = contact->x[NORMAL].high * contact->x[NORMAL].high;
        slips[g] = inside > 0.0 && (beyond > radius || inside > radius * (1.0 - 1e-14));
        if (slips[g]) put_on_boundary(contact, &groups[g]);
        if (slips[g] && groups[g].component[0] < ROLLING) state = SS_CERTIFIED_SLIP;
    }
    if (contact->mu[TANGENT] == 0.0 && contact->mu[TANGENT + 1] == 0.0) state = SS_CERTIFIED_SLIP;
    return state;
}

/* What a row may take: its bounds, and friction times the impulse of its load. */
static void row_bounds(const verifier *v, const verified_row *row, int r, ss_ball *lower, ss_ball *upper)
{
    *lower = row->lower;
    *upper = row->upper;
    if (row->load < 0) return;
    const verified_row *load = &v->row[row->load];
    ss_ball reach = ss_ball_of(0.0);
    if (load->in) {
        ss_ball pressed = load->x.high < 0.0 ? ss_ball_negate(load->x) : load->x;
        reach = ss_ball_multiply(ss_ball_of(v->frame->constraints.friction[r]), pressed);
    }
    if (reach.high < upper->high) *upper = reach;
    if (-reach.high > lower->high) *lower = ss_ball_negate(reach);
}

/* -1: at its lower bound, 1: at its upper one, 0: in between, where w must vanish */
static int settle_row(const verifier *v, int r, double w)
{
    verified_row *row = &v->row[r];
    ss_ball lower, upper;
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
    return ss_ball_up(sqrt(ss_ball_up(a * a + b * b)));
}

/* The distance of w to what the law admits for x, in the state that was settled. */
static shortfall distance_of(const verifier *v, const verified_contact *contact, ss_certified_state state,
                             const uint8_t slips[3])
{
    ss_ball w[COMPONENTS], lift = ss_ball_of(0.0);
    contact_velocity(v, contact, w);
    shortfall result = {.margin = INFINITY};
    friction_group groups[3];
    int count = groups_of(contact, groups);

    // no motion along infinite friction, whether or not anything presses
    for (int k = TANGENT; k < COMPONENTS; k++) {
        double *sum = k < ROLLING ? &result.linear : &result.angular;
        if (isinf(contact->mu[k])) *sum = norm_up(*sum, ss_ball_magnitude(w[k]));
    }

    for (int g = 0; g < count; g++) {
        // y = mu w, and the direction of friction c = x / (mu nu), a unit vector where it slips
        ss_ball y[3], c[3], along = ss_ball_of(0.0);
        int n = groups[g].count;
        for (int k = 0; k < n; k++)
            y[k] =
                ss_ball_multiply(ss_ball_of(contact->mu[groups[g].component[k]]), w[groups[g].component[k]]);
        if (state == SS_CERTIFIED_OPEN) {
            lift = ss_ball_add(lift, ss_ball_root(sum_of_squares(y, n)));
            continue;
        }
        ss_ball per = ss_ball_invert(contact->x[NORMAL]);
        for (int k = 0; k < n; k++) {
            int i = groups[g].component[k];
            c[k] = ss_ball_multiply(contact->x[i],
                                    ss_ball_multiply(per, ss_ball_invert(ss_ball_of(contact->mu[i]))));
            along = ss_ball_add(along, ss_ball_multiply(c[k], y[k]));
        }

        // sticking: y = 0. Slipping: y = -s c for some s >= 0, and the nearest one is s = -c . y
        ss_ball speed = slips[g] && along.high < 0.0 ? ss_ball_negate(along) : ss_ball_of(0.0);
        for (int k = 0; k < n; k++) {
            int i = groups[g].component[k];
            ss_ball rest = ss_ball_add(y[k], ss_ball_multiply(speed, c[k]));
            double off =
                ss_ball_magnitude(ss_ball_multiply(rest, ss_ball_invert(ss_ball_of(contact->mu[i]))));
            double *sum = i < ROLLING ? &result.linear : &result.angular;
            *sum = norm_up(*sum, off);
            if (i >= ROLLING) result.turning = norm_up(result.turning, off * contact->mu[i]);
        }
        lift = ss_ball_add(lift, speed);

        // how far from the other state
        if (groups[g].component[0] >= ROLLING) continue;
        if (slips[g]) {
            result.margin = speed.high / contact->mu[groups[g].component[0]];
        } else {
            double used = sqrt(sum_of_squares(c, n).high);
            result.margin = (1.0 - used) * contact->x[NORMAL].high * contact->inverse_mass[NORMAL];
        }
    }

    // the normal: w_N = 0 where it presses, w_N >= 0 where it does not; the convex law adds what slides
    ss_ball normal = v->law == SS_LAW_CONVEX ? ss_ball_subtract(w[NORMAL], lift) : w[NORMAL];
    double short_of =
        state == SS_CERTIFIED_OPEN ? fmax(0.0, -ss_ball_lower(normal)) : ss_ball_magnitude(normal);
    result.linear = norm_up(result.linear, short_of);
    double presses = contact->x[NORMAL].high * contact->inverse_mass[NORMAL];
    result.margin = state == SS_CERTIFIED_OPEN ? normal.high : fmin(result.margin, presses);
    return result;
}

static double row_distance(const verifier *v, int r, int at)
{
    ss_ball w = row_velocity(v, r);
    if (at < 0) return fmax(0.0, -ss_ball_lower(w));
    if (at > 0) return fmax(0.0, ss_ball_upper(w));
    return ss_ball_magnitude(w);
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

/* Bodies, rows and contacts of the frame, with the impulses of the answer. */
static void read_frame(verifier *v)
{
    const ss_frame *frame = v->frame;
    for (int b = 0; b < frame->bodies.count; b++) {
        verified_body *body = &v->body[b];
        bool live = ss_frame_is_live(frame, b);
        for (int i = 0; i < 6; i++) body->before[i] = ss_ball_of(live ? frame->bodies.velocity[b][i] : 0.0);
        body->inverse_mass = ss_ball_of(0.0);
        for (int i = 0; i < 9; i++) body->inverse_inertia[i] = ss_ball_of(0.0);
        if (!live) continue;
        body->inverse_mass = ss_ball_invert(ss_ball_of(frame->bodies.mass[b]));
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

/* The largest velocity that a contact or a joint row would have without any impulse. */
static double free_speed(verifier *v)
{
    double largest = 0.0;
    start_momenta(v);
    move_bodies(v);
    for (int r = 0; r < v->frame->constraints.row_count; r++)
        if (v->row[r].in)
            largest = fmax(largest, fabs(ss_ball_add(row_speed(v, r, false), v->row[r].offset).high));
    for (int c = 0; c < v->contact_count; c++) {
        ss_ball linear[3], angular[3], sum = v->contact[c].offset;
        relative_motion(v, &v->contact[c], false, linear, angular);
        sum = ss_ball_add(sum, dot(v->contact[c].direction[NORMAL], linear));
        double along = dot(v->contact[c].direction[TANGENT], linear).high;
        double across = dot(v->contact[c].direction[TANGENT + 1], linear).high;
        largest = fmax(largest, sqrt(sum.high * sum.high + along * along + across * across));
    }
    return largest;
}

static void certify(verifier *v, int8_t *at, uint8_t (*slips)[3], double tolerance, ss_certificate *to)
{
    const ss_frame *frame = v->frame;
    int rows = frame->constraints.row_count;
    double turning = 0.0;
    read_frame(v);
    to->scale = free_speed(v);

    // states from the answer as it is; all of them before the first impulse is changed
    move(v);
    for (int r = 0; r < rows; r++) {
        if (v->row[r].in) at[r] = (int8_t)settle_row(v, r, row_velocity(v, r).high);
    }
    for (int c = 0; c < v->contact_count; c++) {
        verified_contact *contact = &v->contact[c];
        to->contact[contact->contact].state = (uint8_t)settle_contact(v, contact, slips[c]);
    }

    // velocities and distances of the impulses that fit
    move(v);
    for (int r = 0; r < rows; r++) {
        if (!v->row[r].in) continue;
        double off = row_distance(v, r, at[r]);
        if (!(off <= to->joint_bound)) {
            to->joint_bound = off;
            to->worst_row = r;
        }
    }
    for (int c = 0; c < v->contact_count; c++) {
        verified_contact *contact = &v->contact[c];
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
            ss_ball stated = ss_ball_of(v->answer->velocity[b][i]);
            double off = ss_ball_magnitude(ss_ball_subtract(v->body[b].velocity[i], stated));
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
    verifier v = {.frame = frame,
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
