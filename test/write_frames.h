/* A file with a few frames, for tests that care about the file more than about the frames. */
#ifndef STICKSLIP_TEST_WRITE_FRAMES_H
#define STICKSLIP_TEST_WRITE_FRAMES_H

#include <stickslip/dataset.h>

static inline bool write_frames(const char *path, ss_layout layout, bool append, int count, ss_error *err)
{
    ss_frame *frame = ss_frame_create(2, 1, 3, 4, NULL);
    ss_writer *writer = frame ? ss_writer_open(path, layout, append, err) : NULL;
    bool ok = writer != NULL;
    for (int f = 0; ok && f < count; f++) {
        frame->time = f;
        ok = ss_writer_frame(writer, frame, err);
    }
    if (ok)
        ok = ss_writer_close(writer, err);
    else
        ss_writer_discard(writer);
    ss_frame_destroy(frame);
    return ok;
}

#endif
