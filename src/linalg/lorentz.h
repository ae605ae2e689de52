/* linalg/lorentz.h - algebra of the Lorentz cone L = { s_0 >= |s_1| } in 1 to 4 dimensions
 * (in one it is s_0 >= 0): Jordan product, Nesterov-Todd scaling, steps to the boundary.
 *
 * The scaling of two interior points s, z is the symmetric G with G z = G^-1 s = lambda.
 *
 * Reference: Vandenberghe, The CVXOPT linear and quadratic cone program solvers (2010), section 4.
 */
#ifndef SS_LINALG_LORENTZ_H
#define SS_LINALG_LORENTZ_H

#include <stdbool.h>

enum { SS_LORENTZ_MAX = 4 };

typedef struct ss_lorentz_scaling {
    int size;
    double g;                 /* G^2 = g (2 w w' - J) */
    double w[SS_LORENTZ_MAX]; /* w' J w = 1 */
    double lambda[SS_LORENTZ_MAX];
} ss_lorentz_scaling;

double ss_lorentz_dot(int size, const double *a, const double *b);
/* s_0^2 - |s_1|^2, without cancellation */
double ss_lorentz_determinant(int size, const double *s);
/* a o b = (a . b, a_0 b_1 + b_0 a_1) */
void ss_lorentz_product(int size, const double *a, const double *b, double *product);
/* x with a o x = b; a is interior */
void ss_lorentz_divide(int size, const double *a, const double *b, double *x);
/* The largest t with s + t ds in L; INFINITY when there is no end. */
double ss_lorentz_step(int size, const double *s, const double *ds);

/* False when a point is not interior (to rounding). */
bool ss_lorentz_scale(int size, const double *s, const double *z, ss_lorentz_scaling *scaling);
/* y = G x, y = G^-1 x, y = G^-2 x; x and y must not overlap */
void ss_lorentz_apply(const ss_lorentz_scaling *scaling, const double *x, double *y);
void ss_lorentz_apply_inverse(const ss_lorentz_scaling *scaling, const double *x, double *y);
void ss_lorentz_apply_inverse_square(const ss_lorentz_scaling *scaling, const double *x, double *y);
/* The smaller eigenvalue of lambda, squared, of the scaling of s and z without making it. */
double ss_lorentz_least_square(int size, const double *s, const double *z);

#endif
