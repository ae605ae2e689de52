/* The passes over batches of real-time steps for any machine. */
#include <math.h>

#define KERNEL_NAME portable
#define KERNEL
#ifdef __x86_64__
#include <immintrin.h>
#define HALF(v, half) \
    _mm_sqrt_ps(_mm_setr_ps((v)[4 * (half)], (v)[4 * (half) + 1], (v)[4 * (half) + 2], (v)[4 * (half) + 3]))
#define KERNEL_ROOT(v) __builtin_shufflevector((quad)HALF(v, 0), (quad)HALF(v, 1), 0, 1, 2, 3, 4, 5, 6, 7)
#else
#define KERNEL_ROOT(v)                                                                               \
    ((vec){sqrtf((v)[0]), sqrtf((v)[1]), sqrtf((v)[2]), sqrtf((v)[3]), sqrtf((v)[4]), sqrtf((v)[5]), \
           sqrtf((v)[6]), sqrtf((v)[7])})
#endif
#include "sim/soft/kernel.h"
