/* Plans of sweeps in batches: which contacts share a batch, which tasks wait for each other, parts of large
 * problems, and problems that no cache holds. */
#include "base/team.h"
#include "batched_kit.h"

#include "solver/sweep/batches.h"

/* ---- batches and tasks ------------------------------------------------------------------------------ */

/* No two lanes write to the same row of y, but for that of the world. */
static bool lanes_are_apart(const ss_batch *batch, int bodies)
{
    const int *row = batch->body[0];
    for (int i = 0; i < 2 * SS_LANES; i++) {
        for (int j = 0; j < i; j++) {
            if (row[i] == row[j] && row[i] < bodies) return false;
        }
    }
    return true;
}

/* Does a task wait for an earlier one, at least through others? */
static bool waits_for(const ss_task_graph *graph, int t, int earlier)
{
    bool *waits = ss_allocate((size_t)graph->count, sizeof *waits);
    waits[earlier] = true;
    for (int k = earlier; k < t; k++) {
        for (int e = graph->start[0][k]; waits[k] && e < graph->start[0][k + 1]; e++)
            waits[graph->other[0][e]] = true;
    }
    bool result = waits[t];
    ss_release(waits);
    return result;
}

/* Marks the rows of a task; false when one that it does not wait for has one of them. */
static bool claim_rows(const ss_batched *of, int t, int *owner)
{
    int bodies = of->problem->bodies->bodies, last = t;
    for (int k = of->plan.tasks[t].begin; k < of->plan.tasks[t].end; k++) {
        const ss_batch *batch = &of->batches.items[k];
        if (!lanes_are_apart(batch, bodies)) return false;
        for (int i = 0; i < 2 * SS_LANES; i++) {
            int row = batch->body[i / SS_LANES][i % SS_LANES];
            if (row >= bodies || owner[row] == t) continue;
            bool is_new = owner[row] >= 0 && owner[row] != last;
            if (is_new && !waits_for(&of->plan.graph, t, owner[row])) return false;
            last = owner[row] >= 0 ? owner[row] : last;
            owner[row] = t;
        }
    }
    return true;
}

/* Contacts of all tasks over those of the longest chain of tasks that wait for each other: how many threads
 * could be busy. */
static double parallelism(const ss_contact_plan *plan)
{
    int *before = ss_allocate((size_t)plan->task_count, sizeof *before), longest = 0;
    for (int t = 0; t < plan->task_count; t++) {
        int end = before[t] + plan->tasks[t].contact_end - plan->tasks[t].contact_begin;
        for (int e = plan->graph.start[0][t]; e < plan->graph.start[0][t + 1]; e++) {
            int next = plan->graph.other[0][e];
            before[next] = before[next] > end ? before[next] : end;
        }
        longest = end > longest ? end : longest;
    }
    ss_release(before);
    return (double)plan->contact_count / longest;
}

static int filled_lanes(const ss_batched *of)
{
    int count = 0;
    for (int k = 0; k < of->batches.count; k++) {
        for (int lane = 0; lane < SS_LANES; lane++) count += of->batches.block[k][lane] >= 0;
    }
    return count;
}

static bool is_sound(const ss_batched *of)
{
    int bodies = of->problem->bodies->bodies, *owner = ss_allocate((size_t)bodies, sizeof *owner);
    bool sound = filled_lanes(of) + of->cell_count == of->plan.contact_count;
    for (int b = 0; b < bodies; b++) owner[b] = -1;
    for (int t = 0; t < of->plan.task_count; t++) sound &= claim_rows(of, t, owner);
    ss_release(owner);
    return sound;
}

/* The share of the contacts of a cube of balls that lies inside parts; -1 when one is missing or there twice.
 * Ball i of the lattice has the number `number[i]`. */
static double share_inside_parts(int edge, const int *number)
{
    ss_error err;
    int balls = edge * edge * edge, contacts = 3 * edge * edge * (edge - 1), c = 0;
    const int step[3] = {1, edge, edge * edge};
    ss_problem *problem = known(ss_problem_create(3 * contacts, contacts, balls, &err), &err);
    for (int i = 0; i < balls; i++) {
        for (int axis = 0; axis < 3; axis++) {
            if (i / step[axis] % edge == edge - 1) continue;
            problem->blocks[c] = (ss_block){.law = SS_LAW_CONE, .first = 3 * c, .size = 3};
            problem->bodies->pair[3 * c][0] = number[i];
            problem->bodies->pair[3 * c][1] = number[i + step[axis]];
            c++;
        }
    }
    ss_arena *arena = ss_arena_create(1 << 16, NULL);
    int *seen = ss_allocate((size_t)contacts, sizeof *seen), inside = 0, missing = 0;
    ss_contact_plan plan = {.contact = ss_allocate((size_t)contacts, sizeof *seen),
                            .contact_count = contacts};
    int *contact = plan.contact;
    for (int k = 0; k < contacts; k++) contact[k] = k;
    bool made = ss_contact_plan_make(problem, arena, &plan);
    for (int t = 0; made && t < plan.task_count; t++) {
        const ss_batch_task *task = &plan.tasks[t];
        for (int k = task->contact_begin; k < task->contact_end; k++) seen[plan.contact[k]]++;
        if (t < plan.part_count) inside += task->contact_end - task->contact_begin;
    }
    for (int k = 0; k < contacts; k++) missing += seen[k] != 1;
    ss_release(contact);
    ss_release(seen);
    ss_arena_destroy(arena);
    ss_problem_destroy(problem);
    return missing ? -1.0 : (double)inside / contacts;
}

/* A cube of 1,024 contacts has an edge of 7 balls and shares its faces: 6/7 of the contacts are inside, and
 * of parts that are not quite cubes three quarters. Slices one ball thick would have half. */
TEST(parts_are_round_however_bodies_are_numbered)
{
    enum { EDGE = 20, BALLS = EDGE * EDGE * EDGE };
    static int number[BALLS];
    ss_random random = ss_random_start(3, 0);
    for (int i = 0; i < BALLS; i++) number[i] = i;
    ENSURE(share_inside_parts(EDGE, number) > 0.7);
    for (int i = BALLS - 1; i > 0; i--) {
        int other = ss_random_below(&random, i + 1), kept = number[i];
        number[i] = number[other];
        number[other] = kept;
    }
    ENSURE(share_inside_parts(EDGE, number) > 0.7);
}

TEST(batches_share_no_body_and_tasks_that_do_wait_for_each_other)
{
    const packing all[] = {usual, large};
    for (int k = 0; k < 2; k++) {
        ss_problem *problem = pack(all[k]);
        double *x = ss_allocate((size_t)problem->size, sizeof *x);
        ss_arena *arena = ss_arena_create(1 << 16, NULL);
        ss_batched batched;
        ENSURE(ss_batched_create(problem, &(ss_batched_method){0}, x, NULL, arena, &batched));
        ENSURE(is_sound(&batched));
        ENSURE((batched.plan.task_count > 1) == (k == 1));
        ENSURE((parallelism(&batched.plan) > 4.0) == (k == 1)); // enough for two threads, or four
        // lanes are full, nearly
        ENSURE(batched.batches.count * SS_LANES < 1.3 * batched.plan.contact_count);
        ss_arena_destroy(arena);
        ss_release(x);
        ss_problem_destroy(problem);
    }
}

/* ---- more than a cache holds -------------------------------------------------------------------------- */

/* Batches of more than half a large cache, in either precision. */
static const packing endless = {
    .seed = 4, .bodies = 66000, .contacts = 100000, .size = 3, .law = SS_LAW_CONE, .compliance = 0.1};

/* There and back again: what comes next is asked for at both ends. The velocities that sweeps in doubles work
 * with stay those that their impulses cause. */
static void sweep_endless(ss_problem *problem, ss_batched_method by, ss_team *team, double *x)
{
    size_t n = (size_t)problem->size;
    ss_arena *arena = ss_arena_create(1 << 16, NULL);
    double *w = ss_arena_take(arena, n, sizeof *w, "w"), *product = ss_arena_take(arena, n, sizeof *w, "A x");
    double *scratch = ss_arena_take(arena, (size_t)ss_problem_scratch(problem), sizeof *w, "scratch");
    double worst = 0.0; // in parts of the largest load, which is 1
    ss_batched batched;
    memset(x, 0, n * sizeof *x);
    ENSURE(ss_batched_create(problem, &by, x, team, arena, &batched));
    ENSURE(by.single ? batched.single->is_long : batched.batches.is_long);
    for (int k = 0; k < 4; k++) ss_batched_sweep(&batched, k % 2 == 1, x);
    ss_batched_store(&batched, x);
    if (!by.single) {
        ENSURE(ss_batched_velocities(&batched, x, w));
        ss_problem_apply(problem, x, scratch, product);
        for (size_t i = 0; i < n; i++) worst = fmax(worst, fabs(w[i] - product[i]));
        ENSURE(worst <= 1e-13); // sums of some tens of numbers of that size, four times over
    }
    ss_arena_destroy(arena);
}

TEST(problems_that_no_cache_holds_give_the_same_bits_with_any_kernel_and_team)
{
    static const ss_batched_method methods[] = {
        {.contact = SS_BATCH_EXACT},
        {.contact = SS_BATCH_EXACT, .single = true},
        {.contact = SS_BATCH_PROJECTED, .relaxation = 1.0},
    };
    static const int workers[] = {2, 3, 8};
    ss_problem *problem = pack(endless);
    size_t n = (size_t)problem->size;
    double *x = ss_allocate(n, sizeof *x), *other = ss_allocate(n, sizeof *x);
    for (int k = 0; k < 3; k++) {
        sweep_endless(problem, methods[k], NULL, x);
        ENSURE(count_sliding(problem, x) > 1000);
        ss_batched_method portable = methods[k];
        portable.kernel = &ss_batch_kernel_portable;
        sweep_endless(problem, portable, NULL, other);
        ENSURE(memcmp(x, other, n * sizeof *x) == 0);
        for (int t = 0; t < 3; t++) {
            ss_team_fix_round_trip(0.0); // all that can be shared is
            ss_team *team = known(ss_team_create(workers[t], NULL), NULL);
            sweep_endless(problem, methods[k], team, other);
            ENSURE(memcmp(x, other, n * sizeof *x) == 0);
            ss_team_destroy(team);
        }
    }
    ss_release(x);
    ss_release(other);
    ss_problem_destroy(problem);
}

TEST_MAIN
