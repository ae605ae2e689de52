#include "campaign/execute_internal.h"

#include "campaign/inspect.h"
#include "campaign/machine.h"

#include <stdio.h>
#include <string.h>

#define COMPLAINTS_TOLD 10

/* Patience with a solver, s: its own limit counts solving alone, so measuring must fit in as well. */
#define SOFT_FACTOR 2.0
#define SOFT_EXTRA 1.0
#define HARD_EXTRA 2.0
/* ... with everything that is not a solver under test. Judging takes a second where there are a hundred
 * thousand contacts. */
#define IDLE_PATIENCE 120.0
#define JUDGING_PATIENCE 120.0
#define WORK_PATIENCE 1200.0
#define REFERENCE_PATIENCE 120.0

/* ---- talk ---------------------------------------------------------------------------------------- */

bool ss_execution_interrupted(const ss_execution *e)
{
    return e->hooks->stop && *e->hooks->stop;
}

void ss_execution_say(const ss_execution *e, const char *format, ...)
{
    char line[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (e->hooks->say) e->hooks->say(e->hooks->context, line);
}

void ss_execution_complain(ss_execution *e, ss_error_code code, const char *format, ...)
{
    char line[1200];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    int exit_code = ss_error_exit_code(code);
    if (exit_code > e->summary->exit_code) e->summary->exit_code = exit_code;
    if (e->complaints == COMPLAINTS_TOLD) snprintf(line, sizeof line, "... and more like these");
    if (e->complaints++ <= COMPLAINTS_TOLD && e->hooks->complain) e->hooks->complain(e->hooks->context, line);
}

/* ---- runs of other builds ------------------------------------------------------------------------ */

bool ss_execution_know(const ss_execution *e, int64_t problem_id, int64_t method_id, ss_known_run *known,
                       ss_error *err)
{
    if (!ss_ledger_know(e->ledger, problem_id, method_id, e->machine.id, known, err)) return false;
    if (e->campaign->redo_outdated && known->outdated) known->samples = -1;
    return true;
}

bool ss_execution_add(const ss_execution *e, ss_run_entry *run, ss_error *err)
{
    run->machine_id = e->machine.id;
    snprintf(run->source, sizeof run->source, "%s", ss_source_digest());
    return (e->campaign->redo_outdated ? ss_ledger_replace : ss_ledger_add)(e->ledger, run, err);
}

void ss_execution_warn_of_builds(const ss_execution *e, int count)
{
    if (count == 0 || !e->hooks->complain) return;
    const char *fate = e->campaign->redo_outdated ? "made again"
                       : e->campaign->options.repeats > 0
                           ? "kept, but not timed; --redo-outdated repeats them"
                           : "kept; --redo-outdated repeats them";
    char line[300];
    snprintf(line, sizeof line,
             "%d run%s in the ledger %s made by another build of stickslip (this is source %.*s): %s", count,
             count == 1 ? "" : "s", count == 1 ? "was" : "were", SS_SOURCE_DIGITS, ss_source_digest(), fate);
    e->hooks->complain(e->hooks->context, line);
}

/* ---- a stage ------------------------------------------------------------------------------------- */

typedef struct going { /* on */
    ss_execution *execution;
    const ss_campaign_stage *stage;
} going;

static void *begin_worker(void *context, ss_worker *worker)
{
    return ss_worker_tasks_begin(&((going *)context)->execution->plan, worker);
}

static bool next_task(void *context, const ss_task *last, ss_task *task)
{
    going *g = context;
    if (!ss_queue_take(&g->execution->queue, last, task)) return false;
    ss_execution_begin_chain(g->execution, task);
    return true;
}

static bool task_done(void *context, const ss_task *task, const ss_ending *ending, const char *reply,
                      size_t size, ss_error *err)
{
    going *g = context;
    return g->stage->done(g->execution, task, ending, reply, size, err);
}

static void stage_idle(void *context)
{
    const ss_execution *e = ((going *)context)->execution;
    ss_campaign_state state = {.doing = e->doing,
                               .done = e->done,
                               .total = e->total,
                               .failures = e->failures,
                               .seconds = ss_clock_seconds() - e->began};
    if (e->hooks->progress) e->hooks->progress(e->hooks->context, &state);
    if (e->claim) ss_claim_tick(e->claim);
}

ss_patience ss_execution_patience(const ss_execution *e, double limit)
{
    double grace = e->campaign->options.grace, soft = SOFT_FACTOR * limit + SOFT_EXTRA;
    if (!(limit > 0.0)) return (ss_patience){0};
    if (grace > 0.0) return (ss_patience){limit + 0.5 * grace, limit + grace};
    return (ss_patience){soft, soft + limit + HARD_EXTRA};
}

bool ss_execution_stage(ss_execution *e, const ss_campaign_stage *stage, ss_error *err)
{
    going g = {e, stage};
    ss_pool pool = {.workers = stage->workers,
                    .core = stage->core,
                    .max_megabytes = e->campaign->options.max_memory,
                    .stop = e->hooks->stop,
                    .context = &g,
                    .begin = begin_worker,
                    .work = ss_worker_tasks_do,
                    .next = next_task,
                    .done = task_done,
                    .idle = stage_idle};
    if (e->queue.out_of_memory) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for tasks");
    if (pool.workers > e->queue.count) pool.workers = e->queue.count;
    if (pool.workers < 1) pool.workers = 1;
    pool.by_processor = e->campaign->options.clock == SS_COUNT_PROCESSOR_TIME;

    // Patience while solving comes with the task, since it depends on the limit of the run.
    pool.patience[SS_PHASE_IDLE].hard = pool.patience[SS_PHASE_REPLYING].hard = IDLE_PATIENCE;
    pool.patience[SS_PHASE_JUDGING].hard = JUDGING_PATIENCE;
    pool.patience[SS_PHASE_READING].hard = WORK_PATIENCE;
    pool.patience[SS_PHASE_REFERENCE] = (ss_patience){REFERENCE_PATIENCE, WORK_PATIENCE};

    // `done` may add to the queue while the pool runs, and find no memory for it.
    e->doing = stage->doing;
    if (!stage->is_part) e->done = 0, e->total = e->queue.count, e->began = ss_clock_seconds();
    bool good = ss_pool_run(&pool, err);
    if (good && e->queue.out_of_memory) good = ss_fail(err, SS_ERROR_RESOURCES, "out of memory for tasks");
    ss_queue_free(&e->queue);
    return good;
}

/* ---- all of it ----------------------------------------------------------------------------------- */

bool ss_campaign_execute(ss_campaign *campaign, ss_ledger *ledger, const ss_campaign_hooks *hooks,
                         ss_campaign_summary *summary, ss_error *err)
{
    const ss_campaign_options *options = &campaign->options;
    ss_execution e = {.campaign = campaign, .ledger = ledger, .hooks = hooks, .summary = summary};
    *summary = (ss_campaign_summary){0};
    e.plan = (ss_plan){.campaign = campaign,
                       .request = {.iterations = options->iterations > 0 ? options->iterations : -1,
                                   .keep = options->keep,
                                   .seed = options->seed,
                                   .peg = options->peg}};
    if (campaign->jobs < 1) campaign->jobs = ss_core_count();

    // The stages, each of which needs what the one before found; an interruption ends them early.
    bool good = ss_campaign_limit_rule(campaign, &e.limit_rule, err) && ss_machine_here(&e.machine, err) &&
                ss_ledger_machine(ledger, &e.machine, err) && ss_execution_find_methods(&e, err) &&
                ss_ledger_note_campaign(ledger, campaign->text, e.machine.id, err) &&
                (campaign->claim ? ss_execution_claim(&e, err)
                                 : ss_execution_find_problems(&e, err) && ss_execution_solve(&e, err)) &&
                ss_execution_judge_recorded(&e, err) && ss_execution_time(&e, err);
    summary->interrupted = ss_execution_interrupted(&e);

    for (int i = 0; i < e.plan.problem_count; i++) ss_problem_entry_clear(&e.plan.problems[i].entry);
    for (int i = 0; i < e.plan.method_count; i++) {
        ss_release(e.plan.methods[i].entry.with);
        ss_release(e.plan.methods[i].entry.set);
    }
    for (int i = 0; i < e.catalogue.count; i++) {
        ss_release(e.catalogue.entries[i].name);
        ss_release(e.catalogue.entries[i].accepts);
    }
    for (int i = 0; e.contents && i < campaign->source_count; i++) ss_release(e.contents[i].fault);
    ss_release(e.catalogue.entries);
    ss_release(e.plan.problems);
    ss_release(e.plan.methods);
    ss_release(e.plugin_digests);
    ss_release(e.contents);
    ss_release(e.opened);
    ss_deal_free(&e.deal);
    ss_release(e.chain_begin);
    ss_machine_clear(&e.machine);
    return good;
}
