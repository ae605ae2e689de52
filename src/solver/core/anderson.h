/* solver/core/anderson.h - Anderson's mixing: a fixed-point iteration x <- G(x) made faster by what its
 * last steps tell.
 *
 * Takes the combination of the last images whose step G(x) - x is smallest in the least-squares sense: for a
 * G that is affine that is GMRES.
 *
 * Reference: Walker, Ni, SIAM J. Numer. Anal. 49 (2011).
 */
#ifndef SS_SOLVER_CORE_ANDERSON_H
#define SS_SOLVER_CORE_ANDERSON_H

#include <stickslip/base.h>

typedef struct ss_anderson ss_anderson;

/* Remembers `memory` steps. NULL when out of memory. */
ss_anderson *ss_anderson_create(int size, int memory, ss_arena *arena);
/* x: where we were; image: G(x) on entry, where to go on return. When the extrapolation leads nowhere,
 * because all steps are the same, as where there is no fixed point, image is left as it is and the
 * past forgotten. */
void ss_anderson_next(ss_anderson *anderson, const double *x, double *image);
void ss_anderson_forget(ss_anderson *anderson);

#endif
