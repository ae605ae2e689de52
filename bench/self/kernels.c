#include "kernels.h"

#include "scenes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* J twist and its transpose (29 numbers each way), and the local solution. */
#define BATCHED_FLOPS 136.0
/* J and M^-1 J' of three rows and two bodies, A_cc, impulses. */
#define ROWS_BYTES (2.0 * 36 * 8 + 9 * 8 + 2 * 3 * 8)
#define ROWS_FLOPS 144.0
/* The product with A by bodies: J once for J' x, once for J v. */
#define PRODUCT_BYTES (2.0 * 36 * 8)

const iteration iterations[] = {
    {"sweep of pgs", "pgs", NULL, BATCHED_BYTES, BATCHED_FLOPS + 22, 40},
    {"sweep of nsgs", "nsgs", NULL, BATCHED_BYTES, BATCHED_FLOPS + 32, 40},
    {"sweep of pgs, one by one", "pgs", "sweep=forward", ROWS_BYTES, ROWS_FLOPS + 20, 20},
    {"sweep of nsgs, one by one", "nsgs", "sweep=forward", ROWS_BYTES, ROWS_FLOPS + 50, 20},
    {"iteration of batched-nncg", "batched-nncg", NULL, BATCHED_BYTES + NNCG_BYTES, BATCHED_FLOPS + 32 + 15,
     40},
    {"iteration of nncg", "nncg", NULL, ROWS_BYTES + NNCG_BYTES, ROWS_FLOPS + 65, 20},
    {"pass of apgd", "apgd", NULL, PRODUCT_BYTES + 8 * 3 * 8, 144 + 60, 20},
    {"iteration of admm", "admm", NULL, 0, 0, 10},
    {"iteration of alart-curnier", "alart-curnier", NULL, 0, 0, 3},
    {"iteration of interior-point", "interior-point", NULL, 0, 0, 3},
};
const int iteration_count = sizeof iterations / sizeof *iterations;

ss_solve_result solve_for(const iteration *of, ss_problem *problem, int limit, ss_team *team, double *x)
{
    const ss_solver *solver = ss_solver_find(of->solver);
    if (!solver) stop("a solver is missing");
    void *options = must(calloc(1, solver->options_size + 1));
    if (solver->options) ss_options_defaults(solver->options, options);
    if (of->setting && !ss_options_assign(solver->options, options, of->setting, NULL))
        stop("no such option");
    ss_run_options run = ss_run_defaults();
    run.max_iterations = limit;
    run.stop = (ss_stop_rule){0};
    ss_solve_result result;
    memset(x, 0, (size_t)problem->size * sizeof *x);
    if (!ss_solve(
            &(ss_solve_request){
                .solver = solver, .solver_options = options, .problem = problem, .run = &run, .team = team},
            x, &result, NULL))
        stop("a solve failed");
    free(options);
    return result;
}

/* ---- iterations ------------------------------------------------------------------------------------- */

static double time_solve(const iteration *of, ss_problem *problem, int limit, double *x, int *done)
{
    double start = thread_seconds();
    ss_solve_result result = solve_for(of, problem, limit, NULL, x);
    double seconds = thread_seconds() - start;
    *done = result.iterations;
    ss_solve_result_free(&result);
    return seconds;
}

cost cost_of(const iteration *of, ss_problem *problem)
{
    double *x = must(malloc((size_t)problem->size * sizeof *x)), contacts = problem->size / 3.0;
    double few = INFINITY, many = INFINITY, budget = ss_clock_seconds() + 1.0;
    int one = 0, all = 0;
    for (int round = 0; round < 3 || (round < 30 && ss_clock_seconds() < budget); round++) {
        few = fmin(few, time_solve(of, problem, 1, x, &one));
        many = fmin(many, time_solve(of, problem, 1 + of->iterations, x, &all));
    }
    free(x);
    double each = all > one ? (many - few) / (all - one) : NAN;
    return (cost){1e9 * few / contacts, 1e9 * each / contacts};
}

static double limit_of(const machine *m, const iteration *of, double contacts)
{
    if (of->bytes <= 0.0) return NAN;
    return fmax(of->bytes / bandwidth_for(m, of->bytes * contacts), of->flops / m->separate);
}

static void print_ratio(double value, double limit)
{
    if (isnan(limit))
        printf(" %8s %8s\n", "-", "-");
    else
        printf(" %8.1f %7.0f%%\n", limit, 100.0 * limit / value);
    fflush(stdout);
}

void print_iterations(const machine *m, int most)
{
    static const int sizes[] = {500, 5000, 12000, 50000, 200000};
    printf("ns per contact, one thread; limit: the larger of bytes by bandwidth and flops by peak\n"
           "%-28s %-5s %8s %9s %9s %8s %8s\n",
           "loop", "scene", "contacts", "first", "each", "limit", "share");
    for (int i = 0; i < iteration_count; i++) {
        bool is_sweep = i < 2; // the others at one size
        for (int s = 0; s < 5 && sizes[s] <= most; s++) {
            for (int kind = 0; kind < 2 && (is_sweep || s == 1); kind++) {
                ss_frame *frame = kind ? make_pile(sizes[s]) : make_wall(sizes[s]);
                ss_problem *problem = assemble(frame);
                cost of = cost_of(&iterations[i], problem);
                printf("%-28s %-5s %8d %9.0f %9.1f", iterations[i].name, kind ? "pile" : "wall",
                       problem->size / 3, of.first, of.iteration);
                print_ratio(of.iteration, limit_of(m, &iterations[i], problem->size / 3.0));
                ss_problem_destroy(problem);
                ss_frame_destroy(frame);
            }
        }
    }
    printf("\n");
}

/* ---- stages of a step ------------------------------------------------------------------------------- */

static double time_assembling(const ss_frame *frame, double contacts)
{
    double best = INFINITY;
    for (int round = 0; round < 20; round++) {
        double start = thread_seconds();
        ss_problem *problem = assemble(frame);
        best = fmin(best, thread_seconds() - start);
        ss_problem_destroy(problem);
    }
    return 1e9 * best / contacts;
}

static double time_matrix(const ss_frame *frame, double contacts)
{
    double best = INFINITY;
    for (int round = 0; round < 5; round++) {
        ss_problem *problem = assemble(frame);
        double start = thread_seconds();
        if (!ss_problem_need_matrix(problem, NULL)) stop("out of memory");
        best = fmin(best, thread_seconds() - start);
        ss_problem_destroy(problem);
    }
    return 1e9 * best / contacts;
}

/* A world as the scene makes it, looked through again and again. */
static double time_collision(const char *name, int *contacts)
{
    const ss_scene *scene = ss_scene_find(name);
    ss_world *world = must(ss_world_create(NULL));
    void *parameters = must(calloc(1, scene->parameters_size + 1));
    if (scene->parameters) ss_options_defaults(scene->parameters, parameters);
    if (!scene->build(parameters, 1, world, NULL) || !ss_world_finish(world, NULL)) stop("a scene failed");
    ss_collision_options options = {0};
    ss_options_defaults(ss_collision_option_table, &options);
    ss_collision *collision = must(ss_collision_create(world, &options, NULL));
    double best = INFINITY;
    for (int round = 0; round < 50; round++) {
        ss_contact_list list;
        double start = thread_seconds();
        if (!ss_collision_find(collision, scene->h, NULL, &list, NULL)) stop("collision failed");
        best = fmin(best, thread_seconds() - start);
        *contacts = list.count;
    }
    ss_collision_destroy(collision);
    ss_world_destroy(world);
    free(parameters);
    return 1e9 * best / *contacts;
}

void print_stages(const machine *m)
{
    /* J of three rows, written once, and the frame's contact, read once; bodies stay in the cache */
    const double bytes = 3.0 * 12 * 8 + 20 * 8;
    static const char *const scenes[] = {"box-pyramid", "brick-wall"};
    printf("ns per contact, one thread\n%-28s %-12s %8s %9s %8s %8s\n", "stage", "scene", "contacts", "each",
           "limit", "share");
    for (int kind = 0; kind < 2; kind++) {
        ss_frame *frame = kind ? make_pile(5000) : make_wall(5000);
        int contacts = frame->contacts.count;
        double each = time_assembling(frame, contacts);
        printf("%-28s %-12s %8d %9.0f", "assembling", kind ? "pile" : "wall", contacts, each);
        print_ratio(each, bytes / bandwidth_for(m, bytes * contacts));
        each = time_matrix(frame, contacts);
        printf("%-28s %-12s %8d %9.0f", "making the matrix", kind ? "pile" : "wall", contacts, each);
        print_ratio(each, NAN);
        ss_frame_destroy(frame);
    }
    for (int i = 0; i < 2; i++) {
        int contacts;
        double each = time_collision(scenes[i], &contacts);
        printf("%-28s %-12s %8d %9.0f", "collision", scenes[i], contacts, each);
        print_ratio(each, NAN);
    }
    printf("\n");
}
