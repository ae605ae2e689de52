#include "figure/data_table.h"

#include "base/number.h"
#include "figure/drawing.h"
#include "figure/font.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- making it ------------------------------------------------------------------------------------- */

static char *copy(ss_data_table *table, const char *words)
{
    char *kept = ss_arena_take(table->arena, strlen(words) + 1, 1, "words of a table");
    if (!kept)
        table->out_of_memory = true;
    else
        memcpy(kept, words, strlen(words) + 1);
    return kept;
}

void ss_data_add_column(ss_data_table *table, const char *name, ss_cell_words words)
{
    if (table->column_count == table->column_room) {
        int room = table->column_room ? 2 * table->column_room : 16;
        ss_data_column *more = ss_arena_take(table->arena, (size_t)room, sizeof *more, "columns of a table");
        if (!more) {
            table->out_of_memory = true;
            return;
        }
        if (table->column_count) memcpy(more, table->columns, (size_t)table->column_count * sizeof *more);
        table->columns = more, table->column_room = room;
    }
    char *kept = copy(table, name);
    if (kept) table->columns[table->column_count++] = (ss_data_column){kept, words};
}

static void add_cell(ss_data_table *table, ss_data_cell cell)
{
    if (table->cell_count == table->cell_room) {
        size_t room = table->cell_room ? 2 * table->cell_room : 256;
        ss_data_cell *more = ss_arena_take(table->arena, room, sizeof *more, "cells of a table");
        if (!more) {
            table->out_of_memory = true;
            return;
        }
        if (table->cell_count) memcpy(more, table->cells, table->cell_count * sizeof *more);
        table->cells = more, table->cell_room = room;
    }
    table->cells[table->cell_count++] = cell;
}

void ss_data_text(ss_data_table *table, const char *text)
{
    if (!text) {
        ss_data_number(table, NAN);
        return;
    }
    char *kept = copy(table, text);
    if (kept) add_cell(table, (ss_data_cell){.text = kept});
}

void ss_data_textf(ss_data_table *table, const char *format, ...)
{
    char words[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(words, sizeof words, format, arguments);
    va_end(arguments);
    ss_data_text(table, words);
}

void ss_data_number(ss_data_table *table, double value)
{
    add_cell(table, (ss_data_cell){.value = value});
}

void ss_data_bracketed(ss_data_table *table, double value)
{
    add_cell(table, (ss_data_cell){.value = value, .bracketed = true});
}

/* ---- CSV ------------------------------------------------------------------------------------------- */

static void put_field(ss_text *csv, const char *words)
{
    bool formula = *words && strchr("=+@\t\r-", *words), quoted = strpbrk(words, ",\"\r\n") != NULL;
    if (quoted) ss_text_append(csv, "\"");
    if (formula) ss_text_append(csv, "'");
    for (; *words; words++) {
        if (*words == '"') ss_text_append(csv, "\"");
        ss_text_append_bytes(csv, words, 1);
    }
    if (quoted) ss_text_append(csv, "\"");
}

void ss_data_csv(const ss_data_table *table, ss_text *csv)
{
    csv->out_of_memory |= table->out_of_memory;
    for (int c = 0; c < table->column_count; c++) {
        if (c) ss_text_append(csv, ",");
        put_field(csv, table->columns[c].name);
    }
    ss_text_append(csv, "\r\n");
    for (size_t i = 0; i < table->cell_count; i++) {
        const ss_data_cell *cell = &table->cells[i];
        if (i % (size_t)table->column_count) ss_text_append(csv, ",");
        if (cell->text)
            put_field(csv, cell->text);
        else if (isfinite(cell->value)) {
            char digits[SS_NUMBER_TEXT];
            ss_text_append_bytes(csv, digits, (size_t)ss_number_write(cell->value, digits));
        }
        if ((i + 1) % (size_t)table->column_count == 0) ss_text_append(csv, "\r\n");
    }
}

/* ---- numbers for readers ---------------------------------------------------------------------------- */

/* What a number looks like: digits, the exponent of ten (0: none), and a unit. */
typedef struct shown_number {
    char digits[32];
    int exponent;
    const char *unit; /* "" or "s", "ms", "us" ... with u for micro */
} shown_number;

/* Three digits, and a unit of time that fits; powers of ten where they are shorter. */
static shown_number show_number(double value, ss_cell_words words)
{
    static const struct {
        double scale;
        const char *unit;
    } units[] = {{3600.0, "h"}, {60.0, "min"}, {1.0, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {1e-9, "ns"}};
    shown_number to = {.unit = ""};
    double size = fabs(value);
    if (words == SS_CELL_PERCENT) {
        snprintf(to.digits, sizeof to.digits, "%.1f", 100.0 * value);
        to.unit = "%";
        return to;
    }

    if (words == SS_CELL_SECONDS && value > 1e-12) {
        size_t k = 0, last = sizeof units / sizeof *units - 1;
        while (k < last && value < units[k].scale * (1.0 - 5e-4)) k++;
        snprintf(to.digits, sizeof to.digits, "%#.3g", value / units[k].scale);
        to.unit = units[k].unit;
    } else if (value == 0.0 || (size >= 1e-3 && size < 1e5)) {
        bool whole = value == floor(value) || size >= 100.0;
        snprintf(to.digits, sizeof to.digits, whole ? "%.0f" : "%#.3g", value);
    } else {
        snprintf(to.digits, sizeof to.digits, "%.2e", value);
        char *e = strchr(to.digits, 'e');
        if (e) {
            ss_integer_read(e[1] == '+' ? e + 2 : e + 1, &to.exponent);
            *e = 0;
        }
        return to;
    }

    // "123." of three digits
    size_t last = strlen(to.digits) - 1;
    if (to.digits[last] == '.') to.digits[last] = 0;
    return to;
}

/* ---- LaTeX ----------------------------------------------------------------------------------------- */

void ss_text_append_tex(ss_text *tex, const char *words)
{
    static const struct {
        uint32_t character;
        const char *tex;
    } signs[] = {{'&', "\\&"},
                 {'%', "\\%"},
                 {'$', "\\$"},
                 {'#', "\\#"},
                 {'_', "\\_"},
                 {'{', "\\{"},
                 {'}', "\\}"},
                 {'~', "\\textasciitilde{}"},
                 {'^', "\\textasciicircum{}"},
                 {'\\', "\\textbackslash{}"},
                 {'<', "$<$"},
                 {'>', "$>$"},
                 {'|', "$|$"},
                 {'"', "''"},
                 {0xa0, "~"},
                 {0xb5, "$\\mu$"},
                 {0xb7, "$\\cdot$"},
                 {0xd7, "$\\times$"},
                 {0x2013, "--"},
                 {0x2014, "---"},
                 {0x2018, "`"},
                 {0x2019, "'"},
                 {0x201c, "``"},
                 {0x201d, "''"},
                 {0x2026, "\\ldots{}"},
                 {0x202f, "\\,"},
                 {0x2212, "$-$"},
                 {0x2264, "$\\leq$"},
                 {0x2265, "$\\geq$"},
                 {0x221e, "$\\infty$"},
                 {0x3bc, "$\\mu$"},
                 {'\n', " "},
                 {'\r', " "},
                 {'\t', " "}};
    while (*words) {
        const char *from = words;
        uint32_t character = ss_next_character(&words);
        const char *sign = NULL;
        for (size_t i = 0; i < sizeof signs / sizeof *signs && !sign; i++)
            if (signs[i].character == character) sign = signs[i].tex;
        if (sign)
            ss_text_append(tex, sign);
        else if (character >= 0x20 && (character < 0x7f || (character >= 0xc0 && character < 0x180)))
            ss_text_append_bytes(tex, from, (size_t)(words - from)); // LaTeX reads Latin letters as UTF-8
        else if (character >= 0x20)
            ss_text_appendf(tex, "[U+%04X]", character);
    }
}

static void put_tex_number(ss_text *tex, double value, ss_cell_words words)
{
    if (!isfinite(value)) {
        ss_text_append(tex, "--");
        return;
    }
    shown_number n = show_number(value, words);
    bool minus = n.digits[0] == '-';
    if (minus)
        ss_text_append(tex, n.exponent ? "$" : "$-$");
    else if (n.exponent)
        ss_text_append(tex, "$");
    ss_text_append(tex, n.exponent || !minus ? n.digits : n.digits + 1);
    if (n.exponent) ss_text_appendf(tex, "\\times 10^{%d}$", n.exponent);
    if (*n.unit)
        ss_text_appendf(tex, "\\,%s",
                        strcmp(n.unit, "us") == 0  ? "$\\mu$s"
                        : strcmp(n.unit, "%") == 0 ? "\\%"
                                                   : n.unit);
}

static const ss_data_cell *cell_at(const ss_data_table *table, size_t row, int column)
{
    return &table->cells[row * (size_t)table->column_count + (size_t)column];
}

static bool is_numeric(const ss_data_table *table, int column)
{
    for (size_t r = 0; r < ss_data_rows(table); r++)
        if (cell_at(table, r, column)->text) return false;
    return true;
}

static bool has_brackets(const ss_data_table *table, int columns)
{
    for (size_t r = 0; r < ss_data_rows(table); r++)
        for (int c = 0; c < columns; c++)
            if (cell_at(table, r, c)->bracketed) return true;
    return false;
}

/* About how wide words are in letters of 8 pt: ours are a little wider than LaTeX's. A character that
 * LaTeX does not have is written as its number. */
static double words_width(const char *words)
{
    double sum = 0.0;
    while (*words) {
        uint32_t character = ss_next_character(&words);
        bool known = character < 0x180 || (character >= 0x2010 && character < 0x2270) || character == 0x3bc;
        int glyph = ss_font_glyph(&ss_font_regular, character);
        sum += known ? 8.0 * ss_font_regular.advance[glyph] / ss_font_regular.units
                     : ss_font_width(&ss_font_regular, "[U+6F22]", 8.0);
    }
    return sum;
}

/* About how wide a column is. */
static double column_width(const ss_data_table *table, int column)
{
    double most = words_width(table->columns[column].name);
    for (size_t r = 0; r < ss_data_rows(table); r++) {
        const ss_data_cell *cell = cell_at(table, r, column);
        char words[64];
        if (!cell->text) {
            shown_number n =
                show_number(isfinite(cell->value) ? cell->value : 0.0, table->columns[column].words);
            snprintf(words, sizeof words, "%s%s%s%s", n.digits, n.exponent ? "x1000" : "", n.unit,
                     cell->bracketed ? "()" : "");
        }
        most = fmax(most, words_width(cell->text ? cell->text : words));
    }
    return most;
}

void ss_data_tex(const ss_data_table *table, double width_mm, ss_text *tex)
{
    const double gap = 6.0, point = 25.4 / 72.27; // twice \tabcolsep, pt; mm
    const double share = 0.45;                    // of the width: a first column that needs more is broken
    tex->out_of_memory |= table->out_of_memory;
    if (tex->out_of_memory) return;

    // the first column stays, in lines of its own where its words are long
    int columns = table->column_count;
    double room = width_mm / point, used = columns ? column_width(table, 0) : 0.0;
    bool breaks = columns > 1 && width_mm > 0.0 && used > share * room;
    if (breaks) used = share * room;
    for (int c = 1; c < columns && width_mm > 0.0; c++) {
        used += gap + column_width(table, c);
        if (used > room) columns = c;
    }

    ss_text_append(tex, "% ");
    ss_text_append_tex(tex, table->title);
    ss_text_append(tex, "\n");
    if (table->source) {
        ss_text_append(tex, "% ");
        ss_text_append_tex(tex, table->source);
        ss_text_append(tex, "\n");
    }
    ss_text_append(tex, "% needs \\usepackage{booktabs}\n");
    for (int c = columns; c < table->column_count; c++) {
        if (c == columns) ss_text_appendf(tex, "%% no room in %g mm for: ", width_mm);
        if (c > columns) ss_text_append(tex, ", ");
        ss_text_append_tex(tex, table->columns[c].name);
    }
    if (columns < table->column_count) ss_text_append(tex, "\n");

    ss_text_append(tex, "{\\footnotesize\\setlength{\\tabcolsep}{3pt}%\n\\begin{tabular}{@{}");
    if (breaks) ss_text_appendf(tex, "p{%.1fmm}", share * width_mm);
    for (int c = breaks; c < columns; c++) ss_text_append(tex, is_numeric(table, c) ? "r" : "l");
    ss_text_append(tex, "@{}}\n\\toprule\n");
    for (int c = 0; c < columns; c++) {
        if (c) ss_text_append(tex, " & ");
        ss_text_append_tex(tex, table->columns[c].name);
    }
    ss_text_append(tex, " \\\\\n\\midrule\n");

    for (size_t r = 0; r < ss_data_rows(table); r++) {
        for (int c = 0; c < columns; c++) {
            const ss_data_cell *cell = cell_at(table, r, c);
            ss_text_append(tex, c ? " & " : breaks ? "\\raggedright " : "");
            if (cell->text) {
                ss_text words = {0};
                ss_text_append_tex(&words, cell->text);
                // a bracket or star at the beginning of a row would belong to the end of the row before
                if (c == 0 && words.length && strchr("[*", words.data[0])) ss_text_append(tex, "{}");
                ss_text_append_bytes(tex, ss_text_get(&words), words.length);
                tex->out_of_memory |= words.out_of_memory;
                ss_text_free(&words);
            } else {
                if (cell->bracketed) ss_text_append(tex, "(");
                put_tex_number(tex, cell->value, table->columns[c].words);
                if (cell->bracketed) ss_text_append(tex, ")");
            }
        }
        ss_text_append(tex, " \\\\\n");
    }

    ss_text_append(tex, "\\bottomrule\n");
    if (table->note && has_brackets(table, columns)) {
        ss_text_appendf(tex, "\\multicolumn{%d}{@{}l@{}}{\\scriptsize ", columns);
        ss_text_append_tex(tex, table->note);
        ss_text_append(tex, "}\\\\\n");
    }
    ss_text_append(tex, "\\end{tabular}}\n");
}

/* ---- Markdown -------------------------------------------------------------------------------------- */

static void put_markdown(ss_text *to, const char *words)
{
    for (; *words; words++) {
        if (*words == '<')
            ss_text_append(to, "&lt;");
        else if ((unsigned char)*words < 0x20)
            ss_text_append(to, " ");
        else {
            if (strchr("\\`*_[]|&", *words)) ss_text_append(to, "\\");
            ss_text_append_bytes(to, words, 1);
        }
    }
}

void ss_data_markdown(const ss_data_table *table, ss_text *to)
{
    to->out_of_memory |= table->out_of_memory;
    if (to->out_of_memory) return;
    for (int c = 0; c < table->column_count; c++) {
        ss_text_append(to, c ? " | " : "| ");
        put_markdown(to, table->columns[c].name);
    }

    ss_text_append(to, " |\n|");
    for (int c = 0; c < table->column_count; c++)
        ss_text_append(to, is_numeric(table, c) ? " ---: |" : " --- |");
    ss_text_append(to, "\n");

    for (size_t r = 0; r < ss_data_rows(table); r++) {
        for (int c = 0; c < table->column_count; c++) {
            const ss_data_cell *cell = cell_at(table, r, c);
            ss_text_append(to, c ? " | " : "| ");
            if (cell->text)
                put_markdown(to, cell->text);
            else if (isfinite(cell->value)) {
                shown_number n = show_number(cell->value, table->columns[c].words);
                ss_text_appendf(to, "%s%s", cell->bracketed ? "(" : "", n.digits);
                if (n.exponent) ss_text_appendf(to, "e%d", n.exponent);
                if (*n.unit) ss_text_appendf(to, " %s", strcmp(n.unit, "us") == 0 ? "\xc2\xb5s" : n.unit);
                if (cell->bracketed) ss_text_append(to, ")");
            }
        }
        ss_text_append(to, " |\n");
    }

    if (table->note && has_brackets(table, table->column_count)) {
        ss_text_append(to, "\n");
        put_markdown(to, table->note);
        ss_text_append(to, "\n");
    }
    if (table->source) {
        ss_text_append(to, "\n");
        put_markdown(to, table->source);
        ss_text_append(to, "\n");
    }
}
