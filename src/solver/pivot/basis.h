/* solver/pivot/basis.h - the basis of a pivoting method for LCPs: n columns of [I, -A, -d], kept factorised.
 *
 *     w - A z - d z0 = b       a variable has a code: i < n is w_i, n + i is z_i, 2 n is z0
 *
 * Columns of I cost nothing: with R the rows whose w is not basic and C the basic columns of [-A, -d], only
 * the kernel [-A, -d]_RC is factorised, by a dense LU when it is filled and by a sparse one when not. Pivots
 * since then are kept in product form.
 */
#ifndef SS_SOLVER_PIVOT_BASIS_H
#define SS_SOLVER_PIVOT_BASIS_H

#include "linalg/factor.h"
#include "solver/pivot/lcp.h"

#include <stickslip/solver.h>

enum { SS_BASIS_ETAS = 64 };

typedef struct ss_basis {
    const ss_lcp *lcp;
    ss_run *run;
    int n;
    double *cover;            /* d, for the caller to fill */
    double shift, free_shift; /* compliance on the diagonal of A: of rows with z >= 0, of free rows */
    int *code; /* variable at each position, for the caller to fill before the first factorisation */
    /* the factorised kernel */
    int *kernel_of, *outer_of; /* per row: its place in the kernel, or among the other rows; -1 */
    /* the other columns of the kernel are z_p at position p; -1: z0 is not in it */
    int kernel_size, z0_position;
    bool is_dense;
    double *kernel, *panel; /* dense: K = LU, and the other rows of its columns; row by row */
    int *pivot;
    int capacity; /* of kernel, panel and pivot, in columns */
    ss_sparse sparse;
    ss_lu *lu;
    double pace;           /* s per entry that the last sparse factorisation took */
    double *right, *outer; /* scratch */
    /* pivots since then */
    int eta_count;
    int eta_position[SS_BASIS_ETAS];
    double eta_pivot[SS_BASIS_ETAS];
    double *etas; /* direction - e_position of each pivot, one after the other */
} ss_basis;

bool ss_basis_create(const ss_lcp *lcp, ss_run *run, ss_basis *basis);
void ss_basis_destroy(ss_basis *basis);
/* Factorises what is in `code`, after putting w_i, z_i to position i and z0 to the one that is left. False
 * when singular, out of memory, or when the time left is too short for it: then the run is late. */
bool ss_basis_factor(ss_basis *basis);
/* column += the column of a variable */
void ss_basis_add_column(const ss_basis *basis, int code, double *column);
/* v := B^-1 v, from rows to positions */
void ss_basis_solve(ss_basis *basis, double *v);
/* row := row `position` of B^-1 */
void ss_basis_row(ss_basis *basis, int position, double *row);
/* residual := b - B x with x by position; `shifted`: with the compliance, or without */
void ss_basis_residual(const ss_basis *basis, const double *x, bool shifted, double *residual);
/* `entering` takes the position; direction = B^-1 times its column. Not when it is full: factorise then. */
void ss_basis_exchange(ss_basis *basis, int position, int entering, const double *direction);

static inline bool ss_basis_is_full(const ss_basis *basis)
{
    return basis->eta_count == SS_BASIS_ETAS;
}

#endif
