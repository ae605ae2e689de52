/* cli/terminal/table.h - numbers in aligned columns, in lines that fit the terminal. */
#ifndef SS_CLI_TERMINAL_TABLE_H
#define SS_CLI_TERMINAL_TABLE_H

#include "cli/terminal/output.h"

#define SS_TABLE_MOST_COLUMNS 16

/* Cells are added one after the other, line by line; the first line is the heading. */
typedef struct ss_table {
    int columns;
    int left; /* number of columns that are aligned to the left; the others are aligned to the right */
    /* Columns to leave out, one after the other, where the terminal is too narrow; ends with a zero (the
     * first column always stays), NULL = none. */
    const unsigned char *expendable;
    ss_style style; /* of the next cell */
    ss_text cells;  /* each a style, its text and a zero byte */
    size_t count;
} ss_table;

void ss_table_add(ss_table *table, const char *format, ...) SS_PRINTF(2, 3);
/* A cell in a style of its own. */
void ss_table_add_styled(ss_table *table, ss_style style, const char *text);
/* Prints with an indent of two and frees the cells. On a terminal that is too narrow, expendable columns are
 * left out, and named below; then the longest words of a column that is aligned to the left are wrapped. */
void ss_table_print(ss_table *table, ss_out *out);

#endif
