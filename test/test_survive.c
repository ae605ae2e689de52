/* A recording whose program dies: killed before, in and after every single write of the disk, on a full
 * disk, beside another one, stuck in a long step, and during its recovery. Whatever was promised can be
 * read. */
#define _GNU_SOURCE
#include "kit.h"
#include "scratch.h"

#include <stickslip/recorder.h>

#include <errno.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

/* ---- a disk that fails on request -------------------------------------------------------------------- */

/* Shared by a test and the processes it starts. */
typedef struct shared_state {
    atomic_long calls;  /* of the disk since the count was started */
    atomic_int ended;   /* frames whose ss_recorder_end has returned */
    atomic_bool parked; /* the child waits to be killed */
} shared_state;
static shared_state *shared;

typedef enum fate { LIVE, DIE_BEFORE, DIE_IN_THE_MIDDLE, DIE_AFTER, DISK_FULL } fate;
static fate coming;
static long at_call; /* the number of the call that meets it; from 1 */
static bool threads_allowed;

/* True for the one call that `coming` is for. */
static bool is_the_one(void)
{
    long number = atomic_fetch_add(&shared->calls, 1) + 1;
    if (coming == LIVE) return false;
    if (coming == DISK_FULL) return number >= at_call;
    if (number == at_call && coming == DIE_BEFORE) raise(SIGKILL);
    return number == at_call;
}

ssize_t pwrite(int descriptor, const void *bytes, size_t size, off_t offset)
{
    bool hit = is_the_one();
    if (hit && coming == DISK_FULL) {
        errno = ENOSPC;
        return -1;
    }
    if (hit && coming == DIE_IN_THE_MIDDLE) size /= 2;
    ssize_t put = syscall(SYS_pwrite64, descriptor, bytes, size, offset);
    if (hit) raise(SIGKILL);
    return put;
}

int ftruncate(int descriptor, off_t size)
{
    bool hit = is_the_one() && coming != DISK_FULL;
    int code = (int)syscall(SYS_ftruncate, descriptor, size);
    if (hit) raise(SIGKILL);
    return code;
}

int fdatasync(int descriptor) // the page cache outlives a process: nothing to wait for
{
    (void)descriptor;
    return 0;
}

int fsync(int descriptor)
{
    (void)descriptor;
    return 0;
}

int link(const char *from, const char *to)
{
    bool hit = is_the_one() && coming != DISK_FULL;
    int code = (int)syscall(SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0);
    if (hit) raise(SIGKILL);
    return code;
}

int unlink(const char *path)
{
    bool hit = is_the_one() && coming != DISK_FULL;
    int code = (int)syscall(SYS_unlinkat, AT_FDCWD, path, 0);
    if (hit) raise(SIGKILL);
    return code;
}

herr_t H5is_library_threadsafe(hbool_t *is)
{
    *is = threads_allowed;
    return 0;
}

/* ---- a recording --------------------------------------------------------------------------------------- */

/* Frame f has f % 7 contacts and an answer with numbers of its own. */
static bool record_frame(ss_recorder *recorder, int f, ss_error *err)
{
    static const double upright[4] = {1, 0, 0, 0}, inertia[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    double position[3] = {f, 0.5 * f, 1.0 / (f + 1)}, velocity[6] = {f, 0, 1}, force[6] = {0, 0, -9.81};
    double normal_impulse[7], friction[7][3] = {{0}};
    ss_recorder_begin(recorder, 0.01 * f, 0.01);
    int body = ss_recorder_body(recorder, 1 + f, position, upright, inertia, velocity, force);
    for (int c = 0; c < f % 7; c++) {
        ss_recorder_contact(recorder, SS_WORLD, body, position, (double[3]){0, 0, 1}, -1e-3 * c, 0.5);
        normal_impulse[c] = f + 0.25 * c;
    }
    ss_recorder_result(recorder, "engine", velocity, NULL, normal_impulse, &friction[0][0]);
    return ss_recorder_end(recorder, err);
}

/* Frames in a file, or -1 - f if frame f is not what record_frame made of it, with its answer. */
static int good_frames(const char *path)
{
    ss_bpmd *file = ss_bpmd_open(path, NULL, NULL, NULL);
    if (!file) return -1000000;
    int count = ss_bpmd_frame_count(file), good = count;
    for (int f = 0; good >= 0 && f < count; f++) {
        ss_frame *frame = ss_bpmd_read(file, f, NULL, NULL);
        ss_stored_result result = {0};
        bool right = frame && frame->bodies.count == 1 && frame->bodies.mass[0] == 1 + f &&
                     frame->bodies.position[0][2] == 1.0 / (f + 1) && frame->contacts.count == f % 7 &&
                     ss_bpmd_result_count(file, f, NULL) == 1 && ss_bpmd_result(file, f, 0, &result, NULL) &&
                     result.answer && result.answer->velocity[0][0] == f;
        for (int c = 0; right && c < f % 7; c++)
            right = frame->contacts.gap[c] == -1e-3 * c && result.answer->normal_impulse[c] == f + 0.25 * c;
        if (!right) good = -1 - f;
        ss_stored_result_free(&result);
        ss_frame_destroy(frame);
    }
    ss_bpmd_close(file);
    return good;
}

enum { FRAMES = 8 };
static const double AT_ONCE = 1e-9; /* s: every frame is sealed before ss_recorder_end returns */

/* Returns 0 when all went well, 1 when it failed as it should on a full disk, 2 for anything else. */
static int record_all(const char *path)
{
    ss_error err = {0};
    ss_recorder *recorder = ss_recorder_open(path, "test", &err);
    if (!recorder) return err.code == SS_ERROR_RESOURCES ? 1 : 2;
    if (!ss_recorder_survive(recorder, AT_ONCE, NULL)) return 2;
    bool good = true;
    for (int f = 0; good && f < FRAMES; f++) {
        good = record_frame(recorder, f, &err);
        if (good) atomic_store(&shared->ended, f + 1);
    }
    bool closed = ss_recorder_close(recorder, &err);
    if (closed) return good ? 0 : 2;
    if (atomic_load(&shared->ended) > 0 && !strstr(err.message, ".partial")) return 2;
    return err.code == SS_ERROR_RESOURCES && strstr(err.message, path) ? 1 : 2;
}

/* Runs it in a process that meets its fate at a call; the exit code, or minus the signal. */
static int in_child(int (*story)(const char *), const char *path, fate what, long call)
{
    atomic_store(&shared->calls, 0);
    atomic_store(&shared->ended, 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        coming = what;
        at_call = call;
        exit(story(path));
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void begin(void)
{
    if (!shared)
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    coming = LIVE;
    threads_allowed = false;
}

/* The number of leftovers of a target; the first one's name in `name`. */
static int leftovers_of(const char *target, char name[600])
{
    ss_leftovers left;
    if (!ss_leftovers_find(target, &left, NULL)) return -1;
    int count = left.count;
    if (count > 0) snprintf(name, 600, "%s", left.paths[0]);
    ss_leftovers_free(&left);
    return count;
}

/* ---- stories ------------------------------------------------------------------------------------------- */

TEST(killed_at_any_write_a_recording_keeps_every_frame_that_had_ended)
{
    begin();
    scratch s = scratch_open();
    ENSURE_INT(in_child(record_all, s.file, LIVE, 0), 0);
    ENSURE_INT(good_frames(s.file), FRAMES);
    ENSURE_INT(scratch_files(&s, true), 1); // a recording that ends leaves its file and nothing else
    long calls = atomic_load(&shared->calls);
    ENSURE(calls > 60); // eight seals, each with data, a journal, pages and a cut
    int kept = 0;
    for (fate how = DIE_BEFORE; how <= DIE_AFTER; how++) {
        for (long call = 1; call <= calls; call += how == DIE_BEFORE ? 1 : 3) {
            char left[600];
            ENSURE_INT(in_child(record_all, s.file, how, call), -SIGKILL);
            int ended = atomic_load(&shared->ended), count = leftovers_of(s.file, left);
            bool is_there = access(s.file, F_OK) == 0;
            if (is_there) { // killed after the rename
                ENSURE_INT(good_frames(s.file), FRAMES);
            } else if (count == 1 && ended > 0) {
                int before = good_frames(left); // as it is, without a recovery
                ENSURE(before >= ended && before <= ended + 1);
                char *name = NULL;
                int frames = 0;
                ENSURE(ss_leftover_recover(left, NULL, &name, &frames, NULL));
                ENSURE_TEXT(name, s.file);
                ENSURE_INT(frames, before);
                ENSURE_INT(good_frames(name), before);
                ss_release(name);
                kept++;
            } else {
                ENSURE_INT(ended, 0);
            }
            scratch_files(&s, true);
        }
    }
    ENSURE(kept > 60);
    scratch_close(&s);
}

TEST(a_full_disk_costs_only_what_came_after_the_last_seal)
{
    begin();
    scratch s = scratch_open();
    ENSURE_INT(in_child(record_all, s.file, LIVE, 0), 0);
    long calls = atomic_load(&shared->calls);
    scratch_bytes old = scratch_read(s.file);
    int kept = 0;
    for (long call = 1; call < calls; call += 3) {
        char left[600];
        int code = in_child(record_all, s.file, DISK_FULL, call), ended = atomic_load(&shared->ended);
        ENSURE(code == 1 || code == 0); // 0: full just when everything was written
        if (code == 0) break;
        ENSURE(scratch_unchanged(s.file, old));
        if (ended == 0) continue;
        ENSURE_INT(leftovers_of(s.file, left), 1);
        ENSURE(good_frames(left) >= ended);
        char *name = NULL;
        int frames = 0;
        ENSURE(ss_leftover_recover(left, NULL, &name, &frames, NULL));
        ENSURE_CONTAINS(name, "frames.recovered-1.h5"); // the old file has the name
        ENSURE(good_frames(name) >= ended && scratch_unchanged(s.file, old));
        ENSURE(unlink(name) == 0);
        ss_release(name);
        kept++;
    }
    ENSURE(kept > 10);
    free(old.data);
    scratch_close(&s);
}

static int recover(const char *leftover)
{
    char *name = NULL;
    int frames = 0;
    bool good = ss_leftover_recover(leftover, NULL, &name, &frames, NULL);
    ss_release(name);
    return good ? 0 : 1;
}

TEST(a_recovery_that_is_killed_can_be_repeated)
{
    begin();
    scratch s = scratch_open();
    ENSURE_INT(in_child(record_all, s.file, LIVE, 0), 0);
    long calls = atomic_load(&shared->calls);
    scratch_files(&s, true);
    int interrupted = 0;
    for (long call = calls / 2; call < calls / 2 + 8; call++) { // one seal: some of these leave a journal
        for (long nth = 1; nth < 100; nth++) {
            char left[600];
            ENSURE_INT(in_child(record_all, s.file, DIE_BEFORE, call), -SIGKILL);
            int ended = atomic_load(&shared->ended);
            ENSURE_INT(leftovers_of(s.file, left), 1);
            int code = in_child(recover, left, DIE_IN_THE_MIDDLE, nth);
            if (code == -SIGKILL && leftovers_of(s.file, left) == 1) {
                interrupted++;
                ENSURE(good_frames(left) >= ended);
                ENSURE_INT(in_child(recover, left, LIVE, 0), 0);
            }
            ENSURE(good_frames(s.file) >= ended);
            ENSURE_INT(scratch_files(&s, true), 1);
            if (code == 0) break;
        }
    }
    ENSURE(interrupted > 5);
    scratch_close(&s);
}

/* A process that records and waits; with the thread that seals if `threads_allowed`. */
static int record_and_wait(const char *path)
{
    ss_recorder *recorder = ss_recorder_open(path, "test", NULL);
    if (!recorder || !ss_recorder_survive(recorder, threads_allowed ? 0.01 : AT_ONCE, NULL)) return 2;
    for (int f = 0; f < FRAMES; f++)
        if (!record_frame(recorder, f, NULL)) return 2;
    atomic_store(&shared->parked, true);
    for (;;) pause(); // stuck in its next step: only the thread can save the last frames
}

static pid_t start_and_park(const char *path)
{
    atomic_store(&shared->parked, false);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) exit(record_and_wait(path));
    while (child > 0 && !atomic_load(&shared->parked)) {
        if (waitpid(child, NULL, WNOHANG) != 0) return -1;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    return child;
}

/* Frames on disk of a recording whose process is alive: a copy of the file belongs to no process. */
static int frames_so_far(const scratch *s, const char *left)
{
    char path[600];
    snprintf(path, sizeof path, "%s/copy.h5", s->directory);
    scratch_bytes bytes = scratch_read(left);
    FILE *file = bytes.data ? fopen(path, "wb") : NULL;
    bool whole = file && fwrite(bytes.data, 1, bytes.size, file) == bytes.size;
    if (file) whole = fclose(file) == 0 && whole;
    int frames = whole ? good_frames(path) : -1;
    unlink(path);
    free(bytes.data);
    return frames;
}

TEST(a_program_stuck_in_a_long_step_loses_nothing)
{
    begin();
    threads_allowed = true;
    scratch s = scratch_open();
    char left[600];
    for (int i = 0; i < 5; i++) {
        pid_t child = start_and_park(s.file);
        ENSURE(child > 0);
        double late = ss_clock_seconds() + 60.0; // of 5 ms between two seals
        while (ss_clock_seconds() < late &&
               !(leftovers_of(s.file, left) == 1 && frames_so_far(&s, left) == FRAMES))
            nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        ENSURE_INT(leftovers_of(s.file, left), 1);
        ENSURE_INT(good_frames(left), FRAMES);
        scratch_files(&s, true);
    }
    scratch_close(&s);
}

TEST(two_recordings_to_one_file_are_both_recovered)
{
    begin();
    scratch s = scratch_open();
    pid_t first = start_and_park(s.file), second = start_and_park(s.file);
    ENSURE(first > 0 && second > 0);
    ss_leftovers left;
    ss_error err = {0};
    char *name = NULL;
    int frames;
    ENSURE(ss_leftovers_find(s.file, &left, NULL));
    ENSURE_INT(left.count, 2);
    ENSURE(!ss_leftover_recover(left.paths[0], NULL, &name, &frames, &err)); // alive
    ENSURE_CONTAINS(err.message, "still being written, by process");
    ENSURE(!ss_bpmd_open(left.paths[0], NULL, NULL, &err));
    ENSURE_CONTAINS(err.message, "still being written");
    kill(first, SIGKILL);
    kill(second, SIGKILL);
    waitpid(first, NULL, 0);
    waitpid(second, NULL, 0);
    for (int i = 0; i < 2; i++) {
        ENSURE(ss_leftover_recover(left.paths[i], NULL, &name, &frames, NULL));
        ENSURE_CONTAINS(name, i == 0 ? "frames.h5" : "frames.recovered-1.h5");
        ENSURE_INT(good_frames(name), FRAMES);
        ss_release(name);
    }
    ss_leftovers_free(&left);
    ENSURE_INT(scratch_files(&s, false), 2);
    scratch_close(&s);
}

/* Others write HDF5's newest format, which remembers that a file is open for writing. */
TEST(a_recording_added_to_a_file_of_the_newest_format_is_recovered)
{
    begin();
    scratch s = scratch_open();
    hid_t access_list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_libver_bounds(access_list, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
    hid_t file = H5Fcreate(s.file, H5F_ACC_TRUNC, H5P_DEFAULT, access_list);
    H5Pclose(access_list);
    ENSURE(file >= 0 && H5Fclose(file) >= 0);
    scratch_bytes old = scratch_read(s.file);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        ss_recorder *recorder = ss_recorder_open_as(s.file, NULL, SS_LAYOUT_CANONICAL, true, NULL);
        ss_recorder_survive(recorder, AT_ONCE, NULL);
        for (int f = 0; f < FRAMES; f++) record_frame(recorder, f, NULL);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    char left[600], *name = NULL;
    int frames = 0;
    ENSURE(scratch_unchanged(s.file, old));
    ENSURE_INT(leftovers_of(s.file, left), 1);
    ENSURE(ss_leftover_recover(left, NULL, &name, &frames, NULL));
    ENSURE_CONTAINS(name, "recovered-1");
    ENSURE_INT(good_frames(name), FRAMES);
    ss_release(name);
    free(old.data);
    scratch_close(&s);
}

TEST(a_missing_file_whose_recording_was_interrupted_is_explained)
{
    begin();
    scratch s = scratch_open();
    ss_error err = {0};
    char left[600];
    ENSURE_INT(in_child(record_all, s.file, DIE_BEFORE, 60), -SIGKILL);
    ENSURE_INT(leftovers_of(s.file, left), 1);
    ENSURE(!ss_bpmd_open(s.file, NULL, NULL, &err));
    ENSURE_CONTAINS(err.message, "no such file, but");
    ENSURE_CONTAINS(err.message, left);
    scratch_close(&s);
}

/* A journal must not be believed because it says it is one. */
TEST(a_damaged_journal_is_not_used)
{
    begin();
    scratch s = scratch_open();
    ENSURE_INT(in_child(record_all, s.file, LIVE, 0), 0);
    scratch_bytes whole = scratch_read(s.file);
    uint64_t tails[][5] = {{0, 0, 0, 0, 0},
                           {1, 1, 1, 1, 1},
                           {whole.size, 1, whole.size, 7, 7},
                           {whole.size, UINT64_MAX / 8, whole.size, 0, 0}};
    for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++) {
        FILE *file = fopen(s.file, "ab");
        ENSURE(file && fwrite("slipseal", 8, 1, file) == 1 &&
               fwrite(tails[i], sizeof tails[i], 1, file) == 1 && fclose(file) == 0);
        ENSURE_INT(good_frames(s.file), FRAMES);
    }
    free(whole.data);
    scratch_close(&s);
}

TEST_MAIN
