/* Every array of a frame, in the order of the field table. */
#include "cli/info/info.h"

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

/* Number k of the array as an integer; pairs as body ids. */
static int integer_at(const ss_field *field, const ss_frame *frame, const void *data, size_t k)
{
    int body;
    switch (field->type) {
    case SS_FIELD_INT:
        return ((const int32_t *)data)[k];
    case SS_FIELD_COUNT:
        return ((const int *)data)[k];
    case SS_FIELD_BYTE:
        return ((const uint8_t *)data)[k];
    case SS_FIELD_PAIR:
        body = ((const int *)data)[k];
        return body == SS_WORLD ? SS_WORLD : frame->bodies.id[body];
    case SS_FIELD_REAL:
        break;
    }
    return 0;
}

/* Of the bodies, either the live ones or the others. */
static void put_group(ss_json *json, ss_out *out, const char *key, const char *group, const ss_frame *frame,
                      bool live)
{
    ss_json_key(json, key);
    ss_json_begin_object(json);
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        const void *data = ss_field_data(field, frame);
        size_t width = (size_t)field->width;
        if (strcmp(field->group, group) != 0 || !data) continue;
        ss_json_key(json, shown_name(field));
        ss_json_begin_array(json);
        for (int i = 0; i < ss_field_items(field, frame); i++) {
            if (field->per == SS_PER_BODY && ss_frame_is_live(frame, i) != live) continue;

            // A vector is an array of its own.
            if (width > 1) ss_json_begin_array(json);
            for (size_t k = (size_t)i * width; k < ((size_t)i + 1) * width; k++) {
                if (field->type == SS_FIELD_REAL)
                    ss_json_real(json, ((const double *)data)[k]);
                else
                    ss_json_integer(json, integer_at(field, frame, data, k));
            }
            if (width > 1) ss_json_end_array(json);
        }
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

void ss_info_result_json(ss_json *json, ss_out *out, const ss_stored_result *result)
{
    ss_json_begin_object(json);
    ss_json_member_text(json, "solver", result->solver);
    ss_json_member_text(json, "formulation", result->formulation);
    ss_json_member_text(json, "with", result->with);
    ss_json_member_index(json, "iterations", result->iterations);
    ss_json_member_known(json, "error", result->error);
    ss_json_member_known(json, "seconds", result->seconds);

    // Numbers that the file does not have are null.
    const ss_answer *answer = result->answer;
    if (answer) {
        put_known_rows(json, "velocities", answer->velocity[0], answer->bodies, 6);
        if (answer->coordinates > 0)
            put_known_rows(json, "generalized_velocities", answer->generalized_velocity, answer->coordinates,
                           1);
        put_known_rows(json, "lambda", answer->row_impulse, answer->rows, 1);
        put_known_rows(json, "normal", answer->normal_impulse, answer->contacts, 1);
        ss_out_drain(out);
        put_known_rows(json, "tangent", answer->friction_impulse[0], answer->contacts, 3);
        if (answer->rolling_impulse)
            put_known_rows(json, "rolling", answer->rolling_impulse[0], answer->contacts, 3);
    }

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

void ss_info_frame_text(ss_out *out, const ss_frame *frame)
{
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        const void *data = ss_field_data(field, frame);
        int items = ss_field_items(field, frame);
        if (!data || items == 0) continue;
        ss_text_append(&out->text, "\n");
        bool has_unit = strcmp(field->unit, "1") != 0, of_bodies = field->per == SS_PER_BODY;
        ss_info_heading(out, "%s/%s%s%s%s: %s", field->group, shown_name(field), has_unit ? " [" : "",
                        has_unit ? field->unit : "", has_unit ? "]" : "", field->meaning);

        // One line for each item; bodies are named by their id.
        for (int i = 0; i < items; i++) {
            ss_text_appendf(&out->text, "  %6d ", of_bodies ? frame->bodies.id[i] : i);
            for (int c = 0; c < field->width; c++) {
                size_t k = (size_t)i * (size_t)field->width + (size_t)c;
                if (field->type == SS_FIELD_REAL)
                    ss_text_appendf(&out->text, " %14.8g", ((const double *)data)[k]);
                else
                    ss_text_appendf(&out->text, " %6d", integer_at(field, frame, data, k));
            }
            if (of_bodies && !ss_frame_is_live(frame, i)) ss_text_append(&out->text, "  (asleep)");
            ss_text_append(&out->text, "\n");
            if (!ss_out_drain(out)) return;
        }
    }
}
