/* solver/core/nested_run.h - a solver that runs others inside its own run: one after the other, or on parts.
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
    /* Asked with a measured iterate x, first after `first_look` iterations; NULL: never. `excess`: what the
     * stop rule measures over what it allows. Returns the iteration of the stage at which to look again; one
     * that is over ends the stage. */
    int (*look)(void *context, int iteration, const double *x, double excess);
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

/* ---- a problem that falls apart, solved part by part ------------------------------------------------ */

/* The parts are independent: an iteration of the run is one of every part that is still at work. Each has its
 * share of what the stop rule allows and all limits of the run. What is measured of a part is measured on the
 * scale of the whole, so that histories add up. */
typedef struct ss_subproblem {
    ss_problem *problem; /* in bodies form */
    double *x;           /* start on entry, the kept iterate on return */
    double share;        /* of the error that the rule allows; those of all parts add up to one, or less */
    ss_status status;
    int iterations, kept_iteration;
    double measuring; /* s: of the parts before on entry, its own on return */
    double begun;     /* s since the start of the run, when its turn came */
    ss_history history;
    ss_ray ray;
    char *notes;
} ss_subproblem;

typedef ss_status ss_subproblem_solve(ss_problem *problem, ss_run *run, double *x, void *context);

/* Can this run be one of parts? Not where a test of the caller wants the whole x at every iteration. */
bool ss_run_can_decompose(const ss_run *run);
/* Is every iteration kept in a history? */
bool ss_run_records(const ss_run *run);
/* Runs `solve` on the part. Parts may be run at the same time, each with an arena of its own. */
void ss_run_subproblem(const ss_run *run, ss_subproblem *part, ss_arena *arena, ss_team *team,
                       ss_subproblem_solve *solve, void *context);
/* After all parts: their iterations, histories and rays become those of the run, whose x has been
 * put together from theirs; `order` are the unknowns, part by part. `at_once`: how many were run at
 * the same time. */
void ss_run_join_subproblems(ss_run *run, ss_subproblem *parts, int count, const int *order, int at_once,
                             const double *x);
void ss_subproblem_free(ss_subproblem *part);

#endif
