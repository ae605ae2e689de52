/* .stl, text and binary. It has three corners for every triangle; those at the same place
 * become one vertex. */
#include "model/mesh_read.h"

#include <math.h>
#include <string.h>

/* ---- joining equal vertices ------------------------------------------------------------------------- */

/* Open addressing, at most half full; entries are vertex number + 1. */
typedef struct joining {
    ss_mesh_builder builder;
    int *table;
    size_t size; /* a power of two */
} joining;

/* The slot of this position: that of an equal vertex, or a free one. */
static int *find_slot(const joining *j, const double position[3])
{
    uint64_t hash = 0;
    for (int k = 0; k < 3; k++) {
        double value = position[k] + 0.0; // -0 and 0 are the same place
        uint64_t bits;
        memcpy(&bits, &value, sizeof bits);
        hash = (hash ^ bits) * 0x9E3779B97F4A7C15u;
        hash ^= hash >> 29;
    }

    for (size_t place = (size_t)hash & (j->size - 1);; place = (place + 1) & (j->size - 1)) {
        int *slot = &j->table[place];
        if (!*slot) return slot;
        const double *there = j->builder.vertex[*slot - 1];
        if (there[0] == position[0] && there[1] == position[1] && there[2] == position[2]) return slot;
    }
}

static bool add_corner(joining *j, const double position[3], ss_error *err)
{
    /* A table that would be more than half full is made again, twice as large. */
    if (2 * (size_t)j->builder.vertex_count >= j->size) {
        size_t size = j->size ? 2 * j->size : 64;
        int *table = ss_allocate(size, sizeof *table);
        if (!table)
            return ss_fail(err, SS_ERROR_RESOURCES, "out of memory after %d vertices",
                           j->builder.vertex_count);
        ss_release(j->table);
        j->table = table;
        j->size = size;
        for (int i = 0; i < j->builder.vertex_count; i++) *find_slot(j, j->builder.vertex[i]) = i + 1;
    }

    int *slot = find_slot(j, position);
    if (!*slot) {
        if (!ss_mesh_add_vertex(&j->builder, position, err)) return false;
        *slot = j->builder.vertex_count;
    }
    return ss_mesh_add_corner(&j->builder, *slot - 1, err);
}

/* ---- binary ----------------------------------------------------------------------------------------- */

enum { HEADER = 84, TRIANGLE = 50 };

static uint32_t little_endian(const char *from)
{
    uint32_t value = 0;
    for (int i = 3; i >= 0; i--) value = value << 8 | (unsigned char)from[i];
    return value;
}

static size_t binary_size(const ss_mesh_text *text)
{
    return HEADER + (size_t)TRIANGLE * little_endian(text->at + 80);
}

static bool read_binary_triangle(joining *j, const char *from, ss_error *err)
{
    for (int corner = 0; corner < 3; corner++) {
        double position[3];
        for (int k = 0; k < 3; k++) {
            uint32_t bits = little_endian(from + 12 + 12 * corner + 4 * k); // after the normal
            float value;
            memcpy(&value, &bits, sizeof value);
            position[k] = value;
            if (!isfinite(position[k]))
                return ss_fail(err, SS_ERROR_INPUT, "corner %d: %c is %g", corner, "xyz"[k], position[k]);
        }
        if (!add_corner(j, position, err)) return false;
    }
    return ss_mesh_end_polygon(&j->builder, 0, err);
}

static bool read_binary(joining *j, const ss_mesh_text *text, ss_error *err)
{
    size_t size = (size_t)(text->end - text->at);
    if (size < HEADER)
        return ss_fail(err, SS_ERROR_INPUT, "%s: %zu bytes; neither text nor a binary header of %d",
                       text->name, size, HEADER);
    if (size < binary_size(text))
        return ss_fail(err, SS_ERROR_INPUT, "%s: is cut off: %u triangles need %zu bytes, it has %zu",
                       text->name, (unsigned)little_endian(text->at + 80), binary_size(text), size);
    uint32_t count = little_endian(text->at + 80);
    for (uint32_t i = 0; i < count; i++)
        if (!read_binary_triangle(j, text->at + HEADER + (size_t)TRIANGLE * i, err))
            return ss_fail_in(err, "%s: triangle %u", text->name, (unsigned)i);
    return true;
}

/* ---- text ------------------------------------------------------------------------------------------- */

/* The next word of the file, over the ends of lines; text->line says where it is. */
static bool next_word(ss_mesh_text *text, ss_mesh_text *line, ss_mesh_word *word)
{
    while (!ss_mesh_next_word(line, word))
        if (!ss_mesh_next_line(text, line)) return false;
    return true;
}

static bool expect(ss_mesh_text *text, ss_mesh_text *line, const char *keyword, ss_error *err)
{
    ss_mesh_word word;
    if (!next_word(text, line, &word))
        return ss_fail(err, SS_ERROR_INPUT, "ends where \"%s\" was expected", keyword);
    return ss_mesh_is_word(&word, keyword) ||
           ss_fail(err, SS_ERROR_INPUT, "\"%.40s\" where \"%s\" was expected", word.text, keyword);
}

static bool read_facet(joining *j, ss_mesh_text *text, ss_mesh_text *line, ss_error *err)
{
    static const char *const ends_early = "ends where a number was expected";
    ss_mesh_word word;
    int at = text->line;

    /* Normals are not used, and some programs write nan for them: three words of any kind. */
    if (!expect(text, line, "normal", err)) return false;
    for (int k = 0; k < 3; k++)
        if (!next_word(text, line, &word)) return ss_fail(err, SS_ERROR_INPUT, "%s", ends_early);

    if (!expect(text, line, "outer", err) || !expect(text, line, "loop", err)) return false;
    for (int corner = 0; corner < 3; corner++) {
        double position[3];
        if (!expect(text, line, "vertex", err)) return false;
        for (int k = 0; k < 3; k++) {
            if (!next_word(text, line, &word)) return ss_fail(err, SS_ERROR_INPUT, "%s", ends_early);
            if (!ss_mesh_read_number(&word, &position[k], err)) return false;
        }
        if (!add_corner(j, position, err)) return false;
    }
    return expect(text, line, "endloop", err) && expect(text, line, "endfacet", err) &&
           ss_mesh_end_polygon(&j->builder, at, err);
}

static bool read_words(joining *j, ss_mesh_text *text, ss_error *err)
{
    ss_mesh_text line = {.name = text->name, .at = text->at, .end = text->at};
    ss_mesh_word word;
    while (next_word(text, &line, &word)) {
        if (ss_mesh_is_word(&word, "facet")) {
            if (!read_facet(j, text, &line, err)) return false;
        } else if (ss_mesh_is_word(&word, "solid") || ss_mesh_is_word(&word, "endsolid"))
            line.at = line.end; // its name
        else
            return ss_fail(err, SS_ERROR_INPUT, "\"%.40s\" where \"facet\" was expected", word.text);
    }
    return true;
}

/* Binary headers may begin with "solid" too: the size decides. */
static bool is_text(const ss_mesh_text *text)
{
    ss_mesh_text start = *text;
    ss_mesh_word word;
    size_t size = (size_t)(text->end - text->at);
    if (size >= HEADER && binary_size(text) == size) return false;
    return ss_mesh_next_word(&start, &word) && ss_mesh_is_word(&word, "solid");
}

ss_mesh *ss_mesh_parse_stl(ss_mesh_text *text, ss_error *err)
{
    joining j = {0};
    ss_mesh *mesh = NULL;
    bool good = is_text(text) ? read_words(&j, text, err) || ss_mesh_fail_at(text, text->line, err)
                              : read_binary(&j, text, err);
    if (good) mesh = ss_mesh_build(&j.builder, text, err);
    ss_mesh_builder_free(&j.builder);
    ss_release(j.table);
    return mesh;
}
