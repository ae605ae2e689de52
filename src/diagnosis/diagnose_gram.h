/* diagnosis/diagnose_gram.h - the rank of a symmetric matrix, and which of its rows depend on others.
 *
 * G = R' R with columns of unit length, or any symmetric matrix with a unit diagonal. How many eigenvalues
 * are below a number t follows from the signs of the pivots of G - t (Sylvester's law of inertia): two such
 * counts give the rank. Which rows depend on others follows from the pivots of G + 1e-10 = L D L': with exact
 * numbers, the pivot of a column is the square of its distance from the columns before, and where it depends
 * on them about 1e-10 is left. */
#ifndef SS_DIAGNOSIS_DIAGNOSE_GRAM_H
#define SS_DIAGNOSIS_DIAGNOSE_GRAM_H

#include <stickslip/sparse.h>

#include "linalg/factor.h"

/* What is added to the diagonal, and the eigenvalue that counts as none. */
static const double ss_gram_shift = 1e-10, ss_gram_dependent = 1e-9;

typedef struct ss_gram {
    ss_sparse *matrix; /* unit diagonal + shift, columns of zeros left out */
    int *place;        /* per column of the original: its place, -1 = left out */
    double *length;    /* per place: of the column before it was scaled */
    ss_ldl *ldl;
    double *pivots;          /* per place */
    int dependent, negative; /* eigenvalues that count as none, and those below */
    bool is_known;           /* false: too costly, and nothing was factorised */
} ss_gram;

/* Of a symmetric matrix, from its columns whose diagonal is positive. False: out of memory. To be
 * freed in any case. */
bool ss_gram_make(const ss_sparse *raw, const double *diagonal, ss_gram *gram);
void ss_gram_free(ss_gram *gram);

#endif
