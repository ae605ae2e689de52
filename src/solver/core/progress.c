#include "solver/core/progress.h"

#include <math.h>

#include "base/memory.h"

bool ss_progress_start(const ss_space *space, ss_run *run, double *x, ss_progress *progress)
{
    // E with w = (E / unit) u: the scale between pure numbers and the problem.
    const double *b = space->problem->b;
    double work = 0.0, square = 0.0;
    for (int i = 0; i < space->size; i++) {
        double q = space->q[space->number[i]];
        work += b[i] * space->unit[i] * q;
        square += q * q;
    }

    size_t n = (size_t)space->size;
    *progress = (ss_progress){.space = space,
                              .run = run,
                              .x = x,
                              .energy = square > 0.0 ? work / square : 1.0,
                              .best.error = INFINITY,
                              .measured = INFINITY,
                              .status = SS_FAILED};
    progress->best.x = ss_arena_take(run->arena, n, sizeof *progress->best.x, "best");
    progress->way = ss_arena_take_unset(run->arena, n, sizeof *progress->way, "way");
    return progress->best.x && progress->way;
}

bool ss_progress_drifts(ss_progress *progress, const double *before, const double *after)
{
    const ss_space *space = progress->space;
    for (int i = 0; i < space->size; i++) {
        int k = space->number[i];
        progress->way[i] = space->unit[i] * (after[k] - before[k]);
    }
    if (!ss_run_ray(progress->run, progress->way)) return false;
    progress->status = SS_RAY;
    return true;
}

bool ss_progress_report(ss_progress *progress, const double *r, double error, int patience)
{
    static const double sudden = 1e-3, rounding = 1e-15;
    // times the impulses that the loads alone would need: rounding alone makes the velocities that larger
    // ones cause wrong by more than is of interest
    static const double enormous = 1e9;
    const ss_space *space = progress->space;
    progress->status = SS_FAILED;
    if (!isfinite(error)) return false;
    ss_best_keep(&progress->best, space->size, r, error);

    // The driver judges by the past how soon the rule may hold; a sudden drop is shown in any case.
    bool due = ss_run_due(progress->run, 0.5 * progress->energy * error * error);
    due = due || error <= sudden * progress->measured;
    if (due) {
        ss_space_leave(space, r, progress->x);
        progress->measured = error;
    }
    if (!ss_run_iteration(progress->run, due ? progress->x : NULL, NULL)) {
        progress->status = ss_run_status(progress->run);
        return false;
    }

    // The method may have come to an end by itself. Where there is no solution r grows without bound, along
    // impulses that move nothing.
    double largest = 0.0;
    if (error <= rounding) return progress->status = SS_CONVERGED, false;
    bool stuck = ss_watch_stalled(&progress->watch, error, patience);
    for (int i = 0; i < space->size; i++) largest = fmax(largest, fabs(r[i]));
    if (!stuck && !(largest > enormous)) return true;
    progress->status = SS_STALLED;
    ss_progress_drifts(progress, progress->best.x, r);
    return false;
}

ss_status ss_progress_end(ss_progress *progress)
{
    bool is_last = progress->status == SS_CONVERGED && ss_run_status(progress->run) == SS_CONVERGED;
    if (!is_last && isfinite(progress->best.error))
        ss_space_leave(progress->space, progress->best.x, progress->x);
    return progress->status;
}
