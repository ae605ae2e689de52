/* solver/local/local_cone.h - the problem of one contact, everything else held fixed:
 *
 *     u = A r + q,  K contains r,  K* contains u~,  u~ . r = 0      u~ = u + (mu |u_T| + mu_r |u_M|) e_N
 *
 * solved to rounding for 2 (planar), 3 and 5 (rolling) components, Coulomb's law or its convex relaxation
 * (u~ = u), any mu from 0 to infinity. A need not be symmetric; its symmetric part should be positive
 * semidefinite. Used by block Gauss-Seidel and by everything built on it.
 */
#ifndef SS_SOLVER_LOCAL_LOCAL_CONE_H
#define SS_SOLVER_LOCAL_LOCAL_CONE_H

#include <stickslip/problem.h>

#include <math.h>

#include "linalg/small.h"

/* r: a guess on entry (the last impulse), the solution on return. */
typedef void ss_local_solve(void *data, const double *q, double *r);

typedef struct ss_local_cone {
    ss_local_solve *solve;
    void *data; /* constants of the contact and what it remembers between calls */
} ss_local_cone;

/* `A`: size x size, row by row; the block gives size, law and friction. `tolerance` is relative: that of the
 * slip direction and speed. False when out of memory. */
bool ss_local_cone_create(const ss_block *block, const double *A, double tolerance, ss_arena *arena,
                          ss_local_cone *cone);

/* ---- parts ------------------------------------------------------------------------------------------ */

enum { SS_CONE_MAX = SS_SMALL_MAX };

/* Three components, Coulomb's law and the convex one; three under the convex law or five, a general method.
 * Friction positive and finite, A regular. */
bool ss_local_slip_create(const ss_block *block, const double *A, double tolerance, ss_arena *arena,
                          ss_local_cone *cone);
bool ss_local_convex_create(const ss_block *block, const double *A, double tolerance, ss_arena *arena,
                            ss_local_cone *cone);
bool ss_local_newton_create(const ss_block *block, const double *A, double tolerance, ss_arena *arena,
                            ss_local_cone *cone);

/* Sticking with three components: r = -A^-1 q. Refined where A is badly conditioned, else one product. */
typedef struct ss_stick {
    double a[9], inverse[9];
    bool is_soft; /* in some direction */
} ss_stick;
ss_stick ss_stick_of(const double A[9]);
static inline bool ss_sticks(const ss_stick *stick, double mu, const double *q, double *r)
{
    const double *inverse = stick->inverse;
    if (stick->is_soft) {
        ss_small_balance(3, stick->a, inverse, q, r);
    } else {
        r[0] = -(inverse[0] * q[0] + inverse[1] * q[1] + inverse[2] * q[2]);
        r[1] = -(inverse[3] * q[0] + inverse[4] * q[1] + inverse[5] * q[2]);
        r[2] = -(inverse[6] * q[0] + inverse[7] * q[1] + inverse[8] * q[2]);
    }
    double limit = mu * r[0];
    return r[0] >= 0.0 && r[1] * r[1] + r[2] * r[2] <= limit * limit;
}

/* The friction of one contact whose normal impulse is given, two components:
 *
 *     B y + c + lambda y = 0,   |y| <= radius,   lambda >= 0,   lambda (radius - |y|) = 0
 *
 * of a symmetric B the y of least energy on the disc, of any other B the law all the same. B row by row; its
 * symmetric part should be positive semidefinite. y need not be set. */
void ss_disc_solve(const double B[4], const double c[2], double radius, double y[2]);
/* The same for three components, sliding and spinning in one ball. */
void ss_ball_solve(const double B[9], const double c[3], double radius, double y[3]);

/* The next trial for a root between low and high (inf: not known yet): Newton's if it lies between. */
static inline double ss_root_trial(double newton, double low, double high, double scale)
{
    if (newton > low && newton < high) return newton;
    return isinf(high) ? 4.0 * fmax(low, scale) : 0.5 * (low + high);
}

#endif
