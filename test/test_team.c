/* Threads: the same bits for any number of workers. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity */
#endif
#include <stickslip/base.h>

#include "base/parallel_any.h"
#include "base/task_graph.h"
#include "base/team.h"
#include "faults.h"
#include "kit.h"

#include <sched.h>
#include <stdatomic.h>

static uint64_t hash(const void *data, size_t bytes)
{
    const unsigned char *byte = data;
    uint64_t h = UINT64_C(14695981039346656037); // FNV-1a
    for (size_t i = 0; i < bytes; i++) h = (h ^ byte[i]) * UINT64_C(1099511628211);
    return h;
}

static const int sizes[] = {1, 2, 7, 32};

typedef struct field {
    double *value;
    int64_t count;
} field;

/* Rough numbers of very different size: any change in the order of additions changes the sum. */
static double sample(int64_t i)
{
    ss_random random = ss_random_start(1234, (uint64_t)i);
    return ss_random_normal(&random) * (i % 17 == 0 ? 1e9 : 1.0);
}

static void fill(int64_t begin, int64_t end, int worker, void *context)
{
    field *f = context;
    (void)worker;
    double carried = 0.0; // depends on where the chunk begins
    for (int64_t i = begin; i < end; i++) f->value[i] = carried = 0.5 * carried + sample(i);
}

static double part(int64_t begin, int64_t end, int worker, void *context)
{
    const field *f = context;
    (void)worker;
    double sum = 0.0;
    for (int64_t i = begin; i < end; i++) sum += f->value[i];
    return sum;
}

static uint64_t hash_of_work(ss_team *team, int64_t count, int64_t grain)
{
    field f = {ss_allocate((size_t)count, sizeof(double)), count};
    ss_parallel_for(team, count, grain, fill, &f);
    double sum = ss_parallel_sum(team, count, grain, part, &f);
    uint64_t h = hash(f.value, (size_t)count * sizeof(double)) ^ hash(&sum, sizeof sum);
    ss_release(f.value);
    return h;
}

TEST(any_number_of_workers_gives_the_same_bits)
{
    static const int64_t counts[] = {1, 5, 1000, 20011}, grains[] = {1, 7, 64, 100000};
    for (int c = 0; c < 4; c++)
        for (int g = 0; g < 4; g++) {
            uint64_t expected = hash_of_work(NULL, counts[c], grains[g]);
            for (int s = 0; s < 4; s++) {
                ss_team *team = ss_team_create(sizes[s], NULL);
                ENSURE(team != NULL);
                ENSURE_INT(ss_team_size(team), sizes[s]);
                ENSURE(hash_of_work(team, counts[c], grains[g]) == expected);
                ENSURE(hash_of_work(team, counts[c], grains[g]) == expected);
                ss_team_destroy(team);
            }
        }
}

/* Tasks along random edges, each of which works with what those before it have left. */
typedef struct net {
    ss_task_graph graph;
    bool backward;
    double value[300];
    atomic_int runs[300];
} net;

static void do_task(int task, int worker, void *context)
{
    net *n = context;
    (void)worker;
    const int *start = n->graph.start[!n->backward], *before = n->graph.other[!n->backward];
    double value = sample(task);
    for (int k = start[task]; k < start[task + 1]; k++) value = 0.7 * value + n->value[before[k]];
    for (int k = 0; k < 1000 * (task % 3); k++) value *= 1.0 + 1e-16; // some take longer
    n->value[task] = value;
    n->runs[task]++;
}

TEST(tasks_find_what_those_before_them_have_left)
{
    enum { TASKS = 300, EDGES = 500 };
    static net n;
    static int edge[EDGES][2];
    ss_random random = ss_random_start(5, 0);
    ss_arena *arena = ss_arena_create(1 << 12, NULL);
    for (int e = 0; e < EDGES; e++) {
        edge[e][0] = ss_random_below(&random, TASKS - 1);
        edge[e][1] = edge[e][0] + 1 + ss_random_below(&random, TASKS - 1 - edge[e][0]);
    }
    float place[TASKS]; // at the ends, in between, and all on one thread of many
    for (int t = 0; t < TASKS; t++) place[t] = t % 7 ? (float)(t * 37 % TASKS) / TASKS : 0.0f;
    for (int kind = 0; kind < 4; kind++) {
        bool backward = kind % 2;
        ENSURE(ss_task_graph_create(TASKS, EDGES, (const int(*)[2])edge, kind / 2 ? place : NULL, arena,
                                    &n.graph));
        n.backward = backward;
        ss_parallel_tasks(NULL, &n.graph, backward, do_task, &n);
        uint64_t expected = hash(n.value, sizeof n.value);
        for (int s = 0; s < 4; s++) {
            ss_team *team = ss_team_create(sizes[s], NULL);
            for (int round = 0; round < 20; round++) {
                for (int t = 0; t < TASKS; t++) n.value[t] = NAN, n.runs[t] = 0;
                ss_parallel_tasks(team, &n.graph, backward, do_task, &n);
                ENSURE(hash(n.value, sizeof n.value) == expected);
                for (int t = 0; t < TASKS; t++) ENSURE_INT(n.runs[t], 1);
            }
            ss_team_destroy(team);
        }
    }

    // nothing to do is nothing done
    ss_task_graph none;
    ENSURE(ss_task_graph_create(0, 0, NULL, NULL, arena, &none));
    ss_parallel_tasks(NULL, &none, false, do_task, NULL);
    ss_arena_destroy(arena);
}

static unsigned bits_of_range(int64_t begin, int64_t end, const void *context)
{
    const unsigned *bits = context;
    unsigned all = 0;
    for (int64_t i = begin; i < end; i++) all |= bits[i];
    return all;
}

TEST(what_any_item_has_is_found_wherever_it_is)
{
    enum { COUNT = 1000 };
    static unsigned bits[COUNT];
    for (int s = 0; s < 4; s++) {
        ss_team *team = ss_team_create(sizes[s], NULL);
        ENSURE_INT(ss_parallel_any(team, 0, 7, bits_of_range, bits), 0);
        ENSURE_INT(ss_parallel_any(team, COUNT, 7, bits_of_range, bits), 0);
        for (int at = 0; at < COUNT; at += 37) {
            bits[at] = 1;
            bits[COUNT - 1 - at] |= 4;
            ENSURE_INT(ss_parallel_any(team, COUNT, 7, bits_of_range, bits), 5);
            bits[at] = bits[COUNT - 1 - at] = 0;
        }
        ss_team_destroy(team);
    }
}

TEST(the_sum_is_that_of_the_chunks_in_order)
{
    enum { count = 5000, grain = 3 };
    field f = {ss_allocate(count, sizeof(double)), count};
    for (int i = 0; i < count; i++) f.value[i] = sample(i);
    double expected = 0.0;
    for (int i = 0; i < count; i += grain) expected += part(i, i + grain < count ? i + grain : count, 0, &f);
    ss_team *team = ss_team_create(4, NULL);
    double sum = ss_parallel_sum(team, count, grain, part, &f);
    ss_team_destroy(team);
    ss_release(f.value);
    ENSURE(sum == expected); // bit for bit
}

TEST(the_sum_needs_no_memory_and_so_cannot_be_short_of_it)
{
    ss_team *team = ss_team_create(3, NULL);
    field f = {ss_allocate(10000, sizeof(double)), 10000};
    ss_parallel_for(team, 10000, 10, fill, &f);
    double expected = ss_parallel_sum(team, 10000, 1, part, &f);
    faults_start(1);
    double sum = ss_parallel_sum(team, 10000, 1, part, &f);
    bool asked = faults_stop();
    ss_release(f.value);
    ss_team_destroy(team);
    ENSURE(!asked);
    ENSURE(sum == expected);
}

typedef struct census {
    _Atomic int visits[1000];
    _Atomic int wrong_chunks;
    _Atomic int busy[8]; // per worker: two threads must never be the same worker at once
    int64_t grain;
} census;

static void count_visits(int64_t begin, int64_t end, int worker, void *context)
{
    census *c = context;
    bool aligned = begin % c->grain == 0 && end == (begin + c->grain < 1000 ? begin + c->grain : 1000);
    if (!aligned || worker < 0 || worker >= 8 || atomic_fetch_add(&c->busy[worker], 1) != 0)
        c->wrong_chunks++;
    for (int64_t i = begin; i < end; i++) c->visits[i]++;
    atomic_fetch_sub(&c->busy[worker], 1);
}

TEST(every_index_is_visited_exactly_once)
{
    ss_team *team = ss_team_create(8, NULL);
    for (int round = 0; round < 200; round++) {
        census c = {.grain = 1 + round % 50};
        ss_parallel_for(team, 1000, c.grain, count_visits, &c);
        ENSURE_INT(c.wrong_chunks, 0);
        for (int i = 0; i < 1000; i++) ENSURE_INT(c.visits[i], 1);
    }
    ss_team_destroy(team);
}

static void no_work(int64_t begin, int64_t end, int worker, void *context)
{
    (void)begin, (void)end, (void)worker;
    *(bool *)context = true;
}

static double one(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker, (void)context;
    return (double)(end - begin);
}

/* Loops with pauses between them in which workers stay awake, or fall asleep: nobody misses one. */
TEST(a_held_team_does_the_same_work)
{
    uint64_t expected = hash_of_work(NULL, 1000, 7);
    for (int s = 0; s < 4; s++) {
        ss_team *team = ss_team_create(sizes[s], NULL);
        for (int round = 0; round < 60; round++) {
            bool holds = round % 3 > 0, twice = round % 3 > 1;
            if (holds) ss_team_hold(team);
            if (twice) ss_team_hold(team);
            ENSURE(hash_of_work(team, 1000, 7) == expected);
            double end = ss_clock_seconds() + 1e-5 * (round % 20);
            while (ss_clock_seconds() < end) continue;
            ENSURE(hash_of_work(team, 1000, 7) == expected);
            if (twice) ss_team_let_go(team);
            if (holds) ss_team_let_go(team);
        }
        ss_team_destroy(team);
    }
    ss_team_hold(NULL);
    ss_team_let_go(NULL);
}

/* The model of base/team.h: work of one thread against what handing it over costs. */
TEST(far_cores_share_less)
{
    ss_team *team = ss_team_create(2, NULL);
    ss_team_fix_round_trip(0.0);
    ENSURE(ss_team_for(team, 1.0, 1e6, 0.0) == team);
    ENSURE(!ss_team_for(team, 0.0, 0.0, 0.0)); // nothing to gain
    ss_team_fix_round_trip(60.0);
    ENSURE(!ss_team_for(team, 2e3, 0.0, 0.0)); // 2 us
    ENSURE(ss_team_for(team, 2e4, 0.0, 0.0) == team);
    ENSURE(ss_team_for_loop(team, 1000, 50.0) == team);
    ENSURE(!ss_team_for(team, 1e5, 1000.0, 0.0));        // lines that are waited for,
    ENSURE(ss_team_for(team, 1e5, 0.0, 1000.0) == team); // and lines asked for in advance
    ENSURE(!ss_team_for(team, 1e5, 0.0, 1e4));
    ss_team_fix_round_trip(350.0);
    ENSURE(!ss_team_for(team, 1e5, 0.0, 1000.0)); // all of them are waited for
    ENSURE(!ss_team_for(team, 2e4, 0.0, 0.0));
    ENSURE(!ss_team_for_loop(team, 1000, 50.0));
    ENSURE(ss_team_for(team, 1e6, 100.0, 0.0) == team); // much work, few lines
    ENSURE(!ss_team_for(team, 1e6, 1e4, 0.0));
    ss_team_fix_round_trip(-1.0);
    ss_team_destroy(team);

    ss_team_fix_round_trip(0.0);
    ss_team *alone = ss_team_create(1, NULL);
    ENSURE(!ss_team_for(alone, 1e9, 0.0, 0.0));
    ENSURE(!ss_team_for(NULL, 1e9, 0.0, 0.0));
    ss_team_fix_round_trip(-1.0);
    ss_team_destroy(alone);
}

/* By the clock, between loops, and when no other thread comes: the work is done whatever the answer is. */
TEST(a_measured_round_trip_changes_no_bits)
{
    uint64_t expected = hash_of_work(NULL, 1000, 7);
    for (int s = 0; s < 4; s++) {
        ss_team *team = ss_team_create(sizes[s], NULL);
        for (double end = ss_clock_seconds() + 0.1; ss_clock_seconds() < end;) {
            ss_team *helpers = ss_team_for(team, 1e6, 0.0, 0.0);
            ENSURE(!helpers || (helpers == team && sizes[s] > 1));
            ENSURE(hash_of_work(helpers, 1000, 7) == expected);
        }
        ss_team_destroy(team);
    }
}

#ifdef __linux__
typedef struct sighting {
    const cpu_set_t *move_to; // where worker 1 sends itself, as another program may; NULL: nowhere
    cpu_set_t cores;          // that it may run on
    _Atomic bool has_come;
} sighting;

static void look_where(int64_t begin, int64_t end, int worker, void *context)
{
    (void)begin, (void)end;
    sighting *seen = context;
    if (worker == 1) {
        if (seen->move_to) sched_setaffinity(0, sizeof *seen->move_to, seen->move_to);
        seen->has_come = sched_getaffinity(0, sizeof seen->cores, &seen->cores) == 0;
    }
    double late = ss_clock_seconds() + 0.005;
    while (!seen->has_come && ss_clock_seconds() < late) continue;
}

/* On a busy machine the worker may come late to many jobs, and after each of these the caller does up to 1023
 * of them, 5 to 10 ms long, alone. */
static bool see_worker(ss_team *team, sighting *seen)
{
    ss_team_hold(team);
    for (double late = ss_clock_seconds() + 100.0; !seen->has_come && ss_clock_seconds() < late;)
        ss_parallel_for(team, 2, 1, look_where, seen);
    ss_team_let_go(team);
    return seen->has_come;
}

/* False where there is no such core, or the machine does not say where its threads are. */
static bool move_caller(const cpu_set_t *all, int core)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    return CPU_ISSET(core, all) && sched_setaffinity(0, sizeof one, &one) == 0 && sched_getcpu() == core;
}

/* A worker that is woken on the core of the caller, which waits for it there, costs milliseconds. */
TEST(workers_keep_off_the_core_of_the_caller)
{
    enum { MOVES = 6 };
    cpu_set_t all;
    ENSURE(sched_getaffinity(0, sizeof all, &all) == 0);
    ss_team *team = CPU_COUNT(&all) > 1 ? ss_team_create(2, NULL) : NULL;
    for (int core = 0, moves = 0; team && core < CPU_SETSIZE && moves < MOVES; core++) {
        if (!move_caller(&all, core)) continue;
        moves++;
        sighting seen = {.has_come = false};
        ENSURE(see_worker(team, &seen));
        ENSURE(!CPU_ISSET(core, &seen.cores));
        ENSURE(CPU_COUNT(&seen.cores) == CPU_COUNT(&all) - 1);
    }
    ENSURE(sched_setaffinity(0, sizeof all, &all) == 0);
    ss_team_destroy(team);
}

TEST(workers_stay_where_someone_else_has_put_them)
{
    enum { MOVES = 3 };
    cpu_set_t all;
    ENSURE(sched_getaffinity(0, sizeof all, &all) == 0);
    ss_team *team = CPU_COUNT(&all) > 1 ? ss_team_create(2, NULL) : NULL;
    sighting moved = {.move_to = &all};
    ENSURE(!team || see_worker(team, &moved));
    for (int core = 0, moves = 0; team && core < CPU_SETSIZE && moves < MOVES; core++) {
        if (!move_caller(&all, core)) continue;
        moves++;
        sighting seen = {.has_come = false};
        ENSURE(see_worker(team, &seen));
        ENSURE(CPU_EQUAL(&seen.cores, &all));
    }
    ENSURE(sched_setaffinity(0, sizeof all, &all) == 0);
    ss_team_destroy(team);
}
#endif

TEST(an_empty_range_is_no_work)
{
    bool called = false;
    ss_team *team = ss_team_create(2, NULL);
    ss_parallel_for(team, 0, 10, no_work, &called);
    ss_parallel_for(NULL, -5, 10, no_work, &called);
    ENSURE(!called);
    ENSURE(ss_parallel_sum(team, 0, 10, one, NULL) == 0.0);
    ss_team_destroy(team);
}

TEST(a_huge_range_does_not_overflow)
{
    ss_team *team = ss_team_create(2, NULL);
    ENSURE(ss_parallel_sum(team, INT64_MAX, INT64_MAX / 3, one, NULL) == (double)INT64_MAX);
    ENSURE(ss_parallel_sum(NULL, INT64_MAX, INT64_MAX, one, NULL) == (double)INT64_MAX);
    ss_team_destroy(team);
}

TEST(a_team_can_be_made_and_left_at_once)
{
    for (int i = 0; i < 50; i++) {
        ss_team *team = ss_team_create(1 + i % 6, NULL);
        ENSURE(team != NULL);
        ss_team_destroy(team);
    }
    ss_team_destroy(NULL);
    ENSURE_INT(ss_team_size(NULL), 1);
}

TEST(a_team_takes_the_cores_it_finds_and_refuses_nonsense)
{
    ss_error err = {0};
    ss_team *team = ss_team_create(0, &err);
    ENSURE(team != NULL);
    ENSURE(ss_team_size(team) >= 1);
    ss_team_destroy(team);
    ENSURE(ss_team_create(-1, &err) == NULL);
    ENSURE_INT(err.code, SS_ERROR_USAGE);
    ENSURE_CONTAINS(err.message, "workers -1");
    ENSURE(ss_team_create(100000, &err) == NULL);
}

TEST(a_team_tells_lack_of_memory)
{
    for (int n = 1; n <= 2; n++) {
        ss_error err = {0};
        faults_start(n);
        ss_team *team = ss_team_create(2, &err);
        bool failed = faults_stop();
        ENSURE(failed && !team);
        ENSURE_INT(err.code, SS_ERROR_RESOURCES);
        ENSURE_INT(faults.live, 0);
    }
}

TEST_MAIN
