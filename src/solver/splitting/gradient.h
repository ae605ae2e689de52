/* solver/splitting/gradient.h - what methods that follow the gradient share, in the variables of a Newton
 * space.
 *
 * The convex problem is to minimise f(r) = r . W r / 2 + q . r within boxes and cones; its gradient
 * is the velocity. For Coulomb's law De Saxce's term is added to the velocity: it has no f, but the
 * same fixed points.
 */
#ifndef SS_SOLVER_SPLITTING_GRADIENT_H
#define SS_SOLVER_SPLITTING_GRADIENT_H

#include <stickslip/solver.h>

#include "problem/space.h"

/* z: the nearest to y of what bounds and cones allow. Bounds that follow a row of another node follow r. y
 * and z may be the same. */
void ss_gradient_project(const ss_space *space, const double *y, const double *r, double *z);
/* De Saxce's term of every node under Coulomb's law at the velocities u, else 0; per number,
 * of normal parts. */
void ss_gradient_saxce(const ss_space *space, const double *u, double *term);
/* The largest eigenvalue of W by `count` products, from below; scratch: two vectors. */
double ss_gradient_slope(const ss_space *space, int count, ss_run *run, double *scratch, double *image);

/* Why methods that need an f cannot take a problem; NULL when they can. */
const char *ss_gradient_refusal(const ss_problem *problem);

double ss_dot(int n, const double *a, const double *b);

#endif
