/* cli/table.h - numbers in aligned columns. */
#ifndef SS_CLI_TABLE_H
#define SS_CLI_TABLE_H

#include "cli/output.h"

#define SS_TABLE_MOST_COLUMNS 16

/* Cells are added one after the other, line by line; the first line is the heading. */
typedef struct ss_table {
    int columns;
    int left;      /* so many columns are aligned to the left, the others to the right */
    ss_text cells; /* each ends with a zero byte */
    size_t count;
} ss_table;

void ss_table_add(ss_table *table, const char *format, ...) SS_PRINTF(2, 3);
/* Prints with an indent of two and frees the cells. */
void ss_table_print(ss_table *table, ss_out *out);

#endif
