/* BPMD files, written frame by frame into a temporary file that takes the place of the target at the end.
 * Layouts and marks: dataset/writer.h. Arrays: writer_frame.c, writer_manifest.c, writer_result.c,
 * writer_shapes.c. */
#include "dataset/writer.h"

#include "base/ticker.h"
#include "dataset/flight.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct ss_writer {
    ss_h5_output output;
    ss_layout layout;
    bool occupied;              /* the file held frames before us */
    int last_simulation;        /* highest number in the file; we count from 1 */
    int last_frame;             /* highest number in the current simulation, flat: in the file */
    ss_h5_group simulation;     /* id < 0: none begun yet. Canonical layout only */
    ss_h5_group frame;          /* the frame written last, open for its results; id < 0: none */
    int bodies, rows, contacts; /* of that frame */
    ss_writer_scratch scratch;
    /* code != SS_OK: something is half written, so that nothing of it may reach the target */
    ss_error trouble;
    /* For recordings that survive: the rest belongs to the holder of HDF5's lock. */
    ss_ticker *ticker;
    double interval, next_seal; /* s; when a call seals, where there is no ticker */
    bool dirty;                 /* something was written since the last seal */
    bool held;                  /* a frame is being written in several calls */
    ss_flight *flight;          /* NULL: everything is written */
    bool dumping;               /* its ring is being written */
};

/* ---- numbers --------------------------------------------------------------------------------------- */

/* "mbs_frame000012" with the prefix "mbs_frame" gives 12; -1 for other names; INT_MAX for larger numbers. */
static int number_after(const char *prefix, const char *name)
{
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0 || !name[length]) return -1;
    for (const char *c = name + length; *c; c++)
        if (!isdigit((unsigned char)*c)) return -1;
    unsigned long long number = strtoull(name + length, NULL, 10);
    return number < INT_MAX ? (int)number : INT_MAX;
}

static bool note_number(const char *name, void *context, ss_error *err)
{
    (void)err;
    ss_writer *writer = context;
    int simulation = number_after("simulation_", name), frame = number_after("mbs_frame", name);
    if (simulation >= 0 || frame >= 0) writer->occupied = true;
    if (simulation > writer->last_simulation) writer->last_simulation = simulation;
    if (frame > writer->last_frame) writer->last_frame = frame;
    return true;
}

static bool next_name(ss_writer *writer, const char *prefix, int *last, char *name, size_t size,
                      ss_error *err)
{
    if (*last == INT_MAX)
        return ss_fail(err, SS_ERROR_RESOURCES, "%s: no free number after %s%d", writer->output.target,
                       prefix, *last);
    snprintf(name, size, "%s%06d", prefix, ++*last);
    return true;
}

/* ---- groups ---------------------------------------------------------------------------------------- */

static bool put_mark(const ss_h5_group *group, ss_error *err)
{
    return ss_h5_write_text_attribute(group, SS_BPMD_MARK, SS_BPMD_MARK_TEXT, err);
}

static bool put_writer(const ss_h5_group *group, ss_error *err)
{
    char program[64];
    snprintf(program, sizeof program, "stickslip %s", ss_version());
    return ss_h5_write_text_attribute(group, "bpmd_writer", program, err);
}

/* Of the frame written last. */
static bool put_note(ss_writer *writer, const char *text, ss_error *err)
{
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    bool good = writer->frame.id < 0 || ss_h5_write_text_attribute(&writer->frame, "note", text, err);
    ss_h5_leave(&session);
    return good;
}

static bool begin_simulation(ss_writer *writer, const ss_manifest *manifest, ss_error *err)
{
    ss_h5_leave_group(&writer->frame);
    ss_h5_leave_group(&writer->simulation);
    if (writer->layout == SS_LAYOUT_FLAT) return true;
    char name[32];
    writer->last_frame = 0;
    return next_name(writer, "simulation_", &writer->last_simulation, name, sizeof name, err) &&
           ss_h5_make_group(&writer->output.root, name, &writer->simulation, err) &&
           put_mark(&writer->simulation, err) && put_writer(&writer->simulation, err) &&
           ss_writer_put_manifest(&writer->simulation, manifest, err);
}

static bool go_on(ss_writer *writer, ss_error *err)
{
    if (writer->layout == SS_LAYOUT_FLAT || writer->last_simulation == 0)
        return ss_fail(err, SS_ERROR_INPUT, "%s: holds no simulation to continue", writer->output.target);
    char name[32];
    ss_h5_leave_group(&writer->frame);
    ss_h5_leave_group(&writer->simulation);
    writer->last_frame = 0;
    int simulation = writer->last_simulation;
    snprintf(name, sizeof name, "simulation_%06d", simulation);
    return ss_h5_enter_group(&writer->output.root, name, &writer->simulation, err) &&
           ss_h5_each(&writer->simulation, note_number, writer, err);
}

static bool add_frame(ss_writer *writer, const ss_frame *frame, ss_error *err)
{
    bool flat = writer->layout == SS_LAYOUT_FLAT;
    writer->bodies = frame->bodies.count;
    writer->rows = frame->constraints.row_count;
    writer->contacts = frame->contacts.count;
    if (!flat && writer->simulation.id < 0 && !begin_simulation(writer, NULL, err)) return false;

    ss_h5_leave_group(&writer->frame);
    char name[32];
    return next_name(writer, "mbs_frame", &writer->last_frame, name, sizeof name, err) &&
           ss_h5_make_group(flat ? &writer->output.root : &writer->simulation, name, &writer->frame, err) &&
           (!flat || put_mark(&writer->frame, err)) &&
           ss_writer_put_frame(&writer->frame, frame, writer->layout, &writer->scratch, err);
}

/* Steps go to the ring of a flight recorder instead of the file. */
static bool flies(const ss_writer *writer)
{
    return writer->flight && !writer->dumping;
}

static bool result_fits(const ss_writer *writer, const ss_stored_result *result, ss_error *err)
{
    const char *file = writer->output.target;
    const ss_answer *answer = result->answer;
    if (flies(writer) ? !writer->flight->frame : writer->frame.id < 0)
        return ss_fail(err, SS_ERROR_USAGE, "%s: a result needs a frame before it", file);
    if (!ss_writer_is_name(result->solver))
        return ss_fail(err, SS_ERROR_USAGE, "%s: %s: a result needs the name of a solver, without '/'", file,
                       writer->frame.path);
    if (answer && (answer->bodies != writer->bodies || answer->rows != writer->rows ||
                   answer->contacts != writer->contacts))
        return ss_fail(
            err, SS_ERROR_USAGE,
            "%s: %s/solver_data/%s: answer for %d bodies, %d rows, %d contacts; the frame has %d, %d, %d",
            file, writer->frame.path, result->solver, answer->bodies, answer->rows, answer->contacts,
            writer->bodies, writer->rows, writer->contacts);
    return true;
}

/* ---- life ------------------------------------------------------------------------------------------ */

ss_writer *ss_writer_open(const char *path, ss_layout layout, bool append, ss_error *err)
{
    ss_writer *writer = ss_allocate(1, sizeof *writer);
    if (!writer) {
        ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
        return NULL;
    }
    writer->layout = layout;
    writer->simulation.id = writer->frame.id = -1;
    const double no_limit = 0x1p62; // nothing is read but names
    const ss_h5_group *root = &writer->output.root;
    char text[8];
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    bool opened = ss_h5_output_open(path, append, no_limit, &writer->output, err);

    /* A file without frames becomes ours; in another's we only mark what we add. */
    bool ok = opened && ss_h5_each(root, note_number, writer, err);
    if (ok && !writer->occupied && !ss_h5_text_attribute(root, SS_BPMD_MARK, text, sizeof text))
        ok = put_mark(root, err) && put_writer(root, err);
    if (opened && !ok) ss_h5_output_discard(&writer->output);
    ss_h5_leave(&session);
    if (ok) return writer;
    ss_release(writer);
    return NULL;
}

static bool end_step(ss_writer *writer, ss_error *err);

/* ---- surviving -------------------------------------------------------------------------------------- */

/* Called by the ticker. Waits for the end of a frame, but not long: the frame may be all there is. What
 * goes wrong is trouble of the disk, which the next call on the writer finds. */
static void seal_now_and_then(void *context)
{
    ss_writer *writer = context;
    for (int attempt = 0;; attempt++) {
        ss_h5_session session;
        ss_h5_enter_to_write(&session);
        bool wait = writer->held && attempt < 100;
        if (!wait && writer->dirty) {
            ss_h5_output_seal(&writer->output, NULL);
            writer->dirty = false;
        }
        ss_h5_leave(&session);
        if (!wait) return;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* After every piece of work, inside the session. Where no thread can do it, the call seals that finds it
 * due. */
static bool note_work(ss_writer *writer, ss_error *err)
{
    writer->dirty = true;
    if (!ss_h5_output_check(&writer->output, err)) return false;
    if (writer->interval == 0 || writer->ticker || writer->held || ss_clock_seconds() < writer->next_seal)
        return true;
    bool good = ss_h5_output_seal(&writer->output, err);
    writer->dirty = false;
    writer->next_seal = ss_clock_seconds() + writer->interval / 2;
    return good;
}

bool ss_writer_survive(ss_writer *writer, double seconds, ss_error *err)
{
    ss_ticker_stop(writer->ticker);
    writer->ticker = NULL;
    writer->interval = seconds;
    writer->next_seal = ss_clock_seconds() + seconds / 2;
    if (!(seconds >= 0)) return ss_fail(err, SS_ERROR_USAGE, "%s: invalid interval", writer->output.target);
    hbool_t safe = false;
    H5is_library_threadsafe(&safe);
    if (seconds > 0 && safe) writer->ticker = ss_ticker_start(seconds / 2, seal_now_and_then, writer);
    return true;
}

/* What was begun and not finished spoils the file: the reason is kept, and everything later fails with it. */
static bool keep_trouble(ss_writer *writer, const ss_error *trouble, ss_error *err)
{
    writer->trouble = *trouble;
    if (err) *err = *trouble;
    return false;
}

static bool spoiled(const ss_writer *writer, ss_error *err)
{
    if (writer->trouble.code == SS_OK) return false;
    ss_fail(err, writer->trouble.code, "nothing can be added after: %s", writer->trouble.message);
    return true;
}

/* ---- the flight recorder ----------------------------------------------------------------------------- */

/* The ring has the name of the temporary file, which is there as soon as there is a ring, with manifest and
 * shapes. */
static bool seal_for_ring(ss_writer *writer, ss_error *err)
{
    ss_ring *ring = &writer->flight->ring;
    ss_error trouble = {0};
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    bool good = !writer->dirty || ss_h5_output_seal(&writer->output, &trouble);
    writer->dirty = false;
    ss_h5_leave(&session);
    if (!good) return keep_trouble(writer, &trouble, err);
    char *path = ss_h5_ring_of(writer->output.temporary);
    if (path && strcmp(path, ring->path) != 0) {
        if (ring->memory) good = rename(ring->path, path) == 0;
        ss_release(ring->path);
        ring->path = path;
        path = NULL;
    } else if (!path) {
        good = false;
    }
    ss_release(path);
    return good ||
           ss_fail(err, SS_ERROR_RESOURCES, "%s: no room for its flight recorder", writer->output.target);
}

/* Steps from a ring as the next frames; the last one gets a note, unless it has one. */
bool ss_writer_put_ring(ss_writer *writer, const ss_ring *ring, const char *last_note, ss_error *err)
{
    bool good = true;
    writer->dumping = true;
    for (int i = 0; good && i < ring->count; i++) {
        size_t size, at = 0;
        const unsigned char *bytes = ss_ring_at(ring, i, &size);
        ss_frame *frame = NULL;
        ss_packet_part part;
        ss_error failure = {0};
        bool noted = false;
        while (good && ss_packet_next(bytes, size, &at, frame, &part, &failure)) {
            if (part.frame && !frame) {
                frame = part.frame;
                part.frame = NULL;
                good = ss_writer_frame(writer, frame, err);
            }
            if (good && part.scenery) good = ss_writer_scenery(writer, part.scenery, err);
            if (good && part.result) good = ss_writer_result(writer, part.result, err);
            if (good && part.note) good = put_note(writer, part.note, err);
            noted |= part.note != NULL;
            ss_packet_part_free(&part);
        }

        if (good && failure.code != SS_OK) good = ss_fail(err, failure.code, "%s", failure.message);
        if (good && frame && !noted && last_note && i == ring->count - 1)
            good = put_note(writer, last_note, err);
        ss_frame_destroy(frame);
    }
    writer->dumping = false;
    return good;
}

/* The ring becomes frames of the target, which is then added to. */
static bool dump(ss_writer *writer, const char *last_note, ss_error *err)
{
    ss_flight *flight = writer->flight;
    ss_error trouble = {0};
    flight->steps_to_dump = -1;
    if (!ss_writer_put_ring(writer, &flight->ring, last_note, err)) return false;
    char *target = ss_text_copy(writer->output.target);
    if (!target) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    ss_h5_leave_group(&writer->frame);
    ss_h5_leave_group(&writer->simulation);
    bool good = ss_h5_output_commit(&writer->output, &trouble) &&
                ss_h5_output_open(target, true, 0x1p62, &writer->output, &trouble) &&
                (writer->layout == SS_LAYOUT_FLAT || go_on(writer, &trouble));
    writer->dirty = true;
    ss_h5_leave(&session);
    ss_release(target);
    if (!good) return keep_trouble(writer, &trouble, err);
    ss_ring_clear(&flight->ring);
    return !flight->ring.path || seal_for_ring(writer, err);
}

static bool end_step(ss_writer *writer, ss_error *err)
{
    bool due = false;
    if (writer->dirty && writer->flight->ring.path && writer->flight->frame && !seal_for_ring(writer, err))
        return false;
    return ss_flight_end_step(writer->flight, &due, err) && (!due || dump(writer, NULL, err));
}

bool ss_writer_configure(ss_writer *writer, const ss_recording_options *options, ss_error *err)
{
    if (!ss_options_check(ss_recording_option_table, options, err)) return false;
    if (writer->flight || (options->ring > 0 && writer->frame.id >= 0))
        return ss_fail(err, SS_ERROR_USAGE, "%s: too late for a flight recorder", writer->output.target);
    if (options->ring == 0) {
        if (options->trip.count > 0 || options->trip_signal)
            return ss_fail(err, SS_ERROR_USAGE, "%s: something trips, but there is no ring",
                           writer->output.target);
        return ss_writer_survive(writer, options->survive, err);
    }
    char *path =
        options->no_ring_file ? NULL : ss_text_copy(""); // has its name when there is something in it
    if (!path && !options->no_ring_file) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory");
    if (!ss_writer_survive(writer, 0, err)) {
        ss_release(path);
        return false;
    }
    writer->dirty = true;
    writer->flight = ss_flight_create(options, path, (uint64_t)writer->layout, err);
    return writer->flight != NULL;
}

bool ss_writer_configure_text(ss_writer *writer, const char *settings, ss_error *err)
{
    ss_recording_options options;
    ss_options_defaults(ss_recording_option_table, &options);
    char *text = ss_text_copy(settings);
    if (!text) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", writer->output.target);
    bool good = true;
    char *rest = NULL;
    for (char *word = strtok_r(text, " \t\n", &rest); good && word; word = strtok_r(NULL, " \t\n", &rest))
        good = ss_options_assign(ss_recording_option_table, &options, word, err);
    good = good && ss_writer_configure(writer, &options, err);
    ss_release(text);
    return good;
}

bool ss_writer_trip(ss_writer *writer, const char *reason, ss_error *err)
{
    ss_flight *flight = writer->flight;
    if (!flight || flight->trips >= flight->most_trips) return true;
    if (flight->frame) { // at the end of the step
        snprintf(flight->reason, sizeof flight->reason, "%s", reason);
        flight->steps_to_rest = 0;
        return true;
    }
    if (flight->ring.count == 0) return true;
    flight->trips++;
    flight->steps_to_rest = flight->ring.wanted;
    return dump(writer, reason, err);
}

int ss_writer_trips(const ss_writer *writer)
{
    return writer->flight ? writer->flight->trips : 0;
}

void ss_writer_hold(ss_writer *writer)
{
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    writer->held = true;
    ss_h5_leave(&session);
}

bool ss_writer_let_go(ss_writer *writer, ss_error *err)
{
    ss_error trouble = {0};
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    writer->held = false;
    bool ok = writer->flight || writer->trouble.code != SS_OK || note_work(writer, &trouble);
    ss_h5_leave(&session);
    if (!ok) return keep_trouble(writer, &trouble, err);
    return !flies(writer) || writer->trouble.code != SS_OK || end_step(writer, err);
}

bool ss_writer_simulation(ss_writer *writer, const ss_manifest *manifest, ss_error *err)
{
    if (spoiled(writer, err)) return false;
    ss_error trouble = {0};
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    bool ok = begin_simulation(writer, manifest, &trouble) && note_work(writer, &trouble);
    ss_h5_leave(&session);
    return ok || keep_trouble(writer, &trouble, err);
}

bool ss_writer_go_on(ss_writer *writer, int *frames, ss_error *err)
{
    if (spoiled(writer, err)) return false;
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    bool ok = go_on(writer, err);
    ss_h5_leave(&session);
    if (ok && frames) *frames = writer->last_frame;
    return ok;
}

bool ss_writer_frame(ss_writer *writer, const ss_frame *frame, ss_error *err)
{
    if (spoiled(writer, err) ||
        !ss_writer_prepare(&writer->scratch, frame, writer->layout, writer->output.target, err))
        return false;
    if (flies(writer)) {
        if (!end_step(writer, err)) return false;
        writer->bodies = frame->bodies.count;
        writer->rows = frame->constraints.row_count;
        writer->contacts = frame->contacts.count;
        ss_flight_frame(writer->flight, frame);
        return true;
    }
    ss_error trouble = {0};
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    bool ok = add_frame(writer, frame, &trouble) && note_work(writer, &trouble);
    ss_h5_leave(&session);
    return ok || keep_trouble(writer, &trouble, err);
}

bool ss_writer_result(ss_writer *writer, const ss_stored_result *result, ss_error *err)
{
    if (spoiled(writer, err) || !result_fits(writer, result, err)) return false;
    if (flies(writer)) return ss_flight_result(writer->flight, result, err);
    ss_error trouble = {0};
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    bool ok = ss_writer_put_result(&writer->frame, result, &trouble) && note_work(writer, &trouble);
    ss_h5_leave(&session);
    return ok || keep_trouble(writer, &trouble, err);
}

bool ss_writer_end_frame(ss_writer *writer, ss_error *err)
{
    if (spoiled(writer, err)) return false;
    return !flies(writer) || end_step(writer, err);
}

bool ss_writer_note(ss_writer *writer, const char *text, ss_error *err)
{
    if (spoiled(writer, err)) return false;
    if (flies(writer) ? !writer->flight->frame : writer->frame.id < 0)
        return ss_fail(err, SS_ERROR_USAGE, "%s: a note needs a frame before it", writer->output.target);
    if (!flies(writer)) return put_note(writer, text, err);
    ss_packet_add_note(&writer->flight->step, text);
    return true;
}

static bool put_shapes(ss_writer *writer, const ss_stored_shape *shapes, int count, bool replace,
                       ss_error *err)
{
    const ss_h5_group *simulation = &writer->simulation;
    ss_writer_shape_columns columns;
    if (spoiled(writer, err)) return false;
    if (writer->layout == SS_LAYOUT_FLAT || count == 0) return true;
    if (!ss_writer_gather_shapes(shapes, count, writer->output.target, &columns, err)) return false;

    ss_error trouble = {0};
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    bool there = simulation->id >= 0 && ss_h5_has(simulation, "shapes");
    if (there && replace) {
        H5Ldelete(simulation->id, "shapes", H5P_DEFAULT);
        there = ss_h5_has(simulation, "shapes");
    }
    if (there)
        ss_fail(err, SS_ERROR_USAGE, "%s: %s: already has shapes", writer->output.target, simulation->path);
    bool ok = !there && (simulation->id >= 0 || begin_simulation(writer, NULL, &trouble)) &&
              ss_writer_put_shapes(simulation, &columns, &trouble) && note_work(writer, &trouble);
    ss_h5_leave(&session);
    ss_writer_shape_columns_free(&columns);
    return ok || (!there && keep_trouble(writer, &trouble, err));
}

bool ss_writer_shapes(ss_writer *writer, const ss_stored_shape *shapes, int count, ss_error *err)
{
    return put_shapes(writer, shapes, count, false, err);
}

bool ss_writer_replace_shapes(ss_writer *writer, const ss_stored_shape *shapes, int count, ss_error *err)
{
    return put_shapes(writer, shapes, count, true, err);
}

static bool scenery_fits(const ss_writer *writer, ss_error *err)
{
    if (flies(writer) ? !writer->flight->frame : writer->frame.id < 0)
        return ss_fail(err, SS_ERROR_USAGE, "%s: scenery needs a frame before it", writer->output.target);
    return flies(writer) || !ss_h5_has(&writer->frame, "scenery") ||
           ss_fail(err, SS_ERROR_USAGE, "%s: %s: already has scenery", writer->output.target,
                   writer->frame.path);
}

bool ss_writer_scenery(ss_writer *writer, const ss_scenery *scenery, ss_error *err)
{
    if (spoiled(writer, err)) return false;
    if (writer->layout == SS_LAYOUT_FLAT || scenery->count == 0) return true;
    if (flies(writer)) {
        if (!scenery_fits(writer, err)) return false;
        ss_packet_add_scenery(&writer->flight->step, scenery);
        return true;
    }
    ss_error trouble = {0};
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    bool allowed = scenery_fits(writer, err);
    bool ok =
        allowed && ss_writer_put_scenery(&writer->frame, scenery, &trouble) && note_work(writer, &trouble);
    ss_h5_leave(&session);
    return ok || (allowed && keep_trouble(writer, &trouble, err));
}

/* Frees the writer; the file takes its place, or stays as it was sealed last, or is gone. */
typedef enum ending { KEEP, ABANDON, DISCARD } ending;
static bool finish(ss_writer *writer, ending how, char *left, size_t size, ss_error *err)
{
    ss_ticker_stop(writer->ticker);
    ss_flight_destroy(writer->flight);
    ss_h5_session session;
    ss_h5_enter_to_write(&session);
    ss_h5_leave_group(&writer->frame);
    ss_h5_leave_group(&writer->simulation);
    bool ok = true;
    if (left && writer->output.sealed) snprintf(left, size, "%s", writer->output.temporary);
    if (how == KEEP)
        ok = ss_h5_output_commit(&writer->output, err);
    else if (how == ABANDON)
        ss_h5_output_abandon(&writer->output);
    else
        ss_h5_output_discard(&writer->output);
    ss_h5_leave(&session);
    ss_release(writer->scratch.bytes);
    ss_release(writer);
    return ok;
}

bool ss_writer_close(ss_writer *writer, ss_error *err)
{
    if (!writer) return true;
    if (writer->flight && writer->trouble.code == SS_OK) {
        // what has tripped is in the target, or goes there now; the rest was kept in vain
        ss_error late = {0};
        bool good =
            end_step(writer, &late) && (writer->flight->steps_to_dump < 0 || dump(writer, NULL, &late));
        if (good) return finish(writer, DISCARD, NULL, 0, err);
        if (writer->trouble.code == SS_OK) writer->trouble = late;
    }
    ss_error trouble = writer->trouble;
    char left[700] = "";
    bool spoilt = trouble.code != SS_OK;
    if (finish(writer, spoilt ? ABANDON : KEEP, left, sizeof left, &trouble) && !spoilt) return true;
    const char *unchanged = spoilt ? "the file was not changed: " : "";
    return *left ? ss_fail(err, trouble.code, "%s%.250s; what was safe before is in %s", unchanged,
                           trouble.message, left)
                 : ss_fail(err, trouble.code, "%s%s", unchanged, trouble.message);
}

void ss_writer_discard(ss_writer *writer)
{
    if (writer) finish(writer, DISCARD, NULL, 0, NULL);
}
