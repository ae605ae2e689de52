/* solver/newton/newton.h - what the Newton solvers share: the state of a run, the best point so far, the
 * sweeps at the start, and a proximal Newton method for any of the maps whose root is the solution.
 */
#ifndef SS_SOLVER_NEWTON_NEWTON_H
#define SS_SOLVER_NEWTON_NEWTON_H

#include "solver/newton/newton_alart.h"
#include "solver/newton/newton_system.h"

typedef enum ss_newton_map { SS_NATURAL_MAP, SS_FISCHER_MAP, SS_ALART_MAP } ss_newton_map;

typedef struct ss_newton {
    ss_newton_space *space;
    ss_newton_system system;
    ss_run *run;
    ss_newton_map map; /* of the proximal Newton method */
    ss_alart alart;    /* SS_ALART_MAP: to be made where it is wanted */
    double *x;         /* of the problem: what was reported last */
    double *best;      /* the best r */
    double best_error; /* |natural map of r| / |that of P(0)|; INFINITY before the first */
    double start_size; /* |natural map of P(0)| */
    bool stopped;      /* the run said stop */
    bool has_ray;      /* impulses grow without bound: no solution */
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
/* Reports r as the next iterate; false: stop. */
bool ss_newton_report(ss_newton *newton, const double *r);
/* In the middle of a step: is the time up? The run has stopped then. */
bool ss_newton_is_late(ss_newton *newton);
/* Is there nothing left but rounding? */
bool ss_newton_exact(const ss_newton *newton);

/* Gauss-Seidel over the nodes (newton_sweeps.c). r and u are replaced when that made them better. */
void ss_newton_sweeps(ss_newton *newton, int count, double *r, double *u);

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

#endif
