/* certificate/exact.h - the exact solution of a small problem, in rational numbers. */
#ifndef CERTIFICATE_EXACT_H
#define CERTIFICATE_EXACT_H

#include "certificate/laws.h"

/* Solves the problem, whose matrix is there, in the states of its blocks (`cases`, by block) and rows (`at`,
 * by unknown), if at most `most` unknowns are left, and checks every law without any rounding. Unknowns that
 * the problem leaves open take their values from x. True: exact and velocity are x and w = A x + b of the
 * exact solution, rounded to double precision. False: there is none in these states, or it is not rational.
 * */
bool ss_solve_exactly(const ss_problem *problem, const double *x, const ss_block_case *cases, const int *at,
                      int most, double *exact, double *velocity);

#endif
