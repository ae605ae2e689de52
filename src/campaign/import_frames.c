#define _GNU_SOURCE
#include "campaign/import_frames.h"

#include "base/text.h"
#include "base/words.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINE = 1 << 28, MOST_NAME = 120 };

/* A place in the input. */
typedef struct reader {
    const char *name;
    int line;
    ss_recorder *recorder;

    ss_error *err;
} reader;

SS_PRINTF(3, 4)
static bool fail(const reader *r, const char *place, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return ss_fail(r->err, SS_ERROR_INPUT, "%s:%d: %s%s%s", r->name, r->line, place, *place ? ": " : "",
                   text);
}

/* ---- values ------------------------------------------------------------------------------------------- */

static bool check_keys(const reader *r, json_t *object, const char *place, const char *const *keys)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object)) return fail(r, place, "expected an object");
    json_object_foreach(object, key, value)
    {
        ss_nearest nearest = ss_nearest_start(key);
        bool known = false;
        for (int i = 0; !known && keys[i]; i++) {
            known = strcmp(keys[i], key) == 0;
            ss_nearest_offer(&nearest, keys[i]);
        }
        if (!known)
            return fail(r, place, "unknown key '%.60s'%s%s%s", key, nearest.best ? "; did you mean " : "",
                        nearest.best ? nearest.best : "", nearest.best ? "?" : "");
    }
    return true;
}

/* All numbers of an array, or of an array of arrays, in order. JSON has no infinity: the texts "inf" and
 * "-inf" stand for it. */
static bool flatten(json_t *value, double *numbers, size_t room, size_t *count)
{
    if (!json_is_array(value)) {
        const char *text = json_string_value(value);
        bool up = text && strcmp(text, "inf") == 0, down = text && strcmp(text, "-inf") == 0;
        if (*count >= room || !(json_is_number(value) || up || down)) return false;
        numbers[(*count)++] = up ? INFINITY : down ? -INFINITY : json_number_value(value);
        return true;
    }
    size_t i;
    json_t *item;
    json_array_foreach(value, i, item) if (!flatten(item, numbers, room, count)) return false;
    return true;
}

/* Exactly `count` numbers under a key; false without an error where the key is missing and that is allowed:
 * *there says so. */
static bool read_numbers(reader *r, json_t *object, const char *place, const char *key, size_t count,
                         double *numbers, bool *there)
{
    char full[MOST_NAME];
    snprintf(full, sizeof full, "%s%s%s", place, *place ? "." : "", key);
    json_t *value = json_object_get(object, key);
    if (there) *there = value && !json_is_null(value);
    if (!value || json_is_null(value)) return there ? true : fail(r, full, "missing");
    size_t found = 0;
    if (!flatten(value, numbers, count, &found) || found != count)
        return fail(r, full, "expected %zu number%s", count, count == 1 ? "" : "s");
    return true;
}

static bool read_body_number(reader *r, json_t *object, const char *place, const char *key, int bodies,
                             int *body)
{
    json_t *value = json_object_get(object, key);
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < -1 || number >= bodies)
        return fail(r, place, "%s: expected the number of a body, or -1 for the world", key);
    *body = number < 0 ? SS_WORLD : (int)number;
    return true;
}

/* ---- a frame ------------------------------------------------------------------------------------------ */

static bool read_body(reader *r, json_t *body, const char *place)
{
    static const char *const keys[] = {"mass",          "position", "quaternion", "inertia",
                                       "local_inertia", "velocity", "force",      NULL};
    double mass, position[3], quaternion[4] = {1, 0, 0, 0}, inertia[9], velocity[6], force[6];
    bool turned, local;
    if (!check_keys(r, body, place, keys)) return false;
    local = json_object_get(body, "local_inertia") != NULL;
    const char *key = local ? "local_inertia" : "inertia";
    bool diagonal = json_array_size(json_object_get(body, key)) == 3 &&
                    json_is_number(json_array_get(json_object_get(body, key), 0));

    if (!read_numbers(r, body, place, "mass", 1, &mass, NULL) ||
        !read_numbers(r, body, place, "position", 3, position, NULL) ||
        !read_numbers(r, body, place, "quaternion", 4, quaternion, &turned) ||
        !read_numbers(r, body, place, key, diagonal ? 3 : 9, inertia, NULL) ||
        !read_numbers(r, body, place, "velocity", 6, velocity, NULL) ||
        !read_numbers(r, body, place, "force", 6, force, NULL))
        return false;

    if (diagonal) {
        double d[3] = {inertia[0], inertia[1], inertia[2]};
        for (int i = 0; i < 9; i++) inertia[i] = i % 4 == 0 ? d[i / 4] : 0;
    }
    (local ? ss_recorder_body_local : ss_recorder_body)(r->recorder, mass, position, quaternion, inertia,
                                                        velocity, force);
    return true;
}

/* jacobian, violation, time_derivative and bounds, one after the other in memory of their own. */
static bool read_joint(reader *r, json_t *joint, const char *place, int bodies, int *rows)
{
    static const char *const keys[] = {"a", "b", "jacobian", "violation", "time_derivative", "bounds", NULL};
    int a, b;
    if (!check_keys(r, joint, place, keys) || !read_body_number(r, joint, place, "a", bodies, &a) ||
        !read_body_number(r, joint, place, "b", bodies, &b))
        return false;

    size_t count = json_array_size(json_object_get(joint, "jacobian"));
    if (count < 1 || count > 10000) return fail(r, place, "jacobian: expected rows of 12 numbers");
    double *numbers = ss_allocate(count, 16 * sizeof *numbers);
    if (!numbers) return ss_fail(r->err, SS_ERROR_RESOURCES, "%s: out of memory", r->name);

    double *violation = numbers + 12 * count, *rate = violation + count, *bounds = rate + count;
    bool has_rate, has_bounds;
    bool good = read_numbers(r, joint, place, "jacobian", 12 * count, numbers, NULL) &&
                read_numbers(r, joint, place, "violation", count, violation, NULL) &&
                read_numbers(r, joint, place, "time_derivative", count, rate, &has_rate) &&
                read_numbers(r, joint, place, "bounds", 2 * count, bounds, &has_bounds);
    if (good)
        ss_recorder_joint(r->recorder, a, b, (int)count, numbers, violation, has_rate ? rate : NULL,
                          has_bounds ? bounds : NULL);
    *rows += (int)count;
    ss_release(numbers);
    return good;
}

static bool read_contact(reader *r, json_t *contact, const char *place, int bodies)
{
    static const char *const keys[] = {
        "a",       "b",           "point",      "normal",     "gap",           "mu", "mu_v",
        "tangent", "restitution", "mu_rolling", "mu_torsion", "spin_coupling", NULL};
    int a, b;
    double point[3], normal[3], gap, mu, tangent[3], extras[3] = {-1, -1, -1};
    double mu_torsion = 0;
    bool has_tangent, has[3], spins;
    if (!check_keys(r, contact, place, keys) || !read_body_number(r, contact, place, "a", bodies, &a) ||
        !read_body_number(r, contact, place, "b", bodies, &b) ||
        !read_numbers(r, contact, place, "point", 3, point, NULL) ||
        !read_numbers(r, contact, place, "normal", 3, normal, NULL) ||
        !read_numbers(r, contact, place, "gap", 1, &gap, NULL) ||
        !read_numbers(r, contact, place, "mu", 1, &mu, NULL) ||
        !read_numbers(r, contact, place, "tangent", 3, tangent, &has_tangent) ||
        !read_numbers(r, contact, place, "mu_v", 1, &extras[0], &has[0]) ||
        !read_numbers(r, contact, place, "restitution", 1, &extras[1], &has[1]) ||
        !read_numbers(r, contact, place, "mu_rolling", 1, &extras[2], &has[2]) ||
        !read_numbers(r, contact, place, "mu_torsion", 1, &mu_torsion, &spins))
        return false;
    json_t *coupling = json_object_get(contact, "spin_coupling");
    const char *word = coupling ? json_string_value(coupling) : "independent";
    bool ellipsoid = word && strcmp(word, "ellipsoid") == 0;
    if (!ellipsoid && !(word && strcmp(word, "independent") == 0))
        return fail(r, place, "spin_coupling: expected independent or ellipsoid");

    ss_recorder_contact(r->recorder, a, b, point, normal, gap, mu);
    if (has_tangent || has[0] || has[1] || has[2])
        ss_recorder_contact_extras(r->recorder, has_tangent ? tangent : NULL, extras[0], extras[1],
                                   extras[2]);
    if (spins)
        ss_recorder_contact_spin(r->recorder, mu_torsion,
                                 ellipsoid ? SS_SPIN_ELLIPSOID : SS_SPIN_INDEPENDENT);
    return true;
}

static bool read_result(reader *r, const char *solver, json_t *result, int bodies, int rows, int contacts)
{
    static const char *const keys[] = {"velocities", "lambda", "normal", "tangent", NULL};
    char place[MOST_NAME];
    snprintf(place, sizeof place, "results.%.60s", solver);
    if (!check_keys(r, result, place, keys)) return false;

    const size_t counts[4] = {6 * (size_t)bodies, (size_t)rows, (size_t)contacts, 3 * (size_t)contacts};
    double *arrays[4] = {0};
    bool there[4] = {false}, good = true;
    for (int i = 0; good && i < 4; i++) {
        arrays[i] = ss_allocate(counts[i], sizeof **arrays);
        good = arrays[i] || ss_fail(r->err, SS_ERROR_RESOURCES, "%s: out of memory", r->name);
        good = good && read_numbers(r, result, place, keys[i], counts[i], arrays[i], &there[i]);
    }
    if (good)
        ss_recorder_result(r->recorder, solver, there[0] ? arrays[0] : NULL, there[1] ? arrays[1] : NULL,
                           there[2] ? arrays[2] : NULL, there[3] ? arrays[3] : NULL);
    for (int i = 0; i < 4; i++) ss_release(arrays[i]);
    return good;
}

static bool read_frame(reader *r, json_t *line)
{
    static const char *const keys[] = {"time", "h", "bodies", "joints", "contacts", "results", NULL};
    double time = NAN, h;
    bool timed;
    if (!check_keys(r, line, "", keys) || !read_numbers(r, line, "", "h", 1, &h, NULL) ||
        !read_numbers(r, line, "", "time", 1, &time, &timed))
        return false;

    for (int k = 2; keys[k]; k++) {
        json_t *value = json_object_get(line, keys[k]);
        bool is_object = strcmp(keys[k], "results") == 0;
        if (value && !(is_object ? json_is_object(value) : json_is_array(value)))
            return fail(r, keys[k], "expected an %s", is_object ? "object" : "array");
    }

    // In this order: joints and contacts name bodies, and results count all of them.
    ss_recorder_begin(r->recorder, timed ? time : NAN, h);
    char place[MOST_NAME];
    size_t i;
    json_t *item;
    int bodies = 0, rows = 0, contacts = 0;
    json_array_foreach(json_object_get(line, "bodies"), i, item)
    {
        snprintf(place, sizeof place, "bodies[%zu]", i);
        if (!read_body(r, item, place)) return false;
        bodies++;
    }
    json_array_foreach(json_object_get(line, "joints"), i, item)
    {
        snprintf(place, sizeof place, "joints[%zu]", i);
        if (!read_joint(r, item, place, bodies, &rows)) return false;
    }
    json_array_foreach(json_object_get(line, "contacts"), i, item)
    {
        snprintf(place, sizeof place, "contacts[%zu]", i);
        if (!read_contact(r, item, place, bodies)) return false;
        contacts++;
    }

    const char *solver;
    json_object_foreach(json_object_get(line, "results"), solver,
                        item) if (!read_result(r, solver, item, bodies, rows, contacts)) return false;
    return ss_recorder_end(r->recorder, r->err) || ss_fail_in(r->err, "%s:%d", r->name, r->line);
}

/* ---- the head: who recorded, and what bodies look like
 * --------------------------------------------------- */

static bool read_shape(reader *r, json_t *shape, const char *place, ss_stored_shape *to)
{
    static const char *const keys[] = {"body", "kind", "size", "position", "quaternion", NULL};
    if (!check_keys(r, shape, place, keys)) return false;
    const char *kind = json_string_value(json_object_get(shape, "kind"));
    json_t *body = json_object_get(shape, "body"), *size = json_object_get(shape, "size");
    *to = (ss_stored_shape){.scenery = -1, .shape = {.quaternion = {1, 0, 0, 0}}};
    to->id = json_is_integer(body) && json_integer_value(body) >= 0 ? (int)json_integer_value(body) + 1 : 0;
    int found = -1;
    for (int k = SS_SPHERE; k <= SS_ELLIPSOID; k++)
        if (kind && strcmp(kind, ss_shape_kind_name((ss_shape_kind)k)) == 0) found = k;
    if (found < 0) return fail(r, place, "kind: expected sphere, plane, box, capsule, cylinder or ellipsoid");
    to->shape.kind = (ss_shape_kind)found;
    bool there;
    size_t count = json_array_size(size);
    return (!size || (count <= 3 && read_numbers(r, shape, place, "size", count, to->shape.size, NULL))) &&
           read_numbers(r, shape, place, "position", 3, to->shape.position, &there) &&
           read_numbers(r, shape, place, "quaternion", 4, to->shape.quaternion, &there);
}

static bool read_head(reader *r, json_t *head, const char *path, const ss_recording_options *options)
{
    static const char *const keys[] = {"toolkit",  "title",   "description", "author",      "date", "url",
                                       "keywords", "gravity", "shapes",      "formulation", "with", NULL};
    if (!check_keys(r, head, "", keys)) return false;
    ss_manifest manifest = {.gravity = {NAN, NAN, NAN}};
    char **texts[] = {&manifest.toolkit, &manifest.title, &manifest.description, &manifest.author,
                      &manifest.date,    &manifest.url,   &manifest.keywords};
    for (int i = 0; i < 7; i++)
        *texts[i] = (char *)(uintptr_t)json_string_value(json_object_get(head, keys[i]));

    bool there;
    if (!read_numbers(r, head, "", "gravity", 3, manifest.gravity, &there)) return false;
    r->recorder = ss_recorder_open_as(path, &manifest, SS_LAYOUT_CANONICAL, false, r->err);
    if (!r->recorder || !ss_recorder_configure_by(r->recorder, options, r->err)) return false;

    const char *formulation = json_string_value(json_object_get(head, "formulation"));
    const char *with = json_string_value(json_object_get(head, "with"));
    if (formulation && !ss_recorder_rules(r->recorder, formulation, with, r->err)) return false;

    json_t *list = json_object_get(head, "shapes");
    if (list && !json_is_array(list)) return fail(r, "shapes", "expected an array");
    size_t i, count = json_array_size(list);
    json_t *item;
    ss_stored_shape *shapes = ss_allocate(count, sizeof *shapes);
    bool good = shapes || ss_fail(r->err, SS_ERROR_RESOURCES, "%s: out of memory", r->name);
    json_array_foreach(list, i, item)
    {
        char place[MOST_NAME];
        snprintf(place, sizeof place, "shapes[%zu]", i);
        good = good && read_shape(r, item, place, &shapes[i]);
    }
    good = good && (count == 0 || ss_recorder_shapes(r->recorder, shapes, (int)count, r->err));
    ss_release(shapes);
    return good;
}

/* ---- lines -------------------------------------------------------------------------------------------- */

bool ss_import_frames(FILE *in, const char *name, const char *path, const ss_recording_options *options,
                      bool (*interrupted)(void), int *frames, ss_error *err)
{
    reader r = {.name = name, .err = err};
    char *line = NULL;
    size_t room = 0;
    ssize_t length = 0;
    bool good = true;
    *frames = 0;
    while (good && !interrupted() && (length = getline(&line, &room, in)) > 0) {
        r.line++;
        if (length > MOST_LINE) good = fail(&r, "", "a line of more than %d bytes", MOST_LINE);
        if (strspn(line, " \t\r\n") == (size_t)length) continue;

        json_error_t trouble;
        json_t *object = good ? json_loadb(line, (size_t)length, JSON_REJECT_DUPLICATES, &trouble) : NULL;
        if (good && !object) good = fail(&r, "", "not JSON: %s (column %d)", trouble.text, trouble.column);

        // The first line may be a head; without one, an empty head stands for it.
        bool is_head = object && !json_object_get(object, "h");
        if (good && is_head && r.recorder)
            good = fail(&r, "", "a frame needs h; a head comes first, and once");
        if (good && !r.recorder) {
            json_t *empty = json_object();
            good = read_head(&r, is_head ? object : empty, path, options);
            json_decref(empty);
        }
        if (good && !is_head) {
            good = read_frame(&r, object);
            *frames += good;
        }
        json_decref(object);
    }

    free(line);

    if (good && *frames == 0) good = ss_fail(err, SS_ERROR_INPUT, "%s: no frame in it", name);
    if (good) return ss_recorder_close(r.recorder, err);
    ss_recorder_discard(r.recorder);
    return false;
}
