/* The sink of a program that calls a recorder itself: a BPMD file. */
#include "sink.h"

#include "base/text.h"
#include "dataset/capture_rows.h"

#include <math.h>
#include <string.h>

typedef struct file {
    ss_writer *writer;
    ss_stored_shape *shapes; /* written at the end, when all bodies are known */
    ss_mesh **meshes;        /* theirs */
    int count, room;
    ss_text notes;
    ss_rows_notes noted; /* of capture_rows.h */
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
    if (f->count == f->room) {
        size_t room = 2 * (size_t)f->room + 16;
        ss_stored_shape *shapes = ss_allocate(room, sizeof *shapes);
        ss_mesh **meshes = ss_allocate(room, sizeof *meshes);
        if (!shapes || !meshes) {
            ss_release(shapes);
            ss_release(meshes);
            return ss_fail(&sink->err, SS_ERROR_RESOURCES, "out of memory for shapes");
        }
        if (f->count) memcpy(shapes, f->shapes, (size_t)f->count * sizeof *shapes);
        if (f->count) memcpy(meshes, f->meshes, (size_t)f->count * sizeof *meshes);
        ss_release(f->shapes);
        ss_release(f->meshes);
        f->shapes = shapes;
        f->meshes = meshes;
        f->room = (int)room;
    }
    ss_mesh *mesh = shape->shape.mesh ? ss_mesh_copy(shape->shape.mesh, &sink->err) : NULL;
    if (shape->shape.mesh && !mesh) return false;
    f->shapes[f->count] = *shape;
    f->shapes[f->count].shape.mesh = mesh;
    f->meshes[f->count++] = mesh;
    return true;
}

static bool note(ss_sink *sink, const char *text)
{
    file *f = sink->target;
    ss_text_appendf(&f->notes, "%s\n", text);
    return true;
}

/* A step with a fault is left out, and the recording goes on. */
static bool step(ss_sink *sink)
{
    file *f = sink->target;
    ss_capture_complete(&sink->capture);
    if (ss_capture_write(&sink->capture, f->writer, &sink->err)) {
        sink->recorded++;
        return true;
    }
    return sink->err.code == SS_ERROR_INPUT;
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
    if (!f->writer) {
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

const char *ss_sink_notes(const ss_sink *sink)
{
    return ss_text_get(&((const file *)sink->target)->notes);
}

bool ss_sink_close_file(ss_sink *sink, ss_error *err)
{
    file *f = sink->target;
    bool good = f->count == 0 || ss_writer_shapes(f->writer, f->shapes, f->count, err);
    if (good)
        good = ss_writer_close(f->writer, err);
    else
        ss_writer_discard(f->writer);
    for (int i = 0; i < f->count; i++) ss_mesh_destroy(f->meshes[i]);
    ss_release(f->shapes);
    ss_release(f->meshes);
    ss_text_free(&f->notes);
    ss_release(f);
    ss_capture_free(&sink->capture);
    return good;
}
