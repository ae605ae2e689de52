/* Wavefront .obj: the lines v and f; everything else is left out. */
#include "model/mesh_read.h"

#include "base/number.h"

#include <limits.h>
#include <string.h>

static bool read_vertex(ss_mesh_text *line, ss_mesh_builder *builder, ss_error *err)
{
    double position[3];
    ss_mesh_word word;
    for (int k = 0; k < 3; k++) {
        if (!ss_mesh_next_word(line, &word))
            return ss_fail(err, SS_ERROR_INPUT, "a vertex with %d coordinates, must be 3", k);
        if (!ss_mesh_read_number(&word, &position[k], err)) return false;
    }
    return ss_mesh_add_vertex(builder, position, err);
}

/* "7", "7/1", "7/1/4" and "7//4" are vertex 7; negative numbers count back from the last vertex
 * before the line. */
static bool read_face(ss_mesh_text *line, ss_mesh_builder *builder, ss_error *err)
{
    ss_mesh_word word;
    int number, vertices = builder->vertex_count;
    while (ss_mesh_next_word(line, &word)) {
        char *slash = strchr(word.text, '/');
        if (slash) *slash = '\0';
        if (!ss_integer_read(word.text, &number))
            return ss_fail(err, SS_ERROR_INPUT, "\"%.40s\" is not a vertex number", word.text);
        if (number == 0 || number == INT_MIN)
            return ss_fail(err, SS_ERROR_INPUT, "vertex %d: vertices are counted from 1", number);
        if (number < 0 && -number > vertices)
            return ss_fail(err, SS_ERROR_INPUT, "vertex %d, but there are only %d before this line", number,
                           vertices);
        if (!ss_mesh_add_corner(builder, number > 0 ? number - 1 : vertices + number, err)) return false;
    }
    return ss_mesh_end_polygon(builder, line->line, err);
}

ss_mesh *ss_mesh_parse_obj(ss_mesh_text *text, ss_error *err)
{
    ss_mesh_builder builder = {.counts_from = 1};
    ss_mesh_text line;
    ss_mesh_word keyword;
    ss_mesh *mesh = NULL;
    bool good = true;
    while (good && ss_mesh_next_joined_line(text, &line)) {
        const char *comment = memchr(line.at, '#', (size_t)(line.end - line.at));
        if (comment) line.end = comment;

        /* Texture coordinates, normals, groups and materials mean nothing here. */
        if (!ss_mesh_next_word(&line, &keyword)) continue;
        if (strcmp(keyword.text, "v") == 0)
            good = read_vertex(&line, &builder, err);
        else if (strcmp(keyword.text, "f") == 0)
            good = read_face(&line, &builder, err);
        if (!good) ss_mesh_fail_at(text, line.line, err);
    }
    if (good) mesh = ss_mesh_build(&builder, text, err);
    ss_mesh_builder_free(&builder);
    return mesh;
}
