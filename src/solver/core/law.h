/* solver/core/law.h - the laws of one cell as steps of a sweep, x <- P(x - step w): the load and the unknowns
 * of the cell go in, its unknowns come out. All take the whole load w (operator.h). */
#ifndef SS_SOLVER_CORE_LAW_H
#define SS_SOLVER_CORE_LAW_H

#include "problem/cone.h"
#include "solver/core/operator.h"

/* Steps (impulse per velocity) of the three parts of a contact: normal, tangential with spinning, rolling. */
enum { SS_NORMAL, SS_TANGENTIAL, SS_ROLLING, SS_PARTS };
static inline int ss_part_of(int size, int component)
{
    return component == 0 ? SS_NORMAL : component <= ss_cone_tangents(size) ? SS_TANGENTIAL : SS_ROLLING;
}
/* The largest eigenvalue of each part of A_cc (its symmetric part); 0 for parts that are not there. */
void ss_cone_stiffness(int size, const double *A, double part[SS_PARTS]);
/* lambda_max(D^-1/2 A_cc D^-1/2), D made of the stiffness of the parts: between 1 and their number. False
 * when out of memory. */
bool ss_cone_coupling(int size, const double *A, const double part[SS_PARTS], ss_arena *scratch,
                      double *lambda);

/* A cell of one: free, bounded or coupled; x <- clamp(x - *factor step w). False when out of memory. */
bool ss_row_step_set(const ss_problem *problem, ss_cell *cell, double step, const double *factor,
                     ss_arena *arena);

/* A cone with steps for its parts, times *factor. Coulomb's law: the normal part is projected on [0, inf),
 * the others on the discs that follow it. `sequential`: each part sees what the parts before it did, as rows
 * in a Gauss-Seidel sweep would. Convex law: all at once on the cone, nearest in the metric of the steps.
 * False when out of memory. */
bool ss_cone_step_set(const ss_problem *problem, ss_cell *cell, const double step[SS_PARTS], bool sequential,
                      const double *factor, ss_arena *arena);

/* ---- how long a step may be ---------------------------------------------------------------------------- */

/* lambda_max(D^-1 A) with D^-1 given as one step (impulse per velocity) per unknown, by `iterations` power
 * iterations from a fixed start; 5 % on top, because the estimate comes from below. Negative when out of
 * memory. A run that is late gets what is known so far. */
double ss_largest_eigenvalue(const ss_problem *problem, const double *step, int iterations, ss_run *run);

/* ---- all cells at once, by a step for every unknown --------------------------------------------------- */

/* 1 / D: the diagonal, in a contact the largest eigenvalue of the part; `relaxed` also divides by how much
 * the parts of a contact act on each other. False when out of memory or late. */
bool ss_law_local_steps(const ss_operator *A, bool relaxed, ss_run *run, double *step);
/* Every cell gets its law with these steps, times *factor, its parts moving at the same time. */
bool ss_law_use_steps(ss_operator *A, const double *step, const double *factor, ss_arena *arena);
/* x <- P(x - factor step w) */
void ss_law_step_all(const ss_operator *A, const double *w, double *x);

#endif
