/* .poly of RPI-MATLAB-Simulator: a number of vertices, a line for each, a number of faces, a line for each.
 * Comments begin with #, % or //. A vertex may have an index before its coordinates and brackets around them;
 * coordinates may be expressions. Faces count from 0 or from 1, whichever fits. A letter before a line, as in
 * .obj, is allowed. */
#include "model/mesh_read.h"

#include "model/expression.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

typedef struct reading {
    ss_mesh_text *text;
    ss_mesh_builder builder;
    int columns; /* of a vertex line: 3, or 4 with an index; 0 = not known yet */
    int base;    /* first index of a vertex; -1 = not known */
} reading;

/* ---- lines ------------------------------------------------------------------------------------------ */

static bool is_separator(char c)
{
    return c == '\0' || c == ',' || c == ';' || c == '[' || c == ']' || isspace((unsigned char)c);
}

/* The next item of a line; blanks inside of parentheses do not end it and are left out. */
static bool next_item(ss_mesh_text *line, ss_mesh_word *word)
{
    size_t length = 0;
    int depth = 0;
    while (line->at < line->end && is_separator(*line->at)) line->at++;
    for (; line->at < line->end && (depth > 0 || !is_separator(*line->at)); line->at++) {
        depth += (*line->at == '(') - (*line->at == ')');
        if (!is_separator(*line->at) && length + 1 < sizeof word->text) word->text[length++] = *line->at;
    }
    word->text[length] = '\0';
    return length > 0;
}

/* The next line with anything on it, without comment and letter; false at the end of the file. */
static bool next_line(reading *r, ss_mesh_text *line)
{
    ss_mesh_word word;
    while (ss_mesh_next_line(r->text, line)) {
        for (const char *c = line->at; c < line->end; c++)
            if (*c == '#' || *c == '%' || (c + 1 < line->end && c[0] == '/' && c[1] == '/')) line->end = c;

        ss_mesh_text look = *line;
        if (!next_item(&look, &word)) continue;
        if (ss_mesh_is_word(&word, "v") || ss_mesh_is_word(&word, "f")) *line = look;
        return true;
    }
    return false;
}

static bool read_value(const ss_mesh_word *word, double *value, ss_error *err)
{
    if (strlen(word->text) + 1 == sizeof word->text)
        return ss_fail(err, SS_ERROR_INPUT, "\"%.40s...\" is too long", word->text);
    if (!ss_expression_read(word->text, value))
        return ss_fail(err, SS_ERROR_INPUT, "\"%.40s\" is not a number", word->text);
    return isfinite(*value) || ss_fail(err, SS_ERROR_INPUT, "\"%.40s\" is not finite", word->text);
}

static bool read_whole(const ss_mesh_word *word, int *value, ss_error *err)
{
    double real;
    if (!read_value(word, &real, err)) return false;
    if (real != floor(real) || fabs(real) > 1e9)
        return ss_fail(err, SS_ERROR_INPUT, "\"%.40s\" is not a whole number", word->text);
    *value = (int)real;
    return true;
}

/* ---- the two parts ---------------------------------------------------------------------------------- */

static bool read_vertex(reading *r, ss_mesh_text *line, ss_error *err)
{
    double values[4];
    int count = 0;
    ss_mesh_word word;
    while (count < 4 && next_item(line, &word))
        if (!read_value(&word, &values[count++], err)) return false;
    if (next_item(line, &word)) return ss_fail(err, SS_ERROR_INPUT, "a vertex with more than four numbers");

    /* The first vertex settles whether there are indices, and its index what they count from. */
    if (r->columns == 0) r->columns = count < 4 ? 3 : 4;
    if (count != r->columns)
        return ss_fail(err, SS_ERROR_INPUT, "a vertex with %d numbers, must be %d", count, r->columns);
    if (count == 4) {
        double index = values[0];
        if (r->base < 0 && (index == 0.0 || index == 1.0)) r->base = (int)index;
        int expected = r->builder.vertex_count + (r->base < 0 ? 1 : r->base);
        if (index != expected)
            return ss_fail(err, SS_ERROR_INPUT, "vertex has index %g; %d was expected", index, expected);
    }
    return ss_mesh_add_vertex(&r->builder, values + count - 3, err);
}

static bool read_face(reading *r, ss_mesh_text *line, ss_error *err)
{
    ss_mesh_word word;
    int index;
    while (next_item(line, &word))
        if (!read_whole(&word, &index, err) || !ss_mesh_add_corner(&r->builder, index, err)) return false;
    return ss_mesh_end_polygon(&r->builder, line->line, err);
}

typedef bool read_item(reading *r, ss_mesh_text *line, ss_error *err);

/* A line with a number, and as many lines of items. */
static bool read_items(reading *r, const char *what, read_item *read, ss_error *err)
{
    ss_mesh_text line;
    ss_mesh_word word;
    int count;
    if (!next_line(r, &line)) return ss_fail(err, SS_ERROR_INPUT, "ends before the number of %s", what);
    if (!next_item(&line, &word) || !read_whole(&word, &count, err) || count < 1)
        return ss_fail(err, SS_ERROR_INPUT, "\"%.40s\" is not a number of %s", word.text, what);
    if (next_item(&line, &word))
        return ss_fail(err, SS_ERROR_INPUT, "\"%.40s\" after the number of %s", word.text, what);

    for (int i = 0; i < count; i++) {
        if (!next_line(r, &line))
            return ss_fail(err, SS_ERROR_INPUT, "ends after %d of %d %s", i, count, what);
        if (!read(r, &line, err)) return false;
    }
    return true;
}

ss_mesh *ss_mesh_parse_poly(ss_mesh_text *text, ss_error *err)
{
    reading r = {.text = text, .base = -1};
    ss_mesh_builder *b = &r.builder;
    ss_mesh_text rest;
    ss_mesh *mesh = NULL;
    bool good = read_items(&r, "vertices", read_vertex, err) && read_items(&r, "faces", read_face, err) &&
                (!next_line(&r, &rest) || ss_fail(err, SS_ERROR_INPUT, "continues after the last face"));
    if (good) {
        /* Corners are to count from 0. Without indices the file counts from 0 if it uses 0, else from 1. */
        if (r.base < 0) r.base = 1;
        if (r.columns == 3)
            for (int i = 0; i < b->corner_count; i++)
                if (b->corner[i] == 0) r.base = 0;
        for (int i = 0; i < b->corner_count; i++) b->corner[i] -= r.base;
        b->counts_from = r.base;
        mesh = ss_mesh_build(b, text, err);
    } else {
        ss_mesh_fail_at(text, text->line, err);
    }
    ss_mesh_builder_free(b);
    return mesh;
}
