#include "linalg/lorentz.h"

#include <math.h>

static double tail(int size, const double *s)
{
    double sum = 0.0;
    for (int i = 1; i < size; i++) sum += s[i] * s[i];
    return sqrt(sum);
}

double ss_lorentz_dot(int size, const double *a, const double *b)
{
    double sum = a[0] * b[0];
    for (int i = 1; i < size; i++) sum += a[i] * b[i];
    return sum;
}

double ss_lorentz_determinant(int size, const double *s)
{
    double length = tail(size, s);
    return (s[0] - length) * (s[0] + length);
}

void ss_lorentz_product(int size, const double *a, const double *b, double *product)
{
    double first = ss_lorentz_dot(size, a, b);
    for (int i = 1; i < size; i++) product[i] = a[0] * b[i] + b[0] * a[i];
    product[0] = first;
}

void ss_lorentz_divide(int size, const double *a, const double *b, double *x)
{
    double cross = 0.0;
    for (int i = 1; i < size; i++) cross += a[i] * b[i];
    double first = (a[0] * b[0] - cross) / ss_lorentz_determinant(size, a);
    if (size == 1) first = b[0] / a[0];
    for (int i = 1; i < size; i++) x[i] = (b[i] - first * a[i]) / a[0];
    x[0] = first;
}

double ss_lorentz_step(int size, const double *s, const double *ds)
{
    if (size == 1) return ds[0] < 0.0 ? -s[0] / ds[0] : INFINITY;
    double a = ds[0] * ds[0], b = s[0] * ds[0], c = ss_lorentz_determinant(size, s);
    for (int i = 1; i < size; i++) {
        a -= ds[i] * ds[i];
        b -= s[i] * ds[i];
    }
    double inside = b * b - a * c;
    if (inside < 0.0) return INFINITY;
    double root = sqrt(inside) - b; // a t^2 + 2 b t + c = 0 has its first positive root at c / root
    return root > 0.0 ? c / root : INFINITY;
}

bool ss_lorentz_scale(int size, const double *s, const double *z, ss_lorentz_scaling *scaling)
{
    double ds = size == 1 ? s[0] * s[0] : ss_lorentz_determinant(size, s);
    double dz = size == 1 ? z[0] * z[0] : ss_lorentz_determinant(size, z);
    if (!(ds > 0.0) || !(dz > 0.0) || !(s[0] > 0.0) || !(z[0] > 0.0)) return false;
    double rs = sqrt(ds), rz = sqrt(dz), sum = 0.0;
    double common = sqrt(2.0 * (1.0 + ss_lorentz_dot(size, s, z) / (rs * rz)));
    *scaling = (ss_lorentz_scaling){.size = size, .g = rs / rz};
    for (int i = 1; i < size; i++) {
        scaling->w[i] = (s[i] / rs - z[i] / rz) / common;
        sum += scaling->w[i] * scaling->w[i];
    }
    scaling->w[0] = sqrt(1.0 + sum);
    ss_lorentz_apply(scaling, z, scaling->lambda);
    return isfinite(scaling->g) && isfinite(scaling->lambda[0]);
}

/* y = factor [w0, w1'; w1, 1 + w1 w1' / (1 + w0)] x */
static void apply_root(const ss_lorentz_scaling *scaling, double factor, double sign, const double *x,
                       double *y)
{
    const double *w = scaling->w;
    double along = 0.0;
    for (int i = 1; i < scaling->size; i++) along += sign * w[i] * x[i];
    y[0] = factor * (w[0] * x[0] + along);
    for (int i = 1; i < scaling->size; i++) {
        y[i] = factor * (x[i] + sign * w[i] * (x[0] + along / (1.0 + w[0])));
    }
}

void ss_lorentz_apply(const ss_lorentz_scaling *scaling, const double *x, double *y)
{
    apply_root(scaling, sqrt(scaling->g), 1.0, x, y);
}

void ss_lorentz_apply_inverse(const ss_lorentz_scaling *scaling, const double *x, double *y)
{
    apply_root(scaling, 1.0 / sqrt(scaling->g), -1.0, x, y);
}

/* (2 v v' - J) / g with v = J w */
void ss_lorentz_apply_inverse_square(const ss_lorentz_scaling *scaling, const double *x, double *y)
{
    const double *w = scaling->w;
    double along = w[0] * x[0];
    for (int i = 1; i < scaling->size; i++) along -= w[i] * x[i];
    y[0] = (2.0 * w[0] * along - x[0]) / scaling->g;
    for (int i = 1; i < scaling->size; i++) y[i] = (x[i] - 2.0 * w[i] * along) / scaling->g;
}

double ss_lorentz_least_square(int size, const double *s, const double *z)
{
    double dot = ss_lorentz_dot(size, s, z);
    if (size == 1) return dot;
    double ds = ss_lorentz_determinant(size, s), dz = ss_lorentz_determinant(size, z);
    if (!(ds > 0.0) || !(dz > 0.0)) return 0.0;
    double root = sqrt(ds * dz);
    double least = 2.0 * root / (sqrt(2.0 * (dot + root)) + sqrt(2.0 * fmax(dot - root, 0.0)));
    return least * least;
}
