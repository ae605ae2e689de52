/* The inner loops of batches for any machine: registers of two doubles, which nearly all of them have. */
#include <math.h>

#define KERNEL_NAME portable
#define KERNEL_WIDTH 2
#define KERNEL
#define KERNEL_ANY(mask) (((mask)[0] | (mask)[1]) != 0)
#ifdef __x86_64__
#include <emmintrin.h>
#define KERNEL_ROOT(v) ((vec)_mm_sqrt_pd((__m128d)(v)))
#else
#define KERNEL_ROOT(v) ((vec){sqrt((v)[0]), sqrt((v)[1])})
#endif
#include "solver/sweep/kernel.h"
