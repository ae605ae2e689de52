/* linalg/lanes.h - numbers in registers, for loops over lanes that do not meet: included once by a file that
 * is made for a kind of machine, after
 *
 *     #define KERNEL_WIDTH 4                         lanes in a register
 *     #define KERNEL __attribute__((target("avx2"))) of every function, or nothing
 *     #define KERNEL_SINGLE                          if wanted: floats, not doubles
 *
 * Where a machine has shorter registers, the compiler makes several of each: every lane sees the same
 * operations, and so the same bits. */
#ifndef SS_LINALG_LANES_H
#define SS_LINALG_LANES_H

#include <stdint.h>
#include <string.h>

/* All functions that hand registers to each other are inlined: there is no ABI to keep. */
#pragma GCC diagnostic ignored "-Wpsabi"

#define INLINE KERNEL static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 12")
#endif

#ifdef KERNEL_SINGLE
typedef float number;
typedef int32_t whole;
#else
typedef double number;
typedef int64_t whole;
#endif
typedef number vec __attribute__((vector_size(sizeof(number) * KERNEL_WIDTH)));
typedef whole mask __attribute__((vector_size(sizeof(number) * KERNEL_WIDTH)));

/* Floats that fade away, such as directions of bodies at rest, soon become so small that the machine takes
 * long over them: they are zero instead. Other machines keep them, which changes what lies below 1e-38. */
#if defined(KERNEL_SINGLE) && defined(__x86_64__)
#define KERNEL_FLUSH                    \
    const unsigned mode = _mm_getcsr(); \
    _mm_setcsr(mode | 0x8040)
#define KERNEL_UNFLUSH _mm_setcsr(mode)
#else
#define KERNEL_FLUSH (void)0
#define KERNEL_UNFLUSH (void)0
#endif

INLINE vec load(const number *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store(number *to, vec v)
{
    memcpy(to, &v, sizeof v);
}

INLINE vec choose(mask which, vec yes, vec no)
{
    return (vec)((which & (mask)yes) | (~which & (mask)no));
}

INLINE vec where(mask which, vec yes)
{
    return (vec)(which & (mask)yes);
}

INLINE vec dot(const vec a[3], const vec b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

#ifdef KERNEL_SINGLE

/* A register holds quads: four neighbouring numbers of one lane, and with eight lanes those of the lane four
 * further on in its upper half. WITHIN shuffles two registers, in every half by itself. */
#if KERNEL_WIDTH == 8
#define WITHIN(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l, (i) + 4, (j) + 4, (k) + 4, (l) + 4)
#else
#define WITHIN(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
#endif
enum { UPPER = KERNEL_WIDTH }; // first number of the second register in WITHIN

/* Rows of quads to columns, and back. */
INLINE void turn_quads(const vec in[4], vec out[4])
{
    vec a = WITHIN(in[0], in[1], 0, 1, UPPER, UPPER + 1), b = WITHIN(in[2], in[3], 0, 1, UPPER, UPPER + 1);
    vec c = WITHIN(in[0], in[1], 2, 3, UPPER + 2, UPPER + 3),
        d = WITHIN(in[2], in[3], 2, 3, UPPER + 2, UPPER + 3);
    out[0] = WITHIN(a, b, 0, 2, UPPER, UPPER + 2);
    out[1] = WITHIN(a, b, 1, 3, UPPER + 1, UPPER + 3);
    out[2] = WITHIN(c, d, 0, 2, UPPER, UPPER + 2);
    out[3] = WITHIN(c, d, 1, 3, UPPER + 1, UPPER + 3);
}

#endif

#endif
