/* Every array of a frame, in the order of the field table. */
#include "cli/info.h"

#include "frame/fields.h"

#include <math.h>
#include <string.h>

/* Short names for arrays whose name in the file is long or odd. */
static const char *shown_name(const ss_field *field)
{
    static const char *const renamed[][2] = {
        {"world_inertia_tensors", "inertias"}, {"Jacobian", "jacobian"}, {"mu_k", "mu"}};
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcmp(field->name, renamed[i][0]) == 0) return renamed[i][1];
    return field->name;
}

static int body_label(const ss_frame *frame, int body)
{
    return body == SS_WORLD ? SS_WORLD : frame->bodies.id[body];
}

/* Number k of the array as an integer; pairs as body ids. */
static int integer_at(const ss_field *field, const ss_frame *frame, const void *data, size_t k)
{
    switch (field->type) {
    case SS_FIELD_INT:
        return ((const int32_t *)data)[k];
    case SS_FIELD_COUNT:
        return ((const int *)data)[k];
    case SS_FIELD_BYTE:
        return ((const uint8_t *)data)[k];
    case SS_FIELD_PAIR:
        return body_label(frame, ((const int *)data)[k]);
    case SS_FIELD_REAL:
        break;
    }
    return 0;
}

static void put_item(ss_json *json, const ss_field *field, const ss_frame *frame, const void *data,
                     size_t item)
{
    size_t width = (size_t)field->width;
    if (width > 1) ss_json_begin_array(json);
    for (size_t k = item * width; k < (item + 1) * width; k++) {
        if (field->type == SS_FIELD_REAL)
            ss_json_real(json, ((const double *)data)[k]);
        else
            ss_json_integer(json, integer_at(field, frame, data, k));
    }
    if (width > 1) ss_json_end_array(json);
}

/* Of the bodies, either the live ones or the others. */
static bool is_wanted(const ss_field *field, const ss_frame *frame, int item, bool live)
{
    return field->per != SS_PER_BODY || ss_frame_is_live(frame, item) == live;
}

static void put_group(ss_json *json, ss_out *out, const char *key, const char *group, const ss_frame *frame,
                      bool live)
{
    ss_json_key(json, key);
    ss_json_begin_object(json);
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        const void *data = ss_field_data(field, frame);
        if (strcmp(field->group, group) != 0 || !data) continue;
        ss_json_key(json, shown_name(field));
        ss_json_begin_array(json);
        for (int i = 0; i < ss_field_items(field, frame); i++)
            if (is_wanted(field, frame, i, live)) put_item(json, field, frame, data, (size_t)i);
        ss_json_end_array(json);
        ss_out_drain(out);
    }
    ss_json_end_object(json);
}

void ss_info_frame_json(ss_json *json, ss_out *out, const char *path, const ss_frame *frame)
{
    ss_json_key(json, "path"), ss_json_string(json, path);
    ss_json_key(json, "h"), ss_json_real(json, frame->h);
    ss_json_member_known(json, "time", frame->time);
    put_group(json, out, "bodies", "bodies", frame, true);
    put_group(json, out, "dead_bodies", "bodies", frame, false);
    put_group(json, out, "constraints", "constraints", frame, true);
    put_group(json, out, "contacts", "contacts", frame, true);
    if (frame->generalized.count > 0) put_group(json, out, "generalized", "generalized", frame, true);
}

/* ---- results ------------------------------------------------------------------------------------- */

/* null for numbers that the file does not have. */
static void put_known_rows(ss_json *json, const char *key, const double *values, int rows, int columns)
{
    ss_json_key(json, key);
    ss_json_begin_array(json);
    for (int i = 0; values && i < rows; i++) {
        if (columns > 1) ss_json_begin_array(json);
        for (int k = 0; k < columns; k++) {
            double value = values[(size_t)i * (size_t)columns + (size_t)k];
            if (isnan(value))
                ss_json_null(json);
            else
                ss_json_real(json, value);
        }
        if (columns > 1) ss_json_end_array(json);
    }
    ss_json_end_array(json);
}

static void put_answer(ss_json *json, ss_out *out, const ss_answer *answer)
{
    put_known_rows(json, "velocities", answer->velocity[0], answer->bodies, 6);
    if (answer->coordinates > 0)
        put_known_rows(json, "generalized_velocities", answer->generalized_velocity, answer->coordinates, 1);
    put_known_rows(json, "lambda", answer->row_impulse, answer->rows, 1);
    put_known_rows(json, "normal", answer->normal_impulse, answer->contacts, 1);
    ss_out_drain(out);
    put_known_rows(json, "tangent", answer->friction_impulse[0], answer->contacts, 3);
    if (answer->rolling_impulse)
        put_known_rows(json, "rolling", answer->rolling_impulse[0], answer->contacts, 3);
}

void ss_info_result_json(ss_json *json, ss_out *out, const ss_stored_result *result)
{
    ss_json_begin_object(json);
    ss_json_member_text(json, "solver", result->solver);
    ss_json_member_text(json, "formulation", result->formulation);
    ss_json_member_text(json, "with", result->with);
    ss_json_member_index(json, "iterations", result->iterations);
    ss_json_member_known(json, "error", result->error);
    ss_json_member_known(json, "seconds", result->seconds);
    if (result->answer) put_answer(json, out, result->answer);
    put_known_rows(json, "errors", result->errors, result->error_count, 1);
    ss_json_key(json, "measures");
    ss_json_begin_object(json);
    for (int m = 0; m < result->measure_count; m++) {
        const ss_measure *measure = &result->measures[m];
        if (measure->count == 1)
            ss_json_member_known(json, measure->name, measure->values[0]);
        else
            put_known_rows(json, measure->name, measure->values, measure->count, 1);
    }
    ss_json_end_object(json);
    ss_json_end_object(json);
    ss_out_drain(out);
}

/* ---- text ---------------------------------------------------------------------------------------- */

static void print_item(ss_out *out, const ss_field *field, const ss_frame *frame, const void *data, int item)
{
    ss_text_appendf(&out->text, "  %6d ", field->per == SS_PER_BODY ? frame->bodies.id[item] : item);
    for (int c = 0; c < field->width; c++) {
        size_t k = (size_t)item * (size_t)field->width + (size_t)c;
        if (field->type == SS_FIELD_REAL)
            ss_text_appendf(&out->text, " %14.8g", ((const double *)data)[k]);
        else
            ss_text_appendf(&out->text, " %6d", integer_at(field, frame, data, k));
    }
    if (field->per == SS_PER_BODY && !ss_frame_is_live(frame, item)) ss_text_append(&out->text, "  (asleep)");
    ss_text_append(&out->text, "\n");
}

void ss_info_frame_text(ss_out *out, const ss_frame *frame)
{
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        const void *data = ss_field_data(field, frame);
        int items = ss_field_items(field, frame);
        if (!data || items == 0) continue;
        ss_text_append(&out->text, "\n");
        bool has_unit = strcmp(field->unit, "1") != 0;
        ss_info_heading(out, "%s/%s%s%s%s: %s", field->group, shown_name(field), has_unit ? " [" : "",
                        has_unit ? field->unit : "", has_unit ? "]" : "", field->meaning);
        for (int i = 0; i < items; i++) {
            print_item(out, field, frame, data, i);
            if (!ss_out_drain(out)) return;
        }
    }
}
