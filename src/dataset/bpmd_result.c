/* What solvers left beside a frame: solver_data/<solver>. Parts of an answer that the file leaves out while
 * it has others are NaN: not known. */
#include "dataset/bpmd.h"

#include "dataset/certificate_store.h"

#include "session/method.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_MEASURES = 1000 };

/* ---- groups of solvers ---------------------------------------------------------------------------- */

typedef struct listing {
    const ss_bpmd *file;
    const ss_h5_group *group;
    ss_h5_names names; /* of groups */
    int capacity, members;
} listing;

static bool add_solver(const char *name, void *context, ss_error *err)
{
    listing *l = context;
    int most = l->file->limits.max_results;
    if (++l->members > most)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: %s: more than %d results (max_results)", l->file->name,
                       l->group->path, most);
    return !ss_h5_is_group(l->group, name) || ss_h5_names_add(&l->names, &l->capacity, name) ||
           ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", l->file->name);
}

/* Lists the groups of solver_data once for all the results of a frame: file->results. */
static bool list_results(ss_bpmd *file, int frame, const ss_bpmd_place *place, ss_error *err)
{
    if (file->listed == frame) return true;
    ss_h5_names_free(&file->results);
    file->listed = -1;
    ss_h5_group group;
    if (ss_bpmd_has(place, "solver_data")) {
        if (!ss_h5_enter_group(&place->group, "solver_data", &group, err)) return false;
        listing l = {.file = file, .group = &group};
        bool good = ss_h5_each(&group, add_solver, &l, err);
        file->results = l.names;
        ss_h5_leave_group(&group);
        if (!good) return false;
    }
    file->listed = frame;
    return true;
}

static bool check_index(const ss_bpmd *file, int frame, ss_error *err)
{
    return (frame >= 0 && frame < file->frame_count) ||
           ss_fail(err, SS_ERROR_USAGE, "%s: frame %d, but there are %d", file->name, frame,
                   file->frame_count);
}

int ss_bpmd_result_count(ss_bpmd *file, int frame, ss_error *err)
{
    ss_h5_session session;
    ss_bpmd_place place;
    int count = -1;
    ss_h5_enter(&session);
    if (check_index(file, frame, err) && ss_bpmd_enter_frame(file, frame, &place, err)) {
        if (list_results(file, frame, &place, err)) count = file->results.count;
        ss_bpmd_leave(&place);
    }
    ss_h5_leave(&session);
    return count;
}

/* ---- the answer ----------------------------------------------------------------------------------- */

typedef struct part {
    const char *name;
    ss_bpmd_shape shape;
    double *values; /* in the answer */
    bool is_impulse;
} part;

static bool read_part(const ss_bpmd_place *solver, const part *p, double h, ss_error *err)
{
    const ss_h5_group *group = &solver->group;
    size_t count = (size_t)p->shape.items * (size_t)p->shape.width;
    if (count == 0) return true;
    double *values, factor = 1;
    if (!ss_bpmd_has(solver, p->name)) {
        for (size_t i = 0; i < count; i++) p->values[i] = NAN;
        return true;
    }

    /* Multipliers may be forces instead of impulses, if an attribute says so. */
    if (p->is_impulse) {
        char unit[16] = "impulse", path[SS_H5_PATH];
        ss_h5_text_attribute_of(group, p->name, "unit", unit, sizeof unit);
        if (strcmp(unit, "force") == 0) {
            factor = h;
        } else if (strcmp(unit, "impulse") != 0) {
            ss_h5_join(group, p->name, path);
            return ss_fail(err, SS_ERROR_INPUT,
                           "%s: %s: the attribute unit is \"%s\", must be impulse or force", group->file,
                           path, unit);
        }
    }

    if (!ss_bpmd_read_items(group, p->name, &p->shape, &values, NULL, err)) return false;
    for (size_t i = 0; i < count; i++) p->values[i] = factor == 1 ? values[i] : factor * values[i];
    ss_release(values);
    return true;
}

/* Alternatives that were selected; a result without them is one of the ordinary contacts. */
static bool read_selection(const ss_bpmd_place *solver, const ss_frame *sizes, ss_answer *answer,
                           ss_error *err)
{
    if (answer->groups == 0) return true;
    uint64_t rows = (uint64_t)answer->subcontacts;
    double(*rolling)[3] = answer->sub_rolling_impulse;
    const part parts[] = {
        {"sub_normal", {rows, 1, 1, false, "points of alternatives"}, answer->sub_normal_impulse, true},
        {"sub_tangent", {rows, 3, 3, false, "points of alternatives"}, answer->sub_friction_impulse[0], true},
        {"sub_rolling", {rows, 3, 3, false, "points of alternatives"}, rolling ? rolling[0] : NULL, true},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].values && ss_bpmd_has(solver, parts[i].name) &&
            !read_part(solver, &parts[i], sizes->h, err))
            return false;

    if (!ss_bpmd_has(solver, "selection")) return true;
    double *values;
    ss_bpmd_shape shape = {(uint64_t)answer->groups, 1, 1, false, "groups"};
    if (!ss_bpmd_read_items(&solver->group, "selection", &shape, &values, NULL, err)) return false;
    bool good = true;
    for (int g = 0; good && g < answer->groups; g++) {
        good = (values[g] >= -1 && values[g] < INT32_MAX && values[g] == floor(values[g])) ||
               ss_bpmd_refuse(&solver->group, "selection", err, "[%d]: is %.17g, must be an alternative", g,
                              values[g]);
        if (good) answer->selection[g] = (int32_t)values[g];
    }
    ss_release(values);
    return good;
}

/* The sizes of the frame and its step; nothing else of it is needed. */
static bool measure_frame(ss_bpmd_stored *stored, ss_frame *sizes, ss_error *err)
{
    ss_bpmd_sizes found;
    *sizes = (ss_frame){0};
    if (!ss_bpmd_stored_count(stored, &found, err) || !ss_bpmd_timestep(stored, &sizes->h, err)) return false;
    sizes->bodies.count = found.bodies;
    sizes->constraints.row_count = found.rows;
    sizes->contacts.count = found.contacts;
    sizes->subcontacts.groups = found.groups;
    sizes->subcontacts.count = found.subcontacts;
    sizes->generalized.count = found.coordinates;
    int limit = stored->file->limits.max_rows;
    return found.rows <= limit ||
           ss_bpmd_refuse(&stored->constraints.group, "rows", err,
                          ": add up to %d equations, over the limit of %d (max_rows)", found.rows, limit);
}

static bool read_answer(ss_bpmd_stored *stored, const ss_bpmd_place *solver, ss_stored_result *result,
                        ss_error *err)
{
    if (!ss_bpmd_has(solver, "velocities") && !ss_bpmd_has(solver, "lambda") &&
        !ss_bpmd_has(solver, "normal") && !ss_bpmd_has(solver, "tangent") && !ss_bpmd_has(solver, "rolling"))
        return true;
    ss_frame sizes;
    if (!measure_frame(stored, &sizes, err)) return false;
    ss_answer *answer = result->answer = ss_answer_create(&sizes, ss_bpmd_has(solver, "rolling"), err);
    if (!answer) return false;

    uint64_t bodies = (uint64_t)sizes.bodies.count, rows = (uint64_t)sizes.constraints.row_count;
    uint64_t contacts = (uint64_t)sizes.contacts.count, coordinates = (uint64_t)answer->coordinates;
    double *rolling = answer->rolling_impulse ? answer->rolling_impulse[0] : NULL;
    const part parts[] = {
        {"velocities", {bodies, 6, 1, false, "bodies"}, answer->velocity[0], false},
        {"lambda", {rows, 1, 1, false, "joint rows"}, answer->row_impulse, true},
        {"normal", {contacts, 1, 1, false, "contacts"}, answer->normal_impulse, true},
        {"tangent", {contacts, 3, 3, false, "contacts"}, answer->friction_impulse[0], true},
        {"rolling", {rolling ? contacts : 0, 3, 3, false, "contacts"}, rolling, true},
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (!read_part(solver, &parts[i], sizes.h, err)) return false;

    const part generalized = {"generalized_velocities",
                              {coordinates, 1, 1, false, "generalised coordinates"},
                              answer->generalized_velocity,
                              false};
    return read_selection(solver, &sizes, answer, err) &&
           (coordinates == 0 || !ss_bpmd_has(solver, generalized.name) ||
            read_part(solver, &generalized, sizes.h, err));
}

/* ---- how the run went ----------------------------------------------------------------------------- */

static bool count_numbers(const ss_bpmd_place *place, const char *name, const ss_h5_array *array,
                          uint64_t *count, ss_error *err)
{
    if (!ss_bpmd_count_of(&place->group, name, array, count, err)) return false;
    return *count <= INT32_MAX || ss_fail(err, SS_ERROR_RESOURCES, "%s: %s/%s: too long", place->group.file,
                                          place->group.path, name);
}

static bool read_history(const ss_bpmd_place *solver, ss_stored_result *result, ss_error *err)
{
    const char *name = ss_bpmd_has(solver, "errors")      ? "errors"
                       : ss_bpmd_has(solver, "gs_errors") ? "gs_errors" // ODE's Gauss-Seidel
                                                          : NULL;
    ss_h5_array array;
    uint64_t count;
    if (!name) return true;
    if (!ss_h5_read(&solver->group, name, &array, err)) return false;
    bool good = count_numbers(solver, name, &array, &count, err);
    if (good) {
        result->errors = array.values;
        result->error_count = (int)count;
    } else {
        ss_h5_array_free(&array);
    }
    return good;
}

static bool read_known(const ss_bpmd_place *solver, const char *name, double *value, ss_error *err)
{
    return !ss_bpmd_has(solver, name) || ss_h5_read_scalar(&solver->group, name, value, err);
}

/* A number that is not there is unknown, -1. */
static bool read_iterations(const ss_bpmd_place *solver, int *iterations, ss_error *err)
{
    if (!ss_bpmd_has(solver, "iterations")) return true;
    return ss_h5_read_int(&solver->group, "iterations", iterations, err) &&
           (*iterations >= 0 || ss_fail(err, SS_ERROR_INPUT, "%s: %s/iterations: is %d, must not be negative",
                                        solver->group.file, solver->group.path, *iterations));
}

static bool read_measures(const ss_bpmd_place *solver, ss_stored_result *result, ss_error *err)
{
    ss_bpmd_place metrics;
    if (!ss_bpmd_enter_member(solver, "metrics", &metrics, err)) return false;
    if (!metrics.exists) return true;
    int count = metrics.names.count;
    bool good = count <= MOST_MEASURES || ss_fail(err, SS_ERROR_RESOURCES, "%s: %s: more than %d members",
                                                  metrics.group.file, metrics.group.path, MOST_MEASURES);
    if (good) {
        result->measures = ss_allocate((size_t)count, sizeof *result->measures);
        good = result->measures || ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", metrics.group.file);
    }

    for (int m = 0; good && m < count; m++) {
        const char *name = metrics.names.names[m];
        ss_measure *measure = &result->measures[m];
        ss_h5_array array;
        uint64_t length;
        result->measure_count = m + 1; // counts the one being read, so that it is freed
        good = ss_h5_read(&metrics.group, name, &array, err);
        if (good) {
            good = count_numbers(&metrics, name, &array, &length, err);
            if (!good) ss_h5_array_free(&array);
        }
        if (good) {
            *measure = (ss_measure){.name = ss_text_copy(name), .values = array.values, .count = (int)length};
            good = measure->name || ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", metrics.group.file);
        }
    }
    ss_bpmd_leave(&metrics);
    return good;
}

static bool read_solver(ss_bpmd_stored *stored, const ss_bpmd_place *solver, ss_stored_result *result,
                        ss_error *err)
{
    const char *slash = strrchr(solver->group.path, '/');
    result->solver = ss_text_copy(slash ? slash + 1 : solver->group.path);
    if (!result->solver) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", solver->group.file);

    /* The rules the answer was made by; options mean nothing without the formulation. */
    char formulation[64], with[SS_RULES_LENGTH];
    if (ss_h5_text_attribute(&solver->group, "formulation", formulation, sizeof formulation)) {
        result->formulation = ss_text_copy(formulation);
        if (ss_h5_text_attribute(&solver->group, "with", with, sizeof with))
            result->with = ss_text_copy(with);
        if (!result->formulation)
            return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", solver->group.file);
    }

    return read_answer(stored, solver, result, err) && read_history(solver, result, err) &&
           read_iterations(solver, &result->iterations, err) &&
           read_known(solver, "error", &result->error, err) &&
           read_known(solver, "time", &result->seconds, err) && read_measures(solver, result, err) &&
           (!result->answer ||
            ss_bpmd_read_certificate(solver, result->answer->contacts, &result->certificate, err));
}

bool ss_bpmd_result(ss_bpmd *file, int frame, int index, ss_stored_result *result, ss_error *err)
{
    *result = (ss_stored_result){.iterations = -1, .error = NAN, .seconds = NAN};
    ss_h5_session session;
    ss_h5_group group = {.id = -1};
    ss_bpmd_stored stored;
    ss_bpmd_place solver = {0};

    ss_h5_enter(&session);
    bool good = check_index(file, frame, err) && ss_bpmd_stored_open(file, frame, &stored, err);
    if (good) {
        /* The index-th group of solver_data, whose other members are not looked at. */
        const ss_h5_group *place = &stored.place.group;
        good = list_results(file, frame, &stored.place, err) &&
               ((index >= 0 && index < file->results.count) ||
                ss_fail(err, SS_ERROR_USAGE, "%s: %s: result %d, but there are %d", file->name, place->path,
                        index, file->results.count)) &&
               ss_h5_enter_group(place, "solver_data", &group, err) &&
               ss_bpmd_enter(&group, file->results.names[index], &solver, err);
        ss_h5_leave_group(&group);
        if (good) ss_bpmd_tighten(&solver, file->limits.max_contacts, 3);
        good = good && read_solver(&stored, &solver, result, err);
        ss_bpmd_leave(&solver);
        ss_bpmd_stored_close(&stored);
    }

    ss_h5_leave(&session);
    if (!good) ss_stored_result_free(result);
    return good;
}

/* ---- the rules an answer was made by -------------------------------------------------------------- */

bool ss_stored_result_step(const ss_stored_result *result, ss_step_options *step, ss_error *err)
{
    ss_request request = {.formulation = result->formulation,
                          .with = result->formulation ? result->with : NULL};
    ss_method method;
    if (!ss_method_prepare(&request, &method, NULL, err))
        return ss_fail_in(err, "result %s", result->solver ? result->solver : "");
    memcpy(step, method.formulation_options, sizeof *step); // every option struct begins with it
    ss_method_free(&method);
    return true;
}
