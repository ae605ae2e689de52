/* The inner loops of batches in single precision for any machine: registers of four floats. */
#include <math.h>

#define KERNEL_SINGLE
#define KERNEL_NAME portable
#define KERNEL_WIDTH 4
#define KERNEL
#define KERNEL_ANY(mask) ((((mask)[0] | (mask)[1]) | ((mask)[2] | (mask)[3])) != 0)
#ifdef __x86_64__
#include <emmintrin.h>
#define KERNEL_ROOT(v) ((vec)_mm_sqrt_ps((__m128)(v)))
#else
#define KERNEL_ROOT(v) ((vec){sqrtf((v)[0]), sqrtf((v)[1]), sqrtf((v)[2]), sqrtf((v)[3])})
#endif
#include "solver/sweep/kernel.h"
