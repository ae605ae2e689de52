/* What bodies look like: the group `shapes` of a simulation, one row per shape, its meshes one after another;
 * and the group `scenery` of a frame. */
#include "dataset/writer.h"
#include "linalg/quat.h"

#include <math.h>
#include <string.h>

/* ---- from structs to columns ---------------------------------------------------------------------- */

void ss_writer_shape_columns_free(ss_writer_shape_columns *columns)
{
    ss_release(columns->kind);
    ss_release(columns->id);
    ss_release(columns->scenery);
    ss_release(columns->colour);
    ss_release(columns->mesh);
    ss_release(columns->grid);
    ss_release(columns->mesh_size);
    ss_release(columns->triangle);
    ss_release(columns->ghost);
    ss_release(columns->size);
    ss_release(columns->position);
    ss_release(columns->quaternion);
    ss_release(columns->vertex);
    ss_release(columns->height);
    *columns = (ss_writer_shape_columns){0};
}

static bool has_mesh(const ss_shape *shape)
{
    return shape->kind == SS_HULL || shape->kind == SS_MESH;
}

/* The first shape with the same mesh: equal ones are stored once. */
static int first_with_mesh(const ss_stored_shape *shapes, int shape)
{
    const ss_mesh *b = shapes[shape].shape.mesh;
    for (int i = 0; i < shape; i++) {
        const ss_mesh *a = shapes[i].shape.mesh;
        if (!has_mesh(&shapes[i].shape)) continue;
        if (a == b || (a->vertex_count == b->vertex_count && a->face_count == b->face_count &&
                       memcmp(a->vertex, b->vertex, (size_t)a->vertex_count * sizeof *a->vertex) == 0 &&
                       memcmp(a->face, b->face, (size_t)a->face_count * sizeof *a->face) == 0))
            return i;
    }
    return shape;
}

static bool fail_shape(const char *file, int number, const char *what, ss_error *err)
{
    return ss_fail(err, SS_ERROR_USAGE, "%s: shapes[%d]: %s", file, number, what);
}

static bool check_shape(const ss_stored_shape *stored, int number, const char *file, ss_error *err)
{
    const ss_shape *shape = &stored->shape;
    if ((unsigned)shape->kind >= SS_SHAPE_KINDS) return fail_shape(file, number, "unknown kind", err);
    if (stored->id < 0 || stored->scenery < -1 || (stored->id > 0 && stored->scenery >= 0))
        return fail_shape(file, number, "must belong to a body (id > 0), to scenery (>= 0), or to neither",
                          err);
    if (has_mesh(shape) && (!shape->mesh || shape->mesh->vertex_count < 1 || shape->mesh->face_count < 1))
        return fail_shape(file, number, "needs a mesh", err);
    if (shape->kind == SS_HEIGHTFIELD && (!shape->heights || shape->nx < 2 || shape->ny < 2))
        return fail_shape(file, number, "needs heights over at least 2 x 2 points", err);
    for (int i = 0; i < 3; i++)
        if (!isfinite(shape->size[i]) || shape->size[i] < 0.0 || !isfinite(shape->position[i]))
            return fail_shape(file, number, "sizes and positions must be finite, sizes not negative", err);
    return true;
}

/* Counts what the columns must hold. The mesh numbers are found on the way. */
static bool measure(const ss_stored_shape *shapes, ss_writer_shape_columns *to, const char *file,
                    ss_error *err)
{
    int64_t vertices = 0, triangles = 0, heights = 0;
    for (int i = 0; i < to->count; i++) {
        const ss_shape *shape = &shapes[i].shape;
        if (!check_shape(&shapes[i], i, file, err)) return false;
        to->mesh[i] = -1;
        if (shape->kind == SS_HEIGHTFIELD) heights += (int64_t)shape->nx * shape->ny;
        if (!has_mesh(shape)) continue;
        int first = first_with_mesh(shapes, i);
        to->mesh[i] = first < i ? to->mesh[first] : to->mesh_count++;
        if (first < i) continue;
        vertices += shape->mesh->vertex_count;
        triangles += shape->mesh->face_count;
    }
    if (vertices > INT32_MAX || triangles > INT32_MAX || heights > INT32_MAX)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: shapes: too large", file);
    to->vertex_count = (int)vertices;
    to->triangle_count = (int)triangles;
    to->height_count = (int)heights;
    return true;
}

/* Heights in the order of the shapes, meshes in the order of their numbers. */
static void fill(const ss_stored_shape *shapes, ss_writer_shape_columns *to)
{
    int meshes = 0;
    size_t vertices = 0, triangles = 0, heights = 0;
    for (int i = 0; i < to->count; i++) {
        const ss_stored_shape *stored = &shapes[i];
        const ss_shape *shape = &stored->shape;
        ss_quat turn = ss_quat_load(shape->quaternion);
        to->kind[i] = (int32_t)shape->kind;
        to->id[i] = stored->id;
        to->scenery[i] = stored->id > 0 ? -1 : stored->scenery;
        to->colour[i] = (int32_t)(shape->colour & 0xffffff);
        to->ghost[i] = shape->ghost;
        memcpy(to->size[i], shape->size, sizeof to->size[i]);
        memcpy(to->position[i], shape->position, sizeof to->position[i]);
        ss_quat_store(ss_quat_norm(turn) > 0.0 ? turn : ss_quat_identity(), to->quaternion[i]);

        if (shape->kind == SS_HEIGHTFIELD) {
            size_t points = (size_t)shape->nx * (size_t)shape->ny;
            to->grid[i][0] = shape->nx;
            to->grid[i][1] = shape->ny;
            memcpy(to->height + heights, shape->heights, points * sizeof *to->height);
            heights += points;
        }

        if (to->mesh[i] != meshes) continue; // none, or one that is there
        const ss_mesh *mesh = shape->mesh;
        to->mesh_size[meshes][0] = mesh->vertex_count;
        to->mesh_size[meshes++][1] = mesh->face_count;
        memcpy(to->vertex + vertices, mesh->vertex, (size_t)mesh->vertex_count * sizeof *to->vertex);
        for (int f = 0; f < mesh->face_count; f++)
            for (int k = 0; k < 3; k++) to->triangle[triangles + (size_t)f][k] = mesh->face[f][k];
        vertices += (size_t)mesh->vertex_count;
        triangles += (size_t)mesh->face_count;
    }
}

bool ss_writer_gather_shapes(const ss_stored_shape *shapes, int count, const char *file,
                             ss_writer_shape_columns *columns, ss_error *err)
{
    ss_writer_shape_columns *to = columns;
    size_t n = (size_t)count;
    *to = (ss_writer_shape_columns){.count = count};
    to->kind = ss_allocate(n, sizeof *to->kind);
    to->id = ss_allocate(n, sizeof *to->id);
    to->scenery = ss_allocate(n, sizeof *to->scenery);
    to->colour = ss_allocate(n, sizeof *to->colour);
    to->mesh = ss_allocate(n, sizeof *to->mesh);
    to->grid = ss_allocate(n, sizeof *to->grid);
    to->ghost = ss_allocate(n, sizeof *to->ghost);
    to->size = ss_allocate(n, sizeof *to->size);
    to->position = ss_allocate(n, sizeof *to->position);
    to->quaternion = ss_allocate(n, sizeof *to->quaternion);
    bool rows = to->kind && to->id && to->scenery && to->colour && to->mesh && to->grid && to->ghost &&
                to->size && to->position && to->quaternion;

    /* The rest is as large as the shapes are, which are checked while they are counted. */
    bool counted = rows && measure(shapes, to, file, err), good = counted;
    if (counted) {
        to->mesh_size = ss_allocate((size_t)to->mesh_count, sizeof *to->mesh_size);
        to->vertex = ss_allocate((size_t)to->vertex_count, sizeof *to->vertex);
        to->triangle = ss_allocate((size_t)to->triangle_count, sizeof *to->triangle);
        to->height = ss_allocate((size_t)to->height_count, sizeof *to->height);
        good = to->mesh_size && to->vertex && to->triangle && to->height;
    }
    if (good)
        fill(shapes, to);
    else if (!rows || counted)
        ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory for %d shapes", file, count);
    if (!good) ss_writer_shape_columns_free(to);
    return good;
}

/* ---- to the file ---------------------------------------------------------------------------------- */

static bool put(const ss_h5_group *group, const char *name, ss_h5_type type, int rows, uint64_t columns,
                const void *values, const char *unit, ss_error *err)
{
    return ss_h5_write_table(group, name, type, (uint64_t)rows, columns, values, err) &&
           (!unit || ss_h5_mark(group, name, "unit", unit, err));
}

bool ss_writer_put_shapes(const ss_h5_group *simulation, const ss_writer_shape_columns *columns,
                          ss_error *err)
{
    const ss_writer_shape_columns *c = columns;
    ss_h5_group group;
    if (!ss_h5_make_group(simulation, "shapes", &group, err)) return false;

    /* "0 sphere, 1 plane, ...": what the numbers stand for. */
    char names[256] = "";
    size_t used = 0;
    for (int k = 0; k < SS_SHAPE_KINDS; k++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%d %s", k ? ", " : "", k,
                                 ss_shape_kind_name((ss_shape_kind)k));

    bool good = put(&group, "kinds", SS_H5_I32, c->count, 1, c->kind, NULL, err) &&
                ss_h5_mark(&group, "kinds", "names", names, err) &&
                put(&group, "bodies", SS_H5_I32, c->count, 1, c->id, NULL, err) &&
                put(&group, "scenery", SS_H5_I32, c->count, 1, c->scenery, NULL, err) &&
                put(&group, "sizes", SS_H5_F64, c->count, 3, c->size, "m", err) &&
                put(&group, "positions", SS_H5_F64, c->count, 3, c->position, "m", err) &&
                put(&group, "quaternions", SS_H5_F64, c->count, 4, c->quaternion, "1", err) &&
                put(&group, "colours", SS_H5_I32, c->count, 1, c->colour, NULL, err) &&
                put(&group, "ghosts", SS_H5_U8, c->count, 1, c->ghost, NULL, err);
    if (good && c->mesh_count > 0)
        good = put(&group, "meshes", SS_H5_I32, c->count, 1, c->mesh, NULL, err) &&
               put(&group, "mesh_sizes", SS_H5_I32, c->mesh_count, 2, c->mesh_size, NULL, err) &&
               put(&group, "vertices", SS_H5_F64, c->vertex_count, 3, c->vertex, "m", err) &&
               put(&group, "triangles", SS_H5_I32, c->triangle_count, 3, c->triangle, NULL, err);
    if (good && c->height_count > 0)
        good = put(&group, "grids", SS_H5_I32, c->count, 2, c->grid, NULL, err) &&
               put(&group, "heights", SS_H5_F64, c->height_count, 1, c->height, "m", err);
    ss_h5_leave_group(&group);
    return good;
}

bool ss_writer_put_scenery(const ss_h5_group *frame, const ss_scenery *scenery, ss_error *err)
{
    ss_h5_group group;
    if (!ss_h5_make_group(frame, "scenery", &group, err)) return false;
    bool good = put(&group, "positions", SS_H5_F64, scenery->count, 3, scenery->position, NULL, err) &&
                put(&group, "quaternions", SS_H5_F64, scenery->count, 4, scenery->quaternion, NULL, err);
    ss_h5_leave_group(&group);
    return good;
}

/* ---- a world -------------------------------------------------------------------------------------- */

bool ss_writer_world(ss_writer *writer, const ss_world *world, ss_error *err)
{
    int count = ss_world_shape_count(world);
    ss_stored_shape *shapes = ss_allocate((size_t)count, sizeof *shapes);
    if (!shapes) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d shapes", count);

    for (int i = 0; i < count; i++) {
        ss_shape *shape = &shapes[i].shape;
        *shape = *ss_world_shape(world, i);
        shapes[i].scenery = -1;
        const ss_body *body = ss_world_body(world, shape->body); // NULL for the world
        if (body && body->kind == SS_DYNAMIC) {
            shapes[i].id = shape->body + 1;
        } else if (body && body->kind == SS_KINEMATIC) {
            /* Scenery is numbered by the kinematic bodies before it. */
            shapes[i].scenery = 0;
            for (int b = 0; b < shape->body; b++)
                shapes[i].scenery += ss_world_body(world, b)->kind == SS_KINEMATIC;
        } else if (body) {
            ss_quat turn = ss_quat_normalise(ss_quat_load(body->quaternion));
            ss_quat own = ss_quat_normalise(ss_quat_load(shape->quaternion));
            ss_vec3 at = ss_quat_rotate(turn, ss_vec3_load(shape->position));
            ss_vec3_store(ss_vec3_add(ss_vec3_load(body->position), at), shape->position);
            ss_quat_store(ss_quat_multiply(turn, own), shape->quaternion);
        }
    }
    bool good = ss_writer_shapes(writer, shapes, count, err);
    ss_release(shapes);
    return good;
}
