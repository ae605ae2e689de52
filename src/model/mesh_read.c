/* Reading mesh files: the file as a whole, its lines and words, and the mesh in the making. */
#include "model/mesh_read.h"

#include "base/number.h"
#include "model/array.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- files ------------------------------------------------------------------------------------------ */

typedef struct bytes {
    char *data;
    int size, capacity;
} bytes;

static bool read_file(const char *path, bytes *b, ss_error *err)
{
    FILE *file = fopen(path, "rb");
    bool good = file || ss_fail(err, SS_ERROR_INPUT, "cannot be opened: %s", strerror(errno));
    while (good && !feof(file)) {
        char *larger = ss_array_grow(b->data, b->size, &b->capacity, 1);
        if (larger) {
            b->data = larger;
            b->size += (int)fread(b->data + b->size, 1, (size_t)(b->capacity - b->size), file);
            if (ferror(file)) good = ss_fail(err, SS_ERROR_INPUT, "cannot be read: %s", strerror(errno));
        } else {
            good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory after %d bytes", b->size);
        }
    }
    if (file) fclose(file);
    return good || ss_fail_in(err, "%s", path);
}

ss_mesh *ss_mesh_read(const char *path, ss_error *err)
{
    /* The format is that of the file's name. */
    static const struct {
        const char *suffix;
        ss_mesh *(*parse)(ss_mesh_text *text, ss_error *err);
    } formats[] = {{".obj", ss_mesh_parse_obj}, {".stl", ss_mesh_parse_stl}, {".poly", ss_mesh_parse_poly}};
    const char *dot = strrchr(path, '.');
    int format = 0;
    while (dot && format < 3 && strcasecmp(dot, formats[format].suffix) != 0) format++;
    if (!dot || format == 3) {
        ss_fail(err, SS_ERROR_USAGE, "%s: not a mesh file: its name must end in .obj, .stl or .poly", path);
        return NULL;
    }

    bytes b = {0};
    ss_mesh *mesh = NULL;
    if (read_file(path, &b, err)) {
        ss_mesh_text text = {.name = path, .at = b.data, .end = b.data + b.size};
        mesh = formats[format].parse(&text, err);
    }
    ss_release(b.data);
    return mesh;
}

/* ---- lines and words -------------------------------------------------------------------------------- */

bool ss_mesh_next_line(ss_mesh_text *text, ss_mesh_text *line)
{
    if (text->at == text->end) return false;
    const char *stop = memchr(text->at, '\n', (size_t)(text->end - text->at));
    text->line++;
    *line = (ss_mesh_text){text->name, text->at, stop ? stop : text->end, text->line};
    text->at = stop ? stop + 1 : text->end;
    return true;
}

bool ss_mesh_next_joined_line(ss_mesh_text *text, ss_mesh_text *line)
{
    if (!ss_mesh_next_line(text, line)) return false;
    for (ss_mesh_text last = *line;; line->end = last.end) {
        const char *end = last.end; // before the line end of a file from Windows
        while (end > last.at && end[-1] == '\r') end--;
        if (end == last.at || end[-1] != '\\' || !ss_mesh_next_line(text, &last)) return true;
    }
}

static bool is_blank(char c)
{
    return c == '\0' || c == '\\' || isspace((unsigned char)c);
}

bool ss_mesh_next_word(ss_mesh_text *line, ss_mesh_word *word)
{
    size_t length = 0;
    while (line->at < line->end && is_blank(*line->at)) line->at++;
    for (; line->at < line->end && !is_blank(*line->at); line->at++)
        if (length + 1 < sizeof word->text) word->text[length++] = *line->at;
    word->text[length] = '\0';
    return length > 0;
}

bool ss_mesh_is_word(const ss_mesh_word *word, const char *lower_case)
{
    return strcasecmp(word->text, lower_case) == 0;
}

bool ss_mesh_read_number(const ss_mesh_word *word, double *value, ss_error *err)
{
    if (!ss_number_read(word->text, value))
        return ss_fail(err, SS_ERROR_INPUT, "\"%.40s\" is not a number", word->text);
    return isfinite(*value) || ss_fail(err, SS_ERROR_INPUT, "\"%.40s\" is not finite", word->text);
}

bool ss_mesh_fail_at(const ss_mesh_text *text, int line, ss_error *err)
{
    return ss_fail_in(err, "%s:%d", text->name, line);
}

/* ---- the mesh in the making ------------------------------------------------------------------------- */

static bool out_of_memory(const ss_mesh_builder *b, ss_error *err)
{
    return ss_fail(err, SS_ERROR_RESOURCES, "out of memory after %d vertices and %d faces", b->vertex_count,
                   b->polygon_count);
}

bool ss_mesh_add_vertex(ss_mesh_builder *b, const double position[3], ss_error *err)
{
    double(*vertex)[3] = ss_array_grow(b->vertex, b->vertex_count, &b->vertex_capacity, sizeof *vertex);
    if (!vertex) return out_of_memory(b, err);
    b->vertex = vertex;
    memcpy(vertex[b->vertex_count++], position, sizeof *vertex);
    return true;
}

bool ss_mesh_add_corner(ss_mesh_builder *b, int vertex, ss_error *err)
{
    int *corner = ss_array_grow(b->corner, b->corner_count, &b->corner_capacity, sizeof *corner);
    if (!corner) return out_of_memory(b, err);
    b->corner = corner;
    corner[b->corner_count++] = vertex;
    return true;
}

bool ss_mesh_end_polygon(ss_mesh_builder *b, int line, ss_error *err)
{
    const ss_mesh_polygon *last = b->polygon_count ? &b->polygon[b->polygon_count - 1] : NULL;
    int first = last ? last->first + last->size : 0, size = b->corner_count - first;
    if (size < 3) return ss_fail(err, SS_ERROR_INPUT, "a face with %d corners, must be at least 3", size);
    ss_mesh_polygon *polygon =
        ss_array_grow(b->polygon, b->polygon_count, &b->polygon_capacity, sizeof *polygon);
    if (!polygon) return out_of_memory(b, err);
    b->polygon = polygon;
    polygon[b->polygon_count++] = (ss_mesh_polygon){first, size, line};
    return true;
}

void ss_mesh_builder_free(ss_mesh_builder *b)
{
    ss_release(b->vertex);
    ss_release(b->corner);
    ss_release(b->polygon);
    *b = (ss_mesh_builder){0};
}

static bool cut_polygons(const ss_mesh_builder *b, const ss_mesh_text *text, ss_mesh *mesh, ss_error *err)
{
    int face = 0;
    for (int p = 0; p < b->polygon_count; p++) {
        const ss_mesh_polygon *polygon = &b->polygon[p];
        const int *corner = b->corner + polygon->first;
        bool good = true;
        for (int k = 0; good && k < polygon->size; k++)
            if (corner[k] < 0 || corner[k] >= b->vertex_count)
                good = ss_fail(err, SS_ERROR_INPUT, "vertex %lld; there are %d",
                               (long long)corner[k] + b->counts_from, b->vertex_count);
        if (!good ||
            !ss_polygon_cut((const double(*)[3])b->vertex, corner, polygon->size, mesh->face + face, err))
            return ss_mesh_fail_at(text, polygon->line, err);
        face += polygon->size - 2;
    }
    return true;
}

ss_mesh *ss_mesh_build(const ss_mesh_builder *b, const ss_mesh_text *text, ss_error *err)
{
    if (b->polygon_count == 0) {
        ss_fail(err, SS_ERROR_INPUT, "%s: holds no faces", text->name);
        return NULL;
    }
    ss_mesh *mesh = ss_mesh_create(b->vertex_count, b->corner_count - 2 * b->polygon_count, err);
    if (!mesh) {
        ss_fail_in(err, "%s", text->name);
        return NULL;
    }
    if (b->vertex_count) memcpy(mesh->vertex, b->vertex, (size_t)b->vertex_count * sizeof *b->vertex);
    if (cut_polygons(b, text, mesh, err)) return mesh;
    ss_mesh_destroy(mesh);
    return NULL;
}
