/* certificate/midrad.h - numbers with a proved error, balls: a double-double midpoint and a radius.
 *
 * A ball stands for every real number within `radius` of high + low. Each operation returns a ball that holds
 * all results for all numbers of its operands: what rounding and the operands' radii can do is added to the
 * radius, and the radius is rounded upwards. No rounding mode is switched, and no result depends on one but
 * "to nearest". An operation that has no bounded result (division by a ball around zero) returns an infinite
 * radius, which goes through everything that follows.
 *
 * Error of the midpoints: sums of double-doubles are exact to 3 u^2 of their value, products to 5 u^2, u =
 * 2^-53 (Joldes, Muller, Popescu, ACM Trans. Math. Softw. 44 (2017), algorithms 6 and 11); both count as
 * MIDRAD_ROUNDING = 16 u^2 here. Quotients and roots are not trusted: their residual bounds their error.
 */
#ifndef CERTIFICATE_MIDRAD_H
#define CERTIFICATE_MIDRAD_H

#include <math.h>
#include <stdbool.h>

typedef struct ss_midrad {
    double high, low; /* |low| <= half a unit in the last place of high */
    double radius;    /* >= 0; infinite: nothing is known */
} ss_midrad;

#define MIDRAD_ROUNDING 0x1p-102
#define MIDRAD_UNDERFLOW 0x1p-960 /* more than what a product can lose below the smallest normal numbers */

/* A sum or product of a few radii, rounded upwards: eight operations at most. */
static inline double ss_midrad_up(double radius)
{
    return radius * (1.0 + 0x1p-49);
}

static inline ss_midrad ss_midrad_of(double value)
{
    return (ss_midrad){value, 0.0, isfinite(value) ? 0.0 : INFINITY};
}

/* a + b = sum + error, exactly (Knuth). */
static inline ss_midrad ss_midrad_two_sum(double a, double b)
{
    double sum = a + b, rest = sum - a;
    return (ss_midrad){sum, (a - (sum - rest)) + (b - rest), 0.0};
}

/* Nothing is known once a midpoint overflows. */
static inline ss_midrad ss_midrad_close(double high, double low, double radius)
{
    double sum = high + low; // |high| >= |low|: the error of the sum is exact (Dekker)
    ss_midrad ball = {sum, low - (sum - high), radius};
    if (!isfinite(sum) || !(radius < INFINITY)) ball.radius = INFINITY;
    return ball;
}

static inline ss_midrad ss_midrad_add(ss_midrad a, ss_midrad b)
{
    ss_midrad s = ss_midrad_two_sum(a.high, b.high), t = ss_midrad_two_sum(a.low, b.low);
    ss_midrad first = ss_midrad_two_sum(s.high, s.low + t.high);
    ss_midrad sum = ss_midrad_close(first.high, first.low + t.low, 0.0);

    // two exact doubles need no radius
    bool exact = a.low == 0.0 && b.low == 0.0;
    double rounding = exact ? 0.0 : MIDRAD_ROUNDING * fabs(sum.high);
    return ss_midrad_close(sum.high, sum.low, ss_midrad_up(a.radius + b.radius + rounding));
}

static inline ss_midrad ss_midrad_negate(ss_midrad a)
{
    return (ss_midrad){-a.high, -a.low, a.radius};
}

static inline ss_midrad ss_midrad_subtract(ss_midrad a, ss_midrad b)
{
    return ss_midrad_add(a, ss_midrad_negate(b));
}

static inline bool ss_midrad_is_zero(ss_midrad a)
{
    return a.high == 0.0 && a.radius == 0.0;
}

static inline ss_midrad ss_midrad_multiply(ss_midrad a, ss_midrad b)
{
    bool known = a.radius < INFINITY && b.radius < INFINITY; // nothing is known of 0 times anything
    if (known && (ss_midrad_is_zero(a) || ss_midrad_is_zero(b))) return (ss_midrad){0.0, 0.0, 0.0};
    double high = a.high * b.high, error = fma(a.high, b.high, -high);
    ss_midrad product = ss_midrad_close(high, error + (a.high * b.low + a.low * b.high), 0.0);
    double radius = fabs(a.high) * b.radius + fabs(b.high) * a.radius + a.radius * b.radius +
                    (fabs(a.low) * b.radius + fabs(b.low) * a.radius);
    bool exact = a.low == 0.0 && b.low == 0.0;
    double rounding = exact ? 0.0 : MIDRAD_ROUNDING * fabs(product.high);
    return ss_midrad_close(product.high, product.low, ss_midrad_up(radius + rounding + MIDRAD_UNDERFLOW));
}

/* The largest and the smallest |x| of the ball, rounded outwards. */
static inline double ss_midrad_magnitude(ss_midrad a)
{
    return ss_midrad_up(fabs(a.high) + fabs(a.low) + a.radius);
}

static inline double ss_midrad_mignitude(ss_midrad a)
{
    double off = fabs(a.low) + a.radius, least = fabs(a.high) - off - 0x1p-50 * (fabs(a.high) + off);
    return least > 0.0 ? least : 0.0;
}

/* The largest x of the ball, rounded upwards; infinite where nothing is known, whatever the midpoint is. */
static inline double ss_midrad_upper(ss_midrad a)
{
    if (!(a.radius < INFINITY)) return INFINITY;
    double sum = a.high + (fabs(a.low) + a.radius);
    return sum + 0x1p-50 * (fabs(a.high) + fabs(a.low) + a.radius);
}

static inline double ss_midrad_lower(ss_midrad a)
{
    return -ss_midrad_upper(ss_midrad_negate(a));
}

/* 1/b = q + (1 - q b)/b for any q */
static inline ss_midrad ss_midrad_invert(ss_midrad b)
{
    double least = ss_midrad_mignitude(b);
    if (!(least > 0.0)) return (ss_midrad){0.0, 0.0, INFINITY};
    ss_midrad exact = {b.high, b.low, 0.0}, q = ss_midrad_of(1.0 / b.high);
    ss_midrad rest = ss_midrad_subtract(ss_midrad_of(1.0), ss_midrad_multiply(q, exact));
    q = ss_midrad_add(q, ss_midrad_multiply(q, rest));
    q.radius = 0.0; // any q will do
    rest = ss_midrad_subtract(ss_midrad_of(1.0), ss_midrad_multiply(q, b));
    return ss_midrad_close(q.high, q.low, ss_midrad_up(ss_midrad_magnitude(rest) / least));
}

/* sqrt(a) = s + (a - s^2) / (sqrt(a) + s) for any s > 0. Of a ball around zero: from 0 to the root of its
 * upper end. */
static inline ss_midrad ss_midrad_root(ss_midrad a)
{
    double upper = ss_midrad_upper(a);
    if (!(ss_midrad_lower(a) > 0.0)) {
        double end = upper > 0.0 ? ss_midrad_up(sqrt(upper)) : 0.0;
        return (ss_midrad){0.5 * end, 0.0, ss_midrad_up(0.5 * end)};
    }
    ss_midrad s = ss_midrad_of(sqrt(a.high));
    ss_midrad exact = {a.high, a.low, 0.0};
    ss_midrad rest = ss_midrad_subtract(exact, ss_midrad_multiply(s, s));
    s = ss_midrad_add(s, ss_midrad_multiply(rest, ss_midrad_of(0.5 / s.high)));
    s.radius = 0.0;
    rest = ss_midrad_subtract(a, ss_midrad_multiply(s, s));
    return ss_midrad_close(s.high, s.low, ss_midrad_up(ss_midrad_magnitude(rest) / ss_midrad_mignitude(s)));
}

#endif
