/* solver/pivot/pivoting.h - block principal pivoting on a problem with bounds, in pure numbers (scaled.h):
 * which unknowns are at a bound, and what the others are.
 *
 *     (A + eps)_FF x_F = eps c_F - b_F - A_FN x_N,   w = A x + b + eps (x - c)
 *     inside:  x < l -> lower,  x > u -> upper;   lower:  w < 0 -> inside;   upper:  w > 0 -> inside
 *
 * The compliance eps makes redundant contacts regular; c is a proximal centre. Bounds, centre and load are
 * the caller's and may change between bases: as long as the sides stay, the factor is kept and only the
 * change is solved for.
 *
 *     ss_pivoting_begin(p);
 *     do {
 *         if (!ss_pivoting_solve(p)) fail;
 *         wrong = ss_pivoting_wrong(p, &last);
 *     } while (wrong > 0 && ss_pivoting_exchange(p, wrong, last));
 */
#ifndef SS_SOLVER_PIVOT_PIVOTING_H
#define SS_SOLVER_PIVOT_PIVOTING_H

#include "linalg/active_set_factor.h"
#include <stickslip/solver.h>

#include "problem/scaled.h"

enum { SS_PIVOTING_PATIENCE = 10 };

typedef enum ss_side { SS_LOWER = -1, SS_INSIDE = 0, SS_UPPER = 1 } ss_side;

typedef struct ss_pivoting {
    ss_scaled s;
    ss_active_set_factor face; /* its shift is eps */
    ss_run *run;
    int n;
    signed char *side;
    bool *inside;
    bool factor_is_old, sides_are_new; /* since the last basis */
    double *x, *w, *right, *step;
    double *centre, *last_centre;
    double *load_change;   /* of b since the last basis */
    double *lower, *upper; /* for now */
    double size;           /* 1 + max |x| */
    int factorizations;
    /* how the exchanges go */
    int fewest, patience; /* wrong ones at best since the beginning; exchanges that may fail to lower it */
    uint64_t seen[SS_PIVOTING_PATIENCE + 1];
    int seen_count;
    uint64_t milestone; /* Brent: a choice of sides to be recognised if Murty's rule returns to it */
    int64_t steps, next_milestone;
    int rescues;
} ss_pivoting;

/* False when out of memory; ss_pivoting_free in any case. */
bool ss_pivoting_create(const ss_problem *problem, double compliance, ss_run *run, ss_pivoting *pivoting);
void ss_pivoting_free(ss_pivoting *pivoting);
/* Sides where the centre lies between the bounds. */
void ss_pivoting_start(ss_pivoting *pivoting);
/* Before a series of exchanges. */
void ss_pivoting_begin(ss_pivoting *pivoting);
/* A new b. */
void ss_pivoting_set_load(ss_pivoting *pivoting, const double *b);
/* eps = compliance from the next basis on. */
void ss_pivoting_set_compliance(ss_pivoting *pivoting, double compliance);
/* x and w of the sides as they are. False when the matrix is singular or x not finite. */
bool ss_pivoting_solve(ss_pivoting *pivoting);
/* How many are on the wrong side; the last of them. */
int ss_pivoting_wrong(const ss_pivoting *pivoting, int *last);
/* Moves all to the other side, or, when that runs in circles, starts again from the centre with a
 * larger compliance (thirty times at most), or moves the last only (Murty's rule, finite for
 * P-matrices). False in a cycle. */
bool ss_pivoting_exchange(ss_pivoting *pivoting, int wrong, int last);

#endif
