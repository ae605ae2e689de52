/* linalg/block_ldl.h - LDL' of a symmetric positive definite matrix of small dense blocks whose graph is a
 * tree, or not far from one: the joints of a mechanism, coupled where they share a body. From the leaves to
 * the root nothing is filled in, and n blocks take O(n). The order and the pattern are found once.
 *
 *     ss_block_ldl *ldl = ss_block_ldl_create(&graph, most, err);
 *     ss_block_ldl_clear(ldl);
 *     ... write the blocks to ss_block_ldl_at(ldl, i, j) ...
 *     if (ss_block_ldl_factor(ldl)) ss_block_ldl_solve(ldl, x);
 */
#ifndef SS_LINALG_BLOCK_LDL_H
#define SS_LINALG_BLOCK_LDL_H

#include <stickslip/base.h>

enum { SS_BLOCK_MOST = 6 }; /* rows of a block */

typedef struct ss_block_graph {
    int blocks;
    const int *first, *rows; /* of each block: its rows of the matrix, 1 to SS_BLOCK_MOST */
    /* blocks before it that it is coupled to: neighbour[start[i] .. start[i + 1] - 1] */
    const int *start, *neighbour;
} ss_block_graph;

typedef struct ss_block_ldl ss_block_ldl;

/* *ldl is NULL when a factorisation would take more than `most` multiplications: another order, or another
 * method, is better then. False when out of memory. */
bool ss_block_ldl_create(const ss_block_graph *graph, double most, ss_block_ldl **ldl, ss_error *err);
void ss_block_ldl_destroy(ss_block_ldl *ldl);

/* Where the numbers of blocks i and j are, j among the neighbours of i or i itself, row by row:
 * *transposed: rows of j times columns of i, else rows of i times columns of j. Of the diagonal the lower
 * triangle counts. */
double *ss_block_ldl_at(ss_block_ldl *ldl, int i, int j, bool *transposed);
/* Before they are written: what none of them is written to is 0. */
void ss_block_ldl_clear(ss_block_ldl *ldl);
/* In place; false when a pivot is not positive. */
bool ss_block_ldl_factor(ss_block_ldl *ldl);
/* x = A^-1 x */
void ss_block_ldl_solve(const ss_block_ldl *ldl, double *x);

#endif
