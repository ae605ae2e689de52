/* One entrant on one problem: solves, repeated until the noise of the machine has had its
 * chance to be absent. */
#include "race.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

const double ss_targets[SS_TARGETS] = {1e-4, 1e-8};
const char *const ss_target_names[SS_TARGETS] = {"1e-4", "1e-8"};

/* What one side does with a lane, that is, one of several solves that are timed together. */
typedef struct side {
    bool (*ready)(void *state, int lane, double tolerance); /* not timed */
    bool (*solve)(void *state, int lane);
    const double *(*answer)(void *state);
    int (*iterations)(void *state);
    bool lanes; /* can more than one be ready at once? */
    void *state;
} side;
enum { MOST_LANES = 64, MANY_ITERATIONS = 10000000 }; /* that is: time decides */
static const double worth_timing = 100e-6;            /* s: below that, asking the clock shows */

/* s: within it no other process gets the core, or another repeat is spared; the clock of the processor is
 * less exact there. */
static const double too_short = 1e-3;

static double processor_seconds(void)
{
    struct timespec now;
    // that of the process ticks coarsely beside an interval timer
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The process dies when it takes more. */
static void arm(double seconds)
{
    struct itimerval at = {.it_value = {.tv_sec = (time_t)seconds}};
    at.it_value.tv_usec = (suseconds_t)(1e6 * (seconds - floor(seconds)));
    setitimer(ITIMER_PROF, &at, NULL);
}

static bool time_lanes(const side *of, int lanes, double tolerance, double limit, ss_rung *rung)
{
    for (int k = 0; k < lanes; k++) {
        if (!of->ready(of->state, k, tolerance)) return false;
    }
    arm(limit);
    double wall = ss_clock_seconds(), processor = processor_seconds();
    bool good = true;
    for (int k = 0; k < lanes; k++) good = of->solve(of->state, k) && good;
    processor = processor_seconds() - processor;
    wall = ss_clock_seconds() - wall;
    arm(0.0);
    if (wall < too_short) processor = wall;
    rung->processor = fmin(rung->processor, processor / lanes);
    rung->wall = fmin(rung->wall, wall / lanes);
    rung->repeats += lanes;
    return good;
}

static double measure(const ss_problem *problem, const double *x)
{
    double values[SS_GAUGE_COUNT];
    for (int i = 0; i < problem->size; i++) {
        if (!isfinite(x[i])) return INFINITY;
    }
    return ss_problem_measure(problem, x, values, NULL) ? values[SS_GAUGE_NATURAL_MAP] : INFINITY;
}

static bool climb(const ss_heat *heat, const side *of, const ss_problem *judge, int target, double tolerance,
                  ss_rung *rung)
{
    *rung = (ss_rung){.target = target, .own = tolerance, .processor = INFINITY, .wall = INFINITY};
    double limit = heat->limit + 0.01; // the clock behind it ticks by some ms
    if (!time_lanes(of, 1, tolerance, limit, rung)) return false;
    int lanes = of->lanes ? (int)fmin(MOST_LANES, ceil(worth_timing / rung->processor)) : 1;
    rung->error = measure(judge, of->answer(of->state));
    rung->iterations = of->iterations(of->state);
    if (!(rung->error <= ss_targets[0])) return true; // its time is of no use
    double spent = rung->processor;
    while (spent < heat->enough || rung->repeats < heat->least_repeats) {
        double before = processor_seconds();
        if (!time_lanes(of, lanes, tolerance, limit, rung)) return false;
        spent += processor_seconds() - before;
        if (spent > 4.0 * heat->enough) break;
    }
    return true;
}

/* ---- ours ----------------------------------------------------------------------------------------- */

typedef struct our_side {
    const ss_heat *heat;
    ss_problem *problem;
    ss_arena *arena;
    void *own_options;
    ss_run_options options;
    double *x;
    int iterations;
} our_side;

static bool our_ready(void *state, int lane, double tolerance)
{
    our_side *our = state;
    (void)lane;
    our->options.stop = (ss_stop_rule){SS_GAUGE_NATURAL_MAP, tolerance, false};
    if (our->problem && !our->heat->contest->frame) return true;
    ss_problem_destroy(our->problem);
    our->problem = ss_contest_problem(our->heat->contest, NULL);
    return our->problem != NULL;
}

static bool our_solve(void *state, int lane)
{
    our_side *our = state;
    ss_solve_result result;
    (void)lane;
    memset(our->x, 0, (size_t)our->problem->size * sizeof *our->x);
    if (!ss_solve(&(ss_solve_request){.arena = our->arena,
                                      .gauges = 1u << SS_GAUGE_NATURAL_MAP,
                                      .solver = our->heat->entrant->ours,
                                      .solver_options = our->own_options,
                                      .problem = our->problem,
                                      .run = &our->options},
                  our->x, &result, NULL))
        return false;
    our->iterations = result.iterations;
    ss_solve_result_free(&result);
    return true;
}

static const double *our_answer(void *state)
{
    return ((our_side *)state)->x;
}

static int our_iterations(void *state)
{
    return ((our_side *)state)->iterations;
}

static bool run_ours(const ss_heat *heat, const ss_problem *judge, int pipe)
{
    const ss_solver *solver = heat->entrant->ours;
    our_side our = {.heat = heat, .arena = ss_arena_create(1 << 16, NULL)};
    our.x = calloc((size_t)judge->size + 1, sizeof *our.x);
    our.own_options = calloc(1, solver->options_size + 1);
    if (!our.arena || !our.x || !our.own_options) return false;
    our.options = ss_run_defaults();
    ss_options_defaults(solver->options, our.own_options);
    our.options.max_iterations = MANY_ITERATIONS;
    side of = {our_ready, our_solve, our_answer, our_iterations, !heat->contest->frame, &our};
    bool good = true;
    for (int target = 0; good && target < SS_TARGETS; target++) {
        ss_rung rung;
        good = climb(heat, &of, judge, target, ss_targets[target], &rung) &&
               write(pipe, &rung, sizeof rung) == sizeof rung;
    }
    return good;
}

/* ---- theirs --------------------------------------------------------------------------------------- */

typedef struct their_side {
    const ss_heat *heat;
    const ss_problem *problem;
    const ss_cone *global;
    ss_siconos_run *lanes[MOST_LANES];
} their_side;

static bool their_ready(void *state, int lane, double tolerance)
{
    their_side *their = state;
    if (!their->lanes[lane]) {
        their->lanes[lane] = ss_siconos_prepare(their->heat->entrant->variant, their->heat->storage,
                                                their->problem, their->global);
    }
    return their->lanes[lane] && ss_siconos_reset(their->lanes[lane], tolerance, MANY_ITERATIONS);
}

static bool their_solve(void *state, int lane)
{
    ss_siconos_solve(((their_side *)state)->lanes[lane]);
    return true;
}

static const double *their_answer(void *state)
{
    return ss_siconos_answer(((their_side *)state)->lanes[0]);
}

static int their_iterations(void *state)
{
    return ss_siconos_iterations(((their_side *)state)->lanes[0]);
}

/* Siconos stops by its own measure, which is not always ours: when it stopped too early, it gets a
 * smaller tolerance. */
static bool run_theirs(const ss_heat *heat, const ss_problem *problem, const ss_cone *global, int pipe)
{
    their_side their = {.heat = heat, .problem = problem, .global = global};
    side of = {their_ready, their_solve, their_answer, their_iterations, true, &their};
    double reached = INFINITY;
    for (int target = 0; target < SS_TARGETS; target++) {
        double own = ss_targets[target];
        for (int k = 0; k < SS_RUNGS && !(reached <= ss_targets[target]); k++, own *= 0.1) {
            ss_rung rung;
            if (!climb(heat, &of, problem, target, own, &rung)) return false;
            if (write(pipe, &rung, sizeof rung) != sizeof rung) return false;
            reached = fmin(reached, rung.error);
        }
        if (!(reached <= ss_targets[target])) break; // what does not come here will not come farther
    }
    return true; // the process ends now: what is left lying about goes with it
}

/* ---- either --------------------------------------------------------------------------------------- */

const char *ss_entrant_refusal(const ss_entrant *entrant, const ss_problem *problem, const ss_cone *global)
{
    return entrant->ours ? ss_solver_refusal(entrant->ours, problem)
                         : ss_siconos_refusal(entrant->variant, problem, global);
}

bool ss_heat_run(const ss_heat *heat, int pipe)
{
    ss_problem *problem = ss_contest_problem(heat->contest, NULL);
    if (!problem) return false;
    if (heat->entrant->ours) return run_ours(heat, problem, pipe);
    const ss_fclib *file = heat->contest->fclib;
    const ss_cone *global = file && file->cone->form == SS_CONE_GLOBAL ? file->cone
                            : file                                     ? NULL
                                                                       : ss_siconos_global(problem, NULL);
    return ss_problem_need_matrix(problem, NULL) && run_theirs(heat, problem, global, pipe);
}
