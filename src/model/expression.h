/* model/expression.h - arithmetic as people write it into mesh files: (2/3)^0.5 - 1/(2*sqrt(6)). */
#ifndef SS_MODEL_EXPRESSION_H
#define SS_MODEL_EXPRESSION_H

#include <stdbool.h>

/* The whole text must be one expression of numbers, + - * / ^, parentheses, pi, sqrt, sin, cos, tan and exp;
 * as in MATLAB, -2^2 is -4 and 2^3^2 is (2^3)^2. The value need not be finite. */
bool ss_expression_read(const char *text, double *value);

#endif
