/* certificate/exact.h - the exact solution of a small problem, in rational numbers. */
#ifndef CERTIFICATE_EXACT_H
#define CERTIFICATE_EXACT_H

#include "certificate/laws.h"

/* Solves the problem, whose matrix is there, in the states of its blocks (`cases`, by block) and rows (`at`,
 * by unknown), if at most `most` unknowns are left, and checks every law without any rounding. Unknowns that
 * the problem leaves open take their values from x, which is finite. True: distance is the largest difference
 * of a component of w = A x + b from that of the exact solution, rounded upwards. False: there is no solution
 * in these states, or it is not rational. */
bool ss_solve_exactly(const ss_problem *problem, const double *x, const ss_block_case *cases, const int *at,
                      int most, double *distance);

#endif
