/* solver/core/watch.h - has a method come to a standstill? */
#ifndef SS_SOLVER_CORE_WATCH_H
#define SS_SOLVER_CORE_WATCH_H

#include <stdbool.h>

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
