/* What a solve costs when there is next to nothing to solve: every solver on one sphere on the ground, as
 * one row (frictionless), as an LCP of ten rows (stewart-trinkle) and as one contact (cone); nanoseconds
 * of a whole call.
 *
 *     bench_fixed_cost [SOLVER]
 *
 * The first column: memory and options are there already, and one gauge of the answer is wanted, as the
 * simulator calls it; "alone": ss_solve, which takes memory, reads the default options and measures every
 * gauge. The smallest of many calls on one thread; on a busy machine `valgrind --tool=callgrind
 * --toggle-collect=ss_solve_in bench_fixed_cost SOLVER` counts instructions instead. */
#include <stickslip/stickslip.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 64 };            // unknowns of these problems, at most
enum { ROUNDS = 40, CALLS = 50 }; // the smallest of ROUNDS means over CALLS: the clock has its price, too

/* A sphere of 1 kg that falls on the ground and slides: friction has something to do. */
static ss_frame *make_sphere(void)
{
    ss_frame *frame = ss_frame_create(1, 0, 0, 1, NULL);
    if (!frame) return NULL;
    frame->h = 0.01;
    frame->bodies.mass[0] = 1.0;
    for (int i = 0; i < 3; i++) frame->bodies.inertia[0][4 * i] = 0.1;
    frame->bodies.position[0][2] = 0.5;
    memcpy(frame->bodies.velocity[0], (double[3]){0.3, 0.1, -0.2}, 3 * sizeof(double));
    frame->bodies.force[0][2] = -9.81;
    frame->contacts.pair[0][0] = SS_WORLD;
    frame->contacts.pair[0][1] = 0;
    frame->contacts.normal[0][2] = 1.0;
    frame->contacts.mu[0][0] = frame->contacts.mu[0][1] = 0.5;
    return frame;
}

static ss_problem *make_problem(const ss_frame *frame, const char *formulation)
{
    const ss_formulation *by = ss_formulation_find(formulation);
    void *options = calloc(1, by->options_size);
    ss_options_defaults(by->options, options);
    ss_problem *problem = ss_problem_from_frame(frame, by, options, NULL);
    free(options);
    return problem && ss_problem_need_matrix(problem, NULL) ? problem : NULL;
}

typedef struct caller {
    ss_arena *arena; // NULL: none of these is there before the call
    ss_run_options run;
    void *options;
} caller;

static bool call(const caller *by, const ss_solver *solver, ss_problem *problem, double *x,
                 ss_solve_result *result)
{
    static const unsigned gauges = 1u << SS_GAUGE_RELATIVE_ENERGY;
    memset(x, 0, (size_t)problem->size * sizeof *x);
    if (!by->arena)
        return ss_solve(&(ss_solve_request){.solver = solver, .problem = problem}, x, result, NULL);
    return ss_solve(&(ss_solve_request){.arena = by->arena,
                                        .gauges = gauges,
                                        .solver = solver,
                                        .solver_options = by->options,
                                        .problem = problem,
                                        .run = &by->run},
                    x, result, NULL);
}

/* ns per call; NAN when the solver does not take the problem or does not solve it. */
static double cost(const caller *by, const ss_solver *solver, ss_problem *problem, double *x)
{
    double best = INFINITY;
    ss_solve_result result;
    for (int round = 0; round < ROUNDS; round++) {
        double start = ss_clock_seconds();
        for (int k = 0; k < CALLS; k++) {
            if (!call(by, solver, problem, x, &result)) return NAN;
            ss_solve_result_free(&result);
            if (result.status != SS_CONVERGED) return NAN;
        }
        best = fmin(best, ss_clock_seconds() - start);
    }
    return 1e9 * best / CALLS;
}

static void print_costs(const ss_solver *solver, ss_problem *const *problems, int count, ss_arena *arena)
{
    double x[LARGEST];
    caller simulator = {.arena = arena, .options = calloc(1, solver->options_size + 1)}, stranger = {0};
    simulator.run = ss_run_defaults();
    if (simulator.options) ss_options_defaults(solver->options, simulator.options);
    printf("%-16s", solver->name);
    for (int p = 0; p < count; p++) {
        printf(" %16.0f %8.0f", cost(&simulator, solver, problems[p], x),
               cost(&stranger, solver, problems[p], x));
    }
    printf("\n");
    free(simulator.options);
}

int main(int argc, char **argv)
{
    static const char *const formulations[] = {"frictionless", "stewart-trinkle", "cone"};
    enum { COUNT = sizeof formulations / sizeof *formulations };
    ss_frame *frame = make_sphere();
    ss_arena *arena = ss_arena_create(1 << 16, NULL);
    ss_problem *problems[COUNT];
    if (!frame || !arena) return 4;
    printf("%-16s", "ns per solve");
    for (int p = 0; p < COUNT; p++) {
        problems[p] = make_problem(frame, formulations[p]);
        if (!problems[p] || problems[p]->size > LARGEST) return 4;
        printf(" %16s %8s", formulations[p], "alone");
    }
    printf("\n");
    for (int s = 0; s < ss_solver_count(); s++) {
        const ss_solver *solver = ss_solver_at(s);
        if (argc == 1 || strcmp(solver->name, argv[1]) == 0) print_costs(solver, problems, COUNT, arena);
    }
    for (int p = 0; p < COUNT; p++) ss_problem_destroy(problems[p]);
    ss_arena_destroy(arena);
    ss_frame_destroy(frame);
    return 0;
}
