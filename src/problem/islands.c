#include "problem/islands.h"

#include "base/memory.h"
#include "base/partition.h"
#include "base/team.h"
#include "problem/bodies_form.h"

#include <string.h>

/* ---- which body is on which island ------------------------------------------------------------------ */

/* All unknowns of a block act on the same bodies; of one with further blocks, all that they name. A row of
 * more than two bodies has both bodies of its pair. */
static int body_of(const ss_bodies_form *form, const ss_block *block)
{
    const int *pair = form->pair[block->first];
    return pair[0] >= 0 ? pair[0] : pair[1];
}

/* Island of every body, -1 where no row acts; returns how many islands there are. If there is only one, which
 * joining tells, its bodies need no number. */
static int number_islands(const ss_problem *problem, int *parent, int *island)
{
    const ss_bodies_form *form = problem->bodies;
    int count = 0, bodies = 0, joins = 0;
    bool has_further = ss_bodies_further(form, 0, problem->size) > 0;
    ss_partition_start(parent, form->bodies);
    for (int body = 0; body < form->bodies; body++) island[body] = -1;

    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (block->size == 0) continue;
        const int *pair = form->pair[block->first];
        for (int side = 0; side < 2; side++) {
            if (pair[side] < 0) continue;
            bodies += island[pair[side]] < 0;
            island[pair[side]] = 0;
        }
        if (pair[0] >= 0 && pair[1] >= 0 && parent[pair[0]] != parent[pair[1]])
            joins += ss_partition_join(parent, pair[0], pair[1]);
        int further = has_further ? ss_bodies_further(form, block->first, block->first + block->size) : 0;
        for (int i = 0; i < further; i++) {
            int body = form->further_body[form->further_start[block->first] + i];
            bodies += island[body] < 0;
            island[body] = 0;
            joins += ss_partition_join(parent, body_of(form, block), body);
        }
    }
    if (bodies - joins == 1) return 1;

    /* Numbered in the order of their first blocks. */
    for (int body = 0; body < form->bodies; body++) island[body] = -1;
    for (int k = 0; k < problem->block_count; k++) {
        if (problem->blocks[k].size == 0) continue;
        int root = ss_partition_find(parent, body_of(form, &problem->blocks[k]));
        if (island[root] < 0) island[root] = count++;
    }
    for (int body = 0; body < form->bodies; body++) island[body] = island[ss_partition_find(parent, body)];
    return count;
}

/* ---- arrays, island by island ----------------------------------------------------------------------- */

typedef struct places {
    int *unknown, *body;                        // old to new; bodies within their island
    int *next_unknown, *next_block, *next_body; // of every island: the next free place in the common arrays
} places;

/* All of it is written later. */
static bool take_problem(ss_arena *arena, int size, int blocks, int bodies, int further, ss_problem *to,
                         ss_bodies_form *form)
{
    size_t n = (size_t)size, nb = (size_t)bodies, nf = (size_t)further;
    to->b = ss_arena_take_unset(arena, n, sizeof *to->b, "island b");
    to->lower = ss_arena_take_unset(arena, n, sizeof *to->lower, "island bounds");
    to->upper = ss_arena_take_unset(arena, n, sizeof *to->upper, "island bounds");
    to->partner = ss_arena_take_unset(arena, n, sizeof *to->partner, "island partners");
    to->factor = ss_arena_take_unset(arena, n, sizeof *to->factor, "island partners");
    to->diagonal = ss_arena_take_unset(arena, n, sizeof *to->diagonal, "island diagonal");
    to->blocks = ss_arena_take_unset(arena, (size_t)blocks, sizeof *to->blocks, "island blocks");
    form->inverse_mass = ss_arena_take_unset(arena, nb, sizeof *form->inverse_mass, "island masses");
    form->inverse_inertia = ss_arena_take_unset(arena, nb, sizeof *form->inverse_inertia, "island masses");
    form->free_velocity = ss_arena_take_unset(arena, nb, sizeof *form->free_velocity, "island velocities");
    form->pair = ss_arena_take_unset(arena, n, sizeof *form->pair, "island pairs");
    form->jacobian = ss_arena_take_unset(arena, n, sizeof *form->jacobian, "island rows");
    form->compliance = ss_arena_take_unset(arena, n, sizeof *form->compliance, "island rows");
    form->offset = ss_arena_take_unset(arena, n, sizeof *form->offset, "island rows");
    if (further > 0) {
        form->further_start = ss_arena_take(arena, n + 1, sizeof *form->further_start, "further blocks");
        form->further_body = ss_arena_take_unset(arena, nf, sizeof *form->further_body, "further blocks");
        form->further_jacobian =
            ss_arena_take_unset(arena, nf, sizeof *form->further_jacobian, "further blocks");
        if (!form->further_start || !form->further_body || !form->further_jacobian) return false;
    }
    return to->b && to->lower && to->upper && to->partner && to->factor && to->diagonal && to->blocks &&
           form->inverse_mass && form->inverse_inertia && form->free_velocity && form->pair &&
           form->jacobian && form->compliance && form->offset;
}

/* The part of the common arrays that belongs to one island, as a problem. */
static void look_at_island(const ss_problem *all, const int unknowns[2], const int blocks[2],
                           const int bodies[2], ss_bodies_form *form, ss_problem *island)
{
    const ss_bodies_form *from = all->bodies;
    int u = unknowns[0], b = bodies[0];
    *form = (ss_bodies_form){.bodies = bodies[1] - b,
                             .inverse_mass = from->inverse_mass + b,
                             .inverse_inertia = from->inverse_inertia + b,
                             .free_velocity = from->free_velocity + b,
                             .pair = from->pair + u,
                             .jacobian = from->jacobian + u,
                             .compliance = from->compliance + u,
                             .offset = from->offset + u};
    if (ss_bodies_further(from, u, unknowns[1]) > 0) {
        form->further_start = from->further_start + u;
        form->further_body = from->further_body;
        form->further_jacobian = from->further_jacobian;
    }
    *island = (ss_problem){.size = unknowns[1] - u,
                           .b = all->b + u,
                           .lower = all->lower + u,
                           .upper = all->upper + u,
                           .partner = all->partner + u,
                           .factor = all->factor + u,
                           .blocks = all->blocks + blocks[0],
                           .block_count = blocks[1] - blocks[0],
                           .diagonal = all->diagonal + u,
                           .symmetric = all->symmetric,
                           .bodies = form};
}

/* Places of blocks and unknowns in the new order. */
static void place_blocks(const ss_problem *problem, const int *island, const int *first_unknown,
                         places *place, ss_problem *to, int *order)
{
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (block->size == 0) continue;
        int of = island[body_of(problem->bodies, block)], at = place->next_unknown[of];
        ss_block *copy = &to->blocks[place->next_block[of]++];
        *copy = *block;
        copy->first = at - first_unknown[of];
        for (int i = 0; i < block->size; i++) {
            order[at + i] = block->first + i;
            place->unknown[block->first + i] = copy->first + i;
        }
        place->next_unknown[of] = at + block->size;
    }
}

typedef struct row_copies {
    const ss_problem *from;
    ss_problem *to;
    const int *order;
    const places *place;
} row_copies;

static void copy_rows(int64_t begin, int64_t end, int worker, void *context)
{
    (void)worker;
    const row_copies *of = context;
    const ss_problem *problem = of->from;
    const ss_bodies_form *form = problem->bodies;
    ss_problem *to = of->to;
    ss_bodies_form *to_form = to->bodies;
    for (int64_t at = begin; at < end; at++) {
        int i = of->order[at], partner = problem->partner[i];
        to->b[at] = problem->b[i];
        to->lower[at] = problem->lower[i];
        to->upper[at] = problem->upper[i];
        to->partner[at] = partner < 0 ? partner : of->place->unknown[partner];
        to->factor[at] = problem->factor[i];
        to->diagonal[at] = problem->diagonal[i];
        for (int side = 0; side < 2; side++) {
            int body = form->pair[i][side];
            to_form->pair[at][side] = body < 0 ? -1 : of->place->body[body];
        }
        memcpy(to_form->jacobian[at], form->jacobian[i], sizeof to_form->jacobian[at]);
        to_form->compliance[at] = form->compliance[i];
        to_form->offset[at] = form->offset[i];
    }
}

static int *take_ints(ss_arena *arena, int count)
{
    return ss_arena_take(arena, (size_t)count, sizeof(int), "island numbers");
}

/* Copies everything in the new order, and cuts it into islands. */
static bool cut(const ss_problem *problem, const int *island, ss_team *team, ss_arena *arena,
                ss_islands *islands)
{
    enum { ROWS_AT_ONCE = 768, ROW = 15 }; // ns
    const ss_bodies_form *form = problem->bodies;
    int count = islands->count;
    int *first[3] = {take_ints(arena, count + 1), take_ints(arena, count + 1), take_ints(arena, count + 1)};
    islands->first = first[0];
    islands->order = take_ints(arena, problem->size);
    islands->problems = ss_arena_take(arena, (size_t)count, sizeof *islands->problems, "islands");
    ss_bodies_form *forms = ss_arena_take(arena, (size_t)count, sizeof *forms, "islands"), all_form = {0};
    if (!first[0] || !first[1] || !first[2] || !islands->order || !islands->problems || !forms) return false;

    /* Where unknowns, blocks and bodies of each island begin in the common arrays. */
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (block->size == 0) continue;
        int of = island[body_of(form, block)];
        first[0][of + 1] += block->size;
        first[1][of + 1]++;
    }
    for (int body = 0; body < form->bodies; body++)
        if (island[body] >= 0) first[2][island[body] + 1]++;
    for (int k = 0; k < 3; k++)
        for (int i = 0; i < count; i++) first[k][i + 1] += first[k][i];

    /* The next free places, which move on while members are placed. */
    places place = {.unknown = take_ints(arena, problem->size),
                    .body = take_ints(arena, form->bodies),
                    .next_unknown = take_ints(arena, count + 1),
                    .next_block = take_ints(arena, count + 1),
                    .next_body = take_ints(arena, count + 1)};
    ss_problem all = {.symmetric = problem->symmetric, .bodies = &all_form};
    if (!place.unknown || !place.body || !place.next_unknown || !place.next_block || !place.next_body ||
        !take_problem(arena, problem->size, problem->block_count, first[2][count],
                      ss_bodies_further(form, 0, problem->size), &all, &all_form))
        return false;
    size_t bytes = (size_t)(count + 1) * sizeof(int);
    memcpy(place.next_unknown, first[0], bytes);
    memcpy(place.next_block, first[1], bytes);
    memcpy(place.next_body, first[2], bytes);

    for (int body = 0; body < form->bodies; body++) {
        int of = island[body];
        if (of < 0) continue;
        int at = place.next_body[of]++;
        place.body[body] = at - first[2][of];
        all_form.inverse_mass[at] = form->inverse_mass[body];
        memcpy(all_form.inverse_inertia[at], form->inverse_inertia[body], sizeof *all_form.inverse_inertia);
        memcpy(all_form.free_velocity[at], form->free_velocity[body], sizeof *all_form.free_velocity);
    }
    place_blocks(problem, island, first[0], &place, &all, islands->order);
    row_copies copies = {.from = problem, .to = &all, .order = islands->order, .place = &place};
    ss_parallel_for(ss_team_for_loop(team, first[0][count], ROW), first[0][count], ROWS_AT_ONCE, copy_rows,
                    &copies);

    /* Further blocks, in the new order of the unknowns. */
    for (int at = 0, next = 0; all_form.further_start && at < first[0][count]; at++) {
        int i = islands->order[at];
        for (int k = form->further_start[i]; k < form->further_start[i + 1]; k++, next++) {
            all_form.further_body[next] = place.body[form->further_body[k]];
            memcpy(all_form.further_jacobian[next], form->further_jacobian[k],
                   sizeof *all_form.further_jacobian);
        }
        all_form.further_start[at + 1] = next;
    }

    for (int i = 0; i < count; i++)
        look_at_island(&all, first[0] + i, first[1] + i, first[2] + i, &forms[i], &islands->problems[i]);
    return true;
}

/* Renumbers islands, small ones sharing a number; returns how many are left. They stay in the order of the
 * first block among them. */
static int bundle(const ss_problem *problem, int small, int most, int count, ss_arena *arena, int *island)
{
    int *unknowns = take_ints(arena, count), *number = take_ints(arena, count);
    int left = 0, open = -1, filled = 0;
    if (!unknowns || !number) return 0;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (block->size) unknowns[island[body_of(problem->bodies, block)]] += block->size;
    }
    for (int i = 0; i < count; i++) {
        bool is_small = unknowns[i] <= small;
        if (is_small && (open < 0 || filled + unknowns[i] > most)) open = left++, filled = 0;
        if (is_small) filled += unknowns[i];
        number[i] = is_small ? open : left++;
    }
    for (int body = 0; body < problem->bodies->bodies; body++) {
        if (island[body] >= 0) island[body] = number[island[body]];
    }
    return left;
}

bool ss_islands_split(const ss_problem *problem, ss_team *team, ss_arena *arena, ss_islands *islands,
                      ss_error *err)
{
    return ss_islands_split_large(problem, 0, 0, team, arena, islands, err);
}

bool ss_islands_split_large(const ss_problem *problem, int small, int most, ss_team *team, ss_arena *arena,
                            ss_islands *islands, ss_error *err)
{
    *islands = (ss_islands){.count = problem->size > 0};
    if (!problem->bodies || problem->A || problem->size == 0) return true;

    /* Rows between what does not move belong nowhere: then the problem stays whole. */
    for (int k = 0; k < problem->block_count; k++)
        if (problem->blocks[k].size && body_of(problem->bodies, &problem->blocks[k]) < 0) return true;
    int *parent = take_ints(arena, problem->bodies->bodies),
        *island = take_ints(arena, problem->bodies->bodies);
    bool good = parent && island;
    if (good) islands->count = number_islands(problem, parent, island);
    if (good && small > 0 && islands->count > 1)
        good = (islands->count = bundle(problem, small, most, islands->count, arena, island)) > 0;
    if (good && islands->count > 1) good = cut(problem, island, team, arena, islands);
    if (good) return true;
    *islands = (ss_islands){0};
    return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for the islands of %d unknowns", problem->size);
}

void ss_islands_release(ss_islands *islands)
{
    for (int i = 0; islands->problems && i < islands->count; i++) ss_sparse_destroy(islands->problems[i].A);
    *islands = (ss_islands){0};
}

void ss_islands_gather_one(const ss_islands *islands, int island, const double *x, double *ordered)
{
    const int *first = &islands->first[island];
    for (int i = first[0]; i < first[1]; i++) ordered[i] = x[islands->order[i]];
}

void ss_islands_scatter_one(const ss_islands *islands, int island, const double *ordered, double *x)
{
    const int *first = &islands->first[island];
    for (int i = first[0]; i < first[1]; i++) x[islands->order[i]] = ordered[i];
}

void ss_islands_gather(const ss_islands *islands, const double *x, double *ordered)
{
    for (int i = 0; i < islands->count; i++) ss_islands_gather_one(islands, i, x, ordered);
}

void ss_islands_scatter(const ss_islands *islands, const double *ordered, double *x)
{
    for (int i = 0; i < islands->count; i++) ss_islands_scatter_one(islands, i, ordered, x);
}
