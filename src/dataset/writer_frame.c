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

    /* The frame is not checked, but no memory but its own may be read when indices become ids. */
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        if (field->type != SS_FIELD_PAIR) continue;
        const int *body = ss_field_data(field, frame);
        int numbers = ss_field_items(field, frame) * field->width, bodies = frame->bodies.count;
        for (int i = 0; body && i < numbers; i++)
            if (body[i] != SS_WORLD && (body[i] < 0 || body[i] >= bodies))
                return ss_fail(err, SS_ERROR_INPUT, "%s: %s/%s[%d]: body %d of %d", file, field->group,
                               field->name, i / field->width, body[i], bodies);
    }

    /* Room for what is written in another form than the frame has it: rows as counts, t_v, ids. */
    size_t joints = (size_t)frame->constraints.count, contacts = (size_t)frame->contacts.count;
    size_t further = (size_t)frame->constraints.further_count * sizeof(int32_t);
    size_t needed = larger(joints * sizeof(uint64_t), contacts * sizeof(double[3]));
    needed = larger(needed, further);
    if (needed <= scratch->capacity) return true;
    void *bytes = ss_allocate(needed, 1);
    if (!bytes) return ss_fail(err, SS_ERROR_RESOURCES, "%s: no memory for %zu bytes", file, needed);
    ss_release(scratch->bytes);
    *scratch = (ss_writer_scratch){bytes, needed};
    return true;
}

/* ---- one array ------------------------------------------------------------------------------------- */

static bool put_field(const ss_h5_group *group, const ss_field *field, const ss_frame *frame, void *scratch,
                      ss_error *err)
{
    const void *values = ss_field_data(field, frame);
    uint64_t numbers = (uint64_t)ss_field_items(field, frame) * (uint64_t)field->width;
    uint64_t columns = (uint64_t)field->file_columns, *counts = scratch;
    int32_t *ids = scratch;
    const int *whole = values;
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
        for (uint64_t i = 0; i < numbers; i++) counts[i] = (uint64_t)whole[i];
        values = scratch;
        break;
    case SS_FIELD_PAIR: // the ids of the bodies
        type = SS_H5_I32;
        for (uint64_t i = 0; i < numbers; i++)
            ids[i] = whole[i] == SS_WORLD ? -1 : frame->bodies.id[whole[i]];
        values = scratch;
        break;
    }
    const char *slash = strchr(field->name, '/');
    if (!slash) return ss_h5_write_table(group, field->name, type, numbers / columns, columns, values, err);

    /* "map/values": in a group of the group */
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

static bool fill_group(const ss_h5_group *group, const char *name, const ss_frame *frame, ss_layout layout,
                       void *scratch, ss_error *err)
{
    const ss_contacts *contacts = &frame->contacts;
    bool canonical = layout == SS_LAYOUT_CANONICAL;
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        if (strcmp(field->group, name) != 0) continue;

        /* Of the optional arrays the authors' tools know only mu_s. */
        bool known = canonical || strcmp(field->name, "mu_s") == 0;
        bool of_lists = strcmp(field->group, "subcontacts") == 0 || ss_field_is_of_list(field);
        bool empty = of_lists && ss_field_items(field, frame) == 0;
        if (field->optional && (empty || !known || !ss_field_data(field, frame))) continue;
        if (!put_field(group, field, frame, scratch, err)) return false;
    }
    if (strcmp(name, "constraints") == 0)
        return ss_h5_write_text_attribute(
            group, "block_order",
            ss_bpmd_order_name(frame->constraints.further_count > 0, canonical && frame->constraints.implied),
            err);
    if (strcmp(name, "contacts") != 0) return true;

    /* The authors' readers want both coefficients of friction; the canonical layout has both tangents. */
    uint64_t count = (uint64_t)contacts->count;
    if (layout == SS_LAYOUT_FLAT)
        return contacts->mu_static ||
               ss_h5_write_table(group, "mu_s", SS_H5_F64, count, 2, contacts->mu, err);
    if (!contacts->tangent) return true;
    double t_u[3], (*t_v)[3] = scratch;
    for (int c = 0; c < contacts->count; c++) ss_contact_tangents(frame, c, t_u, t_v[c]);
    return ss_h5_write_table(group, "t_v", SS_H5_F64, count, 3, t_v, err);
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
