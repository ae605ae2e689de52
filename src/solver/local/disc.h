/* solver/local/disc.h - the friction of one contact whose normal impulse is given:
 *
 *     B y + c + lambda y = 0,   |y| <= radius,   lambda >= 0,   lambda (radius - |y|) = 0
 *
 * for two components: of a symmetric B the y of least energy on the disc, of any other B the
 * law all the same.
 */
#ifndef SS_SOLVER_LOCAL_DISC_H
#define SS_SOLVER_LOCAL_DISC_H

#include "solver/core/operator.h"

/* B row by row; its symmetric part should be positive semidefinite. y need not be set. */
void ss_disc_solve(const double B[4], const double c[2], double radius, double y[2]);

/* Friction of component i > 0 of a cone: sliding or rolling. */
static inline double ss_friction_of(const ss_block *block, int i)
{
    return i < 3 ? block->mu : block->mu_rolling;
}

/* The step of a cell with the outer load that is a cone under Coulomb's law: its normal impulse stays, its
 * tangents are solved for, and then its rolling part. Where friction has no limit they stay as well. False
 * when out of memory. */
bool ss_tangents_step_set(const ss_block *block, ss_cell *cell, ss_arena *arena);

#endif
