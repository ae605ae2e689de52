/* Workers solving: one run with everything that is kept of it, or repeats for their times alone. */
#include "campaign/record.h"
#include "campaign/worker_tasks.h"

#include <math.h>
#include <string.h>

/* The problem as the method sees it. It is made anew for every run: what one solver adds to a problem, its matrix for
 * instance, would change the rounding of the next. */
static bool assemble(ss_worker_state *state, const ss_method *method, ss_trial *trial, ss_error *err)
{
    trial->problem = state->frame
                         ? method->formulation->assemble(state->frame, method->formulation_options, NULL, err)
                         : state->lawful;
    if (!trial->problem) return false;
    trial->x = ss_allocate((size_t)trial->problem->size, sizeof *trial->x);
    return trial->x ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", trial->problem->size);
}

static void dismantle(ss_worker_state *state, ss_trial *trial)
{
    if (!state->frame) trial->problem = NULL; // it stays
    ss_trial_free(trial);
}

/* The one of the step before last is not kept: methods come sorted by formulation. */
static bool find_truth(ss_worker_state *state, const ss_method *method, ss_error *err)
{
    const ss_step_options *step = method->formulation_options;
    if (state->has_truth && memcmp(&state->truth_step, step, sizeof *step) == 0) return true;
    if (state->has_truth) ss_truth_free(&state->truth);
    state->has_truth = false;
    ss_worker_phase(state->worker, SS_PHASE_REFERENCE);
    if (!ss_truth_find(method, state->frame, ss_worker_cancel(state->worker), &state->truth, err))
        return false;
    state->has_truth = true;
    memcpy(&state->truth_step, step, sizeof *step); // with its padding
    return true;
}

static bool judge(ss_worker_state *state, const ss_method *method, bool plain, ss_trial *trial, ss_error *err)
{
    static const ss_truth unknown = {0};
    bool wanted = method->reference && state->frame && !trial->refusal;
    if (wanted && !plain && !find_truth(state, method, err)) return false;
    ss_worker_phase(state->worker, SS_PHASE_JUDGING);
    return ss_trial_judge(method, state->frame,
                          !wanted ? NULL
                          : plain ? &unknown
                                  : &state->truth,
                          trial, err);
}

static bool solve(ss_worker_state *state, const ss_method *method, ss_trial *trial, ss_error *err)
{
    ss_worker_phase(state->worker, SS_PHASE_SOLVING);
    return ss_trial_solve(method, state->frame, ss_worker_cancel(state->worker), trial, err);
}

/* ---- a run --------------------------------------------------------------------------------------- */

/* The limit counts solving alone. When measuring takes far longer, the run is ended from outside; that is a limit of time
 * all the same. */
static bool settle_outcome(ss_run_entry *run)
{
    if (run->outcome != (ss_outcome)SS_CANCELLED) return true;
    run->outcome = (ss_outcome)SS_TIME_LIMIT;
    run->message = ss_text_copy("ended from outside: measuring takes much longer than solving");
    return run->message != NULL;
}

/* What the library refuses is a result as well. */
static void pack_refusal(const ss_error *why, int unknowns, ss_text *reply)
{
    bool memory = why->code == SS_ERROR_RESOURCES;
    ss_run_entry run = {.outcome = memory ? SS_OUTCOME_OUT_OF_MEMORY : SS_OUTCOME_BROKEN,
                        .message = (char *)(uintptr_t)why->message,
                        .unknowns = unknowns};
    for (int g = 0; g < SS_GAUGE_COUNT; g++) run.gauge[g] = NAN;
    run.seconds = run.memory = NAN;
    ss_record_pack(&run, reply);
}

static bool make_record(ss_worker_state *state, const ss_task *task, const ss_method *method, ss_trial *trial,
                        ss_run_entry *run, ss_error *why)
{
    return assemble(state, method, trial, why) && solve(state, method, trial, why) &&
           judge(state, method, task->plain, trial, why) && ss_record_make(trial, run, why) &&
           (settle_outcome(run) || ss_fail(why, SS_ERROR_RESOURCES, "out of memory for a record"));
}

/* A file that changed under us must not be taken for the one that was inspected. */
static bool load(ss_worker_state *state, int problem, ss_error *err)
{
    const ss_problem_entry *entry = &state->plan->problems[problem].entry;
    if (!ss_worker_state_load(state, problem, err)) return false;
    return strcmp(state->hash, entry->hash) == 0 ||
           ss_fail(err, SS_ERROR_INPUT, "%s: %s: changed while the campaign was running", entry->file,
                   entry->place);
}

bool ss_task_run(ss_worker_state *state, const ss_task *task, ss_text *reply, ss_error *err)
{
    const ss_planned_problem *planned = &state->plan->problems[task->problem];
    const ss_method *method = ss_worker_state_method(state, task->method, err);
    if (!method || !load(state, task->problem, err)) return false;
    ss_trial trial = {.place = planned->entry.place, .index = planned->index};
    ss_run_entry run = {0};
    ss_error why = {0};
    if (make_record(state, task, method, &trial, &run, &why))
        ss_record_pack(&run, reply);
    else
        pack_refusal(&why, trial.problem ? trial.problem->size : 0, reply);
    ss_record_clear(&run);
    dismantle(state, &trial);
    return true;
}

/* ---- times --------------------------------------------------------------------------------------- */

static bool time_once(ss_worker_state *state, const ss_method *method, double *seconds, char answer[33],
                      ss_error *err)
{
    ss_method quick = *method;
    ss_trial trial = {0};
    quick.run.history = false; // what a user would run
    bool good = assemble(state, method, &trial, err) && solve(state, &quick, &trial, err);
    if (good) {
        *seconds = trial.result.seconds;
        ss_record_answer(trial.x, trial.problem->size, answer);
    }
    dismantle(state, &trial);
    return good;
}

bool ss_task_time(ss_worker_state *state, const ss_task *task, ss_text *reply, ss_error *err)
{
    const ss_method *method = ss_worker_state_method(state, task->method, err);
    char first[33], answer[33];
    double seconds;
    bool steady = true;
    if (!method || !load(state, task->problem, err)) return false;
    if (!time_once(state, method, &seconds, first, err)) return false; // warm-up
    ss_pack_int(reply, task->count);
    for (int i = 0; i < task->count; i++) {
        if (!time_once(state, method, &seconds, answer, err)) return false;
        ss_pack_real(reply, seconds);
        steady &= strcmp(first, answer) == 0;
    }
    ss_pack_int(reply, steady);
    return true;
}
