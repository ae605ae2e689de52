/* problem/mcp.h - a problem of free unknowns, boxes and coupled bounds as one mixed complementarity
 * problem in pure numbers, with bounds that stay where they are:
 *
 *     w = A z + b,   l <= z <= u;   z = l: w >= 0,  z = u: w <= 0,  else w = 0
 *
 * A bound that follows a partner, |x_t| <= f x_p, becomes two rows with a multiplier each, and f x_p needs
 * no outer loop:
 *
 *     0 <= f x_p - x_t  perp  s >= 0,   0 <= f x_p + x_t  perp  s' >= 0,   w_t + s - s' = 0
 *
 * The matrix is copositive then, as that of Stewart and Trinkle is, where that of the problem is positive
 * semidefinite and x_p >= 0. Partners of either sign cannot be written this way. Lives in the arena.
 */
#ifndef SS_PROBLEM_MCP_H
#define SS_PROBLEM_MCP_H

#include "problem/scaled.h"

typedef struct ss_mcp {
    int size;
    ss_sparse A; /* with every diagonal entry, if only as a zero */
    double *b, *lower, *upper;
    bool symmetric;
    ss_scaled scaled; /* the first unknowns are those of it */
    int *follower;    /* per pair of multipliers: the unknown whose bounds it keeps */
    int pairs;
} ss_mcp;

/* Why a problem cannot be written this way; NULL when it can. */
const char *ss_mcp_refusal(const ss_problem *problem);
/* False when out of memory. */
bool ss_mcp_create(const ss_problem *problem, ss_arena *arena, ss_mcp *mcp);
/* From the unknowns of the problem, within bounds, with multipliers that fit; scratch: `size` numbers. */
void ss_mcp_start(const ss_mcp *mcp, const double *x, double *scratch, double *z);
/* Back, projected on the laws of the problem. */
void ss_mcp_restore(const ss_mcp *mcp, const double *z, double *x);
void ss_mcp_apply(const ss_mcp *mcp, const double *z, double *w);
/* max |z - P(z - w)| with w recomputed */
double ss_mcp_error(const ss_mcp *mcp, const double *z, double *w);
/* Does y prove that there is no solution of a size that means anything? By Farkas: impulses along y that the
 * bounds allow without end, A'y that no z within bounds can use, and b . y < 0. y is cut to what the bounds
 * allow and scaled; scratch: `size` numbers. */
bool ss_mcp_proves_none(const ss_mcp *mcp, double *y, double *scratch);

#endif
