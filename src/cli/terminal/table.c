#include "cli/terminal/table.h"

#include "base/assert.h"

#include <stdio.h>
#include <string.h>

#define INDENT ((size_t)2)
#define GAP ((size_t)2)          /* columns between cells */
#define LEAST_WORDS ((size_t)20) /* columns below which words are not wrapped */

void ss_table_add(ss_table *table, const char *format, ...)
{
    char raw[512], style = (char)table->style;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(raw, sizeof raw, format, arguments);
    va_end(arguments);
    ss_text_append_bytes(&table->cells, &style, 1);
    ss_text_append_clean(&table->cells, raw);
    ss_text_append_bytes(&table->cells, "", 1);
    table->count++;
}

void ss_table_add_styled(ss_table *table, ss_style style, const char *text)
{
    table->style = style;
    ss_table_add(table, "%s", text);
    table->style = SS_STYLE_PLAIN;
}

/* ---- what fits ------------------------------------------------------------------------------------ */

typedef struct layout {
    size_t widths[SS_TABLE_MOST_COLUMNS];
    bool hidden[SS_TABLE_MOST_COLUMNS];
    int wrapped; /* the column whose words are broken into lines, -1 = none */
} layout;

/* The cell after `cell`: a style byte, the text, a zero byte. */
static const char *next(const char *cell)
{
    return cell + 1 + strlen(cell + 1) + 1;
}

/* Columns before a cell of this column; with the number of columns, of the whole table. */
static size_t offset_of(const ss_table *table, const layout *fitted, int column)
{
    size_t offset = INDENT;
    for (int c = 0; c < column; c++)
        if (!fitted->hidden[c]) offset += fitted->widths[c] + (c + 1 < table->columns ? GAP : 0);
    return offset;
}

static layout fit(const ss_table *table, size_t columns)
{
    layout fitted = {.wrapped = -1};
    const char *cell = ss_text_get(&table->cells);
    for (size_t i = 0; i < table->count; i++, cell = next(cell)) {
        size_t *width = &fitted.widths[i % (size_t)table->columns], own = ss_text_columns(cell + 1);
        if (own > *width) *width = own;
    }
    if (columns == 0) return fitted;

    // Leaves out what matters least, until the rest fits.
    const unsigned char *spare = table->expendable;
    for (; spare && *spare && offset_of(table, &fitted, table->columns) > columns; spare++)
        fitted.hidden[*spare] = true;

    // Then the longest words are broken into lines.
    size_t whole = offset_of(table, &fitted, table->columns);
    if (whole <= columns) return fitted;
    int widest = -1;
    for (int c = 0; c < table->left; c++)
        if (!fitted.hidden[c] && (widest < 0 || fitted.widths[c] > fitted.widths[widest])) widest = c;
    if (widest < 0 || fitted.widths[widest] < whole - columns + LEAST_WORDS) return fitted;
    fitted.widths[widest] -= whole - columns;
    fitted.wrapped = widest;
    return fitted;
}

/* ---- lines ---------------------------------------------------------------------------------------- */

/* Bytes of the words that fit, and their width; at least one word. */
static size_t words_within(const char *words, size_t columns, size_t *width)
{
    size_t taken = 0, passed = 0;
    *width = 0;
    for (size_t bytes = 0;; bytes++) {
        bool ends = words[bytes] == ' ' || words[bytes] == '\0';
        if (taken && passed > columns) return taken;
        if (ends) taken = bytes, *width = passed;
        if (words[bytes] == '\0') return taken;
        passed += (words[bytes] & 0xC0) != 0x80;
    }
}

/* One line of cells, heading or not; returns the first cell of the next. */
static const char *print_line(const ss_table *table, const layout *fitted, const char *cell, bool heading,
                              ss_out *out)
{
    ss_text *text = &out->text;
    const char *rest = "";
    if (heading) ss_text_append(text, ss_out_style(out, SS_STYLE_HEADING));
    ss_text_appendf(text, "%*s", (int)INDENT, "");
    for (int c = 0; c < table->columns; c++, cell = next(cell)) {
        if (fitted->hidden[c]) continue;
        ss_style style = (ss_style)*cell;
        size_t bytes = strlen(cell + 1), width = ss_text_columns(cell + 1);
        if (c == fitted->wrapped && width > fitted->widths[c]) {
            bytes = words_within(cell + 1, fitted->widths[c], &width);
            rest = cell + 1 + bytes;
        }
        int blanks = width < fitted->widths[c] ? (int)(fitted->widths[c] - width) : 0;
        if (c >= table->left) ss_text_appendf(text, "%*s", blanks, "");
        if (style) ss_text_append(text, ss_out_style(out, style));
        ss_text_append_bytes(text, cell + 1, bytes);
        if (style) ss_text_append(text, ss_out_style(out, SS_STYLE_PLAIN));
        if (c < table->left) ss_text_appendf(text, "%*s", blanks, "");
        if (c + 1 < table->columns) ss_text_appendf(text, "%*s", (int)GAP, "");
    }
    while (!text->out_of_memory && text->length && text->data[text->length - 1] == ' ')
        text->data[--text->length] = '\0';
    if (heading) ss_text_append(text, ss_out_style(out, SS_STYLE_PLAIN));
    ss_text_append(text, "\n");

    // What did not fit goes on below its beginning.
    for (rest += strspn(rest, " "); *rest; rest += strspn(rest, " ")) {
        size_t width, bytes = words_within(rest, fitted->widths[fitted->wrapped], &width);
        ss_text_appendf(text, "%*s", (int)offset_of(table, fitted, fitted->wrapped), "");
        ss_text_append_bytes(text, rest, bytes);
        ss_text_append(text, "\n");
        rest += bytes;
    }
    return cell;
}

void ss_table_print(ss_table *table, ss_out *out)
{
    SS_ASSERT(table->columns <= SS_TABLE_MOST_COLUMNS && table->count % (size_t)table->columns == 0);
    out->text.out_of_memory |= table->cells.out_of_memory;
    if (!table->cells.out_of_memory && table->count) {
        layout fitted = fit(table, out->columns);
        const char *cell = ss_text_get(&table->cells);
        for (size_t line = 0; line < table->count / (size_t)table->columns; line++)
            cell = print_line(table, &fitted, cell, line == 0, out);

        // "(no room for natural_map, creep [m/s]: widen the terminal)"
        ss_text words = {0};
        cell = ss_text_get(&table->cells);
        for (int c = 0; c < table->columns; c++, cell = next(cell))
            if (fitted.hidden[c])
                ss_text_appendf(&words, "%s%s", words.length ? ", " : "(no room for ", cell + 1);
        if (words.length) {
            ss_text_append(&words, ": widen the terminal)");
            ss_out_paragraph(out, INDENT, ss_text_get(&words));
        }
        out->text.out_of_memory |= words.out_of_memory;
        ss_text_free(&words);
    }
    ss_text_free(&table->cells);
}
