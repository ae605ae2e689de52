/* The sink of a program that calls a recorder itself: a BPMD file. */
#include "sink.h"

#include <stickslip/recorder.h>

#include "base/text.h"
#include "dataset/capture_rows.h"
#include "dataset/shape_list.h"

#include <stdio.h>

typedef struct file {
    ss_writer *writer;
    ss_shape_list shapes;
    ss_text notes;
    ss_rows_notes noted; /* of capture_rows.h */
    bool flies;          /* a flight recorder, which may write at any step */
} file;

static bool begin(ss_sink *sink, const double gravity[3], const char *toolkit, const char *description)
{
    file *f = sink->target;
    ss_manifest manifest = {.toolkit = (char *)(uintptr_t)toolkit,
                            .description = (char *)(uintptr_t)description,
                            .gravity = {gravity[0], gravity[1], gravity[2]}};
    return ss_writer_simulation(f->writer, &manifest, &sink->err);
}

static bool keep_shape(ss_sink *sink, const ss_stored_shape *shape)
{
    file *f = sink->target;
    ss_mesh *mesh = shape->shape.mesh ? ss_mesh_copy(shape->shape.mesh, &sink->err) : NULL;
    if (shape->shape.mesh && !mesh) return false;
    return ss_shape_list_add(&f->shapes, shape, mesh, &sink->err);
}

static bool note(ss_sink *sink, const char *text)
{
    file *f = sink->target;
    ss_text_appendf(&f->notes, "%s\n", text);
    return true;
}

/* A step with a fault is left out, and the recording goes on; a flight recorder writes then. */
static bool step(ss_sink *sink)
{
    file *f = sink->target;
    ss_capture_complete(&sink->capture);
    if (!ss_shape_list_store(&f->shapes, f->writer, f->flies, &sink->err)) return false;
    if (ss_capture_write(&sink->capture, f->writer, &sink->err)) {
        sink->recorded++;
        return true;
    }
    char reason[200];
    snprintf(reason, sizeof reason, "the step after this one is faulty: %.150s", sink->err.message);
    return sink->err.code == SS_ERROR_INPUT && ss_writer_trip(f->writer, reason, &sink->err);
}

static bool rows(ss_sink *sink, const void *bytes, size_t length)
{
    file *f = sink->target;
    ss_rows_notes notes = 0;
    if (!ss_capture_from_rows(bytes, length, &sink->capture, &notes))
        return ss_fail(&sink->err, SS_ERROR_RESOURCES, "out of memory for a step");
    for (int i = 0; i < SS_ROWS_NOTES; i++)
        if (notes & ~f->noted & 1u << i) note(sink, ss_rows_note(i));
    f->noted |= notes;
    return step(sink);
}

bool ss_sink_open_file(ss_sink *sink, const char *path, ss_error *err)
{
    file *f = ss_allocate(1, sizeof *f);
    if (!f) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
    f->writer = ss_writer_open(path, SS_LAYOUT_CANONICAL, false, err);
    if (!f->writer || !ss_writer_survive(f->writer, SS_RECORDER_SURVIVES, err)) {
        ss_writer_discard(f->writer);
        ss_release(f);
        return false;
    }
    *sink = (ss_sink){.begin = begin,
                      .shape = keep_shape,
                      .note = note,
                      .step = step,
                      .rows = rows,
                      .target = f,
                      .first = 1,
                      .every = 1};
    return true;
}

bool ss_sink_configure(ss_sink *sink, const char *settings, ss_error *err)
{
    file *f = sink->target;
    f->flies = true;
    return ss_writer_configure_text(f->writer, settings, err);
}

bool ss_sink_trip(ss_sink *sink, const char *reason, ss_error *err)
{
    return ss_writer_trip(((file *)sink->target)->writer, reason, err);
}

const char *ss_sink_notes(const ss_sink *sink)
{
    return ss_text_get(&((const file *)sink->target)->notes);
}

bool ss_sink_close_file(ss_sink *sink, ss_error *err)
{
    file *f = sink->target;
    bool good = ss_shape_list_store(&f->shapes, f->writer, true, err);
    if (good)
        good = ss_writer_close(f->writer, err);
    else
        ss_writer_discard(f->writer);
    ss_shape_list_clear(&f->shapes);
    ss_text_free(&f->notes);
    ss_release(f);
    ss_capture_free(&sink->capture);
    return good;
}
