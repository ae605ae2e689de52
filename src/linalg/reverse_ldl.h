/* linalg/reverse_ldl.h - M = L' D L of a sparse symmetric matrix, eliminated from the last row to the first.
 *
 * Numbered from the root of a tree to its leaves, the mass matrix of a tree couples a coordinate with those
 * between it and the root only. Eliminated from the leaves, it keeps its zeros, so that the factor costs as
 * much as the tree is deep (Featherstone 2005). Any other matrix is factored too, with fill. */
#ifndef SS_LINALG_REVERSE_LDL_H
#define SS_LINALG_REVERSE_LDL_H

#include <stickslip/base.h>

typedef struct ss_reverse_ldl {
    int size;
    int *first, *end; /* of each row: its entries left of the diagonal */
    int *column;      /* rising in a row */
    double *value;    /* of L, whose diagonal is 1 */
    double *pivot;    /* D */
    int *mark;
    int row_room, entry_room;
} ss_reverse_ldl;

/* Lower half by rows, each ending with its diagonal. `to` is zeroed, or used again. Returns -1 on success,
 * the row of the first pivot that is not positive, or -2 when out of memory. */
int ss_reverse_ldl_make(int size, const int32_t *start, const int32_t *column, const double *value,
                        ss_reverse_ldl *to);
void ss_reverse_ldl_free(ss_reverse_ldl *ldl);
/* x := L^-T x, where x is 0 behind `last` */
void ss_reverse_ldl_back(const ss_reverse_ldl *ldl, int last, double *x);
/* x := M^-1 x */
void ss_reverse_ldl_solve(const ss_reverse_ldl *ldl, double *x);
/* x := L x */
void ss_reverse_ldl_multiply(const ss_reverse_ldl *ldl, double *x);

#endif
