/* solver/core/nested_run.h - a solver that runs others, one after the other, inside its own run.
 *
 * A stage is a run within the run: the other solver calls ss_run_iteration as always, the rules and limits of
 * the run hold, its iterations are counted and its iterates kept. Beyond that the stage ends after a number
 * of iterations, or when a look at its progress says so; its solver gets "max iterations" then.
 */
#ifndef SS_SOLVER_CORE_NESTED_RUN_H
#define SS_SOLVER_CORE_NESTED_RUN_H

#include <stickslip/solver.h>

typedef struct ss_nested_run {
    const ss_solver *solver;
    const void *options; /* NULL: its defaults */
    int budget;          /* iterations */
    /* Asked with a measured iterate, first after `first_look` iterations; NULL: never. `excess`: what the
     * stop rule measures over what it allows. Returns the iteration of the stage at which to look again; one
     * that is over ends the stage. */
    int (*look)(void *context, int iteration, double excess);
    void *context;
    int first_look;
} ss_nested_run;

typedef struct ss_nested_run_end {
    ss_status status; /* what the solver said */
    int iterations;
    double excess; /* of x; INFINITY when it is not finite; NAN when there was no time left to measure it */
    bool is_over;  /* the run has ended: to be returned at once, with ss_run_status */
} ss_nested_run_end;

/* Relative energy at which a stage is done when no gauge rules the run. */
static const double ss_nested_run_goal_without_rule = 1e-12;

/* What a solver sees. Matrix-free methods on bodies see no matrix, be it there or not: their answers must not
 * depend on whether another solver needed it before. Rows on more than two bodies: a solver that follows no
 * more than two (no SS_MANY_BODIES) sees no bodies, and needs the matrix for that. `shown` is room for it. */
bool ss_solver_needs_matrix(const ss_solver *solver, const ss_problem *problem);
const ss_problem *ss_problem_shown(const ss_problem *problem, const ss_solver *solver, ss_problem *shown);

/* Does anybody want notes? */
bool ss_run_explains(const ss_run *run);
/* x: start on entry, the solver's on return. `problem` is that of the run, or a copy of its struct, which may
 * get a matrix here. False when out of memory. */
bool ss_run_nested(ss_run *run, ss_problem *problem, const ss_nested_run *stage, double *x,
                   ss_nested_run_end *end);

/* What the stop rule measures of x over what it allows; INFINITY when x is not finite, NAN when the run is
 * late. */
double ss_run_excess(ss_run *run, const double *x);

#endif
