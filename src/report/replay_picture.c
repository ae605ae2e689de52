/* A still picture of the first frame that is shown: what stands where the page has not been opened yet. */
#include "report/replay_internal.h"

#include "report/picture.h"

#include <string.h>

/* Everything that is drawn is a body that moves as told: nothing needs a mass, and meshes are allowed. */
static int add_body(ss_world *world, const double position[3], const double quaternion[4], ss_error *err)
{
    ss_body body = {.kind = SS_KINEMATIC};
    memcpy(body.position, position, sizeof body.position);
    memcpy(body.quaternion, quaternion, sizeof body.quaternion);
    return ss_world_add_body(world, &body, err);
}

static bool add_shapes(ss_world *world, const ss_shapes *shapes, int id, int scenery, int body, ss_error *err)
{
    for (int i = 0; i < shapes->count; i++) {
        const ss_stored_shape *stored = &shapes->items[i];
        if (stored->id != id || stored->scenery != scenery) continue;
        ss_shape shape = stored->shape;
        shape.material = 0; // not stored
        if (ss_world_add_shape(world, body, &shape, err) < 0) return false;
    }
    return true;
}

static bool fill(ss_world *world, const ss_replay *replay, const ss_frame *frame, const ss_scenery *scenery,
                 ss_error *err)
{
    const ss_bodies *bodies = &frame->bodies;
    for (int b = 0; b < bodies->count; b++) {
        int body = add_body(world, bodies->position[b], bodies->quaternion[b], err);
        if (body < 0 || !add_shapes(world, &replay->shapes, bodies->id[b], -1, body, err)) return false;
    }
    for (int k = 0; k < scenery->count; k++) {
        int body = add_body(world, scenery->position[k], scenery->quaternion[k], err);
        if (body < 0 || !add_shapes(world, &replay->shapes, 0, k, body, err)) return false;
    }
    return add_shapes(world, &replay->shapes, 0, -1, SS_WORLD, err);
}

bool ss_replay_picture(ss_replay *replay, int width, int height, const char *path, ss_error *err)
{
    if (replay->shown == 0) return ss_fail(err, SS_ERROR_INPUT, "%s: no frame to draw", replay->path);
    int index = replay->frames[0].index;
    ss_scenery scenery = {0};
    ss_picture picture = {0};
    ss_frame *frame = ss_bpmd_read(replay->file, index, NULL, err);
    ss_world *world = frame ? ss_world_create(err) : NULL;
    bool good = world && ss_bpmd_scenery(replay->file, index, &scenery, err) &&
                fill(world, replay, frame, &scenery, err) && ss_world_finish(world, err) &&
                ss_picture_draw(world, NULL, width, height, &picture, err) &&
                ss_picture_write_png(&picture, path, err);
    ss_picture_free(&picture);
    ss_scenery_free(&scenery);
    ss_world_destroy(world);
    ss_frame_destroy(frame);
    return good;
}
