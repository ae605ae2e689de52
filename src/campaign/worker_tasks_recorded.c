/* Workers judging answers that were in the files already: nothing is solved. */
#include "campaign/record.h"
#include "campaign/worker_tasks.h"
#include "metrics/judgement.h"
#include "session/method.h"

#include <math.h>

/* Name, formulation, rules in words, whether these are assumed, and the record. */
static bool pack_answer(ss_worker_state *state, const ss_stored_result *stored, ss_text *reply, ss_error *err)
{
    ss_step_options step;
    ss_text rules = {0};
    if (!ss_stored_result_step(stored, &step, err)) return false;
    ss_step_words(&step, &rules);
    ss_pack_text(reply, stored->solver);
    ss_pack_text(reply, stored->formulation ? stored->formulation : "cone");
    ss_pack_text(reply, ss_text_get(&rules));
    ss_pack_int(reply, !stored->formulation);
    bool good = !rules.out_of_memory || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for rules");
    ss_text_free(&rules);
    if (!good) return false;

    // An answer that is incomplete is recorded, but not judged.
    ss_run_entry run = {0};
    if (ss_answer_is_complete(stored->answer)) {
        ss_metric_value *values = ss_allocate((size_t)ss_metric_count(), sizeof *values);
        ss_contact_report *contacts = ss_allocate((size_t)state->frame->contacts.count, sizeof *contacts);
        ss_worker_phase(state->worker, SS_PHASE_JUDGING);
        good = (values && contacts) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for judging");
        good = good && ss_judge_frame_exactly(state->frame, &step, stored->answer, values, contacts, err) &&
               ss_record_stored(stored, values, contacts, &run, err);
        ss_release(values);
        ss_release(contacts);
    } else {
        good = ss_record_stored(stored, NULL, NULL, &run, err);
    }
    if (good) ss_record_pack(&run, reply);
    ss_record_clear(&run);
    return good;
}

bool ss_task_recorded(ss_worker_state *state, const ss_task *task, ss_text *reply, ss_error *err)
{
    const ss_planned_problem *planned = &state->plan->problems[task->problem];
    if (!ss_worker_state_load_again(state, task->problem, err)) return false;
    ss_bpmd *file = ss_worker_state_file(state, planned->source, err);
    int count = file ? ss_bpmd_result_count(file, planned->index, err) : -1;
    if (count < 0) return false;
    ss_pack_int(reply, count);
    if (task->count >= count) return true;

    ss_stored_result stored = {0};
    ss_error why = {0};
    ss_text answer = {0};
    bool good = ss_bpmd_result(file, planned->index, task->count, &stored, &why) &&
                pack_answer(state, &stored, &answer, &why);
    ss_pack_text(reply, good ? NULL : why.message); // the others of the frame are judged all the same
    if (good) ss_text_append_bytes(reply, ss_text_get(&answer), answer.length);
    reply->out_of_memory |= answer.out_of_memory;
    ss_text_free(&answer);
    ss_stored_result_free(&stored);
    return true;
}
