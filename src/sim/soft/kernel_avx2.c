/* The passes over batches of real-time steps with registers of eight floats. */
#ifdef __x86_64__
#include <immintrin.h>

#define KERNEL_NAME avx2
#define KERNEL __attribute__((target("avx2")))
#define KERNEL_ROOT(v) ((vec)_mm256_sqrt_ps((__m256)(v)))
#include "sim/soft/kernel.h"
#endif
