/* solver/newton/newton_sweeps.h - Gauss-Seidel over the nodes of a Newton space, on the problem itself or
 * a proximal one,
 *
 *     u = W r + q + alpha (r - centre)
 *
 * Rows take a step of the natural map, r_k <- p(r_k - u_k / (1 + alpha)); contacts too, or they are solved
 * exactly: one that is stiff in one direction and soft in another would hardly move in the soft one.
 */
#ifndef SS_SOLVER_NEWTON_NEWTON_SWEEPS_H
#define SS_SOLVER_NEWTON_NEWTON_SWEEPS_H

#include "solver/local/local_cone.h"
#include "solver/newton/newton_space.h"

typedef struct ss_sweeper {
    const ss_newton_space *space;
    double alpha;
    const double *centre; /* NULL: no proximal term */
    ss_local_cone *cones; /* per node, those that are solved exactly have a function; NULL: none */
    double (*own)[SS_CONE_MAX * SS_CONE_MAX]; /* W_kk of these */
} ss_sweeper;

/* False when out of memory. The centre stays the caller's and may change between sweeps. */
bool ss_sweeper_create(const ss_newton_space *space, double alpha, const double *centre, bool is_exact,
                       ss_arena *arena, ss_sweeper *sweeper);
/* Before the first sweep, and whenever r was changed by others: velocities are kept up to
 * date from here on. */
void ss_sweeper_begin(const ss_sweeper *sweeper, const double *r);
/* One sweep; returns the square of how far r moved. */
double ss_sweeper_sweep(const ss_sweeper *sweeper, double *r);

#endif
