/* Do runs end at their time limit? Time taken over time asked for, of every solver with either keep rule, on
 * a pyramid of 501 boxes with 2004 contacts: the median and the 99th percentile of many runs.
 *
 *     bench_deadline [-p] [-n RUNS] [SOLVER...]
 *
 * Taken is ss_solve_result.elapsed, from the start of the run to the kept iterate. Each solver gets the first
 * formulation that it accepts, and memory that is there already, as in a session. A percentile sees every
 * interruption of a busy machine: with -p the clock counts the time of the processor only, and the first row
 * is that of a solver that only looks at the clock. It is not part of the last row. */
#include <stickslip/stickslip.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/deadline.h"

enum { WIDEST = 11, LAYERS = 9 }; // boxes along an edge of the lowest layer; layers
enum { CORNERS = 4 };
enum { WARM_UP = 5 }; // runs that do not count

static const double limits[] = {0.001, 0.002, 0.005, 0.02}; // s
enum { LIMITS = sizeof limits / sizeof *limits };

/* ---- the frame -------------------------------------------------------------------------------------- */

static int boxes_below(int layer)
{
    int count = 0;
    for (int k = 0; k < layer; k++) count += (WIDEST - k) * (WIDEST - k);
    return count;
}

/* Cubes of 1 m and 1000 kg; above the lowest layer each stands on four. */
static ss_frame *make_pyramid(void)
{
    int boxes = boxes_below(LAYERS), contact = 0;
    ss_frame *frame = ss_frame_create(boxes, 0, 0, CORNERS * boxes, NULL);
    if (!frame) return NULL;
    frame->h = 0.01;
    for (int layer = 0, body = 0; layer < LAYERS; layer++) {
        int side = WIDEST - layer;
        for (int i = 0; i < side * side; i++, body++) {
            double x = i % side + 0.5 * layer, y = i / side + 0.5 * layer; // m
            frame->bodies.mass[body] = 1000.0;
            for (int k = 0; k < 3; k++) frame->bodies.inertia[body][4 * k] = 1000.0 / 6.0;
            memcpy(frame->bodies.position[body], (double[3]){x, y, layer + 0.5}, 3 * sizeof(double));
            frame->bodies.velocity[body][0] = 0.02 * layer; // m/s: the higher, the faster it slides
            frame->bodies.force[body][2] = -9810.0;
            for (int corner = 0; corner < CORNERS; corner++, contact++) {
                int dx = corner % 2, dy = corner / 2;
                int under = boxes_below(layer - 1) + (i / side + dy) * (side + 1) + i % side + dx;
                frame->contacts.pair[contact][0] = layer ? under : SS_WORLD;
                frame->contacts.pair[contact][1] = body;
                memcpy(frame->contacts.point[contact],
                       (double[3]){x + 0.5 * dx - 0.25, y + 0.5 * dy - 0.25, layer}, 3 * sizeof(double));
                frame->contacts.normal[contact][2] = 1.0;
                frame->contacts.mu[contact][0] = frame->contacts.mu[contact][1] = 0.5;
            }
        }
    }
    return frame;
}

/* NULL when the solver accepts the problem of no formulation. */
static ss_problem *make_problem(const ss_frame *frame, const ss_solver *solver, const char **name)
{
    static const char *const names[] = {"cone", "convex", "box", "stewart-trinkle", "frictionless"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const ss_formulation *by = ss_formulation_find(*name = names[k]);
        void *options = calloc(1, by->options_size);
        ss_options_defaults(by->options, options);
        ss_problem *problem = ss_problem_from_frame(frame, by, options, NULL);
        free(options);
        if (problem && !ss_solver_refusal(solver, problem)) return problem;
        ss_problem_destroy(problem);
    }
    return NULL;
}

/* Does nothing but look at the clock: what the machine itself adds, in the same table. */
static ss_status only_look(const ss_problem *problem, const void *options, ss_run *run, double *x)
{
    (void)problem, (void)options, (void)x;
    while (!ss_run_late(run)) continue;
    return ss_run_status(run);
}

static const ss_solver looks = {.abi = SS_ABI, .name = "(clock only)", .laws = ~0u, .solve = only_look};

/* ---- runs ------------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Time taken over `limit` of every run, ascending. False when a run failed. */
static bool take_times(const ss_solver *solver, ss_problem *problem, double limit, bool keep_best, int runs,
                       ss_arena *arena, double *x, double *ratio)
{
    ss_run_options options = {.max_iterations = 1000000000,
                              .time_limit = limit,
                              .stop = {.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-13},
                              .keep = {keep_best ? SS_KEEP_BEST : SS_KEEP_LAST, SS_GAUGE_ENERGY},
                              .seed = 1};
    for (int k = -WARM_UP; k < runs; k++) { // the first ones get memory from the system
        ss_solve_result result;
        memset(x, 0, (size_t)problem->size * sizeof *x);
        if (!ss_solve(
                &(ss_solve_request){.solver = solver, .problem = problem, .run = &options, .arena = arena}, x,
                &result, NULL))
            return false;
        if (k >= 0) ratio[k] = result.elapsed / limit;
        ss_solve_result_free(&result);
        if (result.status == SS_FAILED) return false;
    }
    qsort(ratio, (size_t)runs, sizeof *ratio, ascending);
    return true;
}

static void run(const ss_frame *frame, const ss_solver *solver, int runs, double *ratio, double *worst)
{
    const char *name = NULL;
    ss_problem *problem = make_problem(frame, solver, &name);
    double *x = problem ? malloc((size_t)problem->size * sizeof *x) : NULL;
    ss_arena *arena = x ? ss_arena_create(0, NULL) : NULL;
    for (int best = 0; arena && best < 2; best++) {
        printf("%-16s %-16s %-12s", solver->name, name, best ? "best:energy" : "last");
        for (int l = 0; l < LIMITS; l++) {
            if (!take_times(solver, problem, limits[l], best, runs, arena, x, ratio)) {
                printf("       failed");
                continue;
            }
            double late = ratio[(int)(0.99 * (runs - 1) + 0.5)];
            printf("  %5.2f %5.2f", ratio[runs / 2], late);
            worst[l] = fmax(worst[l], late);
        }
        printf("\n");
        fflush(stdout);
    }
    if (!x) printf("%-16s not applicable\n", solver->name);
    free(x);
    ss_arena_destroy(arena);
    ss_problem_destroy(problem);
}

int main(int argc, char **argv)
{
    int runs = 100, first = 1;
    if (argc > first && strcmp(argv[first], "-p") == 0) {
        ss_clock_count_processor(true);
        first++;
    }
    if (argc > first + 1 && strcmp(argv[first], "-n") == 0) {
        runs = atoi(argv[first + 1]);
        first += 2;
    }
    ss_frame *frame = make_pyramid();
    double *ratio = runs > 0 ? malloc((size_t)runs * sizeof *ratio) : NULL, worst[LIMITS] = {0};
    if (!frame || !ratio)
        return fprintf(stderr, "bench_deadline: -n 1 or more runs, and memory for them\n"), 2;
    printf("%-16s %-16s %-12s", "solver", "formulation", "keep");
    for (int l = 0; l < LIMITS; l++) printf("  %5g ms p99", 1e3 * limits[l]);
    printf("\n");
    run(frame, &looks, runs, ratio, (double[LIMITS]){0});
    for (int k = first; k < argc; k++) {
        const ss_solver *solver = ss_solver_find(argv[k]);
        if (!solver) return fprintf(stderr, "bench_deadline: unknown solver \"%s\"\n", argv[k]), 2;
        run(frame, solver, runs, ratio, worst);
    }
    for (int k = 0; first == argc && k < ss_solver_count(); k++)
        run(frame, ss_solver_at(k), runs, ratio, worst);
    printf("%-46s", "largest 99th percentile");
    for (int l = 0; l < LIMITS; l++) printf("        %5.2f", worst[l]);
    printf("\n");
    ss_frame_destroy(frame);
    free(ratio);
    return 0;
}
