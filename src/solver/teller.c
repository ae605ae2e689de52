#include "solver/teller.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"

/* E with w = (E / unit) u: the scale between pure numbers and the problem. */
static double energy_scale(const ss_newton_space *space)
{
    const double *b = space->problem->b;
    double work = 0.0, square = 0.0;
    for (int i = 0; i < space->size; i++) {
        double q = space->q[space->number[i]];
        work += b[i] * space->unit[i] * q;
        square += q * q;
    }
    return square > 0.0 ? work / square : 1.0;
}

bool ss_teller_start(const ss_newton_space *space, ss_run *run, double *x, ss_teller *teller)
{
    size_t n = (size_t)space->size;
    *teller = (ss_teller){.space = space,
                          .run = run,
                          .x = x,
                          .energy = energy_scale(space),
                          .best_error = INFINITY,
                          .measured = INFINITY,
                          .status = SS_FAILED};
    teller->best = ss_arena_take_unset(run->arena, n, sizeof *teller->best, "best");
    teller->way = ss_arena_take_unset(run->arena, n, sizeof *teller->way, "way");
    return teller->best && teller->way;
}

/* The driver judges by the past how soon the rule may hold; a sudden drop is shown in any case. */
static bool is_due(const ss_teller *teller, double error)
{
    static const double sudden = 1e-3;
    bool due = ss_run_due(teller->run, 0.5 * teller->energy * error * error);
    return due || error <= sudden * teller->measured;
}

/* Impulses so large that rounding alone makes the velocities they cause wrong by as much as anybody wants to know. */
static bool is_lost(const ss_newton_space *space, const double *r)
{
    static const double enormous = 1e9; // times those that the loads alone would need
    double largest = 0.0;
    for (int i = 0; i < space->size; i++) largest = fmax(largest, fabs(r[i]));
    return largest > enormous;
}

/* Where there is no solution r grows for ever, along impulses that move nothing. */
static bool is_ray(ss_teller *teller, const double *r)
{
    const ss_newton_space *space = teller->space;
    for (int i = 0; i < space->size; i++) {
        int k = space->number[i];
        teller->way[i] = space->unit[i] * (r[k] - teller->best[k]);
    }
    return ss_run_ray(teller->run, teller->way);
}

bool ss_teller_drifts(ss_teller *teller, const double *before, const double *after)
{
    const ss_newton_space *space = teller->space;
    for (int i = 0; i < space->size; i++) {
        int k = space->number[i];
        teller->way[i] = space->unit[i] * (after[k] - before[k]);
    }
    if (!ss_run_ray(teller->run, teller->way)) return false;
    teller->status = SS_RAY;
    return true;
}

/* The status of a method that has come to an end by itself; SS_MAX_ITERATIONS: it has not. */
static ss_status own_end(ss_teller *teller, const double *r, double error, int patience)
{
    static const double rounding = 1e-15;
    if (error <= rounding) return SS_CONVERGED;
    bool stuck = ss_watch_stalled(&teller->watch, error, patience), lost = is_lost(teller->space, r);
    if (!stuck && !lost) return SS_MAX_ITERATIONS;
    return is_ray(teller, r) ? SS_RAY : SS_STALLED;
}

bool ss_teller_report(ss_teller *teller, const double *r, double error, int patience)
{
    const ss_newton_space *space = teller->space;
    teller->status = SS_FAILED;
    if (!isfinite(error)) return false;
    if (error < teller->best_error) {
        teller->best_error = error;
        memcpy(teller->best, r, (size_t)space->size * sizeof *r);
    }
    bool due = is_due(teller, error);
    if (due) {
        ss_newton_space_leave(space, r, teller->x);
        teller->measured = error;
    }
    if (!ss_run_iteration(teller->run, due ? teller->x : NULL, NULL)) {
        teller->status = ss_run_status(teller->run);
        return false;
    }
    ss_status end = own_end(teller, r, error, patience);
    if (end == SS_MAX_ITERATIONS) return true;
    teller->status = end;
    return false;
}

ss_status ss_teller_end(ss_teller *teller)
{
    bool is_last = teller->status == SS_CONVERGED && ss_run_status(teller->run) == SS_CONVERGED;
    if (!is_last && isfinite(teller->best_error))
        ss_newton_space_leave(teller->space, teller->best, teller->x);
    return teller->status;
}
