/* RPI-sim stores contacts as they were at the beginning of a step, but bodies as they are at its end, after
 *     x+ = x + h v+,   q+ = exp(h w+) q.
 * The problem that was solved has the bodies where they were: x = x+ - h v+ and q likewise, with the
 * velocities the frame before ended with. Tensors are stored in the body's frame, contact points as lever
 * arms from the centre of body a: older files in the frame of a after the step, newer ones in the world's
 * orientation. A world contact has its arm from a static body whose place is not stored; its numbers are
 * kept, which is right when that body sits unrotated at the origin. */
#include "dataset/bpmd.h"

#include "linalg/quat.h"

#include <math.h>

/* Frames are steps in a row when every body is where the frame before left it. */
static bool follows(const ss_frame *before, const ss_frame *frame)
{
    if (before->bodies.count != frame->bodies.count) return false;
    for (int b = 0; b < frame->bodies.count; b++) {
        ss_vec3 x = ss_vec3_load(frame->bodies.position[b]);
        ss_vec3 left = ss_vec3_load(before->bodies.position[b]);
        ss_vec3 moved = ss_vec3_scale(frame->h, ss_vec3_load(frame->bodies.velocity[b]));
        double apart = ss_vec3_norm(ss_vec3_subtract(x, left));
        if (!(apart <= 1e-6 * (ss_vec3_norm(x) + ss_vec3_norm(moved)))) return false;
    }
    return true;
}

static bool repair_velocities(ss_bpmd_stored *stored, ss_error *err)
{
    ss_bodies *bodies = &stored->frame->bodies;
    const ss_bpmd *file = stored->file;
    int first = file->simulations[file->entries[stored->index].simulation].first;
    ss_bpmd_stored before = {0};
    bool found = false, good = true;
    if (stored->index != first)
        good = ss_bpmd_stored_try(stored->file, stored->index - 1, &before, &found, err);
    found = found && before.family == stored->family;

    if (found && follows(before.frame, stored->frame)) {
        memcpy(bodies->velocity, before.frame->bodies.velocity, (size_t)bodies->count * sizeof(double[6]));
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "bodies", "velocities",
                    "are those after the step: replaced by those of the previous frame");
    } else {
        ss_bpmd_say(stored, SS_FINDING_WARNING, "bodies", "velocities",
                    "are those after the step, and %s: used as they are",
                    found ? "the previous frame is not the previous step" : "there is no previous frame");
    }
    ss_bpmd_stored_close(&before);
    return good;
}

bool ss_bpmd_repair_rpisim(ss_bpmd_stored *stored, ss_error *err)
{
    const ss_frame *frame = stored->frame;
    const ss_bodies *bodies = &frame->bodies;
    const ss_contacts *contacts = &frame->contacts;
    if (bodies->count == 0) return true;

    /* Old lever arms are turned while quaternions are still those after the step. */
    for (int c = 0; stored->old_rpisim && c < contacts->count; c++) {
        int a = contacts->pair[c][0];
        if (a == SS_WORLD) continue;
        ss_quat q = ss_quat_load(bodies->quaternion[a]);
        ss_vec3_store(ss_quat_rotate(q, ss_vec3_load(contacts->point[c])), contacts->point[c]);
    }

    /* Bodies go back to where they were before the step, and tensors are turned to the world there. */
    for (int b = 0; b < bodies->count; b++) {
        ss_vec3 v = ss_vec3_load(bodies->velocity[b]), w = ss_vec3_load(bodies->velocity[b] + 3);
        ss_quat back = ss_quat_exponential(ss_vec3_scale(-frame->h, w));
        ss_vec3_store(ss_vec3_add_scaled(ss_vec3_load(bodies->position[b]), -frame->h, v),
                      bodies->position[b]);
        ss_quat_store(ss_quat_multiply(back, ss_quat_load(bodies->quaternion[b])), bodies->quaternion[b]);
        ss_mat3 rotation = ss_quat_to_matrix(ss_quat_load(bodies->quaternion[b]));
        ss_mat3_store(ss_mat3_rotate_tensor(rotation, ss_mat3_load(bodies->inertia[b])), bodies->inertia[b]);
    }
    ss_bpmd_say(stored, SS_FINDING_REPAIR, "bodies", "positions",
                "are those after the step, contacts those before it: moved back by h v");
    ss_bpmd_say(stored, SS_FINDING_REPAIR, "bodies", "quaternions",
                "are those after the step: rotated back by h times the angular velocity");
    ss_bpmd_say(stored, SS_FINDING_REPAIR, "bodies", stored->old_rpisim ? "inertia_tensors" : "inertia",
                "tensors are in the bodies' frames: rotated to the world");

    /* With the centres where they were, arms become points. */
    int placed = 0;
    for (int c = 0; c < contacts->count; c++) {
        int a = contacts->pair[c][0];
        if (a == SS_WORLD) continue;
        ss_vec3 x = ss_vec3_load(bodies->position[a]);
        ss_vec3_store(ss_vec3_add(x, ss_vec3_load(contacts->point[c])), contacts->point[c]);
        placed++;
    }
    if (placed)
        ss_bpmd_say(stored, SS_FINDING_REPAIR, "contacts", "points",
                    "are lever arms from the first body: converted to points in space");
    if (placed < contacts->count)
        ss_bpmd_say(stored, SS_FINDING_WARNING, "contacts", "points",
                    "%d of %d are arms from a static body whose position is not stored: the origin is "
                    "assumed",
                    contacts->count - placed, contacts->count);
    return repair_velocities(stored, err);
}
