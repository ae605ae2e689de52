/* problem/equations.h - problems without inequalities: mechanisms that touch nothing and whose joints have
 * neither limits nor friction. */
#ifndef SS_PROBLEM_EQUATIONS_H
#define SS_PROBLEM_EQUATIONS_H

#include <stickslip/problem.h>

/* x with A x + b = 0, by Cholesky's factors of A. False, and x as it was, where the problem is another one,
 * its equations depend on each other, or factors of this kind would be large. */
bool ss_equations_solve(const ss_problem *problem, ss_arena *arena, double *x);

#endif
