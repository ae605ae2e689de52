/* A frame as data sets: the table of frame/fields.h in a loop. */
#include "dataset/bpmd.h"
#include "dataset/writer.h"
#include "frame/fields.h"

#include <math.h>
#include <string.h>

static size_t larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

/* The frame is not checked, but no memory but its own may be read when indices become ids. */
static bool bodies_exist(const ss_field *field, const ss_frame *frame, const char *file, ss_error *err)
{
    const int *body = ss_field_data(field, frame);
    int items = ss_field_items(field, frame), bodies = frame->bodies.count;
    for (int i = 0; body && i < items * field->width; i++)
        if (body[i] != SS_WORLD && (body[i] < 0 || body[i] >= bodies))
            return ss_fail(err, SS_ERROR_INPUT, "%s: %s/%s[%d]: body %d of %d", file, field->group,
                           field->name, i / field->width, body[i], bodies);
    return true;
}

static bool reserve(ss_writer_scratch *scratch, const ss_frame *frame, const char *file, ss_error *err)
{
    size_t joints = (size_t)frame->constraints.count, contacts = (size_t)frame->contacts.count;
    size_t further = (size_t)frame->constraints.further_count * sizeof(int32_t);
    size_t needed = larger(joints * sizeof(uint64_t), contacts * sizeof(double[3])); // rows as counts; t_v
    needed = larger(needed, further);
    if (needed <= scratch->capacity) return true;
    void *bytes = ss_allocate(needed, 1);
    if (!bytes) return ss_fail(err, SS_ERROR_RESOURCES, "%s: no memory for %zu bytes", file, needed);
    ss_release(scratch->bytes);
    *scratch = (ss_writer_scratch){bytes, needed};
    return true;
}

bool ss_writer_prepare(ss_writer_scratch *scratch, const ss_frame *frame, ss_layout layout, const char *file,
                       ss_error *err)
{
    if (layout == SS_LAYOUT_FLAT && frame->constraints.further_count > 0)
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s: constraints/further_rows: the flat layout cannot hold rows on more than two "
                       "bodies",
                       file);
    if (layout == SS_LAYOUT_FLAT && frame->generalized.count > 0)
        return ss_fail(err, SS_ERROR_INPUT,
                       "%s: generalized: the flat layout cannot hold generalised coordinates", file);
    for (int f = 0; f < ss_field_count; f++)
        if (ss_fields[f].type == SS_FIELD_PAIR && !bodies_exist(&ss_fields[f], frame, file, err))
            return false;
    return reserve(scratch, frame, file, err);
}

/* ---- one array ------------------------------------------------------------------------------------- */

static const uint64_t *widen_counts(const int *counts, int items, uint64_t *wide)
{
    for (int i = 0; i < items; i++) wide[i] = (uint64_t)counts[i];
    return wide;
}

/* Body indices become the ids of the bodies. */
static const void *name_bodies(const ss_field *field, const ss_frame *frame, int32_t *ids)
{
    const int *body = ss_field_data(field, frame);
    int numbers = ss_field_items(field, frame) * field->width;
    for (int i = 0; i < numbers; i++) ids[i] = body[i] == SS_WORLD ? -1 : frame->bodies.id[body[i]];
    return ids;
}

static bool put_field(const ss_h5_group *group, const ss_field *field, const ss_frame *frame, void *scratch,
                      ss_error *err)
{
    const void *values = ss_field_data(field, frame);
    int items = ss_field_items(field, frame);
    ss_h5_type type = SS_H5_F64;
    switch (field->type) {
    case SS_FIELD_REAL:
        break;
    case SS_FIELD_INT:
        type = SS_H5_I32;
        break;
    case SS_FIELD_BYTE:
        type = SS_H5_U8;
        break;
    case SS_FIELD_COUNT:
        type = SS_H5_U64;
        values = widen_counts(values, items, scratch);
        break;
    case SS_FIELD_PAIR:
        type = SS_H5_I32;
        values = name_bodies(field, frame, scratch);
        break;
    }
    uint64_t numbers = (uint64_t)items * (uint64_t)field->width, columns = (uint64_t)field->file_columns;
    const char *slash = strchr(field->name, '/');
    if (!slash) return ss_h5_write_table(group, field->name, type, numbers / columns, columns, values, err);

    // "map/values": in a group of the group
    char name[16] = "";
    memcpy(name, field->name, (size_t)(slash - field->name));
    ss_h5_group inner;
    bool opened = ss_h5_has(group, name) ? ss_h5_enter_group(group, name, &inner, err)
                                         : ss_h5_make_group(group, name, &inner, err);
    if (!opened) return false;
    bool good = ss_h5_write_table(&inner, slash + 1, type, numbers / columns, columns, values, err);
    ss_h5_leave_group(&inner);
    return good;
}

/* ---- groups ---------------------------------------------------------------------------------------- */

/* The authors' readers want both coefficients of friction. */
static bool put_static_friction(const ss_h5_group *contacts, const ss_frame *frame, ss_error *err)
{
    if (frame->contacts.mu_static) return true;
    return ss_h5_write_table(contacts, "mu_s", SS_H5_F64, (uint64_t)frame->contacts.count, 2,
                             frame->contacts.mu, err);
}

static bool put_second_tangent(const ss_h5_group *contacts, const ss_frame *frame, double (*t_v)[3],
                               ss_error *err)
{
    if (!frame->contacts.tangent) return true;
    for (int c = 0; c < frame->contacts.count; c++) {
        double t_u[3];
        ss_contact_tangents(frame, c, t_u, t_v[c]);
    }
    return ss_h5_write_table(contacts, "t_v", SS_H5_F64, (uint64_t)frame->contacts.count, 3, t_v, err);
}

static bool belongs(const ss_field *field, const ss_frame *frame, ss_layout layout)
{
    if (!field->optional) return true;
    bool genuine = strcmp(field->name, "mu_s") == 0; // the only optional array the authors' tools know
    bool of_lists = strcmp(field->group, "subcontacts") == 0 || ss_field_is_of_list(field);
    if (of_lists && ss_field_items(field, frame) == 0) return false;
    return ss_field_data(field, frame) && (layout == SS_LAYOUT_CANONICAL || genuine);
}

static bool fill_group(const ss_h5_group *group, const char *name, const ss_frame *frame, ss_layout layout,
                       void *scratch, ss_error *err)
{
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        if (strcmp(field->group, name) != 0 || !belongs(field, frame, layout)) continue;
        if (!put_field(group, field, frame, scratch, err)) return false;
    }
    if (strcmp(name, "constraints") == 0)
        return ss_h5_write_text_attribute(
            group, "block_order",
            ss_bpmd_order_name(frame->constraints.further_count > 0,
                               layout == SS_LAYOUT_CANONICAL && frame->constraints.implied),
            err);
    if (strcmp(name, "contacts") != 0) return true;
    return layout == SS_LAYOUT_FLAT ? put_static_friction(group, frame, err)
                                    : put_second_tangent(group, frame, scratch, err);
}

static bool put_group(const ss_h5_group *place, const char *name, int count, const ss_frame *frame,
                      ss_layout layout, void *scratch, ss_error *err)
{
    if (count == 0) return true; // empty groups are not written
    ss_h5_group group;
    if (!ss_h5_make_group(place, name, &group, err)) return false;
    bool ok = fill_group(&group, name, frame, layout, scratch, err);
    ss_h5_leave_group(&group);
    return ok;
}

bool ss_writer_put_frame(const ss_h5_group *place, const ss_frame *frame, ss_layout layout,
                         ss_writer_scratch *scratch, ss_error *err)
{
    bool with_time = layout == SS_LAYOUT_CANONICAL && !isnan(frame->time);
    void *room = scratch->bytes;
    return ss_h5_write(place, "timestep", SS_H5_F64, 0, NULL, &frame->h, err) &&
           (!with_time || ss_h5_write(place, "time", SS_H5_F64, 0, NULL, &frame->time, err)) &&
           put_group(place, "bodies", frame->bodies.count, frame, layout, room, err) &&
           put_group(place, "constraints", frame->constraints.count, frame, layout, room, err) &&
           put_group(place, "contacts", frame->contacts.count, frame, layout, room, err) &&
           (layout == SS_LAYOUT_FLAT ||
            (put_group(place, "subcontacts", frame->subcontacts.groups, frame, layout, room, err) &&
             put_group(place, "generalized", frame->generalized.count, frame, layout, room, err)));
}
