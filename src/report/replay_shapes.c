/* What bodies look like. Shapes as the page draws them: simple solids by their sizes, everything else as
 * triangles. When a file has none: boxes of uniform density with mass and inertia of the bodies. For boxes
 * that is what they are; for others it is about as large, and lies the same way. */
#include "report/replay_internal.h"

#include "linalg/quat.h"

#include <math.h>

/* Single precision is what a graphics card takes. */
static void put_vertex(ss_json *json, double value)
{
    ss_json_real(json, ss_replay_rounded(value));
}

void ss_replay_shapes_json(const ss_shapes *shapes, ss_json *json)
{
    // Meshes are numbered: those of the file first, then the heightfields.
    int fields = 0;
    ss_json_key(json, "shapes");
    ss_json_begin_array(json);
    for (int i = 0; i < shapes->count; i++) {
        const ss_stored_shape *stored = &shapes->items[i];
        const ss_shape *shape = &stored->shape;
        int mesh = shape->kind == SS_HEIGHTFIELD ? shapes->mesh_count + fields++ : -1;
        for (int m = 0; mesh < 0 && shape->mesh && m < shapes->mesh_count; m++)
            if (shapes->meshes[m] == shape->mesh) mesh = m;
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
    ss_json_end_array(json);

    ss_json_key(json, "meshes");
    ss_json_begin_array(json);
    for (int m = 0; m < shapes->mesh_count; m++) {
        const ss_mesh *mesh = shapes->meshes[m];
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

    // Heightfields: two triangles for every cell of the grid, seen from above.
    for (int s = 0; s < shapes->count; s++) {
        const ss_shape *shape = &shapes->items[s].shape;
        int nx = shape->nx, ny = shape->ny;
        if (shape->kind != SS_HEIGHTFIELD) continue;
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
        ss_json_begin_array(json);
        for (int j = 0; j + 1 < ny; j++)
            for (int i = 0; i + 1 < nx; i++) {
                const int a = j * nx + i, cell[6] = {a, a + 1, a + nx + 1, a, a + nx + 1, a + nx};
                for (int k = 0; k < 6; k++) ss_json_integer(json, cell[k]);
            }
        ss_json_end_array(json);
        ss_json_end_object(json);
    }
    ss_json_end_array(json);
}

/* The box of uniform density with mass and inertia of a body. */
static ss_stored_shape box_of(const ss_bodies *bodies, int body)
{
    ss_stored_shape box = {.shape = {.kind = SS_BOX}, .id = bodies->id[body], .scenery = -1};
    double moment[3], *edge = box.shape.size;
    ss_mat3 axes;
    ss_quat turned = ss_quat_load(bodies->quaternion[body]);
    ss_mat3 back = ss_mat3_transpose(ss_quat_to_matrix(turned));
    ss_mat3_eigen(ss_mat3_rotate_tensor(back, ss_mat3_load(bodies->inertia[body])), moment, &axes);
    ss_quat_store(ss_quat_from_matrix(axes), box.shape.quaternion);

    // I_x = m/12 (b^2 + c^2) and its like, solved for the edges; a thin plate has an edge of 0, which would
    // not be seen.
    double sum = moment[0] + moment[1] + moment[2], longest = 0.0;
    for (int k = 0; k < 3; k++) {
        edge[k] = sqrt(fmax(0.0, 6.0 * (sum - 2.0 * moment[k]) / bodies->mass[body]));
        longest = fmax(longest, edge[k]);
    }
    for (int k = 0; k < 3; k++) edge[k] = fmax(edge[k], 0.02 * longest);
    return box;
}

bool ss_replay_add_boxes(ss_replay *replay, const ss_frame *frame, ss_error *err)
{
    ss_shapes *shapes = &replay->shapes;
    size_t room = (size_t)shapes->count + (size_t)frame->bodies.count;
    ss_stored_shape *items = ss_allocate(room, sizeof *items);
    if (!items) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %zu boxes", room);
    for (int i = 0; i < shapes->count; i++) items[i] = shapes->items[i];
    ss_release(shapes->items);
    shapes->items = items;

    for (int b = 0, before = shapes->count; b < frame->bodies.count; b++) {
        bool known = false;
        for (int i = 0; i < before && !known; i++) known = items[i].id == frame->bodies.id[b];
        if (!known) items[shapes->count++] = box_of(&frame->bodies, b);
    }
    return true;
}
