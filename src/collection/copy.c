#include "collection/copy.h"

#include "base/file.h"
#include "base/number.h"
#include "base/words.h"
#include "campaign/read_input.h"
#include "collection/crew.h"
#include "collection/make.h"
#include "dataset/stamp.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- files ------------------------------------------------------------------------------------------ */

bool ss_file_copy(const char *from, const char *to, ss_error *err)
{
    size_t size;
    unsigned char *bytes = ss_file_read(from, SIZE_MAX / 2, &size, err);
    bool good = bytes && ss_file_replace(to, bytes, size, err);
    ss_release(bytes);
    return good;
}

static bool copy_frame(ss_bpmd *file, int index, ss_writer *writer, ss_error *err)
{
    char place[256], note[1024];
    ss_scenery scenery = {0};
    ss_bpmd_frame_path(file, index, place, sizeof place);
    ss_frame *frame = ss_read_checked_frame(file, index, place, NULL, err);
    bool good = frame && ss_writer_frame(writer, frame, err) && ss_bpmd_scenery(file, index, &scenery, err) &&
                ss_writer_scenery(writer, &scenery, err) &&
                (!ss_bpmd_note(file, index, note, sizeof note) || ss_writer_note(writer, note, err));
    int results = good ? ss_bpmd_result_count(file, index, err) : 0;
    good = good && results >= 0;
    for (int i = 0; good && i < results; i++) {
        ss_stored_result result = {0};
        good = ss_bpmd_result(file, index, i, &result, err) && ss_writer_result(writer, &result, err);
        ss_stored_result_free(&result);
    }
    ss_scenery_free(&scenery);
    ss_frame_destroy(frame);
    return good;
}

bool ss_frames_copy(const char *from, const char *to, const int *frames, int count, ss_error *err)
{
    char stamp[200];
    ss_manifest manifest = {0};
    ss_shapes shapes = {0};
    ss_bpmd *file = ss_bpmd_open(from, NULL, NULL, err);
    ss_writer *writer = file ? ss_writer_open(to, SS_LAYOUT_CANONICAL, false, err) : NULL;
    bool good = writer && ss_stamp_read(from, stamp, sizeof stamp, err) &&
                ss_bpmd_manifest(file, 0, &manifest, err) && ss_writer_simulation(writer, &manifest, err) &&
                ss_bpmd_shapes(file, 0, &shapes, NULL, err) &&
                (shapes.count == 0 || ss_writer_shapes(writer, shapes.items, shapes.count, err));
    for (int i = 0; good && i < count; i++) good = copy_frame(file, frames[i], writer, err);
    if (good) {
        good = ss_writer_close(writer, err) && (!*stamp || ss_stamp_write(to, stamp, err));
        writer = NULL;
    }
    if (writer) ss_writer_discard(writer);
    ss_shapes_free(&shapes);
    ss_manifest_free(&manifest);
    ss_bpmd_close(file);
    return good;
}

/* ---- one sequence or problem ------------------------------------------------------------------------ */

typedef struct getter {
    const ss_recipes *recipes;
    const ss_get_options *options;
    const ss_sequence *sequence;  /* to be made */
    const ss_collection_row *row; /* to be copied: one of the file's */
    int frame;                    /* -1: all */
    int made;
} getter;

static bool get_work(void *context, int task, const volatile int *cancel, ss_text *result, ss_error *err)
{
    (void)task;
    const getter *g = context;
    const ss_get_options *options = g->options;
    char path[2 * SS_FILE_PATH];
    if (g->sequence) {
        ss_making making = {
            .recipes = g->recipes, .target = options->output, .only = g->frame, .cancel = cancel};
        return ss_sequence_make(&making, g->sequence, result, err);
    }
    snprintf(path, sizeof path, "%s/%s", options->folder, g->row->file);
    ss_text_append(result, "\n");
    return g->frame < 0 || g->row->frame < 0
               ? ss_file_copy(path, options->output, err)
               : ss_frames_copy(path, options->output, (const int[]){g->row->frame}, 1, err);
}

static bool get_done(void *context, int task, const char *result, size_t size, const ss_error *fault,
                     ss_error *err)
{
    (void)task, (void)size;
    getter *g = context;
    for (const char *at = result; at && *at; at++) g->made += *at == '\n';
    return !fault || ss_fail(err, fault->code, "%s", fault->message);
}

/* Splits the number of a frame off an id, if it ends with one. */
static int split_frame(const char *id, char *sequence, size_t size)
{
    int frame = -1;
    snprintf(sequence, size, "%s", id);
    char *slash = strrchr(sequence, '/');
    if (slash && strchr(sequence, '/') != slash && ss_integer_read(slash + 1, &frame) && frame >= 0)
        *slash = 0;
    else
        frame = -1;
    return frame;
}

static bool find_recipe(getter *g, const char *id, ss_error *err)
{
    ss_unknown unknown = ss_unknown_start("sequence", id);
    for (int i = 0; i < g->recipes->sequence_count; i++) {
        const ss_sequence *sequence = &g->recipes->sequences[i];
        if (strcmp(sequence->id, id) == 0) g->sequence = sequence;
        ss_unknown_offer(&unknown, sequence->id);
    }
    if (!g->sequence && !strchr(id, '/'))
        return ss_fail(err, SS_ERROR_USAGE,
                       "'%s' is not a sequence: expected FAMILY/SEQUENCE or FAMILY/SEQUENCE/FRAME", id);
    if (!g->sequence) return ss_unknown_fail(&unknown, err);
    if (g->frame >= 0 && g->sequence->scene && g->frame >= g->sequence->frames)
        return ss_fail(err, SS_ERROR_USAGE, "%s has %d frames, counted from 0", id, g->sequence->frames);
    return true;
}

bool ss_collection_get(const ss_recipes *recipes, const ss_get_options *options,
                       const ss_collection_hooks *hooks, int *count, ss_error *err)
{
    char id[600];
    ss_collection_index index = {0};
    getter g = {.recipes = recipes, .options = options, .frame = split_frame(options->id, id, sizeof id)};
    bool good = true;
    if (options->folder) {
        good = ss_collection_open(options->folder, &index, err);
        for (int i = 0; good && i < index.count && !g.row; i++) {
            const ss_collection_row *row = &index.rows[i];
            char name[600];
            snprintf(name, sizeof name, "%s/%s", row->family, row->sequence);
            if (strcmp(g.frame < 0 ? name : row->id, options->id) == 0) g.row = row;
        }
        if (good && !g.row)
            good = ss_fail(err, SS_ERROR_USAGE, "%s: holds no problem '%s'", options->folder, options->id);
    } else {
        good = find_recipe(&g, id, err);
    }
    ss_crew crew = {
        .tasks = 1, .jobs = 1, .stop = hooks->stop, .context = &g, .work = get_work, .done = get_done};
    good = good && ss_crew_run(&crew, err);
    *count = g.made;
    ss_index_free(&index);
    return good;
}

/* ---- a subset --------------------------------------------------------------------------------------- */

typedef struct cut {
    int first, count; /* rows of the new index */
    bool whole;
} cut;

typedef struct cutter {
    const ss_subset_options *options;
    const ss_collection_hooks *hooks;
    ss_collection_index all, index; /* the latter: what is left, with its old frames */
    cut *cuts;
    int cut_count, done;
} cutter;

static void paths_of(const cutter *c, const char *file, char *from, char *to, size_t size)
{
    snprintf(from, size, "%s/%s", c->options->folder, file);
    snprintf(to, size, "%s/%s", c->options->output, file);
}

static bool cut_work(void *context, int task, const volatile int *cancel, ss_text *result, ss_error *err)
{
    (void)cancel, (void)result;
    const cutter *c = context;
    const cut *own = &c->cuts[task];
    const ss_collection_row *rows = &c->index.rows[own->first];
    char from[2 * SS_FILE_PATH], to[2 * SS_FILE_PATH];
    paths_of(c, rows->file, from, to, sizeof from);
    if (own->whole) return ss_file_copy(from, to, err);
    int *frames = ss_allocate((size_t)own->count, sizeof *frames);
    if (!frames) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d frames", own->count);
    for (int i = 0; i < own->count; i++) frames[i] = rows[i].frame;
    bool good = ss_frames_copy(from, to, frames, own->count, err);
    ss_release(frames);
    return good;
}

static bool cut_done(void *context, int task, const char *result, size_t size, const ss_error *fault,
                     ss_error *err)
{
    (void)result, (void)size;
    cutter *c = context;
    c->done += c->cuts[task].count;
    if (c->hooks->progress) c->hooks->progress(c->hooks->context, "copying problem", c->done, c->index.count);
    return !fault || ss_fail(err, fault->code, "%s", fault->message);
}

/* The rows that stay, file by file. */
static bool choose(cutter *c, ss_error *err)
{
    c->cuts = ss_allocate((size_t)c->all.count + 1, sizeof *c->cuts);
    if (!c->cuts) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the subset");
    for (int i = 0, end; i < c->all.count; i = end) {
        cut own = {.first = c->index.count, .whole = true};
        for (end = i; end < c->all.count && strcmp(c->all.rows[end].file, c->all.rows[i].file) == 0; end++) {
            bool wanted = ss_where_holds(c->options->where, &c->all.rows[end]);
            own.whole &= wanted;
            own.count += wanted;
            if (wanted && !ss_index_add(&c->index, &c->all.rows[end], err)) return false;
        }
        if (own.count > 0) c->cuts[c->cut_count++] = own;
    }
    return c->cut_count > 0 ||
           ss_fail(err, SS_ERROR_USAGE, "no problem of %s fulfils --where", c->options->folder);
}

static bool make_folders(const cutter *c, ss_error *err)
{
    bool good = ss_folder_make(c->options->output, err);
    for (int k = 0; good && k < c->cut_count; k++) {
        char folder[2 * SS_FILE_PATH];
        snprintf(folder, sizeof folder, "%s/%s", c->options->output, c->index.rows[c->cuts[k].first].family);
        good = ss_folder_make(folder, err);
    }
    return good;
}

/* Frames are numbered from 0 in files that were cut; pictures come along. */
static bool settle(cutter *c, ss_error *err)
{
    char from[2 * SS_FILE_PATH], to[2 * SS_FILE_PATH];
    for (int k = 0; k < c->cut_count; k++) {
        ss_collection_row *rows = &c->index.rows[c->cuts[k].first];
        for (int i = 0; i < c->cuts[k].count && !c->cuts[k].whole; i++) {
            char place[64];
            rows[i].frame = i;
            snprintf(place, sizeof place, "/simulation_000001/mbs_frame%06d", i + 1);
            rows[i].place = ss_index_keep(&c->index, place, strlen(place), err);
            if (!rows[i].place) return false;
        }
        char picture[SS_FILE_PATH];
        const char *dot = strrchr(rows->file, '.');
        snprintf(picture, sizeof picture, "%.*s.png", dot ? (int)(dot - rows->file) : 0, rows->file);
        paths_of(c, picture, from, to, sizeof from);
        if (access(from, R_OK) == 0 && !ss_file_copy(from, to, err)) return false;
    }
    return true;
}

bool ss_collection_subset(const ss_recipes *recipes, const ss_subset_options *options,
                          const ss_collection_hooks *hooks, int *count, ss_error *err)
{
    cutter c = {.options = options, .hooks = hooks};
    ss_recipes own = {0};
    struct stat in, out;
    bool good = ss_collection_open(options->folder, &c.all, err) && ss_index_create(&c.index, err) &&
                ss_recipes_read(&own, options->folder, err);
    if (good && stat(options->folder, &in) == 0 && stat(options->output, &out) == 0 &&
        in.st_ino == out.st_ino && in.st_dev == out.st_dev)
        good = ss_fail(err, SS_ERROR_USAGE,
                       "%s is the folder that is read; choose another one for the output", options->output);
    good = good && choose(&c, err) && make_folders(&c, err);
    if (good) {
        ss_crew crew = {.tasks = c.cut_count,
                        .jobs = options->jobs,
                        .stop = hooks->stop,
                        .context = &c,
                        .work = cut_work,
                        .done = cut_done};
        good = ss_crew_run(&crew, err);
    }
    if (good && !(hooks->stop && *hooks->stop)) {
        ss_edition edition = {.folder = options->output,
                              .name = own.name,
                              .version = own.version,
                              .title = own.title,
                              .license = own.license,
                              .families = recipes->families,
                              .family_count = recipes->family_count,
                              .part = "a subset"};
        good = settle(&c, err) && ss_edition_write(&edition, &c.index, err);
    }
    *count = c.index.count;
    ss_recipes_free(&own);
    ss_release(c.cuts);
    ss_index_free(&c.index);
    ss_index_free(&c.all);
    return good;
}
