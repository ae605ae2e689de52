#define _GNU_SOURCE
#include "kernels.h"

#include "scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIZES = 4, SCENES = 3, LOOPS = 4 };
static const int sizes[SIZES] = {5000, 50000, 200000, 1000000};
static const char *const scene_names[SCENES] = {"wall", "pile", "shuffled"};
static const char *const loop_names[LOOPS] = {"pgs", "nsgs", "nncg", "single"};

/* Everything per contact: bytes, ns. */
typedef struct size_report {
    int contacts, bodies;
    double file, frame, problem, solve, judge;              // bytes
    double writing, reading, assembling, planning, judging; // ns
    double sweep[LOOPS], share[LOOPS]; // ns; bytes that a sweep must move over those that the machine could
} size_report;

/* ---- memory ----------------------------------------------------------------------------------------- */

/* Resident bytes now, or the most since the peak was last forgotten; NAN where the system does not tell. */
static double resident(bool peak)
{
    char line[256];
    double bytes = NAN;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (strncmp(line, peak ? "VmHWM:" : "VmRSS:", 6) == 0) bytes = 1024.0 * strtod(line + 6, NULL);
    }
    if (file) fclose(file);
    return bytes;
}

static void forget_peak(void)
{
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return;
    fputs("5", file);
    fclose(file);
}

/* ---- one problem ------------------------------------------------------------------------------------ */

/* To a file and back, which is in the page cache then. */
static void measure_file(const ss_frame *frame, size_report *of)
{
    char path[] = "/tmp/stickslip-scale-XXXXXX";
    int number = mkstemp(path);
    if (number < 0) stop("no temporary file");
    close(number);
    double start = ss_clock_seconds();
    ss_writer *writer = must(ss_writer_open(path, SS_LAYOUT_CANONICAL, false, NULL));
    if (!ss_writer_frame(writer, frame, NULL) || !ss_writer_close(writer, NULL)) stop("a file failed");
    of->writing = 1e9 * (ss_clock_seconds() - start) / of->contacts;
    struct stat status;
    if (stat(path, &status) == 0) of->file = (double)status.st_size / of->contacts;

    start = ss_clock_seconds();
    ss_bpmd *file = must(ss_bpmd_open(path, NULL, NULL, NULL));
    ss_frame *read = must(ss_bpmd_read(file, 0, NULL, NULL));
    of->reading = 1e9 * (ss_clock_seconds() - start) / of->contacts;
    ss_frame_destroy(read);
    ss_bpmd_close(file);
    unlink(path);
}

/* All metrics of an answer by a few sweeps. */
static void measure_judging(const ss_frame *frame, size_report *of)
{
    ss_error err = {0};
    ss_request request = {.solver = "nsgs", .iterations = 2, .stop = "none", .skip_exact = true};
    ss_session *session = must(ss_session_create(&request, &err));
    const ss_result *result = must((void *)ss_session_solve(session, frame, NULL, &err));
    ss_metric_value *values = must(calloc((size_t)ss_metric_count(), sizeof *values));
    double before = resident(false), start = thread_seconds();
    forget_peak();
    if (!ss_judge_frame(frame, NULL, result->answer, values, NULL, &err)) stop("judging failed");
    of->judging = 1e9 * (thread_seconds() - start) / of->contacts;
    of->judge = (resident(true) - before) / of->contacts;
    free(values);
    ss_session_destroy(session);
}

static size_report measure(const machine *m, int scene, int size)
{
    static const iteration loops[LOOPS] = {
        {.solver = "pgs", .bytes = BATCHED_BYTES},
        {.solver = "nsgs", .bytes = BATCHED_BYTES},
        {.solver = "batched-nncg", .bytes = BATCHED_BYTES + NNCG_BYTES},
        {.solver = "batched-nncg", .setting = "precision=single", .bytes = SINGLE_BYTES + NNCG_BYTES / 2}};
    double empty = resident(false);
    ss_frame *frame = scene ? make_pile(size) : make_wall(size);
    if (scene == 2) shuffle(frame);
    size_report of = {.contacts = frame->contacts.count, .bodies = frame->bodies.count};
    double with_frame = resident(false);
    of.frame = (with_frame - empty) / of.contacts;
    measure_file(frame, &of);
    measure_judging(frame, &of);

    double start = thread_seconds();
    with_frame = resident(false);
    ss_problem *problem = assemble(frame);
    of.assembling = 1e9 * (thread_seconds() - start) / of.contacts;
    double with_problem = resident(false);
    of.problem = (with_problem - with_frame) / of.contacts;
    for (int i = 0; i < LOOPS; i++) {
        iteration loop = loops[i];
        loop.iterations = 60; // more than setting up takes, whose time is subtracted
        forget_peak();
        cost each = cost_of(&loop, problem);
        if (i == 1) of.solve = (resident(true) - with_problem) / of.contacts;
        if (i == 1) of.planning = each.first - each.iteration;
        of.sweep[i] = each.iteration;
        of.share[i] = loop.bytes / m->read[LEVELS - 1] / each.iteration;
    }
    ss_problem_destroy(problem);
    ss_frame_destroy(frame);
    return of;
}

/* In a process of its own, so that no memory is left from the one before. */
static void measure_apart(const machine *m, int scene, int size, size_report *of)
{
    int ends[2];
    fflush(stdout);
    pid_t child = pipe(ends) == 0 ? fork() : -1;
    if (child < 0) stop("no process");
    if (child == 0) {
        *of = measure(m, scene, size);
        _exit(write(ends[1], of, sizeof *of) == sizeof *of ? 0 : 4);
    }
    close(ends[1]);
    bool whole = read(ends[0], of, sizeof *of) == sizeof *of;
    close(ends[0]);
    waitpid(child, NULL, 0);
    if (!whole) stop("a measurement failed");
}

/* ---- all of them ------------------------------------------------------------------------------------ */

void print_scale(const machine *m, int most, const char *only)
{
    size_report all[SCENES][SIZES] = {0};
    int count = 0;
    while (count < SIZES && sizes[count] <= most) count++;
    printf("bytes per contact: in the file, of frame and problem, most while solving (nsgs) and judging\n"
           "ns per contact: writing and reading a file, assembling, planning the sweeps, judging\n"
           "%-8s %8s %8s %6s %6s %7s %6s %6s %7s %7s %8s %8s %7s\n",
           "scene", "contacts", "bodies", "file", "frame", "problem", "solve", "judge", "write", "read",
           "assemble", "plan", "judge");
    for (int scene = 0; scene < SCENES; scene++) {
        for (int s = 0; s < count && strstr(scene_names[scene], only); s++) {
            size_report *of = &all[scene][s];
            measure_apart(m, scene, sizes[s], of);
            printf("%-8s %8d %8d %6.0f %6.0f %7.0f %6.0f %6.0f %7.0f %7.0f %8.0f %8.0f %7.0f\n",
                   scene_names[scene], of->contacts, of->bodies, of->file, of->frame, of->problem, of->solve,
                   of->judge, of->writing, of->reading, of->assembling, of->planning, of->judging);
            fflush(stdout);
        }
    }

    printf("\nns per contact and sweep, one thread; ratio: to the smallest problem of the scene; memory: "
           "bytes that\na sweep must move over those that the machine moves in that time, %.1f GB/s\n"
           "%-8s %8s",
           m->read[LEVELS - 1], "scene", "contacts");
    for (int i = 0; i < LOOPS; i++) printf(" %10s %6s %6s", loop_names[i], "ratio", "memory");
    printf("\n");
    for (int scene = 0; scene < SCENES; scene++) {
        for (int s = 0; s < count && strstr(scene_names[scene], only); s++) {
            const size_report *of = &all[scene][s];
            printf("%-8s %8d", scene_names[scene], of->contacts);
            for (int i = 0; i < LOOPS; i++)
                printf(" %10.1f %6.2f %5.0f%%", of->sweep[i], of->sweep[i] / all[scene][0].sweep[i],
                       100.0 * of->share[i]);
            printf("\n");
        }
    }
    printf("\n");
}
