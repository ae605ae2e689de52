/* The stage of a campaign that judges the answers found in the files. Every stored result, by its name and
 * its rules, is a method; which there are is known only when a frame has been read, so that methods are
 * entered as they turn up. */
#include "campaign/execute_internal.h"

#include "campaign/record.h"

#include <string.h>

/* What cannot be judged is named; the other answers of the frame are taken all the same. */
static void cannot_judge(ss_execution *e, const ss_task *task, ss_error_code code, const char *why)
{
    const ss_problem_entry *problem = &e->plan.problems[task->problem].entry;
    ss_execution_complain(e, code, "%s: %s: cannot judge stored answer %d: %s", problem->file, problem->place,
                          task->count, why);
}

/* Into the ledger, unless another shard has it or it is there already. */
static bool store(ss_execution *e, const ss_task *task, ss_method_entry *method, bool assumed,
                  const char *started, ss_run_entry *run, ss_error *err)
{
    const ss_problem_entry *problem = &e->plan.problems[task->problem].entry;
    if (!ss_ledger_method(e->ledger, method, err)) return false;
    if (!ss_shard_has(e->campaign->shard, e->campaign->shards, problem, method)) return true;
    ss_known_run known;
    if (!ss_execution_know(e, problem->id, method->id, &known, err)) return false;
    e->summary->runs++;
    e->summary->recorded++;
    e->summary->assumed += assumed;
    e->summary->outdated += known.outdated;
    e->summary->outcomes[run->outcome]++;
    if (known.samples >= 0) {
        e->summary->before++;
        return true;
    }

    e->summary->done++;
    run->problem_id = problem->id;
    run->method_id = method->id;
    run->started = ss_text_copy(started);
    if (assumed && !run->message) run->message = ss_text_copy(SS_RULES_ASSUMED);
    return ss_execution_add(e, run, err);
}

static bool take_answer(ss_execution *e, const ss_task *task, const ss_ending *ending, ss_unpacker *from,
                        ss_error *err)
{
    ss_run_entry run = {0};
    char *fault = ss_unpack_text(from);
    if (fault) {
        cannot_judge(e, task, SS_ERROR_INPUT, fault);
        ss_release(fault);
        return true;
    }

    ss_method_entry method = {.set = (char *)"",
                              .plugin = (char *)"",
                              .plugin_file = (char *)"",
                              .stop = (char *)SS_METHOD_RECORDED,
                              .keep = (char *)"",
                              .reference = (char *)""};
    method.solver = ss_unpack_text(from);
    method.formulation = ss_unpack_text(from);
    method.with = ss_unpack_text(from);

    bool assumed = ss_unpack_within(from, 0, 1), good = true;
    if (method.solver && method.formulation && method.with && ss_record_unpack(from, &run))
        good = store(e, task, &method, assumed, ending->started, &run, err);
    else
        cannot_judge(e, task, SS_ERROR_RESOURCES, "invalid reply from its process");
    ss_record_clear(&run);
    ss_release(method.solver);
    ss_release(method.formulation);
    ss_release(method.with);
    return good;
}

/* The first answer of a frame comes with the number of them: then the others are asked for. */
static bool answer_done(void *context, const ss_task *task, const ss_ending *ending, const char *reply,
                        size_t size, ss_error *err)
{
    ss_execution *e = context;
    ss_unpacker from = {reply, reply + size, false};
    ss_task next = *task;
    ss_error why;
    if (!ending->replied && !ending->fresh) { // the one before may have done the damage
        next.fresh = true;
        ss_queue_again(&e->queue, &next);
        return true;
    }
    e->done++;
    if (!ending->replied) {
        cannot_judge(e, task, SS_ERROR_INPUT, ending->message);
        return true;
    }

    bool good = true, read = ss_reply_unpack(&from, &why);
    int count = read ? ss_unpack_within(&from, 0, INT32_MAX) : 0;
    if (!read) cannot_judge(e, task, why.code, why.message);
    if (task->count < count) good = take_answer(e, task, ending, &from, err);
    next.fresh = false;
    for (next.count = 1; task->count == 0 && next.count < count; next.count++) {
        ss_queue_again(&e->queue, &next);
        e->total++;
    }
    return good;
}

bool ss_execution_judge_recorded(ss_execution *e, ss_error *err)
{
    ss_campaign_stage stage = {
        .doing = "judging stored answers", .workers = e->campaign->jobs, .core = -1, .done = answer_done};
    if (ss_execution_interrupted(e) || !e->campaign->options.recorded) return true;
    for (int p = 0; p < e->plan.problem_count; p++) {
        const ss_planned_problem *problem = &e->plan.problems[p];
        if (problem->index >= 0 && !problem->entry.fault)
            ss_queue_add(&e->queue, p, &(ss_task){.kind = SS_TASK_RECORDED, .problem = p});
    }

    int outdated = e->summary->outdated;
    if (!ss_execution_stage(e, &stage, err)) return false;
    ss_execution_warn_of_builds(e, e->summary->outdated - outdated);
    if (ss_execution_interrupted(e)) return true;
    if (e->summary->recorded == 0)
        ss_execution_say(e, "no answers are stored in the files");
    else if (e->summary->assumed > 0)
        ss_execution_say(
            e,
            "%d of %d stored answers do not say how gaps and joint errors were treated: the "
            "defaults of cone are assumed; stickslip judge shows what other treatments would give",
            e->summary->assumed, e->summary->recorded);
    return true;
}
