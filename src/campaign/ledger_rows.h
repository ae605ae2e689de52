/* campaign/ledger_rows.h - rows of named columns, as CSV (RFC 4180) or as JSON objects, given to a sink
 * piece by piece. */
#ifndef SS_CAMPAIGN_LEDGER_ROWS_H
#define SS_CAMPAIGN_LEDGER_ROWS_H

#include "base/text.h"
#include "campaign/ledger.h"

typedef struct ss_row_writer {
    ss_sink *sink;
    void *context;
    ss_text text; /* what the sink has not got yet */
    bool is_json;
    ss_json json; /* on that text */
    const char *const *columns;
    int column; /* of the next value */
} ss_row_writer;

/* The columns of the rows that follow, NULL ends; CSV gets its line of names. */
void ss_row_writer_columns(ss_row_writer *rows, const char *const *columns);
void ss_row_writer_begin(ss_row_writer *rows);
/* Values in the order of the columns. NaN and NULL are nothing: an empty field, or null. */
void ss_row_writer_null(ss_row_writer *rows);
void ss_row_writer_text(ss_row_writer *rows, const char *value);
void ss_row_writer_texts(ss_row_writer *rows, const char *const *values, size_t count);
void ss_row_writer_integer(ss_row_writer *rows, long long value);
void ss_row_writer_real(ss_row_writer *rows, double value);
void ss_row_writer_reals(ss_row_writer *rows, const double *values, int count);
/* Ends a row, and empties the text when a good amount has gathered. `place` begins the
 * message of a failure. */
bool ss_row_writer_end(ss_row_writer *rows, const char *place, ss_error *err);
bool ss_row_writer_flush(ss_row_writer *rows, const char *place, ss_error *err);

#endif
