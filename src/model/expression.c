#include "model/expression.h"

#include "base/number.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

typedef struct scanner {
    const char *at;
    int depth; /* of parentheses; a text may not exhaust the stack */
    bool good;
} scanner;

enum { DEEPEST = 50 };

static double read_sum(scanner *s);

static double fail(scanner *s)
{
    s->good = false;
    s->at = "";
    return 0.0;
}

static bool accept(scanner *s, char c)
{
    if (*s->at != c) return false;
    s->at++;
    return true;
}

static double read_number(scanner *s)
{
    /* The part of the text that can be a decimal number: an exponent belongs to it only with digits. */
    size_t length = strspn(s->at, "0123456789.");
    if (length > 0 && (s->at[length] == 'e' || s->at[length] == 'E')) {
        size_t sign = s->at[length + 1] == '+' || s->at[length + 1] == '-';
        size_t digits = strspn(s->at + length + 1 + sign, "0123456789");
        if (digits > 0) length += 1 + sign + digits;
    }

    char text[64];
    double value;
    if (length == 0 || length >= sizeof text) return fail(s);
    memcpy(text, s->at, length);
    text[length] = '\0';
    if (!ss_number_read(text, &value)) return fail(s);

    s->at += length;
    return value;
}

static double read_parentheses(scanner *s)
{
    if (!accept(s, '(') || ++s->depth > DEEPEST) return fail(s);
    double value = read_sum(s);
    s->depth--;
    return accept(s, ')') ? value : fail(s);
}

static double read_name(scanner *s)
{
    static const struct {
        const char *name;
        double (*function)(double);
    } functions[] = {{"sqrt", sqrt}, {"sin", sin}, {"cos", cos}, {"tan", tan}, {"exp", exp}};
    for (int i = 0; i < 5; i++) {
        size_t length = strlen(functions[i].name);
        if (strncmp(s->at, functions[i].name, length) != 0) continue;
        s->at += length;
        return functions[i].function(read_parentheses(s));
    }
    if (strncmp(s->at, "pi", 2) != 0) return fail(s);
    s->at += 2;
    return 3.14159265358979323846;
}

static double read_primary(scanner *s)
{
    if (*s->at == '(') return read_parentheses(s);
    return isalpha((unsigned char)*s->at) ? read_name(s) : read_number(s);
}

/* An exponent may have signs of its own: 2^-1. */
static double read_exponent(scanner *s)
{
    bool minus = false;
    while (*s->at == '-' || *s->at == '+') minus ^= *s->at++ == '-';
    double value = read_primary(s);
    return minus ? -value : value;
}

static double read_power(scanner *s)
{
    double value = read_primary(s);
    while (accept(s, '^')) value = pow(value, read_exponent(s));
    return value;
}

static double read_signed(scanner *s)
{
    bool minus = false;
    while (*s->at == '-' || *s->at == '+') minus ^= *s->at++ == '-';
    double value = read_power(s);
    return minus ? -value : value;
}

static double read_product(scanner *s)
{
    double value = read_signed(s);
    for (;;) {
        if (accept(s, '*'))
            value *= read_signed(s);
        else if (accept(s, '/'))
            value /= read_signed(s);
        else
            return value;
    }
}

static double read_sum(scanner *s)
{
    double value = read_product(s);
    for (;;) {
        if (accept(s, '+'))
            value += read_product(s);
        else if (accept(s, '-'))
            value -= read_product(s);
        else
            return value;
    }
}

bool ss_expression_read(const char *text, double *value)
{
    scanner s = {.at = text, .good = true};
    *value = read_sum(&s);
    return s.good && *s.at == '\0';
}
