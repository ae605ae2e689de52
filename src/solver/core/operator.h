/* solver/core/operator.h - w = A x + b one block at a time, for every method that sweeps.
 *
 * The unknowns are cut into cells: a cone is one cell, bounded rows are cells of one, free blocks one cell or
 * one per row. A visit computes the cell's load from the current x, hands it to the cell's step, which moves
 * the cell's unknowns, and lets all others feel the change:
 *
 *     whole load     w_c = b_c + sum over all cells j    A_cj x_j
 *     outer load     q_c = b_c + sum over the others     A_cj x_j  =  w_c - A_cc x_c
 *
 * from block rows of A, or matrix-free from the velocities v = M^-1 J' x, which each visit keeps up to date.
 * Everything lives in an arena.
 */
#ifndef SS_SOLVER_CORE_OPERATOR_H
#define SS_SOLVER_CORE_OPERATOR_H

#include <stickslip/solver.h>

#include "linalg/cell_rows.h"

/* r: the cell's unknowns (r[partner - first] is another one), load as agreed. */
typedef void ss_cell_step(void *data, const double *load, double *r);

typedef struct ss_cell {
    ss_cell_step *step; /* for the solver to set */
    void *data;
    int first, size;
    int block;         /* of the problem */
    bool outer;        /* the step wants the outer load */
    const double *own; /* A_cc, row by row; of cones only */
    /* For the operator's eyes only. Bodies form: places are the bodies, values, for each of them, the
     * Jacobian, size x 6, and M^-1 J', size x 6. */
    ss_cell_row row;
    int bodies;
} ss_cell;

typedef struct ss_operator {
    const ss_problem *problem;
    ss_cell *cells;
    int cell_count;
    double (*velocity)[6]; /* M^-1 J' x; NULL when A is used */
    double *load, *change; /* of the cell at hand */
} ss_operator;

enum { SS_CELL_CONE = 6 }; /* unknowns of a cell that is a cone, at most */

enum ss_cell_kinds {
    SS_ROWS_AND_CONES = 0, /* every cell gets the whole load, a free block is one cell per row */
    SS_OUTER_CONES = 1,    /* cones get the outer load */
    SS_FREE_BLOCKS = 2,    /* a free block is one cell, not one per row */
};

/* Steps are left for the caller to set. False when out of memory. */
bool ss_operator_create(const ss_problem *problem, unsigned kinds, ss_arena *arena, ss_operator *A);
/* A_cc of any cell, size x size, row by row. */
void ss_operator_own(const ss_operator *A, const ss_cell *cell, double *own);
/* To be called when x is not what the last visit left behind. */
void ss_operator_refresh(ss_operator *A, const double *x);
/* Visits all cells, in the order given or, with NULL, in their own, forward or backward. Returns the sum of
 * a_ii dx_i^2, twice an energy: 0 exactly when nothing moved. */
double ss_operator_pass(ss_operator *A, const int *order, bool backward, double *x);

#endif
