/* solver/sweep/coloured_quads.h - part of coloured_kernel.h: floats from and to the bodies, four of every
 * lane and then two.
 *
 * A register holds quads: four neighbouring numbers of one lane, and with eight lanes those of the lane four
 * further on in its upper half. What is written is read again soon: both go by the same pieces, or the
 * machine has to wait. */
typedef float duo __attribute__((vector_size(8)));

#if KERNEL_WIDTH == 8
#define WITHIN(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l, (i) + 4, (j) + 4, (k) + 4, (l) + 4)
enum { UPPER = 8 }; // first number of the second register in WITHIN

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
#define WITHIN(a, b, i, j, k, l) __builtin_shufflevector(a, b, i, j, k, l)
enum { UPPER = 4 };

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

/* Rows to columns and back, in every half by itself. */
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
