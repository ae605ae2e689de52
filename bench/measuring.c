/* What measuring costs: every solver that sweeps, on a wall of boxes, with nothing measured, with one gauge
 * (a stop rule) and with all of them (history), the same number of iterations each. Times are the smallest of
 * several runs of whole solves on one thread; "share" is the part of the whole that measuring takes. */
#include <stickslip/stickslip.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 20, ROWS = 20, ITERATIONS = 50, REPEATS = 7 };

/* Boxes of 1 kg stacked in columns, four contacts under each. */
static ss_frame *make_wall(void)
{
    ss_frame *frame = ss_frame_create(COLUMNS * ROWS, 0, 0, 4 * COLUMNS * ROWS, NULL);
    if (!frame) return NULL;
    frame->h = 0.01;
    for (int body = 0, c = 0; body < COLUMNS * ROWS; body++) {
        double x = 1.1 * (body / ROWS), z = 0.5 + body % ROWS;
        frame->bodies.mass[body] = 1.0;
        for (int i = 0; i < 3; i++) frame->bodies.inertia[body][4 * i] = 1.0 / 6.0;
        memcpy(frame->bodies.position[body], (double[3]){x, 0.0, z}, 3 * sizeof(double));
        frame->bodies.velocity[body][0] = 0.01 * (body % 7);
        frame->bodies.force[body][2] = -9.81;
        for (int corner = 0; corner < 4; corner++, c++) {
            frame->contacts.pair[c][0] = body % ROWS ? body - 1 : SS_WORLD;
            frame->contacts.pair[c][1] = body;
            frame->contacts.normal[c][2] = 1.0;
            frame->contacts.mu[c][0] = frame->contacts.mu[c][1] = 0.5;
            memcpy(frame->contacts.point[c],
                   (double[3]){x + (corner & 1 ? 0.5 : -0.5), corner & 2 ? 0.5 : -0.5, z - 0.5},
                   3 * sizeof(double));
        }
    }
    return frame;
}

static double time_of(const ss_solver *solver, ss_problem *problem, ss_stop_rule stop, bool history)
{
    double best = INFINITY, *x = calloc((size_t)problem->size, sizeof *x);
    for (int k = 0; x && k < REPEATS; k++) {
        ss_run_options options = ss_run_defaults();
        options.max_iterations = ITERATIONS;
        options.stop = stop;
        options.history = history;
        memset(x, 0, (size_t)problem->size * sizeof *x);
        ss_solve_result result;
        double start = ss_clock_seconds();
        if (!ss_solve(&(ss_solve_request){.solver = solver, .problem = problem, .run = &options}, x, &result,
                      NULL))
            break;
        best = fmin(best, ss_clock_seconds() - start);
        ss_solve_result_free(&result);
    }
    free(x);
    return best;
}

int main(void)
{
    static const char *const names[] = {"nsgs", "pgs", "projected-fixed-point", "jacobi"};
    ss_frame *frame = make_wall();
    const ss_formulation *cone = ss_formulation_find("cone");
    void *options = calloc(1, cone->options_size);
    if (!frame || !options) return 4;
    ss_options_defaults(cone->options, options);
    ss_problem *problem = ss_problem_from_frame(frame, cone, options, NULL);
    if (!problem) return 4;
    printf("%d contacts, %d iterations per solve, microseconds per iteration\n\n", frame->contacts.count,
           ITERATIONS);
    printf("%-8s %10s %12s %8s %12s %8s\n", "solver", "nothing", "one gauge", "share", "all gauges", "share");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const ss_solver *solver = ss_solver_find(names[i]);
        double nothing = time_of(solver, problem, (ss_stop_rule){0}, false);
        double one = time_of(solver, problem,
                             (ss_stop_rule){.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-300}, false);
        double all = time_of(solver, problem, (ss_stop_rule){0}, true);
        double scale = 1e6 / ITERATIONS;
        printf("%-8s %10.1f %12.1f %7.0f%% %12.1f %7.0f%%\n", names[i], scale * nothing, scale * one,
               100.0 * (1.0 - nothing / one), scale * all, 100.0 * (1.0 - nothing / all));
    }
    ss_problem_destroy(problem);
    free(options);
    ss_frame_destroy(frame);
    return 0;
}
