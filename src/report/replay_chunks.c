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

static bool end_chunk(walk *w, ss_error *err)
{
    ss_replay *replay = w->replay;
    if (w->raw.size == 0 || !replay->packed) return true;
    ss_replay_blob *blob = &replay->packed[replay->chunk_count - 1];
    if (!pack(w->raw.raw, w->raw.size, blob, err)) return false;
    w->used += 4.0 * ceil((double)blob->size / 3.0) + BLOCK_BYTES; // base64
    w->raw.size = 0;
    return true;
}

/* Shows one frame: its numbers in the series, its bytes in a chunk. One that cannot be read is skipped. */
static bool walk_frame(walk *w, int index, ss_error *err)
{
    ss_replay *replay = w->replay;
    ss_replay_frame frame;
    ss_error trouble = {0};
    if (!ss_replay_frame_read(replay, index, replay->packed != NULL, &frame, w->findings, &trouble)) {
        if (trouble.code == SS_ERROR_RESOURCES) {
            if (err) *err = trouble;
            return false;
        }
        char place[256];
        ss_bpmd_frame_path(replay->file, index, place, sizeof place);
        ss_findings_add(w->findings, SS_FINDING_WARNING, place, "skipped: %s", trouble.message);
        return true;
    }

    // A new chunk when the frame does not fit into the one that is being filled.
    ss_replay_view shown;
    ss_replay_frame_info(&frame, index, &shown);
    size_t bytes = ss_replay_frame_size(replay, &shown);
    int first = replay->chunk_count ? replay->chunk_first[replay->chunk_count - 1] : 0;
    for (int i = first; i < replay->shown; i++) bytes += ss_replay_frame_size(replay, &replay->frames[i]);
    bool good = true;
    if (replay->chunk_count == 0 || bytes > CHUNK_BYTES) {
        good = end_chunk(w, err);
        if (good && replay->packed) replay->packed[replay->chunk_count] = (ss_replay_blob){0};
        if (good) replay->chunk_first[replay->chunk_count++] = replay->shown;
    }

    if (good) {
        replay->frames[replay->shown] = shown;
        ss_replay_frame_measure(replay, &frame, replay->shown++);
        good = !replay->packed || gather(&w->raw, replay, &frame, &shown, err);
    }
    ss_replay_frame_free(&frame);
    return good;
}

/* Shows every stride-th frame. *fits becomes false as soon as the limit is passed; used and looked tell
 * how far it came. */
static bool walk_all(walk *w, bool *fits, ss_error *err)
{
    ss_replay *replay = w->replay;
    const ss_replay_options *options = &replay->options;
    int total = (w->end - w->begin + w->stride - 1) / w->stride;
    *fits = true;
    ss_replay_forget(replay);
    w->used = 0;
    w->looked = 0;
    w->raw.size = 0;
    for (int i = w->begin; i < w->end && *fits; i += w->stride) {
        if (options->cancel && *options->cancel) return ss_fail(err, SS_ERROR_RESOURCES, "interrupted");
        if (!walk_frame(w, i, err)) return false;
        w->looked++;
        if (options->progress) options->progress(w->looked, total, options->context);
        *fits = w->limit <= 0.0 || w->used <= w->limit;
        if (w->stride > w->end - i) break; // i + stride might not be an int
    }

    bool out_of_memory = replay->series.out_of_memory;
    for (int s = 0; s < replay->solver_count; s++) out_of_memory |= replay->solvers[s].series.out_of_memory;
    if (out_of_memory) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for series");
    return !*fits || end_chunk(w, err);
}

/* ---- as much as fits -------------------------------------------------------------------------------- */

/* As many frames as the limit allows: every stride-th, where the stride grows until they fit. */
static bool walk_within(walk *w, ss_error *err)
{
    ss_replay *replay = w->replay;
    int every = w->stride, frames = w->end - w->begin, factor = 1;
    bool fits = false;

    // Bytes of a frame in the page, from a few of them. A guess: what it leads to is measured.
    walk few = *w;
    few.stride = (frames + SAMPLES - 1) / SAMPLES;
    few.limit = 0.0;
    few.findings = NULL;
    bool good = walk_all(&few, &fits, err);
    w->raw = few.raw;
    if (!good) return false;
    double each = replay->shown ? few.used / replay->shown : 0.0;
    double guess = each * ((frames + every - 1) / every) / (0.97 * w->limit);
    if (guess > 1.0) factor = (int)ceil(fmin(guess, 1e9));

    for (;;) {
        double stride = (double)every * factor;
        bool one_left = stride >= (double)frames;
        w->stride = one_left ? frames : (int)stride;
        if (!walk_all(w, &fits, err)) return false;

        // The JSON counts as well, except for the shapes, which the limit does not count.
        if (fits) {
            ss_text json = {0};
            ss_replay_json(replay, true, &json);
            w->used += (double)json.length - replay->shape_bytes + BLOCK_BYTES;
            ss_text_free(&json);
            fits = w->used <= w->limit;
        }
        if (fits) break;
        if (one_left)
            return ss_fail(err, SS_ERROR_RESOURCES,
                           "%s: a single frame needs %.1f MB in the page, more than the limit of %g MB",
                           replay->path, 1e-6 * w->used, replay->options.megabytes);

        // How many times more frames have to be left out.
        int count = (frames + w->stride - 1) / w->stride;
        double share = w->looked > 0 ? (double)w->looked / count : 1.0;
        double wanted = fmin(ceil(1.02 * factor * w->used / share / w->limit), 1e9);
        factor = wanted > factor ? (int)wanted : factor + 1;
    }
    replay->decimated = factor > 1;
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
        *size = blob.size;
        return blob.bytes;
    }

    // Not kept: its frames are read again, and must be what they were.
    gathering all = {0};
    int end = chunk + 1 < replay->chunk_count ? replay->chunk_first[chunk + 1] : replay->shown;
    bool good = true;
    for (int i = replay->chunk_first[chunk]; good && i < end; i++) {
        const ss_replay_view *shown = &replay->frames[i];
        ss_replay_view now;
        ss_replay_frame frame;
        good = ss_replay_frame_read(replay, shown->index, true, &frame, NULL, err);
        if (!good) break;
        ss_replay_frame_info(&frame, shown->index, &now);
        bool same = now.bodies == shown->bodies && now.contacts == shown->contacts &&
                    now.scenery == shown->scenery && now.joints == shown->joints &&
                    now.alternatives == shown->alternatives;
        good = same ? gather(&all, replay, &frame, shown, err)
                    : ss_fail(err, SS_ERROR_INPUT, "%s: has changed in the meantime", replay->path);
        ss_replay_frame_free(&frame);
    }
    if (good) pack(all.raw, all.size, &blob, err);
    ss_release(all.raw);
    *size = blob.size;
    return blob.bytes;
}
