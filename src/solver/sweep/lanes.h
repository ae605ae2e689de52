/* solver/sweep/lanes.h - part of kernel.h: how registers come from and go to the bodies. */
#include "linalg/lanes.h"
#include "solver/sweep/batches.h"

#include <math.h>

/* What batches are made of. */
#ifdef KERNEL_SINGLE
typedef ss_single_batch kernel_batch;
typedef ss_single_batches kernel_batches;
typedef ss_single_twist kernel_twist;
enum { LANES = SS_SINGLE_LANES };
#define KERNEL_LEAST SS_SINGLE_LEAST
#else
typedef ss_batch kernel_batch;
typedef ss_batches kernel_batches;
typedef ss_scaled_twist kernel_twist;
enum { LANES = SS_LANES };
#define KERNEL_LEAST 0.0
#endif
enum { HALVES = LANES / KERNEL_WIDTH }; // registers for a field of a batch, which are visited together

/* The lanes of a field of a batch that are at hand. */
#define GET(field) load((field) + at)
#define PUT(field, value) store((field) + at, value)

/* ---- from and to the bodies --------------------------------------------------------------------------- */

#ifdef KERNEL_SINGLE

/* Floats, quads of every lane and then two more. What is written is read again soon: both go by the same
 * pieces, or the machine has to wait. */
typedef float duo __attribute__((vector_size(8)));

#if KERNEL_WIDTH == 8
INLINE vec load_quads(float *const row[], int lane, int k)
{
    return (vec)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row[lane] + k)),
                                     _mm_loadu_ps(row[lane + 4] + k), 1);
}

INLINE __m128 load_two_duos(const float *first, const float *second)
{
    return _mm_loadh_pi(_mm_castsi128_ps(_mm_loadl_epi64((const __m128i *)first)), (const __m64 *)second);
}

INLINE vec load_duos(float *const row[], int lane, int k)
{
    return (vec)_mm256_insertf128_ps(_mm256_castps128_ps256(load_two_duos(row[lane] + k, row[lane + 1] + k)),
                                     load_two_duos(row[lane + 4] + k, row[lane + 5] + k), 1);
}

INLINE void store_quads(float *const row[], int lane, int k, vec v)
{
    _mm_storeu_ps(row[lane] + k, _mm256_castps256_ps128((__m256)v));
    _mm_storeu_ps(row[lane + 4] + k, _mm256_extractf128_ps((__m256)v, 1));
}

INLINE void store_duos(float *const row[], int lane, int k, vec v)
{
    __m128 low = _mm256_castps256_ps128((__m256)v), high = _mm256_extractf128_ps((__m256)v, 1);
    _mm_storel_pi((__m64 *)(row[lane] + k), low);
    _mm_storeh_pi((__m64 *)(row[lane + 1] + k), low);
    _mm_storel_pi((__m64 *)(row[lane + 4] + k), high);
    _mm_storeh_pi((__m64 *)(row[lane + 5] + k), high);
}
#else
INLINE vec load_quads(float *const row[], int lane, int k)
{
    return load(row[lane] + k);
}

INLINE vec load_duos(float *const row[], int lane, int k)
{
    vec v;
    memcpy(&v, row[lane] + k, sizeof(duo));
    memcpy((char *)&v + sizeof(duo), row[lane + 1] + k, sizeof(duo));
    return v;
}

INLINE void store_quads(float *const row[], int lane, int k, vec v)
{
    store(row[lane] + k, v);
}

INLINE void store_duos(float *const row[], int lane, int k, vec v)
{
    memcpy(row[lane] + k, &v, sizeof(duo));
    memcpy(row[lane + 1] + k, (const char *)&v + sizeof(duo), sizeof(duo));
}
#endif

INLINE void rows_of(const kernel_batch *batch, int side, int at, kernel_twist *y, float *row[])
{
    UNROLL for (int lane = 0; lane < KERNEL_WIDTH; lane++) row[lane] = y[batch->body[side][at + lane]];
}

INLINE void read_twists(const kernel_batch *batch, int at, kernel_twist *y, vec twist[2][6])
{
    UNROLL for (int side = 0; side < 2; side++)
    {
        float *row[KERNEL_WIDTH];
        vec quads[4], duos[2];
        rows_of(batch, side, at, y, row);
        UNROLL for (int lane = 0; lane < 4; lane++) quads[lane] = load_quads(row, lane, 0);
        turn_quads(quads, twist[side]);
        UNROLL for (int k = 0; k < 2; k++) duos[k] = load_duos(row, 2 * k, 4);
        twist[side][4] = WITHIN(duos[0], duos[1], 0, 2, UPPER, UPPER + 2);
        twist[side][5] = WITHIN(duos[0], duos[1], 1, 3, UPPER + 1, UPPER + 3);
    }
}

INLINE void write_twists(const kernel_batch *batch, int at, kernel_twist *y, vec twist[2][6])
{
    UNROLL for (int side = 0; side < 2; side++)
    {
        float *row[KERNEL_WIDTH];
        vec quads[4];
        rows_of(batch, side, at, y, row);
        turn_quads(twist[side], quads);
        UNROLL for (int lane = 0; lane < 4; lane++) store_quads(row, lane, 0, quads[lane]);
        store_duos(row, 0, 4, WITHIN(twist[side][4], twist[side][5], 0, UPPER, 1, UPPER + 1));
        store_duos(row, 2, 4, WITHIN(twist[side][4], twist[side][5], 2, UPPER + 2, 3, UPPER + 3));
    }
}

#else

/* Doubles, two of every lane at a time. */
typedef double pair __attribute__((vector_size(16)));

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

INLINE void read_twists(const kernel_batch *batch, int at, kernel_twist *y, vec twist[2][6])
{
    UNROLL for (int side = 0; side < 2; side++)
    {
        const double *row[KERNEL_WIDTH];
        UNROLL for (int lane = 0; lane < KERNEL_WIDTH; lane++) row[lane] = y[batch->body[side][at + lane]];
        gather(row, 6, twist[side]);
    }
}

INLINE void write_twists(const kernel_batch *batch, int at, kernel_twist *y, vec twist[2][6])
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

#endif

/* ---- velocities and impulses of a batch ------------------------------------------------------------- */

/* w = J v + C r + b */
INLINE void velocity_of(const kernel_batches *batches, int k, int at, vec twist[2][6], const vec r[3],
                        vec w[3])
{
    const kernel_batch *batch = &batches->items[k];
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
    UNROLL for (int i = 0; i < 3; i++) w[i] += GET(batches->compliance[k][i]) * r[i];
}

/* Impulses in the unit of a batch. */
#ifdef KERNEL_SINGLE
#define IMPULSE(value) ((value)*GET(batch->unit))
#else
#define IMPULSE(value) (value)
#endif

INLINE void add_impulse(const kernel_batch *batch, int at, const vec change[3], vec twist[2][6])
{
    vec r[3] = {IMPULSE(change[0]), IMPULSE(change[1]), IMPULSE(change[2])};
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
