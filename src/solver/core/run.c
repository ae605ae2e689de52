#include <stickslip/solver.h>

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "solver/core/ray.h"
#include "solver/core/run_state.h"

/* ---- options ---------------------------------------------------------------------------------------- */

ss_run_options ss_run_defaults(void)
{
    return (ss_run_options){
        .max_iterations = 10000, .stop = {.gauge = SS_GAUGE_RELATIVE_ENERGY, .below = 1e-8}, .seed = 1};
}

/* ---- what happens at every iteration ---------------------------------------------------------------- */

/* The first that is not finite; `count` when all are. */
static int first_not_finite(const double *x, int count)
{
    int i = 0;
    while (i < count && isfinite(x[i])) i++;
    return i;
}

static bool all_finite(const double *x, int count)
{
    return first_not_finite(x, count) == count;
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

/* ---- when to measure ---------------------------------------------------------------------------------- */

/* `estimate`: anything that falls like the square of the gauge; `goal`: its value where the rule should hold,
 * NAN when it is unknown. The first time the method's own word has to do; then it is calibrated by the last
 * measurement. Where convergence crawls just above the goal the pauses grow with the number of iterations;
 * the doubling is for estimates that mean nothing. */
static bool is_worth_measuring(ss_measuring_schedule *schedule, int iteration, double estimate, double goal)
{
    static const double hope = 1.2;
    enum { FIRST = 3, CRAWL = 10 };
    schedule->offered = estimate;
    if (!(estimate > 0.0) || iteration >= (schedule->forced ? schedule->forced : FIRST)) return true;
    if (!(schedule->estimate > 0.0)) return goal == goal ? estimate <= 4.0 * goal : true;
    bool near = schedule->ratio * (estimate / schedule->estimate) <= hope;
    return near && iteration > schedule->measured + 1 + schedule->measured / CRAWL;
}

static void note_measurement(ss_measuring_schedule *schedule, int iteration, double ratio)
{
    schedule->ratio = ratio;
    schedule->estimate = schedule->offered;
    schedule->measured = iteration;
    schedule->forced = 2 * iteration + 16;
}

/* ---- measuring ---------------------------------------------------------------------------------------- */

/* Gauges of x, from the problem alone. What a method hands in is not remembered: it may be wrong. */
void ss_run_measure(struct ss_run_state *state, const double *x, unsigned mask, double *values)
{
    ss_problem_apply(state->problem, x, state->scratch, state->w);
    ss_gauge_measure(state->problem, &state->scale, x, state->w, mask, values);
    memcpy(state->measured, x, (size_t)state->problem->size * sizeof *x);
    memcpy(state->measures, values, sizeof state->measures);
    state->has_measured = true;
}

/* Were all these gauges of x measured afresh just now? Those that were not are NaN. */
static bool knows(const struct ss_run_state *state, const double *x, unsigned mask)
{
    if (!state->has_measured) return false;
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        if (mask & 1u << g && isnan(state->measures[g])) return false;
    }
    return memcmp(x, state->measured, (size_t)state->problem->size * sizeof *x) == 0;
}

/* Returns whether the stop rule holds. */
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
    if (state->keep != SS_GAUGE_NONE && values[state->keep] < state->best_value) {
        state->best_value = values[state->keep];
        state->best_iteration = state->iterations;
        memcpy(state->best, x, (size_t)state->problem->size * sizeof *x);
    }
    if (state->stop.gauge == SS_GAUGE_NONE) return false;
    double excess = values[state->stop.gauge] / state->stop.below;
    note_measurement(&state->schedule, state->iterations,
                     state->stop.gauge == SS_GAUGE_ENERGY ? excess : excess * excess);
    return ss_stop_criterion_excess(&state->stop, values) < 1.0;
}

/* The caller's rule may cost more than an iteration, so it is asked less and less often. */
static bool ask(struct ss_run_state *state, const double *x)
{
    const ss_stop_test *test = state->stop.test;
    if (!test || state->iterations < state->next_test) return false;
    state->next_test = state->iterations + 1 + state->iterations / 50;
    return test->holds(x, test->context);
}

bool ss_run_measures(const ss_run *run)
{
    return run->state->mask != 0;
}

/* The energy at which the stop rule should hold; NAN for rules about something else. */
static double energy_goal(const struct ss_run_state *state)
{
    double below = state->stop.below;
    if (state->stop.gauge == SS_GAUGE_ENERGY) return below;
    return state->stop.gauge == SS_GAUGE_RELATIVE_ENERGY ? ss_gauge_energy_at(&state->scale, below) : NAN;
}

bool ss_run_due(ss_run *run, double energy)
{
    struct ss_run_state *state = run->state;
    int next = state->iterations + 1;
    if ((state->stage && next >= state->stage_look) || state->keep_last) return true;
    if (!state->mask && !state->stop.test) return false;
    if (state->record || state->watcher || state->keep != SS_GAUGE_NONE || next >= state->max_iterations)
        return true;
    if (state->stop.test) return next >= state->next_test;
    return is_worth_measuring(&state->schedule, next, energy, energy_goal(state));
}

/* The clock costs as much as a sweep over a few contacts: after many iterations it is looked
 * at less often. */
static int next_look(const struct ss_run_state *state)
{
    return state->deadline < INFINITY ? state->iterations + 1 + state->iterations / 64 : INT_MAX;
}

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

ss_stop_rule ss_run_stop(const ss_run *run)
{
    const ss_stop_criterion *stop = &run->state->stop;
    bool measured = stop->gauge != SS_GAUGE_NONE && !stop->test;
    return (ss_stop_rule){.gauge = (ss_gauge)stop->gauge, .below = measured ? stop->below : 0.0};
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

ss_status ss_run_outcome(const struct ss_run_state *state, ss_status said)
{
    return state->is_late && said != SS_CONVERGED && said != SS_RAY ? state->status : said;
}

/* Measures x, or asks the caller's rule about it; `now` is the time. Returns whether a rule holds. */
static bool look_at(struct ss_run_state *state, const double *x, const double *w, double now)
{
    bool reached = state->mask && measure(state, x, w, now - state->started - state->measuring);
    reached |= ask(state, x);
    state->looked = ss_clock_seconds();
    state->measuring_cost = state->looked - now;
    state->measuring += state->measuring_cost;
    return reached;
}

void ss_run_keep_last(struct ss_run_state *state, const double *x)
{
    memcpy(state->best, x, (size_t)state->problem->size * sizeof *x);
    state->best_iteration = state->iterations;
}

/* s that one more iteration takes: no less than the shorter one of the last two; at first, no less than the
 * pieces of work before it. 0 where nothing is known. */
static double time_of_next(struct ss_run_state *state, double now)
{
    double before = state->lasted;
    if (state->seen > 0.0) state->lasted = (now - state->seen) / (state->iterations - state->seen_iteration);
    return before > 0.0 ? fmin(before, state->lasted) : state->piece;
}

/* Everything that can end the whole run. */
static bool run_goes_on(struct ss_run_state *state, const double *x, const double *w)
{
    bool measured = x && (state->mask || state->stop.test), late = false;
    if (state->is_late) return false;
    state->iterations++;
    if (state->keep_last && x) ss_run_keep_last(state, x);
    if (measured || state->iterations >= state->next_look) {
        double now = look(state);
        // one that could not end in time is not begun; where the best is kept, what comes then is of no use
        bool in_vain = now + state->measuring_cost >= state->deadline;
        double next = time_of_next(state, now);
        late = now >= state->deadline || (in_vain && measured && state->keep != SS_GAUGE_NONE);
        state->next_look = next_look(state);
        if (measured && !in_vain && look_at(state, x, w, now)) return state->status = SS_CONVERGED, false;
        state->seen = measured && !in_vain ? now + state->measuring_cost : now;
        state->seen_iteration = state->iterations;
        late = late || state->seen + next >= state->deadline;
    }
    state->is_late = late || state->is_dismissed || (state->cancel && *state->cancel);
    if (state->is_late) return state->status = late ? SS_TIME_LIMIT : SS_CANCELLED, false;
    if (state->iterations >= state->max_iterations) return state->status = SS_MAX_ITERATIONS, false;
    return true;
}

/* Where no gauge rules the run, stages are held to the relative energy. */
static double excess_of(struct ss_run_state *state, const double *x)
{
    double values[SS_GAUGE_COUNT];
    bool ruled = state->stop.gauge != SS_GAUGE_NONE;
    unsigned mask = ruled ? ss_stop_criterion_gauges(&state->stop) : 1u << SS_GAUGE_RELATIVE_ENERGY;
    if (knows(state, x, mask))
        memcpy(values, state->measures, sizeof values);
    else
        ss_run_measure(state, x, mask, values);
    return ruled ? ss_stop_criterion_excess(&state->stop, values)
                 : values[SS_GAUGE_RELATIVE_ENERGY] / ss_nested_run_goal_without_rule;
}

double ss_run_excess(ss_run *run, const double *x)
{
    struct ss_run_state *state = run->state;
    if (ss_run_late(run)) return NAN;
    if (!all_finite(x, state->problem->size)) return INFINITY;
    double now = ss_clock_seconds(), excess = excess_of(state, x);
    state->measuring += ss_clock_seconds() - now;
    return excess;
}

static bool stage_goes_on(struct ss_run_state *state, const double *x)
{
    const ss_nested_run *stage = state->stage;
    if (state->iterations >= state->stage_end) return false;
    if (!x || state->iterations < state->stage_look) return true;
    int done = state->iterations - state->stage_start;
    bool measured = state->stop.gauge != SS_GAUGE_NONE && state->latest_iteration == state->iterations;
    double excess = measured ? ss_stop_criterion_excess(&state->stop, state->latest) : excess_of(state, x);
    int next = stage->look(stage->context, done, excess);
    state->stage_look = state->stage_start + next;
    return next > done;
}

bool ss_run_iteration(ss_run *run, const double *x, const double *w)
{
    struct ss_run_state *state = run->state;
    if (!run_goes_on(state, x, w)) return state->is_over = true, false;
    if (!state->stage || stage_goes_on(state, x)) return true;
    state->status = SS_MAX_ITERATIONS;
    return false;
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

static bool prepare_state(struct ss_run_state *state, ss_arena *arena, const ss_problem *problem,
                          const ss_run_options *options, const ss_stop_test *test, const double *x,
                          ss_error *err)
{
    if (!ss_run_take_memory(state, arena, problem))
        return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a run on %d unknowns", problem->size);
    size_t n = (size_t)problem->size;
    // This measures the start, which tells what measuring costs. Without a limit the clock is not looked at.
    double began = options->time_limit > 0.0 ? ss_clock_seconds() : 0.0;
    state->scale = ss_gauge_scale_of(problem, state->best, state->w, state->scratch, state->inverse_mass);
    if (options->time_limit > 0.0) state->measuring_cost = ss_clock_seconds() - began;
    double scene = options->scene_energy > 0.0 ? options->scene_energy : state->scale.start_energy;
    state->stop = ss_stop_criterion_of(&options->stop, test, scene, problem);
    state->keep = options->keep.which == SS_KEEP_BEST ? (int)options->keep.gauge : SS_GAUGE_NONE;
    state->keep_last = options->keep.which == SS_KEEP_LAST;
    memcpy(state->start, x, n * sizeof *x);
    if (state->keep != SS_GAUGE_NONE || state->keep_last) memcpy(state->best, x, n * sizeof *x);
    state->best_value = INFINITY;
    state->max_iterations = options->max_iterations;
    state->deadline = INFINITY; // until the run starts
    state->record = options->history;
    if (state->record || state->watcher) state->mask = (1u << SS_GAUGE_COUNT) - 1;
    state->mask |= ss_stop_criterion_gauges(&state->stop);
    if (state->keep != SS_GAUGE_NONE) state->mask |= 1u << state->keep;
    state->status = SS_FAILED;
    return true;
}

/* Noted whether notes are wanted or not: the status alone does not say why it failed. */
static void note_not_finite(struct ss_run_state *state, int index, double value)
{
    if (state->notes.length) ss_text_append(&state->notes, "\n");
    ss_text_appendf(
        &state->notes, "x[%d] is %g after %d iterations: the %s is returned", index, value, state->iterations,
        state->keep != SS_GAUGE_NONE && state->best_iteration > 0 ? "best iterate before it" : "start");
}

/* The solver's word against ours: x must be finite, and "converged" must hold when measured from scratch. The
 * factor allows for rounding between the w the solver had at hand and A x + b. */
static void judge(struct ss_run_state *state, unsigned gauges, double *x, ss_solve_result *result)
{
    static const double rounding = 1.0 + 1e-6;
    const ss_problem *problem = state->problem;
    int wrong = first_not_finite(x, problem->size);
    if (wrong < problem->size) {
        note_not_finite(state, wrong, x[wrong]);
        memcpy(x, state->keep != SS_GAUGE_NONE ? state->best : state->start,
               (size_t)problem->size * sizeof *x);
        result->status = SS_FAILED;
    }
    gauges |= ss_stop_criterion_gauges(&state->stop);
    if (knows(state, x, gauges))
        memcpy(result->gauge, state->measures, sizeof result->gauge);
    else
        ss_run_measure(state, x, gauges, result->gauge);
    if (!all_finite(state->w, problem->size)) { // projections swallow what is not a number, and find no error
        if (result->status == SS_CONVERGED) result->status = SS_FAILED;
        return;
    }
    const ss_stop_criterion *stop = &state->stop;
    if (!ss_stop_criterion_is_set(stop)) return;
    bool holds = stop->test ? stop->test->holds(x, stop->test->context)
                            : ss_stop_criterion_excess(stop, result->gauge) < rounding;
    if (result->status == SS_CONVERGED && !holds) result->status = SS_STALLED;
    if (result->status == SS_STALLED && holds) result->status = SS_CONVERGED;
}

int ss_run_keep(struct ss_run_state *state, double *x)
{
    size_t bytes = (size_t)state->problem->size * sizeof *x;
    if (state->keep_last && state->iterations > 0) memcpy(x, state->best, bytes);
    if (state->keep == SS_GAUGE_NONE || isinf(state->best_value)) return state->iterations;
    if (memcmp(x, state->best, bytes) == 0) return state->best_iteration;
    // A method may leave something better than all it showed, such as the start it falls back to. Rounding,
    // between the w it showed and ours, is no such thing.
    static const double better = 1.0 - 1e-6;
    if (!ss_deadline_misses(state->deadline, state->measuring_cost)) {
        double values[SS_GAUGE_COUNT];
        ss_run_measure(state, x, 1u << state->keep, values);
        if (values[state->keep] < better * state->best_value)
            return memcmp(x, state->start, bytes) == 0 ? 0 : state->iterations;
    }
    memcpy(x, state->best, bytes);
    return state->best_iteration;
}

static void run_solver(const ss_solver *solver, const void *options, struct ss_run_state *state,
                       ss_arena *arena, ss_team *team, const ss_run_options *how, double *x,
                       ss_solve_result *result)
{
    size_t before = ss_arena_used(arena);
    ss_run run = {.arena = arena,
                  .team = team,
                  .max_iterations = state->max_iterations,
                  .seed = (uint64_t)how->seed,
                  .solver = solver,
                  .time_limit = how->time_limit,
                  .state = state};
    state->started = state->looked = ss_clock_seconds();
    if (how->time_limit > 0.0) state->deadline = state->started + how->time_limit;
    // Methods look at the limit after an iteration, so that none at all is the driver's business.
    ss_status claim = SS_MAX_ITERATIONS;
    ss_problem shown;
    if (state->max_iterations > 0)
        claim = solver->solve(ss_problem_shown(state->problem, solver, &shown), options, &run, x);
    result->status = ss_run_outcome(state, claim);
    result->seconds = ss_clock_seconds() - state->started - state->measuring;
    result->iterations = state->iterations;
    result->memory = ss_arena_high_water(arena) - before;
    result->kept_iteration = ss_run_keep(state, x);
    result->elapsed = ss_clock_seconds() - state->started;
}

/* With an arena. */
static bool solve_in(ss_arena *arena, const ss_solve_request *request, double *x, ss_solve_result *result,
                     ss_error *err)
{
    const ss_solver *solver = request->solver;
    ss_problem *problem = request->problem;
    ss_run_options options = request->run ? *request->run : ss_run_defaults();
    unsigned gauges = request->gauges ? request->gauges : (1u << SS_GAUGE_COUNT) - 1;
    if (ss_solver_refusal(solver, problem)) return true;
    bool needs_matrix = ss_solver_needs_matrix(solver, problem);
    if (needs_matrix && !ss_problem_need_matrix(problem, err)) return false;

    ss_arena_mark mark = ss_arena_get_mark(arena);
    struct ss_run_state state = {.cancel = request->cancel,
                                 .forgiven = request->forgiven,
                                 .watcher = request->watcher,
                                 .explain = options.explain};
    const void *solver_options = request->solver_options;
    bool good = true;
    if (!solver_options && solver->options)
        good = (solver_options = ss_run_default_options(solver, arena, err)) != NULL;
    good = good && prepare_state(&state, arena, problem, &options, request->test, x, err);
    if (good) {
        run_solver(solver, solver_options, &state, arena, request->team, &options, x, result);
        judge(&state, gauges, x, result);
    }
    ss_arena_reset(arena, mark);

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
    if (request->arena) return solve_in(request->arena, request, x, result, err);
    static const size_t first = 4096, per_unknown = 512; // bytes: enough for most
    ss_arena *arena = ss_arena_create(first + per_unknown * (size_t)request->problem->size, err);
    bool good = arena && solve_in(arena, request, x, result, err);
    ss_arena_destroy(arena);
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
