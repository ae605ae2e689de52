/* problem/laws.h - what the files of this room and the solvers share about laws and blocks. */
#ifndef SS_PROBLEM_LAWS_H
#define SS_PROBLEM_LAWS_H

#include <math.h>

#include "problem/cone.h"

static inline bool ss_law_is_cone(ss_law law)
{
    return law == SS_LAW_CONE || law == SS_LAW_CONVEX;
}

static inline ss_friction_cone ss_block_cone(const ss_block *block)
{
    return (ss_friction_cone){block->size, block->mu, block->mu_rolling};
}

/* Friction of component i > 0 of a cone: sliding and spinning, or rolling. */
static inline double ss_block_friction(const ss_block *block, int i)
{
    return i <= ss_cone_tangents(block->size) ? block->mu : block->mu_rolling;
}

/* ss_problem_bounds for loops over rows. */
static inline void ss_row_bounds(const ss_problem *problem, const double *x, int i, double *lower,
                                 double *upper)
{
    int partner = problem->partner[i];
    *lower = problem->lower[i];
    *upper = problem->upper[i];
    if (partner < 0) return;
    double limit = problem->factor[i] * fabs(x[partner]);
    *lower = fmax(*lower, -limit);
    *upper = fmin(*upper, limit);
}

/* One effective inverse mass for a cone block: the mean over normal, tangents and spinning. */
double ss_block_inverse_mass(const ss_block *block, const double *diagonal);

/* Rows without a diagonal: those whose inverse mass is zero (the sliding speed in a friction polygon, the
 * multiplier of a joint beside velocities) get what the rows coupled to them make of it, the largest |A_ij
 * A_ji| / a_j, or A_ij^2 / a_j where nothing comes back: it has the right unit. False when none was lent;
 * rows further away get theirs in another pass. */
bool ss_problem_lend_masses(const ss_problem *problem, double *inverse_mass);

/* To be called when A was set by hand: diagonal and symmetry follow it. */
SS_INNER void ss_problem_matrix_changed(ss_problem *problem);

/* Contacts that blocks of the problem belong to; the blocks of one contact stand side by side. */
int ss_problem_contacts(const ss_problem *problem);

/* The unknowns of `member`, ascending, alone, as bounded rows: those of cones lose their friction, normals
 * are >= 0 and tangents free; the others keep their own bounds. With a matrix only. NULL when out of
 * memory. */
ss_problem *ss_problem_part(const ss_problem *problem, int count, const int *member);

#endif
