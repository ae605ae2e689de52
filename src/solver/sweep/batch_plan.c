/* Which contacts may be swept at the same time. Parts of one to eight thousand contacts, whose bodies fit
 * into a cache, grow along the contacts, and the bodies are put in the order in which they were found.
 * Contacts inside one part are a task; contacts between parts p and q are another. All parts come first, then
 * the pairs, coloured greedily so that neighbours in the order share no part, then a task without contacts at
 * the end of every part. Tasks of the same part wait for each other in this order, others do not. The plan
 * depends on the problem alone, not on the number of threads, so that neither do the results.
 */
#include "solver/sweep/batches.h"

#include <string.h>

#include "base/memory.h"
#include "problem/islands.h"

enum { MOST_COLOURS = 64 };

static const int *pair_of(const ss_problem *problem, int block)
{
    return problem->bodies->pair[problem->blocks[block].first];
}

/* Puts the bodies in an order in which neighbours are near, part by part: a part grows breadth first from its
 * first body until it has enough contacts, so that it is as round as it can be and few contacts leave it. The
 * next one begins with the body that has waited longest on the edge of those before, else with the first of
 * an island. `pair`: of bodies, of every contact; `place` and `part`: of every body. Returns the number of
 * parts; 0 when out of memory. */
static int grow_parts(const int (*pair)[2], int count, int bodies, ss_arena *arena, int *place, int *part)
{
    int found = 0, parts = 0;
    // Small enough for a team to share and for the bodies to stay in a cache; otherwise the larger the
    // better: tasks of contacts between parts are short, and their batches wait for each other.
    // They come in fours, so that two threads or four have equal shares of them.
    enum { LEAST = 1024, LARGEST = 8192, SHARES = 32, FOURS = 4 };
    int wanted = count / SHARES < LEAST ? LEAST : count / SHARES > LARGEST ? LARGEST : count / SHARES;
    int fours = (count + FOURS * wanted - 1) / (FOURS * wanted), most = count / (FOURS * fours) + 1;
    int *start = ss_arena_take(arena, (size_t)bodies + 2, sizeof *start, "degrees");
    int *neighbour = ss_arena_take_unset(arena, 2 * (size_t)count, sizeof *neighbour, "neighbours");
    int *queue = ss_arena_take_unset(arena, (size_t)bodies, sizeof *queue, "queue of bodies");
    int *edge = ss_arena_take_unset(arena, 2 * (size_t)count, sizeof *edge, "edges of parts");
    if (!start || !neighbour || !queue || !edge) return 0;

    // The neighbours of the bodies, in the order of the contacts.
    int *next = start + 1; // shifted by one, so that filling turns ends into starts
    for (int c = 0; c < count; c++) {
        for (int side = 0; side < 2; side++) {
            if (pair[c][side] >= 0) next[pair[c][side] + 1]++;
        }
    }
    for (int b = 0; b < bodies; b++) next[b + 1] += next[b];
    for (int c = 0; c < count; c++) {
        for (int side = 0; side < 2; side++) {
            if (pair[c][side] >= 0) neighbour[next[pair[c][side]]++] = pair[c][1 - side];
        }
    }

    memset(place, -1, (size_t)bodies * sizeof *place);
    int root = 0, waiting = 0, waiting_end = 0;
    int ends = 0; // of contacts of the part: two of those inside, one of others
    while (found < bodies) {
        // Where the next part begins, or the same one again, if what was left between others was too little.
        int first;
        while (waiting < waiting_end && place[edge[waiting]] >= 0) waiting++;
        if (waiting < waiting_end) {
            first = edge[waiting++];
        } else {
            while (place[root] >= 0) root++;
            first = root;
        }

        // Bodies in the queue have a place; those that are left when the part is full lose it again.
        int head = found;
        place[first] = found;
        queue[found++] = first;
        for (; head < found && ends < 2 * most; head++) {
            int body = queue[head], end = start[body + 1];
            part[body] = parts;
            ends += end - start[body];
            for (int k = start[body]; k < end; k++) {
                int other = neighbour[k];
                if (other < 0 || place[other] >= 0) continue;
                place[other] = found;
                queue[found++] = other;
            }
        }
        for (int k = head; k < found; k++) {
            place[queue[k]] = -1;
            edge[waiting_end++] = queue[k];
        }
        found = head;
        if (ends >= most) {
            parts++;
            ends = 0;
        }
    }
    return parts + 1;
}

/* Stable, by counting. */
static void sort_by(const int *key, int keys, const int *from, int count, int *start, int *to)
{
    memset(start, 0, ((size_t)keys + 1) * sizeof *start);
    for (int c = 0; c < count; c++) start[key[from[c]] + 1]++;
    for (int k = 0; k < keys; k++) start[k + 1] += start[k];
    for (int c = 0; c < count; c++) to[start[key[from[c]]]++] = from[c];
}

/* Contacts between the same two parts. */
typedef struct group {
    int begin, end; // of the sorted contacts
    int colour;
} group;

bool ss_contact_plan_make(const ss_problem *problem, ss_arena *arena, ss_contact_plan *plan)
{
    // Few contacts: one task.
    size_t count = (size_t)plan->contact_count, bodies = (size_t)problem->bodies->bodies;
    if (plan->contact_count < SS_SHARED_LEAST_CONTACTS) {
        plan->tasks = ss_arena_take(arena, 1, sizeof *plan->tasks, "tasks");
        plan->part_row = ss_arena_take(arena, 2, sizeof *plan->part_row, "rows of parts");
        if (!plan->tasks || !plan->part_row) return false;
        plan->tasks[0] =
            (ss_batch_task){.contact_end = plan->contact_count, .opens = {0, -1}, .closes = {0, -1}};
        plan->part_row[1] = (int)bodies;
        plan->task_count = plan->part_count = 1;
        return ss_task_graph_create(1, 0, NULL, NULL, arena, &plan->graph);
    }

    int groups_found = 0;
    int(*pair)[2] = ss_arena_take_unset(arena, count, sizeof *pair, "pairs of bodies");
    int *place = ss_arena_take_unset(arena, bodies, sizeof *place, "places of bodies");
    int *part = ss_arena_take_unset(arena, bodies, sizeof *part, "parts of bodies");
    int *first_part = ss_arena_take_unset(arena, 2 * count, sizeof *first_part, "parts of contacts");
    int *sorted = ss_arena_take_unset(arena, 3 * count, sizeof *sorted, "sorted contacts");
    group *groups = ss_arena_take_unset(arena, count, sizeof *groups, "groups");
    for (size_t c = 0; pair && c < count; c++)
        memcpy(pair[c], pair_of(problem, plan->contact[c]), sizeof pair[c]);
    bool has_room = pair && place && part;
    int parts = has_room
                    ? grow_parts((const int(*)[2])pair, plan->contact_count, (int)bodies, arena, place, part)
                    : 0;
    int pairs = (int64_t)parts * parts < plan->contact_count / 4 ? parts * parts : parts;
    int *start = ss_arena_take_unset(arena, (size_t)pairs + 1, sizeof *start, "parts");
    plan->part_row = ss_arena_take(arena, (size_t)parts + 1, sizeof *plan->part_row, "rows of parts");
    uint64_t *taken = ss_arena_take(arena, (size_t)parts, sizeof *taken, "colours of parts");
    int *last = ss_arena_take_unset(arena, (size_t)parts, sizeof *last, "last tasks of parts");
    if (parts == 0 || !plan->part_row || !first_part || !sorted || !start || !taken || !last || !groups)
        return false;
    plan->place = place;
    for (size_t b = 0; b < bodies; b++) plan->part_row[part[b] + 1]++;
    for (int p = 0; p < parts; p++) plan->part_row[p + 1] += plan->part_row[p];

    // The two parts of every contact, the lower one first; the world belongs to every contact that touches
    // it.
    int *second_part = first_part + count, *again = sorted + count, *contact = again + count;
    for (size_t c = 0; c < count; c++) {
        int first = pair[c][0], second = pair[c][1];
        int a = part[first < 0 ? second : first], b = part[second < 0 ? first : second];
        first_part[c] = a < b ? a : b;
        second_part[c] = a < b ? b : a;
        sorted[c] = (int)c;
    }
    // By the first part, then the second: at once, or one after the other where there are too many pairs.
    if (pairs > parts) {
        for (size_t c = 0; c < count; c++) contact[c] = first_part[c] * parts + second_part[c];
        sort_by(contact, pairs, sorted, plan->contact_count, start, again);
        SS_SWAP(int *, sorted, again);
    } else {
        sort_by(second_part, parts, sorted, plan->contact_count, start, again);
        sort_by(first_part, parts, again, plan->contact_count, start, sorted);
    }

    // Groups, and the colour of each. The first one is for single parts; a group that finds no other has the
    // last.
    for (size_t c = 0; c < count; c++) {
        int p = first_part[sorted[c]], q = second_part[sorted[c]], colour = 0;
        contact[c] = plan->contact[sorted[c]];
        bool same = c > 0 && p == first_part[sorted[c - 1]] && q == second_part[sorted[c - 1]];
        if (same) {
            groups[groups_found - 1].end++;
            continue;
        }
        if (p != q) {
            uint64_t free_colours = ~(taken[p] | taken[q] | 1);
            colour = free_colours ? __builtin_ctzll(free_colours) : MOST_COLOURS;
            uint64_t bit = free_colours ? UINT64_C(1) << colour : 0;
            taken[p] |= bit;
            taken[q] |= bit;
        }
        groups[groups_found++] = (group){(int)c, (int)c + 1, colour};
    }

    // Contacts in the order of their tasks, tasks in the order of their colours. Each waits for the last one
    // of either part. At home it is where fewer contacts are.
    int edges = 0, placed = 0;
    size_t tasks = (size_t)groups_found + (size_t)parts;
    plan->tasks = ss_arena_take(arena, tasks, sizeof *plan->tasks, "tasks");
    int *work = ss_arena_take(arena, (size_t)parts + 1, sizeof *work, "contacts of parts");
    int *home = ss_arena_take_unset(arena, tasks, sizeof *home, "homes of tasks");
    float *share = ss_arena_take_unset(arena, tasks, sizeof *share, "places of tasks");
    int(*edge)[2] = ss_arena_take_unset(arena, 2 * tasks, sizeof *edge, "order of tasks");
    if (!plan->tasks || !work || !home || !share || !edge) return false;
    memset(last, -1, (size_t)parts * sizeof *last);
    for (int colour = 0; colour <= MOST_COLOURS; colour++) {
        for (int g = 0; g < groups_found; g++) {
            if (groups[g].colour != colour) continue;
            int task = plan->task_count++, members = groups[g].end - groups[g].begin;
            memcpy(plan->contact + placed, contact + groups[g].begin, (size_t)members * sizeof *contact);
            int p = first_part[sorted[groups[g].begin]], q = second_part[sorted[groups[g].begin]];
            plan->tasks[task] =
                (ss_batch_task){.contact_begin = placed,
                                .contact_end = placed + members,
                                .opens = {last[p] < 0 ? p : -1, p != q && last[q] < 0 ? q : -1},
                                .closes = {-1, -1}};
            placed += members;
            plan->part_count += colour == 0;

            if (last[p] >= 0) edge[edges][0] = last[p], edge[edges++][1] = task;
            if (p != q && last[q] >= 0) edge[edges][0] = last[q], edge[edges++][1] = task;
            last[p] = last[q] = task;
            home[task] = work[p + 1] <= work[q + 1] ? p : q;
            work[home[task] + 1] += members;
        }
    }

    // What is left to do for the bodies of a part when all its contacts are done.
    for (int p = 0; p < parts; p++) {
        if (last[p] < 0) continue;
        int task = plan->task_count++;
        plan->tasks[task] = (ss_batch_task){
            .contact_begin = placed, .contact_end = placed, .opens = {-1, -1}, .closes = {p, -1}};
        edge[edges][0] = last[p], edge[edges++][1] = task;
        home[task] = p;
    }

    // A thread has neighbouring parts, and as many contacts as the others.
    for (int p = 0; p < parts; p++) work[p + 1] += work[p];
    for (int t = 0; t < plan->task_count; t++)
        share[t] = 0.5f * (float)(work[home[t]] + work[home[t] + 1]) / (float)count;
    for (int g = 0; g < groups_found; g++) {
        int first = sorted[groups[g].begin], p = first_part[first], q = second_part[first];
        bool lies_across = work[p] + work[p + 1] < plan->contact_count && // twice its middle
                           work[q] + work[q + 1] >= plan->contact_count;
        if (lies_across) plan->crossings += groups[g].end - groups[g].begin;
    }
    return ss_task_graph_create(plan->task_count, edges, (const int(*)[2])edge, share, arena, &plan->graph);
}

/* ---- who goes into a batch ---------------------------------------------------------------------------- */

/* A window of open batches. A contact goes to the first one that has a lane left and neither of its bodies;
 * one bit per open batch and body tells. Batches leave the window when they are full, or for newer ones. */
typedef struct window {
    const ss_problem *problem;
    int *blocks, lanes; // of all batches, lanes each
    uint64_t *taken;    // per body: the places of the window whose batch has it
    uint64_t open;      // places with a batch that has room
    int batches;
    int batch[64], filled[64];
} window;

static int *blocks_of(const window *at, int place)
{
    return at->blocks + (size_t)at->lanes * (size_t)at->batch[place];
}

static void forget(window *at, int place)
{
    at->open &= ~(UINT64_C(1) << place);
    const int *block = blocks_of(at, place);
    for (int lane = 0; lane < at->filled[place]; lane++) {
        const int *pair = pair_of(at->problem, block[lane]);
        for (int side = 0; side < 2; side++) {
            if (pair[side] >= 0) at->taken[pair[side]] &= ~(UINT64_C(1) << place);
        }
    }
}

static void put(window *at, int k)
{
    const int *pair = pair_of(at->problem, k);
    uint64_t nothing = 0, *first = pair[0] < 0 ? &nothing : &at->taken[pair[0]],
             *second = pair[1] < 0 ? &nothing : &at->taken[pair[1]];
    uint64_t fitting = at->open & ~(*first | *second);
    int place = 0;
    if (fitting) {
        place = __builtin_ctzll(fitting);
    } else { // a new batch in a free place, or in that of the oldest
        if (~at->open) {
            place = __builtin_ctzll(~at->open);
        } else {
            for (int p = 1; p < 64; p++) place = at->batch[p] < at->batch[place] ? p : place;
            forget(at, place);
        }
        at->batch[place] = at->batches++;
        at->filled[place] = 0;
        at->open |= UINT64_C(1) << place;
        for (int lane = 0; lane < at->lanes; lane++) blocks_of(at, place)[lane] = -1;
    }
    *first |= UINT64_C(1) << place;
    *second |= UINT64_C(1) << place;
    blocks_of(at, place)[at->filled[place]++] = k;
    if (at->filled[place] == at->lanes) forget(at, place);
}

/* The batches of a task, where there is room for one contact in each; the window is empty before and after.
 * Tasks that run at the same time share no body. */
typedef struct assignment {
    const ss_batched *batched;
    int *blocks, lanes;
    uint64_t *taken;
} assignment;

static void assign_task(int t, int worker, void *context)
{
    (void)worker;
    const assignment *to = context;
    const ss_contact_plan *plan = &to->batched->plan;
    ss_batch_task *task = &plan->tasks[t];
    window at = {.problem = to->batched->problem, .lanes = to->lanes, .taken = to->taken};
    at.blocks = to->blocks + (size_t)to->lanes * (size_t)task->contact_begin;
    for (int c = task->contact_begin; c < task->contact_end; c++) put(&at, plan->contact[c]);
    while (at.open) forget(&at, __builtin_ctzll(at.open));
    task->begin = task->contact_begin;
    task->end = task->begin + at.batches;
}

bool ss_batched_assign(ss_batched *batched, ss_arena *arena)
{
    const ss_problem *problem = batched->problem;
    ss_contact_plan *plan = &batched->plan;
    ss_batches *batches = &batched->batches;
    plan->contact =
        ss_arena_take_unset(arena, (size_t)problem->block_count, sizeof *plan->contact, "contacts");
    if (!plan->contact) return false;

    // Contacts of three under Coulomb's law between two bodies; those whose A_cc or rows do not suit are sent
    // back later.
    bool is_coupled = false;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        const int *pair = pair_of(problem, k);
        is_coupled |= block->law == SS_LAW_COUPLED;
        batched->is_batched[k] =
            block->law == SS_LAW_CONE && block->size == 3 && pair[0] != pair[1] &&
            ss_bodies_further(problem->bodies, block->first, block->first + block->size) == 0;
    }

    // Not those that the bounds of cells follow: cells find them in x, where those of batches are not.
    for (int k = 0; is_coupled && k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; block->law == SS_LAW_COUPLED && i < block->first + block->size; i++) {
            int partner = problem->partner[i], low = 0, high = problem->block_count - 1;
            while (partner >= 0 && low < high) { // the last block that begins at the partner or before
                int middle = low + (high - low + 1) / 2;
                bool is_behind = problem->blocks[middle].first > partner;
                low = is_behind ? low : middle;
                high = is_behind ? middle - 1 : high;
            }
            if (partner >= 0) batched->is_batched[low] = false;
        }
    }
    for (int k = 0; k < problem->block_count; k++) {
        if (batched->is_batched[k]) plan->contact[plan->contact_count++] = k;
    }

    // Batches, task by task, then without the gaps between tasks.
    if (!ss_contact_plan_make(problem, arena, plan)) return false;
    size_t most = (size_t)plan->contact_count; // one contact in each
    int lanes = batched->method.single ? SS_SINGLE_LANES : SS_LANES;
    batches->block = ss_arena_take_unset(arena, most * (size_t)(lanes / SS_LANES), sizeof *batches->block,
                                         "contacts of batches");
    assignment to = {.batched = batched, .blocks = (int *)batches->block, .lanes = lanes};
    to.taken = ss_arena_take(arena, (size_t)problem->bodies->bodies, sizeof *to.taken, "bodies of batches");
    if (!batches->block || !to.taken) return false;
    ss_parallel_tasks(ss_batched_helpers(batched, SS_BATCH_ASSIGN), &plan->graph, false, assign_task, &to);
    for (int t = 0; t < plan->task_count; t++) {
        ss_batch_task *task = &plan->tasks[t];
        int count = task->end - task->begin;
        memmove(to.blocks + (size_t)lanes * (size_t)batches->count,
                to.blocks + (size_t)lanes * (size_t)task->begin,
                (size_t)lanes * (size_t)count * sizeof *to.blocks);
        task->begin = batches->count;
        task->end = batches->count += count;
    }
    return true;
}
