#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include <stickslip/base.h>

#include "base/assert.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#define MAX_WORKERS 1024

/* What is to be done: chunk numbers are drawn from `next` until they run out. */
typedef struct job {
    int64_t count, grain, chunks;
    ss_parallel_body *body;
    void *context;
    _Atomic int64_t next;
} job;

typedef struct member {
    ss_team *team;
    int worker; // 1.. ; the caller is worker 0
    pthread_t thread;
} member;

struct ss_team {
    int size;
    int started; // threads that run, size - 1 once the team is complete
    member *members;
    pthread_mutex_t mutex;
    pthread_cond_t job_posted, job_left;
    int patience;          // looks before a wait becomes a sleep
    job *job;              // NULL when there is nothing to join
    _Atomic unsigned turn; // counts jobs, so that no thread joins the same one twice
    _Atomic int busy;      // threads inside the job
    bool stop;
};

/* Changed under the mutex only, and looked at without it by those who have nothing better to do: jobs often
 * follow each other within microseconds, and to sleep and be woken takes several. Nobody looks for long,
 * because on a busy machine the core may be needed by the one who is waited for. */
enum { PATIENCE = 1000 };

static void relax(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

static void do_chunks(job *todo, int worker)
{
    for (;;) {
        int64_t chunk = atomic_fetch_add_explicit(&todo->next, 1, memory_order_relaxed);
        if (chunk >= todo->chunks) return;
        int64_t begin = chunk * todo->grain;
        int64_t end = todo->count - begin > todo->grain ? begin + todo->grain : todo->count;
        todo->body(begin, end, worker, todo->context);
    }
}

static void *work(void *context)
{
    member *self = context;
    ss_team *team = self->team;
    unsigned last_turn = 0;
    pthread_mutex_lock(&team->mutex);
    while (!team->stop) {
        if (team->job && team->turn != last_turn) {
            last_turn = team->turn;
            job *todo = team->job;
            team->busy++;
            pthread_mutex_unlock(&team->mutex);
            do_chunks(todo, self->worker);
            pthread_mutex_lock(&team->mutex);
            if (--team->busy == 0) pthread_cond_signal(&team->job_left);
            continue;
        }

        // Nothing to join: looks for the next turn without the mutex for a while, then sleeps.
        unsigned seen = team->turn; // maybe of a job that was over before we saw it
        pthread_mutex_unlock(&team->mutex);
        for (int i = 0; i < team->patience && team->turn == seen; i++) relax();
        pthread_mutex_lock(&team->mutex);
        if (team->turn == seen && !team->stop) pthread_cond_wait(&team->job_posted, &team->mutex);
    }
    pthread_mutex_unlock(&team->mutex);
    return NULL;
}

/* ---- life ------------------------------------------------------------------------------------------- */

static int available_cores(void)
{
#ifdef __linux__
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
#endif
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > MAX_WORKERS ? MAX_WORKERS : (int)cores;
}

ss_team *ss_team_create(int workers, ss_error *err)
{
    if (workers < 0 || workers > MAX_WORKERS) {
        ss_fail(err, SS_ERROR_USAGE, "invalid number of workers %d: expected 0 (one per core) to %d", workers,
                MAX_WORKERS);
        return NULL;
    }
    int size = workers ? workers : available_cores();
    ss_team *team = ss_allocate(1, sizeof *team);
    member *members = ss_allocate((size_t)size, sizeof *members);
    if (!team || !members) {
        ss_release(members);
        ss_release(team);
        ss_fail(err, SS_ERROR_RESOURCES, "team of %d workers: out of memory", size);
        return NULL;
    }

    team->size = size;
    team->members = members;
    team->patience = size <= available_cores() ? PATIENCE : 0;
    pthread_mutex_init(&team->mutex, NULL);
    pthread_cond_init(&team->job_posted, NULL);
    pthread_cond_init(&team->job_left, NULL);

    // Workers take no signals: those belong to the threads of the program that uses us.
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (team->started < size - 1) {
        member *m = &members[team->started];
        *m = (member){.team = team, .worker = team->started + 1};
        if (pthread_create(&m->thread, NULL, work, m) != 0) break;
        team->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (team->started == size - 1) return team;
    ss_fail(err, SS_ERROR_RESOURCES, "team of %d workers: the system started only %d threads", size,
            team->started + 1);
    ss_team_destroy(team);
    return NULL;
}

void ss_team_destroy(ss_team *team)
{
    if (!team) return;
    pthread_mutex_lock(&team->mutex);
    team->stop = true;
    pthread_cond_broadcast(&team->job_posted);
    pthread_mutex_unlock(&team->mutex);
    for (int i = 0; i < team->started; i++) pthread_join(team->members[i].thread, NULL);
    pthread_cond_destroy(&team->job_left);
    pthread_cond_destroy(&team->job_posted);
    pthread_mutex_destroy(&team->mutex);
    ss_release(team->members);
    ss_release(team);
}

int ss_team_size(const ss_team *team)
{
    return team ? team->size : 1;
}

/* ---- work ------------------------------------------------------------------------------------------- */

static int64_t chunk_count(int64_t count, int64_t grain)
{
    return count / grain + (count % grain != 0);
}

void ss_parallel_for(ss_team *team, int64_t count, int64_t grain, ss_parallel_body *body, void *context)
{
    SS_ASSERT(grain > 0);
    if (grain < 1) grain = 1;
    if (count < 1) return;
    job todo = {.count = count,
                .grain = grain,
                .chunks = chunk_count(count, grain),
                .body = body,
                .context = context};
    if (ss_team_size(team) == 1 || todo.chunks == 1) {
        do_chunks(&todo, 0);
        return;
    }

    // Posted for all, and worked on by the caller as well.
    pthread_mutex_lock(&team->mutex);
    SS_ASSERT(!team->job); // a body that uses its own team again would wait for itself
    team->job = &todo;
    team->turn++;
    pthread_cond_broadcast(&team->job_posted);
    pthread_mutex_unlock(&team->mutex);
    do_chunks(&todo, 0);

    // Withdrawn: no one can join any more, and those inside are waited for. A thread that woke too late has
    // missed nothing.
    pthread_mutex_lock(&team->mutex);
    team->job = NULL;
    if (team->busy > 0) {
        pthread_mutex_unlock(&team->mutex);
        for (int i = 0; i < team->patience && team->busy > 0; i++) relax();
        pthread_mutex_lock(&team->mutex);
    }
    while (team->busy > 0) pthread_cond_wait(&team->job_left, &team->mutex);
    pthread_mutex_unlock(&team->mutex);
}

/* ---- sum -------------------------------------------------------------------------------------------- */

/* Chunks are summed in batches of a fixed number, so that their results fit on the stack: there is no memory
 * to be short of, and the order of the additions never changes. */
#define BATCH 1024

typedef struct sum_batch {
    ss_parallel_part *part;
    void *context;
    int64_t first, grain;
    double results[BATCH];
} sum_batch;

static void sum_chunk(int64_t begin, int64_t end, int worker, void *context)
{
    sum_batch *batch = context;
    batch->results[begin / batch->grain] =
        batch->part(batch->first + begin, batch->first + end, worker, batch->context);
}

double ss_parallel_sum(ss_team *team, int64_t count, int64_t grain, ss_parallel_part *part, void *context)
{
    SS_ASSERT(grain > 0);
    if (grain < 1) grain = 1;
    if (count < 1) return 0.0;
    sum_batch batch = {.part = part, .context = context, .grain = grain};
    double total = 0.0;
    int64_t chunks = chunk_count(count, grain);
    for (int64_t chunk = 0; chunk < chunks; chunk += BATCH) {
        int64_t in_batch = chunks - chunk < BATCH ? chunks - chunk : BATCH;
        batch.first = chunk * grain;
        int64_t left = count - batch.first;
        ss_parallel_for(team, chunk + in_batch == chunks ? left : in_batch * grain, grain, sum_chunk, &batch);
        for (int64_t i = 0; i < in_batch; i++) total += batch.results[i];
    }
    return total;
}
