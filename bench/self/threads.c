/* One thread and two, by the clock on the wall: memory, the sweeps of one problem, and whole steps of the
 * simulator stage by stage. Two simulations of a scene take turns, step by step, so that what disturbs the
 * machine disturbs both; what is printed are lower quartiles. */
#include "threads.h"

#include "kernels.h"
#include "machine.h"
#include "scenes.h"

#include "base/team.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double quartile(double *values, int count)
{
    for (int i = 1; i < count; i++) {
        double held = values[i];
        int j = i;
        for (; j > 0 && values[j - 1] > held; j--) values[j] = values[j - 1];
        values[j] = held;
    }
    return values[count / 4];
}

/* ---- memory and the team ---------------------------------------------------------------------------- */

static void do_nothing(int64_t begin, int64_t end, int worker, void *context)
{
    (void)begin, (void)end, (void)worker, (void)context;
}

/* us: a parallel loop of two chunks with nothing in them, right after one another and after a pause in which
 * a worker falls asleep. */
static double time_team(ss_team *team, double pause)
{
    enum { ROUNDS = 201 };
    double seconds[ROUNDS];
    for (int round = 0; round < ROUNDS; round++) {
        double begin = ss_clock_seconds();
        while (ss_clock_seconds() < begin + pause) continue;
        double start = ss_clock_seconds();
        ss_parallel_for(team, 2, 1, do_nothing, NULL);
        seconds[round] = ss_clock_seconds() - start;
    }
    return 1e6 * quartile(seconds, ROUNDS);
}

static void print_team(ss_team *one, ss_team *two)
{
    printf("%-28s %10s %10s %8s\n", "by the clock on the wall", "1 thread", "2 threads", "ratio");
    const char *const kind[] = {"reading memory, GB/s", "triad in memory, GB/s"};
    for (int triad = 0; triad < 2; triad++) {
        double alone = bandwidth_together(one, triad), both = bandwidth_together(two, triad);
        printf("%-28s %10.1f %10.1f %8.2f\n", kind[triad], alone, both, both / alone);
    }
    printf("%-28s %10.2f %10.2f\n", "an empty loop, us", time_team(one, 0.0), time_team(two, 0.0));
    printf("%-28s %10.2f %10.2f\n\n", "the same after 1 ms, us", time_team(one, 1e-3), time_team(two, 1e-3));
}

/* ---- single solves ---------------------------------------------------------------------------------- */

/* Turns of one thread and of two, of few iterations and of many; lower quartiles of the differences. */
static void print_solve(const iteration *of, const char *scene, ss_problem *problem, ss_team *one,
                        ss_team *two)
{
    enum { MOST = 15 };
    size_t bytes = (size_t)problem->size * sizeof(double);
    double *x[2] = {must(malloc(bytes)), must(malloc(bytes))}, each[2][MOST], first[2][MOST];
    double contacts = problem->size / 3.0, end = ss_clock_seconds() + 2.0;
    int rounds = 0;
    bool same = true;
    for (; rounds < MOST && (rounds < 5 || ss_clock_seconds() < end); rounds++) {
        for (int t = 0; t < 2; t++) {
            double start = ss_clock_seconds();
            ss_solve_result few = solve_for(of, problem, 1, t ? two : one, x[t]);
            double middle = ss_clock_seconds();
            ss_solve_result many = solve_for(of, problem, 1 + of->iterations, t ? two : one, x[t]);
            double seconds = ss_clock_seconds() - middle - (middle - start);
            first[t][rounds] = 1e9 * (middle - start) / contacts;
            each[t][rounds] = 1e9 * seconds / contacts / (many.iterations - few.iterations);
            ss_solve_result_free(&few);
            ss_solve_result_free(&many);
        }
        same &= memcmp(x[0], x[1], bytes) == 0;
    }
    double alone = quartile(each[0], rounds), both = quartile(each[1], rounds);
    double set_up = quartile(first[0], rounds), shared = quartile(first[1], rounds);
    printf("%-28s %-6s %8d %9.1f %9.1f %6.2f %9.0f %9.0f %6.2f %8s %5.0f\n", of->name, scene,
           problem->size / 3, alone, both, alone / both, set_up, shared, set_up / shared,
           same ? "same" : "DIFFERENT", ss_team_round_trip(two));
    fflush(stdout);
    free(x[0]);
    free(x[1]);
}

static void print_solves(int most, const char *only, ss_team *one, ss_team *two)
{
    static const int sizes[] = {1000, 2000, 5000, 12000, 50000, 200000};
    static const char *const solvers[] = {"nsgs", "batched-nncg", "admm"};
    printf(
        "ns per contact: every iteration, and the first one with all that is set up for it; cores: as above\n"
        "%-28s %-6s %8s %9s %9s %6s %9s %9s %6s %8s %5s\n",
        "loop", "scene", "contacts", "1 thread", "2 threads", "ratio", "first: 1", "2", "ratio", "answers",
        "cores");
    for (int k = 0; k < 3; k++) {
        const iteration *of = iterations;
        while (strcmp(of->solver, solvers[k]) != 0) of++;
        for (int s = 0; s < 6 && sizes[s] <= most; s++) {
            bool is_slow = k == 2 && sizes[s] > 12000;
            for (int kind = 0; kind < 2 && !is_slow; kind++) {
                if (!strstr(of->name, only) && !strstr(kind ? "pile" : "wall", only)) continue;
                ss_frame *frame = kind ? make_pile(sizes[s]) : make_wall(sizes[s]);
                ss_problem *problem = assemble(frame);
                print_solve(of, kind ? "pile" : "wall", problem, one, two);
                ss_problem_destroy(problem);
                ss_frame_destroy(frame);
            }
        }
    }
    printf("\n");
}

/* ---- steps ------------------------------------------------------------------------------------------ */

typedef struct stepping {
    const char *scene; // NULL: stacks of three boxes, this many
    const char *parameters[2];
    int stacks, start, steps; // steps before the first that counts, and those that count
    int contacts;             // about: larger ones may be left out
} stepping;

static const stepping steppings[] = {
    {"ten-balls", {NULL}, 0, 100, 41, 10},
    {"brick-wall", {NULL}, 0, 40, 41, 188},
    {"log-pile", {NULL}, 0, 60, 41, 300},
    {"box-pyramid", {NULL}, 0, 40, 41, 800},
    {"sphere-pile", {NULL}, 0, 100, 41, 1000},
    {"brick-wall", {"rows=25", "width=25"}, 0, 2, 21, 5000},
    {"spheres125", {"edge=12", "gap=0"}, 0, 2, 21, 5000},
    {"brick-wall", {"rows=39", "width=39"}, 0, 2, 21, 12000},
    {"spheres125", {"edge=16", "gap=0"}, 0, 2, 21, 12000},
    {"brick-wall", {"rows=79", "width=79"}, 0, 2, 11, 50000},
    {"spheres125", {"edge=26", "gap=0"}, 0, 2, 11, 50000},
    {NULL, {NULL}, 100, 2, 41, 1200},
    {NULL, {NULL}, 1000, 2, 21, 12000},
    {NULL, {NULL}, 4000, 2, 11, 50000},
};

/* Stacks of three boxes, each an island of its own. */
static void build_stacks(int stacks, ss_world *world)
{
    int edge = (int)ceil(sqrt(stacks));
    const ss_shape ground = {.kind = SS_PLANE},
                   box = {.kind = SS_BOX, .size = {0.2, 0.2, 0.2}, .density = 1e3};
    if (ss_world_add_shape(world, SS_WORLD, &ground, NULL) < 0) stop("a world failed");
    for (int k = 0; k < 3 * stacks; k++) {
        int stack = k / 3;
        ss_body body = {.kind = SS_DYNAMIC,
                        .position = {stack % edge, stack / edge, 0.1 + 0.2 * (k % 3)},
                        .quaternion = {1.0, 0.0, 0.0, 0.0}};
        int number = ss_world_add_body(world, &body, NULL);
        if (number < 0 || ss_world_add_shape(world, number, &box, NULL) < 0) stop("a world failed");
    }
}

static ss_world *build(const stepping *of, double *h)
{
    const ss_scene *scene = of->scene ? ss_scene_find(of->scene) : NULL;
    ss_world *world = must(ss_world_create(NULL));
    *h = scene ? scene->h : 0.01;
    if (!scene) {
        build_stacks(of->stacks, world);
        return world;
    }
    void *parameters = must(calloc(1, scene->parameters_size + 1));
    ss_options_defaults(scene->parameters, parameters);
    for (int i = 0; i < 2 && of->parameters[i]; i++) {
        if (!ss_options_assign(scene->parameters, parameters, of->parameters[i], NULL))
            stop("no such option");
    }
    if (!scene->build(parameters, 1, world, NULL)) stop("a scene failed");
    free(parameters);
    return world;
}

enum { BROAD, NARROW, ASSEMBLY, SOLVE, INTEGRATION, ALL, STAGES };

static void print_stepping(const stepping *of, bool fast, const char *only, ss_team *two)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s%s%s", of->scene ? of->scene : "stacks", fast ? ", fast" : "",
             of->parameters[0] ? " " : "", of->parameters[0] ? of->parameters[0] : "");
    if (!strstr(name, only)) return;

    enum { MOST = 64 };
    static double us[2][STAGES][MOST];
    ss_world *world[2];
    ss_sim *sim[2];
    bool same = true;
    for (int t = 0; t < 2; t++) {
        ss_sim_options options = {0};
        ss_options_defaults(ss_sim_option_table, &options);
        ss_options_defaults(ss_collision_option_table, &options.collision);
        world[t] = build(of, &options.h);
        options.threads = 1 + t;
        options.fast = fast;
        sim[t] = must(ss_sim_create(world[t], &options, NULL));
    }

    for (int k = 0; k < of->start + of->steps; k++) {
        for (int t = 0; t < 2; t++) {
            if (!ss_sim_step(sim[t], NULL)) stop("a step failed");
            if (k < of->start) continue;
            ss_sim_report report = ss_sim_last(sim[t]);
            const double seconds[STAGES] = {report.broad, report.narrow,      report.assembly,
                                            report.solve, report.integration, report.seconds};
            for (int stage = 0; stage < STAGES; stage++) us[t][stage][k - of->start] = 1e6 * seconds[stage];
        }
    }
    char hash[2][33];
    for (int t = 0; t < 2; t++) ss_sim_hash(sim[t], hash[t]);
    same = strcmp(hash[0], hash[1]) == 0;

    ss_sim_report last = ss_sim_last(sim[0]);
    printf("%-26s %7d %7d", name, last.contacts, last.islands);
    for (int stage = STAGES - 1; stage >= 0; stage--) {
        double alone = quartile(us[0][stage], of->steps), both = quartile(us[1][stage], of->steps);
        printf(" %8.0f %5.2f", alone, alone / both);
    }
    printf(" %8s %5.0f\n", same ? "same" : "DIFFERENT", ss_team_round_trip(two));
    fflush(stdout);
    for (int t = 0; t < 2; t++) {
        ss_sim_destroy(sim[t]);
        ss_world_destroy(world[t]);
    }
}

static void print_steps(int most, const char *only, ss_team *two)
{
    printf("steps of the simulator, us with one thread, and how many times faster two are;\n"
           "cores: ns that a word takes to the other one and back, just after\n"
           "%-26s %7s %7s %14s %14s %14s %14s %14s %14s %8s %5s\n",
           "scene", "contacts", "islands", "step", "integration", "solve", "assembly", "narrow", "broad",
           "answers", "cores");
    for (int fast = 0; fast < 2; fast++) {
        for (size_t i = 0; i < sizeof steppings / sizeof *steppings; i++) {
            if (steppings[i].contacts <= most) print_stepping(&steppings[i], fast, only, two);
        }
    }
    printf("\n");
}

void print_threads(int most, const char *only)
{
    ss_team *one = must(ss_team_create(1, NULL)), *two = must(ss_team_create(2, NULL));
    if (!*only) print_team(one, two);
    print_steps(most, only, two);
    print_solves(most, only, one, two);
    ss_team_destroy(two);
    ss_team_destroy(one);
}
