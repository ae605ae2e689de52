/* solver/sweep/batched.h - the sweeps of pgs and nsgs on four contacts at a time, and on all threads.
 *
 * backend: it computes what the sweeps of sweep.h compute, in another order of the contacts and several times
 * faster (sweep/batches.h). Nothing here is needed to follow a method.
 */
#ifndef SS_SOLVER_SWEEP_BATCHED_H
#define SS_SOLVER_SWEEP_BATCHED_H

#include "solver/sweep/sweep.h"

/* What a visit does to a contact: solves it (nsgs), or projects it after a step per row (pgs). */
typedef enum ss_batch_method { SS_BATCH_EXACT, SS_BATCH_PROJECTED } ss_batch_method;

/* Sweeps in batches, if `order` asks for that, the problem has bodies, and it pays; relaxation is that of
 * projected steps, `accelerate` puts conjugate directions around exact ones. False when not, or when it runs
 * in circles and `order` is auto: then the other orders continue from x. */
bool ss_sweep_batched(const ss_problem *problem, ss_sweep_order order, ss_batch_method contact,
                      double relaxation, bool accelerate, ss_run *run, double *x, ss_status *status);

/* The option `sweep` of solvers that call it first. */
#define SS_BATCHED_ORDER_OPTION(options, field, value)                                                      \
    SS_ROW_CHOICE(options, field, value, "auto|forward|backward|symmetric|alternate|shuffle|batched",       \
                  "order in which contacts and rows are visited: batched handles four contacts without a "  \
                  "common body at a time, on all threads, if the problem has bodies and enough contacts, "  \
                  "and is forward otherwise; auto starts with it and tries others if it cycles; symmetric " \
                  "visits each twice per iteration, shuffle draws a new order every time")

#endif
