/* Workers looking at files: what is in them, and what kind of problems they are. */
#include "campaign/inspect.h"

#include "base/digest.h"
#include "campaign/features.h"
#include "campaign/read_input.h"
#include "campaign/worker_tasks.h"
#include "dataset/stamp.h"

#include <math.h>
#include <string.h>

/* ---- what is in a file --------------------------------------------------------------------------- */

bool ss_task_open(ss_worker_state *state, int source, ss_text *reply, ss_error *err)
{
    const ss_campaign_source *wanted = &state->plan->campaign->sources[source];
    const char *path = wanted->path;
    ss_format format;
    if (!ss_format_of_file(path, &format, err)) return false;

    if (format == SS_FORMAT_BPMD) {
        ss_bpmd *file = ss_worker_state_file(state, source, err);
        int begin, end;
        if (!file || !ss_choose_frames(file, path, wanted->frames, &begin, &end, err)) return false;
        if (begin == end) return ss_fail(err, SS_ERROR_INPUT, "%s: holds no frames", path);
        ss_pack_int(reply, SS_FORMAT_BPMD);
        ss_pack_int(reply, begin), ss_pack_int(reply, end);
        return true;
    }

    ss_fclib_kind kinds[3];
    int count = ss_fclib_kinds(path, kinds, err);
    if (count < 0) return false;
    if (count == 0) return ss_fail(err, SS_ERROR_INPUT, "%s: holds no problem", path);
    ss_pack_int(reply, SS_FORMAT_FCLIB);
    ss_pack_int(reply, count);
    for (int i = 0; i < count; i++) ss_pack_int(reply, kinds[i]);
    return true;
}

bool ss_source_contents_unpack(ss_unpacker *from, ss_source_contents *contents)
{
    *contents = (ss_source_contents){.format = (ss_format)ss_unpack_within(from, 0, SS_FORMAT_FCLIB)};
    if (contents->format == SS_FORMAT_BPMD) {
        contents->begin = ss_unpack_within(from, 0, INT32_MAX);
        contents->end = ss_unpack_within(from, contents->begin, INT32_MAX);
    } else {
        contents->kind_count = ss_unpack_within(from, 1, 3);
        for (int i = 0; i < contents->kind_count; i++)
            contents->kinds[i] = (ss_fclib_kind)ss_unpack_within(from, 0, SS_FCLIB_GLOBAL_ROLLING);
    }
    return !from->bad && from->at == from->end;
}

/* ---- one problem --------------------------------------------------------------------------------- */

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The name of the file without folder and ending. */
static char *file_scene(const char *path)
{
    const char *name = name_of(path), *dot = strrchr(name, '.');
    size_t length = dot && dot > name ? (size_t)(dot - name) : strlen(name);
    char *scene = ss_allocate(length + 1, 1);
    if (scene) memcpy(scene, name, length);
    return scene;
}

/* One that cannot be read has no numbers: it is known by what is wrong with it. */
static void hash_fault(const char *file, const char *place, const char *fault, char text[33])
{
    ss_digest digest = ss_digest_start();
    ss_digest_add_text(&digest, file);
    ss_digest_add_text(&digest, place);
    ss_digest_add_text(&digest, fault);
    ss_digest_print(&digest, text);
}

static void blame(ss_problem_entry *entry, const char *file, const char *fault)
{
    entry->fault = ss_text_copy(fault);
    entry->time = entry->h = entry->mass_ratio = entry->density = NAN;
    entry->rank_ratio = entry->mu_least = entry->mu_most = NAN;
    hash_fault(file, entry->place ? entry->place : "", fault, entry->hash);
}

const char *ss_fault_without_path(const ss_error *err, const char *path)
{
    size_t length = strlen(path);
    bool named = strncmp(err->message, path, length) == 0 && strncmp(err->message + length, ": ", 2) == 0;
    return named ? err->message + length + 2 : err->message;
}

bool ss_task_inspect(ss_worker_state *state, int index, ss_text *reply, ss_error *err)
{
    const ss_planned_problem *planned = &state->plan->problems[index];
    const char *path = state->plan->campaign->sources[planned->source].path;
    char place[256];
    ss_worker_state_place(state, index, place, sizeof place);
    ss_problem_entry entry = {.index = planned->index};
    entry.place = ss_text_copy(place);
    if (ss_worker_state_load(state, index, err)) {
        memcpy(entry.hash, state->hash, sizeof entry.hash);
        bool measured = state->frame ? ss_features_of_frame(state->frame, &entry, err)
                                     : ss_features_of_cone(state->fclib->cone, state->lawful, &entry, err);
        if (!measured) return false;
    } else {
        if (err->code == SS_ERROR_RESOURCES) return false;
        blame(&entry, name_of(path), ss_fault_without_path(err, path));
    }

    // A frame's scene is what its file says: keywords, or else the title; otherwise the name of the file.
    ss_manifest manifest = {0};
    ss_bpmd *file = planned->index >= 0 ? ss_worker_state_file(state, planned->source, NULL) : NULL;
    if (file && ss_bpmd_manifest(file, ss_bpmd_frame_simulation(file, planned->index), &manifest, NULL)) {
        const char *named = manifest.keywords && *manifest.keywords ? manifest.keywords : manifest.title;
        if (named && *named) entry.scene = ss_text_copy(named);
        ss_manifest_free(&manifest);
    }
    if (!entry.scene) entry.scene = file_scene(path);
    char stamp[200];
    if (ss_stamp_read(path, stamp, sizeof stamp, NULL) && *stamp) entry.collection = ss_text_copy(stamp);
    bool has_before =
        file && planned->index > 0 &&
        ss_bpmd_frame_simulation(file, planned->index) == ss_bpmd_frame_simulation(file, planned->index - 1);

    ss_pack_int(reply, has_before);
    ss_problem_entry_pack(&entry, reply);
    ss_problem_entry_clear(&entry);
    return true;
}

/* ---- through the pipe ---------------------------------------------------------------------------- */

void ss_problem_entry_pack(const ss_problem_entry *entry, ss_text *to)
{
    ss_pack_text(to, entry->hash);
    ss_pack_text(to, entry->place), ss_pack_text(to, entry->scene), ss_pack_text(to, entry->fault);
    ss_pack_text(to, entry->collection);
    ss_pack_int(to, entry->bodies), ss_pack_int(to, entry->joints);
    ss_pack_int(to, entry->rows), ss_pack_int(to, entry->contacts);
    ss_pack_real(to, entry->time), ss_pack_real(to, entry->h);
    ss_pack_real(to, entry->mass_ratio), ss_pack_real(to, entry->density),
        ss_pack_real(to, entry->rank_ratio);
    ss_pack_real(to, entry->mu_least), ss_pack_real(to, entry->mu_most);
}

bool ss_problem_entry_unpack(ss_unpacker *from, ss_problem_entry *entry)
{
    char *hash = ss_unpack_text(from);
    if (!hash || strlen(hash) != sizeof entry->hash - 1) from->bad = true;
    if (!from->bad) memcpy(entry->hash, hash, sizeof entry->hash);
    ss_release(hash);
    entry->place = ss_unpack_text(from);
    entry->scene = ss_unpack_text(from);
    entry->fault = ss_unpack_text(from);
    entry->collection = ss_unpack_text(from);
    int *const counts[] = {&entry->bodies, &entry->joints, &entry->rows, &entry->contacts};
    for (int i = 0; i < 4; i++) *counts[i] = ss_unpack_within(from, 0, INT32_MAX);
    double *const reals[] = {&entry->time,       &entry->h,        &entry->mass_ratio, &entry->density,
                             &entry->rank_ratio, &entry->mu_least, &entry->mu_most};
    for (int i = 0; i < 7; i++) *reals[i] = ss_unpack_real(from);
    return !from->bad && from->at == from->end && entry->place && entry->scene;
}

bool ss_problem_entry_fail(ss_problem_entry *entry, const char *place, const char *path, const char *fault,
                           ss_error *err)
{
    ss_problem_entry_clear(entry);
    entry->place = ss_text_copy(place);
    entry->scene = file_scene(path);
    blame(entry, name_of(path), fault);
    return (entry->place && entry->scene && entry->fault) ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for problems");
}

/* Known by its whole path: two that are missing are two. */
bool ss_problem_entry_refuse(ss_problem_entry *entry, const char *path, const char *fault, ss_error *err)
{
    bool good = ss_problem_entry_fail(entry, "/", path, fault, err);
    if (good) hash_fault(path, "/", fault, entry->hash);
    return good;
}

void ss_problem_entry_clear(ss_problem_entry *entry)
{
    ss_release(entry->place);
    ss_release(entry->scene);
    ss_release(entry->fault);
    ss_release(entry->collection);
    entry->place = entry->scene = entry->fault = entry->collection = NULL;
}
