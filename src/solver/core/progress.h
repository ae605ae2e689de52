/* solver/core/progress.h - how a method in the variables of a scaled space tells the driver what it does:
 * the best point so far, measured when it is worth it, and the ways to end.
 */
#ifndef SS_SOLVER_CORE_PROGRESS_H
#define SS_SOLVER_CORE_PROGRESS_H

#include <stickslip/solver.h>

#include "problem/space.h"
#include "solver/core/watch.h"

typedef struct ss_progress {
    const ss_space *space;
    ss_run *run;
    double *x;       /* of the problem: what was reported last */
    double energy;   /* J: of one unit of error, squared and halved */
    ss_best best;    /* in the space; zero before the first */
    double *way;     /* scratch */
    double measured; /* error when the driver looked last */
    ss_watch watch;
    ss_status status; /* how it has ended, SS_FAILED before that */
} ss_progress;

/* False when out of memory. */
bool ss_progress_start(const ss_space *space, ss_run *run, double *x, ss_progress *progress);
/* One iteration: r, which obeys the bounds, and its error, of the size of the natural map. False when it was
 * the last: the driver said so, nothing but rounding is left, the error has not fallen for `patience`
 * iterations, or numbers are out of all proportion. */
bool ss_progress_report(ss_progress *progress, const double *r, double error, int patience);
/* For methods whose steps become all the same where there is no solution: true when the last one is a ray.
 * Its status is SS_RAY then, until the next report. */
bool ss_progress_drifts(ss_progress *progress, const double *before, const double *after);
/* The best point to x, unless the last one was good enough, and the status: SS_FAILED when no
 * report ended it. */
ss_status ss_progress_end(ss_progress *progress);

#endif
