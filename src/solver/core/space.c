#include "solver/core/space.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/add_scaled.h"
#include "problem/laws.h"

/* ---- nodes ------------------------------------------------------------------------------------------ */

/* Renumbers the unknowns by nodes. A cone is a node, led by its normal; a row is one, or follows its partner
 * when that is a row whose node stays small. Nodes come in the order of their leaders; a leader comes first
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
        if (partner >= 0 && !ss_block_is_cone(block) &&
            !ss_block_is_cone(&problem->blocks[block_of[partner]])) {
            bool is_plain = problem->partner[partner] < 0 && partner != i;
            if (is_plain && size[partner] < SS_NODE_MAX) leader[i] = partner;
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
                                                    .mu_rolling = is_cone ? block->mu_rolling : 0.0};
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

/* Inverse masses a_i: of rows the diagonal, of contacts one for normal and tangents, one for the rolling
 * part. */
static void choose_scales(const ss_problem *problem, double *diagonal, double *scale)
{
    const ss_sparse *A = problem->A;
    for (int i = 0; i < problem->size; i++) diagonal[i] = fmax(problem->diagonal[i], 0.0);
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (!ss_block_is_cone(block)) continue;
        int first = block->first;
        double mean = ss_block_inverse_mass(block, problem->diagonal);
        double rolling = block->size == 5 ? 0.5 * (diagonal[first + 3] + diagonal[first + 4]) : 0.0;
        for (int i = 0; i < block->size; i++) diagonal[first + i] = fmax(i < 3 ? mean : rolling, 0.0);
    }

    // A row whose own is zero (the sliding speed of Stewart and Trinkle): what the rows coupled to it make of
    // it, |a_ij a_ji| / a_jj, has the right unit.
    for (int j = 0; j < problem->size; j++) {
        double lent = 0.0;
        for (int k = A ? A->start[j] : 0; A && !(diagonal[j] > 0.0) && k < A->start[j + 1]; k++) {
            int i = A->row[k];
            if (!(diagonal[i] > 0.0)) continue;
            double back = ss_sparse_get(A, j, i), there = A->value[k];
            lent = fmax(lent, fabs((back != 0.0 ? back : there) * there) / diagonal[i]);
        }
        scale[j] = diagonal[j] > 0.0 ? diagonal[j] : lent > 0.0 ? lent : 1.0;
    }
    for (int k = 0; k < problem->block_count; k++) { // contacts of zero mass: isotropic all the same
        const ss_block *block = &problem->blocks[k];
        if (!ss_block_is_cone(block)) continue;
        int first = block->first;
        for (int i = 1; i < block->size; i++) scale[first + i] = scale[first + (i < 3 ? 0 : 3)];
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
        if (block->size == 5) space->nodes[node].mu_rolling *= space->unit[first] / space->unit[first + 3];
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

/* Lower L with L L' = A for a symmetric positive semidefinite 3 x 3 matrix; columns of zero pivots are
 * zero. */
static void root_of_inertia(const double A[9], double L[9])
{
    static const double rounding = 1e-14;
    memset(L, 0, 9 * sizeof *L);
    for (int j = 0; j < 3; j++) {
        double pivot = A[3 * j + j];
        for (int k = 0; k < j; k++) pivot -= L[3 * j + k] * L[3 * j + k];
        if (!(pivot > rounding * A[3 * j + j])) continue;
        L[3 * j + j] = sqrt(pivot);
        for (int i = j + 1; i < 3; i++) {
            double rest = A[3 * i + j];
            for (int k = 0; k < j; k++) rest -= L[3 * i + k] * L[3 * j + k];
            L[3 * i + j] = rest / L[3 * j + j];
        }
    }
}

/* Rows of H: the Jacobian times the roots of M^-1. */
static bool make_levers(ss_space *space, const double *root_of_scale, ss_arena *arena)
{
    const ss_problem *problem = space->problem;
    const ss_bodies_form *form = problem->bodies;
    size_t n = (size_t)problem->size, bodies = (size_t)form->bodies;
    ss_levers *levers = space->levers = ss_arena_take(arena, 1, sizeof *levers, "levers");
    double *roots = ss_arena_take(arena, 9 * bodies, sizeof *roots, "roots of inertia");
    if (!levers || !roots) return false;
    levers->bodies = form->bodies;
    levers->pair = ss_arena_take(arena, n, sizeof *levers->pair, "levers");
    levers->lever = ss_arena_take(arena, n, sizeof *levers->lever, "levers");
    levers->compliance = ss_arena_take(arena, n, sizeof *levers->compliance, "levers");
    levers->velocity = ss_arena_take(arena, bodies, sizeof *levers->velocity, "velocities");
    if (!levers->pair || !levers->lever || !levers->compliance || !levers->velocity) return false;
    for (int body = 0; body < form->bodies; body++)
        root_of_inertia(form->inverse_inertia[body], roots + 9 * body);
    for (int i = 0; i < problem->size; i++) {
        int to = space->number[i];
        double scale = root_of_scale[i];
        levers->compliance[to] = form->compliance[i] / (scale * scale);
        for (int side = 0; side < 2; side++) {
            int body = levers->pair[to][side] = form->pair[i][side];
            if (body < 0) continue;
            double root_of_mass = sqrt(form->inverse_mass[body]), *lever = levers->lever[to] + 6 * side;
            const double *L = roots + 9 * body, *jacobian = form->jacobian[i] + 6 * side;
            for (int k = 0; k < 3; k++) {
                double sum = 0.0;
                for (int j = k; j < 3; j++) sum += jacobian[3 + j] * L[3 * j + k];
                lever[k] = jacobian[k] * root_of_mass / scale;
                lever[3 + k] = sum / scale;
            }
        }
    }
    return true;
}

/* H_i H_j' */
static double lever_product(const ss_levers *levers, int i, int j)
{
    double sum = 0.0;
    for (int a = 0; a < 2; a++) {
        for (int b = 0; b < 2; b++) {
            if (levers->pair[i][a] < 0 || levers->pair[i][a] != levers->pair[j][b]) continue;
            const double *left = levers->lever[i] + 6 * a, *right = levers->lever[j] + 6 * b;
            for (int k = 0; k < 6; k++) sum += left[k] * right[k];
        }
    }
    return sum;
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
    if (!make_levers(space, root_of_scale, arena)) return false;
    for (int i = 0; i < space->size; i++) {
        for (int j = 0; j <= i; j++) {
            space->full[i * space->size + j] = space->full[j * space->size + i] =
                lever_product(space->levers, i, j);
        }
        space->full[i * space->size + i] += space->levers->compliance[i];
    }
    space->levers = NULL;
    return true;
}

ss_space *ss_space_create(const ss_problem *problem, ss_arena *arena)
{
    size_t n = (size_t)problem->size;
    double *diagonal, *scale, energy = 0.0;
    ss_space *space = ss_arena_take(arena, 1, sizeof *space, "scaled space");
    if (!space) return NULL;
    space->problem = problem;
    space->size = problem->size;
    space->partner = ss_arena_take(arena, n, sizeof *space->partner, "partners");
    if (!space->partner || !make_nodes(space, arena) ||
        !ss_arena_take_vectors(arena, n, "scaled space",
                               (double **[]){&space->unit, &space->lower, &space->upper, &space->factor,
                                             &space->q, &diagonal, &scale, NULL}))
        return NULL;

    choose_scales(problem, diagonal, scale);
    for (int i = 0; i < problem->size; i++) energy += 0.5 * problem->b[i] * problem->b[i] / scale[i];
    double root = sqrt(energy > 0.0 && isfinite(energy) ? energy : 1.0);
    for (int i = 0; i < problem->size; i++) {
        scale[i] = sqrt(scale[i]);
        space->unit[i] = root / scale[i];
        space->q[space->number[i]] = problem->b[i] / (root * scale[i]);
    }
    scale_laws(space);
    bool good = problem->size <= SS_FULL_SPACE ? make_full(space, scale, root, arena)
                : problem->bodies              ? make_levers(space, scale, arena)
                                               : make_matrix(space, scale, root, arena);
    return good ? space : NULL;
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
                                         : lever_product(space->levers, first + i, first + j);
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
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        int first = node->first, end = first + node->size;
        if (ss_space_is_contact(levers, node))
            ss_space_push_contact(levers, first, r + first, levers->velocity);
        else
            for (int i = first; i < end; i++) ss_space_push(levers, i, r[i], levers->velocity);
    }
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        int first = node->first, end = first + node->size;
        if (ss_space_is_contact(levers, node))
            ss_space_pull_contact(levers, first, levers->velocity, u + first);
        else
            for (int i = first; i < end; i++) u[i] = ss_space_pull(levers, i, levers->velocity);
        for (int i = first; i < end; i++) u[i] += levers->compliance[i] * r[i];
    }
}

void ss_space_velocity(const ss_space *space, const double *r, double *u)
{
    ss_space_apply(space, r, u);
    for (int i = 0; i < space->size; i++) u[i] += space->q[i];
}

/* ---- fast products ---------------------------------------------------------------------------------- */

/* Two numbers at a time: a twist is three pairs. */
typedef double pair __attribute__((vector_size(16)));
typedef struct twist {
    pair part[3];
} twist;

static inline pair load_pair(const double *from)
{
    pair two;
    memcpy(&two, from, sizeof two);
    return two;
}

static inline twist load_twist(const double *from)
{
    return (twist){{load_pair(from), load_pair(from + 2), load_pair(from + 4)}};
}

static inline void store_twist(const twist *from, double *to)
{
    memcpy(to, from, sizeof *from);
}

bool ss_row_groups_create(const ss_space *space, ss_arena *arena, ss_row_groups *groups)
{
    const ss_levers *levers = space->levers;
    *groups = (ss_row_groups){.space = space};
    if (!levers) return true;
    groups->items = ss_arena_take_unset(arena, (size_t)space->size, sizeof *groups->items, "bodies of rows");
    if (!groups->items) return false;
    ss_row_group *last = NULL;
    for (int i = 0; i < space->size; i++) {
        const int *body = levers->pair[i];
        if (last && body[0] == last->body[0] && body[1] == last->body[1]) {
            last->count++;
        } else {
            last = &groups->items[groups->count++];
            *last = (ss_row_group){i, 1, {body[0], body[1]}};
        }
    }
    return true;
}

static inline void push_side(const double *lever, const double *amount, int count, double *v)
{
    twist sum = load_twist(v);
    for (int k = 0; k < count; k++, lever += 12) {
        for (int d = 0; d < 3; d++) sum.part[d] += load_pair(lever + 2 * d) * amount[k];
    }
    store_twist(&sum, v);
}

void ss_row_groups_push(const ss_row_groups *groups, const double *amount, double (*v)[6])
{
    const ss_levers *levers = groups->space->levers;
    for (int s = 0; s < groups->count; s++) {
        const ss_row_group *at = &groups->items[s];
        for (int side = 0; side < 2; side++) {
            if (at->body[side] < 0) continue;
            push_side(levers->lever[at->first] + 6 * side, amount + at->first, at->count, v[at->body[side]]);
        }
    }
}

static inline pair pull_side(const double *lever, const twist *v)
{
    return load_pair(lever) * v->part[0] + load_pair(lever + 2) * v->part[1] +
           load_pair(lever + 4) * v->part[2];
}

void ss_row_groups_pull(const ss_row_groups *groups, double (*v)[6], double *speed)
{
    static const double still[6];
    const ss_levers *levers = groups->space->levers;
    for (int s = 0; s < groups->count; s++) {
        const ss_row_group *at = &groups->items[s];
        twist a = load_twist(at->body[0] < 0 ? still : v[at->body[0]]);
        twist b = load_twist(at->body[1] < 0 ? still : v[at->body[1]]);
        for (int i = at->first; i < at->first + at->count; i++) {
            pair sum = pull_side(levers->lever[i], &a) + pull_side(levers->lever[i] + 6, &b);
            speed[i] = sum[0] + sum[1];
        }
    }
}

void ss_row_groups_apply(const ss_row_groups *groups, const double *r, double *u)
{
    const ss_space *space = groups->space;
    const ss_levers *levers = space->levers;
    if (!levers) {
        ss_space_apply(space, r, u);
        return;
    }
    memset(levers->velocity, 0, (size_t)levers->bodies * sizeof *levers->velocity);
    ss_row_groups_push(groups, r, levers->velocity);
    ss_row_groups_pull(groups, levers->velocity, u);
    for (int i = 0; i < space->size; i++) u[i] += levers->compliance[i] * r[i];
}

void ss_row_groups_velocity(const ss_row_groups *groups, const double *r, double *u)
{
    const ss_space *space = groups->space;
    ss_row_groups_apply(groups, r, u);
    for (int i = 0; i < space->size; i++) u[i] += space->q[i];
}

void ss_row_group_square(const ss_row_group *group, const ss_levers *levers, const double *T, int a, int b,
                         double *block)
{
    const double *left = levers->lever[group->first] + 6 * a;
    const double *right = levers->lever[group->first] + 6 * b;
    for (int i = 0; i < 6; i++) {
        twist sum = load_twist(block + 6 * i);
        for (int k = 0; k < group->count; k++) {
            double factor = T[k] * left[12 * k + i];
            for (int d = 0; d < 3; d++) sum.part[d] += factor * load_pair(right + 12 * k + 2 * d);
        }
        store_twist(&sum, block + 6 * i);
    }
}
