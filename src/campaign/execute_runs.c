/* The last stages of a campaign: solving in parallel, then timing alone. */
#include "campaign/execute_internal.h"

#include "base/digest.h"
#include "campaign/machine.h"
#include "campaign/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int group_of_run(const ss_task *task)
{
    return task->problem;
}

static bool is_failure(ss_outcome outcome)
{
    return outcome > SS_OUTCOME_LAST_STATUS;
}

/* ---- the matrix ---------------------------------------------------------------------------------- */

/* Problems of FCLIB are cones already: there is no frame that another formulation could start from. */
static bool belongs_together(const ss_planned_problem *problem, const ss_planned_method *method)
{
    return problem->index >= 0 || strcmp(method->formulation, "cone") == 0;
}

bool ss_execution_is_ours(const ss_campaign *campaign, const ss_problem_entry *problem,
                          const ss_method_entry *method)
{
    ss_digest digest = ss_digest_start();
    ss_digest_add_text(&digest, problem->hash);
    ss_digest_add_text(&digest, problem->place);
    ss_digest_add_text(&digest, method->key);
    uint64_t word = ss_digest_scramble(digest.a ^ digest.b, SS_ROOT_2, SS_ROOT_3);
    return word % (uint64_t)campaign->shards == (uint64_t)(campaign->shard - 1);
}

/* Calls `visit` for every run of the matrix. */
static bool for_every_run(ss_execution *e, bool (*visit)(ss_execution *, int problem, int method, ss_error *),
                          ss_error *err)
{
    for (int p = 0; p < e->plan.problem_count; p++) {
        for (int m = 0; m < e->plan.method_count; m++) {
            const ss_planned_problem *problem = &e->plan.problems[p];
            const ss_planned_method *method = &e->plan.methods[m];
            if (problem->entry.fault || !ss_execution_is_ours(e->campaign, &problem->entry, &method->entry))
                continue;
            if (!visit(e, p, m, err)) return false;
        }
    }
    return true;
}

static int look_up(ss_execution *e, int problem, int method, ss_outcome *outcome, ss_error *err)
{
    return ss_ledger_has(e->ledger, e->plan.problems[problem].entry.id, e->plan.methods[method].entry.id,
                         e->machine.id, outcome, err);
}

/* ---- solving ------------------------------------------------------------------------------------- */

static bool store(ss_execution *e, const ss_task *task, const ss_ending *ending, ss_run_entry *run,
                  ss_error *err)
{
    run->problem_id = e->plan.problems[task->problem].entry.id;
    run->method_id = e->plan.methods[task->method].entry.id;
    run->machine_id = e->machine.id;
    run->started = ss_text_copy(ending->started);
    e->done++;
    e->summary->done++;
    e->summary->outcomes[run->outcome]++;
    e->failures += is_failure(run->outcome);
    return ss_ledger_add(e->ledger, run, err);
}

static bool store_end(ss_execution *e, const ss_task *task, const ss_ending *ending, ss_error *err)
{
    ss_text message = {0};
    ss_text_append(&message, ending->message);
    if (ending->phase == SS_PHASE_JUDGING) ss_text_append(&message, ", while its answer was judged");
    ss_run_entry run = {.outcome = ending->outcome,
                        .message = ss_text_copy(ss_text_get(&message)),
                        .seconds = NAN,
                        .memory = NAN,
                        .steady = true};
    for (int g = 0; g < SS_GAUGE_COUNT; g++) run.gauge[g] = NAN;
    bool good = store(e, task, ending, &run, err);
    ss_text_free(&message);
    ss_record_clear(&run);
    return good;
}

/* A row that needs no worker. */
static bool store_refusal(ss_execution *e, const ss_task *task, ss_error *err)
{
    ss_ending ending = {.outcome = (ss_outcome)SS_NOT_APPLICABLE, .phase = SS_PHASE_SOLVING};
    snprintf(ending.message, sizeof ending.message, "an FCLIB problem can only be solved as cone");
    ss_pool_time(ending.started);
    return store_end(e, task, &ending, err);
}

static bool queue_run(ss_execution *e, int problem, int method, ss_error *err)
{
    ss_task task = {.kind = SS_TASK_RUN, .problem = problem, .method = method};
    ss_outcome outcome = SS_OUTCOME_COUNT;
    int there = look_up(e, problem, method, &outcome, err);
    if (there < -1) return false;
    e->summary->runs++;
    if (there >= 0) {
        e->summary->before++;
        if (outcome < SS_OUTCOME_COUNT) e->summary->outcomes[outcome]++;
        return true;
    }
    if (!belongs_together(&e->plan.problems[problem], &e->plan.methods[method]))
        return store_refusal(e, &task, err);
    ss_queue_add(&e->queue, problem, &task);
    return true;
}

static void cannot_run(ss_execution *e, const ss_task *task, ss_error_code code, const char *why)
{
    const ss_problem_entry *problem = &e->plan.problems[task->problem].entry;
    e->done++;
    ss_execution_complain(e, code, "%s: %s: cannot run %s: %s", problem->file, problem->place,
                          e->plan.methods[task->method].solver, why);
}

/* A process that died may have been damaged by the task before: the end counts when a new one
 * dies of the same. */
static bool deserves_another_try(const ss_ending *ending)
{
    return !ending->replied && !ending->fresh && ending->outcome != SS_OUTCOME_HUNG;
}

/* Nonsense in the pipe may be found late, or early. */
static bool began_to_solve(const ss_ending *ending)
{
    return ending->phase == SS_PHASE_SOLVING || ending->phase == SS_PHASE_JUDGING ||
           ending->phase == SS_PHASE_REPLYING || ending->outcome == SS_OUTCOME_BROKEN;
}

static bool take_end(ss_execution *e, const ss_task *task, const ss_ending *ending, ss_error *err)
{
    ss_task again = *task;
    if (deserves_another_try(ending)) {
        again.fresh = true;
        ss_queue_again(&e->queue, &again);
    } else if (ending->phase == SS_PHASE_REFERENCE) { // not the method's fault
        again.plain = again.fresh = true;
        ss_queue_again(&e->queue, &again);
    } else if (began_to_solve(ending)) {
        return store_end(e, task, ending, err);
    } else {
        cannot_run(e, task, SS_ERROR_INPUT, ending->message);
    }
    return true;
}

static bool run_done(void *context, const ss_task *task, const ss_ending *ending, const char *reply,
                     size_t size, ss_error *err)
{
    ss_execution *e = context;
    ss_unpacker from = {reply, reply + size, false};
    ss_run_entry run;
    ss_error why;
    if (!ending->replied) return take_end(e, task, ending, err);
    if (!ss_reply_unpack(&from, &why)) {
        cannot_run(e, task, why.code, why.message);
        return true;
    }
    if (!ss_record_unpack(&from, &run)) {
        ss_ending nonsense = *ending;
        nonsense.outcome = SS_OUTCOME_BROKEN;
        nonsense.phase = SS_PHASE_SOLVING;
        memcpy(nonsense.message, "invalid reply from its process", sizeof "invalid reply from its process");
        return store_end(e, task, &nonsense, err);
    }
    bool good = store(e, task, ending, &run, err);
    ss_record_clear(&run);
    return good;
}

bool ss_execution_solve(ss_execution *e, ss_error *err)
{
    ss_campaign_stage stage = {"solving", e->campaign->jobs, -1, group_of_run, run_done};
    if (ss_execution_interrupted(e)) return true;
    double began = ss_clock_seconds();
    if (!for_every_run(e, queue_run, err)) return false;
    if (e->queue.count > 0 && e->summary->before > 0)
        ss_execution_say(e, "%d of %d runs are already in the ledger", e->summary->before, e->summary->runs);
    bool good = ss_execution_stage(e, &stage, err);
    e->summary->solving_time = ss_clock_seconds() - began;
    return good;
}

/* ---- timing -------------------------------------------------------------------------------------- */

/* Only runs that came to an end of their own are worth it. */
static bool is_worth_timing(ss_outcome outcome)
{
    return !is_failure(outcome) && outcome != (ss_outcome)SS_NOT_APPLICABLE &&
           outcome != (ss_outcome)SS_CANCELLED;
}

static bool queue_time(ss_execution *e, int problem, int method, ss_error *err)
{
    ss_outcome outcome = SS_OUTCOME_COUNT;
    int samples = look_up(e, problem, method, &outcome, err);
    if (samples < -1) return false;
    int missing = e->campaign->options.repeats - samples;
    if (samples >= 0 && missing > 0 && is_worth_timing(outcome))
        ss_queue_add(
            &e->queue, problem,
            &(ss_task){.kind = SS_TASK_TIME, .problem = problem, .method = method, .count = missing});
    return true;
}

static bool unpack_samples(ss_unpacker *from, int expected, double *samples, bool *steady)
{
    if (ss_unpack_within(from, expected, expected) != expected || from->bad) return false;
    for (int i = 0; i < expected; i++) samples[i] = ss_unpack_real(from);
    *steady = ss_unpack_within(from, 0, 1);
    return !from->bad && from->at == from->end;
}

static bool time_done(void *context, const ss_task *task, const ss_ending *ending, const char *reply,
                      size_t size, ss_error *err)
{
    ss_execution *e = context;
    ss_unpacker from = {reply, reply + size, false};
    ss_error why;
    bool steady = true;
    if (deserves_another_try(ending)) return take_end(e, task, ending, err);
    if (!ending->replied) {
        cannot_run(e, task, SS_ERROR_RESOURCES, ending->message);
        return true;
    }
    if (!ss_reply_unpack(&from, &why)) {
        cannot_run(e, task, why.code, why.message);
        return true;
    }
    double *samples = ss_allocate((size_t)task->count, sizeof *samples);
    bool good = samples || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for samples");
    if (good && unpack_samples(&from, task->count, samples, &steady)) {
        good = ss_ledger_add_samples(e->ledger, e->plan.problems[task->problem].entry.id,
                                     e->plan.methods[task->method].entry.id, e->machine.id, samples,
                                     task->count, steady, err);
        e->done++;
        e->summary->samples++;
    } else if (good) {
        cannot_run(e, task, SS_ERROR_RESOURCES, "invalid reply from its process");
    }
    ss_release(samples);
    return good;
}

bool ss_execution_time(ss_execution *e, ss_error *err)
{
    ss_campaign_stage stage = {"timing", 1, ss_quiet_core(), group_of_run, time_done};
    if (ss_execution_interrupted(e) || e->campaign->options.repeats < 1) return true;
    return for_every_run(e, queue_time, err) && ss_execution_stage(e, &stage, err);
}
