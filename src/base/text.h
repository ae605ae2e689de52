/* base/text.h - a growing text, and a JSON writer on top of it.
 *
 * Lack of memory is sticky: appending goes on doing nothing, and is looked at once, at the end.
 *
 *     ss_text text = {0};
 *     ss_json json = {.text = &text};
 *     ss_json_begin_object(&json);
 *     ss_json_key(&json, "gap"), ss_json_reals(&json, gap, count);
 *     ss_json_end_object(&json);
 *     if (text.out_of_memory) ...
 *     ss_text_free(&text);
 */
#ifndef SS_BASE_TEXT_H
#define SS_BASE_TEXT_H

#include <stickslip/base.h>

#include "base/inner.h"

typedef struct ss_text {
    char *data; /* ends with a zero; NULL while nothing was appended, see ss_text_get */
    size_t length, capacity;
    bool out_of_memory;
} ss_text;

SS_INNER void ss_text_append(ss_text *text, const char *more);
SS_INNER void ss_text_append_bytes(ss_text *text, const char *more, size_t length);
SS_INNER void ss_text_appendf(ss_text *text, const char *format, ...) SS_PRINTF(2, 3);
/* A blank and one word of a command for a shell. What is typed may come from a stranger: everything but plain
 * characters is quoted. */
SS_INNER void ss_text_append_word(ss_text *text, const char *word, size_t length);
/* The text so far, never NULL. */
SS_INNER const char *ss_text_get(const ss_text *text);
/* Empties it but keeps the memory, and forgets that there was too little. */
SS_INNER void ss_text_clear(ss_text *text);
SS_INNER void ss_text_free(ss_text *text);

/* ---- JSON ------------------------------------------------------------------------------------------- */

/* One line without blanks. Separators are put by the writer; nesting is checked by SS_ASSERT.
 * Strings: everything JSON demands is escaped, and bytes that are not UTF-8 become U+FFFD.
 * Reals: shortest digits that read back as the same double; "inf", "-inf" and "nan" are strings. */
typedef struct ss_json {
    ss_text *text;
    bool inside_html; /* set before use: also escapes '<', so that the result may stand inside <script> */
    bool needs_comma, has_key;
    unsigned depth;
    uint64_t is_object; /* bit d: level d is an object; 64 levels are plenty */
} ss_json;

SS_INNER void ss_json_begin_object(ss_json *json);
SS_INNER void ss_json_end_object(ss_json *json);
SS_INNER void ss_json_begin_array(ss_json *json);
SS_INNER void ss_json_end_array(ss_json *json);
SS_INNER void ss_json_key(ss_json *json, const char *key);

SS_INNER void ss_json_string(ss_json *json, const char *value); /* NULL gives null */
SS_INNER void ss_json_real(ss_json *json, double value);
SS_INNER void ss_json_integer(ss_json *json, long long value);
SS_INNER void ss_json_bool(ss_json *json, bool value);
SS_INNER void ss_json_null(ss_json *json);

/* Key and value at once. */
SS_INNER void ss_json_member_text(ss_json *json, const char *key, const char *value);
SS_INNER void ss_json_member_integer(ss_json *json, const char *key, long long value);
SS_INNER void ss_json_member_real(ss_json *json, const char *key, double value);
SS_INNER void ss_json_member_known(ss_json *json, const char *key,
                                   double value); /* null for NaN: not known */
SS_INNER void ss_json_member_index(ss_json *json, const char *key,
                                   int index); /* null for a negative one: none */

/* Whole arrays. A matrix is an array of rows. */
SS_INNER void ss_json_reals(ss_json *json, const double *values, size_t count);
SS_INNER void ss_json_integers(ss_json *json, const int *values, size_t count);
void ss_json_real_rows(ss_json *json, const double *values, size_t rows, size_t columns);
void ss_json_integer_rows(ss_json *json, const int *values, size_t rows, size_t columns);

#endif
