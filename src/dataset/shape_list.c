#include "dataset/shape_list.h"

#include "dataset/writer_hold.h"

#include <string.h>

bool ss_shape_list_add(ss_shape_list *list, const ss_stored_shape *shape, ss_mesh *mesh, ss_error *err)
{
    if (list->count == list->room) {
        size_t room = 2 * (size_t)list->room + 64, count = (size_t)list->count;
        ss_stored_shape *shapes = ss_allocate(room, sizeof *shapes);
        ss_mesh **meshes = ss_allocate(room, sizeof *meshes);
        if (!shapes || !meshes) {
            ss_release(shapes);
            ss_release(meshes);
            ss_mesh_destroy(mesh);
            return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for shapes");
        }
        if (count) memcpy(shapes, list->shapes, count * sizeof *shapes);
        if (count) memcpy(meshes, list->meshes, count * sizeof *meshes);
        ss_release(list->shapes);
        ss_release(list->meshes);
        list->shapes = shapes;
        list->meshes = meshes;
        list->room = (int)room;
    }
    list->shapes[list->count] = *shape;
    list->shapes[list->count].shape.mesh = mesh;
    list->meshes[list->count++] = mesh;
    return true;
}

bool ss_shape_list_store(ss_shape_list *list, ss_writer *writer, bool all, ss_error *err)
{
    if (list->count == list->stored || (!all && list->count < 2 * list->stored)) return true;
    list->stored = list->count;
    return ss_writer_replace_shapes(writer, list->shapes, list->count, err);
}

void ss_shape_list_clear(ss_shape_list *list)
{
    for (int i = 0; i < list->count; i++) ss_mesh_destroy(list->meshes[i]);
    ss_release(list->shapes);
    ss_release(list->meshes);
    *list = (ss_shape_list){0};
}
