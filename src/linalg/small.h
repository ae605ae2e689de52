/* linalg/small.h - systems of a few equations, row by row, on the stack. */
#ifndef SS_LINALG_SMALL_H
#define SS_LINALG_SMALL_H

#include <stdbool.h>

enum { SS_SMALL_MAX = 6 }; /* equations that the last two can do */

/* Gaussian elimination with row exchange: A is destroyed, b becomes A^-1 b, `count` right-hand sides as the
 * columns of b (n x count). False when A is singular to the last bit. */
bool ss_small_solve(int n, double *A, int count, double *b);
bool ss_small_invert(int n, const double *A, double *inverse);
/* r = -A^-1 q with the inverse from above and one step of refinement. */
void ss_small_balance(int n, const double *A, const double *inverse, const double *q, double *r);

#endif
