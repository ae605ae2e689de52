/* linalg/pivots.h - what the sparse factorisations share: a look at the matrix before, and at the pivots
 * after. */
#ifndef SS_LINALG_PIVOTS_H
#define SS_LINALG_PIVOTS_H

#include "linalg/factor.h"

bool ss_sparse_is_finite(const ss_sparse *matrix);
bool ss_sparse_same_pattern(const ss_sparse *a, const ss_sparse *b);

typedef struct ss_pivot_counter {
    ss_pivots pivots;
    double tiny_below;
    bool usable; /* no pivot so far was zero or not finite */
} ss_pivot_counter;

ss_pivot_counter ss_pivots_start(const ss_sparse *matrix);
void ss_pivots_note(ss_pivot_counter *counter, double pivot);

#endif
