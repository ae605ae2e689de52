/* The sweeps before the first Newton step: Gauss-Seidel over the nodes. Rows, and contacts of large problems, take a step
 * of the natural map, r_k <- p(r_k - u_k); contacts of small problems, where the own block of W is at hand, are solved
 * exactly: one that is stiff in one direction and soft in another would hardly move in the soft one. */
#include "solver/newton_walk.h"

#include <string.h>

#include "base/memory.h"
#include "linalg/add_scaled.h"
#include "problem/laws.h"
#include "solver/local_cone.h"
#include "solver/newton_natural.h"

/* u = W r of one node; with a full matrix or levers from what is kept up to date. */
static void node_velocity(const ss_newton_space *space, int k, const double *r, double *u)
{
    const ss_newton_node *node = &space->nodes[k];
    const ss_newton_levers *levers = space->levers;
    if (space->W) {
        ss_block_rows_apply_node(space->W, k, r, u);
        return;
    }
    for (int i = 0; i < node->size; i++) {
        int number = node->first + i;
        u[i] = levers
                   ? ss_newton_pull(levers, number, levers->velocity) + levers->compliance[number] * r[number]
                   : space->kept[number];
    }
}

static void keep_up(const ss_newton_space *space, int number, double change)
{
    if (change == 0.0 || space->W) return;
    if (space->levers) {
        ss_newton_push(space->levers, number, change, space->levers->velocity);
        return;
    }
    ss_add_scaled(space->size, change, space->full + number * space->size, space->kept);
}

/* ---- contacts of small problems --------------------------------------------------------------------- */

/* W_kk, row by row */
static void own_block(const ss_newton_space *space, const ss_newton_node *node, double *own)
{
    for (int i = 0; i < node->size; i++) {
        for (int j = 0; j < node->size; j++) {
            own[i * node->size + j] = space->full[(node->first + j) * space->size + node->first + i];
        }
    }
}

/* Per node; NULL: steps of the natural map. False when out of memory. */
static bool make_cones(const ss_newton_space *space, ss_arena *arena, ss_local_cone **cones)
{
    static const double tolerance = 1e-14;
    *cones = NULL;
    if (!space->full) return true;
    size_t nodes = (size_t)space->node_count;
    *cones = ss_arena_take_unset(arena, nodes, sizeof **cones, "contacts");
    for (int k = 0; *cones && k < space->node_count; k++) {
        const ss_newton_node *node = &space->nodes[k];
        double own[SS_NODE_MAX * SS_NODE_MAX];
        ss_block block = {
            .law = node->law, .size = node->size, .mu = node->mu, .mu_rolling = node->mu_rolling};
        (*cones)[k] = (ss_local_cone){0};
        if (!ss_law_is_cone(node->law)) continue;
        own_block(space, node, own);
        if (!ss_local_cone_create(&block, own, tolerance, arena, &(*cones)[k])) return false;
    }
    return *cones != NULL;
}

/* p = the solution with the load of the others, u + q - W_kk r */
static void solve_contact(const ss_newton_space *space, const ss_newton_node *node, const ss_local_cone *cone,
                          const double *r, const double *u, double *p)
{
    double load[SS_NODE_MAX];
    for (int i = 0; i < node->size; i++) {
        load[i] = u[i] + space->q[node->first + i];
        for (int j = 0; j < node->size; j++)
            load[i] -= space->full[(node->first + j) * space->size + node->first + i] * r[j];
        p[i] = r[i];
    }
    cone->solve(cone->data, load, p);
}

/* ---- sweeps ----------------------------------------------------------------------------------------- */

/* Returns the square of how far r moved. */
static double sweep(const ss_newton_space *space, const ss_local_cone *cones, double *r)
{
    double moved = 0.0;
    for (int k = 0; k < space->node_count; k++) {
        const ss_newton_node *node = &space->nodes[k];
        const ss_local_cone *cone = cones && cones[k].solve ? &cones[k] : NULL;
        double u[SS_NODE_MAX], y[SS_NODE_MAX] = {0}, p[SS_NODE_MAX], *own = r + node->first;
        node_velocity(space, k, r, u);
        if (cone) {
            solve_contact(space, node, cone, own, u, p);
        } else {
            for (int i = 0; i < node->size; i++) y[i] = own[i] - u[i] - space->q[node->first + i];
            ss_newton_project(space, node, y, r, p, NULL);
        }
        for (int i = 0; i < node->size; i++) {
            double change = p[i] - own[i];
            keep_up(space, node->first + i, change);
            own[i] = p[i];
            moved += change * change;
        }
    }
    return moved;
}

/* In a small problem nothing has far to travel, and a few sweeps tell what a Newton step must know. */
static void sweep_often(const ss_newton_space *space, const ss_local_cone *cones, int count, double *r)
{
    enum { FEW = 4 };
    const ss_newton_levers *levers = space->levers;
    if (space->full) {
        ss_newton_space_apply(space, r, space->kept);
    } else if (levers) {
        memset(levers->velocity, 0, (size_t)levers->bodies * sizeof *levers->velocity);
        for (int i = 0; i < space->size; i++) ss_newton_push(levers, i, r[i], levers->velocity);
    }
    if (space->full && count > FEW) count = FEW;
    for (int k = 0; k < count && sweep(space, cones, r) > 0.0; k++) continue;
}

void ss_newton_sweeps(ss_newton_walk *walk, int count, double *r, double *u)
{
    const ss_newton_space *space = walk->space;
    size_t bytes = (size_t)space->size * sizeof *r;
    ss_local_cone *cones;
    double before = ss_newton_walk_note(walk, r, u);
    if (!make_cones(space, walk->run->arena, &cones)) return;
    memcpy(walk->trial, r, bytes);
    sweep_often(space, cones, count, walk->trial);
    ss_newton_space_velocity(space, walk->trial, walk->trial_u);
    if (!(ss_newton_walk_note(walk, walk->trial, walk->trial_u) < before)) return;
    memcpy(r, walk->trial, bytes);
    memcpy(u, walk->trial_u, bytes);
}
