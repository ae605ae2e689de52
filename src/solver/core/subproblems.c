#include "solver/core/subproblems.h"

#include <math.h>
#include <string.h>

#include "base/deadline.h"
#include "base/memory.h"
#include "solver/core/run_state.h"

bool ss_run_can_decompose(const ss_run *run)
{
    return !run->state->stop.test && !run->state->watcher; // both look at the whole x
}

bool ss_run_records(const ss_run *run)
{
    return run->state->record;
}

/* ---- one part --------------------------------------------------------------------------------------- */

static struct ss_run_state begin(const struct ss_run_state *whole, const ss_subproblem *part)
{
    return (struct ss_run_state){.scale = {.start_energy = whole->scale.start_energy,
                                           .rounding_energy = part->share * whole->scale.rounding_energy,
                                           .load = whole->scale.load,
                                           .inverse_mass = part->problem->diagonal},
                                 .stop = ss_stop_criterion_share(&whole->stop, part->problem, part->share),
                                 .keep = whole->keep,
                                 .keep_last = whole->keep_last,
                                 .mask = whole->mask,
                                 .max_iterations = whole->max_iterations - whole->iterations,
                                 .started = whole->started,
                                 .looked = ss_clock_seconds(),
                                 .measuring = whole->measuring + part->measuring,
                                 .deadline = whole->deadline,
                                 .cancel = whole->cancel,
                                 .status = SS_FAILED,
                                 .best_value = INFINITY,
                                 .record = whole->record,
                                 .explain = whole->explain};
}

void ss_run_subproblem(const ss_run *run, ss_subproblem *part, ss_arena *arena, ss_team *team,
                       ss_subproblem_solve *solve, void *context)
{
    ss_arena_mark mark = ss_arena_get_mark(arena);
    struct ss_run_state state = begin(run->state, part);
    size_t bytes = (size_t)part->problem->size * sizeof *part->x;
    double others = state.measuring;
    part->status = SS_FAILED;
    part->begun = ss_clock_seconds() - state.started - others;
    if (ss_run_take_memory(&state, arena, part->problem)) {
        memcpy(state.start, part->x, bytes);
        if (state.keep != SS_GAUGE_NONE || state.keep_last) memcpy(state.best, part->x, bytes);
        ss_run inner = *run;
        inner.arena = arena;
        inner.team = team;
        inner.max_iterations = state.max_iterations;
        inner.state = &state;
        // where the time is up before its turn it keeps its start
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

/* ---- together --------------------------------------------------------------------------------------- */

/* Adds what a part had after its iteration k, or at its end, to sums: squares of gauges that are roots. */
static void add_row(const ss_subproblem *part, int k, double *sums, double *seconds)
{
    const ss_history *of = &part->history;
    if (of->count == 0) return;
    int at = k < of->count ? k : of->count - 1;
    *seconds += of->seconds[at] - part->begun;
    for (int g = 0; g < SS_GAUGE_COUNT; g++) {
        double value = of->gauge[g][at];
        bool root = g == SS_GAUGE_RELATIVE_ENERGY || g == SS_GAUGE_NATURAL_MAP;
        if (isnan(value)) continue; // no cones here
        sums[g] = (isnan(sums[g]) ? 0.0 : sums[g]) + (root ? value * value : value);
    }
}

/* The whole after k iterations of everybody, one part after the other. */
static void join_histories(struct ss_run_state *state, const ss_subproblem *parts, int count, int rows)
{
    for (int k = 0; state->record && k < rows; k++) {
        double sums[SS_GAUGE_COUNT], seconds = parts[0].begun;
        for (int g = 0; g < SS_GAUGE_COUNT; g++) sums[g] = NAN;
        for (int i = 0; i < count; i++) {
            add_row(&parts[i], k, sums, &seconds);
        }
        sums[SS_GAUGE_RELATIVE_ENERGY] = sqrt(sums[SS_GAUGE_RELATIVE_ENERGY]);
        sums[SS_GAUGE_NATURAL_MAP] = sqrt(sums[SS_GAUGE_NATURAL_MAP]);
        ss_run_record(state, sums, seconds);
    }
}

/* A part that has no solution is enough. */
static void join_ray(struct ss_run_state *state, const ss_subproblem *parts, int count, const int *order)
{
    const int *of = order;
    for (int i = 0; i < count; of += parts[i].problem->size, i++) {
        if (!parts[i].ray.impulse || parts[i].status != SS_RAY) continue;
        double *impulse = ss_allocate((size_t)state->problem->size, sizeof *impulse);
        if (!impulse) return;
        for (int k = 0; k < parts[i].problem->size; k++) impulse[of[k]] = parts[i].ray.impulse[k];
        ss_release(state->ray.impulse);
        state->ray = (ss_ray){.impulse = impulse, .is_proof = parts[i].ray.is_proof};
        if (state->ray.is_proof) return;
    }
}

static void join_best(struct ss_run_state *state, int kept_iteration, const double *x)
{
    double values[SS_GAUGE_COUNT];
    if (state->keep == SS_GAUGE_NONE || ss_deadline_misses(state->deadline, state->measuring_cost)) return;
    ss_run_measure(state, x, 1u << state->keep, values);
    if (!(values[state->keep] < state->best_value)) return;
    state->best_value = values[state->keep];
    state->best_iteration = kept_iteration;
    memcpy(state->best, x, (size_t)state->problem->size * sizeof *x);
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
    join_histories(state, parts, count, rows);
    join_ray(state, parts, count, order);
    join_best(state, state->iterations + kept, x);
    state->iterations += iterations;
    if (state->keep_last) ss_run_keep_last(state, x);
    state->measuring += measuring / at_once;
}
