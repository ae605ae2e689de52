/* solver/newton/newton_system.h - the linear systems of Newton methods,
 *
 *     (F + B (W + alpha) R) y = rhs,   dr = R y,   du = (W + alpha) dr
 *
 * with small matrices F, B, R for every node and alpha >= 0, a proximal term. Three ways to solve them:
 *
 *   newton_system.c   a full matrix, for small problems. Nodes with F = 1 and B = 0 (open contacts, rows on a
 *                     bound) are solved for before. LU with exchange of rows
 *   newton_system.c   the matrix as it stands, of these nodes as well. LU by fronts; where that fails, LU
 *                     with free choice of pivots
 *   newton_bodies.c   W = H H' + C reduced to the velocities of the bodies, with D = F + B (C + alpha) R:
 *                     (1 + H' R D^-1 B H) dv = H' R D^-1 rhs,   y = D^-1 (rhs - B H dv)
 *
 * All are checked against the system itself and refined.
 */
#ifndef SS_SOLVER_NEWTON_NEWTON_SYSTEM_H
#define SS_SOLVER_NEWTON_NEWTON_SYSTEM_H

#include <stickslip/solver.h>

#include "problem/space.h"

#define SS_NEWTON_FINE 1e-10 /* ss_newton_system.fine at first */

typedef struct ss_newton_system {
    const ss_space *space;
    size_t *square; /* per node: where its F, B, R are */
    double *F, *B;  /* size x size, row by row; to be set before factoring */
    double *R;      /* used when uses_right, else 1 */
    bool uses_right;
    bool is_symmetric; /* R D^-1 B of every node is, and >= 0: bodies get L L' instead of L U */
    bool *active;      /* per node: not (F = 1 and B = 0); set by factoring */
    double alpha;
    double alpha_min; /* a smaller one costs more digits than it brings */
    double fine;      /* residual, relative to the right-hand side, that is not refined any more */
    int factorizations;
    ss_run *run;
    struct ss_newton_full *full; /* one of the three is there, from the first factorisation on */
    struct ss_newton_matrix *matrix;
    struct ss_newton_bodies *bodies;
    double *y, *residual, *correction;
} ss_newton_system;

/* False when out of memory; free it in any case. */
bool ss_newton_system_create(const ss_space *space, ss_run *run, ss_newton_system *system);
void ss_newton_system_free(ss_newton_system *system);
/* False when the matrix is singular, out of memory, or the run is late. */
bool ss_newton_system_factor(ss_newton_system *system, double alpha);
/* False when the result is of no use. */
bool ss_newton_system_solve(ss_newton_system *system, const double *rhs, double *dr, double *du);

/* ---- the three ways --------------------------------------------------------------------------------- */

/* Numbers in all squares. */
size_t ss_newton_system_squares(const ss_space *space);
/* product = left right: rows x inner times inner x cols, row by row */
void ss_newton_multiply(int rows, int inner, int cols, const double *left, const double *right,
                        double *product);

/* Solve: y = K^-1 b for active nodes, the others keep their y. Rescue: false when there is no
 * other way left. */
struct ss_newton_full *ss_newton_full_create(const ss_space *space, ss_arena *arena);
bool ss_newton_full_factor(struct ss_newton_full *full, const ss_newton_system *system);
void ss_newton_full_solve(const struct ss_newton_full *full, const double *b, double *y);

struct ss_newton_matrix *ss_newton_matrix_create(const ss_space *space, ss_run *run);
void ss_newton_matrix_free(struct ss_newton_matrix *matrix);
bool ss_newton_matrix_factor(struct ss_newton_matrix *matrix, const ss_newton_system *system);
void ss_newton_matrix_solve(struct ss_newton_matrix *matrix, const double *b, double *y);
bool ss_newton_matrix_rescue(struct ss_newton_matrix *matrix, const ss_newton_system *system);

struct ss_newton_bodies *ss_newton_bodies_create(const ss_space *space, ss_run *run);
void ss_newton_bodies_free(struct ss_newton_bodies *bodies);
bool ss_newton_bodies_factor(struct ss_newton_bodies *bodies, const ss_newton_system *system);
void ss_newton_bodies_solve(struct ss_newton_bodies *bodies, const ss_newton_system *system, const double *b,
                            double *y);

#endif
