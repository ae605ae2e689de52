/* A frame as it is stored: its groups, what their names tell about the writer, and its sizes. */
#include "dataset/bpmd.h"

#include "dataset/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- talk ------------------------------------------------------------------------------------------- */

void ss_bpmd_say(const ss_bpmd_stored *stored, ss_finding_kind kind, const char *group, const char *name,
                 const char *format, ...)
{
    if (!stored->findings) return;
    char place[SS_H5_PATH + 80], message[400];
    snprintf(place, sizeof place, "%s/%s%s%s", stored->place.group.path, group ? group : "", group ? "/" : "",
             name);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    ss_findings_add(stored->findings, kind, place, "%s", message);
}

bool ss_bpmd_refuse(const ss_h5_group *group, const char *name, ss_error *err, const char *format, ...)
{
    char path[SS_H5_PATH], what[400];
    ss_h5_join(group, name, path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return ss_fail(err, SS_ERROR_INPUT, "%s: %s%s", group->file, path, what);
}

/* ---- opening ---------------------------------------------------------------------------------------- */

static bool is_marked(const ss_bpmd_stored *stored)
{
    char mark[32];
    const ss_bpmd *file = stored->file;
    return file->simulations[file->entries[stored->index].simulation].is_ours ||
           ss_h5_text_attribute(&stored->place.group, SS_BPMD_MARK, mark, sizeof mark);
}

static ss_bpmd_family family_by_names(const ss_bpmd_stored *stored)
{
    const ss_bpmd *file = stored->file;
    const ss_bpmd_place *bodies = &stored->bodies;
    bool modern = ss_bpmd_has(bodies, "world_inertia_tensors");
    bool flat = !file->simulations[file->entries[stored->index].simulation].name[0];
    if (ss_bpmd_has(&stored->settings, "step_size") || ss_bpmd_has(&stored->settings, "h") ||
        (!modern && ss_bpmd_has(bodies, "inertia")))
        return SS_FAMILY_RPISIM;
    if (!modern && ss_bpmd_has(bodies, "inertia_tensors") && !ss_bpmd_has(bodies, "mass") &&
        !ss_bpmd_has(&stored->contacts, "depth") && !ss_bpmd_has(&stored->place, "timestep"))
        return SS_FAMILY_ODE;
    return modern && flat && !file->manifest[0] ? SS_FAMILY_FLAT : SS_FAMILY_NAMED;
}

static ss_bpmd_family choose_family(const ss_bpmd_stored *stored)
{
    switch (stored->file->options.dialect) {
    case SS_DIALECT_CANONICAL:
        return is_marked(stored) ? SS_FAMILY_OURS : SS_FAMILY_NAMED;
    case SS_DIALECT_GAZEBO:
        return SS_FAMILY_FLAT;
    case SS_DIALECT_ODE_2013:
        return SS_FAMILY_ODE;
    case SS_DIALECT_RPISIM:
        return SS_FAMILY_RPISIM;
    default:
        return is_marked(stored) ? SS_FAMILY_OURS : family_by_names(stored);
    }
}

void ss_bpmd_tighten(ss_bpmd_place *place, int items, int width)
{
    const double always = 1e8; // bytes: a file a little over a limit is refused by it, not cut off here
    place->group.max_bytes = fmin(place->group.max_bytes, fmax(always, 8.0 * items * width));
}

bool ss_bpmd_stored_open(ss_bpmd *file, int frame, ss_bpmd_stored *stored, ss_error *err)
{
    *stored = (ss_bpmd_stored){.file = file, .index = frame};
    bool good = ss_bpmd_enter_frame(file, frame, &stored->place, err) &&
                ss_bpmd_enter_member(&stored->place, "bodies", &stored->bodies, err) &&
                ss_bpmd_enter_member(&stored->place, "constraints", &stored->constraints, err) &&
                ss_bpmd_enter_member(&stored->place, "contacts", &stored->contacts, err) &&
                ss_bpmd_enter_member(&stored->place, "subcontacts", &stored->subcontacts, err) &&
                ss_bpmd_enter_member(&stored->place, "generalized", &stored->generalized, err) &&
                ss_bpmd_enter_member(&stored->generalized, "map", &stored->map, err) &&
                ss_bpmd_enter_member(&stored->generalized, "mass", &stored->mass, err) &&
                ss_bpmd_enter_member(&stored->place, "settings", &stored->settings, err);

    if (good) {
        ss_bpmd_tighten(&stored->bodies, file->limits.max_bodies, 9);
        ss_bpmd_tighten(&stored->constraints, file->limits.max_rows, 12);
        ss_bpmd_tighten(&stored->contacts, file->limits.max_contacts, 6);
        ss_bpmd_tighten(&stored->subcontacts, file->limits.max_contacts, 3);
        ss_bpmd_tighten(&stored->generalized, file->limits.max_rows, 2);
        ss_bpmd_tighten(&stored->map, file->limits.max_rows, 12);
        ss_bpmd_tighten(&stored->mass, file->limits.max_rows, 12);

        /* Names alone, before anything is read: who wrote it, and what goes with that. */
        stored->family = choose_family(stored);
        stored->old_rpisim = stored->family == SS_FAMILY_RPISIM && !ss_bpmd_has(&stored->bodies, "inertia");
        if (stored->constraints.exists)
            ss_h5_text_attribute(&stored->constraints.group, "block_order", stored->block_order,
                                 sizeof stored->block_order);
    } else {
        ss_bpmd_stored_close(stored);
    }
    return good;
}

void ss_bpmd_stored_close(ss_bpmd_stored *stored)
{
    ss_frame_destroy(stored->frame);
    stored->frame = NULL;
    ss_h5_array_free(&stored->masses);
    ss_h5_array_free(&stored->gaps);
    ss_h5_array_free(&stored->jacobian);
    ss_h5_array_free(&stored->cuts);
    ss_h5_array_free(&stored->sub_gaps);
    ss_h5_array_free(&stored->further_rows);
    ss_release(stored->joint_rows);
    ss_release(stored->labels);
    stored->joint_rows = NULL;
    stored->labels = NULL;
    ss_bpmd_leave(&stored->settings);
    ss_bpmd_leave(&stored->mass);
    ss_bpmd_leave(&stored->map);
    ss_bpmd_leave(&stored->generalized);
    ss_bpmd_leave(&stored->subcontacts);
    ss_bpmd_leave(&stored->contacts);
    ss_bpmd_leave(&stored->constraints);
    ss_bpmd_leave(&stored->bodies);
    ss_bpmd_leave(&stored->place);
}

/* ---- finding data sets ------------------------------------------------------------------------------ */

bool ss_bpmd_is_exact(const ss_bpmd_stored *stored)
{
    return stored->family == SS_FAMILY_OURS;
}

const ss_bpmd_place *ss_bpmd_place_of(const ss_bpmd_stored *stored, const ss_field *field)
{
    if (strcmp(field->group, "bodies") == 0) return &stored->bodies;
    if (strcmp(field->group, "subcontacts") == 0) return &stored->subcontacts;
    if (strcmp(field->group, "generalized") == 0)
        return strncmp(field->name, "map/", 4) == 0    ? &stored->map
               : strncmp(field->name, "mass/", 5) == 0 ? &stored->mass
                                                       : &stored->generalized;
    return strcmp(field->group, "constraints") == 0 ? &stored->constraints : &stored->contacts;
}

bool ss_bpmd_refuse_missing(const ss_bpmd_stored *stored, const ss_field *field, ss_error *err)
{
    char names[120];
    ss_bpmd_accepted_names(field, ss_bpmd_is_exact(stored), names, sizeof names);
    return ss_bpmd_refuse(&ss_bpmd_place_of(stored, field)->group, field->name, err,
                          ": is missing; expected %s", names);
}

/* The data set that tells how many items its group has. */
static bool read_leader(ss_bpmd_stored *stored, const char *path, ss_h5_array *array, const char **name,
                        ss_error *err)
{
    const ss_field *field = ss_field_find(path);
    const ss_bpmd_place *place = ss_bpmd_place_of(stored, field);
    double factor;
    *name = ss_bpmd_name_of(place, field, ss_bpmd_is_exact(stored), &factor);
    if (!*name) return ss_bpmd_refuse_missing(stored, field, err);
    if (!ss_h5_read(&place->group, *name, array, err)) return false;
    for (uint64_t i = 0; factor < 0 && i < array->count; i++) array->values[i] = 0.0 - array->values[i];
    return true;
}

static bool within(ss_bpmd_stored *stored, const ss_h5_group *group, const char *name, uint64_t count,
                   int limit, const char *option, ss_error *err)
{
    if (count <= (uint64_t)limit) return true;
    stored->over_limit = true;
    char path[SS_H5_PATH];
    ss_h5_join(group, name, path);
    return ss_fail(err, SS_ERROR_RESOURCES, "%s: %s: %" PRIu64 " numbers, over the limit of %d (%s)",
                   group->file, path, count, limit, option);
}

/* ---- sizes ------------------------------------------------------------------------------------------ */

/* No group, or an empty one, has no items; otherwise its leading data set tells their number. */
static bool count_items(ss_bpmd_stored *stored, const ss_bpmd_place *place, const char *leader,
                        ss_h5_array *array, int limit, const char *option, int *items, ss_error *err)
{
    *items = 0;
    if (!place->exists || place->names.count == 0) return true;
    const char *name;
    uint64_t count;
    if (!read_leader(stored, leader, array, &name, err) ||
        !ss_bpmd_count_of(&place->group, name, array, &count, err) ||
        !within(stored, &place->group, name, count, limit, option, err))
        return false;
    *items = (int)count;
    return true;
}

static bool take_joint_rows(ss_bpmd_stored *stored, const ss_h5_array *array, int64_t *sum, ss_error *err)
{
    const ss_h5_group *group = &stored->constraints.group;
    stored->joint_rows = ss_allocate(array->count, sizeof *stored->joint_rows);
    if (!stored->joint_rows) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", group->file);
    for (uint64_t k = 0; k < array->count; k++) {
        double value = array->values[k];
        if (!(value >= 0 && value <= INT32_MAX) || value != floor(value))
            return ss_bpmd_refuse(group, "rows", err,
                                  "[%" PRIu64 "]: is %.17g, must be a number of equations", k, value);
        stored->joint_rows[k] = (int)value;
        *sum += (int64_t)value;
    }
    return *sum <= INT32_MAX || ss_bpmd_refuse(group, "rows", err, ": add up to %" PRId64 " equations", *sum);
}

static bool count_joints(ss_bpmd_stored *stored, int *joints, int *rows, ss_error *err)
{
    /* RPI-sim has a group `constraints` in which nothing but a number stands. */
    const ss_bpmd_place *place = &stored->constraints;
    *joints = *rows = 0;
    stored->joints = 0;
    if (!ss_bpmd_has(place, "rows") && !ss_bpmd_has(place, "pairs") && !ss_bpmd_has(place, "Jacobian") &&
        !ss_bpmd_has(place, "constraint_pairs") && !ss_bpmd_has(place, "jacobian") &&
        !ss_bpmd_has(place, "jacobians"))
        return true;

    ss_h5_array array = {0};
    const char *name;
    uint64_t count = 0;
    int64_t sum = 0;
    bool good = read_leader(stored, "constraints/rows", &array, &name, err) &&
                ss_bpmd_count_of(&place->group, name, &array, &count, err) &&
                within(stored, &place->group, name, count, stored->file->limits.max_rows, "max_rows", err) &&
                take_joint_rows(stored, &array, &sum, err);
    ss_h5_array_free(&array);
    if (!good) return false;

    stored->joints = (int)count;
    for (int k = 0; k < stored->joints; k++) *joints += ss_bpmd_is_exact(stored) || stored->joint_rows[k] > 0;
    *rows = (int)sum;
    return true;
}

const char *ss_bpmd_order_name(bool further, bool implied)
{
    if (implied) return further ? "pairs, further, implied" : "pairs, implied";
    return further ? "pairs, further" : "pairs";
}

static bool announces(const ss_bpmd_stored *stored, bool further)
{
    for (int other = 0; other < 2; other++)
        if (strcmp(stored->block_order, ss_bpmd_order_name(further || other, !further || other)) == 0)
            return true;
    return false;
}

/* Rows on more than two bodies. Their writer says so in block_order, which readers that do not know them
 * refuse; so the attribute and the arrays must agree, all three of them. */
static bool count_further(ss_bpmd_stored *stored, int *blocks, ss_error *err)
{
    static const char *const names[3] = {"further_rows", "further_bodies", "further_Jacobian"};
    const ss_bpmd_place *place = &stored->constraints;
    bool announced = announces(stored, true), any = announced;
    *blocks = 0;
    for (int k = 0; k < 3; k++) any |= ss_bpmd_has(place, names[k]);
    if (!any) return true;
    for (int k = 0; k < 3; k++)
        if (!ss_bpmd_has(place, names[k]))
            return ss_bpmd_refuse(&place->group, names[k], err,
                                  ": is missing; further_rows, further_bodies and further_Jacobian come "
                                  "together");
    if (stored->block_order[0] && !announced)
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s: %s: there are further blocks, but the attribute block_order is \"%s\", must be "
                       "\"%s\"",
                       stored->file->name, place->group.path, stored->block_order,
                       ss_bpmd_order_name(true, ss_bpmd_has(place, "implied")));
    return count_items(stored, place, "constraints/further_rows", &stored->further_rows,
                       stored->file->limits.max_rows, "max_rows", blocks, err);
}

static bool count_leader(ss_bpmd_stored *stored, const ss_bpmd_place *place, const char *leader, int limit,
                         int *items, ss_error *err)
{
    ss_h5_array array = {0};
    bool good = count_items(stored, place, leader, &array, limit, "max_rows", items, err);
    ss_h5_array_free(&array);
    return good;
}

/* Generalised coordinates. That joints are implied is announced by block_order, as further blocks are. The
 * arrays of the group come together, and make sense with what they imply only. */
static bool count_coordinates(ss_bpmd_stored *stored, ss_bpmd_sizes *sizes, ss_error *err)
{
    bool has_implied = ss_bpmd_has(&stored->constraints, "implied"), announced = announces(stored, false);
    const ss_h5_group *constraints = &stored->constraints.group, *group = &stored->generalized.group;
    const char *order = ss_bpmd_order_name(sizes->further > 0, true);
    if (has_implied && !announced && stored->block_order[0])
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s: %s: joints are implied, but the attribute block_order is \"%s\", must be \"%s\"",
                       stored->file->name, constraints->path, stored->block_order, order);
    if (announced && !has_implied) return ss_bpmd_refuse(constraints, "implied", err, ": is missing");
    if (has_implied && !stored->generalized.exists)
        return ss_bpmd_refuse(constraints, "implied", err,
                              ": there are no generalised coordinates that imply joints");
    if (!stored->generalized.exists) return true;

    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        if (strcmp(field->group, "generalized") != 0) continue;
        if (!ss_bpmd_name_of(ss_bpmd_place_of(stored, field), field, true, NULL))
            return ss_bpmd_refuse(group, field->name, err,
                                  ": is missing; the arrays of generalised coordinates come together");
    }

    int limit = stored->file->limits.max_rows;
    if (!count_leader(stored, &stored->generalized, "generalized/velocities", limit, &sizes->coordinates,
                      err) ||
        !count_leader(stored, &stored->map, "generalized/map/values", INT32_MAX, &sizes->map_entries, err) ||
        !count_leader(stored, &stored->mass, "generalized/mass/values", INT32_MAX, &sizes->mass_entries, err))
        return false;

    /* Trees have two numbers each, so that a table of one column would be misread. */
    ss_h5_array array;
    if (!ss_h5_read(group, "trees", &array, err)) return false;
    uint64_t count = array.count;
    ss_h5_array_free(&array);
    sizes->trees = (int)(count / 2);
    return (count % 2 == 0 && count / 2 <= (uint64_t)limit) ||
           ss_bpmd_refuse(group, "trees", err, ": must have two columns");
}

bool ss_bpmd_stored_count(ss_bpmd_stored *stored, ss_bpmd_sizes *sizes, ss_error *err)
{
    const ss_limits *limits = &stored->file->limits;
    *sizes = (ss_bpmd_sizes){0};
    if (!count_items(stored, &stored->bodies, "bodies/masses", &stored->masses, limits->max_bodies,
                     "max_bodies", &sizes->bodies, err) ||
        !count_items(stored, &stored->contacts, "contacts/gaps", &stored->gaps, limits->max_contacts,
                     "max_contacts", &sizes->contacts, err))
        return false;

    /* Groups of alternatives; where every one has contacts only, there are no further points. */
    const ss_bpmd_place *place = &stored->subcontacts;
    if (!count_items(stored, place, "subcontacts/cut", &stored->cuts, limits->max_contacts, "max_contacts",
                     &sizes->groups, err))
        return false;
    if (ss_bpmd_has(place, "gaps") &&
        !count_items(stored, place, "subcontacts/gaps", &stored->sub_gaps, limits->max_contacts,
                     "max_contacts", &sizes->subcontacts, err))
        return false;

    return count_joints(stored, &sizes->joints, &sizes->rows, err) &&
           count_further(stored, &sizes->further, err) && count_coordinates(stored, sizes, err);
}

bool ss_bpmd_stored_rows(ss_bpmd_stored *stored, int needed, ss_error *err)
{
    stored->rows = 0;
    if (stored->joints == 0) return true;
    const ss_h5_group *group = &stored->constraints.group;
    const char *name;
    if (!read_leader(stored, "constraints/Jacobian", &stored->jacobian, &name, err)) return false;
    uint64_t rows = stored->jacobian.count / 12;
    if (!within(stored, group, name, rows, stored->file->limits.max_rows, "max_rows", err)) return false;
    if (rows < (uint64_t)needed || (ss_bpmd_is_exact(stored) && rows > (uint64_t)needed))
        return ss_bpmd_refuse(group, name, err,
                              ": %" PRIu64 " rows of 12, but the joints in rows have %d together", rows,
                              needed);
    stored->rows = (int)rows;
    return true;
}
