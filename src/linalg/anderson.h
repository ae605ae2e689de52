/* linalg/anderson.h - Anderson's mixing: a fixed-point iteration x <- G(x) made faster by what its
 * last steps tell.
 *
 * Takes the combination of the last images whose step G(x) - x is smallest in the least-squares sense: for a
 * G that is affine that is GMRES.
 *
 * Reference: Walker, Ni, SIAM J. Numer. Anal. 49 (2011).
 */
#ifndef SS_LINALG_ANDERSON_H
#define SS_LINALG_ANDERSON_H

#include <stickslip/base.h>

typedef struct ss_anderson ss_anderson;

/* Remembers `memory` steps. NULL when out of memory. */
ss_anderson *ss_anderson_create(int size, int memory, ss_arena *arena);
/* x: where we were; image: G(x) on entry, where to go on return. When the extrapolation leads nowhere,
 * because all steps are the same, as where there is no fixed point, image is left as it is and the
 * past forgotten. */
void ss_anderson_next(ss_anderson *anderson, const double *x, double *image);
void ss_anderson_forget(ss_anderson *anderson);

/* ---- for maps with corners -------------------------------------------------------------------------- */

/* A contact may change its mind (open, stick, slide), so that extrapolations mislead now and then. One that
 * makes the step twice as long as the shortest is taken back, and when that happens often there are plain
 * steps in between. */
typedef struct ss_safeguarded_anderson {
    ss_anderson *anderson; /* NULL: plain steps only */
    int size;
    double *plain;          /* the last image that was not extrapolated */
    double shortest, first; /* |image - y| since the mixing began; INFINITY: none yet */
    int tired;              /* steps since it became clearly shorter */
    int wait, waiting;      /* plain steps after mixing led nowhere; those still to do */
} ss_safeguarded_anderson;

/* Remembers `memory` steps; 0: none. False when out of memory. */
bool ss_safeguarded_anderson_create(int size, int memory, ss_arena *arena, ss_safeguarded_anderson *mixing);
/* G has changed. */
void ss_safeguarded_anderson_forget(ss_safeguarded_anderson *mixing);
/* y: where we were; image: G(y) on entry, where to go on return. */
void ss_safeguarded_anderson_next(ss_safeguarded_anderson *mixing, const double *y, double *image);

#endif
