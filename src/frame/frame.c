/* Life of a frame: every array is one block, made, copied and freed by walking the field table. */
#include "frame/fields.h"

#include <math.h>
#include <string.h>

static size_t field_bytes(const ss_field *field, const ss_frame *frame)
{
    return (size_t)ss_field_items(field, frame) * (size_t)field->width * ss_field_element_size(field);
}

static void fill_with_default(const ss_field *field, ss_frame *frame)
{
    /* Most arrays start with the zeros they were allocated with, which saves time in frames of 2000
     * contacts. */
    bool is_quaternion = field->offset == offsetof(ss_frame, bodies.quaternion);
    bool is_bounds = field->offset == offsetof(ss_frame, constraints.bounds);
    if (!field->optional && field->fallback == 0 && !is_quaternion && !is_bounds &&
        field->offset != offsetof(ss_frame, bodies.id))
        return;

    char *data = ss_field_data(field, frame);
    size_t items = (size_t)ss_field_items(field, frame), width = (size_t)field->width;
    double values[SS_FIELD_WIDTH];
    bool differ = true;
    for (size_t i = 0; i < items && differ; i++) {
        differ = ss_field_default(field, frame, (int)i, values);
        for (size_t k = 0; k < width; k++) ss_field_set(field, data, i * width + k, values[k]);
    }

    // What is the same for all is copied, twice as many each time.
    size_t bytes = width * ss_field_element_size(field);
    for (size_t done = 1, next; !differ && done < items; done = next) {
        next = items < 2 * done ? items : 2 * done;
        memcpy(data + done * bytes, data, (next - done) * bytes);
    }
}

static bool allocate_field(const ss_field *field, ss_frame *frame, ss_error *err)
{
    int items = ss_field_items(field, frame);
    void *data = ss_allocate((size_t)items, (size_t)field->width * ss_field_element_size(field));
    if (!data)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s/%s: out of memory for %d x %d numbers", field->group,
                       field->name, items, field->width);
    *ss_field_slot(field, frame) = data;
    return true;
}

static bool is_size(int size, const char *what, ss_error *err)
{
    return size >= 0 || ss_fail(err, SS_ERROR_INPUT, "frame: %s = %d, must not be negative", what, size);
}

/* A frame with sizes but without arrays. */
static ss_frame *create_bare(int bodies, int constraints, int rows, int contacts, ss_error *err)
{
    if (!is_size(bodies, "bodies", err) || !is_size(constraints, "constraints", err) ||
        !is_size(rows, "rows", err) || !is_size(contacts, "contacts", err))
        return NULL;
    ss_frame *frame = ss_allocate(1, sizeof *frame);
    if (!frame) {
        ss_fail(err, SS_ERROR_RESOURCES, "frame: out of memory");
        return NULL;
    }
    frame->h = 1.0;
    frame->time = NAN;
    frame->bodies.count = bodies;
    frame->constraints.count = constraints;
    frame->constraints.row_count = rows;
    frame->contacts.count = contacts;
    return frame;
}

ss_frame *ss_frame_create(int bodies, int constraints, int rows, int contacts, ss_error *err)
{
    ss_frame *frame = create_bare(bodies, constraints, rows, contacts, err);
    for (int f = 0; frame && f < ss_field_count; f++) {
        if (ss_fields[f].optional) continue;
        if (!allocate_field(&ss_fields[f], frame, err)) {
            ss_frame_destroy(frame);
            return NULL;
        }
        fill_with_default(&ss_fields[f], frame);
    }
    return frame;
}

void ss_frame_destroy(ss_frame *frame)
{
    if (!frame) return;
    for (int f = 0; f < ss_field_count; f++) ss_release(ss_field_data(&ss_fields[f], frame));
    ss_release(frame);
}

ss_frame *ss_frame_copy(const ss_frame *frame, ss_error *err)
{
    ss_frame *copy = create_bare(frame->bodies.count, frame->constraints.count, frame->constraints.row_count,
                                 frame->contacts.count, err);
    if (!copy) return NULL;
    copy->h = frame->h;
    copy->time = frame->time;
    copy->subcontacts.groups = frame->subcontacts.groups;
    copy->subcontacts.count = frame->subcontacts.count;
    copy->constraints.further_count = frame->constraints.further_count;
    copy->generalized.trees = frame->generalized.trees;
    copy->generalized.count = frame->generalized.count;
    copy->generalized.map_count = frame->generalized.map_count;
    copy->generalized.mass_count = frame->generalized.mass_count;

    for (int f = 0; f < ss_field_count; f++) {
        const void *data = ss_field_data(&ss_fields[f], frame);
        if (!data) continue;
        if (!allocate_field(&ss_fields[f], copy, err)) {
            ss_frame_destroy(copy);
            return NULL;
        }
        memcpy(ss_field_data(&ss_fields[f], copy), data, field_bytes(&ss_fields[f], copy));
    }
    return copy;
}

bool ss_frame_enable(ss_frame *frame, const char *path, ss_error *err)
{
    const ss_field *field = ss_field_find(path);
    if (!field || !field->optional)
        return ss_fail(err, SS_ERROR_USAGE, "frame: \"%s\" is not an optional array of a frame", path);
    if (ss_field_data(field, frame)) return true;
    if (!allocate_field(field, frame, err)) return false;
    fill_with_default(field, frame);
    return true;
}

bool ss_frame_add_further(ss_frame *frame, int blocks, ss_error *err)
{
    if (!is_size(blocks, "further blocks", err)) return false;
    if (frame->constraints.further_row)
        return ss_fail(err, SS_ERROR_USAGE, "frame: it has further blocks already");
    frame->constraints.further_count = blocks;
    return blocks == 0 || (ss_frame_enable(frame, "constraints/further_rows", err) &&
                           ss_frame_enable(frame, "constraints/further_bodies", err) &&
                           ss_frame_enable(frame, "constraints/further_Jacobian", err));
}

bool ss_frame_add_generalized(ss_frame *frame, int trees, int coordinates, int map_entries, int mass_entries,
                              ss_error *err)
{
    if (!is_size(trees, "trees", err) || !is_size(coordinates, "coordinates", err) ||
        !is_size(map_entries, "entries of the map", err) ||
        !is_size(mass_entries, "entries of the mass", err))
        return false;
    if (frame->generalized.tree)
        return ss_fail(err, SS_ERROR_USAGE, "frame: it has generalised coordinates already");
    frame->generalized = (ss_generalized){
        .trees = trees, .count = coordinates, .map_count = map_entries, .mass_count = mass_entries};
    bool good = true;
    for (int f = 0; good && coordinates > 0 && f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        if (strcmp(field->group, "generalized") == 0) good = allocate_field(field, frame, err);
    }
    if (good) return true;

    /* Sizes without arrays would be read: the frame stays without coordinates. */
    for (int f = 0; f < ss_field_count; f++)
        if (strcmp(ss_fields[f].group, "generalized") == 0) ss_release(*ss_field_slot(&ss_fields[f], frame));
    frame->generalized = (ss_generalized){0};
    return false;
}

bool ss_frame_equal(const ss_frame *a, const ss_frame *b)
{
    if (memcmp(&a->h, &b->h, sizeof a->h) != 0 || memcmp(&a->time, &b->time, sizeof a->time) != 0 ||
        a->bodies.count != b->bodies.count || a->constraints.count != b->constraints.count ||
        a->constraints.row_count != b->constraints.row_count ||
        a->constraints.further_count != b->constraints.further_count ||
        a->contacts.count != b->contacts.count || a->subcontacts.groups != b->subcontacts.groups ||
        a->subcontacts.count != b->subcontacts.count || a->generalized.trees != b->generalized.trees ||
        a->generalized.count != b->generalized.count ||
        a->generalized.map_count != b->generalized.map_count ||
        a->generalized.mass_count != b->generalized.mass_count)
        return false;

    /* Arrays are equal bit by bit, or missing in both. Empty lists need not be there. */
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        const void *of_a = ss_field_data(field, a), *of_b = ss_field_data(field, b);
        if (ss_field_is_of_list(field) && ss_field_items(field, a) == 0) continue;
        if (!of_a || !of_b ? of_a != of_b : memcmp(of_a, of_b, field_bytes(field, a)) != 0) return false;
    }
    return true;
}
