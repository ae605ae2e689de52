/* conformance/independent.h - how far x is from solving a problem, computed from the problem's data in long
 * double and without any code of the library: bounds, signs, complementarity, cones and Coulomb's law, each
 * apart. What the library measures is only worth something if it agrees with this. */
#ifndef SS_CONFORMANCE_INDEPENDENT_H
#define SS_CONFORMANCE_INDEPENDENT_H

#include <stickslip/problem.h>

typedef struct ss_violation {
    double worst;     /* relative: in units of the load, both as sqrt(J) */
    int unknown;      /* where */
    const char *what; /* which condition */
} ss_violation;

/* The worst of all conditions, relative to the load. */
ss_violation ss_independent_judge(const ss_problem *problem, const double *x);

/* w = A x + b, by the bodies form if there is one: A is made from it. w has `size` numbers. */
void ss_independent_w(const ss_problem *problem, const double *x, long double *w);
/* What has to be undone, sqrt(J): the speeds at x = 0, and the impulses that bounds away from zero demand. */
long double ss_independent_load(const ss_problem *problem);
/* 1/kg of a row; rows without any, such as the sliding speed of Stewart and Trinkle, count as 1. */
long double ss_independent_inverse_mass(const ss_problem *problem, int row);

/* Why y is not a ray (stickslip/solver.h: allowed in any amount, moves nothing, opposes b); NULL if it is. */
const char *ss_independent_ray(const ss_problem *problem, const double *y);

#endif
