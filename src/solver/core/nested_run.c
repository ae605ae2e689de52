#include "solver/core/nested_run.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

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

static void begin_stage(struct ss_run_state *state, const ss_nested_run *stage)
{
    int left = state->max_iterations - state->iterations;
    state->stage = stage;
    state->stage_start = state->iterations;
    state->stage_end = stage->budget < left ? state->iterations + stage->budget : INT_MAX;
    state->stage_look = stage->look ? state->iterations + stage->first_look : INT_MAX;
    // estimates of another method mean something else
    state->schedule = (ss_measuring_schedule){.forced = state->schedule.forced};
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
    ss_run inner = *run;
    inner.solver = solver;
    begin_stage(state, stage);
    if (stage->budget < inner.max_iterations) inner.max_iterations = stage->budget;
    ss_problem shown;
    end->status =
        ss_run_outcome(state, solver->solve(ss_problem_shown(problem, solver, &shown), options, &inner, x));
    end->iterations = state->iterations - state->stage_start;
    state->stage = NULL;
    end->excess = ss_run_excess(run, x);
    end->is_over = state->is_over;
    ss_arena_reset(run->arena, mark);
    return true;
}
