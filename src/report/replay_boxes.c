/* What bodies look like when a file has no shapes: boxes of uniform density with their mass and inertia. For
 * boxes that is what they are; for others it is about as large, and lies the same way. */
#include "report/replay_internal.h"

#include <math.h>

#include "linalg/quat.h"

static bool is_known(const ss_shapes *shapes, int id)
{
    for (int i = 0; i < shapes->count; i++)
        if (shapes->items[i].id == id) return true;
    return false;
}

/* I_x = m/12 (b^2 + c^2) and its like, solved for the edges; a thin plate has an edge of 0, which
 * would not be seen. */
static void edges(double mass, const double moment[3], double edge[3])
{
    double sum = moment[0] + moment[1] + moment[2], longest = 0.0;
    for (int k = 0; k < 3; k++) {
        edge[k] = sqrt(fmax(0.0, 6.0 * (sum - 2.0 * moment[k]) / mass));
        longest = fmax(longest, edge[k]);
    }
    for (int k = 0; k < 3; k++) edge[k] = fmax(edge[k], 0.02 * longest);
}

static ss_stored_shape box_of(const ss_bodies *bodies, int body)
{
    ss_stored_shape box = {.shape = {.kind = SS_BOX}, .id = bodies->id[body], .scenery = -1};
    double moment[3];
    ss_mat3 axes;
    ss_quat turned = ss_quat_load(bodies->quaternion[body]);
    ss_mat3 back = ss_mat3_transpose(ss_quat_to_matrix(turned));
    ss_mat3_eigen(ss_mat3_rotate_tensor(back, ss_mat3_load(bodies->inertia[body])), moment, &axes);
    edges(bodies->mass[body], moment, box.shape.size);
    ss_quat_store(ss_quat_from_matrix(axes), box.shape.quaternion);
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
        ss_shapes known = {.items = items, .count = before};
        if (!is_known(&known, frame->bodies.id[b])) items[shapes->count++] = box_of(&frame->bodies, b);
    }
    return true;
}
