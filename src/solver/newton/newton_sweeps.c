#include "solver/newton/newton.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/add_scaled.h"
#include "problem/laws.h"
#include "solver/newton/maps.h"
#include "solver/core/run_state.h"

bool ss_sweeper_create(const ss_space *space, double alpha, const double *centre, bool is_exact,
                       ss_arena *arena, ss_sweeper *sweeper)
{
    *sweeper = (ss_sweeper){.space = space, .alpha = alpha, .centre = centre};
    if (!is_exact) return true;
    size_t nodes = (size_t)space->node_count;
    sweeper->cones = ss_arena_take(arena, nodes, sizeof *sweeper->cones, "contacts");
    sweeper->own = ss_arena_take_unset(arena, nodes, sizeof *sweeper->own, "contacts");
    bool good = sweeper->cones && sweeper->own;
    for (int k = 0; good && k < space->node_count; k++) {
        static const double tolerance = 1e-14;
        const ss_node *node = &space->nodes[k];
        int n = node->size;
        double shifted[SS_CONE_MAX * SS_CONE_MAX];
        if (!ss_law_is_cone(node->law) || node->spins) continue;
        ss_block block = {.law = node->law, .size = n, .mu = node->mu, .mu_rolling = node->mu_rolling};
        ss_space_own(space, k, sweeper->own[k]);
        memcpy(shifted, sweeper->own[k], (size_t)(n * n) * sizeof *shifted);
        for (int i = 0; i < n; i++) shifted[i * n + i] += alpha;
        good = ss_local_cone_create(&block, shifted, tolerance, arena, &sweeper->cones[k]);
    }
    return good;
}

double ss_sweeper_sweep(const ss_sweeper *sweeper, double *r)
{
    const ss_space *space = sweeper->space;
    const ss_levers *levers = space->levers;
    const double *q = space->q, *centre = sweeper->centre;
    double moved = 0.0, alpha = sweeper->alpha;
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        int n = node->size, first = node->first;
        double u[SS_NODE_MAX], p[SS_NODE_MAX], y[SS_NODE_MAX] = {0};

        // u = W r of the node; with a full matrix or levers from what is kept up to date
        if (space->W) ss_block_rows_apply_node(space->W, k, r, u);
        for (int i = first; !space->W && i < first + n; i++)
            u[i - first] =
                levers ? ss_levers_pull_row(levers, i, levers->velocity) + levers->compliance[i] * r[i]
                       : space->kept[i];

        // p: the contact solved with the load of the others, u + q - W_kk r - alpha centre
        if (sweeper->cones && sweeper->cones[k].solve) {
            const double *own = sweeper->own[k];
            for (int i = 0; i < n; i++, own += n) {
                y[i] = u[i] + q[first + i];
                for (int j = 0; j < n; j++) y[i] -= own[j] * r[first + j];
                if (centre) y[i] -= alpha * centre[first + i];
                p[i] = r[first + i];
            }
            sweeper->cones[k].solve(sweeper->cones[k].data, y, p);
        } else { // or a step of the natural map
            for (int i = 0; i < n; i++) {
                int at = first + i;
                double speed = u[i] + q[at];
                if (centre) speed = (speed + alpha * (r[at] - centre[at])) / (1.0 + alpha);
                y[i] = r[at] - speed;
            }
            ss_newton_project(space, node, y, r, p, NULL);
        }

        for (int i = 0; i < n; i++) {
            int at = first + i;
            double change = p[i] - r[at];
            if (change != 0.0 && levers) ss_levers_push_row(levers, at, change, levers->velocity);
            if (change != 0.0 && space->full)
                ss_add_scaled(space->size, change, space->full + at * space->size, space->kept);
            r[at] = p[i];
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
