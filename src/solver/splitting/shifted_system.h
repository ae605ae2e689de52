/* solver/splitting/shifted_system.h - (W + S) x = right with W of a scaled space and S > 0 diagonal: the
 * linear algebra of splitting methods, which change S now and then and the right-hand side always.
 *
 *     bodies   W = H H' + C:  (1 + H' T H) v = H' T right,  x = T (right - H v),  T = (C + S)^-1
 *     matrix   W + S by fronts
 *     full     W + S, of small problems
 *
 * The pattern is analysed once. Six unknowns for a body instead of three for a contact is what makes
 * splitting methods quick on stacks; the price is that digits are lost where S is small, about 1e-15 / S. Who
 * solves for the change that a residual asks for, and not for x itself, does not feel that.
 */
#ifndef SS_SOLVER_SPLITTING_SHIFTED_SYSTEM_H
#define SS_SOLVER_SPLITTING_SHIFTED_SYSTEM_H

#include "problem/space.h"

typedef struct ss_shifted_system ss_shifted_system;

/* NULL when out of memory. What is not in the arena is freed by
 * ss_shifted_system_free, which takes NULL. */
ss_shifted_system *ss_shifted_system_create(const ss_space *space, ss_arena *arena);
/* Factorisations that cannot end before it are given up (base/deadline.h). */
void ss_shifted_system_set_deadline(ss_shifted_system *shifted, double deadline);
/* Shares large factorisations and solves. */
void ss_shifted_system_set_team(ss_shifted_system *shifted, ss_team *team);
/* Is that why the last one failed? */
bool ss_shifted_system_is_late(const ss_shifted_system *shifted);
void ss_shifted_system_free(ss_shifted_system *shifted);
/* S: one number per unknown of the space. False when the matrix is singular, out of memory, or late. */
bool ss_shifted_system_factor(ss_shifted_system *shifted, const double *shift);
/* After a factorisation. right and x may be the same. */
void ss_shifted_system_solve(ss_shifted_system *shifted, const double *right, double *x);

#endif
