#include "solver/sweep/sweep.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

ss_sweep *ss_sweep_create(const ss_problem *problem, unsigned kinds, uint64_t seed, ss_arena *arena)
{
    ss_sweep *sweep = ss_arena_take(arena, 1, sizeof *sweep, "sweep");
    if (!sweep || !ss_operator_create(problem, kinds, arena, &sweep->A)) return NULL;
    sweep->seed = seed;
    sweep->last_good = ss_arena_take_unset(arena, (size_t)problem->size, sizeof(double), "last good x");
    sweep->shuffled = ss_arena_take_unset(arena, (size_t)sweep->A.cell_count, sizeof(int), "order");
    return sweep->last_good && sweep->shuffled ? sweep : NULL;
}

/* A new order every time, from the one before. */
static const int *shuffle(ss_sweep *sweep)
{
    int count = sweep->A.cell_count, *order = sweep->shuffled;
    if (!sweep->is_shuffled) {
        sweep->random = ss_random_start(sweep->seed, 0);
        for (int c = 0; c < count; c++) order[c] = c;
        sweep->is_shuffled = true;
    }
    for (int c = count - 1; c > 0; c--) {
        int other = ss_random_below(&sweep->random, c + 1), kept = order[c];
        order[c] = order[other];
        order[other] = kept;
    }
    return order;
}

double ss_sweep_pass(ss_sweep *sweep, ss_sweep_order order, double *x)
{
    enum { REFRESH = 64 }; // velocities collect rounding with every push
    ss_operator *A = &sweep->A;
    if (sweep->passes++ % REFRESH == 0) ss_operator_refresh(A, x);
    switch (order) {
    case SS_SWEEP_BACKWARD:
        return ss_operator_pass(A, NULL, true, x);
    case SS_SWEEP_SYMMETRIC: {
        double sum = ss_operator_pass(A, NULL, false, x);
        return sum + ss_operator_pass(A, NULL, true, x);
    }
    case SS_SWEEP_ALTERNATE:
        return ss_operator_pass(A, NULL, sweep->passes % 2 == 0, x);
    case SS_SWEEP_SHUFFLE:
        return ss_operator_pass(A, shuffle(sweep), false, x);
    default:
        return ss_operator_pass(A, NULL, false, x);
    }
}

void ss_sweep_start(ss_sweep *sweep, ss_sweep_order order, const double *x)
{
    sweep->is_auto = order == SS_SWEEP_AUTO;
    sweep->order = sweep->is_auto ? SS_SWEEP_FORWARD : order;
    sweep->watch = (ss_watch){0};
    memcpy(sweep->last_good, x, (size_t)sweep->A.problem->size * sizeof *x);
}

bool ss_sweep_goes_on(ss_sweep *sweep, double change, ss_run *run, double *x)
{
    size_t bytes = (size_t)sweep->A.problem->size * sizeof *x;
    if (!isfinite(change)) {
        memcpy(x, sweep->last_good, bytes);
        return sweep->status = SS_FAILED, false;
    }
    memcpy(sweep->last_good, x, bytes);

    bool due = ss_run_due(run, 0.5 * change);
    if (!ss_run_iteration(run, due ? x : NULL, NULL)) return sweep->status = ss_run_status(run), false;
    if (change == 0.0) return sweep->status = SS_CONVERGED, false;

    // Sweeps of one order can run in circles that another order breaks: auto goes through three of them.
    bool is_last = !sweep->is_auto || sweep->order == SS_SWEEP_SHUFFLE;
    if (!ss_watch_stalled(&sweep->watch, change, is_last ? SS_SWEEP_STUCK : SS_SWEEP_CIRCLING)) return true;
    sweep->status = SS_STALLED;
    sweep->order = sweep->order == SS_SWEEP_FORWARD ? SS_SWEEP_BACKWARD : SS_SWEEP_SHUFFLE;
    sweep->watch = (ss_watch){0};
    return !is_last;
}
