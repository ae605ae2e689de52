/* solver/newton/newton_natural.h - the natural maps of all laws, and their derivatives.
 *
 *     Phi(r, u) = r - p(y),  y = r - rho u        Phi = 0 exactly at a solution, for any rho > 0
 *
 * p is the projection on a box, on a cone (convex law), or the map of Alart and Curnier for Coulomb's law:
 * the normal part on [0, inf), the others on the discs mu p_N. Bounds that follow a partner in the same node
 * follow its p. With D = dp/dy, an element of the generalised derivative, dPhi = (1 - D) dr + rho D du.
 *
 * Reference: Alart, Curnier, A mixed formulation for frictional contact problems prone to Newton like
 * solution methods (1991).
 */
#ifndef SS_SOLVER_NEWTON_NEWTON_NATURAL_H
#define SS_SOLVER_NEWTON_NEWTON_NATURAL_H

#include "solver/newton/newton_space.h"

/* p, and D (size x size, row by row) unless NULL. y and p are those of the node; r is the whole vector, for
 * the bounds that follow a row of another node. */
void ss_newton_project(const ss_newton_space *space, const ss_newton_node *node, const double *y,
                       const double *r, double *p, double *D);
/* Phi of a node at (r, u), vectors of the whole, and its derivative F dr + B du unless F is NULL. */
void ss_newton_natural(const ss_newton_space *space, const ss_newton_node *node, double rho, const double *r,
                       const double *u, double *phi, double *F, double *B);
/* Phi of all nodes; returns its Euclidean norm. phi may be NULL. */
double ss_newton_residual(const ss_newton_space *space, double rho, const double *r, const double *u,
                          double *phi);

#endif
