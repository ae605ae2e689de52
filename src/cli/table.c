#include "cli/table.h"

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

void ss_table_add(ss_table *table, const char *format, ...)
{
    char raw[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    ss_text_append_clean(&table->cells, raw);
    ss_text_append_bytes(&table->cells, "", 1);
    table->count++;
}

static void measure(const ss_table *table, size_t widths[SS_TABLE_MOST_COLUMNS])
{
    const char *cell = ss_text_get(&table->cells);
    for (size_t i = 0; i < table->count; i++, cell += strlen(cell) + 1) {
        size_t *width = &widths[i % (size_t)table->columns], columns = ss_text_columns(cell);
        if (columns > *width) *width = columns;
    }
}

static void print_line(const ss_table *table, const char **cell, const size_t *widths, ss_text *text)
{
    for (int column = 0; column < table->columns; column++, *cell += strlen(*cell) + 1) {
        int blanks = (int)(widths[column] - ss_text_columns(*cell));
        bool left = column < table->left, last = column + 1 == table->columns;
        ss_text_append(text, "  ");
        if (!left) ss_text_appendf(text, "%*s", blanks, "");
        ss_text_append(text, *cell);
        if (left && !last) ss_text_appendf(text, "%*s", blanks, "");
    }
}

static void trim(ss_text *text)
{
    while (text->length && text->data[text->length - 1] == ' ') text->data[--text->length] = '\0';
}

void ss_table_print(ss_table *table, ss_out *out)
{
    SS_ASSERT(table->columns <= SS_TABLE_MOST_COLUMNS && table->count % (size_t)table->columns == 0);
    size_t widths[SS_TABLE_MOST_COLUMNS] = {0};
    out->text.out_of_memory |= table->cells.out_of_memory;
    if (!table->cells.out_of_memory) {
        measure(table, widths);
        const char *cell = ss_text_get(&table->cells);
        for (size_t line = 0; line < table->count / (size_t)table->columns; line++) {
            if (line == 0) ss_text_append(&out->text, ss_out_style(out, SS_STYLE_HEADING));
            print_line(table, &cell, widths, &out->text);
            trim(&out->text);
            if (line == 0) ss_text_append(&out->text, ss_out_style(out, SS_STYLE_PLAIN));
            ss_text_append(&out->text, "\n");
        }
    }
    ss_text_free(&table->cells);
}
