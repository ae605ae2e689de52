/* model/mesh_read.h - what the readers of mesh files share: the text, its lines and tokens, and a builder
 * that takes polygons and gives triangles. */
#ifndef SS_MODEL_MESH_READ_H
#define SS_MODEL_MESH_READ_H

#include <stickslip/model.h>

/* Bytes of a file that was read whole, and where the reader is. */
typedef struct ss_mesh_text {
    const char *name; /* of the file, for errors */
    const char *at, *end;
    int line; /* of the last line that was taken, from 1 */
} ss_mesh_text;

/* The next line without its end; false at the end of the text. */
bool ss_mesh_next_line(ss_mesh_text *text, ss_mesh_text *line);
/* The same, but a line that ends with a backslash goes on in the next one, which is no end of it. */
bool ss_mesh_next_joined_line(ss_mesh_text *text, ss_mesh_text *line);

/* The next word between blanks; false when there is none. What does not fit is cut, which no
 * number survives. */
typedef struct ss_mesh_word {
    char text[128];
} ss_mesh_word;
bool ss_mesh_next_word(ss_mesh_text *line, ss_mesh_word *word);
bool ss_mesh_is_word(const ss_mesh_word *word, const char *lower_case); /* upper and lower case alike */
/* Fails with the word quoted unless it is a finite number. */
bool ss_mesh_read_number(const ss_mesh_word *word, double *value, ss_error *err);
/* Puts "file:line: " before an error. */
bool ss_mesh_fail_at(const ss_mesh_text *text, int line, ss_error *err);

/* ---- the mesh in the making ------------------------------------------------------------------------- */

typedef struct ss_mesh_polygon {
    int first, size; /* corner[first .. first + size - 1] */
    int line;        /* where it stands in the file */
} ss_mesh_polygon;

typedef struct ss_mesh_builder {
    int vertex_count, vertex_capacity;
    double (*vertex)[3];
    int corner_count, corner_capacity;
    int *corner;
    int polygon_count, polygon_capacity;
    ss_mesh_polygon *polygon;
    int counts_from; /* the number that the file has for the first vertex, for errors */
} ss_mesh_builder;

bool ss_mesh_add_vertex(ss_mesh_builder *builder, const double position[3], ss_error *err);
bool ss_mesh_add_corner(ss_mesh_builder *builder, int vertex, ss_error *err);
/* All corners that were added since the last polygon. */
bool ss_mesh_end_polygon(ss_mesh_builder *builder, int line, ss_error *err);
/* Corners are vertex numbers from 0 on. Polygons are cut into triangles; dents are allowed. */
ss_mesh *ss_mesh_build(const ss_mesh_builder *builder, const ss_mesh_text *text, ss_error *err);
void ss_mesh_builder_free(ss_mesh_builder *builder);

/* `corners` vertices around a polygon into corners - 2 triangles. False with an error when out of memory, or
 * when a dented polygon has too many corners. */
bool ss_polygon_cut(const double (*vertex)[3], const int *corner, int corners, int (*triangle)[3],
                    ss_error *err);

/* ---- formats ---------------------------------------------------------------------------------------- */

ss_mesh *ss_mesh_parse_obj(ss_mesh_text *text, ss_error *err);
ss_mesh *ss_mesh_parse_stl(ss_mesh_text *text, ss_error *err);
ss_mesh *ss_mesh_parse_poly(ss_mesh_text *text, ss_error *err);

#endif
