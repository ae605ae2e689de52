/* solver/core/subproblems.h - a problem that falls apart, solved part by part within one run.
 *
 * The parts are independent: an iteration of the run is one of every part that is still at work. Each has its
 * share of what the stop rule allows and all limits of the run. What is measured of a part is measured on the
 * scale of the whole, so that histories add up.
 */
#ifndef SS_SOLVER_CORE_SUBPROBLEMS_H
#define SS_SOLVER_CORE_SUBPROBLEMS_H

#include <stickslip/solver.h>

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
