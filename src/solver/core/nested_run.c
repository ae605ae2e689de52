#include "solver/core/nested_run.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "solver/core/run_state.h"

bool ss_run_explains(const ss_run *run)
{
    return run->state->explain;
}

static void add_note(ss_run *run, const char *format, va_list arguments)
{
    ss_text *notes = &run->state->notes;
    char line[800];
    vsnprintf(line, sizeof line, format, arguments);
    if (notes->length) ss_text_append(notes, "\n");
    ss_text_append(notes, line);
}

void ss_run_note(ss_run *run, const char *format, ...)
{
    va_list arguments;
    if (!run->state->explain) return;
    va_start(arguments, format);
    add_note(run, format, arguments);
    va_end(arguments);
}

ss_status ss_run_fail(ss_run *run, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_note(run, format, arguments);
    va_end(arguments);
    return SS_FAILED;
}

bool ss_solver_needs_matrix(const ss_solver *solver, const ss_problem *problem)
{
    if (!(solver->traits & SS_MATRIX_FREE) || !problem->bodies) return true;
    return problem->bodies->further_start && !(solver->traits & SS_MANY_BODIES);
}

const ss_problem *ss_problem_shown(const ss_problem *problem, const ss_solver *solver, ss_problem *shown)
{
    if (!problem->bodies) return problem;
    *shown = *problem;
    if (!ss_solver_needs_matrix(solver, problem))
        shown->A = NULL;
    else if (problem->bodies->further_start && !(solver->traits & SS_MANY_BODIES))
        shown->bodies = NULL;
    return shown;
}

bool ss_run_nested(ss_run *run, ss_problem *problem, const ss_nested_run *stage, double *x,
                   ss_nested_run_end *end)
{
    struct ss_run_state *state = run->state;
    const ss_solver *solver = stage->solver;
    ss_arena_mark mark = ss_arena_get_mark(run->arena);
    bool needs_matrix = ss_solver_needs_matrix(solver, problem);
    const void *options = stage->options;
    *end = (ss_nested_run_end){.status = SS_FAILED};
    if (ss_run_late(run) || ss_run_lacks(run, needs_matrix ? ss_run_matrix_cost(problem) : 0.0)) {
        *end = (ss_nested_run_end){.status = state->status, .excess = NAN, .is_over = true};
        return true;
    }
    if (needs_matrix && !ss_problem_need_matrix(problem, NULL)) return false;
    if (!options && solver->options && !(options = ss_run_default_options(solver, run->arena, NULL)))
        return false;

    // The stage; estimates of another method mean something else.
    int left = state->max_iterations - state->iterations;
    state->stage = stage;
    state->stage_start = state->iterations;
    state->stage_end = stage->budget < left ? state->iterations + stage->budget : INT_MAX;
    state->stage_look = stage->look ? state->iterations + stage->first_look : INT_MAX;
    state->schedule = (ss_measuring_schedule){.forced = state->schedule.forced};
    ss_run inner = *run;
    inner.solver = solver;
    if (stage->budget < inner.max_iterations) inner.max_iterations = stage->budget;
    ss_problem shown;
    end->status =
        ss_run_outcome(state, solver->solve(ss_problem_shown(problem, solver, &shown), options, &inner, x));
    end->iterations = state->iterations - state->stage_start;
    state->stage = NULL;
    end->is_over = state->is_over;
    // What ended the run was measured just now.
    bool is_known = state->is_over && state->status == SS_CONVERGED && state->stop.gauge != SS_GAUGE_NONE &&
                    state->latest_iteration == state->iterations;
    end->excess = is_known ? ss_stop_criterion_excess(&state->stop, state->latest) : ss_run_excess(run, x);
    ss_arena_reset(run->arena, mark);
    return true;
}

/* ---- parts ------------------------------------------------------------------------------------------ */

bool ss_run_can_decompose(const ss_run *run)
{
    return !run->state->stop.test && !run->state->watcher; // both look at the whole x
}

bool ss_run_records(const ss_run *run)
{
    return run->state->record;
}

void ss_run_subproblem(const ss_run *run, ss_subproblem *part, ss_arena *arena, ss_team *team,
                       ss_subproblem_solve *solve, void *context)
{
    ss_arena_mark mark = ss_arena_get_mark(arena);
    const struct ss_run_state *whole = run->state;
    size_t bytes = (size_t)part->problem->size * sizeof *part->x;
    double others = whole->measuring + part->measuring;

    // A run of its own, on the scale of the whole.
    struct ss_run_state state = {.scale = {.start_energy = whole->scale.start_energy,
                                           .rounding_energy = part->share * whole->scale.rounding_energy,
                                           .load = whole->scale.load,
                                           .inverse_mass = part->problem->diagonal,
                                           .team = team},
                                 .stop = ss_stop_criterion_share(&whole->stop, part->problem, part->share),
                                 .keep = ss_stop_criterion_share(&whole->keep, part->problem, 1.0),
                                 .keep_last = whole->keep_last,
                                 .mask = whole->mask,
                                 .max_iterations = whole->max_iterations - whole->iterations,
                                 .started = whole->started,
                                 .looked = ss_clock_seconds(),
                                 .measuring = others,
                                 .deadline = whole->deadline,
                                 .cancel = whole->cancel,
                                 .status = SS_FAILED,
                                 .best_value = INFINITY,
                                 .record = whole->record,
                                 .explain = whole->explain};
    part->status = SS_FAILED;
    part->begun = ss_clock_seconds() - state.started - others;

    // Where the time is up before its turn it keeps its start.
    if (ss_run_take_memory(&state, arena, part->problem)) {
        memcpy(state.start, part->x, bytes);
        if (ss_run_keeps_best(&state) || state.keep_last) memcpy(state.best, part->x, bytes);
        ss_run inner = *run;
        inner.arena = arena;
        inner.team = team;
        inner.max_iterations = state.max_iterations;
        inner.state = &state;
        part->status = ss_run_late(&inner)
                           ? ss_run_status(&inner)
                           : ss_run_outcome(&state, solve(part->problem, &inner, part->x, context));
        part->kept_iteration = ss_run_keep(&state, part->x);
    }
    part->iterations = state.iterations;
    part->measuring = state.measuring - others;
    part->history = state.history;
    part->ray = state.ray;
    part->notes = state.notes.data;
    ss_arena_reset(arena, mark);
}

void ss_subproblem_free(ss_subproblem *part)
{
    ss_release(part->history.seconds);
    for (int g = 0; g < SS_GAUGE_COUNT; g++) ss_release(part->history.gauge[g]);
    ss_release(part->ray.impulse);
    ss_release(part->notes);
    *part = (ss_subproblem){0};
}

void ss_run_join_subproblems(ss_run *run, ss_subproblem *parts, int count, const int *order, int at_once,
                             const double *x)
{
    struct ss_run_state *state = run->state;
    int iterations = 0, rows = 0, kept = 0;
    double measuring = 0.0;
    for (int i = 0; i < count; i++) {
        const ss_subproblem *part = &parts[i];
        if (part->iterations > iterations) iterations = part->iterations;
        if (part->kept_iteration > kept) kept = part->kept_iteration;
        if (part->history.count > rows) rows = part->history.count;
        measuring += part->measuring;
    }

    // The history of the whole: after k iterations of every part, or at its end, one part after the other.
    // Gauges that are roots add up as squares; those of parts without cones are not numbers.
    for (int k = 0; state->record && k < rows; k++) {
        double sums[SS_GAUGE_COUNT], seconds = parts[0].begun;
        for (int g = 0; g < SS_GAUGE_COUNT; g++) sums[g] = NAN;
        for (int i = 0; i < count; i++) {
            const ss_history *of = &parts[i].history;
            if (of->count == 0) continue;
            int at = k < of->count ? k : of->count - 1;
            seconds += of->seconds[at] - parts[i].begun;
            for (int g = 0; g < SS_GAUGE_COUNT; g++) {
                double value = of->gauge[g][at];
                bool root = g == SS_GAUGE_RELATIVE_ENERGY || g == SS_GAUGE_NATURAL_MAP;
                if (isnan(value)) continue;
                sums[g] = (isnan(sums[g]) ? 0.0 : sums[g]) + (root ? value * value : value);
            }
        }
        sums[SS_GAUGE_RELATIVE_ENERGY] = sqrt(sums[SS_GAUGE_RELATIVE_ENERGY]);
        sums[SS_GAUGE_NATURAL_MAP] = sqrt(sums[SS_GAUGE_NATURAL_MAP]);
        ss_run_record(state, sums, seconds);
    }

    // A part that has no solution is enough; one that proves it is better.
    const int *of = order;
    for (int i = 0; i < count && !(state->ray.impulse && state->ray.is_proof);
         of += parts[i].problem->size, i++) {
        if (!parts[i].ray.impulse || parts[i].status != SS_RAY) continue;
        double *impulse = ss_allocate((size_t)state->problem->size, sizeof *impulse);
        if (!impulse) break;
        for (int k = 0; k < parts[i].problem->size; k++) impulse[of[k]] = parts[i].ray.impulse[k];
        ss_release(state->ray.impulse);
        state->ray = (ss_ray){.impulse = impulse, .is_proof = parts[i].ray.is_proof};
    }

    // The best of the whole, if there is time to measure it.
    if (ss_run_keeps_best(state) && !ss_deadline_misses(state->deadline, state->measuring_cost)) {
        double values[SS_GAUGE_COUNT];
        ss_run_measure(state, x, ss_stop_criterion_gauges(&state->keep), values);
        if (ss_stop_criterion_excess(&state->keep, values) < state->best_value) {
            state->best_value = ss_stop_criterion_excess(&state->keep, values);
            state->best_iteration = state->iterations + kept;
            memcpy(state->best, x, (size_t)state->problem->size * sizeof *x);
        }
    }
    state->iterations += iterations;
    if (state->keep_last) ss_run_keep_last(state, x);
    state->measuring += measuring / at_once;
}
