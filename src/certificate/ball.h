/* certificate/ball.h - numbers with a proved error: a double-double midpoint and a radius.
 *
 * A ball stands for every real number within `radius` of high + low. Each operation returns a ball that holds
 * all results for all numbers of its operands: what rounding and the operands' radii can do is added to the
 * radius, and the radius is rounded upwards. No rounding mode is switched, and no result depends on one but
 * "to nearest". An operation that has no bounded result (division by a ball around zero) returns an infinite
 * radius, which goes through everything that follows.
 *
 * Error of the midpoints: sums of double-doubles are exact to 3 u^2 of their value, products to 5 u^2, u =
 * 2^-53 (Joldes, Muller, Popescu, ACM Trans. Math. Softw. 44 (2017), algorithms 6 and 11); both count as
 * BALL_ROUNDING = 16 u^2 here. Quotients and roots are not trusted: their error is computed from the residual.
 */
#ifndef CERTIFICATE_BALL_H
#define CERTIFICATE_BALL_H

#include <math.h>
#include <stdbool.h>

typedef struct ss_ball {
    double high, low; /* |low| <= half a unit in the last place of high */
    double radius;    /* >= 0; infinite: nothing is known */
} ss_ball;

#define BALL_ROUNDING 0x1p-102
#define BALL_UNDERFLOW 0x1p-960 /* more than what a product can lose below the smallest normal numbers */

/* A sum or product of a few radii, rounded upwards: eight operations at most. */
static inline double ss_ball_up(double radius)
{
    return radius * (1.0 + 0x1p-49);
}

static inline ss_ball ss_ball_of(double value)
{
    return (ss_ball){value, 0.0, isfinite(value) ? 0.0 : INFINITY};
}

/* a + b = sum + error, exactly (Knuth). */
static inline ss_ball ss_ball_two_sum(double a, double b)
{
    double sum = a + b, rest = sum - a;
    return (ss_ball){sum, (a - (sum - rest)) + (b - rest), 0.0};
}

/* Nothing is known once a midpoint overflows. */
static inline ss_ball ss_ball_close(double high, double low, double radius)
{
    double sum = high + low; // |high| >= |low|: the error of the sum is exact (Dekker)
    ss_ball ball = {sum, low - (sum - high), radius};
    if (!isfinite(sum) || !(radius < INFINITY)) ball.radius = INFINITY;
    return ball;
}

static inline ss_ball ss_ball_add(ss_ball a, ss_ball b)
{
    ss_ball s = ss_ball_two_sum(a.high, b.high), t = ss_ball_two_sum(a.low, b.low);
    ss_ball first = ss_ball_two_sum(s.high, s.low + t.high);
    ss_ball sum = ss_ball_close(first.high, first.low + t.low, 0.0);

    // two exact doubles need no radius
    bool exact = a.low == 0.0 && b.low == 0.0;
    double rounding = exact ? 0.0 : BALL_ROUNDING * fabs(sum.high);
    return ss_ball_close(sum.high, sum.low, ss_ball_up(a.radius + b.radius + rounding));
}

static inline ss_ball ss_ball_negate(ss_ball a)
{
    return (ss_ball){-a.high, -a.low, a.radius};
}

static inline ss_ball ss_ball_subtract(ss_ball a, ss_ball b)
{
    return ss_ball_add(a, ss_ball_negate(b));
}

static inline bool ss_ball_is_zero(ss_ball a)
{
    return a.high == 0.0 && a.radius == 0.0;
}

static inline ss_ball ss_ball_multiply(ss_ball a, ss_ball b)
{
    bool known = a.radius < INFINITY && b.radius < INFINITY; // nothing is known of 0 times anything
    if (known && (ss_ball_is_zero(a) || ss_ball_is_zero(b))) return (ss_ball){0.0, 0.0, 0.0};
    double high = a.high * b.high, error = fma(a.high, b.high, -high);
    ss_ball product = ss_ball_close(high, error + (a.high * b.low + a.low * b.high), 0.0);
    double radius = fabs(a.high) * b.radius + fabs(b.high) * a.radius + a.radius * b.radius +
                    (fabs(a.low) * b.radius + fabs(b.low) * a.radius);
    bool exact = a.low == 0.0 && b.low == 0.0;
    double rounding = exact ? 0.0 : BALL_ROUNDING * fabs(product.high);
    return ss_ball_close(product.high, product.low, ss_ball_up(radius + rounding + BALL_UNDERFLOW));
}

/* The largest and the smallest |x| of the ball, rounded outwards. */
static inline double ss_ball_magnitude(ss_ball a)
{
    return ss_ball_up(fabs(a.high) + fabs(a.low) + a.radius);
}

static inline double ss_ball_mignitude(ss_ball a)
{
    double least = (fabs(a.high) - fabs(a.low) - a.radius) * (1.0 - 0x1p-49);
    return least > 0.0 ? least : 0.0;
}

/* The largest x of the ball, rounded upwards. */
static inline double ss_ball_upper(ss_ball a)
{
    double sum = a.high + (fabs(a.low) + a.radius);
    return sum + 0x1p-50 * (fabs(a.high) + fabs(a.low) + a.radius);
}

static inline double ss_ball_lower(ss_ball a)
{
    return -ss_ball_upper(ss_ball_negate(a));
}

/* 1/b = q + (1 - q b)/b for any q */
static inline ss_ball ss_ball_invert(ss_ball b)
{
    double least = ss_ball_mignitude(b);
    if (!(least > 0.0)) return (ss_ball){0.0, 0.0, INFINITY};
    ss_ball exact = {b.high, b.low, 0.0}, q = ss_ball_of(1.0 / b.high);
    ss_ball rest = ss_ball_subtract(ss_ball_of(1.0), ss_ball_multiply(q, exact));
    q = ss_ball_add(q, ss_ball_multiply(q, rest));
    q.radius = 0.0; // any q will do
    rest = ss_ball_subtract(ss_ball_of(1.0), ss_ball_multiply(q, b));
    return ss_ball_close(q.high, q.low, ss_ball_up(ss_ball_magnitude(rest) / least));
}

/* sqrt(a) = s + (a - s^2) / (sqrt(a) + s) for any s > 0. Of a ball around zero: [0, sqrt of its upper end]. */
static inline ss_ball ss_ball_root(ss_ball a)
{
    double upper = ss_ball_upper(a);
    if (!(ss_ball_lower(a) > 0.0)) {
        double end = upper > 0.0 ? ss_ball_up(sqrt(upper)) : 0.0;
        return (ss_ball){0.5 * end, 0.0, ss_ball_up(0.5 * end)};
    }
    ss_ball s = ss_ball_of(sqrt(a.high));
    ss_ball exact = {a.high, a.low, 0.0};
    ss_ball rest = ss_ball_subtract(exact, ss_ball_multiply(s, s));
    s = ss_ball_add(s, ss_ball_multiply(rest, ss_ball_of(0.5 / s.high)));
    s.radius = 0.0;
    rest = ss_ball_subtract(a, ss_ball_multiply(s, s));
    return ss_ball_close(s.high, s.low, ss_ball_up(ss_ball_magnitude(rest) / ss_ball_mignitude(s)));
}

#endif
