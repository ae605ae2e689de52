/* linalg/vec3.h - vectors of space, by value. */
#ifndef SS_LINALG_VEC3_H
#define SS_LINALG_VEC3_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct ss_vec3 {
    double x, y, z;
} ss_vec3;

static inline ss_vec3 ss_vec3_load(const double *from)
{
    return (ss_vec3){from[0], from[1], from[2]};
}

static inline void ss_vec3_store(ss_vec3 v, double *to)
{
    to[0] = v.x;
    to[1] = v.y;
    to[2] = v.z;
}

static inline ss_vec3 ss_vec3_add(ss_vec3 a, ss_vec3 b)
{
    return (ss_vec3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline ss_vec3 ss_vec3_subtract(ss_vec3 a, ss_vec3 b)
{
    return (ss_vec3){a.x - b.x, a.y - b.y, a.z - b.z};
}

static inline ss_vec3 ss_vec3_scale(double s, ss_vec3 v)
{
    return (ss_vec3){s * v.x, s * v.y, s * v.z};
}

static inline ss_vec3 ss_vec3_negate(ss_vec3 v)
{
    return (ss_vec3){-v.x, -v.y, -v.z};
}

/* a + s b */
static inline ss_vec3 ss_vec3_add_scaled(ss_vec3 a, double s, ss_vec3 b)
{
    return (ss_vec3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double ss_vec3_dot(ss_vec3 a, ss_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline ss_vec3 ss_vec3_cross(ss_vec3 a, ss_vec3 b)
{
    return (ss_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline double ss_vec3_norm(ss_vec3 v)
{
    return sqrt(ss_vec3_dot(v, v));
}

static inline double ss_vec3_max_abs(ss_vec3 v)
{
    return fmax(fabs(v.x), fmax(fabs(v.y), fabs(v.z)));
}

/* Unit vector along v, and its length if asked for. Works for the whole range of double, because the largest
 * component is made 1 before anything is squared. The zero vector has no direction: zero is returned. */
static inline ss_vec3 ss_vec3_normalise(ss_vec3 v, double *length)
{
    double largest = ss_vec3_max_abs(v);
    if (length) *length = largest;
    if (!(largest > 0.0)) return (ss_vec3){0.0, 0.0, 0.0};
    ss_vec3 scaled = {v.x / largest, v.y / largest, v.z / largest};
    double norm = ss_vec3_norm(scaled);
    if (length) *length = largest * norm;
    return (ss_vec3){scaled.x / norm, scaled.y / norm, scaled.z / norm};
}

/* Farther from 1 or 0 than rounding in double precision leaves it: of a direction in single precision. */
static inline bool ss_vec3_is_rough(double off)
{
    return fabs(off) > 1e-12;
}

/* a, b, c of v = a t1 + b t2 + c n, where t2 = n x t1. Scalar products are that only where n and t1 are of
 * unit length and at right angles, and files have them in single precision, too: then by the reciprocal
 * basis. */
static inline void ss_vec3_components(ss_vec3 v, ss_vec3 n, ss_vec3 t1, ss_vec3 t2, double to[3])
{
    to[0] = ss_vec3_dot(v, t1), to[1] = ss_vec3_dot(v, t2), to[2] = ss_vec3_dot(v, n);
    double across = ss_vec3_dot(n, t1), volume = ss_vec3_dot(t2, t2); // n . (t1 x t2) = |n x t1|^2
    bool rough = ss_vec3_is_rough(across) || ss_vec3_is_rough(volume - 1.0) ||
                 ss_vec3_is_rough(ss_vec3_dot(n, n) - 1.0);
    if (!rough || !(volume > 0.5)) return;
    to[0] = ss_vec3_dot(v, ss_vec3_cross(t2, n)) / volume;
    to[1] /= volume;
    to[2] = ss_vec3_dot(v, ss_vec3_cross(t1, t2)) / volume;
}

/* Tangents of a unit normal: t1 is n crossed with the axis of n's smallest component (the first of equals),
 * so that the cross product is never shorter than sqrt(2/3); t2 = n x t1. */
static inline void ss_vec3_tangents(ss_vec3 n, ss_vec3 *t1, ss_vec3 *t2)
{
    double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    ss_vec3 axis = {0.0, 0.0, 0.0};
    if (x <= y && x <= z)
        axis.x = 1.0;
    else if (y <= z)
        axis.y = 1.0;
    else
        axis.z = 1.0;
    *t1 = ss_vec3_normalise(ss_vec3_cross(n, axis), NULL);
    *t2 = ss_vec3_cross(n, *t1);
}

#endif
