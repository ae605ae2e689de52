/* fuzz/fuzz.h - what all targets need: the input as a program, whose bytes decide one thing after the
 * other, and claims that end the run when they do not hold. */
#ifndef STICKSLIP_FUZZ_H
#define STICKSLIP_FUZZ_H

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct program {
    const uint8_t *data;
    size_t left;
} program;

/* 0 when there is nothing left. */
static inline unsigned next(program *p)
{
    if (p->left == 0) return 0;
    p->left--;
    return *p->data++;
}

static inline unsigned below(program *p, unsigned n)
{
    return next(p) % n;
}

/* Mostly small numbers; now and then one that breaks careless arithmetic, or any eight bytes. */
static inline double any_number(program *p)
{
    static const double special[] = {NAN,   INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, DBL_TRUE_MIN, -0.0,
                                     1e308, 1e-308,   0.0,       1.0,     -1.0,     1.0 / 3,      1e16};
    unsigned what = next(p);
    if (what < 224) return ((int)what - 112) / 16.0;
    if (what < 252) return special[below(p, sizeof special / sizeof *special)];
    uint64_t bits = 0;
    double number;
    for (int i = 0; i < 8; i++) bits = bits << 8 | next(p);
    memcpy(&number, &bits, sizeof number);
    return number;
}

static inline void must(bool condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "not true: %s\n", what);
    abort();
}

#endif
