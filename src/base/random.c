#include <stickslip/base.h>

#include "base/assert.h"

#include <math.h>

/* Only integer arithmetic and the correctly rounded operations + - * / sqrt are used here, no other function
 * of the C library: that is what makes the numbers the same on every machine. */

/* The output function of splitmix64 (Steele, Lea, Flood 2014): a bijection that scatters nearby numbers. */
static uint64_t scatter(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

ss_random ss_random_start(uint64_t seed, uint64_t stream)
{
    const uint64_t step = UINT64_C(0x9e3779b97f4a7c15); // 2^64 / golden ratio, odd
    ss_random random;
    for (uint64_t i = 0; i < 4; i++) {
        uint64_t from_seed = scatter(seed + (i + 1) * step);
        random.state[i] = scatter(from_seed ^ scatter(stream * 4 + i + step));
    }
    random.state[0] |= (random.state[1] | random.state[2] | random.state[3]) == 0; // all zero would stay zero
    return random;
}

static uint64_t rotate_left(uint64_t x, int count)
{
    return (x << count) | (x >> (64 - count));
}

/* xoshiro256** 1.0 (Blackman, Vigna 2018) */
uint64_t ss_random_bits(ss_random *random)
{
    uint64_t *s = random->state;
    uint64_t result = rotate_left(s[1] * 5, 7) * 9, shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = rotate_left(s[3], 45);
    return result;
}

double ss_random_real(ss_random *random)
{
    return (double)(ss_random_bits(random) >> 11) * 0x1p-53;
}

double ss_random_between(ss_random *random, double low, double high)
{
    double value = low + (high - low) * ss_random_real(random);
    return value < high || !(low < high) ? value : low; // the product may round up to the excluded end
}

int ss_random_below(ss_random *random, int n)
{
    SS_ASSERT(n > 0);
    if (n <= 0) return 0;

    // High half of bits * n (Lemire 2019). The first 2^32 mod n values of the low half would be one too many.
    uint32_t range = (uint32_t)n, excess = -range % range;
    uint64_t product;
    do product = (ss_random_bits(random) >> 32) * range;
    while ((uint32_t)product < excess);
    return (int)(product >> 32);
}

/* Natural logarithm of 0 < x < 1: x = m 2^e with m in [sqrt(1/2), sqrt(2)), ln m = 2 artanh((m - 1) / (m +
 * 1)). |z| < 0.1716, so twelve terms of the series leave less than 1e-19. */
static double logarithm(double x)
{
    int e;
    double m = frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2.0;
        e--;
    }
    double z = (m - 1.0) / (m + 1.0), sum = 0.0;
    for (int k = 11; k >= 0; k--) sum = sum * (z * z) + 1.0 / (2 * k + 1);
    return e * 0.69314718055994531 + 2.0 * z * sum;
}

/* Marsaglia's polar method; the second number of the pair is not kept, so that the state is all there is. */
double ss_random_normal(ss_random *random)
{
    double u, v, s;
    do {
        u = 2.0 * ss_random_real(random) - 1.0;
        v = 2.0 * ss_random_real(random) - 1.0;
        s = u * u + v * v;
    } while (s >= 1.0 || s == 0.0);
    return u * sqrt(-2.0 * logarithm(s) / s);
}
