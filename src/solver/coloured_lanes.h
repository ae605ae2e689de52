/* solver/coloured_lanes.h - part of coloured_kernel.h: a number of every lane in a register, from and to the bodies. */
#include "solver/coloured.h"

#include <math.h>
#include <string.h>

/* All functions that hand registers to each other are inlined: there is no ABI to keep. */
#pragma GCC diagnostic ignored "-Wpsabi"

#define INLINE KERNEL static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 12")
#endif

typedef double vec __attribute__((vector_size(8 * KERNEL_WIDTH)));
typedef int64_t mask __attribute__((vector_size(8 * KERNEL_WIDTH)));
typedef double pair __attribute__((vector_size(16)));

enum { HALVES = SS_LANES / KERNEL_WIDTH }; // registers for a field of a batch, which are visited together

INLINE vec load(const double *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store(double *to, vec v)
{
    memcpy(to, &v, sizeof v);
}

/* The lanes of a field of a batch that are at hand. */
#define GET(field) load((field) + at)
#define PUT(field, value) store((field) + at, value)

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

/* ---- from and to the bodies ------------------------------------------------------------------------- */

INLINE pair load_pair(const double *from)
{
    pair two;
    memcpy(&two, from, sizeof two);
    return two;
}

/* Two neighbouring numbers of every lane's row, as two registers. */
#if KERNEL_WIDTH == 4
INLINE vec load_two_pairs(const double *first, const double *second)
{
    return (vec)_mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(first)), _mm_loadu_pd(second), 1);
}

INLINE void gather_pair(const double *const row[], vec out[2])
{
    vec even = load_two_pairs(row[0], row[2]), odd = load_two_pairs(row[1], row[3]);
    out[0] = __builtin_shufflevector(even, odd, 0, 4, 2, 6);
    out[1] = __builtin_shufflevector(even, odd, 1, 5, 3, 7);
}

INLINE void scatter_pair(double *const row[], const vec in[2])
{
    vec even = __builtin_shufflevector(in[0], in[1], 0, 4, 2, 6);
    vec odd = __builtin_shufflevector(in[0], in[1], 1, 5, 3, 7);
    _mm_storeu_pd(row[0], _mm256_castpd256_pd128((__m256d)even));
    _mm_storeu_pd(row[1], _mm256_castpd256_pd128((__m256d)odd));
    _mm_storeu_pd(row[2], _mm256_extractf128_pd((__m256d)even, 1));
    _mm_storeu_pd(row[3], _mm256_extractf128_pd((__m256d)odd, 1));
}
#else
INLINE void gather_pair(const double *const row[], vec out[2])
{
    pair first = load_pair(row[0]), second = load_pair(row[1]);
    out[0] = __builtin_shufflevector(first, second, 0, 2);
    out[1] = __builtin_shufflevector(first, second, 1, 3);
}

INLINE void scatter_pair(double *const row[], const vec in[2])
{
    pair two[2] = {__builtin_shufflevector(in[0], in[1], 0, 2), __builtin_shufflevector(in[0], in[1], 1, 3)};
    memcpy(row[0], &two[0], sizeof(pair));
    memcpy(row[1], &two[1], sizeof(pair));
}
#endif

INLINE void gather(const double *const row[], int count, vec *out)
{
    UNROLL for (int k = 0; k < count; k += 2)
    {
        const double *part[KERNEL_WIDTH];
        UNROLL for (int lane = 0; lane < KERNEL_WIDTH; lane++) part[lane] = row[lane] + k;
        gather_pair(part, out + k);
    }
}

INLINE void read_twists(const ss_batch *batch, int at, ss_scaled_twist *y, vec twist[2][6])
{
    UNROLL for (int side = 0; side < 2; side++)
    {
        const double *row[KERNEL_WIDTH];
        UNROLL for (int lane = 0; lane < KERNEL_WIDTH; lane++) row[lane] = y[batch->body[side][at + lane]];
        gather(row, 6, twist[side]);
    }
}

INLINE void write_twists(const ss_batch *batch, int at, ss_scaled_twist *y, vec twist[2][6])
{
    UNROLL for (int side = 0; side < 2; side++)
    {
        UNROLL for (int k = 0; k < 6; k += 2)
        {
            double *row[KERNEL_WIDTH];
            UNROLL for (int lane = 0; lane < KERNEL_WIDTH; lane++) row[lane] =
                y[batch->body[side][at + lane]] + k;
            scatter_pair(row, twist[side] + k);
        }
    }
}

/* ---- velocities and impulses of a batch ------------------------------------------------------------- */

/* w = J v + C r + b */
INLINE void velocity_of(const ss_batches *batches, int k, int at, vec twist[2][6], vec w[3])
{
    const ss_batch *batch = &batches->items[k];
    vec relative[3];
    UNROLL for (int c = 0; c < 3; c++) relative[c] =
        GET(batch->root[1]) * twist[1][c] - GET(batch->root[0]) * twist[0][c];
    UNROLL for (int i = 0; i < 3; i++)
    {
        vec row[3][3];
        UNROLL for (int c = 0; c < 3; c++)
        {
            row[0][c] = GET(batch->direction[i][c]);
            row[1][c] = GET(batch->turn[0][i][c]);
            row[2][c] = GET(batch->turn[1][i][c]);
        }
        w[i] = (GET(batch->load[i]) + dot(row[0], relative)) +
               (dot(row[1], twist[0] + 3) + dot(row[2], twist[1] + 3));
    }
    if (!batches->compliance) return;
    UNROLL for (int i = 0; i < 3; i++) w[i] += GET(batches->compliance[k][i]) * GET(batches->r[k][i]);
}

INLINE void add_impulse(const ss_batch *batch, int at, const vec r[3], vec twist[2][6])
{
    UNROLL for (int c = 0; c < 3; c++)
    {
        vec push = GET(batch->direction[0][c]) * r[0] + GET(batch->direction[1][c]) * r[1] +
                   GET(batch->direction[2][c]) * r[2];
        twist[0][c] -= GET(batch->root[0]) * push;
        twist[1][c] += GET(batch->root[1]) * push;
        UNROLL for (int side = 0; side < 2; side++)
        {
            twist[side][3 + c] += GET(batch->turn[side][0][c]) * r[0] + GET(batch->turn[side][1][c]) * r[1] +
                                  GET(batch->turn[side][2][c]) * r[2];
        }
    }
}
