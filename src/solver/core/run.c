#include <stickslip/solver.h>

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "base/team.h"
#include "problem/bodies_form.h"
#include "solver/core/ray.h"
#include "solver/core/run_state.h"

/* ---- options ---------------------------------------------------------------------------------------- */

ss_run_options ss_run_defaults(void)
{
    return (ss_run_options){
        .max_iterations = 10000, .stop = {.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-8}, .seed = 1};
}

/* ---- the history ------------------------------------------------------------------------------------ */

/* The first that is not finite; `count` when all are. */
static int first_not_finite(const double *x, int count)
{
    int i = 0;
    while (i < count && isfinite(x[i])) i++;
    return i;
}

static bool grow_column(double **column, int count, int capacity)
{
    double *larger = ss_allocate((size_t)capacity, sizeof *larger);
    if (!larger) return false;
    if (count) memcpy(larger, *column, (size_t)count * sizeof *larger);
    ss_release(*column);
    *column = larger;
    return true;
}

void ss_run_record(struct ss_run_state *state, const double *values, double seconds)
{
    ss_history *history = &state->history;
    if (history->count == state->history_capacity) {
        int capacity = state->history_capacity ? 2 * state->history_capacity : 256;
        bool good = grow_column(&history->seconds, history->count, capacity);
        for (int g = 0; good && g < SS_GAUGE_COUNT; g++) {
            good = grow_column(&history->gauge[g], history->count, capacity);
        }
        if (!good) {
            state->out_of_memory = true;
            state->record = false;
            return;
        }
        state->history_capacity = capacity;
    }
    history->seconds[history->count] = seconds;
    for (int g = 0; g < SS_GAUGE_COUNT; g++) history->gauge[g][history->count] = values[g];
    history->count++;
}

/* ---- measuring ---------------------------------------------------------------------------------------- */

/* Gauges of x, from the problem alone. What a method hands in is not remembered: it may be wrong. */
void ss_run_measure(struct ss_run_state *state, const double *x, unsigned mask, double *values)
{
    ss_team *team = ss_gauge_team(&state->scale, state->problem);
    ss_problem_apply_by(state->problem, team, x, state->scratch, state->w);
    ss_gauge_measure(state->problem, &state->scale, x, state->w, mask, values);
    memcpy(state->measured, x, (size_t)state->problem->size * sizeof *x);
    memcpy(state->measures, values, sizeof state->measures);
    state->has_measured = true;
}

/* The same, unless all these gauges of x were measured afresh just now. Those that were not are NaN. */
static void measure_once(struct ss_run_state *state, const double *x, unsigned mask, double *values)
{
    bool is_known = state->has_measured;
    for (int g = 0; g < SS_GAUGE_COUNT; g++) is_known &= !(mask & 1u << g && isnan(state->measures[g]));
    if (is_known && memcmp(x, state->measured, (size_t)state->problem->size * sizeof *x) == 0)
        memcpy(values, state->measures, sizeof state->measures);
    else
        ss_run_measure(state, x, mask, values);
}

bool ss_run_measures(const ss_run *run)
{
    return run->state->mask != 0;
}

/* Where no gauge rules the run, stages are held to the relative energy. */
static double excess_of(struct ss_run_state *state, const double *x)
{
    double values[SS_GAUGE_COUNT];
    bool ruled = state->stop.gauge != SS_GAUGE_NONE;
    measure_once(state, x, ruled ? ss_stop_criterion_gauges(&state->stop) : 1u << SS_GAUGE_RELATIVE_ENERGY,
                 values);
    return ruled ? ss_stop_criterion_excess(&state->stop, values)
                 : values[SS_GAUGE_RELATIVE_ENERGY] / ss_nested_run_goal_without_rule;
}

/* Measuring is not the method's time and is taken off, where it costs more than looking at the clock twice. A
 * history and a deadline need the clock anyway, and the caller's rule may take long. */
static bool times_measuring(const struct ss_run_state *state)
{
    enum { TINY = 64 }; // unknowns
    return state->problem->size > TINY || state->deadline < INFINITY || state->record || state->stop.test ||
           state->watcher;
}

double ss_run_excess(ss_run *run, const double *x)
{
    struct ss_run_state *state = run->state;
    if (ss_run_late(run)) return NAN;
    if (first_not_finite(x, state->problem->size) < state->problem->size) return INFINITY;
    if (!times_measuring(state)) return excess_of(state, x);
    double now = ss_clock_seconds(), excess = excess_of(state, x);
    state->measuring += ss_clock_seconds() - now;
    return excess;
}

/* ---- is the next iterate worth measuring? ------------------------------------------------------------ */

bool ss_run_due(ss_run *run, double energy)
{
    static const double hope = 1.2, close = 4.0; // in squares
    enum { FIRST = 3, CRAWL = 10 };
    struct ss_run_state *state = run->state;
    ss_measuring_schedule *schedule = &state->schedule;
    int next = state->iterations + 1;
    schedule->offered = energy;

    // Every iterate is wanted, or this one, or none.
    if ((state->stage && next >= state->stage_look) || state->keep_last) return true;
    if (!state->mask && !state->stop.test) return false;
    if (state->record || state->watcher || ss_run_keeps_best(state) || next >= state->max_iterations)
        return true;
    if (state->stop.test) return next >= state->next_test;

    // The method's own word, anything that falls like the square of the gauge. The doubling of pauses is for
    // estimates that mean nothing.
    if (!(energy > 0.0) || next >= (schedule->forced ? schedule->forced : FIRST)) return true;

    // The first time it has to do as it is, if the rule is about energies at all.
    double goal = NAN, below = state->stop.below;
    if (state->stop.gauge == SS_GAUGE_ENERGY) goal = below;
    if (state->stop.gauge == SS_GAUGE_RELATIVE_ENERGY) goal = ss_gauge_energy_at(&state->scale, below);
    if (!(schedule->estimate > 0.0)) return isnan(goal) || energy <= 4.0 * goal;

    // Then it is calibrated by the last measurement. Where convergence crawls just above the goal the pauses
    // grow with the number of iterations; in a stage there is none after an error far from the goal, which
    // was measured because it was looked at.
    bool near = schedule->ratio * (energy / schedule->estimate) <= hope;
    bool was_far = state->stage && schedule->ratio > close;
    return near && (was_far || next > schedule->measured + 1 + schedule->measured / CRAWL);
}

/* ---- the clock ---------------------------------------------------------------------------------------- */

double ss_run_deadline(const ss_run *run)
{
    return run->state->deadline;
}

/* The clock. What is done between two looks is likely to take as long next time: no less than the shorter one
 * of the last two such pieces of work. */
static double look(struct ss_run_state *state)
{
    double now = ss_clock_seconds(), gap = now - state->looked;
    state->piece = fmin(state->gap, gap);
    state->gap = gap;
    state->looked = now;
    return now;
}

static void end_late(struct ss_run_state *state, ss_status status)
{
    if (state->is_over) return; // a rule that holds is not undone
    state->status = status;
    state->is_over = state->is_late = true;
}

bool ss_run_late(ss_run *run)
{
    struct ss_run_state *state = run->state;
    if (state->cancel && *state->cancel)
        end_late(state, SS_CANCELLED);
    else if (!state->is_over && state->deadline < INFINITY && look(state) + state->piece >= state->deadline)
        end_late(state, SS_TIME_LIMIT);
    return state->is_late;
}

void ss_run_forgive(ss_run *run, double seconds)
{
    run->state->started += seconds;
    run->state->looked += seconds;
    run->state->deadline += seconds; // or infinity
    if (run->state->forgiven) *run->state->forgiven += seconds;
}

void ss_run_give_up(ss_run *run)
{
    end_late(run->state, SS_TIME_LIMIT);
}

bool ss_run_lacks(ss_run *run, double seconds)
{
    struct ss_run_state *state = run->state;
    if (!(state->deadline < INFINITY) || look(state) + seconds < state->deadline) return false;
    ss_run_give_up(run);
    return true;
}

/* ---- what happens at every iteration ------------------------------------------------------------------ */

void ss_run_keep_last(struct ss_run_state *state, const double *x)
{
    memcpy(state->best, x, (size_t)state->problem->size * sizeof *x);
    state->best_iteration = state->iterations;
}

/* Measures x, shows it, keeps it if it is the best so far. Returns whether the stop rule holds. */
static bool measure(struct ss_run_state *state, const double *x, const double *w, double seconds)
{
    double values[SS_GAUGE_COUNT];
    if (w)
        ss_gauge_measure(state->problem, &state->scale, x, w, state->mask, values);
    else
        ss_run_measure(state, x, state->mask, values);
    memcpy(state->latest, values, sizeof values);
    state->latest_iteration = state->iterations;

    if (state->record) ss_run_record(state, values, seconds);
    if (state->watcher)
        state->is_dismissed = !state->watcher->see(state->iterations, x, values, state->watcher->context);
    if (ss_run_keeps_best(state) && ss_stop_criterion_excess(&state->keep, values) < state->best_value) {
        state->best_value = ss_stop_criterion_excess(&state->keep, values);
        ss_run_keep_last(state, x);
    }

    if (state->stop.gauge == SS_GAUGE_NONE) return false;
    double excess = values[state->stop.gauge] / state->stop.below;
    state->schedule =
        (ss_measuring_schedule){.ratio = state->stop.gauge == SS_GAUGE_ENERGY ? excess : excess * excess,
                                .estimate = state->schedule.offered,
                                .offered = state->schedule.offered,
                                .measured = state->iterations,
                                .forced = 2 * state->iterations + 16};
    return ss_stop_criterion_excess(&state->stop, values) < 1.0;
}

/* Everything that can end the whole run. */
static bool run_goes_on(struct ss_run_state *state, const double *x, const double *w)
{
    bool measured = x && (state->mask || state->stop.test), late = false;
    if (state->is_late) return false;
    state->iterations++;
    if (state->keep_last && x) ss_run_keep_last(state, x);

    // The clock costs as much as a sweep over a few contacts: after many iterations it is looked at less
    // often.
    if (measured || state->iterations >= state->next_look) {
        bool is_timed = times_measuring(state);
        double now = is_timed ? look(state) : 0.0, before = state->lasted;
        state->next_look =
            state->deadline < INFINITY ? state->iterations + 1 + state->iterations / 64 : INT_MAX;

        // s that one more iteration takes: no less than the shorter one of the last two; at first, no less
        // than the pieces of work before it. 0 where nothing is known.
        if (state->seen > 0.0)
            state->lasted = (now - state->seen) / (state->iterations - state->seen_iteration);
        double next = before > 0.0 ? fmin(before, state->lasted) : state->piece;

        // A measurement that could not end in time is not begun; where the best is kept, what comes then is
        // of no use.
        bool in_vain = now + state->measuring_cost >= state->deadline;
        late = now >= state->deadline || (in_vain && measured && ss_run_keeps_best(state));
        state->seen = now;
        if (measured && !in_vain) {
            const ss_stop_test *test = state->stop.test;
            bool reached = state->mask && measure(state, x, w, now - state->started - state->measuring);
            if (test && state->iterations >= state->next_test) {
                // the caller's rule may cost more than an iteration, so it is asked less and less often
                state->next_test = state->iterations + 1 + state->iterations / 50;
                reached |= test->holds(x, test->context);
            }
            if (is_timed) {
                state->looked = ss_clock_seconds();
                state->measuring_cost = state->looked - now;
                state->measuring += state->measuring_cost;
            }
            if (reached) return state->status = SS_CONVERGED, false;
            state->seen = now + state->measuring_cost;
        }
        state->seen_iteration = state->iterations;
        late = late || state->seen + next >= state->deadline;
    }

    state->is_late = late || state->is_dismissed || (state->cancel && *state->cancel);
    if (state->is_late) return state->status = late ? SS_TIME_LIMIT : SS_CANCELLED, false;
    if (state->iterations >= state->max_iterations) return state->status = SS_MAX_ITERATIONS, false;
    return true;
}

bool ss_run_iteration(ss_run *run, const double *x, const double *w)
{
    struct ss_run_state *state = run->state;
    if (!run_goes_on(state, x, w)) return state->is_over = true, false;
    const ss_nested_run *stage = state->stage;
    if (!stage) return true;

    // A stage ends when its budget is spent, or when a look at its progress says so.
    bool goes_on = state->iterations < state->stage_end;
    if (goes_on && x && state->iterations >= state->stage_look) {
        int done = state->iterations - state->stage_start;
        bool measured = state->stop.gauge != SS_GAUGE_NONE && state->latest_iteration == state->iterations;
        double excess =
            measured ? ss_stop_criterion_excess(&state->stop, state->latest) : excess_of(state, x);
        int next = stage->look(stage->context, done, x, excess);
        state->stage_look = state->stage_start + next;
        goes_on = next > done;
    }
    if (!goes_on) state->status = SS_MAX_ITERATIONS;
    return goes_on;
}

ss_stop_rule ss_run_stop(const ss_run *run)
{
    const ss_stop_criterion *stop = &run->state->stop;
    bool measured = stop->gauge != SS_GAUGE_NONE && !stop->test;
    return (ss_stop_rule){.gauge = (ss_gauge)stop->gauge, .below = measured ? stop->below : 0.0};
}

ss_status ss_run_outcome(const struct ss_run_state *state, ss_status said)
{
    return state->is_late && said != SS_CONVERGED && said != SS_RAY ? state->status : said;
}

bool ss_run_ray(ss_run *run, const double *y)
{
    struct ss_run_state *state = run->state;
    state->has_measured = false; // w is used for something else
    return ss_ray_confirm(state->problem, y, state->scratch, state->w, &state->ray);
}

ss_status ss_run_status(const ss_run *run)
{
    return run->state->status;
}

/* ---- the driver ------------------------------------------------------------------------------------- */

void *ss_run_default_options(const ss_solver *solver, ss_arena *arena, ss_error *err)
{
    void *options = ss_arena_take(arena, 1, solver->options_size, "options");
    if (options)
        ss_options_defaults(solver->options, options);
    else
        ss_fail(err, SS_ERROR_RESOURCES, "out of memory for options");
    return options;
}

bool ss_run_take_memory(struct ss_run_state *state, ss_arena *arena, const ss_problem *problem)
{
    size_t n = (size_t)problem->size, scratch = (size_t)ss_problem_scratch(problem);
    double *next = ss_arena_take_unset(arena, 5 * n + scratch, sizeof *next, "vectors of the run");
    if (!next) return false;
    state->problem = problem;
    state->w = next;
    state->inverse_mass = next + n;
    state->measured = next + 2 * n;
    state->best = next + 3 * n;
    state->start = next + 4 * n;
    state->scratch = next + 5 * n;
    return true;
}

static bool prepare_state(struct ss_run_state *state, ss_arena *arena, const ss_solve_request *request,
                          const ss_run_options *options, const double *x, ss_error *err)
{
    const ss_problem *problem = request->problem;
    if (!ss_run_take_memory(state, arena, problem))
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a run on %d unknowns", problem->size);
    size_t n = (size_t)problem->size;
    // This measures the start, which tells what measuring costs. Without a limit the clock is not looked at.
    double began = options->time_limit > 0.0 ? ss_clock_seconds() : 0.0;
    state->scale =
        ss_gauge_scale_of(problem, request->team, state->best, state->w, state->scratch, state->inverse_mass);
    if (options->time_limit > 0.0) state->measuring_cost = ss_clock_seconds() - began;
    double scene = options->scene_energy > 0.0 ? options->scene_energy : state->scale.start_energy;
    state->stop = ss_stop_criterion_of(&options->stop, request->test, scene, problem);
    state->keep = (ss_stop_criterion){.gauge = SS_GAUGE_NONE};
    if (options->keep.which == SS_KEEP_BEST) {
        ss_stop_rule best = {.gauge = options->keep.gauge, .below = 1.0};
        state->keep = ss_stop_criterion_of(&best, NULL, 0.0, problem);
    }
    state->keep_last = options->keep.which == SS_KEEP_LAST;
    memcpy(state->start, x, n * sizeof *x);
    if (ss_run_keeps_best(state) || state->keep_last) memcpy(state->best, x, n * sizeof *x);
    state->best_value = INFINITY;
    state->max_iterations = options->max_iterations;
    state->deadline = INFINITY; // until the run starts
    state->record = options->history;
    if (state->record || state->watcher) state->mask = (1u << SS_GAUGE_COUNT) - 1;
    state->mask |= ss_stop_criterion_gauges(&state->stop);
    state->mask |= ss_stop_criterion_gauges(&state->keep);
    state->status = SS_FAILED;
    return true;
}

int ss_run_keep(struct ss_run_state *state, double *x)
{
    size_t bytes = (size_t)state->problem->size * sizeof *x;
    if (state->keep_last && state->iterations > 0) memcpy(x, state->best, bytes);
    if (!ss_run_keeps_best(state) || isinf(state->best_value)) return state->iterations;
    if (memcmp(x, state->best, bytes) == 0) return state->best_iteration;
    // A method may leave something better than all it showed, such as the start it falls back to. Rounding,
    // between the w it showed and ours, is no such thing.
    static const double better = 1.0 - 1e-6;
    if (!ss_deadline_misses(state->deadline, state->measuring_cost)) {
        double values[SS_GAUGE_COUNT];
        ss_run_measure(state, x, ss_stop_criterion_gauges(&state->keep), values);
        if (ss_stop_criterion_excess(&state->keep, values) < better * state->best_value)
            return memcmp(x, state->start, bytes) == 0 ? 0 : state->iterations;
    }
    memcpy(x, state->best, bytes);
    return state->best_iteration;
}

/* The solver's word against ours: x must be finite, and "converged" must hold when measured from scratch. */
static void judge(struct ss_run_state *state, unsigned gauges, double *x, ss_solve_result *result)
{
    static const double rounding = 1.0 + 1e-6; // between the w the solver had at hand and A x + b
    int n = state->problem->size, wrong = first_not_finite(x, n);
    if (wrong < n) {
        // Noted whether notes are wanted or not: the status alone does not say why it failed.
        bool has_best = ss_run_keeps_best(state);
        if (state->notes.length) ss_text_append(&state->notes, "\n");
        ss_text_appendf(&state->notes, "x[%d] is %g after %d iterations: the %s is returned", wrong, x[wrong],
                        state->iterations,
                        has_best && state->best_iteration > 0 ? "best iterate before it" : "start");
        memcpy(x, has_best ? state->best : state->start, (size_t)n * sizeof *x);
        result->status = SS_FAILED;
    }

    // Projections swallow what is not a number, and find no error.
    const ss_stop_criterion *stop = &state->stop;
    measure_once(state, x, gauges | ss_stop_criterion_gauges(stop), result->gauge);
    if (first_not_finite(state->w, n) < n) {
        if (result->status == SS_CONVERGED) result->status = SS_FAILED;
        return;
    }
    if (!ss_stop_criterion_is_set(stop)) return;
    bool holds = stop->test ? stop->test->holds(x, stop->test->context)
                            : ss_stop_criterion_excess(stop, result->gauge) < rounding;
    if (result->status == SS_CONVERGED && !holds) result->status = SS_STALLED;
    if (result->status == SS_STALLED && holds) result->status = SS_CONVERGED;
}

/* With an arena. */
static bool solve_in(ss_arena *arena, const ss_solve_request *request, double *x, ss_solve_result *result,
                     ss_error *err)
{
    const ss_solver *solver = request->solver;
    ss_problem *problem = request->problem, shown;
    ss_run_options options = request->run ? *request->run : ss_run_defaults();
    if (ss_solver_refusal(solver, problem)) return true;
    if (ss_solver_needs_matrix(solver, problem) && !ss_problem_need_matrix(problem, err)) return false;

    // What the run knows and the solver needs, before the clock starts.
    ss_arena_mark mark = ss_arena_get_mark(arena);
    struct ss_run_state state = {.cancel = request->cancel,
                                 .forgiven = request->forgiven,
                                 .watcher = request->watcher,
                                 .explain = options.explain};
    const void *set = request->solver_options;
    if (!set && solver->options) set = ss_run_default_options(solver, arena, err);
    bool good = (set || !solver->options) && prepare_state(&state, arena, request, &options, x, err);

    // The run. Methods look at the limit after an iteration, so that none at all is the driver's business.
    if (good) {
        size_t before = ss_arena_used(arena);
        ss_run run = {.arena = arena,
                      .team = request->team,
                      .max_iterations = state.max_iterations,
                      .seed = (uint64_t)options.seed,
                      .solver = solver,
                      .time_limit = options.time_limit,
                      .state = &state};
        ss_status claim = SS_MAX_ITERATIONS;
        state.started = state.looked = ss_clock_seconds();
        if (options.time_limit > 0.0) state.deadline = state.started + options.time_limit;
        if (state.max_iterations > 0 && problem->size > 0)
            claim = solver->solve(ss_problem_shown(problem, solver, &shown), set, &run, x);
        else if (state.max_iterations > 0) // without unknowns: however many bodies, there is nothing to find
            claim = ss_run_iteration(&run, x, NULL) ? SS_CONVERGED : ss_run_status(&run);
        result->status = ss_run_outcome(&state, claim);
        double ended = ss_clock_seconds();
        result->seconds = ended - state.started - state.measuring;
        result->iterations = state.iterations;
        result->memory = ss_arena_high_water(arena) - before;
        result->kept_iteration = ss_run_keep(&state, x);
        // the clock costs as much as a small contact: only where there was something to keep
        bool kept = ss_run_keeps_best(&state) || state.keep_last;
        result->elapsed = (kept ? ss_clock_seconds() : ended) - state.started;
        judge(&state, request->gauges ? request->gauges : (1u << SS_GAUGE_COUNT) - 1, x, result);
    }
    ss_arena_reset(arena, mark);

    // What outlives it.
    result->history = state.history;
    result->notes = state.notes.data;
    if (result->status == SS_RAY) {
        ss_ray_prove(problem, options.time_limit, &state.ray); // like judging: after the clock has stopped
        result->ray = state.ray;
    } else {
        ss_release(state.ray.impulse);
    }
    return good;
}

bool ss_solve(const ss_solve_request *request, double *x, ss_solve_result *result, ss_error *err)
{
    *result = (ss_solve_result){.status = SS_NOT_APPLICABLE};
    static const size_t first = 4096, per_unknown = 512; // bytes: enough for most
    ss_arena *arena = request->arena;
    if (!arena) arena = ss_arena_create(first + per_unknown * (size_t)request->problem->size, err);
    ss_team_hold(request->team);
    bool good = arena && solve_in(arena, request, x, result, err);
    ss_team_let_go(request->team);
    if (!request->arena) ss_arena_destroy(arena);
    return good;
}

void ss_solve_result_free(ss_solve_result *result)
{
    ss_release(result->history.seconds);
    for (int g = 0; g < SS_GAUGE_COUNT; g++) ss_release(result->history.gauge[g]);
    ss_release(result->ray.impulse);
    ss_release(result->notes);
    result->notes = NULL;
    result->history = (ss_history){0};
    result->ray = (ss_ray){0};
}

const char *ss_status_name(ss_status status)
{
    static const char *const names[] = {
#define STATUS_NAME(code, name) [code] = name,
        SS_STATUS_LIST(STATUS_NAME)
#undef STATUS_NAME
    };
    return names[status];
}
