/* plugins/siconos/matrices.h - our sparse matrices as those of Siconos Numerics, which are copies
 * that belong to it. */
#ifndef SS_SICONOS_MATRICES_H
#define SS_SICONOS_MATRICES_H

#include <stickslip/sparse.h>

#include <NumericsMatrix.h>

NumericsMatrix *ss_siconos_sparse(const ss_sparse *A);
/* Blocks for the sweeps, as Siconos' own simulations have them. */
NumericsMatrix *ss_siconos_block(const ss_sparse *A, int dimension);
NumericsMatrix *ss_siconos_dense(const ss_sparse *A);

#endif
