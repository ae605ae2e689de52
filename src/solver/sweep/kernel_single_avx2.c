/* The inner loops of batches with registers of eight floats. */
#ifdef __x86_64__
#include <immintrin.h>

#define KERNEL_SINGLE
#define KERNEL_NAME avx2
#define KERNEL_WIDTH 8
#define KERNEL __attribute__((target("avx2")))
#define KERNEL_ROOT(v) ((vec)_mm256_sqrt_ps((__m256)(v)))
#define KERNEL_ANY(mask) (_mm256_movemask_ps((__m256)(mask)) != 0)
#include "solver/sweep/kernel.h"
#endif
