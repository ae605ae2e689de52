/* The messages of a recorded program become a file (cli/record/record.h). */
#include "cli/record/record.h"

#include <stdio.h>
#include <string.h>

static const size_t queue_limit = (size_t)1 << 30; // bytes; beyond it the program waits for the file

/* ---- messages --------------------------------------------------------------------------------------- */

/* Shapes arrive when a body is first seen, and before the first frame with it. */
static bool store_shapes(ss_incoming *in, bool all)
{
    return in->simulations == 0 || ss_shape_list_store(&in->shapes, in->writer, all, &in->trouble);
}

static bool begin_simulation(ss_incoming *in, const ss_message *m)
{
    ss_capture_hello hello;
    if (m->head.length < sizeof hello + 2 || m->bytes[m->head.length - 1] != '\0')
        return ss_fail(&in->trouble, SS_ERROR_INPUT, "the recorder sent a damaged message");
    memcpy(&hello, m->bytes, sizeof hello);
    if (hello.abi != ss_abi_version())
        return ss_fail(&in->trouble, SS_ERROR_INPUT, "the recorder is of another build than this program");

    const char *toolkit = m->bytes + sizeof hello, *description = toolkit + strlen(toolkit) + 1;
    if (description >= m->bytes + m->head.length) description = "";
    ss_manifest manifest = {.toolkit = (char *)(uintptr_t)toolkit,
                            .description = (char *)(uintptr_t)description,
                            .gravity = {hello.gravity[0], hello.gravity[1], hello.gravity[2]}};

    if (!store_shapes(in, true)) return false;
    ss_shape_list_clear(&in->shapes);
    in->simulations++;
    in->sender = m->head.sender;
    return ss_writer_simulation(in->writer, &manifest, &in->trouble);
}

static bool write_step(ss_incoming *in, const ss_message *m)
{
    size_t length = (size_t)m->head.length;
    if (in->sender != m->head.sender)
        return ss_fail(&in->trouble, SS_ERROR_INPUT,
                       "several processes of the program step at once: record one of them");

    ss_rows_notes notes = 0;
    bool understood = m->head.kind == SS_MESSAGE_FRAME
                          ? ss_capture_unpack(m->bytes, length, &in->capture)
                          : ss_capture_from_rows(m->bytes, length, &in->capture, &notes);
    if (in->simulations == 0 || !understood)
        return ss_fail(&in->trouble, SS_ERROR_INPUT, "the recorder sent a damaged frame");
    for (int i = 0; i < SS_ROWS_NOTES; i++)
        if (notes & ~in->notes & 1u << i) ss_command_say(in->command, "note: %s", ss_rows_note(i));
    in->notes |= notes;
    if (!store_shapes(in, in->options->recording.ring > 0)) return false;

    ss_error err = {0};
    if (ss_capture_write(&in->capture, in->writer, &err)) {
        in->recorded++;
        return true;
    }
    if (err.code != SS_ERROR_INPUT) {
        in->trouble = err;
        return false;
    }

    // A step that is not a good frame is left out; for a flight recorder it is the moment to write.
    char reason[200];
    if (in->faulty++ == 0) {
        in->fault = err;
        ss_fail_in(&in->fault, "t = %g s", in->capture.frame.time);
    }
    snprintf(reason, sizeof reason, "the step after this one is faulty: %.150s", err.message);
    return ss_writer_trip(in->writer, reason, &in->trouble);
}

static bool handle(ss_incoming *in, const ss_message *m)
{
    size_t length = (size_t)m->head.length;
    bool text = length > 0 && m->bytes[length - 1] == '\0';
    switch (m->head.kind) {
    case SS_MESSAGE_HELLO:
        return begin_simulation(in, m);
    case SS_MESSAGE_SHAPE: {
        ss_stored_shape shape;
        ss_mesh *mesh;
        bool understood = ss_capture_unpack_shape(m->bytes, length, &shape, &mesh); // else it is not drawn
        return !understood || ss_shape_list_add(&in->shapes, &shape, mesh, &in->trouble);
    }
    case SS_MESSAGE_FRAME:
    case SS_MESSAGE_ROWS:
        return write_step(in, m);
    case SS_MESSAGE_NOTE:
        if (text) ss_command_say(in->command, "note: %s", m->bytes);
        return true;
    case SS_MESSAGE_REFUSAL:
        if (text) snprintf(in->refusal, sizeof in->refusal, "%s", m->bytes);
        return true;
    case SS_MESSAGE_END: {
        ss_capture_end end;
        if (length != sizeof end) return true;
        memcpy(&end, m->bytes, sizeof end);
        in->steps += end.steps;
        in->loaded |= end.loaded != 0;
        return true;
    }
    default:
        return ss_fail(&in->trouble, SS_ERROR_INPUT, "the recorder sent something unknown");
    }
}

/* ---- the queue -------------------------------------------------------------------------------------- */

void *ss_incoming_write(void *argument)
{
    ss_incoming *in = argument;
    for (;;) {
        pthread_mutex_lock(&in->lock);
        while (!in->front && !in->finished) pthread_cond_wait(&in->changed, &in->lock);
        ss_message *m = in->front;
        if (m) {
            in->front = m->next;
            if (!in->front) in->back = NULL;
        }
        pthread_mutex_unlock(&in->lock);
        if (!m) return NULL;
        if (in->trouble.code == SS_OK) handle(in, m);
        pthread_mutex_lock(&in->lock);
        in->queued -= (size_t)m->head.length;
        pthread_cond_broadcast(&in->changed);
        pthread_mutex_unlock(&in->lock);
        ss_release(m);
    }
}

void ss_incoming_add(ss_incoming *in, ss_message *m)
{
    pthread_mutex_lock(&in->lock);
    while (in->queued > queue_limit) pthread_cond_wait(&in->changed, &in->lock);
    m->next = NULL;
    if (in->back)
        in->back->next = m;
    else
        in->front = m;
    in->back = m;
    in->queued += (size_t)m->head.length;
    pthread_cond_broadcast(&in->changed);
    pthread_mutex_unlock(&in->lock);
}

/* ---- the end ---------------------------------------------------------------------------------------- */

bool ss_incoming_end(ss_incoming *in, const char *crash)
{
    bool flies = in->options->recording.ring > 0, kept = in->recorded > 0 && in->writer, good = true;
    if (kept && in->trouble.code == SS_OK) good = store_shapes(in, true);
    if (kept && good && flies && crash && in->trouble.code == SS_OK)
        good = ss_writer_trip(in->writer, crash, &in->trouble);
    if (kept) {
        // What arrived is kept, however the program ended.
        ss_error late = {0};
        in->trips = ss_writer_trips(in->writer);
        kept = ss_writer_close(in->writer, &late);
        if (!kept && in->trouble.code == SS_OK) in->trouble = late;
    } else if (in->writer) {
        ss_writer_discard(in->writer);
    }
    ss_shape_list_clear(&in->shapes);
    ss_capture_free(&in->capture);
    return kept;
}
