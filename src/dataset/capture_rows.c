/* Rows of a solver by sequential impulses into a frame (dataset/capture_rows.h).
 *
 * C = cfm / D, and the constant -J (v + push) - rhs / D becomes the term of gap or joint error of the
 * rules; what differs from that, such as restitution, or an overlap that split impulses remove without
 * velocity, is the surface velocity of the contact or the time derivative of the row. */
#include "dataset/capture_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { AS_ROWS, HELD, FROZEN };

const char *ss_rows_note(int bit)
{
    switch (bit) {
    case AS_ROWS:
        return "contacts with rolling or anisotropic friction are recorded as joints";
    case HELD:
        return "linear and angular factors of bodies cannot be expressed in a frame: the balance of such "
               "bodies does not hold";
    default: // FROZEN
        return "bodies without inertia, which Bullet does not turn, have a very large one in the recording";
    }
}

typedef struct shaping {
    const char *at;
    size_t left;
    ss_capture *capture;
    const ss_rows_head *head;
    ss_rows_notes *notes;
    double (*speed)[6]; /* of each body: v + push */
    int room;
} shaping;

static bool take(shaping *s, void *to, size_t length)
{
    if (length > s->left) return false;
    memcpy(to, s->at, length);
    s->at += length;
    s->left -= length;
    return true;
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void widen(const float *from, int count, double *to)
{
    for (int i = 0; i < count; i++) to[i] = (double)from[i];
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

/* The inverse of a symmetric matrix by its adjugate; false: singular. */
static bool invert(const double A[9], double inverse[9])
{
    const double C[9] = {A[4] * A[8] - A[5] * A[7], A[2] * A[7] - A[1] * A[8], A[1] * A[5] - A[2] * A[4],
                         A[5] * A[6] - A[3] * A[8], A[0] * A[8] - A[2] * A[6], A[2] * A[3] - A[0] * A[5],
                         A[3] * A[7] - A[4] * A[6], A[1] * A[6] - A[0] * A[7], A[0] * A[4] - A[1] * A[3]};
    double determinant = A[0] * C[0] + A[1] * C[3] + A[2] * C[6];
    if (determinant == 0.0) return false;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) inverse[3 * i + j] = 0.5 * (C[3 * i + j] + C[3 * j + i]) / determinant;
    return true;
}

/* The unit quaternion of a matrix that is a rotation up to rounding. */
static void quaternion_of(const float R[9], double q[4])
{
    double trace = (double)R[0] + (double)R[4] + (double)R[8];
    if (trace > 0.0) {
        q[0] = 1.0 + trace;
        q[1] = (double)R[7] - (double)R[5];
        q[2] = (double)R[2] - (double)R[6];
        q[3] = (double)R[3] - (double)R[1];
    } else {
        int i = R[0] > R[4] ? (R[0] > R[8] ? 0 : 2) : (R[4] > R[8] ? 1 : 2), j = (i + 1) % 3, k = (i + 2) % 3;
        q[0] = (double)R[3 * k + j] - (double)R[3 * j + k];
        q[1 + i] = 1.0 + (double)R[4 * i] - (double)R[4 * j] - (double)R[4 * k];
        q[1 + j] = (double)R[3 * j + i] + (double)R[3 * i + j];
        q[1 + k] = (double)R[3 * k + i] + (double)R[3 * i + k];
    }
    double length = sqrt(q[0] * q[0] + dot(q + 1, q + 1));
    for (int i = 0; i < 4; i++) q[i] /= length;
}

static bool add_body(shaping *s)
{
    ss_rows_body from;
    if (!take(s, &from, sizeof from) || !(from.inverse_mass > 0.0f)) return false;
    ss_capture *c = s->capture;
    int b = ss_capture_body(c, from.id);
    if (b < 0) return false;
    if (b >= s->room) {
        int room = 2 * (b + 1) + 32;
        double(*speed)[6] = ss_allocate((size_t)room, sizeof *speed);
        if (!speed) return false;
        if (s->room) memcpy(speed, s->speed, (size_t)s->room * sizeof *speed);
        ss_release(s->speed);
        s->speed = speed;
        s->room = room;
    }

    ss_bodies *to = &c->frame.bodies;
    double inverse[9], push[6], change[6], h = c->frame.h;
    to->mass[b] = 1.0 / (double)from.inverse_mass;
    widen(from.position, 3, to->position[b]);
    quaternion_of(from.rotation, to->quaternion[b]);
    widen(from.inverse_inertia, 9, inverse);
    if (!invert(inverse, to->inertia[b])) {
        // A body that cannot be turned: an inertia that no load of the scene turns noticeably.
        for (int i = 0; i < 9; i++) to->inertia[b][i] = i % 4 == 0 ? 1e9 * to->mass[b] : 0.0;
        *s->notes |= 1u << FROZEN;
    }
    if (from.flags & SS_ROWS_HELD) *s->notes |= 1u << HELD;
    if (from.flags & SS_ROWS_ASLEEP) {
        to->state[b] = 0;
        memset(to->velocity[b], 0, sizeof to->velocity[b]);
        memset(s->speed[b], 0, sizeof s->speed[b]);
        return true;
    }

    // What the solver started from, what acted on it, and what it made of it.
    widen(from.velocity, 6, to->velocity[b]);
    widen(from.push, 6, push);
    widen(from.change, 6, change);
    for (int k = 0; k < 6; k++) {
        s->speed[b][k] = to->velocity[b][k] + push[k];
        c->answer.velocity[b][k] = s->speed[b][k] + change[k];
    }
    for (int k = 0; k < 3; k++) {
        to->force[b][k] = to->mass[b] * push[k] / h;
        to->force[b][3 + k] = dot(to->inertia[b] + 3 * k, push + 3) / h;
    }
    return true;
}

static bool add_scenery(shaping *s)
{
    ss_rows_scenery from;
    double position[3], quaternion[4];
    if (!take(s, &from, sizeof from) || from.number < 0 || from.number > 1000000) return false;
    ss_scenery *scenery = &s->capture->scenery;
    widen(from.position, 3, position);
    quaternion_of(from.rotation, quaternion);
    // Pieces keep their numbers; one that is gone leaves its place to those later in the list.
    while (scenery->count <= from.number)
        if (ss_capture_scenery(s->capture, position, quaternion) < 0) return false;
    memcpy(scenery->position[from.number], position, sizeof position);
    memcpy(scenery->quaternion[from.number], quaternion, sizeof quaternion);
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------------- */

/* The constant in J v+ + C x + offset = 0: -J (v + push) - rhs / D. The motion of prescribed bodies is in
 * it. */
static double offset_of(const shaping *s, const double J[12], int a, int b, float rhs, float D)
{
    double speed = 0.0;
    if (a >= 0) speed += dot(J, s->speed[a]) + dot(J + 3, s->speed[a] + 3);
    if (b >= 0) speed += dot(J + 6, s->speed[b]) + dot(J + 9, s->speed[b] + 3);
    return -speed - (double)rhs / (double)D;
}

/* An impulse bound as a force; Bullet's infinities are large numbers. */
static double bound(float impulse, double h)
{
    return fabs((double)impulse) >= 1e9 ? copysign(INFINITY, (double)impulse) : (double)impulse / h;
}

static bool pair_is_good(const shaping *s, int a, int b)
{
    int count = s->capture->frame.bodies.count;
    return a >= -1 && b >= -1 && a < count && b < count && (a >= 0 || b >= 0);
}

/* Jacobian, softness and impulse of row r; bounds and constants are the caller's. */
static void put_row(shaping *s, int r, const double J[12], int a, int b, float D, float cfm, float impulse)
{
    ss_constraints *joints = &s->capture->frame.constraints;
    if (a >= 0) memcpy(joints->jacobian[r], J, 6 * sizeof *J);
    if (b >= 0) memcpy(joints->jacobian[r] + 6, J + 6, 6 * sizeof *J);
    joints->regularization[r] = (double)cfm / (double)D;
    s->capture->answer.row_impulse[r] = (double)impulse;
}

static bool add_joint(shaping *s)
{
    ss_rows_joint from;
    if (!take(s, &from, sizeof from) || !pair_is_good(s, from.a, from.b)) return false;
    if (from.rows < 1 || (size_t)from.rows > s->left / sizeof(ss_rows_joint_row)) return false;
    ss_capture *c = s->capture;
    if (ss_capture_joint(c, from.a, from.b, from.rows) < 0) return false;

    ss_constraints *joints = &c->frame.constraints;
    double h = c->frame.h, erp = s->head->joint_gamma;
    for (int r = joints->row_count - from.rows; r < joints->row_count; r++) {
        ss_rows_joint_row row;
        double J[12];
        if (!take(s, &row, sizeof row)) return false;
        widen(row.jacobian, 12, J);
        put_row(s, r, J, from.a, from.b, row.D, row.cfm, row.impulse);

        double lo = bound(row.lower, h), hi = bound(row.upper, h),
               offset = offset_of(s, J, from.a, from.b, row.rhs, row.D);
        joints->bounds[r][0] = lo;
        joints->bounds[r][1] = hi;

        // An equation or a stop corrects an error; a motor has a speed, and so has a stop that is not
        // reached.
        bool driven = isfinite(lo) && isfinite(hi);
        bool open = (lo >= 0.0 && offset > 0.0) || (hi <= 0.0 && offset < 0.0);
        if (driven || open || erp <= 0.0)
            joints->time_derivative[r] = offset;
        else
            joints->violation[r] = offset * h / erp;
    }
    return true;
}

/* ---- contacts --------------------------------------------------------------------------------------- */

enum { MOST_ROWS = 6 };

static void jacobian_of(const ss_rows_contact_row *row, double J[12])
{
    widen(row->direction, 3, J);
    widen(row->turn_a, 3, J + 3);
    for (int i = 0; i < 3; i++) J[6 + i] = -J[i];
    widen(row->turn_b, 3, J + 9);
}

static bool add_contact_as_rows(shaping *s, const ss_rows_contact *from, const ss_rows_contact_row *rows)
{
    ss_capture *c = s->capture;
    int count = 1 + from->frictions + from->rollings;
    if (ss_capture_joint(c, from->a, from->b, count) < 0) return false;
    ss_constraints *joints = &c->frame.constraints;
    int first = joints->row_count - count;
    joints->bounds[first][0] = 0.0;
    for (int i = 0; i < count; i++) {
        double J[12];
        jacobian_of(&rows[i], J);
        put_row(s, first + i, J, from->a, from->b, rows[i].D, rows[i].cfm, rows[i].impulse);
        joints->time_derivative[first + i] = offset_of(s, J, from->a, from->b, rows[i].rhs, rows[i].D);
        if (i > 0) joints->friction[first + i] = (double)rows[i].friction;
        if (i > 0) joints->friction_row[first + i] = first;
    }
    *s->notes |= 1u << AS_ROWS;
    return true;
}

static bool add_contact(shaping *s)
{
    ss_rows_contact from;
    ss_rows_contact_row rows[MOST_ROWS];
    if (!take(s, &from, sizeof from) || !pair_is_good(s, from.a, from.b)) return false;
    if (from.frictions < 0 || from.frictions > 2 || from.rollings < 0 || from.rollings > 3) return false;
    if (!take(s, rows, (size_t)(1 + from.frictions + from.rollings) * sizeof *rows)) return false;

    // Directions of friction; anisotropic ones are not of unit length.
    double tangent[2][3] = {{0}}, normal[3];
    bool odd = from.rollings > 0;
    for (int i = 0; i < from.frictions; i++) {
        widen(rows[1 + i].direction, 3, tangent[i]);
        odd = odd || fabs(dot(tangent[i], tangent[i]) - 1.0) > 1e-3 || !(rows[1 + i].D > 0.0f);
    }
    if (odd) return add_contact_as_rows(s, &from, rows);

    ss_capture *c = s->capture;
    int a = from.a, b = from.b, k = ss_capture_contact(c, b, a); // the normal points from b to a
    if (k < 0) return false;
    ss_contacts *contacts = &c->frame.contacts;
    double h = c->frame.h, *n = contacts->normal[k], *u = contacts->tangent[k];
    widen(rows[0].direction, 3, normal);
    double length = sqrt(dot(normal, normal));
    for (int i = 0; i < 3; i++) n[i] = normal[i] / length;

    // A tangent in single precision is made a right-angled one in double precision.
    double unit[3] = {fabs(n[0]) < 0.6 ? 1.0 : 0.0, fabs(n[0]) < 0.6 ? 0.0 : 1.0, 0};
    const double *chosen = from.frictions > 0 ? tangent[0] : unit;
    double along = dot(chosen, n);
    for (int i = 0; i < 3; i++) u[i] = chosen[i] - along * n[i];
    double size = sqrt(dot(u, u));
    for (int i = 0; i < 3; i++) u[i] /= size;
    double v[3] = {n[1] * u[2] - n[2] * u[1], n[2] * u[0] - n[0] * u[2], n[0] * u[1] - n[1] * u[0]};

    for (int i = 0; i < 3; i++) {
        double on_a = (double)from.on_a[i], on_b = (double)from.on_b[i];
        contacts->point[k][i] = 0.5 * (on_a + on_b);
        if (b >= 0) contacts->lever_arm[k][i] = on_b - c->frame.bodies.position[b][i];
        if (a >= 0) contacts->lever_arm[k][3 + i] = on_a - c->frame.bodies.position[a][i];
    }
    contacts->gap[k] = (double)from.gap;
    contacts->compliance[k] = (double)rows[0].cfm / (double)rows[0].D;
    c->answer.normal_impulse[k] = (double)rows[0].impulse;
    double J[12], surface[3] = {0};
    jacobian_of(&rows[0], J);
    // what differs from the term of gap_term=stabilised without slop
    double gap = contacts->gap[k], term = gap > 0.0 ? gap / h : s->head->gamma * gap / h;
    surface[0] = offset_of(s, J, a, b, rows[0].rhs, rows[0].D) - term;
    for (int i = 0; i < from.frictions; i++) {
        const ss_rows_contact_row *row = &rows[1 + i];
        double sign = i == 1 && dot(tangent[1], v) < 0.0 ? -1.0 : 1.0;
        contacts->mu[k][i] = (double)row->friction;
        jacobian_of(row, J);
        surface[1 + i] = sign * offset_of(s, J, a, b, row->rhs, row->D);
        for (int j = 0; j < 3; j++)
            c->answer.friction_impulse[k][j] += sign * (double)row->impulse * (i ? v[j] : u[j]);
    }
    for (int i = 0; i < 3; i++)
        contacts->surface_velocity[k][i] = surface[0] * n[i] + surface[1] * u[i] + surface[2] * v[i];
    return true;
}

bool ss_capture_from_rows(const char *bytes, size_t length, ss_capture *c, ss_rows_notes *notes)
{
    ss_rows_head head;
    shaping s = {.at = bytes, .left = length, .capture = c, .head = &head, .notes = notes};
    if (!take(&s, &head, sizeof head)) return false;
    ss_capture_begin(c, head.time, head.h);
    c->has_arms = true;
    c->iterations = (int)head.iterations;
    memcpy(c->solver, head.solver, sizeof c->solver);
    c->solver[sizeof c->solver - 1] = '\0';

    /* The rules by which the engine's step is one of ours. */
    snprintf(c->formulation, sizeof c->formulation, "box");
    snprintf(c->with, sizeof c->with,
             "tangents=frame gap_term=stabilised gamma=%.9g joint_term=stabilised joint_gamma=%.9g",
             head.gamma, head.joint_gamma);

    bool good = true;
    while (good && s.left > 0) {
        int32_t kind = 0;
        if (s.left >= sizeof kind) memcpy(&kind, s.at, sizeof kind);
        switch (kind) {
        case SS_ROWS_BODY:
            good = add_body(&s);
            break;
        case SS_ROWS_JOINT:
            good = add_joint(&s);
            break;
        case SS_ROWS_CONTACT:
            good = add_contact(&s);
            break;
        case SS_ROWS_SCENERY:
            good = add_scenery(&s);
            break;
        default:
            good = false;
        }
    }
    ss_release(s.speed);
    return good;
}
