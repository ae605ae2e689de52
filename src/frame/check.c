/* Every fault of a frame, with its place, its index and the numbers. An index counts bodies, joints, rows or
 * contacts, not numbers of the file's array.
 *
 * Two steps of severity where only rounding may stand between data and the exact value (lengths of unit
 * vectors, right angles, symmetry): up to 1e-6 nothing is said, since files in single precision are that good
 * after a few operations; up to 1e-3 it is a warning, the digits of a text file, and the answer is as good as
 * the data; beyond that it is a fault, because something else is stored than what the name says. */
#include "frame/check_generalized.h"
#include "frame/checker.h"
#include "frame/fields.h"

#include "base/number.h"
#include "frame/alternatives.h"
#include "linalg/mat3.h"

#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#define ROUNDED 1e-6
#define SLOPPY 1e-3

/* Doubles near 1e12 m are 1e-4 m apart: no gap has a digit left there. Larger numbers are garbage. */
#define FARTHEST 1e12
/* A planet. Masses, forces and tensors beyond it are garbage as well, or meant as an "infinite" mass. */
#define HEAVIEST 1e24
#define LIGHTEST 1e-30
#define SHORTEST_STEP 1e-18
/* Turning a tensor into the world frame costs 1e-16 of its largest moment: below this share of it, a
 * principal moment has hardly a right digit left. */
#define THINNEST 1e-12

/* A stored number with all its digits. */
typedef struct digits {
    char text[SS_NUMBER_TEXT];
} digits;

static digits digits_of(double x)
{
    digits d = {{0}};
    ss_number_write(x, d.text);
    return d;
}

/* ---- ranges ----------------------------------------------------------------------------------------- */

typedef struct range {
    const char *path;
    double lowest, highest;
} range;

static const range ranges[] = {
    {"bodies/masses", LIGHTEST, HEAVIEST},
    {"bodies/positions", -FARTHEST, FARTHEST},
    {"bodies/quaternions", -FARTHEST, FARTHEST},
    {"bodies/velocities", -FARTHEST, FARTHEST},
    {"bodies/forces", -HEAVIEST, HEAVIEST},
    {"bodies/world_inertia_tensors", -HEAVIEST, HEAVIEST},
    {"bodies/ids", 1, INT32_MAX},
    {"constraints/rows", 1, INT_MAX},
    {"constraints/Jacobian", -FARTHEST, FARTHEST},
    {"constraints/further_Jacobian", -FARTHEST, FARTHEST},
    {"constraints/violations", -FARTHEST, FARTHEST},
    {"constraints/time_derivative", -FARTHEST, FARTHEST},
    {"constraints/regularization", 0, HEAVIEST},
    {"constraints/friction", 0, FARTHEST},
    {"constraints/holonomic", 0, 1},
    {"contacts/points", -FARTHEST, FARTHEST},
    {"contacts/normals", -FARTHEST, FARTHEST},
    {"contacts/gaps", -FARTHEST, FARTHEST},
    {"contacts/mu_k", 0, INFINITY},
    {"contacts/mu_s", 0, INFINITY},
    {"contacts/t_u", -FARTHEST, FARTHEST},
    {"contacts/restitution", 0, 1},
    {"contacts/compliance", 0, HEAVIEST},
    {"contacts/damping", 0, HEAVIEST},
    {"contacts/adhesion", 0, HEAVIEST},
    {"contacts/mu_r", 0, FARTHEST},
    {"contacts/mu_t", 0, FARTHEST},
    {"contacts/spin_coupling", 0, SS_SPIN_ELLIPSOID},
    {"contacts/lever_arms", -FARTHEST, FARTHEST},
    {"contacts/surface_velocities", -FARTHEST, FARTHEST},
    {"subcontacts/cut", 0, INFINITY},
    {"subcontacts/points", -FARTHEST, FARTHEST},
    {"subcontacts/normals", -FARTHEST, FARTHEST},
    {"subcontacts/gaps", -FARTHEST, FARTHEST},
    {"subcontacts/surface_velocities", -FARTHEST, FARTHEST},
    {"constraints/implied", 0, SS_IMPLIED_BY_MASS},
    {"generalized/map/values", -FARTHEST, FARTHEST},
    {"generalized/mass/values", -HEAVIEST, HEAVIEST},
    {"generalized/velocities", -FARTHEST, FARTHEST},
    {"generalized/forces", -HEAVIEST, HEAVIEST},
};

static void check_ranges(ss_checker *c)
{
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++) {
        const range *r = &ranges[i];
        const ss_field *field = ss_field_find(r->path);
        const void *data = ss_field_data(field, c->frame);
        for (int item = 0; data && item < ss_field_items(field, c->frame); item++) {
            /* A body that takes no part may have any mass, zero included; NaN is wrong everywhere. */
            bool takes_part =
                field->per != SS_PER_BODY || field->type != SS_FIELD_REAL || ss_frame_is_live(c->frame, item);
            double lowest = takes_part ? r->lowest : -DBL_MAX, highest = takes_part ? r->highest : DBL_MAX;
            for (int k = 0; k < field->width; k++) {
                double value = ss_field_get(field, data, (size_t)item * (size_t)field->width + (size_t)k);
                if (value >= lowest && value <= highest) continue;

                char subject[24] = "", must[80];
                if (field->width > 1) snprintf(subject, sizeof subject, "component %d ", k);
                if (highest == DBL_MAX)
                    snprintf(must, sizeof must, "finite");
                else if (lowest == -highest)
                    snprintf(must, sizeof must, "finite and at most %g in magnitude", highest);
                else if (isinf(highest))
                    snprintf(must, sizeof must, "at least %g; inf is allowed", lowest);
                else
                    snprintf(must, sizeof must, "between %g and %.10g", lowest, highest);
                ss_checker_report(c, SS_FINDING_FAULT, r->path, item, "%sis %s, must be %s", subject,
                                  digits_of(value).text, must);
            }
        }
    }
}

/* ---- what should be exact --------------------------------------------------------------------------- */

/* False when the deviation is too small to speak of. NaN is: the ranges have told about it. */
static bool is_off(double deviation, ss_finding_kind *kind)
{
    *kind = deviation > SLOPPY ? SS_FINDING_FAULT : SS_FINDING_WARNING;
    return deviation > ROUNDED;
}

static void check_length(ss_checker *c, const char *path, int index, double length)
{
    ss_finding_kind kind;
    if (is_off(fabs(length - 1), &kind))
        ss_checker_report(c, kind, path, index, "length %.9g, must be 1 within %s", length,
                          digits_of(ROUNDED).text);
}

static double length_of_vector(const double v[3])
{
    return ss_vec3_norm(ss_vec3_load(v));
}

/* ---- bodies ----------------------------------------------------------------------------------------- */

/* What is not has been told by the ranges, and computing with it would only repeat that. */
static bool is_sane(const double *values, int count)
{
    for (int i = 0; i < count; i++)
        if (!(fabs(values[i]) <= HEAVIEST)) return false;
    return true;
}

typedef struct label {
    int32_t id;
    int body;
} label;

static int compare_labels(const void *left, const void *right)
{
    const label *a = left, *b = right;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    return a->body < b->body ? -1 : a->body > b->body;
}

static void check_labels(ss_checker *c)
{
    const int32_t *id = c->frame->bodies.id;
    int count = c->frame->bodies.count;
    bool ascending = true;
    for (int b = 1; ascending && b < count; b++) ascending = id[b] > id[b - 1];
    if (ascending) return;

    label *labels = ss_allocate((size_t)count, sizeof *labels);
    if (!labels) {
        ss_checker_report(c, SS_FINDING_FAULT, "bodies/ids", SS_NO_INDEX,
                          "cannot be searched for duplicates: out of memory");
        return;
    }
    for (int b = 0; b < count; b++) labels[b] = (label){id[b], b};
    qsort(labels, (size_t)count, sizeof *labels, compare_labels);
    for (int b = 1; b < count; b++)
        if (labels[b].id == labels[b - 1].id)
            ss_checker_report(c, SS_FINDING_FAULT, "bodies/ids", labels[b].body,
                              "is %d, the same as [%d]; must be unique", (int)labels[b].id,
                              labels[b - 1].body);
    ss_release(labels);
}

static void check_bodies(ss_checker *c)
{
    static const char *const tensors = "bodies/world_inertia_tensors";
    const ss_bodies *bodies = &c->frame->bodies;
    for (int b = 0; b < bodies->count; b++) {
        const double *q = bodies->quaternion[b];
        if (!ss_frame_is_live(c->frame, b)) continue;
        check_length(c, "bodies/quaternions", b, sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]));
        if (!is_sane(bodies->inertia[b], 9)) continue;

        ss_mat3 inertia = ss_mat3_load(bodies->inertia[b]);
        double largest = ss_mat3_max_abs(inertia);
        double difference = ss_mat3_max_abs(ss_mat3_add_scaled(inertia, -1, ss_mat3_transpose(inertia)));
        ss_finding_kind kind;
        if (is_off(difference / largest, &kind))
            ss_checker_report(c, kind, tensors, b,
                              "not symmetric: opposite entries differ by %.9g, the largest entry is %.9g",
                              difference, largest);

        /* The triangle inequality of moments is a warning: the equations can be solved without it. */
        double m[3];
        ss_mat3_eigen(ss_mat3_symmetric_part(inertia), m, NULL);
        bool definite = m[0] > THINNEST * m[2], thin = definite && m[2] > (m[0] + m[1]) * (1 + ROUNDED);
        if (!definite || thin)
            ss_checker_report(c, thin ? SS_FINDING_WARNING : SS_FINDING_FAULT, tensors, b,
                              "principal moments %.9g, %.9g, %.9g kg m^2: %s", m[0], m[1], m[2],
                              thin ? "no solid has one above the sum of the others"
                                   : "must be positive definite");
    }
    check_labels(c);
}

/* ---- pairs ------------------------------------------------------------------------------------------ */

/* True when the pair can be followed. `also_live`: another body that takes part is live. */
static bool check_pair(ss_checker *c, const char *path, int index, const int pair[2], bool also_live)
{
    int bodies = c->frame->bodies.count;
    for (int side = 0; side < 2; side++)
        if (pair[side] < SS_WORLD || pair[side] >= bodies) {
            ss_checker_report(c, SS_FINDING_FAULT, path, index,
                              "side %d is body %d, but there are %d; must be below, or %d for the world",
                              side, pair[side], bodies, SS_WORLD);
            return false;
        }
    if (pair[0] == pair[1]) {
        if (pair[0] == SS_WORLD)
            ss_checker_report(c, SS_FINDING_FAULT, path, index, "both sides are the world");
        else
            ss_checker_report(c, SS_FINDING_FAULT, path, index, "both sides are body %d", pair[0]);
        return false;
    }
    if (!also_live && !ss_frame_is_live(c->frame, pair[0]) && !ss_frame_is_live(c->frame, pair[1])) {
        ss_checker_report(c, SS_FINDING_WARNING, path, index,
                          "bodies %d and %d: neither is live, so it has no effect", pair[0], pair[1]);
        return false;
    }
    return true;
}

/* ---- constraints ------------------------------------------------------------------------------------ */

static double largest_entry(const double *block)
{
    return fmax(ss_vec3_max_abs(ss_vec3_load(block)), ss_vec3_max_abs(ss_vec3_load(block + 3)));
}

static void check_row(ss_checker *c, int row, const int pair[2], double on_live_bodies)
{
    for (int side = 0; side < 2; side++) {
        double largest = largest_entry(c->frame->constraints.jacobian[row] + 6 * side);
        if (pair[side] == SS_WORLD && largest > 0)
            ss_checker_report(c, SS_FINDING_WARNING, "constraints/Jacobian", row,
                              "columns %d to %d belong to the world but are not zero, the largest is %.9g",
                              6 * side, 6 * side + 5, largest);
        if (ss_frame_is_live(c->frame, pair[side])) on_live_bodies = fmax(on_live_bodies, largest);
    }
    if (on_live_bodies == 0 && is_sane(c->frame->constraints.jacobian[row], 12))
        ss_checker_report(c, SS_FINDING_WARNING, "constraints/Jacobian", row,
                          "is zero on every live body, so no impulse can satisfy the equation");
}

/* Coefficients and the rows they refer to come together. */
static void check_friction(ss_checker *c)
{
    const ss_constraints *constraints = &c->frame->constraints;
    const int32_t *load = constraints->friction_row;
    int rows = constraints->row_count;
    if (load && !constraints->friction)
        ss_checker_report(c, SS_FINDING_FAULT, "constraints/friction_row", SS_NO_INDEX,
                          "requires constraints/friction");

    for (int i = 0; load && i < rows; i++) {
        if (load[i] < -1 || load[i] >= rows)
            ss_checker_report(c, SS_FINDING_FAULT, "constraints/friction_row", i,
                              "is %d, but there are %d rows; must be below, or -1 for none", (int)load[i],
                              rows);
        else if (load[i] == i)
            ss_checker_report(c, SS_FINDING_FAULT, "constraints/friction_row", i, "is %d, the row itself",
                              (int)load[i]);
    }
    for (int i = 0; constraints->friction && i < rows; i++)
        if (constraints->friction[i] > 0 && (!load || load[i] == -1))
            ss_checker_report(c, SS_FINDING_WARNING, "constraints/friction", i,
                              "is %s, but without a friction_row it has no effect",
                              digits_of(constraints->friction[i]).text);
}

/* Further blocks: of rows that exist, by rising row, on bodies that the row does not have yet. Others than
 * these could not be followed. */
static bool check_further(ss_checker *c)
{
    const ss_constraints *constraints = &c->frame->constraints;
    const int32_t *rows = constraints->further_row;
    const int *bodies = constraints->further_body;
    int count = constraints->further_count, joint = 0;
    long long end = 0; // of the rows of the joints before `joint`
    if (count > 0 && (!rows || !bodies || !constraints->further_jacobian)) {
        ss_checker_report(c, SS_FINDING_FAULT, "constraints/further_rows", SS_NO_INDEX,
                          "further_rows, further_bodies and further_Jacobian come together");
        return false;
    }

    for (int i = 0; i < count; i++) {
        if (rows[i] < 0 || rows[i] >= constraints->row_count) {
            ss_checker_report(c, SS_FINDING_FAULT, "constraints/further_rows", i,
                              "is %d, but there are %d rows", (int)rows[i], constraints->row_count);
            return false;
        }
        if (i > 0 && rows[i] < rows[i - 1]) {
            ss_checker_report(c, SS_FINDING_FAULT, "constraints/further_rows", i,
                              "is %d after %d, must not fall", (int)rows[i], (int)rows[i - 1]);
            return false;
        }
        if (bodies[i] < 0 || bodies[i] >= c->frame->bodies.count) {
            ss_checker_report(c, SS_FINDING_FAULT, "constraints/further_bodies", i,
                              "is body %d, but there are %d; must be below, and not the world", bodies[i],
                              c->frame->bodies.count);
            return false;
        }

        /* A body has one block in a row: neither another further one nor one of the joint's pair. */
        while (joint < constraints->count && end + constraints->rows[joint] <= rows[i])
            end += constraints->rows[joint++];
        bool twice = joint < constraints->count &&
                     (constraints->pair[joint][0] == bodies[i] || constraints->pair[joint][1] == bodies[i]);
        for (int j = i - 1; j >= 0 && rows[j] == rows[i]; j--) twice |= bodies[j] == bodies[i];
        if (twice)
            ss_checker_report(c, SS_FINDING_FAULT, "constraints/further_bodies", i,
                              "body %d occurs twice in row %d, must have one block", bodies[i], (int)rows[i]);
    }
    return true;
}

static void check_constraints(ss_checker *c)
{
    const ss_constraints *constraints = &c->frame->constraints;
    const int32_t *further_row = constraints->further_row;
    const int *further_body = constraints->further_body;
    int further_count = check_further(c) ? constraints->further_count : 0; // those that can be followed
    long long total = 0;
    int row = 0, block = 0;
    for (int k = 0; k < constraints->count; k++) {
        bool also_live = false;
        for (int i = block; i < further_count && further_row[i] - row < constraints->rows[k]; i++)
            also_live |= ss_frame_is_live(c->frame, further_body[i]);
        bool usable = check_pair(c, "constraints/pairs", k, constraints->pair[k], also_live);

        for (int n = 0; n < constraints->rows[k] && row < constraints->row_count; n++, row++) {
            double further = 0;
            for (; block < further_count && further_row[block] == row; block++)
                if (ss_frame_is_live(c->frame, further_body[block]))
                    further = fmax(further, largest_entry(constraints->further_jacobian[block]));
            if (usable) check_row(c, row, constraints->pair[k], further);

            /* A velocity constraint has no position to be wrong about; a formulation would pull on it all the
             * same. */
            if (constraints->holonomic && !constraints->holonomic[k] && constraints->violation[row] != 0)
                ss_checker_report(
                    c, SS_FINDING_WARNING, "constraints/violations", row,
                    "is %s, but joint %d is not holonomic: there is no position error to correct",
                    digits_of(constraints->violation[row]).text, k);
        }
        total += constraints->rows[k];
    }
    if (total != constraints->row_count)
        ss_checker_report(c, SS_FINDING_FAULT, "constraints/rows", SS_NO_INDEX,
                          "add up to %lld, but there are %d equations", total, constraints->row_count);

    for (int i = 0; i < constraints->row_count; i++) {
        double lower = constraints->bounds[i][0], upper = constraints->bounds[i][1];
        if (!(lower <= upper) || lower == INFINITY || upper == -INFINITY)
            ss_checker_report(c, SS_FINDING_FAULT, "constraints/bounds", i,
                              "lower %s and upper %s enclose no number; (-inf, inf) is unbounded",
                              digits_of(lower).text, digits_of(upper).text);
    }
    check_friction(c);
}

/* ---- contacts --------------------------------------------------------------------------------------- */

static void check_contacts(ss_checker *c)
{
    const ss_contacts *contacts = &c->frame->contacts;
    for (int k = 0; k < contacts->count; k++) {
        check_pair(c, "contacts/pairs", k, contacts->pair[k], false);
        check_length(c, "contacts/normals", k, length_of_vector(contacts->normal[k]));

        if (contacts->tangent) {
            const double *t = contacts->tangent[k];
            double dot = ss_vec3_dot(ss_vec3_load(t), ss_vec3_load(contacts->normal[k]));
            ss_finding_kind kind;
            check_length(c, "contacts/t_u", k, length_of_vector(t));
            if (is_off(fabs(dot), &kind))
                ss_checker_report(c, kind, "contacts/t_u", k,
                                  "has component %.9g along the normal, must be 0 within %s", dot,
                                  digits_of(ROUNDED).text);
        }

        for (int i = 0; contacts->mu_static && i < 2; i++) {
            double sliding = contacts->mu[k][i], resting = contacts->mu_static[k][i];
            if (resting < sliding)
                ss_checker_report(c, SS_FINDING_WARNING, "contacts/mu_s", k,
                                  "component %d is %s, less than sliding friction, %s", i,
                                  digits_of(resting).text, digits_of(sliding).text);
        }
    }
}

/* ---- alternatives ----------------------------------------------------------------------------------- */

/* Normals of one alternative come from one face or one pair of edges. */
#define SAME_NORMAL 1e-9

/* All arrays or none; surface velocities are the only ones that may be left out. */
static void check_alternative_arrays(ss_checker *c)
{
    const ss_subcontacts *sub = &c->frame->subcontacts;
    bool any = sub->groups || sub->count || sub->contact_group || sub->cut || sub->group ||
               sub->alternative || sub->role || sub->point || sub->normal || sub->gap ||
               sub->surface_velocity;
    if (!any) return;
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        char path[64];
        bool may_miss = field->offset == offsetof(ss_frame, subcontacts.surface_velocity);
        may_miss |= ss_field_items(field, c->frame) == 0;
        if (strcmp(field->group, "subcontacts") != 0 || may_miss || ss_field_data(field, c->frame)) continue;
        snprintf(path, sizeof path, "%s/%s", field->group, field->name);
        ss_checker_report(c, SS_FINDING_FAULT, path, SS_NO_INDEX,
                          "is missing, but other arrays of subcontacts exist");
    }
}

/* Groups, alternatives and roles that exist. */
static bool check_alternative_numbers(ss_checker *c)
{
    const ss_subcontacts *sub = &c->frame->subcontacts;
    bool before = c->faulty;
    c->faulty = false;

    for (int k = 0; k < c->frame->contacts.count; k++)
        if (sub->contact_group[k] < -1 || sub->contact_group[k] >= sub->groups)
            ss_checker_report(c, SS_FINDING_FAULT, "subcontacts/contact_groups", k,
                              "is %d, but there are %d groups; must be below, or -1 for an ordinary contact",
                              (int)sub->contact_group[k], sub->groups);

    for (int r = 0; r < sub->count; r++) {
        if (sub->group[r] < 0 || sub->group[r] >= sub->groups)
            ss_checker_report(c, SS_FINDING_FAULT, "subcontacts/groups", r, "is %d, but there are %d groups",
                              (int)sub->group[r], sub->groups);
        if (sub->alternative[r] < 0)
            ss_checker_report(c, SS_FINDING_FAULT, "subcontacts/alternatives", r,
                              "is %d, must not be negative", (int)sub->alternative[r]);
        if (sub->role[r] != SS_ROW_FORCE && sub->role[r] != SS_ROW_TEST)
            ss_checker_report(c, SS_FINDING_FAULT, "subcontacts/roles", r,
                              "is %d, must be 0 (force) or 1 (test)", (int)sub->role[r]);
        else if (sub->alternative[r] == 0 && sub->role[r] == SS_ROW_FORCE)
            ss_checker_report(c, SS_FINDING_FAULT, "subcontacts/roles", r,
                              "is 0, but force points of alternative 0 are contacts");
        check_length(c, "subcontacts/normals", r, length_of_vector(sub->normal[r]));
    }

    bool good = !c->faulty;
    c->faulty |= before;
    return good;
}

static void check_groups(ss_checker *c, const ss_groups *groups)
{
    const ss_frame *frame = c->frame;
    int contacts = frame->contacts.count;
    for (int k = 0; k < contacts; k++) {
        int g = frame->subcontacts.contact_group[k];
        const int *pair = frame->contacts.pair[k],
                  *first = g < 0 ? pair : frame->contacts.pair[groups->contact[g]];
        if (pair[0] != first[0] || pair[1] != first[1])
            ss_checker_report(c, SS_FINDING_FAULT, "subcontacts/contact_groups", k,
                              "is %d, like contact %d, but the contacts are of different pairs of bodies", g,
                              groups->contact[g]);
    }

    /* Each alternative has one normal, that of its first point, and at least one point that carries force. */
    for (int g = 0; g < groups->group_count; g++) {
        for (int a = groups->first_alternative[g]; a < groups->first_alternative[g + 1]; a++) {
            int begin = groups->first_row[a], end = groups->first_row[a + 1], forces = 0;
            int number = a - groups->first_alternative[g];
            for (int r = begin; r < end; r++) {
                int i = groups->origin[r], point = i - contacts;
                const double *n = point < 0 ? frame->contacts.normal[i] : frame->subcontacts.normal[point];
                double apart = ss_vec3_norm(ss_vec3_subtract(ss_vec3_load(n), ss_groups_normal(groups, a)));
                forces += !ss_groups_is_test(groups, r);
                if (apart > SAME_NORMAL)
                    ss_checker_report(
                        c, SS_FINDING_FAULT, point < 0 ? "contacts/normals" : "subcontacts/normals",
                        point < 0 ? i : point,
                        "differs by %.3g from the others of alternative %d of group %d, must be the same "
                        "within %g",
                        apart, number, g, SAME_NORMAL);
            }
            if (forces == 0)
                ss_checker_report(c, SS_FINDING_FAULT, "subcontacts/roles", SS_NO_INDEX,
                                  "alternative %d of group %d has no force point", number, g);
        }
    }
}

/* A group has contacts, and no more alternatives than points for them: else a few rows could ask for any
 * amount of memory. */
static void check_group_sizes(ss_checker *c, int (*count)[2])
{
    const ss_subcontacts *sub = &c->frame->subcontacts;
    for (int k = 0; k < c->frame->contacts.count; k++)
        if (sub->contact_group[k] >= 0) count[sub->contact_group[k]][0]++;
    for (int r = 0; r < sub->count; r++) count[sub->group[r]][1]++;
    for (int g = 0; g < sub->groups; g++)
        if (count[g][0] == 0)
            ss_checker_report(c, SS_FINDING_FAULT, "subcontacts/contact_groups", SS_NO_INDEX,
                              "group %d has no contact, which its alternative 0 consists of", g);
    for (int r = 0; r < sub->count; r++)
        if (sub->alternative[r] > count[sub->group[r]][1])
            ss_checker_report(c, SS_FINDING_FAULT, "subcontacts/alternatives", r,
                              "is %d, but its group has only %d points", (int)sub->alternative[r],
                              count[sub->group[r]][1]);
}

static void check_alternatives(ss_checker *c)
{
    const ss_subcontacts *sub = &c->frame->subcontacts;
    ss_groups groups;
    bool none = sub->groups == 0 && sub->count == 0 && !sub->contact_group;
    if (none || !check_alternative_numbers(c)) return;
    bool before = c->faulty;
    int(*count)[2] = ss_allocate((size_t)sub->groups, sizeof *count);
    c->faulty = false;
    if (count) check_group_sizes(c, count);
    if (!count || (!c->faulty && !ss_groups_make(c->frame, &groups, NULL))) {
        ss_checker_report(c, SS_FINDING_FAULT, "subcontacts", SS_NO_INDEX,
                          "cannot be checked: out of memory");
    } else if (!c->faulty) {
        check_groups(c, &groups);
        ss_groups_free(&groups);
    }
    ss_release(count);
    c->faulty |= before;
}

/* ---- the frame -------------------------------------------------------------------------------------- */

bool ss_frame_check(const ss_frame *frame, const char *place, ss_findings *findings)
{
    ss_checker c = {.frame = frame, .place = place, .findings = findings};

    /* Sizes and arrays first, which make it possible to look at the numbers at all. */
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        int items = ss_field_items(field, frame);
        char path[64];
        snprintf(path, sizeof path, "%s/%s", field->group, field->name);
        if (items < 0)
            ss_checker_report(&c, SS_FINDING_FAULT, path, SS_NO_INDEX, "has %d items, must not be negative",
                              items);
        else if (items > 0 && !field->optional && !ss_field_data(field, frame))
            ss_checker_report(&c, SS_FINDING_FAULT, path, SS_NO_INDEX, "is missing");
    }
    check_alternative_arrays(&c);
    c.faulty |= !ss_frame_check_generalized_arrays(frame, place, findings);
    if (c.faulty) return false;

    if (!(frame->h >= SHORTEST_STEP && frame->h <= FARTHEST))
        ss_checker_report(&c, SS_FINDING_FAULT, "timestep", SS_NO_INDEX, "is %s s, must be between %g and %g",
                          digits_of(frame->h).text, SHORTEST_STEP, FARTHEST);
    if (isinf(frame->time))
        ss_checker_report(&c, SS_FINDING_WARNING, "time", SS_NO_INDEX,
                          "is %s s, must be finite, or nan for unknown", digits_of(frame->time).text);

    check_ranges(&c);
    check_bodies(&c);
    check_constraints(&c);
    check_contacts(&c);
    check_alternatives(&c);
    if (!c.faulty) c.faulty = !ss_frame_check_generalized(frame, place, findings);
    return !c.faulty;
}
