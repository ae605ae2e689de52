/* problem/cone.h - the friction cone of one contact, and what the files of this room share. */
#ifndef PROBLEM_CONE_H
#define PROBLEM_CONE_H

#include <stickslip/problem.h>

#include "base/inner.h"
#include "linalg/block_lu.h"

#include <math.h>

/* K = { |r_T| <= mu r_N, |r_M| <= mu_rolling r_N }, dimension 2 (N, T), 3 (N, T1, T2) or 4 (N, T1, T2, S),
 * with rolling 5 (N, T1, T2, M1, M2) or 6 (N, T1, T2, S, M1, M2); mu_rolling counts with rolling only. S is
 * spinning, in the ball of sliding. */
typedef struct ss_friction_cone {
    int dimension;
    double mu, mu_rolling;
} ss_friction_cone;

enum { SS_CONE_DIMENSION = 6 }; /* at most */
/* Of a cone of this dimension: how many components r_T has, from 1 on, and where r_M begins, if it does. */
static inline int ss_cone_tangents(int dimension)
{
    return dimension < 5 ? dimension - 1 : dimension - 3;
}
static inline bool ss_cone_rolls(int dimension)
{
    return dimension > 4;
}
static inline int ss_cone_rolling(int dimension)
{
    return dimension - 2;
}

ss_friction_cone ss_cone_contact(const ss_cone *cone, int contact);
/* r = P_K(r), the nearest point of the cone; exact up to rounding */
void ss_friction_cone_project(ss_friction_cone cone, double *r);
/* The same for dimension 3 and finite mu: the usual contact, of which there are many in every measurement. */
static inline void ss_spatial_cone_project(double mu, double r[3])
{
    double n = r[0], t = sqrt(r[1] * r[1] + r[2] * r[2]);
    bool is_cut = t - mu * n > 0.0;
    if (!is_cut && n >= 0.0) return;
    double height = is_cut ? (n + mu * t) / (1.0 + mu * mu) : n, limit = 0.0;
    r[0] = 0.0;
    if (height > 0.0) r[0] = height, limit = mu * height;
    if (t <= limit) return;
    r[1] *= limit / t;
    r[2] *= limit / t;
}
/* De Saxce: u_N += mu |u_T| + mu_rolling |u_M| */
void ss_friction_cone_shift(ss_friction_cone cone, double *u);

static inline int ss_cone_size(const ss_cone *cone)
{
    return cone->contacts * cone->dimension;
}

/* Fills u and, in the global form, v from the r and l of the point. Fails when M is singular. */
SS_INNER bool ss_cone_point_evaluate(const ss_cone *cone, ss_cone_point *point, ss_error *err);

/* Factors of M, R; the message says which one is singular and where. A pivot of R below `tolerance` times its
 * diagonal marks an equation that depends on others. */
ss_block_lu *ss_cone_factor_mass(const ss_cone *global, ss_error *err);
ss_block_lu *ss_cone_factor_equations(const ss_sparse *R, double tolerance, ss_error *err);

/* Joints that are redundant but for the drift of a simulation (1e-4 of their size) give pivots of the square
 * of it: what remains of them is noise, and dividing by it would make constraints of it. With regularisation
 * the pivot cannot be smaller than that, and only rounding counts. */
#define SS_REDUNDANT 1e-8
#define SS_REDUNDANT_REGULARIZED 1e-13

/* The bilateral equations of a local problem solved for, see ss_cone_to_local. */
ss_cone *ss_cone_eliminate(const ss_cone *local, double tolerance, ss_error *err);

/* alpha A + beta B */
ss_sparse *ss_cone_combine(double alpha, const ss_sparse *A, double beta, const ss_sparse *B, ss_error *err);
/* A + diag(d) */
ss_sparse *ss_cone_add_diagonal(const ss_sparse *A, const double *diagonal, ss_error *err);

#endif
