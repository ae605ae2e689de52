/* base/digest.h - a 128-bit digest of words, the same on every machine. Every step on a word is a
 * bijection, of the word as well as of the state: changing one word always changes the digest. It is no
 * defence against an adversary. */
#ifndef SS_BASE_DIGEST_H
#define SS_BASE_DIGEST_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct ss_digest {
    uint64_t a, b;
} ss_digest;

/* Odd multipliers: binary digits of sqrt(2), sqrt(3), sqrt(5) and sqrt(7), last bit set. */
#define SS_ROOT_2 UINT64_C(0x6a09e667f3bcc909)
#define SS_ROOT_3 UINT64_C(0xbb67ae8584caa73b)
#define SS_ROOT_5 UINT64_C(0x3c6ef372fe94f82b)
#define SS_ROOT_7 UINT64_C(0xa54ff53a5f1d36f1)

static inline uint64_t ss_digest_scramble(uint64_t x, uint64_t first, uint64_t second)
{
    x = (x ^ x >> 32) * first;
    x = (x ^ x >> 29) * second;
    return x ^ x >> 32;
}

static inline ss_digest ss_digest_start(void)
{
    return (ss_digest){SS_ROOT_3, SS_ROOT_7};
}

static inline void ss_digest_add(ss_digest *d, uint64_t word)
{
    d->a = ss_digest_scramble(d->a ^ word, SS_ROOT_2, SS_ROOT_3) + SS_ROOT_5;
    d->b = ss_digest_scramble(d->b + word, SS_ROOT_5, SS_ROOT_7) ^ SS_ROOT_2;
}

static inline void ss_digest_add_text(ss_digest *d, const char *text)
{
    for (; *text; text++) ss_digest_add(d, (unsigned char)*text);
    ss_digest_add(d, 0);
}

/* The IEEE bits, with -0 as 0 and every NaN as one NaN. */
static inline uint64_t ss_digest_word(double x)
{
    if (x == 0) return 0;
    if (isnan(x)) return UINT64_C(0x7ff8000000000000);
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    return word;
}

static inline void ss_digest_add_reals(ss_digest *d, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) ss_digest_add(d, ss_digest_word(values[i]));
}

/* 32 hex digits and a final zero */
static inline void ss_digest_print(const ss_digest *d, char text[33])
{
    snprintf(text, 33, "%016llx%016llx", (unsigned long long)ss_digest_scramble(d->a, SS_ROOT_7, SS_ROOT_2),
             (unsigned long long)ss_digest_scramble(d->b, SS_ROOT_3, SS_ROOT_5));
}

#endif
