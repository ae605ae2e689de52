#include "dataset/certificate_store.h"

#include "base/digest.h"
#include "certificate/conclusion.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of a certificate; NaN is left out. */
typedef struct number {
    const char *name;
    size_t offset;
} number;

static const number numbers[] = {
    {"bound", offsetof(ss_certificate, bound)},
    {"spin_bound", offsetof(ss_certificate, spin_bound)},
    {"spin_speed", offsetof(ss_certificate, spin_speed)},
    {"joint_bound", offsetof(ss_certificate, joint_bound)},
    {"scale", offsetof(ss_certificate, scale)},
    {"velocity_error", offsetof(ss_certificate, velocity_error)},
    {"spin_error", offsetof(ss_certificate, spin_error)},
    {"forward", offsetof(ss_certificate, forward)},
    {"distance", offsetof(ss_certificate, distance)},
    {"agreed", offsetof(ss_certificate, agreed)},
    {"tolerance", offsetof(ss_certificate, tolerance)},
};
enum { NUMBERS = sizeof numbers / sizeof *numbers };

/* Arrays of the contacts: state, certain, bound, margin. */
enum { COLUMNS = 4 };
static const char *const columns[COLUMNS] = {"states", "certain", "bounds", "margins"};

static double column_of(const ss_certified_contact *contact, int column)
{
    return column == 0   ? contact->state
           : column == 1 ? contact->certain
           : column == 2 ? contact->bound
                         : contact->margin;
}

/* ---- the digest -------------------------------------------------------------------------------------- */

/* A member that is not there adds nothing. */
static void add_text(ss_digest *digest, const char *name, const char *text)
{
    if (!text || !*text) return;
    ss_digest_add_text(digest, name);
    ss_digest_add_text(digest, text);
}

static void add_numbers(ss_digest *digest, const char *name, const double *values, size_t count)
{
    if (!values || count == 0) return;
    ss_digest_add_text(digest, name);
    ss_digest_add(digest, (uint64_t)count);
    ss_digest_add_reals(digest, values, count);
}

/* Zeros are as good as nothing: a file may leave them out. */
static void add_impulses(ss_digest *digest, const char *name, const double *values, size_t count)
{
    bool any = false;
    for (size_t i = 0; values && i < count; i++) any |= values[i] != 0.0;
    if (any) add_numbers(digest, name, values, count);
}

/* What an answer has of alternatives and of generalised coordinates. */
static bool add_choices(ss_digest *digest, const ss_answer *answer, ss_error *err)
{
    size_t groups = (size_t)answer->groups, points = (size_t)answer->subcontacts;
    double *selection = ss_allocate(groups, sizeof *selection);
    if (!selection) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a digest");
    bool selects = false;
    for (size_t g = 0; g < groups; g++) {
        selection[g] = answer->selection[g];
        selects |= answer->selection[g] >= 0;
    }
    if (selects) add_numbers(digest, "selection", selection, groups);
    ss_release(selection);
    if (answer->coordinates > 0 && !isnan(answer->generalized_velocity[0]))
        add_numbers(digest, "generalized_velocities", answer->generalized_velocity,
                    (size_t)answer->coordinates);
    if (points == 0) return true;
    add_impulses(digest, "sub_normal", answer->sub_normal_impulse, points);
    add_impulses(digest, "sub_tangent", answer->sub_friction_impulse[0], 3 * points);
    if (answer->sub_rolling_impulse)
        add_impulses(digest, "sub_rolling", answer->sub_rolling_impulse[0], 3 * points);
    return true;
}

static void add_number(ss_digest *digest, const char *name, double value)
{
    if (!isnan(value)) add_numbers(digest, name, &value, 1);
}

static int by_name(const void *left, const void *right)
{
    return strcmp((*(const ss_measure *const *)left)->name, (*(const ss_measure *const *)right)->name);
}

bool ss_stored_result_digest(const ss_stored_result *result, char digest[33], ss_error *err)
{
    const ss_certificate *certificate = result->certificate;
    const ss_answer *answer = result->answer;
    int contacts = certificate->contacts;
    const ss_measure **measures = ss_allocate((size_t)result->measure_count, sizeof *measures);
    double *values = ss_allocate((size_t)contacts, sizeof *values);
    bool good = (measures && values) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a digest");
    if (good) {
        ss_digest sum = ss_digest_start();
        add_text(&sum, "formulation", result->formulation);
        add_text(&sum, "with", result->with);

        // the answer, and how the run went
        size_t bodies = answer ? (size_t)answer->bodies : 0, rows = answer ? (size_t)answer->rows : 0;
        size_t points = answer ? (size_t)answer->contacts : 0;
        if (bodies) add_numbers(&sum, "velocities", answer->velocity[0], 6 * bodies);
        if (rows) add_numbers(&sum, "lambda", answer->row_impulse, rows);
        if (points) add_numbers(&sum, "normal", answer->normal_impulse, points);
        if (points) add_numbers(&sum, "tangent", answer->friction_impulse[0], 3 * points);
        if (points && answer->rolling_impulse)
            add_numbers(&sum, "rolling", answer->rolling_impulse[0], 3 * points);
        good = !answer || add_choices(&sum, answer, err);
        add_numbers(&sum, "errors", result->errors, (size_t)result->error_count);
        add_number(&sum, "iterations", result->iterations < 0 ? NAN : result->iterations);
        add_number(&sum, "error", result->error);
        add_number(&sum, "time", result->seconds);
        for (int m = 0; m < result->measure_count; m++) measures[m] = &result->measures[m];
        if (result->measure_count) qsort(measures, (size_t)result->measure_count, sizeof *measures, by_name);
        for (int m = 0; m < result->measure_count; m++)
            add_numbers(&sum, measures[m]->name, measures[m]->values, (size_t)measures[m]->count);

        // the certificate
        add_text(&sum, "level", ss_certificate_level_name(certificate->level));
        add_text(&sum, "law", ss_law_name(certificate->law));
        add_text(&sum, "solver", certificate->solver);
        add_text(&sum, "second", certificate->second);
        add_text(&sum, "reason", certificate->reason);
        for (int i = 0; i < NUMBERS; i++)
            add_number(&sum, numbers[i].name,
                       *(const double *)((const char *)certificate + numbers[i].offset));
        for (int k = 0; k < COLUMNS; k++) {
            for (int c = 0; c < contacts; c++) values[c] = column_of(&certificate->contact[c], k);
            add_numbers(&sum, columns[k], values, (size_t)contacts);
        }
        ss_digest_print(&sum, digest);
    }
    ss_release(measures);
    ss_release(values);
    return good;
}

/* ---- writing and reading ----------------------------------------------------------------------------- */

bool ss_writer_put_certificate(const ss_h5_group *solver, const ss_stored_result *result, ss_error *err)
{
    const ss_certificate *certificate = result->certificate;
    char digest[33];
    ss_h5_group group;
    if (!ss_stored_result_digest(result, digest, err) ||
        !ss_h5_make_group(solver, "certificate", &group, err))
        return false;
    bool good =
        ss_h5_write_text_attribute(&group, "digest", certificate->digest[0] ? certificate->digest : digest,
                                   err) &&
        ss_h5_write_text_attribute(&group, "level", ss_certificate_level_name(certificate->level), err) &&
        ss_h5_write_text_attribute(&group, "law", ss_law_name(certificate->law), err) &&
        (!certificate->solver[0] || ss_h5_write_text_attribute(&group, "solver", certificate->solver, err)) &&
        (!certificate->second[0] || ss_h5_write_text_attribute(&group, "second", certificate->second, err)) &&
        (!certificate->reason[0] || ss_h5_write_text_attribute(&group, "reason", certificate->reason, err));
    for (int i = 0; good && i < NUMBERS; i++) {
        double value = *(const double *)((const char *)certificate + numbers[i].offset);
        good = isnan(value) || ss_h5_write(&group, numbers[i].name, SS_H5_F64, 0, NULL, &value, err);
    }

    int contacts = certificate->contacts;
    double *values = good && contacts ? ss_allocate((size_t)contacts, sizeof *values) : NULL;
    if (good && contacts && !values) good = ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", group.file);
    for (int k = 0; values && good && k < COLUMNS; k++) {
        for (int c = 0; c < contacts; c++) values[c] = column_of(&certificate->contact[c], k);
        good = ss_h5_write_table(&group, columns[k], SS_H5_F64, (uint64_t)contacts, 1, values, err);
    }
    ss_release(values);
    ss_h5_leave_group(&group);
    return good;
}

static int index_of(const char *text, const char *(*name)(int index), int count)
{
    for (int i = 0; i < count; i++)
        if (name(i) && strcmp(name(i), text) == 0) return i;
    return -1;
}

static const char *level_name(int level)
{
    return ss_certificate_level_name((ss_certificate_level)level);
}

static const char *law_name(int bit)
{
    return ss_law_name((ss_law)(1 << bit));
}

static bool read_members(const ss_bpmd_place *place, ss_certificate *to, ss_error *err)
{
    const ss_h5_group *group = &place->group;
    char level[32] = "", law[32] = "cone";
    ss_h5_text_attribute(group, "level", level, sizeof level);
    ss_h5_text_attribute(group, "law", law, sizeof law);
    ss_h5_text_attribute(group, "solver", to->solver, sizeof to->solver);
    ss_h5_text_attribute(group, "second", to->second, sizeof to->second);
    ss_h5_text_attribute(group, "reason", to->reason, sizeof to->reason);
    ss_h5_text_attribute(group, "digest", to->digest, sizeof to->digest);
    int own_level = index_of(level, level_name, SS_CERTIFICATE_LEVELS), own_law = index_of(law, law_name, 5);
    if (own_level < 0 || own_law < 0)
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s: %s: the attribute %s is \"%s\", which is not a %s of certificates", group->file,
                       group->path, own_level < 0 ? "level" : "law", own_level < 0 ? level : law,
                       own_level < 0 ? "level" : "law");
    to->level = (ss_certificate_level)own_level;
    to->law = (ss_law)(1 << own_law);
    for (int i = 0; i < NUMBERS; i++)
        if (ss_bpmd_has(place, numbers[i].name) &&
            !ss_h5_read_scalar(group, numbers[i].name, (double *)((char *)to + numbers[i].offset), err))
            return false;

    // the contacts, whose states are codes of ss_certified_state
    double *values = ss_allocate((size_t)to->contacts, sizeof *values);
    bool good = values || ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", group->file);
    for (int k = 0; good && to->contacts && k < COLUMNS; k++) {
        if (!ss_bpmd_has(place, columns[k])) continue;
        good = ss_h5_read_exactly(group, columns[k], (uint64_t)to->contacts, values, err);
        for (int c = 0; good && c < to->contacts; c++) {
            ss_certified_contact *contact = &to->contact[c];
            if (k < 2 && !(values[c] >= 0.0 && values[c] <= (k ? 1.0 : (double)SS_CERTIFIED_SLIP) &&
                           values[c] == floor(values[c])))
                good = ss_fail(err, SS_ERROR_INPUT, "%s: %s/%s[%d]: is %.17g, which is no state", group->file,
                               group->path, columns[k], c, values[c]);
            else if (k == 0)
                contact->state = (uint8_t)values[c];
            else if (k == 1)
                contact->certain = (uint8_t)values[c];
            else
                *(k == 2 ? &contact->bound : &contact->margin) = values[c];
        }
    }
    ss_release(values);
    return good;
}

bool ss_bpmd_read_certificate(const ss_bpmd_place *solver, int contacts, ss_certificate **certificate,
                              ss_error *err)
{
    ss_bpmd_place place;
    *certificate = NULL;
    if (!ss_bpmd_enter_member(solver, "certificate", &place, err)) return false;
    if (!place.exists) return true;
    ss_certificate *to = ss_certificate_create(contacts, err);
    bool good = to && read_members(&place, to, err);
    ss_bpmd_leave(&place);
    if (good)
        *certificate = to;
    else
        ss_certificate_destroy(to);
    return good;
}
