/* The 128-bit name of a problem.
 *
 * What counts: h and every array, but for labels that no solver sees: time and ids are left out, and of a
 * state only whether it is live. An optional array that says the same as its absence (ss_field_default) is
 * left out too, so that a later version may add optional arrays without changing the hash of an older frame.
 *
 * How: numbers become 64-bit words that do not depend on the machine: a double its IEEE bits with -0 as 0 and
 * every NaN as one NaN, a whole number its two's complement. Each array is hashed by itself, starting from
 * its path and its length; the digests are added, so their order does not matter, and the sum is scrambled
 * once more. Every step on a word is a bijection, of the word as well as of the state: changing one number of
 * one array always changes its digest. It is no defence against an adversary. */
#include "frame/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct digest {
    uint64_t a, b;
} digest;

/* Odd multipliers: binary digits of sqrt(2), sqrt(3), sqrt(5) and sqrt(7), last bit set. */
#define ROOT_2 UINT64_C(0x6a09e667f3bcc909)
#define ROOT_3 UINT64_C(0xbb67ae8584caa73b)
#define ROOT_5 UINT64_C(0x3c6ef372fe94f82b)
#define ROOT_7 UINT64_C(0xa54ff53a5f1d36f1)

static uint64_t scramble(uint64_t x, uint64_t first, uint64_t second)
{
    x = (x ^ x >> 32) * first;
    x = (x ^ x >> 29) * second;
    return x ^ x >> 32;
}

static void absorb(digest *d, uint64_t word)
{
    d->a = scramble(d->a ^ word, ROOT_2, ROOT_3) + ROOT_5;
    d->b = scramble(d->b + word, ROOT_5, ROOT_7) ^ ROOT_2;
}

static void absorb_text(digest *d, const char *text)
{
    for (; *text; text++) absorb(d, (unsigned char)*text);
    absorb(d, 0);
}

static uint64_t word_of_real(double x)
{
    if (x == 0) return 0;
    if (isnan(x)) return UINT64_C(0x7ff8000000000000);
    uint64_t word;
    memcpy(&word, &x, sizeof word);
    return word;
}

static digest digest_start(const char *group, const char *name, size_t length)
{
    digest d = {ROOT_3, ROOT_7};
    absorb_text(&d, group);
    absorb_text(&d, name);
    absorb(&d, length);
    return d;
}

static uint64_t word_of_field(const ss_field *field, const void *data, size_t index)
{
    switch (field->type) {
    case SS_FIELD_REAL:
        return word_of_real(((const double *)data)[index]);
    case SS_FIELD_INT:
        return (uint64_t)((const int32_t *)data)[index];
    case SS_FIELD_COUNT:
    case SS_FIELD_PAIR:
        return (uint64_t)((const int *)data)[index];
    case SS_FIELD_BYTE:
        return ((const uint8_t *)data)[index];
    }
    return 0;
}

static digest digest_of_field(const ss_field *field, const void *data, size_t length)
{
    digest d = digest_start(field->group, field->name, length);
    for (size_t i = 0; i < length; i++) absorb(&d, word_of_field(field, data, i));
    return d;
}

static digest digest_of_states(const ss_field *field, const int32_t *state, size_t length)
{
    digest d = digest_start(field->group, field->name, length);
    for (size_t i = 0; i < length; i++) absorb(&d, state[i] > 0);
    return d;
}

static bool says_nothing(const ss_field *field, const ss_frame *frame, const void *data)
{
    size_t items = (size_t)ss_field_items(field, frame), width = (size_t)field->width;
    double values[SS_FIELD_WIDTH];
    for (size_t i = 0; i < items; i++) {
        ss_field_default(field, frame, (int)i, values);
        for (size_t k = 0; k < width; k++)
            if (word_of_real(ss_field_get(field, data, i * width + k)) != word_of_real(values[k]))
                return false;
    }
    return true;
}

void ss_frame_hash(const ss_frame *frame, char text[33])
{
    digest total = digest_start("", "timestep", 1);
    absorb(&total, word_of_real(frame->h));
    for (int f = 0; f < ss_field_count; f++) {
        const ss_field *field = &ss_fields[f];
        const void *data = ss_field_data(field, frame);
        size_t length = (size_t)ss_field_items(field, frame) * (size_t)field->width;
        if (!data || length == 0 || field->offset == offsetof(ss_frame, bodies.id)) continue;
        if (field->optional && says_nothing(field, frame, data)) continue;
        digest d = field->offset == offsetof(ss_frame, bodies.state) ? digest_of_states(field, data, length)
                                                                     : digest_of_field(field, data, length);
        total.a += d.a;
        total.b += d.b;
    }
    snprintf(text, 33, "%016llx%016llx", (unsigned long long)scramble(total.a, ROOT_7, ROOT_2),
             (unsigned long long)scramble(total.b, ROOT_3, ROOT_5));
}
