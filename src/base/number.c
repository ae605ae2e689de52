/* strtod_l and newlocale are POSIX 2008, which the C library shows only on request */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "base/number.h"

#include "base/assert.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

__extension__ typedef unsigned __int128 uint128;

/* digits * 10^exponent, digits without trailing zeros */
typedef struct decimal {
    uint64_t digits;
    int exponent;
} decimal;

/* ---- reading ---------------------------------------------------------------------------------------- */

static locale_t c_locale;

static void make_c_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

static double string_to_double(const char *text, char **end)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_c_locale);
    return c_locale ? strtod_l(text, end, c_locale) : strtod(text, end);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Adds digits to `number`, as many as there are; returns the first character after them. */
static const char *add_digits(const char *text, uint64_t *number)
{
    for (; is_digit(*text); text++) *number = 10 * *number + (uint64_t)(*text - '0');
    return text;
}

/* Short decimal numbers, which nearly all are: up to 15 digits and powers of ten up to 22 are exact, so that
 * one rounding is left, and the result is that of the library. NULL for all others. */
static const char *read_short(const char *text, double *value)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                  1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    enum { DIGITS = 15, LARGEST = 22, EXPONENT_DIGITS = 3 };
    uint64_t digits = 0, power = 0;
    const char *c = add_digits(text, &digits), *point = c;
    long fraction = 0;
    if (*c == '.') fraction = (c = add_digits(point + 1, &digits)) - point - 1;
    if (c == text || (fraction == 0 && point == text) || c - text > DIGITS) return NULL;
    bool negative = false;
    if (*c == 'e' || *c == 'E') {
        const char *first = ++c;
        if (*c == '-' || *c == '+') negative = *c++ == '-', first++;
        c = add_digits(c, &power);
        if (c == first || c - first > EXPONENT_DIGITS) return NULL;
    }
    if (isalnum((unsigned char)*c) || *c == '.') return NULL; // something else: 0x1p3
    long exponent = (negative ? -(long)power : (long)power) - fraction;
    if (exponent > LARGEST || exponent < -LARGEST) return NULL;
    *value = exponent < 0 ? (double)digits / tens[-exponent] : (double)digits * tens[exponent];
    return c;
}

const char *ss_number_read_start(const char *text, double *value)
{
    if (text[0] == '\0' || isspace((unsigned char)text[0])) return NULL;
    const char *after = read_short(text, value);
    if (after) return after;
    char *end;
    errno = 0;
    double number = string_to_double(text, &end);
    bool too_large = errno == ERANGE && fabs(number) > 1.0;
    if (end == text || too_large) return NULL;
    *value = number;
    return end;
}

bool ss_number_read(const char *text, double *value)
{
    double number;
    const char *end = ss_number_read_start(text, &number);
    if (!end || *end != '\0') return false;
    *value = number;
    return true;
}

bool ss_integer_read(const char *text, int *value)
{
    enum { DIGITS = 18 }; // more would not fit into 64 bits
    bool negative = text[0] == '-';
    const char *first = text + (negative || text[0] == '+'), *end;
    while (first[0] == '0' && is_digit(first[1])) first++;
    uint64_t size = 0;
    end = add_digits(first, &size);
    if (end == first || *end != '\0' || end - first > DIGITS) return false;
    if (size > (uint64_t)INT_MAX + negative) return false;
    *value = (int)(negative ? -(int64_t)size : (int64_t)size);
    return true;
}

/* ---- writing ---------------------------------------------------------------------------------------- */

int ss_integer_write(long long value, char *text)
{
    char reversed[SS_NUMBER_TEXT];
    unsigned long long rest = value < 0 ? 0ULL - (unsigned long long)value : (unsigned long long)value;
    int count = 0, length = 0;
    do reversed[count++] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) text[length++] = '-';
    while (count) text[length++] = reversed[--count];
    return length;
}

typedef bool reads_back_test(const void *number, decimal candidate);

/* The shortest decimal that reads back, among those nearest to `all` with two, one and no digits less. */
static decimal shorten(decimal all, reads_back_test *reads_back, const void *number)
{
    for (int dropped = 2; dropped > 0; dropped--) {
        uint64_t unit = dropped == 2 ? 100 : 10, rest = all.digits % unit;
        decimal below = {all.digits / unit, all.exponent + dropped};
        decimal above = {below.digits + 1, below.exponent};

        // Both are nearest where `all` itself was rounded to the very middle.
        if (2 * rest <= unit && reads_back(number, below)) return below;
        if (2 * rest >= unit && reads_back(number, above)) return above;
    }
    return all;
}

/* For 1e-15 <= x < 1e15 everything is exact in 128 bits. With x = m 2^e (m < 2^53) and 10^16 <= x 10^k <
 * 10^17
 *
 *     x 10^k = (m 5^k) 2^(e+k) = scaled / 2^shift,   2 <= k <= 31,   m 5^k < 2^125,   shift >= 1
 *
 * A decimal c / 10^k reads back as x when it is closer to x than half the way to x's neighbours, which are
 * 5^k away in units of `scaled` (5^k / 2 below a power of two). */
typedef struct exact {
    uint128 scaled;
    uint128 gap_below, gap_above;
    int shift, k;
} exact;

static bool reads_back_exactly(const void *number, decimal candidate)
{
    const exact *x = number;
    uint128 value = candidate.digits;
    for (int i = -x->k; i < candidate.exponent; i++) value *= 10;
    value <<= x->shift;
    // the half is no whole number: no ties
    if (value > x->scaled) return value - x->scaled <= x->gap_above / 2;
    return x->scaled - value <= x->gap_below / 2;
}

static decimal shortest_exact(double x, int k)
{
    // x 10^k = scaled / 2^shift
    static const uint64_t small[] = {1, 5, 25, 125, 625, 3125, 15625, 78125};
    uint128 five = small[k % 8];
    for (int i = 0; i < k / 8; i++) five *= 390625; // 5^8
    int e;
    uint64_t m = (uint64_t)ldexp(frexp(x, &e), 53);
    bool power_of_two = m == (uint64_t)1 << 52;
    exact of = {(uint128)m * five, power_of_two ? five / 2 : five, five, 53 - e - k, k};

    // The nearest number with 17 digits, to even.
    uint128 whole = of.scaled >> of.shift;
    uint128 rest = of.scaled - (whole << of.shift), half = (uint128)1 << (of.shift - 1);
    if (rest > half || (rest == half && (whole & 1))) whole++;
    return shorten((decimal){(uint64_t)whole, -k}, reads_back_exactly, &of);
}

static bool reads_back_by_library(const void *number, decimal candidate)
{
    char text[2 * SS_NUMBER_TEXT];
    int length = ss_integer_write((long long)candidate.digits, text);
    text[length++] = 'e';
    length += ss_integer_write(candidate.exponent, text + length);
    text[length] = '\0';
    return string_to_double(text, NULL) == *(const double *)number;
}

/* Any positive finite number, by way of the C library: correct, but ten times slower. */
static decimal shortest_by_library(double x)
{
    char text[64];
    snprintf(text, sizeof text, "%.16e", x);
    decimal all = {0, -16};
    const char *c = text;
    for (; *c != 'e'; c++) // whatever the locale puts between the digits
        if (isdigit((unsigned char)*c)) all.digits = 10 * all.digits + (uint64_t)(*c - '0');
    all.exponent += atoi(c + 1);
    return shorten(all, reads_back_by_library, &x);
}

static decimal shortest(double x)
{
    static const double tens[] = {1e-15, 1e-14, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5,
                                  1e-4,  1e-3,  1e-2,  1e-1,  1e0,   1e1,   1e2,  1e3,  1e4,  1e5,  1e6,
                                  1e7,   1e8,   1e9,   1e10,  1e11,  1e12,  1e13, 1e14, 1e15};
    const int count = sizeof tens / sizeof tens[0];
    if (!(x >= tens[0] && x < tens[count - 1])) return shortest_by_library(x);
    int low = 0, high = count - 1; // tens[low] <= x < tens[high]
    while (high - low > 1) {
        int middle = (low + high) / 2;
        if (x >= tens[middle])
            low = middle;
        else
            high = middle;
    }
    return shortest_exact(x, 16 - (low - 15));
}

static int write_decimal(decimal d, char *text)
{
    while (d.digits % 100000000 == 0 && d.digits) d.digits /= 100000000, d.exponent += 8;
    while (d.digits % 10 == 0 && d.digits) d.digits /= 10, d.exponent++;
    char digits[SS_NUMBER_TEXT];
    int count = ss_integer_write((long long)d.digits, digits), length = 0;
    int point = count + d.exponent; // the decimal point comes before this digit

    // 1.25e-20
    if (point <= -5 || point > 17) {
        text[length++] = digits[0];
        if (count > 1) text[length++] = '.';
        for (int i = 1; i < count; i++) text[length++] = digits[i];
        text[length++] = 'e';
        return length + ss_integer_write(point - 1, text + length);
    }

    // 0.00125, 12.5, 12500
    if (point <= 0) {
        text[length++] = '0';
        text[length++] = '.';
        for (int i = point; i < 0; i++) text[length++] = '0';
    }
    for (int i = 0; i < count; i++) {
        if (i == point && point > 0) text[length++] = '.';
        text[length++] = digits[i];
    }
    for (int i = count; i < point; i++) text[length++] = '0';
    return length;
}

static int write_word(const char *word, char *text)
{
    size_t length = strlen(word);
    memcpy(text, word, length);
    return (int)length;
}

int ss_number_write(double value, char *text)
{
    if (isnan(value)) return write_word("nan", text);
    if (isinf(value)) return write_word(value > 0 ? "inf" : "-inf", text);
    if (value == 0.0) return write_word(signbit(value) ? "-0.0" : "0", text);
    if (fabs(value) < 1e15 && value == (double)(long long)value)
        return ss_integer_write((long long)value, text);
    int sign = value < 0.0;
    if (sign) text[0] = '-';
    int length = sign + write_decimal(shortest(fabs(value)), text + sign);
    SS_ASSERT(length < SS_NUMBER_TEXT);
    return length;
}
