/* linalg/vector.h - sums over vectors, from the first number to the last: the same bits on every machine. */
#ifndef SS_LINALG_VECTOR_H
#define SS_LINALG_VECTOR_H

#include <math.h>

static inline double ss_dot(int count, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += a[i] * b[i];
    return sum;
}

static inline double ss_norm(int count, const double *a)
{
    return sqrt(ss_dot(count, a, a));
}

static inline double ss_distance(int count, const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

/* max |a_i|; 0 for none */
static inline double ss_largest(int count, const double *a)
{
    double largest = 0.0;
    for (int i = 0; i < count; i++) largest = fmax(largest, fabs(a[i]));
    return largest;
}

#endif
