#include "collection/crew.h"

#include "campaign/pool.h"
#include "campaign/wire.h"
#include "campaign/worker_tasks.h"

#include <string.h>
#include <unistd.h>

typedef struct crew_state {
    const ss_crew *crew;
    ss_worker *worker; /* in a worker */
    int next;
} crew_state;

static void *begin(void *context, ss_worker *worker)
{
    crew_state *state = context; // a copy: the process is a fork
    state->worker = worker;
    return state;
}

static void work(void *context, const ss_task *task, ss_text *reply)
{
    const crew_state *state = context;
    ss_error err = {0};
    ss_text result = {0};
    ss_worker_phase(state->worker, SS_PHASE_SOLVING);
    bool good = state->crew->work(state->crew->context, task->problem, ss_worker_cancel(state->worker),
                                  &result, &err);
    if (good && result.out_of_memory) good = ss_fail(&err, SS_ERROR_RESOURCES, "out of memory");
    ss_pack_int(reply, good);
    if (!good) ss_pack_int(reply, err.code ? err.code : SS_ERROR_RESOURCES);
    ss_pack_text(reply, good ? ss_text_get(&result) : err.message);
    ss_text_free(&result);
}

static bool next(void *context, const ss_task *last, ss_task *task)
{
    (void)last;
    crew_state *state = context;
    if (state->next == state->crew->tasks) return false;
    *task = (ss_task){.problem = state->next++};
    return true;
}

static bool done(void *context, const ss_task *task, const ss_ending *ending, const char *reply, size_t size,
                 ss_error *err)
{
    const crew_state *state = context;
    ss_error fault = {0};
    ss_unpacker from = {reply, reply + size, false};
    bool good = ending->replied ? ss_reply_unpack(&from, &fault)
                                : ss_fail(&fault, SS_ERROR_INPUT, "%s", ending->message);
    char *result = good ? ss_unpack_text(&from) : NULL;
    if (good && !result) good = ss_fail(&fault, SS_ERROR_RESOURCES, "invalid reply from a worker process");
    bool goes_on = state->crew->done(state->crew->context, task->problem, result, result ? strlen(result) : 0,
                                     good ? NULL : &fault, err);
    ss_release(result);
    return goes_on;
}

bool ss_crew_run(const ss_crew *crew, ss_error *err)
{
    crew_state state = {.crew = crew};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int jobs = crew->jobs > 0 ? crew->jobs : cores > 0 ? (int)cores : 1;
    ss_pool pool = {.workers = jobs < crew->tasks ? jobs : crew->tasks,
                    .core = -1,
                    .stop = crew->stop,
                    .context = &state,
                    .begin = begin,
                    .work = work,
                    .next = next,
                    .done = done};
    return crew->tasks == 0 || ss_pool_run(&pool, err);
}
