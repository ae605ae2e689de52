/* base/number.h - numbers from and to text, the same in every locale. */
#ifndef SS_BASE_NUMBER_H
#define SS_BASE_NUMBER_H

#include <stdbool.h>

#include "base/inner.h"

#define SS_NUMBER_TEXT 32 /* bytes that any printed number fits into, the final zero included */

/* Shortest of the decimal numbers with 15, 16 or 17 digits that reads back as the same bits: "0.1", "3",
 * "-0.0", "1e-20"; "inf", "-inf", "nan". Writes no final zero; returns the length, which is below
 * SS_NUMBER_TEXT. */
SS_INNER int ss_number_write(double value, char *text);
SS_INNER int ss_integer_write(long long value, char *text);

/* The whole text must be one number. No blanks before or after; decimal and hexadecimal floating point, "inf"
 * and "nan" are read; what is too large for a double is not a number (too small becomes 0 or a subnormal). */
SS_INNER bool ss_number_read(const char *text, double *value);
/* The same for a text that may go on: returns where, NULL when it does not begin with a number. */
const char *ss_number_read_start(const char *text, double *value);
/* A decimal whole number in the range of int. */
SS_INNER bool ss_integer_read(const char *text, int *value);

#endif
