/* solver/sweep/sweep.h - Gauss-Seidel: passes over the cells of an operator, in one order or another, until
 * there is nothing left to do.
 *
 *     ss_sweep *sweep = ss_sweep_create(problem, SS_OUTER_CONES, seed, arena);
 *     for each cell of sweep->A: cell->step = ..., cell->data = ...;      (core/law.h, local/local_cone.h)
 *     ss_sweep_start(sweep, order, x);
 *     do change = ss_sweep_pass(sweep, sweep->order, x);
 *     while (ss_sweep_goes_on(sweep, change, run, x));
 *     return sweep->status;
 */
#ifndef SS_SOLVER_SWEEP_SWEEP_H
#define SS_SOLVER_SWEEP_SWEEP_H

#include "solver/core/operator.h"
#include "solver/core/watch.h"

typedef enum ss_sweep_order {
    SS_SWEEP_AUTO, /* batched where that pays; forward; when that runs in circles backward, then shuffled */
    SS_SWEEP_FORWARD,
    SS_SWEEP_BACKWARD,
    SS_SWEEP_SYMMETRIC, /* forward, then backward: two visits of every cell */
    SS_SWEEP_ALTERNATE, /* forward and backward in turn */
    SS_SWEEP_SHUFFLE,   /* a new random order every time */
    SS_SWEEP_BATCHED,   /* batched.h, where that pays; not by ss_sweep_pass */
} ss_sweep_order;
#define SS_SWEEP_ORDER_OPTION(options, field)                                                         \
    SS_ROW_CHOICE(options, field, "auto", "auto|forward|backward|symmetric|alternate|shuffle",        \
                  "order in which contacts and rows are visited: auto is forward until that cycles, " \
                  "symmetric visits each twice per iteration, shuffle draws a new order every time")

typedef struct ss_sweep {
    ss_operator A;
    ss_sweep_order order; /* at the moment */
    bool is_auto;         /* other orders are tried when one runs in circles */
    ss_status status;     /* once it does not go on */
    double *last_good;    /* x after the last pass whose numbers were finite */
    ss_watch watch;
    int *shuffled;
    uint64_t seed;
    ss_random random;
    bool is_shuffled;
    int passes;
} ss_sweep;

/* Steps are left for the caller to set. NULL when out of memory. */
ss_sweep *ss_sweep_create(const ss_problem *problem, unsigned kinds, uint64_t seed, ss_arena *arena);
/* The sweep of projected Gauss-Seidel, with its steps (pgs.c), for methods built around it: *omega, the
 * relaxation, is read at every step and must live as long as the sweep. */
ss_sweep *ss_projected_sweep(const ss_problem *problem, const double *omega, uint64_t seed, ss_arena *arena);
void ss_sweep_start(ss_sweep *sweep, ss_sweep_order order, const double *x);
/* One pass. Returns the sum of a_ii dx_i^2, twice an energy: 0 exactly when nothing moved. */
double ss_sweep_pass(ss_sweep *sweep, ss_sweep_order order, double *x);
/* The next iterate of a run. False, with a status, when the run says stop, nothing moves any more
 * (converged), nothing has improved for long in the last order that was left to try (stalled), or numbers
 * overflow (failed, with the last finite x). */
bool ss_sweep_goes_on(ss_sweep *sweep, double change, ss_run *run, double *x);

/* passes without progress: for another order, for none */
enum { SS_SWEEP_CIRCLING = 500, SS_SWEEP_STUCK = 5000 };

#endif
