#include "conformance/suite.h"

#include "campaign/pool.h"
#include "campaign/wire.h"
#include "conformance/catalogue.h"
#include "plugin/plugin_set.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_HUNG = 6 };  /* then the rest of that solver is skipped: it would take hours */
#define MEGABYTES 2000.0 /* that a case may take; the problems are small */
#define PATIENCE(limit) (1.5 * (limit) + 1.0) /* s: cancelled at the limit, killed here */

static ss_check_setup setup_of(const ss_suite *suite, const ss_suite_case *item)
{
    ss_check_setup setup = suite->setup;
    setup.solver = suite->solvers[item->solver];
    return setup;
}

/* ---- in a worker ------------------------------------------------------------------------------------ */

typedef struct worker_state {
    const ss_suite *suite;
    ss_worker *worker;
} worker_state;

static void *begin(void *context, ss_worker *worker)
{
    static worker_state state; // of this process
    const ss_suite *suite = context;
    state = (worker_state){suite, worker};
    for (int s = 0; s < suite->solver_count; s++) {
        if (ss_is_solver_command(suite->solvers[s])) ss_solver_command_prepare(suite->solvers[s]);
    }
    return &state;
}

static void work(void *context, const ss_task *task, ss_text *reply)
{
    const worker_state *state = context;
    const ss_suite_case *item = &state->suite->cases[task->problem];
    ss_check_result result;
    ss_check_setup setup = setup_of(state->suite, item);
    setup.cancel = ss_worker_cancel(state->worker);
    ss_worker_phase(state->worker, SS_PHASE_SOLVING);
    ss_check_run(item->check, &setup, item->index, &result);
    ss_pack_int(reply, (int)result.outcome);
    ss_pack_int(reply, result.late);
    ss_pack_int(reply, (int)result.status);
    ss_pack_int(reply, result.iterations);
    ss_pack_real(reply, result.error);
    ss_pack_text(reply, result.message);
}

/* ---- in the caller ---------------------------------------------------------------------------------- */

/* Did the solver hang on this problem, or was it too slow, in an earlier check? */
static bool is_hopeless(const ss_suite *suite, const ss_suite_case *item)
{
    ss_check_setup setup = setup_of(suite, item);
    int problem = ss_check_case_problem(item->check, &setup, item->index), hung = 0;
    for (int k = 0; k < suite->case_count && suite->cases[k].solver <= item->solver; k++) {
        const ss_suite_case *other = &suite->cases[k];
        if (other->solver != item->solver || other->state != SS_CASE_DONE || !other->result.late) continue;
        hung += other->result.iterations < 0;
        if (problem >= 0 && ss_check_case_problem(other->check, &setup, other->index) == problem) return true;
    }
    return hung >= MOST_HUNG;
}

static bool next(void *context, const ss_task *last, ss_task *task)
{
    (void)last;
    ss_suite *suite = context;
    for (; suite->waiting < suite->case_count; suite->waiting++) {
        ss_suite_case *item = &suite->cases[suite->waiting];
        if (item->state != SS_CASE_WAITING) continue;
        if (suite->hung > 0 && is_hopeless(suite, item)) {
            item->state = SS_CASE_SKIPPED;
            suite->done++;
            continue;
        }
        item->state = SS_CASE_RUNNING;
        *task = (ss_task){.problem = suite->waiting, .fresh = item->alone};
        return true;
    }
    return false;
}

static bool done(void *context, const ss_task *task, const ss_ending *ending, const char *reply, size_t size,
                 ss_error *err)
{
    (void)err;
    ss_suite *suite = context;
    ss_suite_case *item = &suite->cases[task->problem];
    ss_check_result *result = &item->result;
    bool hung = !ending->replied && ending->outcome == SS_OUTCOME_HUNG;

    // What one problem does to its process may show at the next: one more chance, in a process of its own.
    if (!ending->replied && !hung && !ending->fresh) {
        item->alone = true;
        item->state = SS_CASE_WAITING;
        if (task->problem < suite->waiting) suite->waiting = task->problem;
        return true;
    }
    *result = (ss_check_result){.outcome = SS_CHECK_FAILED, .iterations = -1, .error = NAN, .late = hung};
    ss_unpacker from = {reply, reply + size, false};
    if (ending->replied) {
        result->outcome = (ss_check_outcome)ss_unpack_within(&from, 0, SS_CHECK_OUTCOMES - 1);
        result->late = ss_unpack_within(&from, 0, 1);
        result->status = (ss_status)ss_unpack_within(&from, 0, SS_FAILED);
        result->iterations = ss_unpack_within(&from, -1, 2147483647);
        result->error = ss_unpack_real(&from);
        char *message = ss_unpack_text(&from);
        if (message) snprintf(result->message, sizeof result->message, "%s", message);
        ss_release(message);
    }

    if (!ending->replied)
        snprintf(result->message, sizeof result->message, "%s: %s",
                 hung                                          ? "hangs"
                 : ending->outcome == SS_OUTCOME_OUT_OF_MEMORY ? "takes too much memory"
                                                               : "crashes",
                 ending->message);
    else if (from.bad)
        snprintf(result->message, sizeof result->message, "wrote into the memory of its process");
    else if (item->alone && result->outcome != SS_CHECK_FAILED) {
        result->outcome = SS_CHECK_FAILED;
        snprintf(result->message, sizeof result->message,
                 "crashes after other problems, not alone: memory was damaged before");
    }
    suite->hung += result->late;
    item->state = SS_CASE_DONE;
    suite->done++;
    if (suite->progress)
        suite->progress(suite->context, suite->done, suite->case_count, suite->solvers[item->solver]->name,
                        ss_check_at(item->check)->name);
    return true;
}

/* ---- the suite -------------------------------------------------------------------------------------- */

static bool plan(ss_suite *suite, ss_error *err)
{
    int count = 0;
    for (int c = 0; c < ss_check_count(); c++)
        count += suite->wanted[c] ? ss_check_cases(c, &suite->setup) * suite->solver_count : 0;
    suite->cases = ss_allocate((size_t)count, sizeof *suite->cases);
    if (!suite->cases) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d checks", count);

    for (int s = 0; s < suite->solver_count; s++) {
        for (int c = 0; c < ss_check_count(); c++) {
            for (int k = 0; suite->wanted[c] && k < ss_check_cases(c, &suite->setup); k++) {
                ss_suite_case *item = &suite->cases[suite->case_count++];
                char name[SS_CHECK_CASE_NAME];
                *item = (ss_suite_case){.solver = s, .check = c, .index = k};
                ss_check_case_name(c, &suite->setup, k, name);

                for (int l = 0; l < suite->expected_count && !item->expected; l++) {
                    const ss_expected_list *list = &suite->expected[l];
                    int found = ss_expected_find(list, suite->solvers[s]->name, ss_check_at(c)->name, name);
                    if (found >= 0) item->expected = &list->items[found];
                }
            }
        }
    }
    return true;
}

bool ss_suite_run(ss_suite *suite, ss_error *err)
{
    if (!plan(suite, err)) return false;
    ss_pool pool = {.workers = suite->jobs,
                    .core = -1,
                    .max_megabytes = MEGABYTES,
                    .stop = suite->stop,
                    .context = suite,
                    .begin = begin,
                    .work = work,
                    .next = next,
                    .done = done};

    for (int p = 0; p < SS_PHASES; p++) {
        if (suite->time_limit > 0.0 && p != SS_PHASE_IDLE)
            pool.patience[p] = (ss_patience){suite->time_limit, PATIENCE(suite->time_limit)};
    }

    bool good = ss_pool_run(&pool, err);
    suite->interrupted = suite->stop && *suite->stop;
    return good;
}

void ss_suite_free(ss_suite *suite)
{
    ss_release(suite->cases);
    suite->cases = NULL;
    suite->case_count = 0;
}

/* ---- what came of it -------------------------------------------------------------------------------- */

ss_suite_tally ss_suite_count(const ss_suite *suite, int solver, int check)
{
    ss_suite_tally tally = {0};
    for (int k = 0; k < suite->case_count; k++) {
        const ss_suite_case *item = &suite->cases[k];
        if ((solver >= 0 && item->solver != solver) || (check >= 0 && item->check != check)) continue;
        if (item->state == SS_CASE_SKIPPED) {
            tally.skipped++;
        } else if (item->state == SS_CASE_DONE) {
            tally.passed += item->result.outcome == SS_CHECK_PASSED;
            tally.failed += item->result.outcome == SS_CHECK_FAILED && !item->expected;
            tally.expected += item->result.outcome == SS_CHECK_FAILED && item->expected;
            tally.not_applicable += item->result.outcome == SS_CHECK_NOT_APPLICABLE;
        }
    }
    return tally;
}

const ss_expected *ss_suite_surprise(const ss_suite *suite, int *at)
{
    int number = 0;
    for (int l = 0; l < suite->expected_count; l++) {
        for (int i = 0; i < suite->expected[l].count; i++, number++) {
            const ss_expected *item = &suite->expected[l].items[i];
            if (number < *at) continue;

            // Asked, and never failed.
            bool asked = false, failed = false;
            for (int k = 0; k < suite->case_count; k++) {
                const ss_suite_case *other = &suite->cases[k];
                if (other->expected != item) continue;
                failed |= other->state != SS_CASE_DONE || other->result.outcome == SS_CHECK_FAILED;
                asked = true;
            }
            if (!asked || failed) continue;
            *at = number + 1;
            return item;
        }
    }
    return NULL;
}

int ss_suite_findings(const ss_suite *suite)
{
    ss_suite_tally all = ss_suite_count(suite, -1, -1);
    int findings = all.failed + all.skipped, at = 0;
    while (ss_suite_surprise(suite, &at)) findings++;
    return findings;
}
