/* Workers looking for a start: an answer to the frame before, carried over to the one in memory.
 *
 * With start warm and shifted it is an accurate answer, the same for all solvers, whatever they did there;
 * with start own the method's own one, which is a result of all its runs from the first frame of the
 * simulation on. Neither is in the ledger: a process that does not have it computes it again, to the same
 * bits. */
#include "campaign/read_input.h"
#include "campaign/worker_tasks.h"

#include <string.h>

void ss_worker_state_forget_before(ss_worker_state *state)
{
    ss_frame_destroy(state->before);
    ss_answer_destroy(state->accurate);
    state->before = NULL;
    state->accurate = NULL;
    state->accurate_method = -1;
}

/* The frame before the one in memory; false when it cannot be used, with the reason. */
static bool read_before(ss_worker_state *state, const char **why)
{
    const ss_planned_problem *planned = &state->plan->problems[state->problem];
    *why = "the first frame of its simulation";
    if (state->before) return true;
    if (!planned->has_before) return false;
    char place[256];
    ss_bpmd *file = ss_worker_state_file(state, planned->source, NULL);
    if (file) ss_bpmd_frame_path(file, planned->index - 1, place, sizeof place);
    state->before = file ? ss_read_checked_frame(file, planned->index - 1, place, NULL, NULL) : NULL;
    *why = "the frame before cannot be used";
    return state->before != NULL;
}

static bool same_laws(const ss_planned_method *a, const ss_planned_method *b)
{
    return strcmp(a->formulation, b->formulation) == 0 && strcmp(a->entry.with, b->entry.with) == 0;
}

/* An accurate answer to the frame before by the laws of the method; state->accurate stays NULL when no method
 * has one. */
static bool find_accurate(ss_worker_state *state, int method, ss_error *err)
{
    const ss_planned_method *methods = state->plan->methods, *planned = &methods[method];
    if (state->accurate_method >= 0 && same_laws(&methods[state->accurate_method], planned)) return true;
    ss_answer_destroy(state->accurate);
    state->accurate = NULL;
    state->accurate_method = method;

    ss_worker_phase(state->worker, SS_PHASE_REFERENCE);
    if (!state->prover || !same_laws(&methods[state->prover_method], planned)) {
        ss_prover_destroy(state->prover);
        ss_text with = {0};
        ss_option_list_join(&planned->with, &with);
        ss_prover_options options = {
            .formulation = planned->formulation, .with = ss_text_get(&with), .alone = true};
        state->prover = ss_prover_create(&options, err);
        state->prover_method = method;
        ss_text_free(&with);
        if (!state->prover) return false;
        ss_prover_watch(state->prover, ss_worker_cancel(state->worker));
    }
    const ss_proof *proof = ss_prove_frame(state->prover, state->before, err);
    if (!proof) return false;
    const ss_answer *answer = proof->result ? proof->result->answer : NULL;
    if (!ss_answer_is_complete(answer)) return true;
    state->accurate = ss_answer_carry(state->before, answer, state->before, SS_CARRY_BY_PLACE, err); // a copy
    return state->accurate != NULL;
}

/* Makes the runs of the chain up to the one before the task, from where this process stands. The problem in
 * memory is that of the task again. */
static bool replay(ss_worker_state *state, const ss_task *task, ss_error *err)
{
    ss_own_link *link = &state->links[task->method];
    int stands = link->problem - 1;
    bool is_on_the_way = stands >= task->begin && stands < task->problem;
    if (!is_on_the_way) {
        ss_answer_destroy(link->answer);
        *link = (ss_own_link){0};
    }
    for (int p = is_on_the_way ? stands + 1 : task->begin; p < task->problem; p++) {
        ss_task earlier = *task;
        ss_answer *guess = NULL;
        const char *why;
        earlier.problem = p;
        if (!ss_worker_state_load_again(state, p, err) ||
            !ss_worker_state_start(state, &earlier, &guess, &why, err))
            return false;
        ss_session *session = ss_worker_state_session(state, task->method, task->limit, true, err);
        bool by_processor = state->plan->campaign->options.clock == SS_COUNT_PROCESSOR_TIME;
        bool good = session && ss_worker_state_solve(state, session, guess, by_processor, NULL);
        ss_answer_destroy(guess);
        if (!session || !ss_worker_state_link(state, &earlier, good ? session : NULL, err)) return false;
    }
    return ss_worker_state_load_again(state, task->problem, err);
}

bool ss_worker_state_start(ss_worker_state *state, const ss_task *task, ss_answer **guess, const char **why,
                           ss_error *err)
{
    ss_start start = state->plan->methods[task->method].start;
    *guess = NULL;
    *why = NULL;
    if (start == SS_START_COLD || !state->frame) return true;
    if (start == SS_START_OWN && !state->links) {
        state->links = ss_allocate((size_t)state->plan->method_count, sizeof *state->links);
        if (!state->links) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for starts");
    }
    if (start == SS_START_OWN && !replay(state, task, err)) return false;
    if (!read_before(state, why)) return true;

    const ss_answer *from = NULL;
    if (start == SS_START_OWN && state->links[task->method].problem == task->problem)
        from = state->links[task->method].answer;
    *why = "the run before has no answer";
    if (start != SS_START_OWN) {
        *why = "no method has an answer to the frame before";
        if (!task->plain && !find_accurate(state, task->method, err)) return false;
        from = state->accurate;
    }
    if (!from) return true;
    *why = NULL;
    *guess = ss_answer_carry(state->before, from, state->frame,
                             start == SS_START_SHIFTED ? SS_CARRY_BY_PLACE : SS_CARRY_MATCHED, err);
    return *guess != NULL;
}

bool ss_worker_state_link(ss_worker_state *state, const ss_task *task, ss_session *session, ss_error *err)
{
    if (state->plan->methods[task->method].start != SS_START_OWN || !state->frame) return true;
    ss_own_link *link = &state->links[task->method];
    ss_answer_destroy(link->answer);
    *link = (ss_own_link){.problem = task->problem + 1};
    const ss_result *result = session ? ss_session_result(session) : NULL;
    if (!result || result->refusal) return true;

    // Sessions recover answers when they are judged; that of a selection is there already.
    ss_answer *answer = NULL;
    if (result->peg) {
        answer = ss_answer_carry(state->frame, result->answer, state->frame, SS_CARRY_BY_PLACE, err);
    } else {
        answer = ss_answer_create(state->frame, ss_frame_has_moments(state->frame), err);
        if (answer) ss_assembly_recover(ss_session_assembly(session), result->x, answer);
    }
    if (!answer) return false;
    if (ss_answer_is_complete(answer))
        link->answer = answer;
    else
        ss_answer_destroy(answer);
    return true;
}
