/* solver/newton/interior_cones.h - the inequalities of a problem as Lorentz cones, for the interior point
 * method.
 *
 * Every bound and every friction disc is one cone: with s_0 = slope r_head - offset and s_1 = r_tail,
 *
 *     s in L,  z in L,  s . z = 0
 *     u_head = sum over its cones of slope (z_0 - |z_1|^2 / z_0),  u_tail = z_1
 *
 * (slope = mu for a disc, +-1 for a bound, which has no tail). The last term is De Saxce's |u_T|, absent
 * under the convex law: the same at a solution that sticks (z = 0) or slides (z_0 = |z_1|), and where a
 * contact opens every u_N > 0 has one z_0 > |z_1| as well. But it is smooth inside the cone, and flat where
 * z is far from its boundary: |z_1| has a corner in the very middle, which the contacts that stick pass
 * again and again on their way. A contact that rolls or has torsional friction of its own has several cones
 * with one head. Unknowns that cannot move (l = u, tangents without friction) are fixed; those under
 * infinite friction are free.
 */
#ifndef SS_SOLVER_NEWTON_INTERIOR_CONES_H
#define SS_SOLVER_NEWTON_INTERIOR_CONES_H

#include "linalg/lorentz.h"
#include "solver/newton/newton_system.h"

typedef struct ss_interior_cone {
    int node;       /* of the space */
    int head, tail; /* numbers; the tail is in one piece */
    int size;       /* 1 + length of the tail */
    double slope, offset;
    double saxce; /* 1, or 0 for bounds and under the convex law */
    double s[SS_LORENTZ_MAX], z[SS_LORENTZ_MAX];
    double ds[SS_LORENTZ_MAX], dz[SS_LORENTZ_MAX];
    ss_lorentz_scaling scaling;
} ss_interior_cone;

typedef struct ss_interior_cones {
    const ss_space *space;
    ss_interior_cone *cone;
    int count;
    /* how much of De Saxce's term N' has: 1 = Newton's method, 0 = lagged, a monotone problem */
    double share;
    bool *is_fixed; /* per number */
    int *first;     /* per node, and one more: its cones */
} ss_interior_cones;

/* False when out of memory. */
bool ss_interior_cones_create(const ss_space *space, ss_arena *arena, ss_interior_cones *cones);
/* A starting point inside, `size` (a pure number, as r and u) from all boundaries where there is room; s o z
 * is about size^2. */
void ss_interior_cones_start(ss_interior_cones *cones, double size, double *r);
/* The inside point with s o z = m (a pure number: impulse times velocity) nearest to given impulses and
 * velocities, which keeps s - z; moves r inside. */
void ss_interior_cones_resume(ss_interior_cones *cones, double m, double *r, const double *u);
/* The slopes of discs again, after their friction was changed. */
void ss_interior_cones_read_friction(ss_interior_cones *cones);
/* s from r. */
void ss_interior_cones_slacks(ss_interior_cones *cones, const double *r);
/* Mean of s . z after a step of length t. */
double ss_interior_cones_mean(const ss_interior_cones *cones, double t);
/* rest = u - N(z): what is missing in the velocities. */
void ss_interior_cones_missing(const ss_interior_cones *cones, const double *u, double *rest);
/* Scalings and the blocks of the Newton system. A cone that has its unknowns to itself: F = 1, B = G N'^-1,
 * R = T^-1 G. Cones that share a head: F = sum of N' G^-2 T, B = R = 1. Fixed unknowns: F = 1, B = 0, free
 * ones: F = 0, B = 1. False when a point has left the interior. */
bool ss_interior_cones_linearize(ss_interior_cones *cones, ss_newton_system *system);

/* What complementarity asks of y + G dz = h: h = lambda^-1 o (target e - lambda o lambda - cross (G^-1 ds) o
 * (G dz)), ds and dz being those of the last direction. */
typedef struct ss_centring {
    double target, cross;
} ss_centring;
/* The right-hand side that goes with the blocks: h - B rest, or -rest + sum of N' G^-1 h. */
void ss_interior_cones_load(const ss_interior_cones *cones, ss_centring centring, const double *rest,
                            double *rhs);
/* ds, dz of a step dr, with du = (W + alpha) dr and the h that dr was made with. */
void ss_interior_cones_directions(ss_interior_cones *cones, ss_centring centring, const double *rest,
                                  const double *dr, const double *du);
/* The largest common step that keeps all s and z inside. */
double ss_interior_cones_longest(const ss_interior_cones *cones);
/* Is the point after a step t near the central path? There lambda o lambda = m e for all cones; here the
 * smaller eigenvalue of every lambda, squared, must have at least this value. */
bool ss_interior_cones_centred(const ss_interior_cones *cones, double t, double least);
/* z += t dz */
void ss_interior_cones_move(ss_interior_cones *cones, double t);

#endif
