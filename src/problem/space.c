#include "problem/space.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/add_scaled.h"
#include "problem/laws.h"

/* ---- nodes ------------------------------------------------------------------------------------------ */

/* The first row whose bounds follow the normal of this cone and nothing else. */
bool ss_space_is_spin(const ss_problem *problem, int k, int i)
{
    int partner = problem->partner[i];
    if (partner < 0 || !isinf(problem->lower[i]) || !isinf(problem->upper[i])) return false;
    for (int at = i - 1; at > partner; at--)
        if (problem->partner[at] == partner) return false;
    while (k >= 0 && problem->blocks[k].first > partner) k--;
    return k >= 0 && ss_block_is_cone(&problem->blocks[k]) && problem->blocks[k].first == partner;
}

/* Renumbers the unknowns by nodes. A cone is a node, led by its normal, and the first row of torsional
 * friction that follows it belongs to it; any other row is one, or follows its partner when that is a row
 * whose node stays small. Nodes come in the order of their leaders; a leader comes first
 * in its node, the others in their order. */
static bool make_nodes(ss_space *space, ss_arena *arena)
{
    const ss_problem *problem = space->problem;
    size_t n = (size_t)problem->size;
    int *block_of = ss_arena_take(arena, n, sizeof *block_of, "blocks of unknowns");
    int *leader = ss_arena_take(arena, n, sizeof *leader, "nodes"); // leader[i] = i for the first of a node
    int *size = ss_arena_take(arena, n, sizeof *size, "nodes");     // of leaders
    space->nodes = ss_arena_take(arena, n, sizeof *space->nodes, "nodes");
    space->number = ss_arena_take(arena, n, sizeof *space->number, "numbers");
    if (!block_of || !leader || !size || !space->nodes || !space->number) return false;
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        for (int i = block->first; i < block->first + block->size; i++) block_of[i] = k;
    }

    for (int i = 0; i < problem->size; i++) size[i] = 1;
    for (int i = 0; i < problem->size; i++) {
        const ss_block *block = &problem->blocks[block_of[i]];
        int partner = problem->partner[i];
        leader[i] = ss_block_is_cone(block) ? block->first : i;
        if (partner >= 0 && !ss_block_is_cone(block)) {
            const ss_block *other = &problem->blocks[block_of[partner]];
            bool is_plain = problem->partner[partner] < 0 && partner != i && !ss_block_is_cone(other);
            bool spins = ss_space_is_spin(problem, block_of[i], i);
            if (spins || (is_plain && size[partner] < SS_NODE_MAX)) leader[i] = partner;
        }
        if (leader[i] != i) size[leader[i]]++;
    }

    int *node_of = space->number, place = 0; // until the end: the node a leader has
    for (int i = 0; i < problem->size; i++) {
        if (leader[i] != i) continue;
        const ss_block *block = &problem->blocks[block_of[i]];
        bool is_cone = ss_block_is_cone(block);
        space->nodes[space->node_count] = (ss_node){.law = is_cone ? block->law : SS_LAW_BOX,
                                                    .first = place,
                                                    .size = size[i],
                                                    .mu = is_cone ? block->mu : 0.0,
                                                    .mu_rolling = is_cone ? block->mu_rolling : 0.0,
                                                    .spins = is_cone && size[i] > block->size};
        node_of[i] = space->node_count++;
        place += size[i];
        size[i] = 1; // from here on: the next free place behind the leader
    }
    for (int i = 0; i < problem->size; i++) {
        if (leader[i] == i) continue;
        space->number[i] = space->nodes[node_of[leader[i]]].first + size[leader[i]]++;
    }
    for (int i = 0; i < problem->size; i++) {
        if (leader[i] == i) space->number[i] = space->nodes[node_of[i]].first;
    }
    return true;
}

/* ---- scales ----------------------------------------------------------------------------------------- */

/* Inverse masses a_i: of rows the diagonal, or what others lend; of contacts one for normal and tangents, one
 * for the rolling part, so that cones stay cones. */
static void choose_scales(const ss_problem *problem, double *scale)
{
    for (int i = 0; i < problem->size; i++) scale[i] = fmax(problem->diagonal[i], 0.0);
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (!ss_block_is_cone(block)) continue;
        double *own = scale + block->first, mean = ss_block_inverse_mass(block, problem->diagonal);
        int forces = 1 + ss_cone_tangents(block->size);
        double rolling = ss_cone_rolls(block->size) ? 0.5 * (own[forces] + own[forces + 1]) : 0.0;
        for (int i = 0; i < block->size; i++) own[i] = fmax(i < forces ? mean : rolling, 0.0);
    }
    ss_problem_lend_masses(problem, scale);
    for (int i = 0; i < problem->size; i++) {
        if (!(scale[i] > 0.0)) scale[i] = 1.0;
    }
    for (int k = 0; k < problem->block_count; k++) { // contacts of zero mass: isotropic all the same
        const ss_block *block = &problem->blocks[k];
        if (!ss_block_is_cone(block)) continue;
        int first = block->first, forces = 1 + ss_cone_tangents(block->size);
        for (int i = 1; i < block->size; i++) scale[first + i] = scale[first + (i < forces ? 0 : forces)];
    }
}

/* The laws in the new variables. */
static void scale_laws(ss_space *space)
{
    const ss_problem *problem = space->problem;
    for (int i = 0; i < problem->size; i++) {
        int to = space->number[i], partner = problem->partner[i];
        space->lower[to] = problem->lower[i] / space->unit[i];
        space->upper[to] = problem->upper[i] / space->unit[i];
        space->partner[to] = partner >= 0 ? space->number[partner] : -1;
        space->factor[to] = partner >= 0 ? problem->factor[i] * space->unit[partner] / space->unit[i] : 0.0;
    }
    for (int k = 0, node = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (!ss_block_is_cone(block) || block->size == 0) continue;
        int first = block->first;
        while (space->nodes[node].first != space->number[first]) node++;
        int rolling = first + ss_cone_rolling(block->size);
        if (ss_cone_rolls(block->size))
            space->nodes[node].mu_rolling *= space->unit[first] / space->unit[rolling];
        if (space->nodes[node].spins)
            space->nodes[node].mu_spin = space->factor[space->nodes[node].first + block->size];
    }
}

/* ---- W ---------------------------------------------------------------------------------------------- */

static bool make_matrix(ss_space *space, const double *root_of_scale, double root_of_energy, ss_arena *arena)
{
    const ss_problem *problem = space->problem;
    double *left = ss_arena_take(arena, (size_t)problem->size, sizeof *left, "scales");
    int *first = ss_arena_take(arena, (size_t)space->node_count + 1, sizeof *first, "nodes");
    if (!left || !first) return false;
    for (int i = 0; i < problem->size; i++) left[i] = 1.0 / (root_of_energy * root_of_scale[i]);
    for (int k = 0; k < space->node_count; k++) first[k] = space->nodes[k].first;
    first[space->node_count] = problem->size;
    space->W =
        ss_block_rows_create(problem->A, space->node_count, first, space->number, left, space->unit, arena);
    return space->W != NULL;
}

/* From A where there is one, else from levers that are thrown away. */
static bool make_full(ss_space *space, const double *root_of_scale, double root_of_energy, ss_arena *arena)
{
    const ss_sparse *A = space->problem->A;
    const int *number = space->number;
    size_t n = (size_t)space->size;
    space->full = ss_arena_take(arena, n * n, sizeof *space->full, "full matrix");
    space->kept = ss_arena_take(arena, n, sizeof *space->kept, "full matrix");
    if (!space->full || !space->kept) return false;
    if (A) {
        for (int j = 0; j < space->size; j++) {
            for (int k = A->start[j]; k < A->start[j + 1]; k++) {
                int i = A->row[k];
                space->full[number[j] * space->size + number[i]] =
                    A->value[k] * space->unit[j] / (root_of_energy * root_of_scale[i]);
            }
        }
        return true;
    }
    const ss_levers *levers = ss_levers_create(space->problem, number, root_of_scale, arena);
    if (!levers) return false;
    for (int i = 0; i < space->size; i++) {
        for (int j = 0; j <= i; j++) {
            space->full[i * space->size + j] = space->full[j * space->size + i] =
                ss_levers_product(levers, i, j);
        }
        space->full[i * space->size + i] += levers->compliance[i];
    }
    return true;
}

ss_space *ss_space_create(const ss_problem *problem, ss_arena *arena)
{
    size_t n = (size_t)problem->size;
    double *scale, energy = 0.0;
    ss_space *space = ss_arena_take(arena, 1, sizeof *space, "scaled space");
    if (!space) return NULL;
    space->problem = problem;
    space->size = problem->size;
    space->partner = ss_arena_take(arena, n, sizeof *space->partner, "partners");
    if (!space->partner || !make_nodes(space, arena) ||
        !ss_arena_take_vectors(arena, n, "scaled space",
                               (double **[]){&space->unit, &space->lower, &space->upper, &space->factor,
                                             &space->q, &scale, NULL}))
        return NULL;

    choose_scales(problem, scale);
    for (int i = 0; i < problem->size; i++) energy += 0.5 * problem->b[i] * problem->b[i] / scale[i];
    double root = sqrt(energy > 0.0 && isfinite(energy) ? energy : 1.0);
    for (int i = 0; i < problem->size; i++) {
        scale[i] = sqrt(scale[i]);
        space->unit[i] = root / scale[i];
        space->q[space->number[i]] = problem->b[i] / (root * scale[i]);
    }
    scale_laws(space);
    bool is_small = problem->size <= SS_FULL_SPACE;
    if (!is_small && problem->bodies)
        space->levers = ss_levers_create(problem, space->number, scale, arena);
    else if (!(is_small ? make_full : make_matrix)(space, scale, root, arena))
        return NULL;
    return space->full || space->W || space->levers ? space : NULL;
}

/* ---- there and back --------------------------------------------------------------------------------- */

void ss_space_enter(const ss_space *space, const double *x, double *r)
{
    for (int i = 0; i < space->size; i++) r[space->number[i]] = x[i] / space->unit[i];
}

void ss_space_leave(const ss_space *space, const double *r, double *x)
{
    for (int i = 0; i < space->size; i++) x[i] = r[space->number[i]] * space->unit[i];
    ss_problem_project(space->problem, x);
}

void ss_space_own(const ss_space *space, int k, double *own)
{
    int first = space->nodes[k].first, n = space->nodes[k].size;
    if (space->W) {
        const ss_block_rows *W = space->W;
        memcpy(own, W->value + W->place[W->diagonal[k]], (size_t)(n * n) * sizeof *own);
        return;
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            own[i * n + j] = space->full ? space->full[(first + j) * space->size + first + i]
                                         : ss_levers_product(space->levers, first + i, first + j);
        }
        if (space->levers) own[i * n + i] += space->levers->compliance[first + i];
    }
}

void ss_space_apply(const ss_space *space, const double *r, double *u)
{
    const ss_levers *levers = space->levers;
    int n = space->size;
    if (space->full) {
        const double *column = space->full;
        memset(u, 0, (size_t)n * sizeof *u);
        for (int j = 0; j < n; j++, column += n) {
            if (r[j] != 0.0) ss_add_scaled(n, r[j], column, u);
        }
        return;
    }
    if (!levers) {
        ss_block_rows_apply(space->W, r, u);
        return;
    }
    memset(levers->velocity, 0, (size_t)levers->bodies * sizeof *levers->velocity);
    ss_levers_push(levers, r, levers->velocity);
    ss_levers_pull(levers, levers->velocity, u);
    for (int i = 0; i < n; i++) u[i] += levers->compliance[i] * r[i];
}

void ss_space_velocity(const ss_space *space, const double *r, double *u)
{
    ss_space_apply(space, r, u);
    for (int i = 0; i < space->size; i++) u[i] += space->q[i];
}
