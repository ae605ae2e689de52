/* Each worker has a session of its own: assembly, arena and x, kept from item to item. A solver is a pure
 * function of problem, options, start and seed, so that it does not matter which worker takes an item. */
#include <stickslip/batch.h>

#include "session/stages.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Items that a worker takes at a time: some microseconds of work, or taking them would show. */
enum { GRAIN = 4 };

typedef struct worker {
    ss_session *session;
    int failed; /* the first item it could not assemble, and why */
    ss_error err;
} worker;

struct ss_batch_session {
    ss_team *team;
    int threads;
    worker *workers;
    const volatile int *cancel;
    ss_gauge gauge; /* of the stop rule */
    ss_batch_item *items;
};

ss_batch_session *ss_batch_create(const ss_request *request, int threads, ss_error *err)
{
    ss_request own = *request;
    own.team = NULL;
    own.history = own.explain = false;
    own.reference = NULL, own.own_reference = NULL;
    own.skip_exact = true;

    ss_batch_session *batch = ss_allocate(1, sizeof *batch);
    bool good = batch || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a batch");
    if (good && threads != 1) good = (batch->team = ss_team_create(threads, err)) != NULL;
    if (good) {
        batch->threads = ss_team_size(batch->team);
        batch->workers = ss_allocate((size_t)batch->threads, sizeof *batch->workers);
        good = batch->workers || ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a batch");
    }
    for (int w = 0; good && w < batch->threads; w++) {
        batch->workers[w].session = ss_session_create(&own, err);
        good = batch->workers[w].session != NULL;
    }
    if (good) {
        const ss_stop_rule *stop = &ss_session_method(batch->workers[0].session)->run.stop;
        batch->gauge = stop->below > 0.0 ? stop->gauge : SS_GAUGE_RELATIVE_ENERGY;
        unsigned gauges =
            1u << batch->gauge | 1u << SS_GAUGE_RELATIVE_ENERGY; // alternatives look at the latter
        for (int w = 0; w < batch->threads; w++) ss_session_measure_only(batch->workers[w].session, gauges);
        return batch;
    }
    ss_batch_destroy(batch);
    return NULL;
}

void ss_batch_destroy(ss_batch_session *batch)
{
    if (!batch) return;
    for (int w = 0; batch->workers && w < batch->threads; w++) ss_session_destroy(batch->workers[w].session);
    ss_team_destroy(batch->team);
    ss_release(batch->workers);
    ss_release(batch);
}

int ss_batch_threads(const ss_batch_session *batch)
{
    return batch->threads;
}

void ss_batch_watch(ss_batch_session *batch, const volatile int *cancel)
{
    batch->cancel = cancel;
    for (int w = 0; w < batch->threads; w++) ss_session_watch(batch->workers[w].session, cancel);
}

static bool solve_item(ss_session *session, ss_batch_item *item, ss_error *err)
{
    // A frame with alternatives is a search over ordinary ones, which ends with an answer to all of it.
    bool selects = ss_session_selects(session, item->frame);
    bool good = selects ? ss_session_select(session, item->frame, item->guess, err)
                        : ss_session_take_frame(session, item->frame, item->guess, err) &&
                              ss_session_run(session, err);
    bool refused = good && ss_session_result(session)->refusal;
    if (good && !refused && item->answer) ss_session_recover(session, item->answer);
    return good;
}

static void solve_range(int64_t begin, int64_t end, int index, void *context)
{
    ss_batch_session *batch = context;
    worker *of = &batch->workers[index];
    for (int64_t i = begin; i < end; i++) {
        ss_batch_item *item = &batch->items[i];
        item->status = batch->cancel && *batch->cancel ? SS_CANCELLED : SS_FAILED;
        item->iterations = 0;
        item->error = NAN;
        item->seconds = 0.0;
        if (item->status == SS_CANCELLED) continue;
        ss_error err;
        if (!solve_item(of->session, item, &err)) {
            if (i < of->failed) of->failed = (int)i, of->err = err;
            continue;
        }
        const ss_solve_result *run = &ss_session_result(of->session)->run;
        item->status = run->status;
        item->iterations = run->iterations;
        item->error = run->gauge[batch->gauge];
        item->seconds = run->seconds;
    }
}

bool ss_batch_solve(ss_batch_session *batch, ss_batch_item *items, int count, ss_error *err)
{
    batch->items = items;
    for (int w = 0; w < batch->threads; w++) batch->workers[w].failed = INT_MAX;
    ss_parallel_for(batch->team, count, GRAIN, solve_range, batch);

    const worker *first = &batch->workers[0];
    for (int w = 1; w < batch->threads; w++)
        if (batch->workers[w].failed < first->failed) first = &batch->workers[w];
    if (first->failed == INT_MAX) return true;
    if (err) *err = first->err;
    return ss_fail_in(err, "item %d", first->failed);
}
