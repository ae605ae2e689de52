#define _GNU_SOURCE
#include "kernels.h"

#include "scenes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "linalg/front_tree.h"

enum { SIZES = 5, SCENES = 3, METHODS = 6 };
static const int sizes[SIZES] = {400, 1800, 5000, 13000, 50000};
static const char *const scene_names[SCENES] = {"wall", "pile", "elastic"};
static const char *const methods[METHODS] = {"batched-nncg",  "admm",          "interior-point",
                                             "minmap-newton", "alart-curnier", "proximal-point"};

/* ---- factors ---------------------------------------------------------------------------------------- */

/* Of the bodies' matrix, which all methods that factorise share: six unknowns for a body. */
typedef struct fill {
    double numbers, multiplications;
} fill;

static fill fill_of(const ss_problem *problem)
{
    enum { WIDTH = 6 };
    size_t blocks = (size_t)problem->block_count;
    int *start = must(calloc(blocks + 1, sizeof *start)), *member = must(calloc(2 * blocks, sizeof *member));
    ss_arena *arena = must(ss_arena_create(0, NULL));
    for (int k = 0, count = 0; k < problem->block_count; k++) {
        const int *pair = problem->bodies->pair[problem->blocks[k].first];
        for (int side = 0; side < 2; side++)
            if (pair[side] >= 0) member[count++] = pair[side];
        start[k + 1] = count;
    }
    const ss_block_rows *pattern = must(
        ss_block_rows_of_groups(problem->bodies->bodies, WIDTH, problem->block_count, start, member, arena));
    ss_front_tree tree;
    fill of = {0};
    if (!ss_front_tree_create(pattern, &tree, NULL) || !ss_front_tree_analyse(&tree, NULL))
        stop("out of memory");
    for (int f = 0; f < tree.front_count; f++) {
        double rows = tree.fronts[f].rows, pivots = tree.fronts[f].pivots;
        of.numbers += pivots * (2.0 * rows - pivots);
        of.multiplications += pivots * (rows * rows - rows * pivots + pivots * pivots / 3.0);
    }
    ss_front_tree_free(&tree);
    ss_arena_destroy(arena);
    free(member);
    free(start);
    return of;
}

/* ---- one run ---------------------------------------------------------------------------------------- */

/* The limit is one of processor time, so that other programs on the machine do not decide what is solved. */
static volatile int is_late;

static void be_late(int signal)
{
    (void)signal;
    is_late = 1;
}

/* Iterations and processor time until relative_energy < 1e-6 from zero, or how far it came. */
static void measure(const char *method, ss_problem *problem, double seconds)
{
    double *x = must(calloc((size_t)problem->size, sizeof *x));
    ss_run_options run = ss_run_defaults();
    run.max_iterations = 10000000;
    run.stop = (ss_stop_rule){.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-6};
    ss_solve_request request = {
        .solver = must((void *)ss_solver_find(method)), .problem = problem, .run = &run, .cancel = &is_late};
    ss_solve_result result;
    is_late = 0;
    signal(SIGPROF, be_late);
    setitimer(ITIMER_PROF, &(struct itimerval){.it_value = {.tv_sec = (time_t)seconds}}, NULL);
    double start = thread_seconds();
    if (!ss_solve(&request, x, &result, NULL)) stop("a solve failed");
    double taken = thread_seconds() - start;
    setitimer(ITIMER_PROF, &(struct itimerval){0}, NULL);
    char cell[64];
    double rest = result.gauge[SS_GAUGE_RELATIVE_ENERGY];
    if (rest < run.stop.below)
        snprintf(cell, sizeof cell, "%d %.2fs", result.iterations, taken);
    else
        snprintf(cell, sizeof cell, "- %.0fs %.0e", taken, rest);
    printf(" %16s", cell);
    fflush(stdout);
    ss_solve_result_free(&result);
    free(x);
}

/* ---- all of them ------------------------------------------------------------------------------------ */

void print_growth(int most, double seconds)
{
    static const double pace = 5e9; // multiplications per second of a factorisation
    printf("accurate methods until relative_energy < 1e-6 from zero: iterations and s of processor time; -: "
           "not within\n%.0f s, and how far it came; empty: one factorisation would take longer\n"
           "factors of the bodies' matrix: numbers per contact, multiplications\n%-8s %8s %8s %8s",
           seconds, "scene", "contacts", "numbers", "mult.");
    for (int i = 0; i < METHODS; i++) printf(" %16s", methods[i]);
    printf("\n");
    for (int scene = 0; scene < SCENES; scene++) {
        for (int s = 0; s < SIZES && sizes[s] <= most; s++) {
            ss_frame *frame = scene ? make_pile(sizes[s]) : make_wall(sizes[s]);
            if (scene == 2) soften(frame, 1e5);
            ss_problem *problem = assemble(frame);
            fill of = fill_of(problem);
            printf("%-8s %8d %8.0f %8.1e", scene_names[scene], frame->contacts.count,
                   of.numbers / frame->contacts.count, of.multiplications);
            for (int i = 0; i < METHODS; i++) {
                if (i == 0 || of.multiplications < pace * seconds)
                    measure(methods[i], problem, seconds);
                else
                    printf(" %16s", "");
            }
            printf("\n");
            ss_problem_destroy(problem);
            ss_frame_destroy(frame);
        }
    }
    printf("\n");
}
