/* Which contacts may be swept at the same time. The bodies are put in an order in which neighbours are near
 * (breadth first along the contacts) and that order is cut into parts of about a thousand contacts, which fit
 * into a cache. Contacts inside one part are a task; contacts between parts p and q are another. Tasks that
 * share no part form a phase: all parts first, then the pairs, coloured greedily. The plan depends on the
 * problem alone, not on the number of threads, so that neither do the results.
 */
#include "problem/islands.h"
#include "solver/sweep/coloured.h"

#include <string.h>

enum { PART = 1024, MOST_PHASES = 64 };

typedef struct graph {
    int *start, *neighbour; // of the bodies, in the order of the contacts
} graph;

typedef struct planner {
    const ss_problem *problem;
    ss_contact_plan *plan;
    int *place; // of every body in the new order
    int *part;  // of every body
    int parts;
    int *first_part; // of every contact: the lower one
    int *second_part;
} planner;

static const int *pair_of(const ss_problem *problem, int block)
{
    return problem->bodies->pair[problem->blocks[block].first];
}

static bool make_graph(const planner *of, ss_arena *arena, graph *made)
{
    int bodies = of->problem->bodies->bodies, count = of->plan->contact_count;
    made->start = ss_arena_take(arena, (size_t)bodies + 2, sizeof *made->start, "degrees");
    made->neighbour = ss_arena_take(arena, 2 * (size_t)count, sizeof *made->neighbour, "neighbours");
    if (!made->start || !made->neighbour) return false;
    int *next = made->start + 1; // shifted by one, so that filling turns ends into starts
    for (int c = 0; c < count; c++) {
        const int *pair = pair_of(of->problem, of->plan->contact[c]);
        for (int side = 0; side < 2; side++) {
            if (pair[side] >= 0) next[pair[side] + 1]++;
        }
    }
    for (int b = 0; b < bodies; b++) next[b + 1] += next[b];
    for (int c = 0; c < count; c++) {
        const int *pair = pair_of(of->problem, of->plan->contact[c]);
        for (int side = 0; side < 2; side++) {
            if (pair[side] >= 0) made->neighbour[next[pair[side]]++] = pair[1 - side];
        }
    }
    return true;
}

/* Breadth first from the first body of every island; parts of equal numbers of contacts. `queue` has a place
 * for every body. */
static void cut_parts(planner *of, const graph *contacts, int *queue)
{
    int bodies = of->problem->bodies->bodies, found = 0;
    int64_t seen = 0, all = contacts->start[bodies];
    memset(of->place, -1, (size_t)bodies * sizeof *of->place);
    for (int root = 0, head = 0; root < bodies; root++) {
        if (of->place[root] >= 0) continue;
        of->place[root] = found;
        queue[found++] = root;
        for (; head < found; head++) {
            int body = queue[head], end = contacts->start[body + 1];
            of->part[body] = all ? (int)(seen * of->parts / all) : 0;
            seen += end - contacts->start[body];
            for (int k = contacts->start[body]; k < end; k++) {
                int other = contacts->neighbour[k];
                if (other < 0 || of->place[other] >= 0) continue;
                of->place[other] = found;
                queue[found++] = other;
            }
        }
    }
}

/* The world belongs to every contact that touches it. */
static void find_parts(planner *of)
{
    for (int c = 0; c < of->plan->contact_count; c++) {
        const int *pair = pair_of(of->problem, of->plan->contact[c]);
        int a = of->part[pair[0] < 0 ? pair[1] : pair[0]], b = of->part[pair[1] < 0 ? pair[0] : pair[1]];
        of->first_part[c] = a < b ? a : b;
        of->second_part[c] = a < b ? b : a;
    }
}

/* Stable, by counting. */
static void sort_by(const int *key, int keys, const int *from, int count, int *start, int *to)
{
    memset(start, 0, ((size_t)keys + 1) * sizeof *start);
    for (int c = 0; c < count; c++) start[key[from[c]] + 1]++;
    for (int k = 0; k < keys; k++) start[k + 1] += start[k];
    for (int c = 0; c < count; c++) to[start[key[from[c]]]++] = from[c];
}

/* ---- phases ----------------------------------------------------------------------------------------- */

typedef struct group {
    int begin, end, phase; // of the sorted contacts
} group;

/* The first phase is for single parts; what finds no other comes last, one task after the other. */
static int phase_of(uint64_t *taken, int p, int q)
{
    if (p == q) return 0;
    uint64_t free_phases = ~(taken[p] | taken[q] | 1);
    if (!free_phases) return MOST_PHASES;
    int phase = __builtin_ctzll(free_phases);
    taken[p] |= UINT64_C(1) << phase;
    taken[q] |= UINT64_C(1) << phase;
    return phase;
}

static int find_groups(const planner *of, const int *sorted, uint64_t *taken, group *groups)
{
    int count = 0;
    for (int c = 0; c < of->plan->contact_count; c++) {
        int p = of->first_part[sorted[c]], q = of->second_part[sorted[c]];
        bool same = c > 0 && p == of->first_part[sorted[c - 1]] && q == of->second_part[sorted[c - 1]];
        if (!same) groups[count++] = (group){c, c, phase_of(taken, p, q)};
        groups[count - 1].end = c + 1;
    }
    return count;
}

static void add_task(ss_contact_plan *plan, const int *contact, int count)
{
    int begin = plan->task_count ? plan->tasks[plan->task_count - 1].contact_end : 0;
    memcpy(plan->contact + begin, contact, (size_t)count * sizeof *contact);
    plan->tasks[plan->task_count++] = (ss_batch_task){.contact_begin = begin, .contact_end = begin + count};
}

/* Contacts in the order of their tasks, tasks in the order of their phases. Groups without a phase
 * are phases alone. */
static void lay_out(ss_contact_plan *plan, const group *groups, int count, const int *contact)
{
    for (int phase = 0; phase <= MOST_PHASES; phase++) {
        int before = plan->task_count;
        for (int g = 0; g < count; g++) {
            if (groups[g].phase != phase) continue;
            if (phase == MOST_PHASES) plan->phase_start[plan->phase_count++] = plan->task_count;
            add_task(plan, contact + groups[g].begin, groups[g].end - groups[g].begin);
        }
        if (phase < MOST_PHASES && plan->task_count > before) plan->phase_start[plan->phase_count++] = before;
    }
    plan->phase_start[plan->phase_count] = plan->task_count;
}

static bool order_tasks(planner *of, ss_arena *arena)
{
    ss_contact_plan *plan = of->plan;
    size_t count = (size_t)plan->contact_count;
    int *sorted = ss_arena_take(arena, 3 * count, sizeof *sorted, "sorted contacts");
    int *start = ss_arena_take(arena, (size_t)of->parts + 1, sizeof *start, "parts");
    uint64_t *taken = ss_arena_take(arena, (size_t)of->parts, sizeof *taken, "phases of parts");
    group *groups = ss_arena_take(arena, count, sizeof *groups, "groups");
    if (!sorted || !start || !taken || !groups) return false;
    int *again = sorted + count, *contact = again + count;
    for (int c = 0; c < plan->contact_count; c++) sorted[c] = c;
    sort_by(of->second_part, of->parts, sorted, plan->contact_count, start, again);
    sort_by(of->first_part, of->parts, again, plan->contact_count, start, sorted);
    int group_count = find_groups(of, sorted, taken, groups);
    for (int c = 0; c < plan->contact_count; c++) contact[c] = plan->contact[sorted[c]];
    plan->tasks = ss_arena_take(arena, (size_t)group_count, sizeof *plan->tasks, "tasks");
    plan->phase_start = ss_arena_take(arena, (size_t)group_count + 1, sizeof *plan->phase_start, "phases");
    if (!plan->tasks || !plan->phase_start) return false;
    lay_out(plan, groups, group_count, contact);
    return true;
}

/* ---- both kinds ------------------------------------------------------------------------------------- */

static bool plan_parts(planner *of, ss_arena *arena)
{
    size_t bodies = (size_t)of->problem->bodies->bodies, count = (size_t)of->plan->contact_count;
    graph contacts;
    of->parts = (int)((count + PART - 1) / PART);
    of->place = ss_arena_take(arena, bodies, sizeof *of->place, "places of bodies");
    of->part = ss_arena_take(arena, 2 * bodies, sizeof *of->part, "parts of bodies");
    of->first_part = ss_arena_take(arena, 2 * count, sizeof *of->first_part, "parts of contacts");
    if (!of->place || !of->part || !of->first_part || !make_graph(of, arena, &contacts)) return false;
    of->second_part = of->first_part + count;
    cut_parts(of, &contacts, of->part + bodies);
    find_parts(of);
    of->plan->place = of->place;
    return order_tasks(of, arena);
}

static bool plan_whole(ss_contact_plan *plan, ss_arena *arena)
{
    plan->tasks = ss_arena_take(arena, 1, sizeof *plan->tasks, "tasks");
    plan->phase_start = ss_arena_take(arena, 2, sizeof *plan->phase_start, "phases");
    if (!plan->tasks || !plan->phase_start) return false;
    plan->tasks[0].contact_end = plan->contact_count;
    plan->task_count = plan->phase_count = plan->phase_start[1] = 1;
    return true;
}

bool ss_contact_plan_make(const ss_problem *problem, ss_arena *arena, ss_contact_plan *plan)
{
    planner of = {.problem = problem, .plan = plan};
    return plan->contact_count < SS_SHARED_LEAST_CONTACTS ? plan_whole(plan, arena) : plan_parts(&of, arena);
}
