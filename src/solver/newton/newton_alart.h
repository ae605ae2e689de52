/* solver/newton/newton_alart.h - three more maps for Coulomb's law whose root is the solution, and
 * their derivatives.
 *
 *     Alart, Curnier   Phi_N = r_N - [y_N]+      Phi_T = r_T - P(mu [y_N]+, y_T)      y_i = r_i - rho_i u_i
 *     Jean, Moreau     Phi_N = r_N - [y_N]+      Phi_T = r_T - P(mu [r_N]+, y_T)
 *     De Saxce         Phi = r - P_K(r - rho u~)      u~ = u + (mu |u_T| + mu_r |u_M|) e_N
 *
 * P(radius, y) is the nearest point of the disc. The first is the natural map of newton_natural.h with
 * steps rho of its own for normal, tangents and rolling: rho / (a + alpha), where a is the contact's own
 * inverse mass in that direction (the largest eigenvalue of its part of W). Rows and the convex law have
 * the natural map.
 *
 * References: Alart, Curnier (1991); Jean, The non-smooth contact dynamics method (1999); De
 * Saxce, Feng (1998).
 */
#ifndef SS_SOLVER_NEWTON_NEWTON_ALART_H
#define SS_SOLVER_NEWTON_NEWTON_ALART_H

#include "solver/newton/newton_space.h"

typedef enum ss_alart_variant { SS_ALART_CURNIER, SS_JEAN_MOREAU, SS_DE_SAXCE } ss_alart_variant;

typedef struct ss_alart {
    ss_alart_variant variant;
    double rho;               /* 1: the step that solves a contact of one component at once */
    double (*own_inverse)[3]; /* per node: inverse masses of normal, tangents and rolling, pure numbers */
} ss_alart;

/* False when out of memory. */
bool ss_alart_create(const ss_newton_space *space, ss_alart_variant variant, double rho, ss_arena *arena,
                     ss_alart *alart);
/* phi of node k at (r, u), vectors of the whole; its derivative F dr + B du unless F is NULL. */
void ss_newton_alart(const ss_alart *alart, const ss_newton_space *space, int k, double alpha,
                     const double *r, const double *u, double *phi, double *F, double *B);

#endif
