/* The inner loops of batches with registers of four doubles. */
#ifdef __x86_64__
#include <immintrin.h>

#define KERNEL_NAME avx2
#define KERNEL_WIDTH 4
#define KERNEL __attribute__((target("avx2")))
#define KERNEL_ROOT(v) ((vec)_mm256_sqrt_pd((__m256d)(v)))
#define KERNEL_ANY(mask) (_mm256_movemask_pd((__m256d)(mask)) != 0)
#include "solver/sweep/kernel.h"
#endif
