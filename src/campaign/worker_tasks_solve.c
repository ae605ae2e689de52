/* Workers solving: one run with everything that is kept of it, or repeats for their times alone. */
#include "base/deadline.h"
#include "base/registry.h"
#include "campaign/record.h"
#include "campaign/worker_tasks.h"

#include <math.h>
#include <string.h>

/* s: below that, looking at the processor's clock (0.3 us) shows, and another process seldom gets the core
 * in between. */
#define SHORT_RUN 1e-3

/* Assembles and solves. The problem is made again for every run: what one solver adds to a problem, its
 * matrix for instance, would change the rounding of the next. */
bool ss_worker_state_solve(ss_worker_state *state, ss_session *session, const ss_answer *guess,
                           bool by_processor, ss_error *err)
{
    const ss_formulation *formulation = ss_session_method(session)->formulation;
    const ss_solver *solver = ss_session_method(session)->solver;
    if (ss_is_solver_command(solver)) ss_solver_command_prepare(solver);
    // what a formulation of a stranger does is part of the run, not of reading the problem
    if (state->frame && ss_is_registered(SS_REGISTERED_FORMULATIONS, formulation))
        ss_worker_phase(state->worker, SS_PHASE_SOLVING);
    bool selects = state->frame && ss_session_selects(session, state->frame);
    bool taken = selects        ? true
                 : state->frame ? ss_session_take_frame(session, state->frame, guess, err)
                                : ss_session_take_problem(session, state->lawful, NULL, err);
    ss_worker_phase(state->worker, SS_PHASE_SOLVING);
    ss_clock_count_processor(by_processor); // the phase began by the clock of its observer
    bool good = taken && (selects ? ss_session_select(session, state->frame, guess, err)
                                  : ss_session_run(session, err));
    ss_clock_count_processor(false);
    return good;
}

/* Against the reference answer too, where one is wanted; plain: its computation failed before. */
static bool judge(ss_worker_state *state, ss_session *session, bool plain, ss_error *err)
{
    static const ss_truth unknown = {0};
    const ss_result *result = ss_session_result(session);
    bool wanted = ss_session_method(session)->reference && state->frame && !result->refusal && !result->peg;

    // It is kept for the runs that follow. That of the step before last is not: methods come sorted by
    // formulation.
    const ss_step_options *step = wanted && !plain ? ss_assembly_step(ss_session_assembly(session)) : NULL;
    if (step && !(state->has_truth && memcmp(&state->truth_step, step, sizeof *step) == 0)) {
        if (state->has_truth) ss_truth_free(&state->truth);
        state->has_truth = false;
        ss_worker_phase(state->worker, SS_PHASE_REFERENCE);
        if (!ss_session_find_truth(session, &state->truth, err)) return false;
        state->has_truth = true;
        memcpy(&state->truth_step, step, sizeof *step); // with its padding
    }

    ss_worker_phase(state->worker, SS_PHASE_JUDGING);
    const ss_truth *truth = plain ? &unknown : &state->truth;
    return ss_session_judge(session, wanted ? truth : NULL, err);
}

bool ss_task_run(ss_worker_state *state, const ss_task *task, ss_text *reply, ss_error *err)
{
    bool by_processor = state->plan->campaign->options.clock == SS_COUNT_PROCESSOR_TIME;
    ss_answer *guess = NULL;
    const char *from_zero = NULL;
    if (!ss_worker_state_load_again(state, task->problem, err) ||
        !ss_worker_state_start(state, task, &guess, &from_zero, err))
        return false;
    ss_session *session = ss_worker_state_session(state, task->method, task->limit, true, err);
    ss_run_entry run = {0};
    ss_error why = {0};
    bool good = session && ss_worker_state_solve(state, session, guess, by_processor, &why);
    ss_answer_destroy(guess);
    if (!session || !ss_worker_state_link(state, task, good ? session : NULL, err)) return false;
    good = good && judge(state, session, task->plain, &why) &&
           ss_record_make(ss_session_result(session), &run, &why);

    // Nothing to start from, although that was wanted: the run counts, but not among warm ones.
    if (good && from_zero && !run.message) {
        ss_text message = {0};
        ss_text_appendf(&message, SS_STARTED_COLD "%s", from_zero);
        run.message = ss_text_copy(ss_text_get(&message));
        ss_text_free(&message);
        good = run.message || ss_fail(&why, SS_ERROR_RESOURCES, "out of memory for a record");
    }

    // The limit counts solving alone. When measuring takes far longer, the run is ended from outside; that is
    // a limit of time all the same.
    if (good && run.outcome == (ss_outcome)SS_CANCELLED) {
        run.outcome = (ss_outcome)SS_TIME_LIMIT;
        ss_release(run.message);
        run.message = ss_text_copy("stopped: measuring takes much longer than solving");
        good = run.message || ss_fail(&why, SS_ERROR_RESOURCES, "out of memory for a record");
    }

    // What the library refuses is a result as well.
    const ss_problem *problem = ss_session_result(session)->problem;
    ss_run_entry refusal = {.outcome =
                                why.code == SS_ERROR_RESOURCES ? SS_OUTCOME_OUT_OF_MEMORY : SS_OUTCOME_BROKEN,
                            .message = why.message,
                            .unknowns = problem ? problem->size : 0,
                            .seconds = NAN,
                            .elapsed = NAN,
                            .memory = NAN};
    for (int g = 0; g < SS_GAUGE_COUNT; g++) refusal.gauge[g] = NAN;
    ss_record_pack(good ? &run : &refusal, reply);
    ss_record_clear(&run);
    return true;
}

static bool time_once(ss_worker_state *state, ss_session *session, const ss_answer *guess, bool by_processor,
                      ss_sample *sample, char answer[33], ss_error *err)
{
    if (!ss_worker_state_solve(state, session, guess, by_processor, err)) return false;
    const ss_result *result = ss_session_result(session);
    *sample = (ss_sample){result->run.seconds, result->run.elapsed};
    ss_record_answer(result->x, result->problem->size, answer);
    return true;
}

bool ss_task_time(ss_worker_state *state, const ss_task *task, ss_text *reply, ss_error *err)
{
    bool by_processor = state->plan->campaign->options.clock == SS_COUNT_PROCESSOR_TIME;
    char first[33], answer[33];
    const char *from_zero;
    ss_answer *guess = NULL;
    ss_sample sample;
    bool steady = true;
    if (!ss_worker_state_load_again(state, task->problem, err) ||
        !ss_worker_state_start(state, task, &guess, &from_zero, err))
        return false;
    // without history: what a user would run
    ss_session *session = ss_worker_state_session(state, task->method, task->limit, false, err);
    bool good = session && time_once(state, session, guess, by_processor, &sample, first, err); // warm-up

    if (good && sample.elapsed < SHORT_RUN) by_processor = false;
    ss_pack_int(reply, task->count);
    for (int i = 0; good && i < task->count; i++) {
        good = time_once(state, session, guess, by_processor, &sample, answer, err);
        ss_pack_real(reply, sample.seconds);
        ss_pack_real(reply, sample.elapsed);
        steady &= good && strcmp(first, answer) == 0;
    }
    ss_answer_destroy(guess);
    ss_pack_int(reply, steady);
    return good;
}
