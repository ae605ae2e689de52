#include "base/assert.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <string.h>

static void put(ss_json *json, const char *text)
{
    ss_text_append(json->text, text);
}

/* Every value starts here: it puts the comma, and knows whether a key has to come first. */
static void start_value(ss_json *json)
{
    bool in_object = json->depth > 0 && (json->is_object >> (json->depth - 1) & 1);
    SS_ASSERT(in_object == json->has_key);
    (void)in_object;
    if (json->needs_comma) put(json, ",");
    json->needs_comma = true;
    json->has_key = false;
}

static void open_level(ss_json *json, bool object)
{
    start_value(json);
    SS_ASSERT(json->depth < 64);
    uint64_t bit = (uint64_t)1 << json->depth++;
    json->is_object = object ? json->is_object | bit : json->is_object & ~bit;
    json->needs_comma = false;
    put(json, object ? "{" : "[");
}

static void close_level(ss_json *json, bool object)
{
    SS_ASSERT(json->depth > 0 && !json->has_key);
    json->depth--;
    SS_ASSERT((json->is_object >> json->depth & 1) == object);
    json->needs_comma = true;
    put(json, object ? "}" : "]");
}

void ss_json_begin_object(ss_json *json)
{
    open_level(json, true);
}

void ss_json_end_object(ss_json *json)
{
    close_level(json, true);
}

void ss_json_begin_array(ss_json *json)
{
    open_level(json, false);
}

void ss_json_end_array(ss_json *json)
{
    close_level(json, false);
}

/* ---- strings ---------------------------------------------------------------------------------------- */

/* Bytes of the well-formed UTF-8 character at s, 0 if it is none (Unicode 15, table 3-7). */
static size_t utf8_length(const unsigned char *s)
{
    if (s[0] < 0x80) return 1;
    size_t length = s[0] >= 0xC2 && s[0] <= 0xDF   ? 2
                    : (s[0] & 0xF0) == 0xE0        ? 3
                    : s[0] >= 0xF0 && s[0] <= 0xF4 ? 4
                                                   : 0;
    for (size_t i = 1; i < length; i++)
        if ((s[i] & 0xC0) != 0x80) return 0;
    bool overlong = (s[0] == 0xE0 && s[1] < 0xA0) || (s[0] == 0xF0 && s[1] < 0x90);
    bool no_character = (s[0] == 0xED && s[1] > 0x9F) || (s[0] == 0xF4 && s[1] > 0x8F);
    return overlong || no_character ? 0 : length;
}

static void put_string(ss_json *json, const char *value)
{
    static const char letters[] = "\"\\\b\f\n\r\t", names[] = "\"\\bfnrt";
    const unsigned char *s = (const unsigned char *)value;
    put(json, "\"");
    while (*s) {
        // As many plain characters as there are, in one go.
        const unsigned char *start = s;
        while (*s >= 0x20 && *s < 0x80 && *s != '"' && *s != '\\' && !(*s == '<' && json->inside_html)) s++;
        ss_text_append_bytes(json->text, (const char *)start, (size_t)(s - start));
        if (!*s) break;

        size_t length = utf8_length(s);
        const char *letter = length == 1 ? strchr(letters, *s) : NULL;
        if (letter)
            ss_text_append_bytes(json->text, (char[]){'\\', names[letter - letters]}, 2);
        else if (length == 1)
            ss_text_appendf(json->text, "\\u%04x", *s);
        else if (length > 1)
            ss_text_append_bytes(json->text, (const char *)s, length);
        else
            put(json, "\xEF\xBF\xBD"); // U+FFFD, one for every byte that fits nowhere
        s += length ? length : 1;
    }
    put(json, "\"");
}

void ss_json_key(ss_json *json, const char *key)
{
    SS_ASSERT(json->depth > 0 && (json->is_object >> (json->depth - 1) & 1) && !json->has_key);
    if (json->needs_comma) put(json, ",");
    put_string(json, key);
    put(json, ":");
    json->needs_comma = false;
    json->has_key = true;
}

void ss_json_string(ss_json *json, const char *value)
{
    start_value(json);
    if (value)
        put_string(json, value);
    else
        put(json, "null");
}

/* ---- other values ----------------------------------------------------------------------------------- */

void ss_json_real(ss_json *json, double value)
{
    start_value(json);
    char text[SS_NUMBER_TEXT + 2];
    int length = ss_number_write(value, text + 1);
    if (isfinite(value)) {
        ss_text_append_bytes(json->text, text + 1, (size_t)length);
    } else {
        text[0] = text[length + 1] = '"';
        ss_text_append_bytes(json->text, text, (size_t)length + 2);
    }
}

void ss_json_integer(ss_json *json, long long value)
{
    start_value(json);
    char text[SS_NUMBER_TEXT];
    ss_text_append_bytes(json->text, text, (size_t)ss_integer_write(value, text));
}

void ss_json_bool(ss_json *json, bool value)
{
    start_value(json);
    put(json, value ? "true" : "false");
}

void ss_json_null(ss_json *json)
{
    start_value(json);
    put(json, "null");
}

void ss_json_member_text(ss_json *json, const char *key, const char *value)
{
    ss_json_key(json, key);
    ss_json_string(json, value);
}

void ss_json_member_integer(ss_json *json, const char *key, long long value)
{
    ss_json_key(json, key);
    ss_json_integer(json, value);
}

void ss_json_member_real(ss_json *json, const char *key, double value)
{
    ss_json_key(json, key);
    ss_json_real(json, value);
}

void ss_json_member_known(ss_json *json, const char *key, double value)
{
    ss_json_key(json, key);
    if (isnan(value))
        ss_json_null(json);
    else
        ss_json_real(json, value);
}

void ss_json_member_index(ss_json *json, const char *key, int index)
{
    ss_json_key(json, key);
    if (index < 0)
        ss_json_null(json);
    else
        ss_json_integer(json, index);
}

void ss_json_reals(ss_json *json, const double *values, size_t count)
{
    ss_json_begin_array(json);
    for (size_t i = 0; i < count; i++) ss_json_real(json, values[i]);
    ss_json_end_array(json);
}

void ss_json_integers(ss_json *json, const int *values, size_t count)
{
    ss_json_begin_array(json);
    for (size_t i = 0; i < count; i++) ss_json_integer(json, values[i]);
    ss_json_end_array(json);
}

void ss_json_real_rows(ss_json *json, const double *values, size_t rows, size_t columns)
{
    ss_json_begin_array(json);
    for (size_t i = 0; i < rows; i++) ss_json_reals(json, values + i * columns, columns);
    ss_json_end_array(json);
}

void ss_json_integer_rows(ss_json *json, const int *values, size_t rows, size_t columns)
{
    ss_json_begin_array(json);
    for (size_t i = 0; i < rows; i++) ss_json_integers(json, values + i * columns, columns);
    ss_json_end_array(json);
}
