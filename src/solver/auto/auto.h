/* solver/auto/auto.h - the parts of `auto`: what needs no method, one problem by its plan, many islands. */
#ifndef SS_SOLVER_AUTO_AUTO_H
#define SS_SOLVER_AUTO_AUTO_H

#include "problem/islands.h"
#include "solver/auto/auto_plan.h"

/* How a problem was solved, for who tells about many of them. */
typedef struct ss_auto_trail {
    bool is_easy; /* the start did, or it was solved at once */
    int count;    /* stages after that */
    const ss_solver *solver[SS_AUTO_CHOICES];
} ss_auto_trail;

/* ---- without a method (auto_easy.c) --------------------------------------------------------------- */

/* A problem of one contact, or of one row: it has a formula. */
bool ss_auto_is_single(const ss_problem *problem);
/* Its solution; x: a guess on entry. False when out of memory, x as it was. */
bool ss_auto_solve_single(const ss_problem *problem, ss_arena *arena, double *x);
/* May x be the solution? So it is with a start that is not zero, and zero when all contacts part
 * by themselves. */
bool ss_auto_start_may_do(const ss_problem *problem, const double *x);
/* One sweep over contacts with a matrix, from zero, by columns, so that nothing has to be set up. It
 * solves what hardly touches: false as soon as a contact disturbs one before it, or when out of memory;
 * then x is of no use. */
bool ss_auto_can_sweep(const ss_problem *problem, const double *x);
bool ss_auto_sweep(const ss_problem *problem, ss_arena *arena, double *x);

/* ---- one problem, by its plan (auto.c) ------------------------------------------------------------ */

/* `problem` is that of the run, or a copy of its struct, which may get a matrix here. `notes`:
 * say what it is. */
ss_status ss_auto_solve_one(ss_problem *problem, ss_run *run, double *x, ss_auto_trail *trail);

/* ---- many (auto_islands.c) ------------------------------------------------------------------------ */

/* True: that was the end, *status says how. Otherwise x is where the whole has to go on. */
bool ss_auto_solve_islands(const ss_islands *islands, ss_run *run, double *x, ss_status *status);

#endif
