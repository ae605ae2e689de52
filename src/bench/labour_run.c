/* Workers solving: one run with everything that is kept of it, or repeats for their times alone. */
#include "bench/labour.h"
#include "bench/record.h"

#include <math.h>
#include <string.h>

/* The problem as the method sees it. It is made anew for every run: what one solver adds to a problem, its matrix for
 * instance, would change the rounding of the next. */
static bool assemble(ss_labour *labour, const ss_method *method, ss_trial *trial, ss_error *err)
{
    trial->problem =
        labour->frame ? method->formulation->assemble(labour->frame, method->formulation_options, NULL, err)
                      : labour->lawful;
    if (!trial->problem) return false;
    trial->x = ss_allocate((size_t)trial->problem->size, sizeof *trial->x);
    return trial->x ||
           ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d unknowns", trial->problem->size);
}

static void dismantle(ss_labour *labour, ss_trial *trial)
{
    if (!labour->frame) trial->problem = NULL; // it stays
    ss_trial_free(trial);
}

/* The one of the step before last is not kept: methods come sorted by formulation. */
static bool find_truth(ss_labour *labour, const ss_method *method, ss_error *err)
{
    const ss_step_options *step = method->formulation_options;
    if (labour->has_truth && memcmp(&labour->truth_step, step, sizeof *step) == 0) return true;
    if (labour->has_truth) ss_truth_free(&labour->truth);
    labour->has_truth = false;
    ss_worker_phase(labour->worker, SS_PHASE_REFERENCE);
    if (!ss_truth_find(method, labour->frame, ss_worker_cancel(labour->worker), &labour->truth, err))
        return false;
    labour->has_truth = true;
    memcpy(&labour->truth_step, step, sizeof *step); // with its padding
    return true;
}

static bool judge(ss_labour *labour, const ss_method *method, bool plain, ss_trial *trial, ss_error *err)
{
    static const ss_truth unknown = {0};
    bool wanted = method->reference && labour->frame && !trial->refusal;
    if (wanted && !plain && !find_truth(labour, method, err)) return false;
    ss_worker_phase(labour->worker, SS_PHASE_JUDGING);
    return ss_trial_judge(method, labour->frame,
                          !wanted ? NULL
                          : plain ? &unknown
                                  : &labour->truth,
                          trial, err);
}

static bool solve(ss_labour *labour, const ss_method *method, ss_trial *trial, ss_error *err)
{
    ss_worker_phase(labour->worker, SS_PHASE_SOLVING);
    return ss_trial_solve(method, labour->frame, ss_worker_cancel(labour->worker), trial, err);
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

static bool make_record(ss_labour *labour, const ss_task *task, const ss_method *method, ss_trial *trial,
                        ss_run_entry *run, ss_error *why)
{
    return assemble(labour, method, trial, why) && solve(labour, method, trial, why) &&
           judge(labour, method, task->plain, trial, why) && ss_record_make(trial, run, why) &&
           (settle_outcome(run) || ss_fail(why, SS_ERROR_RESOURCES, "out of memory for a record"));
}

/* A file that changed under us must not be taken for the one that was surveyed. */
static bool load(ss_labour *labour, int problem, ss_error *err)
{
    const ss_problem_entry *entry = &labour->plan->problems[problem].entry;
    if (!ss_labour_load(labour, problem, err)) return false;
    return strcmp(labour->hash, entry->hash) == 0 ||
           ss_fail(err, SS_ERROR_INPUT, "%s: %s: changed while the campaign was running", entry->file,
                   entry->place);
}

bool ss_labour_run(ss_labour *labour, const ss_task *task, ss_text *reply, ss_error *err)
{
    const ss_planned_problem *planned = &labour->plan->problems[task->problem];
    const ss_method *method = ss_labour_method(labour, task->method, err);
    if (!method || !load(labour, task->problem, err)) return false;
    ss_trial trial = {.place = planned->entry.place, .index = planned->index};
    ss_run_entry run = {0};
    ss_error why = {0};
    if (make_record(labour, task, method, &trial, &run, &why))
        ss_record_pack(&run, reply);
    else
        pack_refusal(&why, trial.problem ? trial.problem->size : 0, reply);
    ss_record_clear(&run);
    dismantle(labour, &trial);
    return true;
}

/* ---- times --------------------------------------------------------------------------------------- */

static bool time_once(ss_labour *labour, const ss_method *method, double *seconds, char answer[33],
                      ss_error *err)
{
    ss_method quick = *method;
    ss_trial trial = {0};
    quick.run.history = false; // what a user would run
    bool good = assemble(labour, method, &trial, err) && solve(labour, &quick, &trial, err);
    if (good) {
        *seconds = trial.result.seconds;
        ss_record_answer(trial.x, trial.problem->size, answer);
    }
    dismantle(labour, &trial);
    return good;
}

bool ss_labour_time(ss_labour *labour, const ss_task *task, ss_text *reply, ss_error *err)
{
    const ss_method *method = ss_labour_method(labour, task->method, err);
    char first[33], answer[33];
    double seconds;
    bool steady = true;
    if (!method || !load(labour, task->problem, err)) return false;
    if (!time_once(labour, method, &seconds, first, err)) return false; // warm-up
    ss_pack_int(reply, task->count);
    for (int i = 0; i < task->count; i++) {
        if (!time_once(labour, method, &seconds, answer, err)) return false;
        ss_pack_real(reply, seconds);
        steady &= strcmp(first, answer) == 0;
    }
    ss_pack_int(reply, steady);
    return true;
}
