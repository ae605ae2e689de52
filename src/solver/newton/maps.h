/* solver/newton/maps.h - maps whose root is the solution, of one node at a time, and their derivatives.
 *
 * The natural map, for every law:
 *
 *     Phi(r, u) = r - p(y),  y = r - rho u        Phi = 0 exactly at a solution, for any rho > 0
 *
 * p is the projection on a box, on a cone (convex law), or the map of Alart and Curnier for Coulomb's law:
 * the normal part on [0, inf), the others on the discs mu p_N. Bounds that follow a partner in the same node
 * follow its p. With D = dp/dy, an element of the generalised derivative, dPhi = (1 - D) dr + rho D du.
 *
 * The functions of Fischer and Burmeister:
 *
 *     rows, l <= x <= u    phi(x - l, -phi(u - x, -w))     phi(a, b) = a + b - sqrt(a^2 + b^2)
 *                                                          (Billups 1995)
 *     cones                s + z - (s o s + z o z)^1/2     s = (mu r_N, r_T), z = (u~_N / mu, u_T) in Lorentz
 *                                                          coordinates, o the Jordan product
 *                                                          (Fukushima, Luo, Tseng 2002)
 *
 * In a rolling contact under Coulomb's law, whose two discs share a normal, the normal part has phi(r_N, u_N)
 * and the discs have their natural map; under the convex law all of it has the natural map.
 *
 * Three more for Coulomb's law:
 *
 *     Alart, Curnier   Phi_N = r_N - [y_N]+      Phi_T = r_T - P(mu [y_N]+, y_T)      y_i = r_i - rho_i u_i
 *     Jean, Moreau     Phi_N = r_N - [y_N]+      Phi_T = r_T - P(mu [r_N]+, y_T)
 *     De Saxce         Phi = r - P_K(r - rho u~)      u~ = u + (mu |u_T| + mu_r |u_M|) e_N
 *
 * P(radius, y) is the nearest point of the disc. The first is the natural map with steps rho of its own for
 * normal, tangents and rolling: rho / (a + alpha), where a is the contact's own inverse mass in that
 * direction (the largest eigenvalue of its part of W). Rows and the convex law have the natural map.
 *
 * References: Alart, Curnier, A mixed formulation for frictional contact problems prone to Newton like
 * solution methods (1991); Jean, The non-smooth contact dynamics method (1999); De Saxce, Feng (1998).
 */
#ifndef SS_SOLVER_NEWTON_MAPS_H
#define SS_SOLVER_NEWTON_MAPS_H

#include "problem/space.h"

/* p, and D (size x size, row by row) unless NULL. y and p are those of the node; r is the whole vector, for
 * the bounds that follow a row of another node. */
void ss_newton_project(const ss_space *space, const ss_node *node, const double *y, const double *r,
                       double *p, double *D);
/* Phi of a node at (r, u), vectors of the whole, and its derivative F dr + B du unless F is NULL. */
void ss_newton_natural(const ss_space *space, const ss_node *node, double rho, const double *r,
                       const double *u, double *phi, double *F, double *B);
/* Phi of all nodes; returns its Euclidean norm. phi may be NULL. */
double ss_newton_residual(const ss_space *space, double rho, const double *r, const double *u, double *phi);

/* phi of one node at (r, u), vectors of the whole; its derivative F dr + B du unless F is NULL. */
void ss_newton_fischer(const ss_space *space, const ss_node *node, const double *r, const double *u,
                       double *phi, double *F, double *B);

typedef enum ss_alart_variant { SS_ALART_CURNIER, SS_JEAN_MOREAU, SS_DE_SAXCE } ss_alart_variant;

enum { SS_ALART_PARTS = 4 }; /* normal, tangents, rolling, torsional friction beside the cone */
typedef struct ss_alart {
    ss_alart_variant variant;
    double rho;                            /* 1: the step that solves a contact of one component at once */
    double (*own_inverse)[SS_ALART_PARTS]; /* per node: inverse masses of its parts, pure numbers */
} ss_alart;

/* False when out of memory. */
bool ss_alart_create(const ss_space *space, ss_alart_variant variant, double rho, ss_arena *arena,
                     ss_alart *alart);
/* phi of node k at (r, u), vectors of the whole; its derivative F dr + B du unless F is NULL. */
void ss_newton_alart(const ss_alart *alart, const ss_space *space, int k, double alpha, const double *r,
                     const double *u, double *phi, double *F, double *B);

#endif
