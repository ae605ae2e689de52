/* Walking over the frames of a replay, and making chunks of them.
 *
 * With a limit on the size the chunks are made while the frames are looked at, and kept; when they turn out
 * too large, fewer frames are tried. Without one a first walk only looks, and chunks are made when they are
 * asked for. Frames are in memory one at a time. */
#include "report/replay_internal.h"

#include <math.h>
#include <string.h>
#include <zlib.h>

enum { CHUNK_BYTES = 512 * 1024, PACK_LEVEL = 6, SAMPLES = 6 };
enum { BLOCK_BYTES = 80 }; /* around a chunk, or the JSON, in the page */

/* ---- packing ---------------------------------------------------------------------------------------- */

static bool pack(const unsigned char *raw, size_t size, ss_replay_blob *blob, ss_error *err)
{
    uLongf packed = compressBound((uLong)size);
    unsigned char *bytes = ss_allocate(packed, 1);
    bool good = bytes && compress2(bytes, &packed, raw, (uLong)size, PACK_LEVEL) == Z_OK;
    // what is kept for long takes no more room than it needs
    blob->bytes = good ? ss_allocate(packed, 1) : NULL;
    blob->size = packed;
    if (blob->bytes) memcpy(blob->bytes, bytes, packed);
    ss_release(bytes);
    return blob->bytes || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a chunk of %zu bytes", size);
}

static double page_bytes(size_t packed)
{
    return 4.0 * ceil((double)packed / 3.0) + BLOCK_BYTES; // base64
}

/* Frames gather until they are enough for a chunk. */
typedef struct gathering {
    unsigned char *raw;
    size_t size, capacity;
} gathering;

static bool gather(gathering *all, const ss_replay *replay, const ss_replay_frame *frame,
                   const ss_replay_view *shown, ss_error *err)
{
    size_t more = ss_replay_frame_size(replay, shown);
    if (all->size + more > all->capacity) {
        size_t capacity = all->size + more + CHUNK_BYTES;
        unsigned char *raw = ss_allocate(capacity, 1);
        if (!raw) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a frame of %zu bytes", more);
        if (all->size) memcpy(raw, all->raw, all->size);
        ss_release(all->raw);
        *all = (gathering){raw, all->size, capacity};
    }
    ss_replay_frame_encode(replay, frame, all->raw + all->size);
    all->size += more;
    return true;
}

/* ---- walking over frames ---------------------------------------------------------------------------- */

typedef struct walk {
    ss_replay *replay;
    ss_findings *findings;
    int begin, end, stride;
    double limit; /* bytes in the page, besides shapes; 0 = none */
    double used;
    int looked; /* frames so far */
    gathering raw;
} walk;

static bool is_cancelled(const ss_replay *replay)
{
    return replay->options.cancel && *replay->options.cancel;
}

static bool end_chunk(walk *w, ss_error *err)
{
    ss_replay *replay = w->replay;
    if (w->raw.size == 0 || !replay->packed) return true;
    ss_replay_blob *blob = &replay->packed[replay->chunk_count - 1];
    if (!pack(w->raw.raw, w->raw.size, blob, err)) return false;
    w->used += page_bytes(blob->size);
    w->raw.size = 0;
    return true;
}

/* Bytes of the chunk that is being filled, before the frame that was added last. */
static size_t chunk_fill(const ss_replay *replay)
{
    size_t bytes = 0;
    int first = replay->chunk_count ? replay->chunk_first[replay->chunk_count - 1] : 0;
    for (int i = first; i < replay->shown; i++) bytes += ss_replay_frame_size(replay, &replay->frames[i]);
    return bytes;
}

static bool begin_chunk_if_full(walk *w, const ss_replay_view *next, ss_error *err)
{
    ss_replay *replay = w->replay;
    size_t fill = chunk_fill(replay), more = ss_replay_frame_size(replay, next);
    if (replay->chunk_count > 0 && fill + more <= CHUNK_BYTES) return true;
    if (!end_chunk(w, err)) return false;
    if (replay->packed) replay->packed[replay->chunk_count] = (ss_replay_blob){0};
    replay->chunk_first[replay->chunk_count++] = replay->shown;
    return true;
}

static bool show_frame(walk *w, int index, const ss_replay_frame *frame, ss_error *err)
{
    ss_replay *replay = w->replay;
    ss_replay_view shown;
    ss_replay_frame_info(frame, index, &shown);
    if (!begin_chunk_if_full(w, &shown, err)) return false;
    replay->frames[replay->shown] = shown;
    ss_replay_frame_measure(replay, frame, replay->shown++);
    return !replay->packed || gather(&w->raw, replay, frame, &shown, err);
}

static bool walk_frame(walk *w, int index, ss_error *err)
{
    ss_replay_frame frame;
    ss_error trouble = {0};
    if (!ss_replay_frame_read(w->replay, index, w->replay->packed != NULL, &frame, w->findings, &trouble)) {
        if (trouble.code == SS_ERROR_RESOURCES) {
            if (err) *err = trouble;
            return false;
        }
        char place[256];
        ss_bpmd_frame_path(w->replay->file, index, place, sizeof place);
        ss_findings_add(w->findings, SS_FINDING_WARNING, place, "skipped: %s", trouble.message);
        return true;
    }
    bool good = show_frame(w, index, &frame, err);
    ss_replay_frame_free(&frame);
    return good;
}

static bool ran_out_of_memory(const ss_replay *replay)
{
    bool out = replay->series.out_of_memory;
    for (int s = 0; s < replay->solver_count; s++) out = out || replay->solvers[s].series.out_of_memory;
    return out;
}

/* Shows every stride-th frame. *fits becomes false as soon as the limit is passed; used and looked tell
 * how far it came. */
static bool walk_all(walk *w, bool *fits, ss_error *err)
{
    const ss_replay_options *options = &w->replay->options;
    int total = (w->end - w->begin + w->stride - 1) / w->stride;
    *fits = true;
    ss_replay_forget(w->replay);
    w->used = 0;
    w->looked = 0;
    w->raw.size = 0;
    for (int i = w->begin; i < w->end && *fits; i += w->stride) {
        if (is_cancelled(w->replay)) return ss_fail(err, SS_ERROR_RESOURCES, "interrupted");
        if (!walk_frame(w, i, err)) return false;
        if (options->progress)
            options->progress(++w->looked, total, options->context);
        else
            w->looked++;
        *fits = w->limit <= 0.0 || w->used <= w->limit;
        if (w->stride > w->end - i) break; // i + stride might not be an int
    }
    if (ran_out_of_memory(w->replay)) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for series");
    if (*fits && !end_chunk(w, err)) return false;
    return true;
}

/* Of all but the shapes, which the limit does not count. */
static double json_bytes(const ss_replay *replay)
{
    ss_text text = {0};
    ss_replay_json(replay, true, &text);
    double bytes = (double)text.length - replay->shape_bytes + BLOCK_BYTES;
    ss_text_free(&text);
    return bytes;
}

/* ---- as much as fits -------------------------------------------------------------------------------- */

/* Bytes of a frame in the page, from a few of them. A guess: what it leads to is measured. */
static bool guess_frame_bytes(walk *w, double *bytes, ss_error *err)
{
    walk few = *w;
    bool fits;
    few.stride = (w->end - w->begin + SAMPLES - 1) / SAMPLES;
    few.limit = 0.0;
    few.findings = NULL;
    bool good = walk_all(&few, &fits, err);
    int shown = w->replay->shown;
    *bytes = good && shown ? few.used / shown : 0.0;
    w->raw = few.raw;
    return good;
}

static bool try_fit(walk *w, bool *fits, ss_error *err)
{
    if (!walk_all(w, fits, err)) return false;
    if (*fits) {
        w->used += json_bytes(w->replay);
        *fits = w->used <= w->limit;
    }
    return true;
}

/* How many times more frames have to be left out. */
static int next_factor(const walk *w, int factor)
{
    int count = (w->end - w->begin + w->stride - 1) / w->stride;
    double share = w->looked > 0 ? (double)w->looked / count : 1.0;
    double wanted = ceil(1.02 * factor * w->used / share / w->limit);
    if (wanted > 1e9) wanted = 1e9;
    return wanted > factor ? (int)wanted : factor + 1;
}

static bool walk_within(walk *w, ss_error *err)
{
    int every = w->stride, count = (w->end - w->begin + every - 1) / every, factor = 1;
    double each;
    bool fits = false;
    if (!guess_frame_bytes(w, &each, err)) return false;
    double guess = each * count / (0.97 * w->limit);
    if (guess > 1.0) factor = (int)ceil(fmin(guess, 1e9));
    for (;;) {
        double stride = (double)every * factor;
        bool one_left = stride >= (double)(w->end - w->begin);
        w->stride = one_left ? w->end - w->begin : (int)stride;
        if (!try_fit(w, &fits, err)) return false;
        if (fits) break;
        if (one_left)
            return ss_fail(err, SS_ERROR_RESOURCES,
                           "%s: a single frame needs %.1f MB in the page, more than the limit of %g MB",
                           w->replay->path, 1e-6 * w->used, w->replay->options.megabytes);
        factor = next_factor(w, factor);
    }
    w->replay->decimated = factor > 1;
    return true;
}

bool ss_replay_read_frames(ss_replay *replay, int begin, int end, ss_findings *findings, ss_error *err)
{
    const ss_replay_options *options = &replay->options;
    walk w = {.replay = replay,
              .findings = findings,
              .begin = begin,
              .end = end,
              .stride = options->every > 0 ? options->every : 1,
              .limit = 1e6 * options->megabytes};
    if (w.limit > 0.0 && w.limit <= replay->shape_bytes)
        return ss_fail(err, SS_ERROR_RESOURCES,
                       "%s: its bodies alone need %.1f MB in the page, more than the limit of %g MB",
                       replay->path, 1e-6 * replay->shape_bytes, options->megabytes);
    if (w.limit > 0.0) w.limit -= replay->shape_bytes;
    bool fits, good = w.limit > 0.0 ? walk_within(&w, err) : walk_all(&w, &fits, err);
    ss_release(w.raw.raw);
    return good;
}

/* ---- one chunk -------------------------------------------------------------------------------------- */

static bool gather_frame(gathering *all, const ss_replay *replay, const ss_replay_view *shown, ss_error *err)
{
    ss_replay_frame frame;
    if (!ss_replay_frame_read(replay, shown->index, true, &frame, NULL, err)) return false;
    ss_replay_view now;
    ss_replay_frame_info(&frame, shown->index, &now);
    bool same = now.bodies == shown->bodies && now.contacts == shown->contacts &&
                now.scenery == shown->scenery && now.joints == shown->joints &&
                now.alternatives == shown->alternatives;
    bool good = same ? gather(all, replay, &frame, shown, err)
                     : ss_fail(err, SS_ERROR_INPUT, "%s: has changed in the meantime", replay->path);
    ss_replay_frame_free(&frame);
    return good;
}

static bool make_chunk(const ss_replay *replay, int chunk, ss_replay_blob *blob, ss_error *err)
{
    gathering all = {0};
    int end = chunk + 1 < replay->chunk_count ? replay->chunk_first[chunk + 1] : replay->shown;
    bool good = true;
    for (int i = replay->chunk_first[chunk]; good && i < end; i++)
        good = gather_frame(&all, replay, &replay->frames[i], err);
    good = good && pack(all.raw, all.size, blob, err);
    ss_release(all.raw);
    return good;
}

unsigned char *ss_replay_chunk(ss_replay *replay, int chunk, size_t *size, ss_error *err)
{
    ss_replay_blob blob = {0};
    if (chunk < 0 || chunk >= replay->chunk_count) {
        ss_fail(err, SS_ERROR_USAGE, "unknown chunk %d; there are %d", chunk, replay->chunk_count);
        return NULL;
    }
    if (replay->packed) {
        blob.size = replay->packed[chunk].size;
        blob.bytes = ss_allocate(blob.size, 1);
        if (blob.bytes)
            memcpy(blob.bytes, replay->packed[chunk].bytes, blob.size);
        else
            ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a chunk of %zu bytes", blob.size);
    } else {
        make_chunk(replay, chunk, &blob, err);
    }
    *size = blob.size;
    return blob.bytes;
}
