/* solver/pivot/lcp.h - a problem of free unknowns and boxes as one scaled mixed LCP: what Lemke's method
 * needs.
 *
 *     w = A z + b;   free: w = 0,   else 0 <= z  perp  w >= 0
 *
 * x = l + z or x = u - z counts from a finite bound, a second finite bound becomes a slack row, and
 * unknowns with l = u drop out. Free unknowns stay as they are: eliminating them would fill the matrix.
 * Lives in the arena.
 */
#ifndef SS_SOLVER_PIVOT_LCP_H
#define SS_SOLVER_PIVOT_LCP_H

#include "solver/core/scaled.h"

typedef struct ss_lcp {
    int size;
    ss_sparse A; /* with every diagonal entry, if only as a zero */
    double *b;
    bool *is_free; /* per unknown */
    /* how it came about */
    ss_scaled scaled;
    int *place;            /* per unknown of the problem: where it is here, -1 when fixed */
    double *sign, *origin; /* per unknown of the problem: x = origin + sign * z */
    double *x;             /* scratch */
} ss_lcp;

/* False when out of memory. */
bool ss_lcp_create(const ss_problem *problem, ss_arena *arena, ss_lcp *lcp);
/* z to the unknowns of the problem, clamped to their bounds. */
void ss_lcp_restore(const ss_lcp *lcp, const double *z, double *x);

#endif
