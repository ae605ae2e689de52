/* What a solve costs when there is next to nothing to solve: every solver on one sphere on the ground, as
 * one row (frictionless), as an LCP of ten rows (stewart-trinkle) and as one contact (cone); nanoseconds
 * of a whole call.
 *
 *     bench_fixed_cost [SOLVER [FORMULATION]]
 *
 * The first line is the mathematics alone: the formula of the row, or the local problem of the contact,
 * solved once from zero. What a solver needs beyond that is its fixed cost, in which the clock is looked at
 * twice; what that takes on this machine is the last line.
 *
 * The first column: memory and options are there already, and one gauge of the answer is wanted, as the
 * simulator calls it; "alone": ss_solve, which takes memory, reads the default options and measures every
 * gauge. The smallest of many calls on one thread; on a busy machine `valgrind --tool=callgrind
 * --toggle-collect=solve_in bench_fixed_cost SOLVER` counts instructions instead. */
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

/* ns of the formula or of the local problem of a problem with one block; NAN where there are more. */
static double mathematics(const ss_problem *problem, ss_arena *arena, double *x)
{
    double best = INFINITY;
    if (problem->block_count != 1 || (problem->size > 1 && !ss_block_is_cone(problem->blocks))) return NAN;
    for (int round = 0; round < ROUNDS; round++) {
        double start = ss_clock_seconds();
        for (int k = 0; k < CALLS; k++) {
            ss_arena_mark mark = ss_arena_get_mark(arena);
            memset(x, 0, (size_t)problem->size * sizeof *x);
            if (problem->size == 1) {
                x[0] = fmax(-problem->b[0] / problem->diagonal[0], 0.0);
            } else {
                ss_local *local = ss_local_create(problem, problem->blocks, 1e-14, arena);
                if (!local) return NAN;
                ss_local_step(local, problem->b, x);
            }
            ss_arena_reset(arena, mark);
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
    ss_problem *problems[COUNT] = {0};
    double x[LARGEST];
    int count = 0;
    if (!frame || !arena) return 4;
    printf("%-16s", "ns per solve");
    for (int p = 0; p < COUNT; p++) {
        if (argc > 2 && strcmp(formulations[p], argv[2]) != 0) continue;
        ss_problem *problem = problems[count++] = make_problem(frame, formulations[p]);
        if (!problem || problem->size > LARGEST) return 4;
        printf(" %16s %8s", formulations[p], "alone");
    }
    printf("\n%-16s", "mathematics");
    for (int p = 0; p < count; p++) printf(" %16.0f %8s", mathematics(problems[p], arena, x), "");
    printf("\n");
    for (int s = 0; s < ss_solver_count(); s++) {
        const ss_solver *solver = ss_solver_at(s);
        if (argc == 1 || strcmp(solver->name, argv[1]) == 0) print_costs(solver, problems, count, arena);
    }
    double clock = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double start = ss_clock_seconds();
        for (int k = 0; k < CALLS; k++) (void)ss_clock_seconds();
        clock = fmin(clock, ss_clock_seconds() - start);
    }
    printf("%-16s %16.0f\n", "clock, twice", 2e9 * clock / CALLS);
    for (int p = 0; p < count; p++) ss_problem_destroy(problems[p]);
    ss_arena_destroy(arena);
    ss_frame_destroy(frame);
    return 0;
}
