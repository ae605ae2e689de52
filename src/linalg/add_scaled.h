/* linalg/add_scaled.h - y += factor x for vectors so short that a call of BLAS costs more than the work. */
#ifndef SS_LINALG_ADD_SCALED_H
#define SS_LINALG_ADD_SCALED_H

/* Two numbers at a time, each rounded as it would be alone. x and y do not overlap. */
static inline void ss_add_scaled(int count, double factor, const double *x, double *y)
{
    typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));
    const pair both = {factor, factor};
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        pair first = *(const pair *)(x + i), second = *(const pair *)(x + i + 2);
        *(pair *)(y + i) += both * first;
        *(pair *)(y + i + 2) += both * second;
    }
    for (; i < count; i++) y[i] += factor * x[i];
}

#endif
