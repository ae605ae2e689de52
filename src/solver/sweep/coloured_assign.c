/* Who goes into a batch. */
#include "solver/sweep/coloured.h"

#include <string.h>

#include "base/memory.h"

/* A window of open batches. A contact goes to the first one that has a lane left and neither of its bodies;
 * one bit per open batch and body tells. Batches leave the window when they are full, or for newer ones. */
typedef struct window {
    const ss_problem *problem;
    ss_batches *batches;
    uint64_t *taken; // per body: the places of the window whose batch has it
    uint64_t open;   // places with a batch that has room
    int lanes;
    int batch[64], filled[64];
} window;

static int *blocks_of(const window *at, int place)
{
    return (int *)at->batches->block + (size_t)at->lanes * (size_t)at->batch[place];
}

static void forget(window *at, int place)
{
    at->open &= ~(UINT64_C(1) << place);
    const int *block = blocks_of(at, place);
    for (int lane = 0; lane < at->filled[place]; lane++) {
        const int *pair = at->problem->bodies->pair[at->problem->blocks[block[lane]].first];
        for (int side = 0; side < 2; side++) {
            if (pair[side] >= 0) at->taken[pair[side]] &= ~(UINT64_C(1) << place);
        }
    }
}

static int oldest(const window *at)
{
    int place = 0;
    for (int k = 1; k < 64; k++) {
        if (at->batch[k] < at->batch[place]) place = k;
    }
    return place;
}

static int open_place(window *at)
{
    int place = ~at->open ? __builtin_ctzll(~at->open) : oldest(at);
    if (!~at->open) forget(at, place);
    at->batch[place] = at->batches->count++;
    at->filled[place] = 0;
    at->open |= UINT64_C(1) << place;
    for (int lane = 0; lane < at->lanes; lane++) blocks_of(at, place)[lane] = -1;
    return place;
}

static void put(window *at, int k)
{
    const int *pair = at->problem->bodies->pair[at->problem->blocks[k].first];
    uint64_t nothing = 0, *first = pair[0] < 0 ? &nothing : &at->taken[pair[0]],
             *second = pair[1] < 0 ? &nothing : &at->taken[pair[1]];
    uint64_t fitting = at->open & ~(*first | *second);
    int place = fitting ? __builtin_ctzll(fitting) : open_place(at);
    *first |= UINT64_C(1) << place;
    *second |= UINT64_C(1) << place;
    blocks_of(at, place)[at->filled[place]++] = k;
    if (at->filled[place] == at->lanes) forget(at, place);
}

/* Contacts of three under Coulomb's law; those whose A_cc or rows do not suit are sent back later. */
static bool is_ordinary(const ss_problem *problem, const ss_block *block)
{
    const int *pair = problem->bodies->pair[block->first];
    return block->law == SS_LAW_CONE && block->size == 3 && pair[0] != pair[1];
}

/* Batches of one task: the window is empty before and after. */
static void fill_task(window *at, const int *contact, ss_batch_task *task)
{
    task->begin = at->batches->count;
    for (int c = task->contact_begin; c < task->contact_end; c++) put(at, contact[c]);
    while (at->open) forget(at, __builtin_ctzll(at->open));
    task->end = at->batches->count;
}

static int block_of(const ss_problem *problem, int unknown)
{
    int low = 0, high = problem->block_count - 1;
    while (low < high) {
        int middle = low + (high - low + 1) / 2;
        if (problem->blocks[middle].first <= unknown)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* Cells find the unknowns that their bounds follow in x, where those of batches are not. */
static void keep_partners_out(const ss_problem *problem, bool *is_batched)
{
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; block->law == SS_LAW_COUPLED && i < block->first + block->size; i++) {
            if (problem->partner[i] >= 0) is_batched[block_of(problem, problem->partner[i])] = false;
        }
    }
}

static bool list_contacts(ss_coloured *coloured, ss_arena *arena)
{
    const ss_problem *problem = coloured->problem;
    ss_contact_plan *plan = &coloured->plan;
    plan->contact =
        ss_arena_take_unset(arena, (size_t)problem->block_count, sizeof *plan->contact, "contacts");
    if (!plan->contact) return false;
    for (int k = 0; k < problem->block_count; k++)
        coloured->is_batched[k] = is_ordinary(problem, &problem->blocks[k]);
    keep_partners_out(problem, coloured->is_batched);
    for (int k = 0; k < problem->block_count; k++) {
        if (coloured->is_batched[k]) plan->contact[plan->contact_count++] = k;
    }
    return true;
}

bool ss_coloured_assign(ss_coloured *coloured, ss_arena *arena)
{
    const ss_problem *problem = coloured->problem;
    ss_contact_plan *plan = &coloured->plan;
    ss_batches *batches = &coloured->batches;
    if (!list_contacts(coloured, arena) || !ss_contact_plan_make(problem, arena, plan)) return false;
    size_t most = (size_t)plan->contact_count; // one contact in each
    int lanes = coloured->method.single ? SS_SINGLE_LANES : SS_LANES;
    batches->block = ss_arena_take_unset(arena, most * (size_t)(lanes / SS_LANES), sizeof *batches->block,
                                         "contacts of batches");
    window at = {.problem = problem, .batches = batches, .lanes = lanes};
    at.taken = ss_arena_take(arena, (size_t)problem->bodies->bodies, sizeof *at.taken, "bodies of batches");
    if (!batches->block || !at.taken) return false;
    for (int t = 0; t < plan->task_count; t++) fill_task(&at, plan->contact, &plan->tasks[t]);
    return true;
}
