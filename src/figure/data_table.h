/* figure/data_table.h - a table of words and numbers, as CSV with all digits, and as LaTeX and Markdown
 * for readers. It copies what it is given into its arena; lack of memory is noted and looked at once, at
 * the end. */
#ifndef SS_FIGURE_DATA_TABLE_H
#define SS_FIGURE_DATA_TABLE_H

#include "base/text.h"

/* How readers see the numbers of a column. */
typedef enum ss_cell_words {
    SS_CELL_NUMBER,  /* three digits: 0.0123, 1.23e-7; whole numbers in full */
    SS_CELL_SECONDS, /* 12.3 us, 4.56 ms */
    SS_CELL_PERCENT, /* of a share */
} ss_cell_words;

typedef struct ss_data_column {
    const char *name; /* with its unit: "time [s]" */
    ss_cell_words words;
} ss_data_column;

typedef struct ss_data_cell {
    const char *text; /* NULL: a number */
    double value;     /* not finite: an empty cell */
    bool bracketed;   /* readers see it in brackets, and the table's note says why */
} ss_data_cell;

typedef struct ss_data_table {
    const char *title;
    const char *source; /* what it was made from; NULL: not said */
    const char *note;   /* what brackets mean; shown where there are any */
    ss_arena *arena;
    bool out_of_memory;
    ss_data_column *columns;
    int column_count, column_room;
    ss_data_cell *cells; /* row by row */
    size_t cell_count, cell_room;
} ss_data_table;

void ss_data_add_column(ss_data_table *table, const char *name, ss_cell_words words);
/* The next cell. */
void ss_data_text(ss_data_table *table, const char *text); /* NULL: empty */
void ss_data_textf(ss_data_table *table, const char *format, ...) SS_PRINTF(2, 3);
void ss_data_number(ss_data_table *table, double value);
void ss_data_bracketed(ss_data_table *table, double value);
static inline size_t ss_data_rows(const ss_data_table *table)
{
    return table->column_count ? table->cell_count / (size_t)table->column_count : 0;
}

/* RFC 4180, numbers with all their digits. Text that a spreadsheet would take for a formula gets an
 * apostrophe in front. */
void ss_data_csv(const ss_data_table *table, ss_text *csv);
/* A tabular with the rules of booktabs, in small letters; columns from the right that do not fit into
 * `width_mm` are left out, and a comment names them; long words of the first are broken into lines. 0: no
 * limit. */
void ss_data_tex(const ss_data_table *table, double width_mm, ss_text *tex);
/* As GitHub has them. */
void ss_data_markdown(const ss_data_table *table, ss_text *markdown);

/* Words with what means something to TeX escaped, so that they are set as they are. */
void ss_text_append_tex(ss_text *tex, const char *words);

#endif
