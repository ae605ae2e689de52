/* campaign/ledger_rows.h - rows of named columns, as CSV (RFC 4180) or as JSON objects, given to a sink piece by piece. */
#ifndef SS_CAMPAIGN_LEDGER_ROWS_H
#define SS_CAMPAIGN_LEDGER_ROWS_H

#include "base/text.h"
#include "campaign/ledger.h"

typedef struct ss_rows {
    ss_sink *sink;
    void *context;
    ss_text text; /* what the sink has not got yet */
    bool is_json;
    ss_json json; /* on that text */
    const char *const *columns;
    int column; /* of the next value */
} ss_rows;

/* The columns of the rows that follow, NULL ends; CSV gets its line of names. */
void ss_rows_columns(ss_rows *rows, const char *const *columns);
void ss_rows_begin(ss_rows *rows);
/* Values in the order of the columns. NaN and NULL are nothing: an empty field, or null. */
void ss_rows_null(ss_rows *rows);
void ss_rows_text(ss_rows *rows, const char *value);
void ss_rows_texts(ss_rows *rows, const char *const *values, size_t count);
void ss_rows_integer(ss_rows *rows, long long value);
void ss_rows_real(ss_rows *rows, double value);
void ss_rows_reals(ss_rows *rows, const double *values, int count);
/* Ends a row, and empties the text when a good amount has gathered. `place` begins the message of a failure. */
bool ss_rows_end(ss_rows *rows, const char *place, ss_error *err);
bool ss_rows_flush(ss_rows *rows, const char *place, ss_error *err);

#endif
