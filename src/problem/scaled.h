/* problem/scaled.h - a problem in pure numbers: what pivoting and active-set methods work on.
 *
 *     w = A x + b,   l <= x <= u;   x = l: w >= 0,  x = u: w <= 0,  else w = 0
 *
 * Rows and columns are divided by sqrt(a_ii), so that a_ii = 1, and all loads by the largest, so that max
 * |b| = 1: thresholds are numbers then, and a change of units changes nothing. The rows of a cone share one
 * divisor, so that it stays the same cone. Lives in the arena.
 */
#ifndef SS_PROBLEM_SCALED_H
#define SS_PROBLEM_SCALED_H

#include <stickslip/problem.h>

typedef struct ss_scaled {
    const ss_problem *problem;
    int size;
    ss_sparse A; /* with every diagonal entry, if only as a zero; no arrays when the problem has no matrix */
    double *b;
    double *lower, *upper; /* equal to the last bit when closer than rounding: a fixed unknown */
    double *factor;        /* of coupled bounds; partners are those of the problem */
    double *unit;          /* x of the problem = unit * x */
    double *load_unit;     /* w of the problem = load_unit * w */
    bool coupled;          /* are there coupled bounds? */
} ss_scaled;

/* False when out of memory. */
bool ss_scaled_create(const ss_problem *problem, ss_arena *arena, ss_scaled *scaled);
/* Between the unknowns of the problem and ours: as they are, and projected on the laws of the problem. */
void ss_scaled_start(const ss_scaled *scaled, const double *original, double *x);
void ss_scaled_unscale(const ss_scaled *scaled, const double *x, double *original);
void ss_scaled_restore(const ss_scaled *scaled, const double *x, double *original);
/* w = A x + b; with the matrix only */
void ss_scaled_apply(const ss_scaled *scaled, const double *x, double *w);
/* product = A v, by the matrix or by the bodies; scratch: ss_scaled_scratch numbers */
size_t ss_scaled_scratch(const ss_scaled *scaled);
void ss_scaled_multiply(const ss_scaled *scaled, const double *v, double *scratch, double *product);
/* The bounds of all unknowns at x: where they follow a partner, its factor times |x_partner|. */
void ss_scaled_bounds(const ss_scaled *scaled, const double *x, double *lower, double *upper);
/* How far (x, w) is from obeying the laws within these bounds: max |x - P(x - w)|. */
double ss_scaled_error(int size, const double *lower, const double *upper, const double *x, const double *w);

/* Whether an error is small enough for an end, when it does not fall any more. `size` is 1 + max |x|:
 * rounding of w goes with it, but where there is no solution x grows without limit, and that must not excuse
 * more than 1e-6 of the load. */
static inline bool ss_scaled_is_solved(double error, double size)
{
    return error <= 1e-9 + (size < 1e7 ? 1e-13 * size : 1e-6);
}

static inline bool ss_scaled_is_fixed(const ss_scaled *scaled, int i)
{
    return scaled->lower[i] == scaled->upper[i];
}

#endif
