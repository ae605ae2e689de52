/* solver/core/watch.h - the best point that a method has found, and has it come to a standstill? */
#ifndef SS_SOLVER_CORE_WATCH_H
#define SS_SOLVER_CORE_WATCH_H

#include <stdbool.h>
#include <string.h>

/* In any variables: those of a space have ss_progress, which reports and ends the run as well. x is taken by
 * the method, and the error is INFINITY before the first. */
typedef struct ss_best {
    double *x;
    double error;
} ss_best;

/* Keeps x, of size n, when no error was lower so far: true then. */
static inline bool ss_best_keep(ss_best *best, int n, const double *x, double error)
{
    if (!(error < best->error)) return false;
    best->error = error;
    memcpy(best->x, x, (size_t)n * sizeof *x);
    return true;
}

/* Zeroed at the start. */
typedef struct ss_watch {
    double best;
    int count, best_at;
} ss_watch;

/* True when `measure` has not come below its best by 0.1 % for `patience` calls and for half of all calls:
 * methods may crawl, or wander before they settle, and are given the time. */
static inline bool ss_watch_stalled(ss_watch *watch, double measure, int patience)
{
    static const double improvement = 0.999;
    int at = watch->count++;
    if (at == 0 || measure < improvement * watch->best) {
        watch->best = measure;
        watch->best_at = at;
    }
    return at - watch->best_at >= patience && at - watch->best_at > at / 2;
}

#endif
