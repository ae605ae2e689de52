/* linalg/block_rows.h - square sparse matrices made of small dense blocks, for Newton methods on contacts and
 * bodies.
 *
 * The unknowns are cut into nodes (a contact, a body, a single row). Node i owns the unknowns first[i] ..
 * first[i+1]-1. Row i of blocks holds the entries start[i] .. start[i+1]-1, columns ascending; entry k is a
 * dense block of size(i) x size(column[k]), row by row, at value + place[k]. The pattern is symmetric and
 * every diagonal block is there; the values need not be symmetric.
 */
#ifndef SS_LINALG_BLOCK_ROWS_H
#define SS_LINALG_BLOCK_ROWS_H

#include <stickslip/sparse.h>

typedef struct ss_block_rows {
    int nodes;
    int *first;    /* nodes + 1 */
    int *start;    /* nodes + 1 */
    int *column;   /* start[nodes] */
    int *mirror;   /* the entry at (j, i) for the entry at (i, j) */
    int *diagonal; /* nodes: the entry at (i, i) */
    size_t *place; /* start[nodes] + 1; the last one is the number of values */
    double *value;
} ss_block_rows;

static inline int ss_block_rows_size(const ss_block_rows *matrix, int node)
{
    return matrix->first[node + 1] - matrix->first[node];
}

/* A (square) cut into nodes, everything in the arena. Unknown i of A becomes number to[i]; the value a_ij
 * becomes left[i] a_ij right[j]. `first` (nodes + 1) is copied. NULL when out of memory. */
ss_block_rows *ss_block_rows_create(const ss_sparse *A, int nodes, const int *first, const int *to,
                                    const double *left, const double *right, ss_arena *arena);
/* Zeros where members of one group meet: group g has the nodes member[start[g]] .. member[start[g+1]-1]. All
 * nodes have `size` unknowns. */
ss_block_rows *ss_block_rows_of_groups(int nodes, int size, int groups, const int *start, const int *member,
                                       ss_arena *arena);
/* The entry at (i, j), which must be there. */
int ss_block_rows_find(const ss_block_rows *matrix, int i, int j);
/* y = A x */
void ss_block_rows_apply(const ss_block_rows *matrix, const double *x, double *y);
/* (A x) of one node */
void ss_block_rows_apply_node(const ss_block_rows *matrix, int node, const double *x, double *y);

#endif
