/* solver/splitting/splitting.h - the fixed point under the solver `admm` (admm.c has the equations), so that
 * tests can take its steps one by one. */
#ifndef SS_SOLVER_SPLITTING_SPLITTING_H
#define SS_SOLVER_SPLITTING_SPLITTING_H

#include "linalg/anderson.h"
#include "solver/splitting/shifted_system.h"

typedef struct ss_splitting_options {
    double rho; /* at first; relative to the diagonal of W */
    double relaxation;
    int mixing; /* steps remembered; 0: none */
    bool adaptive;
} ss_splitting_options;

typedef struct ss_splitting {
    ss_splitting_options set;
    const ss_space *space;
    ss_arena *arena;
    double deadline;            /* of factorisations; INFINITY at first */
    ss_team *team;              /* shares them; NULL at first */
    ss_shifted_system *shifted; /* made when the first step is made: often the start is good enough */
    bool is_factored;           /* for the rho at hand; false after a step that changed it */
    bool is_late;               /* is that why the last step failed? */
    int factorizations;
    double rho;
    double checked; /* error when rho was looked at */
    int since;      /* steps since then */
    double *shift;  /* S */
    bool *is_free;  /* per number: a row without inequality */
    double *z, *lambda, *u;
    double *residual, error; /* -(u + lambda), and its length */
    double *d;               /* x - z */
    double *y, *image;       /* the fixed point's: where z came from, and the next */
    bool has_y;              /* not before the first step with these factors: S is part of what y means */
    double *trial;           /* p(image) */
    ss_safeguarded_anderson mixing;
} ss_splitting;

/* From r, which is put into its bounds. False when out of memory; ss_splitting_free in any case. */
bool ss_splitting_create(const ss_space *space, const ss_splitting_options *set, const double *r,
                         ss_arena *arena, ss_splitting *splitting);
void ss_splitting_free(ss_splitting *splitting);
/* One step from z to the next. False when the matrix is singular, out of memory, or late. */
bool ss_splitting_step(ss_splitting *splitting);

#endif
