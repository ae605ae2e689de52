/* linalg/pairs.h - two numbers at a time, which every machine can do. */
#ifndef SS_LINALG_PAIRS_H
#define SS_LINALG_PAIRS_H

#include <string.h>

typedef double ss_pair __attribute__((vector_size(16)));

static inline ss_pair ss_pair_load(const double *from)
{
    ss_pair two;
    memcpy(&two, from, sizeof two);
    return two;
}

/* Six numbers, the velocity of a body. */
typedef struct ss_three_pairs {
    ss_pair part[3];
} ss_three_pairs;

static inline ss_three_pairs ss_three_pairs_load(const double *from)
{
    return (ss_three_pairs){{ss_pair_load(from), ss_pair_load(from + 2), ss_pair_load(from + 4)}};
}

/* The two halves of a sum over all six products. */
static inline ss_pair ss_three_pairs_product(const double *a, const ss_three_pairs *v)
{
    return ss_pair_load(a) * v->part[0] + ss_pair_load(a + 2) * v->part[1] + ss_pair_load(a + 4) * v->part[2];
}

#endif
