#include "solver/newton/newton.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/add_scaled.h"
#include "problem/laws.h"
#include "solver/newton/maps.h"
#include "solver/core/run_state.h"

/* u = W r of one node; with a full matrix or levers from what is kept up to date. */
static void node_velocity(const ss_space *space, int k, const double *r, double *u)
{
    const ss_node *node = &space->nodes[k];
    const ss_levers *levers = space->levers;
    if (space->W) {
        ss_block_rows_apply_node(space->W, k, r, u);
        return;
    }
    for (int i = 0; i < node->size; i++) {
        int number = node->first + i;
        u[i] = levers ? ss_levers_pull_row(levers, number, levers->velocity) +
                            levers->compliance[number] * r[number]
                      : space->kept[number];
    }
}

static void keep_up(const ss_space *space, int number, double change)
{
    if (change == 0.0 || space->W) return;
    if (space->levers) {
        ss_levers_push_row(space->levers, number, change, space->levers->velocity);
        return;
    }
    ss_add_scaled(space->size, change, space->full + number * space->size, space->kept);
}

/* ---- contacts that are solved exactly --------------------------------------------------------------- */

static bool make_cone(ss_sweeper *sweeper, int k, ss_arena *arena)
{
    static const double tolerance = 1e-14;
    const ss_node *node = &sweeper->space->nodes[k];
    int n = node->size;
    double shifted[SS_CONE_MAX * SS_CONE_MAX];
    ss_block block = {.law = node->law, .size = n, .mu = node->mu, .mu_rolling = node->mu_rolling};
    ss_space_own(sweeper->space, k, sweeper->own[k]);
    memcpy(shifted, sweeper->own[k], (size_t)(n * n) * sizeof *shifted);
    for (int i = 0; i < n; i++) shifted[i * n + i] += sweeper->alpha;
    return ss_local_cone_create(&block, shifted, tolerance, arena, &sweeper->cones[k]);
}

bool ss_sweeper_create(const ss_space *space, double alpha, const double *centre, bool is_exact,
                       ss_arena *arena, ss_sweeper *sweeper)
{
    *sweeper = (ss_sweeper){.space = space, .alpha = alpha, .centre = centre};
    if (!is_exact) return true;
    size_t nodes = (size_t)space->node_count;
    sweeper->cones = ss_arena_take(arena, nodes, sizeof *sweeper->cones, "contacts");
    sweeper->own = ss_arena_take_unset(arena, nodes, sizeof *sweeper->own, "contacts");
    bool good = sweeper->cones && sweeper->own;
    for (int k = 0; good && k < space->node_count; k++)
        good = !ss_law_is_cone(space->nodes[k].law) || make_cone(sweeper, k, arena);
    return good;
}

/* p = the solution with the load of the others, u + q - W_kk r - alpha centre */
static void solve_contact(const ss_sweeper *sweeper, int k, const double *r, const double *u, double *p)
{
    const ss_node *node = &sweeper->space->nodes[k];
    const double *own = sweeper->own[k];
    double load[SS_NODE_MAX];
    for (int i = 0; i < node->size; i++, own += node->size) {
        load[i] = u[i] + sweeper->space->q[node->first + i];
        for (int j = 0; j < node->size; j++) load[i] -= own[j] * r[j];
        if (sweeper->centre) load[i] -= sweeper->alpha * sweeper->centre[node->first + i];
        p[i] = r[i];
    }
    sweeper->cones[k].solve(sweeper->cones[k].data, load, p);
}

/* ---- sweeps ----------------------------------------------------------------------------------------- */

/* p = a step of the natural map from r */
static void step_node(const ss_sweeper *sweeper, int k, const double *r, const double *u, double *p)
{
    const ss_space *space = sweeper->space;
    const ss_node *node = &space->nodes[k];
    double y[SS_NODE_MAX] = {0};
    for (int i = 0; i < node->size; i++) {
        int number = node->first + i;
        double speed = u[i] + space->q[number];
        if (sweeper->centre)
            speed = (speed + sweeper->alpha * (r[number] - sweeper->centre[number])) / (1.0 + sweeper->alpha);
        y[i] = r[number] - speed;
    }
    ss_newton_project(space, node, y, r, p, NULL);
}

double ss_sweeper_sweep(const ss_sweeper *sweeper, double *r)
{
    const ss_space *space = sweeper->space;
    double moved = 0.0;
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        double u[SS_NODE_MAX], p[SS_NODE_MAX], *own = r + node->first;
        node_velocity(space, k, r, u);
        if (sweeper->cones && sweeper->cones[k].solve)
            solve_contact(sweeper, k, own, u, p);
        else
            step_node(sweeper, k, r, u, p);
        for (int i = 0; i < node->size; i++) {
            double change = p[i] - own[i];
            keep_up(space, node->first + i, change);
            own[i] = p[i];
            moved += change * change;
        }
    }
    return moved;
}

void ss_sweeper_begin(const ss_sweeper *sweeper, const double *r)
{
    const ss_space *space = sweeper->space;
    const ss_levers *levers = space->levers;
    if (space->full) {
        ss_space_apply(space, r, space->kept);
    } else if (levers) {
        memset(levers->velocity, 0, (size_t)levers->bodies * sizeof *levers->velocity);
        ss_levers_push(levers, r, levers->velocity);
    }
}

/* ---- before the first Newton step ------------------------------------------------------------------- */

/* In a small problem nothing has far to travel, and a few sweeps tell what a Newton step must know. Its
 * contacts are solved exactly, their own blocks of W being at hand. */
void ss_newton_sweeps(ss_newton *newton, int count, double *r, double *u)
{
    enum { FEW = 4 };
    const ss_space *space = newton->space;
    size_t bytes = (size_t)space->size * sizeof *r;
    ss_sweeper sweeper;
    double before = ss_newton_note(newton, r, u);
    if (!ss_sweeper_create(space, 0.0, NULL, space->full != NULL, newton->run->arena, &sweeper)) return;
    memcpy(newton->trial, r, bytes);
    ss_sweeper_begin(&sweeper, newton->trial);
    if (space->full && count > FEW) count = FEW;
    bool is_timed = ss_run_deadline(newton->run) < INFINITY;
    double began = is_timed ? ss_clock_seconds() : 0.0, cost = 0.0; // s of a sweep
    for (int k = 0; k < count; k++) {
        // what comes after the last one, velocities and errors, takes up to twice as long
        if (ss_run_late(newton->run) || ss_run_lacks(newton->run, 3.0 * cost)) break;
        if (!(ss_sweeper_sweep(&sweeper, newton->trial) > 0.0)) break;
        if (is_timed) cost = ss_clock_seconds() - began, began += cost;
    }
    ss_space_velocity(space, newton->trial, newton->trial_u);
    if (!(ss_newton_note(newton, newton->trial, newton->trial_u) < before)) return;
    memcpy(r, newton->trial, bytes);
    memcpy(u, newton->trial_u, bytes);
}
