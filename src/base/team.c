#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity, pthread_setaffinity_np */
#endif
#include <stickslip/base.h>

#include "base/assert.h"
#include "base/memory.h"
#include "base/parallel_any.h"
#include "base/task_graph.h"
#include "base/team.h"

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#define MAX_WORKERS 1024

/* What is to be done. */
typedef struct job {
    int64_t count, grain, chunks;
    ss_parallel_body *body;
    void *context;
    bool is_game; // of a rally: no work that could be worth it or not
    bool is_timed;
    _Atomic int64_t nanoseconds; // of processor time at work, of all threads, where it is timed
} job;

/* Chunks next .. end - 1 of the job are left of the share of one worker. Each has an equal share, side by
 * side, so that in loops over the same things it finds what it has written itself; one that is done helps the
 * next. */
typedef struct share_of_job {
    _Alignas(64) _Atomic int64_t next;
    int64_t end;
} share_of_job;

typedef struct member {
    ss_team *team;
    int worker; // 1.. ; the caller is worker 0
    pthread_t thread;
#ifdef __linux__
    cpu_set_t cores; // that it was given
#endif
} member;

/* Threads join and leave a job by changing one word, `state`: the number of the job in the upper half, so
 * that none joins the same one twice; whether it can be joined; how many threads are in it. Jobs often follow
 * each other within microseconds, and to sleep and be woken takes several: a thread with nothing to do looks
 * at the word for a while before it sleeps, but not for long, because on a busy machine the core may be
 * needed by the thread that is waited for. The mutex and the conditions are for sleepers alone. A sleeper
 * counts itself before it looks for the last time, and a thread that changes the word looks at the count
 * afterwards, so that one of the two sees the other. */
struct ss_team {
    int size;
    int started; // threads that run, size - 1 once the team is complete
    member *members;
    share_of_job *shares; // of all workers
    int patience;         // looks before a wait becomes a sleep
#ifdef __linux__
    cpu_set_t cores; // of the thread that made the team
    int left_alone;  // the one that workers keep off; -1: none yet
#endif
    job *job; // what the word is about
    pthread_mutex_t mutex;
    pthread_cond_t job_posted, job_left;
    /* Where the machine has no core left for them, the others cost time. What the last jobs gained (s): the
     * time of all threads in them, less the time they took; and the jobs that the caller does alone because
     * it was a loss, until the next attempt. */
    double balance;
    int rest;
    _Atomic int resting;
    /* ns: of a cache line between two of the threads, infinite where no other thread comes; s, by the clock:
     * when it was measured, and how long until the next time. */
    double round_trip, last_rally, rally_pause;
    /* Since the caller began to hold the team, and s: when that was, and for how long the last time. */
    int shared_regions;
    double held_since, held_for;
    _Alignas(64) _Atomic uint64_t state;
    _Alignas(64) _Atomic int sleepers; // threads that wait for a job
    _Atomic int holds;                 // of ss_team_hold
    _Atomic unsigned calls;            // that wake sleepers before there is a job
    _Atomic bool caller_sleeps, stop;
};

#define ONE_JOB (UINT64_C(1) << 32)
#define OPEN (UINT64_C(1) << 31)
#define INSIDE (OPEN - 1)

/* Looks of some ten nanoseconds each; many times as many while the team is held, but not without an end. */
enum { PATIENCE = 4000, TIMES_HELD = 50 };

/* s: what jobs may have gained, so that a loss is seen soon; what they may have lost before the caller works
 * alone. A time slice of another program is several milliseconds. */
static const double most_gained = 1e-3, most_lost = 2e-4;

static void relax(void)
{
#ifdef __x86_64__
    __builtin_ia32_pause();
#endif
}

/* ns of processor time of this thread */
static int64_t processor_time(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void do_chunks(ss_team *team, int worker)
{
    job *todo = team->job;
    int64_t start = todo->is_timed ? processor_time() : 0;
    for (int k = 0; k < team->size; k++) {
        share_of_job *share = &team->shares[(worker + k) % team->size];
        while (atomic_load_explicit(&share->next, memory_order_relaxed) < share->end) {
            int64_t chunk = atomic_fetch_add_explicit(&share->next, 1, memory_order_relaxed);
            if (chunk >= share->end) break;
            int64_t begin = chunk * todo->grain;
            int64_t end = todo->count - begin > todo->grain ? begin + todo->grain : todo->count;
            todo->body(begin, end, worker, todo->context);
        }
    }
    if (todo->is_timed) todo->nanoseconds += processor_time() - start;
}

static bool is_news(uint64_t state, uint64_t last)
{
    return state & OPEN && state / ONE_JOB != last;
}

static void *work(void *context)
{
    member *self = context;
    ss_team *team = self->team;
    uint64_t last = 0; // job
    while (!team->stop) {
        uint64_t state = team->state;
        if (is_news(state, last)) {
            if (!atomic_compare_exchange_strong(&team->state, &state, state + 1)) continue;
            last = state / ONE_JOB;
            do_chunks(team, self->worker);
            state = atomic_fetch_sub(&team->state, 1) - 1;
            if (state & (OPEN | INSIDE) || !team->caller_sleeps) continue;
            pthread_mutex_lock(&team->mutex);
            pthread_cond_signal(&team->job_left);
            pthread_mutex_unlock(&team->mutex);
            continue;
        }

        // Nothing to join: looks for a while, then sleeps.
        int looks = 0, most = team->patience;
        while (looks < most && !is_news(team->state, last) && !team->stop) {
            relax();
            if (++looks == team->patience && team->holds > 0 && team->resting == 0) most *= TIMES_HELD;
        }
        if (looks < most) continue;
        pthread_mutex_lock(&team->mutex);
        team->sleepers++;
        unsigned calls = team->calls;
        while (!is_news(team->state, last) && !team->stop && team->calls == calls)
            pthread_cond_wait(&team->job_posted, &team->mutex);
        team->sleepers--;
        pthread_mutex_unlock(&team->mutex);
    }
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

/* Workers run on any core but the caller's. Kernels of virtual machines may take halted cores for busy ones,
 * and wake a thread on the core of the one that wakes it though another is idle: there it would wait for the
 * caller, which waits for it, for milliseconds. A worker whose cores were chosen by someone else, as by
 * taskset, stays on those. To be called when they are about to wake; the caller moves seldom. */
static void keep_off_caller(ss_team *team)
{
#ifdef __linux__
    int core = sched_getcpu();
    if (core < 0 || core == team->left_alone || team->patience == 0) return;
    cpu_set_t others = team->cores, now;
    CPU_CLR(core, &others);
    if (CPU_COUNT(&others) < team->size - 1) return;
    for (int i = 0; i < team->started; i++) {
        member *m = &team->members[i];
        bool is_ours = pthread_getaffinity_np(m->thread, sizeof now, &now) == 0 && CPU_EQUAL(&now, &m->cores);
        if (is_ours && pthread_setaffinity_np(m->thread, sizeof others, &others) == 0) m->cores = others;
    }
    team->left_alone = core;
#else
    (void)team;
#endif
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
    share_of_job *shares = ss_allocate((size_t)size, sizeof *shares);
    if (!team || !members || !shares) {
        ss_release(shares);
        ss_release(members);
        ss_release(team);
        ss_fail(err, SS_ERROR_RESOURCES, "team of %d workers: out of memory", size);
        return NULL;
    }

    team->size = size;
    team->members = members;
    team->shares = shares;
    team->patience = size <= available_cores() ? PATIENCE : 0;
#ifdef __linux__
    team->left_alone = -1;
    if (sched_getaffinity(0, sizeof team->cores, &team->cores) != 0) CPU_ZERO(&team->cores);
#endif
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
#ifdef __linux__
        m->cores = team->cores;
#endif
        if (pthread_create(&m->thread, NULL, work, m) != 0) break;
        team->started++;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    keep_off_caller(team);
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
    ss_release(team->shares);
    ss_release(team->members);
    ss_release(team);
}

int ss_team_size(const ss_team *team)
{
    return team ? team->size : 1;
}

/* Work is much like that of the last time. If it took long and some of it was shared, workers had better wake
 * now, while the caller prepares it: a call takes ten microseconds. */
void ss_team_hold(ss_team *team)
{
    static const double worth_a_call = 4e-4; // s
    if (ss_team_size(team) == 1 || team->holds++ > 0) return;
    keep_off_caller(team);
    bool shares = team->shared_regions > 0 && team->held_for > worth_a_call;
    team->shared_regions = 0;
    team->held_since = ss_clock_seconds();
    if (!shares || team->sleepers == 0 || team->resting > 0) return;
    pthread_mutex_lock(&team->mutex);
    team->calls++;
    pthread_cond_broadcast(&team->job_posted);
    pthread_mutex_unlock(&team->mutex);
}

void ss_team_let_go(ss_team *team)
{
    if (ss_team_size(team) > 1 && --team->holds == 0) team->held_for = ss_clock_seconds() - team->held_since;
}

/* ---- work ------------------------------------------------------------------------------------------- */

static int64_t chunk_count(int64_t count, int64_t grain)
{
    return count / grain + (count % grain != 0);
}

/* Does a job with all threads; false, if it is one for the caller alone. */
static bool share(ss_team *team, job *todo)
{
    if (ss_team_size(team) == 1 || todo->chunks == 1) return false;
    if (team->resting > 0) {
        team->resting--;
        return false;
    }

    // Posted for all, and worked on by the caller as well. No more are woken than there are chunks for. One
    // job in eight is timed, as if by lot: jobs come in turns, and every kind of them has to be seen.
    SS_ASSERT(!(team->state & OPEN)); // a body that uses its own team again would wait for itself
    enum { LONGEST = 1023 };          // most jobs done alone
    uint64_t lot = team->state / ONE_JOB * UINT64_C(0x9E3779B97F4A7C15);
    todo->is_timed = team->patience > 0 && !todo->is_game && lot >> 61 == 0;
    double start = todo->is_timed ? ss_clock_seconds() : 0.0;
    team->shared_regions += !todo->is_game;
    team->job = todo;
    for (int w = 0; w < team->size; w++) {
        share_of_job *share = &team->shares[w];
        atomic_store_explicit(&share->next, todo->chunks * w / team->size, memory_order_relaxed);
        share->end = todo->chunks * (w + 1) / team->size;
    }
    team->state = (team->state / ONE_JOB + 1) * ONE_JOB | OPEN;
    if (team->sleepers > 0) {
        keep_off_caller(team);
        pthread_mutex_lock(&team->mutex);
        if (todo->chunks > team->sleepers)
            pthread_cond_broadcast(&team->job_posted);
        else
            for (int64_t i = 1; i < todo->chunks; i++) pthread_cond_signal(&team->job_posted);
        pthread_mutex_unlock(&team->mutex);
    }
    do_chunks(team, 0);

    // Withdrawn: no one can join any more, and those inside are waited for. A thread that woke too late has
    // missed nothing.
    atomic_fetch_and(&team->state, ~OPEN);
    for (int i = 0; i < team->patience && team->state & INSIDE; i++) relax();
    if (team->state & INSIDE) {
        pthread_mutex_lock(&team->mutex);
        team->caller_sleeps = true;
        while (team->state & INSIDE) pthread_cond_wait(&team->job_left, &team->mutex);
        team->caller_sleeps = false;
        pthread_mutex_unlock(&team->mutex);
    }

    // Was it worth it?
    if (!todo->is_timed) return true;
    double gained = 1e-9 * (double)todo->nanoseconds - (ss_clock_seconds() - start);
    team->balance = team->balance + gained < most_gained ? team->balance + gained : most_gained;
    if (team->balance == most_gained) team->rest = 0;
    if (team->balance > -most_lost) return true;
    team->rest = team->rest < LONGEST ? 4 * team->rest + 3 : LONGEST;
    team->resting = team->rest;
    team->balance = 0.0;
    return true;
}

void ss_parallel_for(ss_team *team, int64_t count, int64_t grain, ss_parallel_body *body, void *context)
{
    SS_ASSERT(grain > 0);
    if (grain < 1) grain = 1;
    if (ss_team_size(team) > 1 && count > grain) {
        job todo = {.count = count,
                    .grain = grain,
                    .chunks = chunk_count(count, grain),
                    .body = body,
                    .context = context};
        if (share(team, &todo)) return;
    }

    // One thread alone draws no numbers.
    for (int64_t begin = 0; begin < count; begin += grain) {
        if (count - begin <= grain) {
            body(begin, count, 0, context);
            return;
        }
        body(begin, begin + grain, 0, context);
    }
}

/* ---- worth sharing ---------------------------------------------------------------------------------- */

/* Two threads throw a ball to and fro. The first to arrive serves and takes the time. */
typedef struct rally {
    _Alignas(64) _Atomic int ball; // throws so far
    _Alignas(64) _Atomic int players;
    _Atomic bool is_over; // one of them has waited too long
    double shortest;      // s, of a round trip
} rally;

/* False when it does not come: no one else has a core. */
static bool wait_for_ball(rally *r, int throws)
{
    enum { LOOKS = 300000 }; // 0.1 to 0.2 ms: the other may have to wake
    for (int looks = 0; looks < LOOKS && !r->is_over; looks++) {
        if (r->ball == throws) return true;
    }
    r->is_over = true;
    return false;
}

/* The shortest of a few exchanges counts: the first begins when the other has woken, and any of them may be
 * interrupted. */
static void play(int64_t begin, int64_t end, int worker, void *context)
{
    enum { EXCHANGES = 5, ROUNDS = 6 };
    (void)begin, (void)end, (void)worker;
    rally *r = context;
    bool serves = atomic_fetch_add(&r->players, 1) == 0;
    for (int exchange = 0, throws = 0; exchange < EXCHANGES; exchange++) {
        double start = serves ? ss_clock_seconds() : 0.0;
        for (int round = 0; round < ROUNDS; round++, throws += 2) {
            if (serves) r->ball = throws + 1;
            if (!wait_for_ball(r, serves ? throws + 2 : throws + 1)) return;
            if (!serves) r->ball = throws + 2;
        }
        double each = (ss_clock_seconds() - start) / ROUNDS;
        if (serves && (exchange == 0 || each < r->shortest)) r->shortest = each;
    }
}

/* ns, instead of what is measured; less than zero: measured. */
static _Atomic double fixed_round_trip = -1.0;

void ss_team_fix_round_trip(double nanoseconds)
{
    fixed_round_trip = nanoseconds;
}

/* ns. What was measured last holds for a while, and for longer while others sleep: to wake one takes as long
 * as many round trips. When no one came to play, because a thread has just been created or other programs
 * have the cores, no one would come to work either; the next attempt is soon, and later each time. */
static double round_trip_of(ss_team *team, bool asleep)
{
    static const double period = 0.02, asleep_period = 0.1, soon = 1e-3; // s
    double now = ss_clock_seconds(), pause = team->rally_pause;
    bool is_due = now - team->last_rally > (asleep && pause == period ? asleep_period : pause);
    if (is_due && team->resting == 0) {
        rally r = {0};
        job todo = {.count = 2, .grain = 1, .chunks = 2, .body = play, .context = &r, .is_game = true};
        bool good = share(team, &todo) && r.shortest > 0.0;
        team->round_trip = good ? 1e9 * r.shortest : INFINITY;
        team->rally_pause = good ? period : fmin(fmax(2.0 * pause, soon), asleep_period);
        team->last_rally = now;
    }
    return team->round_trip;
}

double ss_team_round_trip(ss_team *team)
{
    if (ss_team_size(team) == 1) return INFINITY;
    team->last_rally = -INFINITY;
    return round_trip_of(team, false);
}

ss_team *ss_team_for(ss_team *team, double work, double crossings, double ahead)
{
    static const double start = 40.0, waking = 20000.0;    // round trips; ns
    static const double nearest = 40.0, one_cache = 150.0; // ns
    static const double in_time = 0.1;
    if (ss_team_size(team) == 1) return NULL;
    double fixed = fixed_round_trip, trips = start + crossings;
    bool asleep = team->sleepers > 0 && fixed < 0.0;
    double gain = work * (1.0 - 1.0 / team->size) - (asleep ? waking : 0.0);
    if (fixed < 0.0 && gain <= (trips + in_time * ahead) * nearest) return NULL; // no two cores are nearer
    double round_trip = fixed < 0.0 ? round_trip_of(team, asleep) : fixed;
    double late = round_trip < one_cache ? in_time : 1.0;
    return gain > (trips + late * ahead) * round_trip ? team : NULL;
}

/* ---- tasks that wait for others --------------------------------------------------------------------- */

bool ss_task_graph_create(int count, int edges, const int (*edge)[2], const float *place, ss_arena *arena,
                          ss_task_graph *graph)
{
    *graph = (ss_task_graph){.count = count};
    graph->state = ss_arena_take(arena, (size_t)count, sizeof *graph->state, "states of tasks");
    graph->place = ss_arena_take_unset(arena, (size_t)count, sizeof *graph->place, "places of tasks");
    if (!graph->state || !graph->place) return false;
    for (int t = 0; t < count; t++) graph->place[t] = place ? place[t] : (float)t / (float)count;
    for (int to = 0; to < 2; to++) {
        int *start = graph->start[to] = ss_arena_take(arena, (size_t)count + 2, sizeof *start, "tasks");
        int *other = graph->other[to] = ss_arena_take(arena, (size_t)edges, sizeof *other, "tasks");
        if (!start || !other) return false;
        int *next = start + 1; // shifted by one, so that filling turns ends into starts
        for (int e = 0; e < edges; e++) next[edge[e][to] + 1]++;
        for (int t = 0; t < count; t++) next[t + 1] += next[t];
        for (int e = 0; e < edges; e++) other[next[edge[e][to]]++] = edge[e][1 - to];
    }
    return true;
}

typedef struct task_run {
    ss_task_graph *graph;
    bool backward;
    ss_task_body *body;
    void *context;
    const ss_team *team;
    job *job;
    unsigned number;
} task_run;

static bool is_ready(const task_run *run, int task)
{
    const ss_task_graph *graph = run->graph;
    const int *first = graph->start[!run->backward], *before = graph->other[!run->backward];
    for (int k = first[task]; k < first[task + 1]; k++) {
        if (atomic_load_explicit(&graph->state[before[k]].done, memory_order_acquire) != run->number)
            return false;
    }
    return true;
}

/* Begins a task from `*from` on, in the direction of the run, that is ready and of the worker or, if
 * `others`, of any other; -1: none is. `*from` moves to the first that was not begun; count: all were. */
static int take_task(const task_run *run, int worker, bool others, int *from)
{
    enum { WINDOW = 64 }; // tasks that are looked at: the first that was not begun is ready soon
    ss_task_graph *graph = run->graph;
    int size = run->team->size, looked_at = 0;
    for (int i = *from; i < graph->count && looked_at < WINDOW; i++) {
        int task = run->backward ? graph->count - 1 - i : i;
        bool is_own = (int)(graph->place[task] * (float)size) == worker;
        unsigned begun = others == is_own ? run->number : graph->state[task].begun;
        if (begun == run->number) {
            *from += *from == i;
            continue;
        }
        looked_at++;
        if (is_ready(run, task) &&
            atomic_compare_exchange_strong(&graph->state[task].begun, &begun, run->number))
            return task;
    }
    return -1;
}

/* Tasks until all are begun. A thread that finds none looks again and again, because one will soon be ready,
 * and leaves its core to others when it has waited for long; that is not time at work. */
static void do_tasks(int64_t begin, int64_t end, int worker, void *context)
{
    (void)begin, (void)end;
    const task_run *run = context;
    job *todo = run->job;
    int count = run->graph->count, own = 0, of_others = 0, looks = 0;
    int64_t start = 0; // of waiting
    while (own < count || of_others < count) {
        int task = take_task(run, worker, false, &own);
        if (task < 0) task = take_task(run, worker, true, &of_others);
        if (todo->is_timed && task < 0 && looks == 0) start = processor_time();
        if (todo->is_timed && task >= 0 && looks > 0) todo->nanoseconds -= processor_time() - start;
        if (task >= 0) {
            run->body(task, worker, run->context);
            atomic_store_explicit(&run->graph->state[task].done, run->number, memory_order_release);
            looks = 0;
        } else if (looks++ < run->team->patience) {
            relax();
        } else {
            sched_yield();
        }
    }
    if (todo->is_timed && looks > 0) todo->nanoseconds -= processor_time() - start;
}

void ss_parallel_tasks(ss_team *team, ss_task_graph *graph, bool backward, ss_task_body *body, void *context)
{
    int count = graph->count, workers = ss_team_size(team) < count ? ss_team_size(team) : count;
    job todo = {.count = workers, .grain = 1, .chunks = workers, .body = do_tasks};
    task_run run = {graph, backward, body, context, team, &todo, ++graph->runs};
    todo.context = &run;
    if (workers > 1 && share(team, &todo)) return;
    for (int t = 0; t < count; t++) body(backward ? count - 1 - t : t, 0, context);
}

/* ---- any -------------------------------------------------------------------------------------------- */

typedef struct any_search {
    ss_parallel_bits *bits;
    const void *context;
    _Atomic unsigned found;
} any_search;

static void search_chunk(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    any_search *search = context;
    unsigned bits = search->bits(begin, end, search->context);
    if (bits) atomic_fetch_or(&search->found, bits);
}

unsigned ss_parallel_any(ss_team *team, int64_t count, int64_t grain, ss_parallel_bits *bits,
                         const void *context)
{
    any_search search = {.bits = bits, .context = context};
    ss_parallel_for(team, count, grain, search_chunk, &search);
    return search.found;
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
    if (count <= grain) return part(0, count, 0, context);
    sum_batch batch; // its results are written before they are read: nothing to clear
    batch.part = part, batch.context = context, batch.grain = grain;
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
