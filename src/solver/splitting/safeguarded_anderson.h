/* solver/splitting/safeguarded_anderson.h - Anderson's mixing (anderson.h) for maps with corners, watched: a
 * fixed-point iteration y <- G(y) where a contact may change its mind (open, stick, slide), so that
 * extrapolations mislead now and then. One that makes the step twice as long as the shortest is taken back,
 * and when that happens often there are plain steps in between.
 */
#ifndef SS_SOLVER_SPLITTING_SAFEGUARDED_ANDERSON_H
#define SS_SOLVER_SPLITTING_SAFEGUARDED_ANDERSON_H

#include "solver/core/anderson.h"

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
