/* The last stages of a campaign: solving in parallel, then timing alone. */
#include "campaign/execute_internal.h"

#include "base/number.h"
#include "campaign/machine.h"
#include "campaign/record.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool is_failure(ss_outcome outcome)
{
    return outcome > SS_OUTCOME_LAST_STATUS;
}

/* ---- the matrix ---------------------------------------------------------------------------------- */

/* Does the run belong to this shard? */
static bool is_ours(const ss_execution *e, int problem, int method)
{
    if (e->plan.problems[problem].entry.fault) return false;
    if (e->claim) return e->handed[(int64_t)problem * e->plan.method_count + method] >= 0;
    return e->campaign->shards == 1 || ss_deal_shard(&e->deal, problem, method) == e->campaign->shard - 1;
}

/* Calls `visit` for every run of the matrix: first those that start from each other, chain by chain, because
 * no two of a chain can be made at the same time; then the others, problem by problem, with chain = -1. */
static bool for_every_run(ss_execution *e,
                          bool (*visit)(ss_execution *, int problem, int method, int chain, ss_error *),
                          ss_error *err)
{
    int chain = -1;
    for (int m = 0; m < e->plan.method_count; m++) {
        if (e->plan.methods[m].start != SS_START_OWN) continue;
        for (int p = 0; p < e->plan.problem_count; p++) {
            if (p == 0 || !e->plan.problems[p].follows) chain++;
            if (is_ours(e, p, m) && !visit(e, p, m, chain, err)) return false;
        }
    }

    for (int p = 0; p < e->plan.problem_count; p++)
        for (int m = 0; m < e->plan.method_count; m++)
            if (e->plan.methods[m].start != SS_START_OWN && is_ours(e, p, m) && !visit(e, p, m, -1, err))
                return false;
    return true;
}

/* Has a run left an answer that the next one of its chain can start from? */
static bool has_answer(const ss_known_run *known)
{
    return isfinite(known->seconds);
}

/* The chain of a task goes on after it, from zero. */
static void break_chain(ss_execution *e, const ss_task *task)
{
    int chain = task->group - e->plan.problem_count;
    if (e->chain_begin && chain >= 0 && chain < e->chain_count) e->chain_begin[chain] = task->problem + 1;
}

void ss_execution_begin_chain(const ss_execution *e, ss_task *task)
{
    int chain = task->group - e->plan.problem_count;
    if (!e->chain_begin || chain < 0 || chain >= e->chain_count) return;
    int begin = e->chain_begin[chain]; // may have moved since the task came into the queue
    if (begin > task->begin && begin <= task->problem) task->begin = begin;
}

static bool look_up(ss_execution *e, int problem, int method, ss_known_run *known, ss_error *err)
{
    return ss_execution_know(e, e->plan.problems[problem].entry.id, e->plan.methods[method].entry.id, known,
                             err);
}

/* The time that a run may take, s: that of the campaign, or what follows from the longest run of the solver
 * that sets the limits. */
static bool find_limit(ss_execution *e, int problem, int method, double *limit, ss_error *err)
{
    double longest = NAN;
    *limit = e->campaign->options.time_limit;
    if (!e->limit_rule.solver || ss_execution_sets_limits(e, &e->plan.methods[method])) return true;
    for (int m = 0; m < e->plan.method_count; m++) {
        ss_known_run known;
        if (!ss_execution_sets_limits(e, &e->plan.methods[m])) continue;
        if (!look_up(e, problem, m, &known, err)) return false;
        if (known.samples >= 0) longest = fmax(longest, known.seconds); // fmax: a number before NaN
    }
    *limit = ss_limit_rule_apply(&e->limit_rule, longest);
    return true;
}

/* ---- solving ------------------------------------------------------------------------------------- */

static bool store(ss_execution *e, const ss_task *task, const ss_ending *ending, ss_run_entry *run,
                  ss_error *err)
{
    run->problem_id = e->plan.problems[task->problem].entry.id;
    run->method_id = e->plan.methods[task->method].entry.id;
    run->started = ss_text_copy(ending->started);
    run->time_limit = task->limit;
    e->done++;
    e->summary->done++;
    e->summary->outcomes[run->outcome]++;
    e->failures += is_failure(run->outcome);
    ss_ledger_tell(e->ledger, e->summary->before + e->summary->done, e->summary->runs);
    if (!ss_execution_add(e, run, err)) return false;
    if (e->claim)
        ss_claim_done(e->claim, e->handed[(int64_t)task->problem * e->plan.method_count + task->method]);
    return true;
}

static bool store_end(ss_execution *e, const ss_task *task, const ss_ending *ending, ss_error *err)
{
    ss_text message = {0};
    ss_text_append(&message, ending->message);
    if (ending->phase == SS_PHASE_JUDGING) ss_text_append(&message, ", while its answer was judged");
    ss_run_entry run = {.outcome = ending->outcome,
                        .message = ss_text_copy(ss_text_get(&message)),
                        .seconds = NAN,
                        .elapsed = NAN,
                        .memory = NAN,
                        .steady = true};
    for (int g = 0; g < SS_GAUGE_COUNT; g++) run.gauge[g] = NAN;
    break_chain(e, task);
    bool good = store(e, task, ending, &run, err);
    ss_text_free(&message);
    ss_record_clear(&run);
    return good;
}

/* A row that needs no worker. */
static bool store_unrun(ss_execution *e, const ss_task *task, ss_outcome outcome, const char *why,
                        ss_error *err)
{
    ss_ending ending = {.outcome = outcome, .phase = SS_PHASE_SOLVING};
    snprintf(ending.message, sizeof ending.message, "%s", why);
    ss_pool_time(ending.started);
    return store_end(e, task, &ending, err);
}

/* On a ladder, a method whose time was not enough for an easier rule is not asked for more: finds that run.
 * NULL: there is none. */
static bool find_failed_rung(ss_execution *e, int problem, int method, ss_known_run *known,
                             const ss_method_entry **rung, ss_error *err)
{
    const ss_method_entry *own = &e->plan.methods[method].entry;
    *rung = NULL;
    for (int m = 0; m < e->plan.method_count && !*rung; m++) {
        // The same method, whose stop rule is about the same thing with a larger number: METRIC<VALUE.
        const ss_method_entry *other = &e->plan.methods[m].entry;
        size_t length = strcspn(other->stop, "<");
        double easy, hard;
        bool below = other->stop[length] == '<' && strncmp(other->stop, own->stop, length + 1) == 0 &&
                     ss_number_read(other->stop + length + 1, &easy) &&
                     ss_number_read(own->stop + length + 1, &hard) && easy > hard;
        below = below && strcmp(other->solver, own->solver) == 0 && strcmp(other->set, own->set) == 0 &&
                strcmp(other->formulation, own->formulation) == 0 && strcmp(other->with, own->with) == 0;
        if (!below) continue;

        if (!look_up(e, problem, m, known, err)) return false;
        bool too_slow = known->outcome == SS_OUTCOME_HUNG || known->outcome == (ss_outcome)SS_TIME_LIMIT;
        if (known->samples >= 0 && too_slow) *rung = other;
    }
    return true;
}

/* Which runs of the matrix are there already. */
static bool count_run(ss_execution *e, int problem, int method, int chain, ss_error *err)
{
    ss_known_run known;
    (void)chain;
    if (!look_up(e, problem, method, &known, err)) return false;
    e->summary->runs++;
    e->summary->outdated += known.outdated;
    if (known.samples < 0) return true;
    e->summary->before++;
    e->summary->outcomes[known.outcome]++;
    return true;
}

/* Those of the pass that is going on: of one stop rule, and of the solver that sets the limits or the
 * others. */
static bool queue_run(ss_execution *e, int problem, int method, int chain, ss_error *err)
{
    ss_task task = {.kind = SS_TASK_RUN, .problem = problem, .method = method, .group = problem};
    const ss_planned_method *planned = &e->plan.methods[method];
    const ss_method_entry *rung;
    ss_known_run known;
    if (ss_execution_sets_limits(e, planned) != e->sets_limits || strcmp(planned->stop, e->rung) != 0)
        return true;
    if (!look_up(e, problem, method, &known, err)) return false;
    if (chain >= 0) task.group = e->plan.problem_count + chain;
    if (chain >= 0 && !e->plan.problems[problem].follows) e->chain_begin[chain] = problem;
    if (chain >= 0) task.begin = e->chain_begin[chain];
    if (known.samples >= 0 && !has_answer(&known)) break_chain(e, &task);
    if (known.samples >= 0) return true;
    if (!find_limit(e, problem, method, &task.limit, err)) return false;
    task.patience = ss_execution_patience(e, task.limit);

    // Problems of FCLIB stand alone, and are cones already: there is no frame for another formulation.
    if (e->plan.problems[problem].index < 0 && planned->start != SS_START_COLD)
        return store_unrun(e, &task, (ss_outcome)SS_NOT_APPLICABLE,
                           "an FCLIB problem has no frame before it to start from", err);
    if (e->plan.problems[problem].index < 0 && strcmp(planned->formulation, "cone") != 0)
        return store_unrun(e, &task, (ss_outcome)SS_NOT_APPLICABLE,
                           "an FCLIB problem can only be solved as cone", err);

    if (!find_failed_rung(e, problem, method, &known, &rung, err)) return false;
    if (rung) {
        char why[200];
        snprintf(why, sizeof why, "not run: %s with %s already", ss_outcome_name(known.outcome), rung->stop);
        return store_unrun(e, &task, known.outcome, why, err);
    }
    (chain >= 0 ? ss_queue_add_link : ss_queue_add)(&e->queue, task.group, &task);
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

/* A task without a reply: tried again, stored as an outcome, or reported. */
static bool take_end(ss_execution *e, const ss_task *task, const ss_ending *ending, ss_error *err)
{
    // Nonsense in the pipe may be found late, or early: it counts as the solver's whenever it is found.
    bool began_to_solve = ending->phase == SS_PHASE_SOLVING || ending->phase == SS_PHASE_JUDGING ||
                          ending->phase == SS_PHASE_REPLYING || ending->outcome == SS_OUTCOME_BROKEN;
    ss_task again = *task;
    if (deserves_another_try(ending)) {
        again.fresh = true;
        ss_queue_again(&e->queue, &again);
    } else if (ending->phase == SS_PHASE_REFERENCE) { // not the method's fault
        again.plain = again.fresh = true;
        ss_queue_again(&e->queue, &again);
    } else if (began_to_solve) {
        ss_queue_give_up(&e->queue, task);
        return store_end(e, task, ending, err);
    } else {
        ss_queue_give_up(&e->queue, task);
        break_chain(e, task);
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

bool ss_execution_solve_planned(ss_execution *e, ss_error *err)
{
    ss_campaign_stage stage = {
        .doing = "solving", .workers = e->campaign->jobs, .core = -1, .done = run_done, .is_part = true};
    int rungs = 0;
    const char **stops = ss_campaign_stops(e->campaign, &rungs, err);
    if (!stops) return false;
    double began = ss_clock_seconds();
    e->chain_count = 0;
    for (int m = 0; m < e->plan.method_count; m++)
        for (int p = 0; p < e->plan.problem_count && e->plan.methods[m].start == SS_START_OWN; p++)
            e->chain_count += p == 0 || !e->plan.problems[p].follows;
    ss_release(e->chain_begin); // of runs that were handed out before
    e->chain_begin = ss_allocate((size_t)e->chain_count, sizeof *e->chain_begin);
    if (!e->chain_begin) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for starts");
    if (!for_every_run(e, count_run, err)) return false;
    if (e->summary->before > 0 && e->summary->before < e->summary->runs)
        ss_execution_say(e, "%d of %d runs are already in the ledger", e->summary->before, e->summary->runs);
    if (!e->claim) ss_execution_warn_of_builds(e, e->summary->outdated); // handed out is what no ledger has

    // The solver that sets the limits runs first; rules come in the order in which they were given.
    e->done = 0;
    e->total = e->summary->runs - e->summary->before - e->summary->done;
    e->began = began;
    for (int pass = e->limit_rule.solver ? 0 : 1; pass < 2; pass++) {
        e->sets_limits = pass == 0;
        for (int i = 0; i < rungs && !ss_execution_interrupted(e); i++) {
            e->rung = stops[i];
            if (!for_every_run(e, queue_run, err) || !ss_execution_stage(e, &stage, err)) return false;
        }
    }
    e->summary->solving_time += ss_clock_seconds() - began;
    return true;
}

bool ss_execution_solve(ss_execution *e, ss_error *err)
{
    if (ss_execution_interrupted(e)) return true;
    if (e->campaign->shards > 1) {
        size_t height = (size_t)e->plan.problem_count, width = (size_t)e->plan.method_count;
        const ss_problem_entry **problems = ss_allocate(height, sizeof *problems);
        const ss_method_entry **methods = ss_allocate(width, sizeof *methods);
        for (size_t i = 0; problems && i < height; i++) problems[i] = &e->plan.problems[i].entry;
        for (size_t i = 0; methods && i < width; i++) methods[i] = &e->plan.methods[i].entry;
        bool good = problems && methods ? ss_deal_make(&e->deal, problems, (int)height, methods, (int)width,
                                                       e->campaign->shards, err)
                                        : ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the shards");
        ss_release(problems);
        ss_release(methods);
        if (!good) return false;
    }
    return ss_execution_solve_planned(e, err);
}

/* ---- timing -------------------------------------------------------------------------------------- */

/* Times of a run that was repeated, or how its repetition ended. */
static bool time_done(void *context, const ss_task *task, const ss_ending *ending, const char *reply,
                      size_t size, ss_error *err)
{
    ss_execution *e = context;
    ss_unpacker from = {reply, reply + size, false};
    ss_error why;
    if (deserves_another_try(ending)) return take_end(e, task, ending, err);
    if (!ending->replied) { // the method's doing, not the campaign's: the run stands, without times
        const ss_problem_entry *problem = &e->plan.problems[task->problem].entry;
        ss_execution_say(e, "%s: %s: no times of %s: %s", problem->file, problem->place,
                         e->plan.methods[task->method].solver, ending->message);
        e->done++;
        return true;
    }
    if (!ss_reply_unpack(&from, &why)) {
        cannot_run(e, task, why.code, why.message);
        return true;
    }
    ss_sample *samples = ss_allocate((size_t)task->count, sizeof *samples);
    if (!samples) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for samples");

    int count = ss_unpack_within(&from, task->count, task->count);
    for (int i = 0; i < count && !from.bad; i++) {
        samples[i].seconds = ss_unpack_real(&from);
        samples[i].elapsed = ss_unpack_real(&from);
    }
    bool steady = ss_unpack_within(&from, 0, 1), good = true;
    if (count == task->count && !from.bad && from.at == from.end) {
        good = ss_ledger_add_samples(e->ledger, e->plan.problems[task->problem].entry.id,
                                     e->plan.methods[task->method].entry.id, e->machine.id, samples,
                                     task->count, steady, err);
        e->done++;
        e->summary->samples++;
    } else {
        cannot_run(e, task, SS_ERROR_RESOURCES, "invalid reply from its process");
    }
    ss_release(samples);
    return good;
}

/* Adds the repetitions of one problem's runs to the queue; `known` has room for every method, and `begin` is
 * for each the first problem whose answer leads to this one. */
static bool queue_times(ss_execution *e, int problem, ss_known_run *known, int *begin, ss_error *err)
{
    const ss_planned_method *methods = e->plan.methods;
    const ss_campaign_options *options = &e->campaign->options;
    for (int m = 0; m < e->plan.method_count; m++) {
        known[m].samples = -1;
        if (is_ours(e, problem, m) && !look_up(e, problem, m, &known[m], err)) return false;
        if (!e->plan.problems[problem].follows) begin[m] = problem;
    }

    for (int m = 0; m < e->plan.method_count; m++) {
        // Only runs that came to an end of their own are worth it; times of another build are not theirs.
        ss_outcome outcome = known[m].outcome;
        int missing = options->repeats - known[m].samples;
        if (known[m].samples < 0 || known[m].outdated || missing < 1 || is_failure(outcome) ||
            outcome == (ss_outcome)SS_NOT_APPLICABLE || outcome == (ss_outcome)SS_CANCELLED)
            continue;

        // With repeat_best, only the fastest of the methods of one solver with the same stop rule.
        int faster = 0;
        for (int k = 0; k < e->plan.method_count && options->repeat_best > 0; k++) {
            bool rival = k != m && known[k].samples >= 0 && known[k].outcome == (ss_outcome)SS_CONVERGED &&
                         strcmp(methods[k].solver, methods[m].solver) == 0 &&
                         strcmp(methods[k].stop, methods[m].stop) == 0;
            bool tie = known[k].seconds == known[m].seconds && k < m;
            faster += rival && (known[k].seconds < known[m].seconds || tie);
        }
        if (options->repeat_best > 0 &&
            (outcome != (ss_outcome)SS_CONVERGED || faster >= options->repeat_best))
            continue;

        ss_task task = {
            .kind = SS_TASK_TIME, .problem = problem, .method = m, .count = missing, .begin = begin[m]};
        if (!find_limit(e, problem, m, &task.limit, err)) return false;
        task.patience = ss_execution_patience(e, task.limit);
        ss_queue_add(&e->queue, problem, &task);
    }
    for (int m = 0; m < e->plan.method_count; m++)
        if (known[m].samples < 0 || !has_answer(&known[m])) begin[m] = problem + 1;
    return true;
}

bool ss_execution_time(ss_execution *e, ss_error *err)
{
    ss_campaign_stage stage = {.doing = "timing", .workers = 1, .core = ss_quiet_core(), .done = time_done};
    if (ss_execution_interrupted(e) || e->campaign->options.repeats < 1) return true;
    ss_release(e->chain_begin); // what is timed comes one after the other
    e->chain_begin = NULL;
    ss_known_run *known = ss_allocate((size_t)e->plan.method_count, sizeof *known);
    int *begin = ss_allocate((size_t)e->plan.method_count, sizeof *begin);
    bool good = (known && begin) || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for times");
    for (int p = 0; p < e->plan.problem_count && good; p++) good = queue_times(e, p, known, begin, err);
    ss_release(known);
    ss_release(begin);
    return good && ss_execution_stage(e, &stage, err);
}
