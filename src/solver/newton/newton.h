/* solver/newton/newton.h - what the Newton solvers share: the progress of a run, sweeps at the start, a
 * proximal Newton method for any of the maps whose root is the solution (maps.h), and the proximal point
 * method over its steps.
 */
#ifndef SS_SOLVER_NEWTON_NEWTON_H
#define SS_SOLVER_NEWTON_NEWTON_H

#include "solver/core/progress.h"
#include "solver/local/local_cone.h"
#include "solver/newton/maps.h"
#include "solver/newton/newton_system.h"

typedef enum ss_newton_map { SS_NATURAL_MAP, SS_FISCHER_MAP, SS_ALART_MAP } ss_newton_map;

typedef struct ss_newton {
    ss_space *space;
    ss_newton_system system;
    ss_progress progress; /* an error is |natural map of r| / |that of P(0)| */
    ss_newton_map map;    /* of the proximal Newton method */
    ss_alart alart;       /* SS_ALART_MAP: to be made where it is wanted */
    double start_size;    /* |natural map of P(0)| */
    double *dr, *du, *phi, *trial, *trial_u;
    double *centre, *shifted, *near; /* of proximal problems */
} ss_newton;

/* False when out of memory; ss_newton_end in any case. */
bool ss_newton_begin(const ss_problem *problem, ss_run *run, ss_newton_map map, double *x, ss_newton *newton);
/* Frees what is not in the arena, puts the best point into x unless the last one made the run stop as
 * converged, and says how it ended. */
ss_status ss_newton_end(ss_newton *newton);

/* The error of a point and its velocity, remembered when it is the best. */
double ss_newton_note(ss_newton *newton, const double *r, const double *u);
/* Reports r as the next iterate; false: stop. Steps are few and dear: the driver looks at each, and when to
 * give up is for the plans to say. */
bool ss_newton_report(ss_newton *newton, const double *r);
/* In the middle of a step: is the time up? The run has stopped then. */
bool ss_newton_is_late(ss_newton *newton);
/* Has the run stopped, or impulses that grow without bound shown that there is no solution? */
static inline bool ss_newton_is_over(const ss_newton *newton)
{
    return newton->progress.status != SS_FAILED;
}
/* Is there nothing left but rounding? */
bool ss_newton_exact(const ss_newton *newton);

/* ---- sweeps ----------------------------------------------------------------------------------------- */

/* Gauss-Seidel over the nodes of a scaled space, on the problem itself or a proximal one,
 *
 *     u = W r + q + alpha (r - centre)
 *
 * Rows take a step of the natural map, r_k <- p(r_k - u_k / (1 + alpha)); contacts too, or they are solved
 * exactly: one that is stiff in one direction and soft in another would hardly move in the soft one. */
typedef struct ss_sweeper {
    const ss_space *space;
    double alpha;
    const double *centre; /* NULL: no proximal term */
    ss_local_cone *cones; /* per node, those that are solved exactly have a function; NULL: none */
    double (*own)[SS_CONE_MAX * SS_CONE_MAX]; /* W_kk of these */
} ss_sweeper;

/* False when out of memory. The centre stays the caller's and may change between sweeps. */
bool ss_sweeper_create(const ss_space *space, double alpha, const double *centre, bool is_exact,
                       ss_arena *arena, ss_sweeper *sweeper);
/* Before the first sweep, and whenever r was changed by others: velocities are kept up to date from here. */
void ss_sweeper_begin(const ss_sweeper *sweeper, const double *r);
/* One sweep; returns the square of how far r moved. */
double ss_sweeper_sweep(const ss_sweeper *sweeper, double *r);

/* Some at the start. r and u are replaced when that made them better. */
void ss_newton_sweeps(ss_newton *newton, int count, double *r, double *u);

/* ---- Newton steps ----------------------------------------------------------------------------------- */

typedef struct ss_newton_plan {
    int steps;
    double alpha;               /* proximal term at first, relative to the diagonal of W */
    double shrink, shrink_fast; /* factors of alpha after a good and after a very good step */
    bool hasty;                 /* give up when a step fails, or the error has not halved in three */
    int patience;               /* steps without progress until it is given up, strides included; 0: many */
    double enough;              /* an error that will do */
} ss_newton_plan;

/* One Newton step per proximal step from r on; r and u follow. Every step is reported. True when the run
 * has stopped or nothing but rounding is left; false when the steps have come to an end, far enough or
 * nowhere. On a plateau the proximal problems are solved one by one, with larger and larger strides; they
 * may find a ray. */
bool ss_newton_steps(ss_newton *newton, const ss_newton_plan *plan, double *r, double *u);

/* The proximal point method: the centre stays while a few steps solve
 *
 *     u = W r + q + alpha (r - centre)
 *
 * then the answer is the next centre. alpha falls as long as few steps will do and grows where they do not.
 *
 * Where more contacts are closed than the bodies can obey at once (four feet on a plane, their gaps rounded),
 * the impulses have a long way to go in directions that W does not see, and nothing but an error of 1e-8
 * pushes them: a proximal step moves them by that error over alpha. One Newton step for each centre cannot
 * follow the turning of the friction forces and keeps alpha too large; several can. */
typedef struct ss_proximal_plan {
    double alpha;   /* of the first problem, relative to the diagonal of W */
    double largest; /* alpha beyond which it is given up */
    int patience;   /* steps without progress, and */
    int attempts;   /* problems in a row that could not be solved, until it is given up */
    int steps;      /* at most; 0: any number */
    double enough;  /* an error that will do */
} ss_proximal_plan;

/* From r on; r and u follow. Every step is reported. True when the run has stopped, a ray was found, or
 * nothing but rounding is left. */
bool ss_newton_proximal(ss_newton *newton, const ss_proximal_plan *plan, double *r, double *u);

#endif
