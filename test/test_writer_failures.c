/* No failure costs an old file: lack of memory, a full disk, a killed process, missing rights. */
#define _GNU_SOURCE
#include "kit.h"
#include "faults.h"
#include "random_frame.h"
#include "scratch.h"
#include "write_frames.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* Everything a writer does, appended to a file. Gives up at the first failure. */
static bool write_everything(const char *path, const ss_frame *frame, const ss_answer *answer)
{
    static uint8_t pixels[2 * 3 * 3];
    double error[] = {1, 0.1}, worst[] = {0.5};
    ss_measure measure = {"energy", worst, 1};
    ss_manifest manifest = {.toolkit = "test", .image = pixels, .image_width = 2, .image_height = 3};
    ss_stored_result result = {.solver = "pgs",
                               .formulation = "cone",
                               .with = "gamma=0.2",
                               .answer = (ss_answer *)(uintptr_t)answer,
                               .errors = error,
                               .error_count = 2,
                               .iterations = 2,
                               .error = 0.1,
                               .seconds = 1e-3,
                               .measures = &measure,
                               .measure_count = 1};
    ss_writer *writer = ss_writer_open(path, SS_LAYOUT_CANONICAL, true, NULL);
    if (!writer) return false;
    if (ss_writer_simulation(writer, &manifest, NULL) && ss_writer_frame(writer, frame, NULL) &&
        ss_writer_result(writer, &result, NULL))
        return ss_writer_close(writer, NULL);
    ss_writer_discard(writer);
    return false;
}

TEST(lack_of_memory_at_any_point_leaves_the_old_file)
{
    scratch s = scratch_open();
    ss_random random = ss_random_start(12, 0);
    ss_frame *frame = random_frame_create(&random, 3, 2, 5, ~0u);
    ss_answer *answer = ss_answer_create(frame, true, NULL);
    ENSURE(frame && answer && write_frames(s.file, SS_LAYOUT_CANONICAL, false, 2, NULL));
    scratch_bytes before = scratch_read(s.file);
    int failures = 0;
    for (long n = 1; n < 1000; n++) {
        faults_start(n);
        bool ok = write_everything(s.file, frame, answer);
        bool failed_one = faults_stop();
        ENSURE_INT(faults.live, 0);
        ENSURE_INT(scratch_files(&s, false), 1);
        if (!failed_one) {
            ENSURE(ok && !scratch_unchanged(s.file, before));
            break;
        }
        if (ok) { // only the sync of the directory after the rename may go without memory
            ENSURE(!scratch_unchanged(s.file, before));
            break;
        }
        ENSURE(scratch_unchanged(s.file, before));
        failures++;
    }
    ENSURE(failures >= 5); // the writer, target, temporary name, scratch, list of units
    free(before.data);
    ss_answer_destroy(answer);
    ss_frame_destroy(frame);
    scratch_close(&s);
}

/* Runs a story in a process of its own; returns its exit code, or minus the signal that ended it. */
static int in_child(int (*story)(const scratch *, long), const scratch *s, long argument)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) exit(story(s, argument)); // not _exit: what HDF5 does at the end belongs to the story
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child) return 1000;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit limit;
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes < limit.rlim_max ? bytes : limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
}

/* With no room for what is to be added every call from some point on fails; with room again all is well. */
static int fill_the_disk(const scratch *s, long bytes)
{
    signal(SIGXFSZ, SIG_IGN);
    limit_files((rlim_t)bytes);
    ss_error err = {0};
    if (write_frames(s->file, SS_LAYOUT_CANONICAL, true, 50, &err)) return 1;
    if (err.code != SS_ERROR_RESOURCES || !strstr(err.message, s->file)) return 2;
    limit_files(RLIM_INFINITY);
    char other[600];
    snprintf(other, sizeof other, "%s/after.h5", s->directory);
    if (!write_frames(other, SS_LAYOUT_CANONICAL, false, 1, NULL)) return 3;
    return remove(other) == 0 ? 0 : 4;
}

TEST(a_full_disk_leaves_the_old_file)
{
    scratch s = scratch_open();
    ENSURE(write_frames(s.file, SS_LAYOUT_CANONICAL, false, 3, NULL));
    scratch_bytes before = scratch_read(s.file);
    for (long bytes = 0; bytes < 400000; bytes = 2 * bytes + 1000) { // the 50 frames take more than that
        ENSURE_INT(in_child(fill_the_disk, &s, bytes), 0);
        ENSURE(scratch_unchanged(s.file, before));
        ENSURE_INT(scratch_files(&s, false), 1);
    }
    free(before.data);
    scratch_close(&s);
}

static int die_while_writing(const scratch *s, long frames)
{
    ss_frame *frame = ss_frame_create(50, 0, 0, 200, NULL);
    ss_writer *writer = ss_writer_open(s->file, SS_LAYOUT_CANONICAL, true, NULL);
    for (long f = 0; f < frames; f++)
        if (!ss_writer_frame(writer, frame, NULL)) return 1;
    raise(SIGKILL);
    return 2;
}

/* Can a file of this directory do without a name until it is whole? Not on every file system. */
static bool has_nameless_files(const scratch *s)
{
#ifdef O_TMPFILE
    int descriptor = open(s->directory, O_TMPFILE | O_RDWR, 0600);
    if (descriptor >= 0) close(descriptor);
    return descriptor >= 0;
#else
    (void)s;
    return false;
#endif
}

TEST(a_killed_writer_leaves_the_old_file_and_does_not_stop_the_next)
{
    scratch s = scratch_open();
    ENSURE(write_frames(s.file, SS_LAYOUT_CANONICAL, false, 3, NULL));
    scratch_bytes before = scratch_read(s.file);
    static const long frames[] = {0, 1, 300};
    for (int i = 0; i < 3; i++) {
        ENSURE_INT(in_child(die_while_writing, &s, frames[i]), -SIGKILL);
        ENSURE(scratch_unchanged(s.file, before));
        ENSURE(!has_nameless_files(&s) || scratch_files(&s, false) == 1);
    }
    char leftover[600]; // and one that happens to have the name we would take
    snprintf(leftover, sizeof leftover, "%s.%ld-0.partial", s.file, (long)getpid());
    FILE *file = fopen(leftover, "w");
    ENSURE(file && fclose(file) == 0);
    ENSURE(write_frames(s.file, SS_LAYOUT_CANONICAL, true, 1, NULL));
    ENSURE(!scratch_unchanged(s.file, before));
    free(before.data);
    scratch_close(&s);
}

/* Root may write everywhere, so it becomes nobody. */
static int write_without_permission(const scratch *s, long unused)
{
    (void)unused;
    if (geteuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0)) return 77;
    ss_error err = {0};
    if (write_frames(s->file, SS_LAYOUT_CANONICAL, true, 1, &err)) return 1;
    return err.code == SS_ERROR_RESOURCES && strstr(err.message, s->file) ? 0 : 2;
}

TEST(a_directory_without_write_permission_is_told)
{
    scratch s = scratch_open();
    ENSURE(write_frames(s.file, SS_LAYOUT_CANONICAL, false, 1, NULL));
    scratch_bytes before = scratch_read(s.file);
    ENSURE(chmod(s.directory, 0555) == 0);
    int code = in_child(write_without_permission, &s, 0);
    ENSURE(chmod(s.directory, 0755) == 0);
    if (code == 77) SKIP("cannot give up the rights of root");
    ENSURE_INT(code, 0);
    ENSURE(scratch_unchanged(s.file, before));
    ENSURE_INT(scratch_files(&s, false), 1);
    free(before.data);
    scratch_close(&s);
}

TEST(a_target_that_cannot_be_replaced_leaves_no_temporary_file)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ENSURE(mkdir(s.file, 0755) == 0); // a directory in the place of the file
    ENSURE(!write_frames(s.file, SS_LAYOUT_CANONICAL, false, 1, &err));
    ENSURE_INT(err.code, SS_ERROR_RESOURCES);
    ENSURE_CONTAINS(err.message, s.file);
    ENSURE_INT(scratch_files(&s, false), 1);
    scratch_close(&s);
}

TEST(only_an_hdf5_file_can_be_appended_to)
{
    scratch s = scratch_open();
    ss_error err = {0};
    FILE *file = fopen(s.file, "w");
    ENSURE(file && fputs("a letter to a friend\n", file) > 0 && fclose(file) == 0);
    scratch_bytes before = scratch_read(s.file);
    ENSURE(!write_frames(s.file, SS_LAYOUT_CANONICAL, true, 1, &err));
    ENSURE_INT(err.code, SS_ERROR_INPUT);
    ENSURE(scratch_unchanged(s.file, before));
    ENSURE_INT(scratch_files(&s, false), 1);
    free(before.data);
    scratch_close(&s);
}

/* Two processes append at the same time: the second to finish must not throw away what the
 * first has added. */
TEST(what_another_writer_has_added_meanwhile_is_not_lost)
{
    for (int existed = 0; existed < 2; existed++) {
        scratch s = scratch_open();
        ss_error err = {0};
        ENSURE(!existed || write_frames(s.file, SS_LAYOUT_CANONICAL, false, 1, NULL));
        ss_frame *frame = ss_frame_create(1, 0, 0, 0, NULL);
        ss_writer *slow = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, true, NULL);
        ENSURE(frame && slow && ss_writer_frame(slow, frame, NULL));
        ENSURE(write_frames(s.file, SS_LAYOUT_CANONICAL, true, 2, NULL));
        scratch_bytes before = scratch_read(s.file);
        ENSURE(!ss_writer_close(slow, &err));
        ENSURE_INT(err.code, SS_ERROR_RESOURCES);
        ENSURE_CONTAINS(err.message, ".partial"); // where the slow one's work is
        ENSURE(scratch_unchanged(s.file, before));
        ENSURE_INT(scratch_files(&s, false), 2);
        free(before.data);
        ss_frame_destroy(frame);
        scratch_close(&s);
    }
}

TEST(a_discarded_writer_leaves_nothing)
{
    scratch s = scratch_open();
    ss_frame *frame = ss_frame_create(2, 0, 0, 4, NULL);
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, false, NULL);
    ENSURE(frame && writer && ss_writer_frame(writer, frame, NULL));
    ss_writer_discard(writer);
    ENSURE_INT(scratch_files(&s, false), 0);
    ss_frame_destroy(frame);
    scratch_close(&s);
}

TEST(a_half_written_frame_never_reaches_the_target)
{
    scratch s = scratch_open();
    ss_error err = {0};
    ENSURE(write_frames(s.file, SS_LAYOUT_CANONICAL, false, 1, NULL));
    scratch_bytes before = scratch_read(s.file);
    ss_frame *frame = ss_frame_create(1, 0, 0, 0, NULL);
    ss_stored_result result = {.solver = "pgs", .iterations = 3};
    ss_writer *writer = ss_writer_open(s.file, SS_LAYOUT_CANONICAL, true, NULL);
    ENSURE(frame && writer && ss_writer_frame(writer, frame, NULL) &&
           ss_writer_result(writer, &result, NULL));
    ENSURE(!ss_writer_result(writer, &result, &err)); // the same solver again: the group exists
    ENSURE(!ss_writer_frame(writer, frame, NULL));
    ENSURE(!ss_writer_close(writer, &err));
    ENSURE_CONTAINS(err.message, "solver_data/pgs");
    ENSURE(scratch_unchanged(s.file, before));
    ENSURE_INT(scratch_files(&s, false), 1);
    free(before.data);
    ss_frame_destroy(frame);
    scratch_close(&s);
}

TEST_MAIN
