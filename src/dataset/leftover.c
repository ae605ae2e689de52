/* What a recording leaves behind whose process died: FILE.PROCESS-N.partial, as it was sealed last
 * (h5_pages.h). */
#define _GNU_SOURCE
#include "base/text.h"
#include "dataset/packet.h"
#include "dataset/ring.h"
#include "dataset/writer.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ss_leftovers_free(ss_leftovers *leftovers)
{
    for (int i = 0; i < leftovers->count; i++) ss_release(leftovers->paths[i]);
    ss_release(leftovers->paths);
    *leftovers = (ss_leftovers){0};
}

static bool add(ss_leftovers *leftovers, int *room, const char *directory, size_t length, const char *name)
{
    if (leftovers->count == *room) {
        int more = 2 * *room + 4;
        char **grown = ss_allocate((size_t)more, sizeof *grown);
        if (!grown) return false;
        for (int i = 0; i < leftovers->count; i++) grown[i] = leftovers->paths[i];
        ss_release(leftovers->paths);
        leftovers->paths = grown;
        *room = more;
    }
    char *path = ss_allocate(length + strlen(name) + 1, 1);
    if (!path) return false;
    memcpy(path, directory, length);
    strcpy(path + length, name);
    leftovers->paths[leftovers->count++] = path;
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

bool ss_leftovers_find(const char *path, ss_leftovers *leftovers, ss_error *err)
{
    *leftovers = (ss_leftovers){0};
    int room = 0;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t before = (size_t)(name - path), wanted = strlen(name);
    bool good = true;

    /* A leftover itself, or the file whose leftovers lie beside it. */
    if (ss_h5_partial_process(name, NULL)) {
        good = add(leftovers, &room, path, before, name);
    } else {
        char *directory = ss_h5_directory_of(path);
        DIR *stream = directory ? opendir(directory) : NULL;
        int failure = errno;
        if (directory && !stream)
            ss_fail(err, SS_ERROR_INPUT, "%s: cannot be read: %s", directory, strerror(failure));
        ss_release(directory);
        if (directory && !stream) return false;
        good = stream != NULL;
        for (const struct dirent *entry; good && (entry = readdir(stream));) {
            size_t length = 0;
            if (ss_h5_partial_process(entry->d_name, &length) && length == wanted &&
                strncmp(entry->d_name, name, length) == 0)
                good = add(leftovers, &room, path, before, entry->d_name);
        }
        if (stream) closedir(stream);
    }

    if (good && leftovers->count > 1)
        qsort(leftovers->paths, (size_t)leftovers->count, sizeof *leftovers->paths, by_name);
    if (!good) ss_leftovers_free(leftovers);
    return good || ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", path);
}

/* "stack.h5" becomes "stack.recovered-1.h5". */
static char *name_beside(const char *target, int attempt)
{
    const char *slash = strrchr(target, '/'), *dot = strrchr(target, '.');
    size_t stem = dot && dot > (slash ? slash + 1 : target) ? (size_t)(dot - target) : strlen(target);
    ss_text text = {0};
    ss_text_append_bytes(&text, target, stem);
    if (attempt > 0) ss_text_appendf(&text, ".recovered-%d", attempt);
    ss_text_append(&text, target + stem);
    char *name = text.out_of_memory ? NULL : ss_text_copy(ss_text_get(&text));
    ss_text_free(&text);
    return name;
}

/* Gives the file its second name, unless something has that name: then false with EEXIST. A recovery that was
 * interrupted after this has left both names. */
static bool take_name(const char *from, const char *to)
{
    struct stat first, second;
    bool same = stat(from, &first) == 0 && stat(to, &second) == 0 && first.st_dev == second.st_dev &&
                first.st_ino == second.st_ino;
    if (same || link(from, to) == 0) return unlink(from) == 0;
    if (errno == EEXIST) return false;
    if (access(to, F_OK) == 0) { // a file system without links
        errno = EEXIST;
        return false;
    }
    return rename(from, to) == 0;
}

/* True if the last frame of the file is that of the ring's last step: a recovery was interrupted. */
static bool has_last_step(const char *leftover, const ss_ring *ring)
{
    size_t size, at = 0;
    ss_packet_part part;
    const unsigned char *bytes = ss_ring_at(ring, ring->count - 1, &size);
    ss_bpmd *file = ss_bpmd_open(leftover, NULL, NULL, NULL);
    int frames = file ? ss_bpmd_frame_count(file) : 0;
    ss_frame *last = frames > 0 ? ss_bpmd_read(file, frames - 1, NULL, NULL) : NULL;
    ss_bpmd_close(file);
    bool same = false;
    if (last && ss_packet_next(bytes, size, &at, NULL, &part, NULL)) {
        char of_file[33], of_ring[33] = "";
        ss_frame_hash(last, of_file);
        if (part.frame) ss_frame_hash(part.frame, of_ring);
        same = part.frame && strcmp(of_file, of_ring) == 0 &&
               memcmp(&last->time, &part.frame->time, sizeof last->time) == 0;
        ss_packet_part_free(&part);
    }
    ss_frame_destroy(last);
    return same;
}

static bool add_ring(const char *leftover, ss_error *err)
{
    char *path = ss_h5_ring_of(leftover);
    if (!path) return ss_fail(err, SS_ERROR_RESOURCES, "%s: out of memory", leftover);

    ss_ring ring = {0};
    bool good = true;
    if (access(path, F_OK) == 0) {
        good = ss_ring_read(path, &ring, err);
        if (good && ring.count > 0 && !has_last_step(leftover, &ring)) {
            ss_layout layout = ring.word == SS_LAYOUT_FLAT ? SS_LAYOUT_FLAT : SS_LAYOUT_CANONICAL;
            ss_writer *writer = ss_writer_open(leftover, layout, true, err);
            good = writer != NULL;
            if (good && layout == SS_LAYOUT_CANONICAL) ss_writer_go_on(writer, NULL, NULL);
            good = good && ss_writer_put_ring(writer, &ring, "the program ended here", err);
            if (good)
                good = ss_writer_close(writer, err);
            else
                ss_writer_discard(writer);
        }

        ss_ring_free(&ring);
        if (good) good = unlink(path) == 0 || ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be removed", path);
    }
    ss_release(path);
    return good;
}

bool ss_leftover_recover(const char *leftover, const char *target, char **name, int *frames, ss_error *err)
{
    enum { ATTEMPTS = 10000 };
    *name = NULL;
    size_t length = 0;
    if (!ss_h5_partial_process(leftover, &length))
        return ss_fail(err, SS_ERROR_USAGE,
                       "%s: not the name of an unfinished recording (FILE.PROCESS-N.partial)", leftover);
    int descriptor;
    ss_h5_session session;
    ss_h5_enter(&session);
    bool good = ss_h5_partial_mend(leftover, &descriptor, err);
    ss_h5_leave(&session);
    if (!good) return false;

    // the steps that a flight recorder still had in its ring
    close(descriptor);
    if (!add_ring(leftover, err)) return false;

    // read as anyone would read it; the lock was given up for that, and the file is whole by now
    ss_bpmd *file = ss_bpmd_open(leftover, NULL, NULL, err);
    if (!file) return false;
    *frames = ss_bpmd_frame_count(file);
    ss_bpmd_close(file);

    char *wanted = target ? ss_text_copy(target) : ss_text_copy(leftover);
    if (wanted && !target) wanted[length] = '\0';
    for (int attempt = 0; good && wanted && !*name && attempt < ATTEMPTS; attempt++) {
        char *to = name_beside(wanted, attempt);
        good = to != NULL;
        if (good && take_name(leftover, to)) {
            *name = to;
            ss_h5_sync_directory_of(to);
            break;
        }
        if (good && errno != EEXIST) {
            ss_fail(err, SS_ERROR_RESOURCES, "%s: cannot be written: %s", to, strerror(errno));
            ss_release(to);
            ss_release(wanted);
            return false;
        }
        ss_release(to);
    }
    ss_release(wanted);
    return *name || ss_fail(err, SS_ERROR_RESOURCES, "%s: no free name for it, or out of memory", leftover);
}
