#include "formulation/rows.h"

#include "linalg/mat6.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

/* ---- bodies ----------------------------------------------------------------------------------------- */

/* Masses and free velocities of live bodies; one that cannot be inverted is not a number. */
static void fill_bodies(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    ss_rows *rows = context;
    const ss_frame *frame = rows->frame;
    for (int64_t live = begin; live < end; live++) {
        int b = rows->frame_body[live];
        ss_mass mass = ss_frame_mass(frame, b), inverse;
        rows->inverse_mass[live] = NAN;
        if (!ss_mass_inverse(&mass, &inverse)) continue;
        rows->inverse_mass[live] = inverse.linear;
        ss_mat3_store(ss_mat3_symmetric_part(inverse.angular), rows->inverse_inertia[live]);

        double *v = rows->free_velocity[live];
        ss_mass_apply(&inverse, frame->bodies.force[b], v);
        for (int i = 0; i < 6; i++) v[i] = frame->bodies.velocity[b][i] + frame->h * v[i];
        if (rows->minimal) ss_coordinates_velocity(&rows->coordinates, b, v);
        memcpy(rows->velocity[live], v, sizeof rows->velocity[live]);
    }
}

static bool add_bodies(const ss_frame *frame, ss_rows *rows, ss_error *err)
{
    for (int b = 0; b < frame->bodies.count; b++) {
        bool moves = ss_frame_is_live(frame, b);
        rows->body[b] = moves ? rows->body_count : -1;
        if (moves) rows->frame_body[rows->body_count++] = b;
    }
    ss_parallel_for(ss_rows_team(rows), rows->body_count, SS_ROWS_AT_ONCE, fill_bodies, rows);
    for (int live = 0; live < rows->body_count; live++) {
        if (!isnan(rows->inverse_mass[live])) continue;
        return ss_fail(err, SS_ERROR_INPUT, "bodies/world_inertia_tensors[%d]: cannot be inverted",
                       rows->frame_body[live]);
    }
    return true;
}

/* Live bodies of a pair; false when there is none. */
static bool find_pair(const ss_rows *rows, const int pair[2], int live[2])
{
    bool moves = false;
    for (int side = 0; side < 2; side++) {
        live[side] = pair[side] == SS_WORLD ? -1 : rows->body[pair[side]];
        moves |= live[side] >= 0 && (!rows->minimal || ss_coordinates_move(&rows->coordinates, pair[side]));
    }
    return moves;
}

static bool check_pair(const int pair[2], const char *path, int index, ss_error *err)
{
    return pair[0] != pair[1] || pair[0] == SS_WORLD ||
           ss_fail(err, SS_ERROR_INPUT, "%s[%d]: both sides are body %d", path, index, pair[0]);
}

/* ---- joints ----------------------------------------------------------------------------------------- */

/* The further blocks of one row of the frame: from `begin` to `end`. */
typedef struct blocks_of_row {
    int begin, end;
} blocks_of_row;

/* A limit that is still open may be reached within the step, so that its distance counts in full. */
static double position_term(const ss_frame *frame, const ss_step_options *step, const ss_joint_row *row,
                            blocks_of_row further)
{
    const ss_constraints *constraints = &frame->constraints;
    if (constraints->holonomic && !constraints->holonomic[row->joint]) return 0.0;
    double g = constraints->violation[row->row];
    const double *bounds = constraints->bounds[row->row];
    bool open = (bounds[0] >= 0.0 && g > 0.0) || (bounds[1] <= 0.0 && g < 0.0);
    if (open) return g / frame->h;
    if (row->law == SS_LAW_FREE && step->joint_term == SS_JOINT_ZERO) return 0.0;
    if (row->law != SS_LAW_FREE || step->joint_term != SS_JOINT_SPOOK)
        return step->joint_gamma * g / frame->h;

    /* SPOOK needs the rate J v + dg/dt before the step. */
    double rate = constraints->time_derivative[row->row];
    for (int side = 0; side < 2; side++) {
        int body = constraints->pair[row->joint][side];
        if (!ss_frame_is_live(frame, body)) continue;
        const double *v = frame->bodies.velocity[body], *block = constraints->jacobian[row->row] + 6 * side;
        for (int i = 0; i < 6; i++) rate += block[i] * v[i];
    }
    for (int k = further.begin; k < further.end; k++) {
        if (!ss_frame_is_live(frame, constraints->further_body[k])) continue;
        const double *v = frame->bodies.velocity[constraints->further_body[k]];
        for (int i = 0; i < 6; i++) rate += constraints->further_jacobian[k][i] * v[i];
    }
    return (4.0 * g / frame->h - rate) / (1.0 + 4.0 * step->joint_relaxation);
}

/* Where the block of a live body goes: one side of the pair, or a further block. */
static void place_block(const int pair[2], int body, const double block[6], ss_joint_row *to, ss_rows *rows)
{
    if (body < 0) return;
    if (body == pair[0] || body == pair[1]) {
        memcpy(to->jacobian + 6 * (body == pair[1]), block, 6 * sizeof *block);
        return;
    }
    int at = to->further + to->further_count++;
    rows->further_body[at] = body;
    memcpy(rows->further_jacobian[at], block, 6 * sizeof *block);
    rows->further_count++;
}

static void add_joint_row(const ss_frame *frame, const ss_step_options *step, int row, int joint,
                          const int pair[2], blocks_of_row further, ss_rows *rows)
{
    const ss_constraints *constraints = &frame->constraints;
    ss_joint_row *to = &rows->joint[rows->joint_count++];
    const double *bounds = constraints->bounds[row];
    *to = (ss_joint_row){.row = row, .joint = joint, .pair = {pair[0], pair[1]}, .partner = -1};
    to->further = rows->further_count;
    for (int side = 0; side < 2; side++) {
        int body = constraints->pair[joint][side];
        place_block(pair, body == SS_WORLD ? -1 : rows->body[body], constraints->jacobian[row] + 6 * side, to,
                    rows);
    }
    for (int k = further.begin; k < further.end; k++)
        place_block(pair, rows->body[constraints->further_body[k]], constraints->further_jacobian[k], to,
                    rows);
    to->compliance = constraints->regularization ? constraints->regularization[row] : 0.0;
    to->lower = frame->h * bounds[0]; // a force over the step
    to->upper = frame->h * bounds[1];
    to->law = bounds[0] == -INFINITY && bounds[1] == INFINITY ? SS_LAW_FREE : SS_LAW_BOX;
    to->offset = position_term(frame, step, to, further) + constraints->time_derivative[row];
}

/* Friction of a joint whose load is not there any more is none at all. The load becomes a box without bounds
 * when it was free: free unknowns may be eliminated, and the bound would be lost with them. */
static void couple(const ss_constraints *constraints, ss_rows *rows)
{
    for (int r = 0; r < rows->joint_count; r++) {
        ss_joint_row *joint = &rows->joint[r];
        if (!constraints->friction || !constraints->friction_row) break;
        if (constraints->friction_row[joint->row] < 0) continue;
        joint->partner = rows->place[constraints->friction_row[joint->row]];
        joint->factor = constraints->friction[joint->row];
        joint->law = joint->partner >= 0 ? SS_LAW_COUPLED : SS_LAW_BOX;
        if (joint->partner < 0) joint->lower = joint->upper = 0.0;
    }
    for (int r = 0; r < rows->joint_count; r++) {
        int partner = rows->joint[r].partner;
        if (partner >= 0 && rows->joint[partner].law == SS_LAW_FREE) rows->joint[partner].law = SS_LAW_BOX;
    }
}

static bool add_joints(const ss_frame *frame, const ss_step_options *step, ss_rows *rows, ss_error *err)
{
    const ss_constraints *constraints = &frame->constraints;
    bool good = true;
    for (int joint = 0, row = 0, block = 0; good && joint < constraints->count; joint++) {
        int live[2], end = block;
        good = check_pair(constraints->pair[joint], "constraints/pairs", joint, err);
        bool moves = good && find_pair(rows, constraints->pair[joint], live);
        bool implied = rows->minimal && constraints->implied && constraints->implied[joint];

        // a side that does not move is taken by the first further body that does, for all rows of the joint
        while (good && end < constraints->further_count &&
               constraints->further_row[end] < row + constraints->rows[joint]) {
            int body = rows->body[constraints->further_body[end++]];
            if (body < 0 || body == live[0] || body == live[1] || (live[0] >= 0 && live[1] >= 0)) continue;
            live[live[0] >= 0] = body;
            moves = true;
        }

        for (int k = 0; good && k < constraints->rows[joint]; k++, row++) {
            blocks_of_row further = {block, block};
            while (further.end < end && constraints->further_row[further.end] == row) further.end++;
            block = further.end;
            bool in = moves && !implied;

            // in minimal coordinates it may be that nothing moves along the row
            if (in && rows->minimal && further.begin == further.end) {
                int body[2];
                for (int side = 0; side < 2; side++) {
                    body[side] = constraints->pair[joint][side];
                    if (!ss_frame_is_live(frame, body[side])) body[side] = SS_WORLD;
                }
                in = ss_coordinates_see(&rows->coordinates, body, constraints->jacobian[row]);
            }
            rows->place[row] = in ? rows->joint_count : -1;
            if (in) add_joint_row(frame, step, row, joint, live, further, rows);
        }
    }
    if (good) couple(constraints, rows);
    return good;
}

/* ---- contacts --------------------------------------------------------------------------------------- */

void ss_contact_turning_row(const ss_contact_row *contact, ss_vec3 direction, double jacobian[12])
{
    memset(jacobian, 0, 12 * sizeof *jacobian);
    for (int side = 0; side < 2; side++) {
        if (contact->pair[side] < 0) continue;
        double sign = side ? 1.0 : -1.0;
        for (int i = 0; i < 3; i++)
            jacobian[6 * side + i] *= sign; // zeros have their sign, as in sliding rows
        ss_vec3_store(ss_vec3_scale(sign, direction), jacobian + 6 * side + 3);
    }
}

/* n . (v_b - v_a) of one side's body: with the sign of the side */
static double side_speed(const ss_contact_row *contact, int side, ss_vec3 direction, const double v[6])
{
    ss_vec3 at = ss_vec3_add(ss_vec3_load(v), ss_vec3_cross(ss_vec3_load(v + 3), contact->arm[side]));
    return (side ? 1.0 : -1.0) * ss_vec3_dot(direction, at);
}

double ss_contact_speed(const ss_contact_row *contact, ss_vec3 direction, double (*velocity)[6])
{
    double sum = ss_vec3_dot(direction, contact->surface);
    for (int side = 0; side < 2; side++) {
        int live = contact->pair[side];
        if (live >= 0) sum += side_speed(contact, side, direction, velocity[live]);
    }
    return sum;
}

double ss_contact_speed_before(const ss_rows *rows, const ss_contact_row *contact, ss_vec3 direction)
{
    const ss_frame *frame = rows->frame;
    double sum = ss_vec3_dot(direction, contact->surface);
    for (int side = 0; side < 2; side++) {
        if (contact->pair[side] < 0) continue;
        int body = frame->contacts.pair[contact->contact][side];
        sum += side_speed(contact, side, direction, frame->bodies.velocity[body]);
    }
    return sum;
}

static double stabilised_term(const ss_step_options *step, double gap, double h)
{
    double slop = step->slop, gamma = step->gamma;
    if (gap > 0.0) return (gap > slop ? gap - slop + gamma * slop : gamma * gap) / h;
    return gap < -slop ? gamma * (gap + slop) / h : 0.0;
}

double ss_gap_term_of(const ss_step_options *step, double gap, double h)
{
    switch ((ss_gap_term)step->gap_term) {
    case SS_GAP_ZERO:
        return 0.0;
    case SS_GAP_STABILISED:
    case SS_GAP_RESTITUTION:
        return stabilised_term(step, gap, h);
    case SS_GAP_PREVENTIVE:
    case SS_GAP_PAOLI_SCHATZMAN: // without restitution the same
        break;
    }
    return gap / h;
}

/* Hit: overlapping, or reached within the step at the speed before it. Waiting for the overlap would be too
 * late, because gap/h takes the speed away in the step in which the contact closes.
 *
 * Paoli and Schatzman: gap(q+) + e gap(q-) >= 0, with gap(q+) = gap + h u+ and gap(q-) = gap - h u-, the rate
 * of the normal's own motion being of second order. Divided by h, u+ + (1 + e) gap/h - e u- >= 0. */
double ss_bounce_term_of(const ss_step_options *step, double gap, double h, double e, double before)
{
    if (step->gap_term == SS_GAP_PAOLI_SCHATZMAN) return (1.0 + e) * gap / h - e * before;
    double term = ss_gap_term_of(step, gap, h);
    if (step->gap_term != SS_GAP_RESTITUTION) return term;
    bool hit = gap <= 0.0 || before + term <= 0.0;
    return hit && before < -step->restitution_speed ? e * before : term;
}

static double gap_term(const ss_rows *rows, const ss_step_options *step, const ss_contact_row *contact)
{
    const ss_contacts *contacts = &rows->frame->contacts;
    double gap = contacts->gap[contact->contact], h = rows->frame->h;
    double e = contacts->restitution ? contacts->restitution[contact->contact] : 0.0;
    if (!(e > 0.0)) return ss_gap_term_of(step, gap, h);
    return ss_bounce_term_of(step, gap, h, e, ss_contact_speed_before(rows, contact, contact->normal));
}

/* In minimal coordinates: tangents along which nothing moves count as those that leave a planar frame. False
 * when nothing moves along the normal. */
static bool see_contact(ss_rows *rows, ss_contact_row *contact)
{
    int body[2];
    double row[12];
    for (int side = 0; side < 2; side++)
        body[side] = contact->pair[side] < 0 ? SS_WORLD : rows->frame_body[contact->pair[side]];
    for (int k = 0; k < 2; k++) {
        ss_contact_sliding_row(contact, contact->tangent[k], row);
        contact->in_plane[k] = contact->in_plane[k] && ss_coordinates_see(&rows->coordinates, body, row);
    }

    if (!contact->in_plane[0] && !contact->in_plane[1]) { // nothing slides: as good as no friction
        contact->in_plane[0] = contact->in_plane[1] = true;
        contact->mu[0] = contact->mu[1] = 0.0;
    }

    ss_contact_turning_row(contact, contact->normal, row);
    if (contact->mu_torsion > 0.0 && !ss_coordinates_see(&rows->coordinates, body, row))
        contact->mu_torsion = 0.0;
    bool rolls = false;
    for (int k = 0; k < 2; k++) {
        ss_contact_turning_row(contact, contact->tangent[k], row);
        rolls |= contact->mu_rolling > 0.0 && ss_coordinates_see(&rows->coordinates, body, row);
    }
    if (!rolls) contact->mu_rolling = 0.0;
    ss_contact_sliding_row(contact, contact->normal, row);
    return ss_coordinates_see(&rows->coordinates, body, row);
}

/* momentum += the pull of adhesion, with a sign */
static void push_pulls(ss_rows *rows, double sign)
{
    for (int c = 0; rows->frame->contacts.adhesion && c < rows->contact_count; c++) {
        ss_contact_impulse pull = {.normal = sign * rows->contact[c].pull};
        ss_rows_push_contact(rows, &rows->contact[c], &pull);
    }
}

/* The row of a contact whose number and live bodies are there already. False when nothing moves along its
 * normal. */
static bool fill_contact(ss_rows *rows, const ss_step_options *step, ss_contact_row *to)
{
    const ss_frame *frame = rows->frame;
    const ss_contacts *contacts = &frame->contacts;
    int c = to->contact;
    double t_u[3], t_v[3], r_a[3], r_b[3];
    ss_contact_tangents(frame, c, t_u, t_v);
    ss_contact_lever_arms(frame, c, r_a, r_b);
    to->normal = ss_vec3_load(contacts->normal[c]); // one by one: clearing it all takes as long as the rest
    to->tangent[0] = ss_vec3_load(t_u);
    to->tangent[1] = ss_vec3_load(t_v);
    to->arm[0] = ss_vec3_load(r_a);
    to->arm[1] = ss_vec3_load(r_b);
    to->in_plane[0] = to->in_plane[1] = true;
    to->mu[0] = contacts->mu[c][0];
    to->mu[1] = contacts->mu[c][1];
    to->mu_rolling = contacts->mu_rolling ? contacts->mu_rolling[c] : 0.0;
    to->mu_torsion = contacts->mu_torsion && !rows->is_planar ? contacts->mu_torsion[c] : 0.0;
    to->spin_coupling = contacts->spin_coupling ? contacts->spin_coupling[c] : SS_SPIN_INDEPENDENT;
    to->pull = contacts->adhesion ? frame->h * contacts->adhesion[c] : 0.0;
    to->compliance = contacts->compliance ? contacts->compliance[c] : 0.0;
    to->surface =
        contacts->surface_velocity ? ss_vec3_load(contacts->surface_velocity[c]) : (ss_vec3){0.0, 0.0, 0.0};
    for (int k = 0; rows->is_planar && k < 2; k++)
        to->in_plane[k] = fabs(to->tangent[k].z) < 0.5; // it is 0 or 1
    if (rows->minimal && !see_contact(rows, to)) return false;
    bool capped = step->mu_max > 0.0 && fmax(to->mu[0], to->mu[1]) > step->mu_max;
    for (int k = 0; capped && k < 2; k++) to->mu[k] = fmin(to->mu[k], step->mu_max);

    // Spring and damper, implicit: nu = -h (k (gap + h u) + d u), so that with C0 = 1/(k h^2) the row is
    // u + C nu + (C/C0) gap/h = 0, C = 1/(1/C0 + h d). The gap of a spring counts in full.
    double gap_part = gap_term(rows, step, to);
    if (contacts->damping && to->compliance > 0.0) {
        double softer = 1.0 / (1.0 + frame->h * contacts->damping[c] * to->compliance);
        to->compliance *= softer;
        gap_part = softer * contacts->gap[c] / frame->h;
    }
    to->offset = gap_part + ss_vec3_dot(to->normal, to->surface) - to->compliance * to->pull;
    return true;
}

typedef struct contact_filling {
    ss_rows *rows;
    const ss_step_options *step;
    _Atomic bool bad; // both sides of some pair are one body
} contact_filling;

/* Does contact c of the frame have a row? Its live bodies. */
static bool has_row(const ss_rows *rows, const ss_step_options *step, int c, int live[2])
{
    const ss_contacts *contacts = &rows->frame->contacts;
    return find_pair(rows, contacts->pair[c], live) && !(contacts->gap[c] > step->contact_margin);
}

/* How many rows a chunk of contacts has, and how many are too far away to have one. */
static void count_contacts(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    contact_filling *with = context;
    ss_rows *rows = with->rows;
    const ss_contacts *contacts = &rows->frame->contacts;
    int64_t kept = 0, far = 0;
    for (int c = (int)begin; c < end; c++) {
        int live[2];
        if (!check_pair(contacts->pair[c], "", c, NULL)) with->bad = true;
        bool moves = find_pair(rows, contacts->pair[c], live);
        bool is_far = contacts->gap[c] > with->step->contact_margin;
        kept += moves && !is_far;
        far += moves && is_far;
    }
    int64_t *of_chunk = rows->start[begin / SS_ROWS_AT_ONCE + 1];
    of_chunk[0] = kept;
    of_chunk[1] = far;
}

static void fill_contacts(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const contact_filling *with = context;
    ss_contact_row *to = &with->rows->contact[with->rows->start[begin / SS_ROWS_AT_ONCE][0]];
    for (int c = (int)begin; c < end; c++) {
        int live[2];
        if (!has_row(with->rows, with->step, c, live)) continue;
        to->contact = c;
        to->pair[0] = live[0];
        to->pair[1] = live[1];
        fill_contact(with->rows, with->step, to++);
    }
}

static double count_capped(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const contact_filling *with = context;
    int count = 0;
    for (int64_t k = begin; k < end; k++) {
        const double *mu = with->rows->frame->contacts.mu[with->rows->contact[k].contact];
        count += mu[0] > with->step->mu_max || mu[1] > with->step->mu_max;
    }
    return count;
}

static bool add_contacts(const ss_frame *frame, const ss_step_options *step, ss_rows *rows, ss_error *err)
{
    const ss_contacts *contacts = &frame->contacts;
    rows->is_planar = ss_frame_is_planar(frame);

    ss_team *team = ss_rows_team(rows);
    contact_filling with = {.rows = rows, .step = step};
    if (ss_team_size(team) > 1) {
        /* Where the rows of each chunk begin, then their numbers. */
        int chunks = (contacts->count + SS_ROWS_AT_ONCE - 1) / SS_ROWS_AT_ONCE;
        rows->start[0][0] = rows->start[0][1] = 0;
        ss_parallel_for(team, contacts->count, SS_ROWS_AT_ONCE, count_contacts, &with);
        for (int c = 0; with.bad && c < contacts->count; c++)
            if (!check_pair(contacts->pair[c], "contacts/pairs", c, err)) return false;
        for (int k = 0; k < chunks; k++)
            for (int i = 0; i < 2; i++) rows->start[k + 1][i] += rows->start[k][i];
        rows->contact_count = (int)rows->start[chunks][0];
        rows->far_contacts = (int)rows->start[chunks][1];
        ss_parallel_for(team, contacts->count, SS_ROWS_AT_ONCE, fill_contacts, &with);
    } else {
        /* One by one; in minimal coordinates a row has to be there to say whether anything moves along it. */
        for (int c = 0; c < contacts->count; c++) {
            int live[2];
            if (!check_pair(contacts->pair[c], "contacts/pairs", c, err)) return false;
            if (!find_pair(rows, contacts->pair[c], live)) continue;
            if (contacts->gap[c] > step->contact_margin) {
                rows->far_contacts++;
                continue;
            }
            ss_contact_row *to = &rows->contact[rows->contact_count];
            to->contact = c;
            to->pair[0] = live[0];
            to->pair[1] = live[1];
            rows->contact_count += fill_contact(rows, step, to);
        }
    }
    if (step->mu_max > 0.0)
        rows->capped_contacts =
            (int)ss_parallel_sum(team, rows->contact_count, SS_ROWS_AT_ONCE, count_capped, &with);
    return true;
}

/* ---- together --------------------------------------------------------------------------------------- */

void ss_rows_free(ss_rows *rows)
{
    ss_release(rows->body);
    ss_release(rows->inverse_mass);
    ss_release(rows->inverse_inertia);
    ss_release(rows->free_velocity);
    ss_release(rows->velocity);
    ss_release(rows->momentum);
    ss_release(rows->joint);
    ss_release(rows->contact);
    ss_release(rows->push);
    ss_release(rows->place);
    ss_release(rows->start);
    ss_release(rows->further_body);
    ss_release(rows->further_jacobian);
    ss_release(rows->frame_body);
    ss_coordinates_free(&rows->coordinates);
    ss_reactions_free(&rows->reactions);
    *rows = (ss_rows){0};
}

static bool make_room(const ss_frame *frame, ss_rows *rows, ss_error *err)
{
    rows->frame = frame;
    rows->body_count = rows->joint_count = rows->contact_count = rows->further_count = 0;
    rows->far_contacts = rows->capped_contacts = 0;

    /* What is too small is made again with some room to spare, except for the first time. */
    int bodies = frame->bodies.count, joints = frame->constraints.row_count, contacts = frame->contacts.count;
    if (!rows->body || bodies > rows->body_room) {
        size_t room = (size_t)(rows->body_room = rows->body ? bodies + bodies / 4 : bodies);
        ss_release(rows->body);
        ss_release(rows->inverse_mass);
        ss_release(rows->inverse_inertia);
        ss_release(rows->free_velocity);
        ss_release(rows->velocity);
        ss_release(rows->momentum);
        ss_release(rows->frame_body);
        rows->frame_body = ss_allocate(room, sizeof *rows->frame_body);
        rows->body = ss_allocate(room, sizeof *rows->body);
        rows->inverse_mass = ss_allocate(room, sizeof *rows->inverse_mass);
        rows->inverse_inertia = ss_allocate(room, sizeof *rows->inverse_inertia);
        rows->free_velocity = ss_allocate(room, sizeof *rows->free_velocity);
        rows->velocity = ss_allocate(room, sizeof *rows->velocity);
        rows->momentum = ss_allocate(room, sizeof *rows->momentum);
    }
    if (!rows->joint || joints > rows->joint_room) {
        size_t room = (size_t)(rows->joint_room = rows->joint ? joints + joints / 4 : joints);
        ss_release(rows->joint);
        ss_release(rows->place);
        rows->joint = ss_allocate(room, sizeof *rows->joint);
        rows->place = ss_allocate(room, sizeof *rows->place);
    }
    int further = frame->constraints.further_count;
    if (further > rows->further_room) {
        rows->further_room = further;
        ss_release(rows->further_body);
        ss_release(rows->further_jacobian);
        rows->further_body = ss_allocate((size_t)further, sizeof *rows->further_body);
        rows->further_jacobian = ss_allocate((size_t)further, sizeof *rows->further_jacobian);
    }
    if (!rows->contact || contacts > rows->contact_room) {
        rows->contact_room = rows->contact ? contacts + contacts / 4 : contacts;
        ss_release(rows->contact);
        ss_release(rows->start);
        ss_release(rows->push);
        rows->push = NULL;
        rows->contact = ss_allocate((size_t)rows->contact_room, sizeof *rows->contact);
        rows->start = ss_allocate((size_t)rows->contact_room / SS_ROWS_AT_ONCE + 2, sizeof *rows->start);
    }

    bool pushes_later = ss_team_size(ss_rows_team(rows)) > 1;
    if (pushes_later && !rows->push) rows->push = ss_allocate((size_t)rows->contact_room, sizeof *rows->push);

    bool good = (rows->push || !pushes_later) && rows->body && rows->inverse_mass && rows->inverse_inertia &&
                rows->free_velocity && rows->velocity && rows->momentum && rows->frame_body && rows->joint &&
                rows->place && rows->contact && rows->start &&
                (further == 0 || (rows->further_body && rows->further_jacobian));
    return good || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the rows of %d bodies and %d contacts",
                           bodies, contacts);
}

void ss_rows_let_go(ss_rows *rows)
{
    if (rows->body_count)
        memcpy(rows->velocity, rows->free_velocity, (size_t)rows->body_count * sizeof *rows->velocity);
    if (rows->minimal)
        memcpy(rows->coordinates.velocity, rows->coordinates.free,
               (size_t)rows->coordinates.count * sizeof *rows->coordinates.velocity);
}

bool ss_rows_make(const ss_frame *frame, const ss_step_options *step, ss_rows *rows, ss_error *err)
{
    rows->minimal = step->coordinates == SS_MINIMAL;
    bool good = make_room(frame, rows, err) &&
                (!rows->minimal || (ss_coordinates_make(frame, &rows->coordinates, err) &&
                                    ss_reactions_make(frame, &rows->reactions, err))) &&
                add_bodies(frame, rows, err) && add_joints(frame, step, rows, err) &&
                add_contacts(frame, step, rows, err);
    if (!good) {
        ss_rows_free(rows);
        return false;
    }

    /* The pull of adhesion is a known force: it goes into the free velocity. */
    if (!frame->contacts.adhesion) return true;
    push_pulls(rows, -1.0);
    ss_rows_move(rows);
    if (rows->minimal)
        memcpy(rows->coordinates.free, rows->coordinates.velocity,
               (size_t)rows->coordinates.count * sizeof *rows->coordinates.free);
    if (rows->body_count)
        memcpy(rows->free_velocity, rows->velocity, (size_t)rows->body_count * sizeof *rows->velocity);
    return true;
}

/* ---- products --------------------------------------------------------------------------------------- */

/* M^-1 times one half of a row, or a momentum */
static void respond(const ss_rows *rows, int body, const double *half, double response[6])
{
    ss_mass inverse = {rows->inverse_mass[body], ss_mat3_load(rows->inverse_inertia[body])};
    ss_mass_apply(&inverse, half, response);
}

double ss_rows_speed(const int pair[2], const double jacobian[12], double (*velocity)[6])
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        for (int i = 0; pair[side] >= 0 && i < 6; i++) {
            sum += jacobian[6 * side + i] * velocity[pair[side]][i];
        }
    }
    return sum;
}

double ss_rows_inverse_mass(const ss_rows *rows, const int pair[2], const double jacobian[12])
{
    double sum = 0.0;
    if (rows->minimal) {
        int body[2];
        for (int side = 0; side < 2; side++)
            body[side] = pair[side] < 0 ? SS_WORLD : rows->frame_body[pair[side]];
        return ss_coordinates_inverse_mass((ss_coordinates *)(uintptr_t)&rows->coordinates, body, jacobian);
    }
    for (int side = 0; side < 2; side++) {
        if (pair[side] < 0) continue;
        double response[6];
        respond(rows, pair[side], jacobian + 6 * side, response);
        for (int i = 0; i < 6; i++) sum += jacobian[6 * side + i] * response[i];
    }
    return sum;
}

void ss_rows_push_joint(ss_rows *rows, const ss_joint_row *joint, double impulse)
{
    for (int side = 0; side < 2; side++) {
        for (int i = 0; joint->pair[side] >= 0 && i < 6; i++)
            rows->momentum[joint->pair[side]][i] += impulse * joint->jacobian[6 * side + i];
    }
    for (int k = joint->further; k < joint->further + joint->further_count; k++)
        for (int i = 0; i < 6; i++)
            rows->momentum[rows->further_body[k]][i] += impulse * rows->further_jacobian[k][i];
}

static ss_vec3 in_the_plane(const ss_contact_row *contact, const double components[2])
{
    return ss_vec3_add_scaled(ss_vec3_scale(components[0], contact->tangent[0]), components[1],
                              contact->tangent[1]);
}

/* The moment of rolling and spinning. */
static ss_vec3 moment_of(const ss_contact_row *contact, const ss_contact_impulse *impulse)
{
    return ss_vec3_add_scaled(in_the_plane(contact, impulse->rolling), impulse->spin, contact->normal);
}

static ss_contact_push push_of(const ss_contact_row *contact, const ss_contact_impulse *impulse)
{
    ss_contact_push push = {.pair = {contact->pair[0], contact->pair[1]}};
    push.force =
        ss_vec3_add_scaled(in_the_plane(contact, impulse->tangent), impulse->normal, contact->normal);
    ss_vec3 torque = moment_of(contact, impulse);
    for (int side = 0; side < 2; side++)
        push.turning[side] = ss_vec3_add(ss_vec3_cross(contact->arm[side], push.force), torque);
    return push;
}

static void push_side(ss_rows *rows, const ss_contact_push *push, int side)
{
    double *momentum = rows->momentum[push->pair[side]], sign = side ? 1.0 : -1.0;
    ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(momentum), sign, push->force), momentum);
    ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(momentum + 3), sign, push->turning[side]), momentum + 3);
}

void ss_rows_push_contact(ss_rows *rows, const ss_contact_row *contact, const ss_contact_impulse *impulse)
{
    ss_contact_push push = push_of(contact, impulse);
    for (int side = 0; side < 2; side++) {
        if (push.pair[side] >= 0) push_side(rows, &push, side);
    }
}

/* Bodies begin .. end - 1, in the order of the contacts. */
static void push_bodies(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    ss_rows *rows = context;
    for (int k = 0; k < rows->contact_count; k++) {
        for (int side = 0; side < 2; side++) {
            int body = rows->push[k].pair[side];
            if (body >= begin && body < end) push_side(rows, &rows->push[k], side);
        }
    }
}

void ss_rows_push_contacts(ss_rows *rows)
{
    ss_team *team = ss_rows_team(rows);
    ss_parallel_for(team, rows->body_count, rows->body_count / ss_team_size(team) + 1, push_bodies, rows);
}

static void move_bodies(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    ss_rows *rows = context;
    for (int64_t body = begin; body < end; body++) {
        double response[6];
        respond(rows, (int)body, rows->momentum[body], response);
        for (int i = 0; i < 6; i++) rows->velocity[body][i] += response[i];
        memset(rows->momentum[body], 0, sizeof rows->momentum[body]);
    }
}

void ss_rows_move(ss_rows *rows)
{
    for (int body = 0; rows->minimal && body < rows->body_count; body++)
        ss_coordinates_push(&rows->coordinates, rows->frame_body[body], rows->momentum[body]);
    if (rows->minimal) ss_coordinates_go(&rows->coordinates);
    for (int body = 0; rows->minimal && body < rows->body_count; body++) {
        ss_coordinates_velocity(&rows->coordinates, rows->frame_body[body], rows->velocity[body]);
        memset(rows->momentum[body], 0, sizeof rows->momentum[body]);
    }
    if (rows->minimal) return;
    ss_parallel_for(ss_rows_team(rows), rows->body_count, SS_ROWS_AT_ONCE, move_bodies, rows);
}

/* ---- the answer ------------------------------------------------------------------------------------- */

static void clear(void *array, int count, size_t size)
{
    if (array && count) memset(array, 0, (size_t)count * size);
}

void ss_rows_start_answer(ss_answer *answer)
{
    clear(answer->row_impulse, answer->rows, sizeof *answer->row_impulse);
    clear(answer->normal_impulse, answer->contacts, sizeof *answer->normal_impulse);
    clear(answer->friction_impulse, answer->contacts, sizeof *answer->friction_impulse);
    clear(answer->rolling_impulse, answer->contacts, sizeof *answer->rolling_impulse);
}

void ss_rows_add_joint(ss_rows *rows, const ss_joint_row *joint, double impulse, ss_answer *answer)
{
    answer->row_impulse[joint->row] = impulse;
    ss_rows_push_joint(rows, joint, impulse);
}

static void write_contact(const ss_contact_row *contact, const ss_contact_impulse *impulse, ss_answer *answer)
{
    int c = contact->contact;
    answer->normal_impulse[c] = impulse->normal - contact->pull;
    ss_vec3_store(in_the_plane(contact, impulse->tangent), answer->friction_impulse[c]);
    if (answer->rolling_impulse) ss_vec3_store(moment_of(contact, impulse), answer->rolling_impulse[c]);
}

void ss_rows_add_contact(ss_rows *rows, const ss_contact_row *contact, const ss_contact_impulse *impulse,
                         ss_answer *answer)
{
    write_contact(contact, impulse, answer);
    ss_rows_push_contact(rows, contact, impulse);
}

void ss_rows_set_contact(ss_rows *rows, int k, const ss_contact_impulse *impulse, ss_answer *answer)
{
    write_contact(&rows->contact[k], impulse, answer);
    rows->push[k] = push_of(&rows->contact[k], impulse);
}

void ss_rows_end_answer(ss_rows *rows, ss_answer *answer)
{
    if (rows->minimal) {
        push_pulls(rows, -1.0); // the bodies feel it, but the free velocity has it already
        for (int body = 0; body < rows->body_count; body++)
            for (int i = 0; i < 6; i++)
                rows->reactions.lacks[rows->frame_body[body]][i] = -rows->momentum[body][i];
        push_pulls(rows, 1.0);
    }
    ss_rows_move(rows);
    for (int b = 0; b < rows->frame->bodies.count; b++) {
        int live = rows->body[b];
        memcpy(answer->velocity[b], live < 0 ? rows->frame->bodies.velocity[b] : rows->velocity[live],
               sizeof answer->velocity[b]);
    }
    if (!rows->minimal) return;
    ss_reactions_find(&rows->reactions, rows->frame, answer);
    if (answer->coordinates == rows->coordinates.count)
        memcpy(answer->generalized_velocity, rows->coordinates.velocity,
               (size_t)answer->coordinates * sizeof *answer->generalized_velocity);
}

static void components_of(const ss_contact_row *contact, const double vector[3], double components[3])
{
    ss_vec3_components(ss_vec3_load(vector), contact->normal, contact->tangent[0], contact->tangent[1],
                       components);
}

ss_contact_impulse ss_contact_impulse_of(const ss_contact_row *contact, const ss_answer *answer)
{
    int c = contact->contact;
    ss_contact_impulse impulse = {.normal = answer->normal_impulse[c] + contact->pull};
    double parts[3];
    components_of(contact, answer->friction_impulse[c], parts);
    for (int k = 0; k < 2; k++) impulse.tangent[k] = parts[k];
    if (answer->rolling_impulse) {
        components_of(contact, answer->rolling_impulse[c], parts);
        for (int k = 0; k < 2; k++) impulse.rolling[k] = parts[k];
        impulse.spin = parts[2];
    }
    return impulse;
}
