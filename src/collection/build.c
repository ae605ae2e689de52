#include "collection/collection.h"

#include "base/file.h"
#include "collection/crew.h"
#include "collection/hardness.h"
#include "collection/make.h"
#include "report/replay.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define UNFINISHED "index.partial.csv" /* rows of the sequences that are done, in the order they came */

typedef struct builder {
    const ss_recipes *recipes;
    const ss_build_options *options;
    const ss_collection_hooks *hooks;
    ss_build_summary *summary;
    ss_collection_index index;
    const ss_sequence **missing; /* what has to be made, in the order of the recipes */
    int missing_count;
    const char **shown; /* files that need a replay */
    int shown_count;
    int done, total; /* problems */
    int log;         /* descriptor of the unfinished index; -1 */
    char path[2 * SS_FILE_PATH];
} builder;

static const char *path_of(builder *b, const char *file)
{
    snprintf(b->path, sizeof b->path, "%s/%s", b->options->folder, file);
    return b->path;
}

/* ---- what is there ---------------------------------------------------------------------------------- */

/* Rows of an index that the sequence has in the same form: all of them, and the file. */
static bool reuse(builder *b, const ss_collection_index *old, const ss_sequence *sequence, ss_error *err)
{
    char file[SS_FILE_PATH];
    int first = -1, count = 0;
    ss_sequence_file(sequence, file, sizeof file);
    for (int i = 0; i < old->count; i++) {
        const ss_collection_row *row = &old->rows[i];
        if (strcmp(row->recipe ? row->recipe : "", sequence->digest) != 0) continue;
        if (first < 0) first = i;
        count++;
    }
    bool whole = count > 0 && (sequence->source || count == sequence->frames);
    if (!whole || access(path_of(b, file), R_OK) != 0) return true;
    for (int i = first; i < old->count; i++) {
        ss_collection_row row = old->rows[i];
        if (strcmp(row.recipe ? row.recipe : "", sequence->digest) != 0) continue;
        const char **texts[] = {&row.id,     &row.hash,   &row.family, &row.sequence, &row.scene,
                                &row.subset, &row.file,   &row.place,  &row.level,    &row.solver,
                                &row.second, &row.reason, &row.recipe};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
            const char *text = *texts[k] ? *texts[k] : "";
            *texts[k] = ss_index_keep(&b->index, text, strlen(text), err);
            if (!*texts[k]) return false;
        }
        row.subset = sequence->small ? "small" : "full";
        if (!ss_index_add(&b->index, &row, err)) return false;
    }
    return true;
}

static bool has_older(const ss_collection_index *old, const ss_sequence *sequence)
{
    for (int i = 0; i < old->count; i++)
        if (strcmp(old->rows[i].family, sequence->family) == 0 &&
            strcmp(old->rows[i].sequence, sequence->name) == 0)
            return true;
    return false;
}

static bool has_rows(const ss_collection_index *index, const ss_sequence *sequence)
{
    for (int i = 0; i < index->count; i++)
        if (strcmp(index->rows[i].recipe, sequence->digest) == 0) return true;
    return false;
}

/* Files of the sequence that a process was writing when it was killed: NAME.*.PROCESS.partial and, from the
 * writer of frames, NAME.*.PROCESS-N.partial. */
static void sweep_away(builder *b, const ss_sequence *sequence)
{
    size_t length = strlen(sequence->name);
    DIR *folder = opendir(path_of(b, sequence->family));
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        const char *name = entry->d_name, *end = strstr(name, ".partial"), *at = end;
        if (strncmp(name, sequence->name, length) != 0 || name[length] != '.') continue;
        if (!end || end[sizeof ".partial" - 1] != '\0') continue;
        while (at > name && at[-1] != '.') at--;
        long process = strtol(at, NULL, 10);
        if (process > 0 && kill((pid_t)process, 0) != 0 && errno == ESRCH) unlinkat(dirfd(folder), name, 0);
    }
    if (folder) closedir(folder);
}

/* Sequences that an earlier build has made, whether it came to its end or not, are kept. What an unfinished
 * index says about a sequence is newer than what the index says. */
static bool plan(builder *b, ss_error *err)
{
    static const char *const indexes[] = {"index.csv", UNFINISHED};
    ss_collection_index old[2] = {{0}};
    bool good = true;
    for (int i = 0; good && i < 2; i++) {
        good = ss_index_create(&old[i], err);
        if (good && access(path_of(b, indexes[i]), F_OK) == 0)
            good = ss_index_read_file(&old[i], b->path, err);
    }

    int count = b->recipes->sequence_count;
    b->missing = ss_allocate((size_t)count + 1, sizeof *b->missing);
    if (good && !b->missing) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the collection");
    for (int s = 0; good && s < count; s++) {
        const ss_sequence *sequence = &b->recipes->sequences[s];
        if (b->options->small && !sequence->small && !sequence->source) continue;
        int before = b->index.count, frames = sequence->source ? 1 : sequence->frames;
        b->summary->sequences++;
        sweep_away(b, sequence);
        const ss_collection_index *newest = &old[has_older(&old[1], sequence)];
        good = reuse(b, newest, sequence, err);
        if (has_rows(&b->index, sequence)) {
            b->summary->reused++;
            frames = b->index.count - before;
            b->done += frames;
        } else {
            b->missing[b->missing_count++] = sequence;
            b->summary->outdated += has_older(newest, sequence);
        }
        b->total += frames;
    }
    ss_index_free(&old[0]);
    ss_index_free(&old[1]);
    return good;
}

/* ---- making ----------------------------------------------------------------------------------------- */

static bool work(void *context, int task, const volatile int *cancel, ss_text *result, ss_error *err)
{
    const builder *b = context;
    ss_making making = {.recipes = b->recipes, .folder = b->options->folder, .cancel = cancel};
    return ss_sequence_make(&making, b->missing[task], result, err);
}

/* Rows are on disk before they count: a build that is killed continues from there. */
static bool log_rows(builder *b, const char *rows, size_t size, ss_error *err)
{
    const char *path = path_of(b, UNFINISHED);
    for (size_t done = 0; done < size;) {
        ssize_t part = write(b->log, rows + done, size - done);
        if (part < 0 && errno == EINTR) continue;
        if (part < 0) return ss_fail(err, SS_ERROR_RESOURCES, "%s: %s", path, strerror(errno));
        done += (size_t)part;
    }
    return fsync(b->log) == 0 || ss_fail(err, SS_ERROR_RESOURCES, "%s: %s", path, strerror(errno));
}

static bool done(void *context, int task, const char *result, size_t size, const ss_error *fault,
                 ss_error *err)
{
    builder *b = context;
    const ss_sequence *sequence = b->missing[task];
    if (b->hooks->stop && *b->hooks->stop) return true;
    if (fault) {
        char line[2000];
        snprintf(line, sizeof line, "%s: %s", sequence->id, fault->message);
        if (b->hooks->complain) b->hooks->complain(b->hooks->context, line);
        b->summary->failed++;
        b->total -= sequence->source ? 1 : sequence->frames;
        return true;
    }
    if (size == 0) return true; // cancelled
    ss_text csv = {0};
    int before = b->index.count;
    ss_index_csv_head(&csv);
    ss_text_append_bytes(&csv, result, size);
    bool good = !csv.out_of_memory || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the index");
    good = good && ss_index_read(&b->index, csv.data, csv.length, "rows of a worker", err) &&
           log_rows(b, result, size, err);
    ss_text_free(&csv);
    int rows = b->index.count - before;
    b->done += rows;
    if (sequence->source) b->total += rows - 1;
    if (b->hooks->progress) b->hooks->progress(b->hooks->context, "problem", b->done, b->total);
    return good;
}

static bool make_missing(builder *b, ss_error *err)
{
    if (b->missing_count == 0) return true;
    for (int k = 0; k < b->missing_count; k++)
        if (!ss_folder_make(path_of(b, b->missing[k]->family), err)) return false;

    // The rows that are known open the unfinished index.
    ss_text csv = {0};
    ss_index_csv_head(&csv);
    for (int i = 0; i < b->index.count; i++) ss_index_csv_row(&csv, &b->index.rows[i]);
    bool good = !csv.out_of_memory || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the index");
    good = good && ss_file_replace(path_of(b, UNFINISHED), csv.data, csv.length, err);
    ss_text_free(&csv);
    if (!good) return false;
    b->log = open(path_of(b, UNFINISHED), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (b->log < 0) return ss_fail(err, SS_ERROR_RESOURCES, "%s: %s", b->path, strerror(errno));

    if (b->hooks->progress) b->hooks->progress(b->hooks->context, "problem", b->done, b->total);
    ss_crew crew = {.tasks = b->missing_count,
                    .jobs = b->options->jobs,
                    .stop = b->hooks->stop,
                    .context = b,
                    .work = work,
                    .done = done};
    good = ss_crew_run(&crew, err);
    close(b->log);
    return good;
}

/* ---- replays ---------------------------------------------------------------------------------------- */

#define REPLAY_MEGABYTES 8.0 /* of one page: enough for hundreds of frames, and quick to open */

static void replay_of(const builder *b, const char *file, char *data, char *page, size_t size)
{
    const char *dot = strrchr(file, '.');
    snprintf(data, size, "%s/%s", b->options->folder, file);
    snprintf(page, size, "%s/%.*s.html", b->options->folder, dot ? (int)(dot - file) : 0, file);
}

static bool replay_work(void *context, int task, const volatile int *cancel, ss_text *result, ss_error *err)
{
    (void)result;
    const builder *b = context;
    char data[2 * SS_FILE_PATH], page[2 * SS_FILE_PATH];
    replay_of(b, b->shown[task], data, page, sizeof data);
    ss_findings findings = {.limit = 1};
    ss_replay_options options = {.megabytes = REPLAY_MEGABYTES, .cancel = cancel};
    ss_bpmd *file = ss_bpmd_open(data, NULL, NULL, err);
    ss_replay *replay = file ? ss_replay_open(file, data, &options, &findings, err) : NULL;
    bool good = replay && ss_replay_write(replay, page, err);
    ss_replay_close(replay);
    ss_bpmd_close(file);
    ss_findings_free(&findings);
    return good;
}

static bool replay_done(void *context, int task, const char *result, size_t size, const ss_error *fault,
                        ss_error *err)
{
    (void)result, (void)size;
    builder *b = context;
    if (b->hooks->progress) b->hooks->progress(b->hooks->context, "replay", task + 1, b->shown_count);
    return !fault || (b->hooks->stop && *b->hooks->stop) || ss_fail(err, fault->code, "%s", fault->message);
}

/* A page per file of frames that has none yet, or an older one. */
static bool make_replays(builder *b, ss_error *err)
{
    char data[2 * SS_FILE_PATH], page[2 * SS_FILE_PATH];
    struct stat file, old;
    b->shown = ss_allocate((size_t)b->index.count + 1, sizeof *b->shown);
    if (!b->shown) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for replays");
    for (int i = 0; i < b->index.count; i++) {
        const ss_collection_row *row = &b->index.rows[i];
        if (row->frame < 0 || (i > 0 && strcmp(row->file, row[-1].file) == 0)) continue;
        replay_of(b, row->file, data, page, sizeof data);
        if (stat(data, &file) == 0 && (stat(page, &old) != 0 || old.st_mtime < file.st_mtime))
            b->shown[b->shown_count++] = row->file;
    }
    ss_crew crew = {.tasks = b->shown_count,
                    .jobs = b->options->jobs,
                    .stop = b->hooks->stop,
                    .context = b,
                    .work = replay_work,
                    .done = replay_done};
    return ss_crew_run(&crew, err);
}

/* ---- all of it -------------------------------------------------------------------------------------- */

static void sum_up(builder *b)
{
    ss_build_summary *summary = b->summary;
    const ss_column *level = ss_column_find("level");
    struct stat file;
    const char *last = "";
    summary->problems = b->index.count;
    for (int i = 0; i < b->index.count; i++) {
        const ss_collection_row *row = &b->index.rows[i];
        summary->solvable += row->solvable;
        summary->proved += row->solvable && ss_column_number(level, row) >= SS_CERTIFIED_BACKWARD;
        if (strcmp(row->file, last) != 0 && stat(path_of(b, row->file), &file) == 0)
            summary->megabytes += 1e-6 * (double)file.st_size;
        last = row->file;
    }
}

bool ss_collection_build(const ss_recipes *recipes, const ss_build_options *options,
                         const ss_collection_hooks *hooks, ss_build_summary *summary, ss_error *err)
{
    builder b = {.recipes = recipes, .options = options, .hooks = hooks, .summary = summary};
    *summary = (ss_build_summary){0};
    bool good = ss_index_create(&b.index, err) && ss_folder_make(options->folder, err) && plan(&b, err) &&
                make_missing(&b, err);
    if (good) ss_index_sort(&b.index);
    if (good && options->replays && !(hooks->stop && *hooks->stop)) good = make_replays(&b, err);
    summary->interrupted = hooks->stop && *hooks->stop;
    if (good) sum_up(&b);
    if (good && !summary->interrupted) {
        ss_edition edition = {.folder = options->folder,
                              .name = recipes->name,
                              .version = recipes->version,
                              .title = recipes->title,
                              .license = recipes->license,
                              .families = recipes->families,
                              .family_count = recipes->family_count,
                              .part = options->small ? "subset small" : NULL,
                              .replays = options->replays};
        good = (!options->ledger || ss_hardness_read(options->ledger, &b.index, err)) &&
               ss_edition_write(&edition, &b.index, err);
        if (good) unlink(path_of(&b, UNFINISHED));
    }
    ss_index_free(&b.index);
    ss_release(b.missing);
    ss_release(b.shown);
    return good;
}
