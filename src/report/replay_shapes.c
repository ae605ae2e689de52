/* Shapes as the page draws them: simple solids by their sizes, everything else as triangles. */
#include "report/replay_internal.h"

#include <math.h>

/* Single precision is what a graphics card takes. */
static void put_vertex(ss_json *json, double value)
{
    ss_json_real(json, ss_replay_rounded(value));
}

static void put_mesh(ss_json *json, const ss_mesh *mesh)
{
    ss_json_begin_object(json);
    ss_json_key(json, "vertices");
    ss_json_begin_array(json);
    for (int v = 0; v < mesh->vertex_count; v++)
        for (int k = 0; k < 3; k++) put_vertex(json, mesh->vertex[v][k]);
    ss_json_end_array(json);
    ss_json_key(json, "triangles");
    ss_json_integers(json, mesh->face[0], 3 * (size_t)mesh->face_count);
    ss_json_end_object(json);
}

/* Two triangles for every cell of the grid, seen from above. */
static void put_grid_triangles(ss_json *json, int nx, int ny)
{
    ss_json_begin_array(json);
    for (int j = 0; j + 1 < ny; j++)
        for (int i = 0; i + 1 < nx; i++) {
            const int a = j * nx + i, cell[6] = {a, a + 1, a + nx + 1, a, a + nx + 1, a + nx};
            for (int k = 0; k < 6; k++) ss_json_integer(json, cell[k]);
        }
    ss_json_end_array(json);
}

static void put_heightfield(ss_json *json, const ss_shape *shape)
{
    int nx = shape->nx, ny = shape->ny;
    ss_json_begin_object(json);
    ss_json_key(json, "vertices");
    ss_json_begin_array(json);
    for (int j = 0; j < ny; j++)
        for (int i = 0; i < nx; i++) {
            put_vertex(json, (i - 0.5 * (nx - 1)) * shape->size[0]);
            put_vertex(json, (j - 0.5 * (ny - 1)) * shape->size[1]);
            put_vertex(json, shape->heights[(size_t)j * (size_t)nx + (size_t)i]);
        }
    ss_json_end_array(json);
    ss_json_key(json, "triangles");
    put_grid_triangles(json, nx, ny);
    ss_json_end_object(json);
}

/* Its number among the meshes: those of the file first, then the heightfields. */
static int mesh_number(const ss_shapes *shapes, const ss_shape *shape, int *fields)
{
    if (shape->kind == SS_HEIGHTFIELD) return shapes->mesh_count + (*fields)++;
    for (int m = 0; shape->mesh && m < shapes->mesh_count; m++)
        if (shapes->meshes[m] == shape->mesh) return m;
    return -1;
}

static void put_shape(ss_json *json, const ss_stored_shape *stored, int mesh)
{
    const ss_shape *shape = &stored->shape;
    ss_json_begin_object(json);
    ss_json_key(json, "kind"), ss_json_string(json, ss_shape_kind_name(shape->kind));
    ss_json_key(json, "id"), ss_json_integer(json, stored->id);
    ss_json_key(json, "scenery"), ss_json_integer(json, stored->scenery);
    ss_json_key(json, "size"), ss_json_reals(json, shape->size, 3);
    ss_json_key(json, "position"), ss_json_reals(json, shape->position, 3);
    ss_json_key(json, "quaternion"), ss_json_reals(json, shape->quaternion, 4);
    ss_json_key(json, "colour"), ss_json_integer(json, shape->colour);
    ss_json_key(json, "mesh"), ss_json_integer(json, mesh);
    ss_json_key(json, "ghost"), ss_json_bool(json, shape->ghost);
    ss_json_end_object(json);
}

void ss_replay_shapes_json(const ss_shapes *shapes, ss_json *json)
{
    int fields = 0;
    ss_json_key(json, "shapes");
    ss_json_begin_array(json);
    for (int i = 0; i < shapes->count; i++)
        put_shape(json, &shapes->items[i], mesh_number(shapes, &shapes->items[i].shape, &fields));
    ss_json_end_array(json);
    ss_json_key(json, "meshes");
    ss_json_begin_array(json);
    for (int m = 0; m < shapes->mesh_count; m++) put_mesh(json, shapes->meshes[m]);
    for (int i = 0; i < shapes->count; i++)
        if (shapes->items[i].shape.kind == SS_HEIGHTFIELD) put_heightfield(json, &shapes->items[i].shape);
    ss_json_end_array(json);
}
