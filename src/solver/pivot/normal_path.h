/* solver/pivot/normal_path.h - from a point to the solution of a mixed complementarity problem, along the
 * zeros of
 *
 *     F(x) = A z + b - w,   z = P(x),   w = z - x     the normal map
 *     F(x) = tau r,   r = F(start)                    the path, tau from 1 to 0
 *
 * F is linear on pieces: z_i inside its bounds and w_i = 0, or z_i on a bound and w_i of the right sign. A
 * piece ends where a variable meets a bound; its complement enters then, as in Lemke's method, of which this
 * is the generalisation to any bounds and any start. (Ralph 1994; Dirkse, Ferris 1995.) The basis is
 * factorised and updated by basis.h.
 *
 * The matrix has a little compliance, A + eps with the load b - eps centre, so that redundant rows do no
 * harm; its effect is removed by solving again with the solution as the centre.
 */
#ifndef SS_SOLVER_PIVOT_NORMAL_PATH_H
#define SS_SOLVER_PIVOT_NORMAL_PATH_H

#include "linalg/basis.h"
#include <stickslip/solver.h>

#include "problem/mcp.h"

typedef enum ss_path_end {
    SS_PATH_SOLVED,  /* tau is zero */
    SS_PATH_RAY,     /* nothing stops the growth of something */
    SS_PATH_LOST,    /* rounding, a singular basis, too many pivots, or out of memory */
    SS_PATH_STOPPED, /* the run said stop */
} ss_path_end;

typedef struct ss_normal_path {
    const ss_mcp *mcp;
    ss_run *run;
    double *x; /* of the problem, for the run to see */
    int n;
    double *load;  /* what the basis sees for b: with everything that is not basic in it */
    bool *is_free; /* no bounds */
    ss_basis basis;
    double eps;
    double slack; /* what a variable may miss its bound by for the sake of a larger pivot */
    double *centre;
    double *z;         /* of all unknowns; basic ones are written by ss_normal_path_read */
    signed char *side; /* -1, 1: z is on that bound; 0: it is basic */
    double *value;     /* of the basic variables, by position */
    double *direction; /* B^-1 times the entering column */
    double *scratch;
    double largest;      /* entry of direction */
    bool tau_waits;      /* is 1, and not yet basic */
    double start_square; /* |r|^2 */
    int64_t pivots;      /* of all paths */
} ss_normal_path;

/* x: that of the solver. False when out of memory; destroy in any case. */
bool ss_normal_path_create(const ss_mcp *mcp, ss_run *run, double *x, ss_normal_path *path);
void ss_normal_path_destroy(ss_normal_path *path);

/* Starts at z (within bounds), on the piece that w says: z_i - w_i outside of the bounds puts z_i on
 * one. Everything is moved off the ends of the piece by a generic `push` or more. False when the
 * piece is singular. */
bool ss_normal_path_from_point(ss_normal_path *path, const double *z, const double *w, double push,
                               int attempt);
/* Starts on a ray, all bounded unknowns on a bound and tau r large enough to keep them there: a start that
 * can fail by rounding only, and that every copositive matrix leads to a solution from. False when the free
 * rows are singular. */
bool ss_normal_path_from_ray(ss_normal_path *path, int attempt);
/* Goes to the end. */
ss_path_end ss_normal_path_follow(ss_normal_path *path, int64_t max_pivots);
/* Solves for the basic variables with the centre as it is now, on the pieces where the last path ended.
 * Returns by how much they miss their bounds; INFINITY when the basis is singular. */
double ss_normal_path_solve(ss_normal_path *path);
/* Starts again from what that has found. */
void ss_normal_path_mend(ss_normal_path *path, double push, int attempt);
/* Writes basic variables into path->z, within bounds. */
void ss_normal_path_read(ss_normal_path *path);

#endif
