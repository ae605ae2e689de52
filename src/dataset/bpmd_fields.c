/* The arrays of a frame as it is stored: each found by its names, turned the right way round, its size
 * checked against the others, its integers checked to be some, and body ids followed. Meanings are
 * repaired later. */
#include "dataset/bpmd.h"

#include "linalg/vec3.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- bodies by id ----------------------------------------------------------------------------------- */

static int compare_labels(const void *left, const void *right)
{
    const ss_bpmd_label *a = left, *b = right;
    if (a->id != b->id) return a->id < b->id ? -1 : 1;
    return (a->body > b->body) - (a->body < b->body);
}

static bool sort_labels(ss_bpmd_stored *stored, ss_error *err)
{
    const ss_bodies *bodies = &stored->frame->bodies;
    bool plain = true;
    for (int b = 0; plain && b < bodies->count; b++) plain = bodies->id[b] == b + 1;
    if (plain) return true;
    stored->labels = ss_allocate((size_t)bodies->count, sizeof *stored->labels);
    if (!stored->labels) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", stored->file->name);
    for (int b = 0; b < bodies->count; b++) stored->labels[b] = (ss_bpmd_label){bodies->id[b], b};
    qsort(stored->labels, (size_t)bodies->count, sizeof *stored->labels, compare_labels);
    return true;
}

/* The first body of that id, -1 if there is none. */
static int find_body(const ss_bpmd_stored *stored, int32_t id)
{
    int count = stored->frame->bodies.count;
    if (!stored->labels) return id <= count ? id - 1 : -1;
    int low = 0, high = count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (stored->labels[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && stored->labels[low].id == id ? stored->labels[low].body : -1;
}

/* ---- values into the frame -------------------------------------------------------------------------- */

/* Disabled joints are left out, and rows that belong to none. */
static bool put_items(ss_bpmd_stored *stored, const ss_field *field, const char *name, const double *values,
                      uint64_t items, ss_error *err)
{
    size_t width = (size_t)field->width, kept = 0;
    size_t wanted = (size_t)ss_field_items(field, stored->frame);
    bool per_joint = field->per == SS_PER_CONSTRAINT && !ss_bpmd_is_exact(stored);
    const ss_h5_group *group = &ss_bpmd_place_of(stored, field)->group;
    void *data = ss_field_data(field, stored->frame);
    double lowest = field->type == SS_FIELD_BYTE ? 0 : INT32_MIN;
    double highest = field->type == SS_FIELD_BYTE ? UINT8_MAX : INT32_MAX;
    for (uint64_t i = 0; i < items && kept < wanted; i++) {
        if (per_joint && stored->joint_rows[i] == 0) continue;
        for (size_t c = 0; c < width; c++) {
            double value = values[i * width + c];
            size_t index = kept * width + c;
            bool is_whole = value >= lowest && value <= highest && value == floor(value);
            if (field->type != SS_FIELD_REAL && !is_whole)
                return ss_bpmd_refuse(group, name, err, "[%" PRIu64 "]: is %.17g, must be a whole number", i,
                                      value);
            if (field->type != SS_FIELD_PAIR) {
                ss_field_set(field, data, index, value);
                continue;
            }

            /* Ids become numbers of bodies. Any id that is not positive is the world: -1 since April 2013, 0
             * before. */
            int *body = &((int *)data)[index];
            *body = value <= 0 ? SS_WORLD : find_body(stored, (int32_t)value);
            if (value > 0 && *body < 0)
                return ss_bpmd_refuse(group, name, err, "[%" PRIu64 "]: no body has the id %.0f", i, value);
            stored->world_is_negative |= value < 0;
            stored->world_is_zero |= value == 0;
        }
        kept++;
    }
    return true;
}

static uint64_t stored_items(const ss_bpmd_stored *stored, const ss_field *field)
{
    if (field->per == SS_PER_CONSTRAINT) return (uint64_t)stored->joints;
    if (field->per == SS_PER_ROW) return (uint64_t)stored->rows;
    return (uint64_t)ss_field_items(field, stored->frame);
}

/* The first table of the frame that is not square tells how its writer stores tables. */
static void ask_other_tables(ss_bpmd_stored *stored)
{
    stored->tables = SS_TABLES_STRAIGHT;
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        const ss_bpmd_place *place = ss_bpmd_place_of(stored, field);
        const char *name = ss_bpmd_name_of(place, field, false, NULL);
        uint64_t items = stored_items(stored, field), width = (uint64_t)field->width;
        ss_h5_array array;
        bool tells = field->width == field->file_columns && width > 1 && items > 1 && items != width;
        if (!tells || !name || !ss_h5_read(&place->group, name, &array, NULL)) continue;
        bool is_table = array.rank == 2 && array.count == items * width;
        bool transposed = is_table && array.extent[0] == width;
        bool straight = is_table && array.extent[0] == items;
        ss_h5_array_free(&array);
        if (transposed) stored->tables = SS_TABLES_TRANSPOSED;
        if (transposed || straight) return;
    }
}

/* A table of as many rows as columns does not tell its orientation. RPI-sim turned some tables and not
 * others, so that those of other sizes tell nothing there. */
static bool squares_are_transposed(ss_bpmd_stored *stored, uint64_t items, int width, int columns)
{
    if (stored->family == SS_FAMILY_RPISIM) return stored->old_rpisim;
    if (ss_bpmd_is_exact(stored) || items < 2 || (items != (uint64_t)width && items != (uint64_t)columns))
        return false;
    if (stored->tables == SS_TABLES_UNKNOWN) ask_other_tables(stored);
    return stored->tables == SS_TABLES_TRANSPOSED;
}

static ss_bpmd_shape shape_of(ss_bpmd_stored *stored, const ss_field *field)
{
    static const char *const nouns[] = {[SS_PER_BODY] = "bodies",
                                        [SS_PER_CONSTRAINT] = "joints",
                                        [SS_PER_ROW] = "joint rows",
                                        [SS_PER_FURTHER] = "further blocks",
                                        [SS_PER_GROUP] = "groups",
                                        [SS_PER_SUBCONTACT] = "points of alternatives",
                                        [SS_PER_CONTACT] = "contacts",
                                        [SS_PER_TREE] = "trees",
                                        [SS_PER_MAP_ROW] = "rows of T",
                                        [SS_PER_MAP_ENTRY] = "entries of T",
                                        [SS_PER_MASS_ROW] = "rows of M",
                                        [SS_PER_MASS_ENTRY] = "entries of M",
                                        [SS_PER_COORDINATE] = "generalised coordinates"};
    return (ss_bpmd_shape){.items = stored_items(stored, field),
                           .width = field->width,
                           .columns = field->file_columns,
                           .square_transposed = squares_are_transposed(stored, stored_items(stored, field),
                                                                       field->width, field->file_columns),
                           .noun = nouns[field->per]};
}

/* Arrays that were read for their sizes are not read again. */
static bool load(ss_bpmd_stored *stored, const ss_field *field, const char *name, ss_h5_array *array,
                 ss_error *err)
{
    static const struct {
        const char *path;
        size_t offset;
    } early[] = {{"bodies/masses", offsetof(ss_bpmd_stored, masses)},
                 {"contacts/gaps", offsetof(ss_bpmd_stored, gaps)},
                 {"subcontacts/cut", offsetof(ss_bpmd_stored, cuts)},
                 {"subcontacts/gaps", offsetof(ss_bpmd_stored, sub_gaps)},
                 {"constraints/further_rows", offsetof(ss_bpmd_stored, further_rows)},
                 {"constraints/Jacobian", offsetof(ss_bpmd_stored, jacobian)}};
    for (size_t i = 0; i < sizeof early / sizeof early[0]; i++)
        if (field == ss_field_find(early[i].path)) {
            ss_h5_array *kept = (ss_h5_array *)((char *)stored + early[i].offset);
            if (!kept->values) break;
            *array = *kept;
            kept->values = NULL;
            return true;
        }
    return ss_h5_read(&ss_bpmd_place_of(stored, field)->group, name, array, err);
}

static void note_turn(ss_bpmd_stored *stored, const ss_field *field, const char *name, ss_bpmd_turn turn)
{
    if (turn == SS_TURN_TRANSPOSED)
        ss_bpmd_say(stored, SS_FINDING_REPAIR, field->group, name, "was stored transposed: corrected");
    bool one_list = turn == SS_TURN_NONE;
    if (field->offset == offsetof(ss_frame, bodies.velocity)) stored->split_velocity = one_list;
    if (field->offset == offsetof(ss_frame, bodies.force)) stored->split_force = one_list;
}

/* ---- one field -------------------------------------------------------------------------------------- */

static bool may_be_missing(const ss_field *field)
{
    return field->optional || field->offset == offsetof(ss_frame, bodies.id) ||
           field->offset == offsetof(ss_frame, bodies.state) ||
           field->offset == offsetof(ss_frame, constraints.time_derivative) ||
           field->offset == offsetof(ss_frame, constraints.bounds);
}

static bool enable(ss_bpmd_stored *stored, const ss_field *field, ss_error *err)
{
    char path[64];
    snprintf(path, sizeof path, "%s/%s", field->group, field->name);
    return !field->optional || ss_frame_enable(stored->frame, path, err);
}

static bool put_array(ss_bpmd_stored *stored, const ss_field *field, const char *name, ss_h5_array *array,
                      ss_error *err)
{
    const ss_h5_group *group = &ss_bpmd_place_of(stored, field)->group;
    ss_bpmd_shape shape = shape_of(stored, field);
    bool lenient = !ss_bpmd_is_exact(stored) || shape.items == 0;
    if (array->count == 0 && may_be_missing(field) && lenient) return true; // as good as missing
    ss_bpmd_turn turn;
    if (!ss_bpmd_order(group, name, &shape, array, &turn, err)) return false;
    note_turn(stored, field, name, turn);
    if (!enable(stored, field, err)) return false;

    /* Real numbers of which nothing is left out need not be copied: the frame takes the array as it was
     * read. */
    bool whole = shape.items == (uint64_t)ss_field_items(field, stored->frame);
    if (field->type != SS_FIELD_REAL || field->per == SS_PER_CONSTRAINT || !whole)
        return put_items(stored, field, name, array->values, shape.items, err);
    void **slot = ss_field_slot(field, stored->frame);
    ss_release(*slot);
    *slot = array->values;
    array->values = NULL;
    return true;
}

static bool read_field(ss_bpmd_stored *stored, const ss_field *field, ss_error *err)
{
    const char *name =
        ss_bpmd_name_of(ss_bpmd_place_of(stored, field), field, ss_bpmd_is_exact(stored), NULL);
    bool needed = stored_items(stored, field) > 0 && !may_be_missing(field);
    if (!name) return !needed || ss_bpmd_refuse_missing(stored, field, err);
    ss_h5_array array;
    if (!load(stored, field, name, &array, err)) return false;
    bool good = put_array(stored, field, name, &array, err);
    ss_h5_array_free(&array);
    return good;
}

/* ---- fields with a way of their own ----------------------------------------------------------------- */

/* Friction comes with one, two or three columns; the third is of no use. */
static bool read_friction(ss_bpmd_stored *stored, const ss_field *field, const char *name,
                          double (**friction)[2], int *columns, ss_error *err)
{
    const ss_h5_group *group = &stored->contacts.group;
    ss_bpmd_shape shape = shape_of(stored, field);
    ss_h5_array array;
    if (!ss_h5_read(group, name, &array, err)) return false;
    if (array.count == 0 && field->optional && !ss_bpmd_is_exact(stored)) {
        ss_h5_array_free(&array);
        return true;
    }

    /* Files of other programs may have one, two or three columns; ours have what the table says. */
    uint64_t width = array.count / shape.items;
    bool usual = width >= 1 && width <= 3 && !ss_bpmd_is_exact(stored);
    if (usual) {
        shape.width = shape.columns = (int)width;
        shape.square_transposed = squares_are_transposed(stored, shape.items, shape.width, shape.columns);
    }

    ss_bpmd_turn turn;
    bool good = ss_bpmd_order(group, name, &shape, &array, &turn, err) && enable(stored, field, err);
    if (good) note_turn(stored, field, name, turn);
    if (good) *columns = shape.width;

    for (uint64_t c = 0; good && c < shape.items; c++) {
        const double *row = array.values + c * (uint64_t)shape.width;
        (*friction)[c][0] = row[0];
        (*friction)[c][1] = row[shape.width > 1];
    }
    ss_h5_array_free(&array);
    return good;
}

static bool read_frictions(ss_bpmd_stored *stored, ss_error *err)
{
    ss_contacts *contacts = &stored->frame->contacts;
    if (contacts->count == 0) return true;
    const ss_field *sliding = ss_field_find("contacts/mu_k"), *resting = ss_field_find("contacts/mu_s");
    const char *name = ss_bpmd_name_of(&stored->contacts, sliding, ss_bpmd_is_exact(stored), NULL);
    if (!name) return ss_bpmd_refuse_missing(stored, sliding, err);
    stored->has_mu_k = strcmp(name, "mu_k") == 0;
    stored->has_mu_s = ss_bpmd_has(&stored->contacts, "mu_s");
    if (!read_friction(stored, sliding, name, &contacts->mu, &stored->friction_columns, err)) return false;
    if (!stored->has_mu_s || strcmp(name, "mu_s") == 0) return true;
    int columns;
    return read_friction(stored, resting, "mu_s", &contacts->mu_static, &columns, err);
}

/* January 2013: bounds on the force in two lists. */
static bool read_split_bounds(ss_bpmd_stored *stored, ss_error *err)
{
    const ss_bpmd_place *place = &stored->constraints;
    if (ss_bpmd_is_exact(stored) || ss_bpmd_has(place, "bounds") || stored->rows == 0) return true;
    static const char *const names[2] = {"lower_bound_f", "upper_bound_f"};
    ss_bpmd_shape shape = {(uint64_t)stored->rows, 1, 1, false, "joint rows"};
    for (int side = 0; side < 2; side++) {
        if (!ss_bpmd_has(place, names[side])) continue;
        double *values;
        if (!ss_bpmd_read_items(&place->group, names[side], &shape, &values, NULL, err)) return false;
        for (int i = 0; i < stored->frame->constraints.row_count; i++)
            stored->frame->constraints.bounds[i][side] = values[i];
        ss_release(values);
    }
    if (!ss_bpmd_has(place, names[0]) && ss_bpmd_has(place, "lower_bound"))
        ss_bpmd_say(stored, SS_FINDING_WARNING, "constraints", "lower_bound",
                    "is not a bound on the force and is not read");
    return true;
}

/* The second tangent is not kept, because t_v = n x t_u; so it must be that. */
static bool compare_second_tangent(ss_bpmd_stored *stored, ss_error *err)
{
    const ss_contacts *contacts = &stored->frame->contacts;
    if (!contacts->tangent || !ss_bpmd_has(&stored->contacts, "t_v")) return true;
    ss_bpmd_shape shape = shape_of(stored, ss_field_find("contacts/t_u"));
    double *values;
    if (!ss_bpmd_read_items(&stored->contacts.group, "t_v", &shape, &values, NULL, err)) return false;
    for (int c = 0; c < contacts->count; c++) {
        ss_vec3 t_v = ss_vec3_load(values + 3 * c);
        ss_vec3 expected =
            ss_vec3_cross(ss_vec3_load(contacts->normal[c]), ss_vec3_load(contacts->tangent[c]));
        double apart = ss_vec3_max_abs(ss_vec3_subtract(t_v, expected));
        double mirrored = ss_vec3_max_abs(ss_vec3_add(t_v, expected));
        char name[32];
        snprintf(name, sizeof name, "t_v[%d]", c);
        if (apart <= 1e-6) continue;
        if (mirrored <= 1e-6)
            ss_bpmd_say(stored, SS_FINDING_WARNING, "contacts", name, "is -(n x t_u): replaced by n x t_u");
        else
            ss_bpmd_say(stored, SS_FINDING_FAULT, "contacts", name, "differs from n x t_u by %.3g", apart);
    }
    ss_release(values);
    return true;
}

/* ---- the frame -------------------------------------------------------------------------------------- */

static bool read_fields(ss_bpmd_stored *stored, ss_error *err)
{
    ss_frame *frame = stored->frame;
    bool labelled = false;
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        if (field->type == SS_FIELD_PAIR && !labelled) { // bodies come first in the table
            if (!sort_labels(stored, err)) return false;
            labelled = true;
        }
        bool has_own_way = field->offset == offsetof(ss_frame, constraints.rows) ||
                           field->offset == offsetof(ss_frame, contacts.mu) ||
                           field->offset == offsetof(ss_frame, contacts.mu_static);
        if (!has_own_way && !read_field(stored, field, err)) return false;
    }

    for (int k = 0, kept = 0; k < stored->joints; k++)
        if (ss_bpmd_is_exact(stored) || stored->joint_rows[k] > 0)
            frame->constraints.rows[kept++] = stored->joint_rows[k];
    return read_frictions(stored, err) && read_split_bounds(stored, err) &&
           compare_second_tangent(stored, err);
}

bool ss_bpmd_stored_read(ss_bpmd_stored *stored, ss_error *err)
{
    ss_bpmd_sizes sizes;
    if (!ss_bpmd_stored_count(stored, &sizes, err) || !ss_bpmd_stored_rows(stored, sizes.rows, err))
        return false;
    ss_frame *frame = stored->frame =
        ss_frame_create(sizes.bodies, sizes.joints, sizes.rows, sizes.contacts, err);
    if (!frame) return false;
    frame->subcontacts.groups = sizes.groups;
    frame->subcontacts.count = sizes.subcontacts;
    frame->constraints.further_count = sizes.further;
    frame->generalized.trees = sizes.trees;
    frame->generalized.count = sizes.coordinates;
    frame->generalized.map_count = sizes.map_entries;
    frame->generalized.mass_count = sizes.mass_entries;
    if (!read_fields(stored, err)) return false;

    /* What was left out or turned round on the way is reported. */
    int joints = stored->joints - frame->constraints.count;
    int rows = stored->rows - frame->constraints.row_count;
    if (joints > 0)
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "constraints", "rows",
                    "%d of %d joints are disabled and have no equations: omitted", joints, stored->joints);
    if (rows > 0)
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "constraints", "Jacobian",
                    "%d of %d rows belong to no joint: omitted", rows, stored->rows);
    double factor = 1;
    if (stored->contacts.exists)
        ss_bpmd_name_of(&stored->contacts, ss_field_find("contacts/gaps"), ss_bpmd_is_exact(stored), &factor);
    if (factor < 0)
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "contacts", "depth",
                    "counts penetration as positive: sign reversed");

    if (!ss_bpmd_has(&stored->place, "time")) return true;
    if (!ss_h5_read_scalar(&stored->place.group, "time", &frame->time, err)) return false;
    if (isnan(frame->time)) frame->time = NAN; // unknown, whatever its other bits
    return true;
}

bool ss_bpmd_stored_try(ss_bpmd *file, int frame, ss_bpmd_stored *stored, bool *found, ss_error *err)
{
    ss_error trouble = {0};
    *found = ss_bpmd_stored_open(file, frame, stored, &trouble) && ss_bpmd_stored_read(stored, &trouble);
    if (*found || trouble.code != SS_ERROR_RESOURCES || stored->over_limit) return true;
    if (err) *err = trouble;
    return false;
}
