/* stickslip/cone.h - the problem of an FCLIB file: Coulomb's law on second-order cones in De Saxce's form,
 * reduced to contact space (local) or with the velocities of the bodies as unknowns (global).
 * ss_problem_from_cone turns it into a problem for solvers; ss_assembly_cone (formulation.h) makes it from a
 * frame.
 *
 * Read after sparse.h; the order of all headers is in stickslip.h.
 */
#ifndef STICKSLIP_CONE_H
#define STICKSLIP_CONE_H

#include <stickslip/base.h>
#include <stickslip/sparse.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Per contact the components are (N, T1, T2), in the plane (N, T), with rolling (N, T1, T2, M1, M2).
 * K = { |r_T| <= mu r_N } (with rolling also |r_M| <= mu_r r_N), u~ = u + (mu |u_T| + mu_r |u_M|) e_N,
 * find r with  K* contains u~, K contains r, u~ . r = 0.
 *
 *   local  form (Delassus):    u = W r + V l + q            0 = V' r + R l + s
 *   global form (descriptor):  M v = H r + G l + f          0 = G' v + b         u = H' v + w
 *
 * H and G are the TRANSPOSED Jacobians: one column per contact component or equation. W may be unsymmetric.
 */
typedef enum ss_cone_form { SS_CONE_LOCAL, SS_CONE_GLOBAL } ss_cone_form;

typedef struct ss_cone {
    ss_cone_form form;
    int dimension;        /* components of a contact: 2, 3, or 5 with rolling */
    int contacts;         /* m = contacts * dimension */
    int dofs;             /* n, global form; 0 in the local form */
    int equations;        /* p, bilateral equations */
    double *mu;           /* per contact */
    double *mu_rolling;   /* per contact, dimension 5 only, else NULL */
    ss_sparse *W, *V, *R; /* local: m x m, m x p, p x p; V and R are NULL when p = 0 */
    double *q, *s;        /* local: m, p */
    ss_sparse *M, *H, *G; /* global: n x n, n x m, n x p; G is NULL when p = 0 */
    double *f, *w, *b;    /* global: n, m, p */
} ss_cone;

/* Vectors are zeroed, matrices are NULL, to be set by the caller; the problem then owns them. */
SS_API ss_cone *ss_cone_create(ss_cone_form form, int dimension, int contacts, int dofs, int equations,
                               ss_error *err);
SS_API void ss_cone_destroy(ss_cone *cone);
/* Reports every fault of sizes and values ("PLACE/vectors/mu[3]"); true if there is none. */
SS_API bool ss_cone_check(const ss_cone *cone, const char *place, ss_findings *findings);
/* To the local form: W = H' M^-1 H, V = H' M^-1 G, R = G' M^-1 G, q = H' M^-1 f + w, s = G' M^-1 f + b; W and
 * R are exactly symmetric if M is. A local problem is copied. With `eliminate`, the bilateral equations are
 * solved for as well (W~ = W - V R^-1 V', q~ = q - V R^-1 s), which needs independent equations. Fails when M
 * (or R) is singular, naming the row of M or the equation that depends on others. */
SS_API ss_cone *ss_cone_to_local(const ss_cone *cone, bool eliminate, ss_error *err);

/* A point of a cone problem, whatever its form: arrays of sizes m, m, n, p; v is NULL in the local form, l is
 * NULL without equations. */
typedef struct ss_cone_point {
    double *u, *r, *v, *l;
} ss_cone_point;
SS_API bool ss_cone_point_create(const ss_cone *cone, ss_cone_point *point, ss_error *err);
SS_API void ss_cone_point_free(ss_cone_point *point);
/* Everything that follows from r alone: l from the equations, v from the balance, and u. Fails when M or R is
 * singular. */
SS_API bool ss_cone_point_complete(const ss_cone *cone, ss_cone_point *point, ss_error *err);

/* How far a point is from solving the problem, recomputed from r and l alone: u(r) = W r + V l + q, in the
 * global form with v(r) = M^-1 (H r + G l + f), so that both forms of a problem give the same numbers; the
 * stored u and v are not trusted, only compared. |q| is that of the local form, H' M^-1 f + w. A norm |q|,
 * |f|, |b| or |s| that is 0 counts as 1. All norms are Euclidean. */
typedef struct ss_cone_residual {
    double natural_map; /* |r - P_K(r - u~)| / |q|, step 1, as Siconos defines it */
    double balance;   /* |M v - H r - G l - f| / |f| with the stored v; 0 in the local form, which has no v */
    double bilateral; /* |G' v(r) + b| / |b| or |V' r + R l + s| / |s|; 0 without equations */
    double velocity;  /* |u - u(r)| / |q|: how wrong the stored u is; 0 when u is NULL */
    int worst_contact; /* of the natural map; -1 without contacts */
} ss_cone_residual;
/* point->r is needed, and l where there are equations; u and v may be NULL. Fails when M is singular. */
SS_API bool ss_cone_residual_of(const ss_cone *cone, const ss_cone_point *point, ss_cone_residual *residual,
                                ss_error *err);

#ifdef __cplusplus
}
#endif
#endif
