#include "campaign/ledger_rows.h"

#include "base/number.h"

#include <math.h>
#include <string.h>

#define PIECE ((size_t)1 << 16) // bytes that are gathered before they go to the sink

/* ---- values ------------------------------------------------------------------------------------------- */

/* Before every value: the comma of CSV, the key of JSON. */
static void begin_value(ss_row_writer *rows)
{
    if (rows->is_json)
        ss_json_key(&rows->json, rows->columns[rows->column]);
    else if (rows->column > 0)
        ss_text_append(&rows->text, ",");
    rows->column++;
}

void ss_row_writer_null(ss_row_writer *rows)
{
    begin_value(rows);
    if (rows->is_json) ss_json_null(&rows->json);
}

void ss_row_writer_text(ss_row_writer *rows, const char *value)
{
    if (!value) {
        ss_row_writer_null(rows);
        return;
    }
    begin_value(rows);
    if (rows->is_json) {
        ss_json_string(&rows->json, value);
        return;
    }

    // Quotes only where RFC 4180 wants them, and around blanks at the ends, which some readers drop; an empty
    // text is "", so that it is not taken for nothing.
    size_t length = strlen(value);
    bool quoted = length == 0 || strpbrk(value, ",\"\r\n") || value[0] == ' ' || value[length - 1] == ' ';
    if (quoted) ss_text_append(&rows->text, "\"");
    for (const char *quote; (quote = strchr(value, '"')); value = quote + 1) {
        ss_text_append_bytes(&rows->text, value, (size_t)(quote - value));
        ss_text_append(&rows->text, "\"\"");
    }
    ss_text_append(&rows->text, value);
    if (quoted) ss_text_append(&rows->text, "\"");
}

void ss_row_writer_integer(ss_row_writer *rows, long long value)
{
    begin_value(rows);
    char text[SS_NUMBER_TEXT];
    if (rows->is_json)
        ss_json_integer(&rows->json, value);
    else
        ss_text_append_bytes(&rows->text, text, (size_t)ss_integer_write(value, text));
}

void ss_row_writer_real(ss_row_writer *rows, double value)
{
    if (isnan(value)) {
        ss_row_writer_null(rows);
        return;
    }
    begin_value(rows);
    char text[SS_NUMBER_TEXT];
    if (rows->is_json)
        ss_json_real(&rows->json, value);
    else
        ss_text_append_bytes(&rows->text, text, (size_t)ss_number_write(value, text));
}

void ss_row_writer_reals(ss_row_writer *rows, const double *values, int count)
{
    for (int i = 0; i < count; i++) ss_row_writer_real(rows, values[i]);
}

void ss_row_writer_texts(ss_row_writer *rows, const char *const *values, size_t count)
{
    for (size_t i = 0; i < count; i++) ss_row_writer_text(rows, values[i]);
}

/* ---- rows --------------------------------------------------------------------------------------------- */

void ss_row_writer_begin(ss_row_writer *rows)
{
    rows->column = 0;
    if (rows->is_json) ss_json_begin_object(&rows->json);
}

bool ss_row_writer_flush(ss_row_writer *rows, const char *place, ss_error *err)
{
    if (rows->text.out_of_memory) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", place);
    if (!rows->sink(ss_text_get(&rows->text), rows->text.length, rows->context))
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: the export cannot be written", place);
    ss_text_clear(&rows->text);
    return true;
}

bool ss_row_writer_end(ss_row_writer *rows, const char *place, ss_error *err)
{
    if (rows->is_json)
        ss_json_end_object(&rows->json);
    else
        ss_text_append(&rows->text, "\r\n");
    return rows->text.length < PIECE || ss_row_writer_flush(rows, place, err);
}

void ss_row_writer_columns(ss_row_writer *rows, const char *const *columns)
{
    rows->columns = columns;
    if (rows->is_json) return;
    for (int i = 0; columns[i]; i++) ss_text_appendf(&rows->text, "%s%s", i ? "," : "", columns[i]);
    ss_text_append(&rows->text, "\r\n");
}
