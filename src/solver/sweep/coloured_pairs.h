/* solver/sweep/coloured_pairs.h - part of coloured_kernel.h: doubles from and to the bodies, two of every
 * lane at a time. */
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
