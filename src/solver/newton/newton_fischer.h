/* solver/newton/newton_fischer.h - the Fischer-Burmeister functions of all laws, and their derivatives.
 *
 *     rows, l <= x <= u    phi(x - l, -phi(u - x, -w))     phi(a, b) = a + b - sqrt(a^2 + b^2)
 *                                                          (Billups 1995)
 *     cones                s + z - (s o s + z o z)^1/2     s = (mu r_N, r_T), z = (u~_N / mu, u_T) in Lorentz
 *                                                          coordinates, o the Jordan product
 *                                                          (Fukushima, Luo, Tseng 2002)
 *
 * Zero exactly at a solution. In a rolling contact under Coulomb's law, whose two discs share a normal, the
 * normal part has phi(r_N, u_N) and the discs have their natural map; under the convex law all of it has
 * the natural map.
 */
#ifndef SS_SOLVER_NEWTON_NEWTON_FISCHER_H
#define SS_SOLVER_NEWTON_NEWTON_FISCHER_H

#include "solver/newton/newton_space.h"

/* phi of one node at (r, u), vectors of the whole; its derivative F dr + B du unless F is NULL. */
void ss_newton_fischer(const ss_newton_space *space, const ss_newton_node *node, const double *r,
                       const double *u, double *phi, double *F, double *B);

#endif
