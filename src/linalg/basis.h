/* linalg/basis.h - the basis of a pivoting method for complementarity problems: n columns of [I, -A, -d],
 * kept factorised.
 *
 *     w - A z - d z0 = b       a variable has a code: i < n is w_i, n + i is z_i, 2 n is z0
 *
 * Columns of I cost nothing: with R the rows whose w is not basic and C the basic columns of [-A, -d], only
 * the kernel [-A, -d]_RC is factorised, by a dense LU when it is filled and by a sparse one when not. Pivots
 * since then are kept in product form.
 */
#ifndef SS_LINALG_BASIS_H
#define SS_LINALG_BASIS_H

#include "linalg/factor.h"

enum { SS_BASIS_ETAS = 64 };

typedef struct ss_basis {
    const ss_sparse *A; /* with every diagonal entry, if only as a zero */
    const double *b;
    const bool *is_free; /* per row: its z has no bounds */
    ss_arena *arena;
    int n;
    double *cover;            /* d, for the caller to fill */
    double shift, free_shift; /* compliance on the diagonal of A: of rows with bounds, of free rows */
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

/* A, b and is_free must stay where they are. False when out of memory. */
bool ss_basis_create(const ss_sparse *A, const double *b, const bool *is_free, ss_arena *arena,
                     ss_basis *basis);
void ss_basis_destroy(ss_basis *basis);
/* Factorises what is in `code`, after putting w_i, z_i to position i and z0 to the one that is left. OK,
 * SINGULAR, NOT_FINITE, NO_MEMORY, or LATE when it would not end before the deadline (base/deadline.h). */
ss_linalg_status ss_basis_factor(ss_basis *basis, double deadline);
/* column += the column of a variable */
void ss_basis_add_column(const ss_basis *basis, int code, double *column);
/* v := B^-1 v, from rows to positions */
void ss_basis_solve(ss_basis *basis, double *v);
/* direction := B^-1 times the column of a variable; returns its largest entry by size. */
double ss_basis_direction(ss_basis *basis, int code, double *direction);
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

/* A fixed irregular number in [0, 1) for covers: ties in symmetric stacks are the rule, not the exception. */
static inline double ss_basis_irregular(int i, int attempt)
{
    uint64_t bits = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u + (uint64_t)attempt * 0xbf58476d1ce4e5b9u;
    bits ^= bits >> 31;
    bits *= 0x94d049bb133111ebu;
    return (double)(bits >> 11) * 0x1p-53;
}

#endif
