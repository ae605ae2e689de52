/* What it costs an engine to be recorded: microseconds per step, on top of the engine's own.
 *
 *     bench_recorder [STEPS [BODIES [CONTACTS [DIRECTORY [ROW]]]]]     ROW: only that row, from 0
 *
 * Every step hands over bodies, contacts and the answer of the engine. The way to the disk is not part of
 * a step, but the last line of each row, "close", is: it waits for it. */
#include <stickslip/stickslip.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct workload {
    int steps, bodies, contacts;
    double *velocity, *normal, *tangent;
    char path[4096];
} workload;

static void stop(const char *what, const ss_error *err)
{
    fprintf(stderr, "recorder: %s: %s\n", what, err->message);
    exit(4);
}

static bool record_step(const workload *w, ss_recorder *recorder, int step, ss_error *err)
{
    static const double upright[4] = {1, 0, 0, 0}, inertia[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1},
                        up[3] = {0, 0, 1};
    static const double still[6] = {0}, weight[6] = {0, 0, -9.81};
    ss_recorder_begin(recorder, 0.01 * step, 0.01);
    for (int b = 0; b < w->bodies; b++)
        ss_recorder_body_local(recorder, 1, (double[3]){b, 0, 0}, upright, inertia, still, weight);
    for (int c = 0; c < w->contacts; c++)
        ss_recorder_contact(recorder, SS_WORLD, c % w->bodies, (double[3]){c, 0, 0}, up, -1e-5, 0.5);
    ss_recorder_result(recorder, "engine", w->velocity, NULL, w->normal, w->tangent);
    return ss_recorder_end(recorder, err);
}

static void measure(const workload *w, const char *what, const char *settings)
{
    ss_error err = {0};
    ss_recorder *recorder = ss_recorder_open(w->path, "bench", &err);
    if (!recorder || !ss_recorder_configure(recorder, settings, &err)) stop(what, &err);
    double start = ss_clock_seconds(), worst = 0;
    for (int s = 0; s < w->steps; s++) {
        double before = ss_clock_seconds();
        if (!record_step(w, recorder, s, &err)) stop(what, &err);
        double took = ss_clock_seconds() - before;
        if (took > worst) worst = took;
    }
    double recorded = ss_clock_seconds();
    if (!ss_recorder_close(recorder, &err)) stop(what, &err);
    printf("%-46s %8.1f us/step %8.2f ms worst %8.1f ms close\n", what, 1e6 * (recorded - start) / w->steps,
           1e3 * worst, 1e3 * (ss_clock_seconds() - recorded));
    remove(w->path);
}

static const char *const ways[][2] = {
    {"every step, lost when the program dies", "survive=0"},
    {"every step, sealed every 2.5 s (the default)", "survive=5"},
    {"every step, sealed every 0.1 s", "survive=0.2"},
    {"ring of 500 steps in a file", "ring=500"},
    {"ring of 500 steps in memory", "ring=500 no_ring_file=true"},
    {"ring in a file; nan, overlap, joint error", "ring=500 trip=nan trip=overlap>1 trip=joint_error>1"},
    {"ring in a file; every step judged (energy)", "ring=500 trip=energy>1e9"},
};

int main(int argc, char **argv)
{
    workload w = {.steps = argc > 1 ? atoi(argv[1]) : 5000,
                  .bodies = argc > 2 ? atoi(argv[2]) : 50,
                  .contacts = argc > 3 ? atoi(argv[3]) : 200};
    if (w.steps < 1 || w.bodies < 1 || w.contacts < 0) {
        fputs("usage: bench_recorder [STEPS [BODIES [CONTACTS [DIRECTORY [ROW]]]]]\n", stderr);
        return 2;
    }
    w.velocity = calloc((size_t)w.bodies, 6 * sizeof(double));
    w.normal = calloc((size_t)w.contacts + 1, sizeof(double));
    w.tangent = calloc((size_t)w.contacts + 1, 3 * sizeof(double));
    if (!w.velocity || !w.normal || !w.tangent) return 4;
    snprintf(w.path, sizeof w.path, "%s/bench-recorder.h5", argc > 4 ? argv[4] : "/tmp");
    printf("%d steps of %d bodies and %d contacts\n", w.steps, w.bodies, w.contacts);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        if (argc <= 5 || (size_t)atoi(argv[5]) == i) measure(&w, ways[i][0], ways[i][1]);
    free(w.velocity);
    free(w.normal);
    free(w.tangent);
    return 0;
}
