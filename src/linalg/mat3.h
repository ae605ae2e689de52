/* linalg/mat3.h - 3x3 matrices by value, row by row as in every array of the library. */
#ifndef SS_LINALG_MAT3_H
#define SS_LINALG_MAT3_H

#include "base/inner.h"
#include "linalg/vec3.h"

#include <stdbool.h>
#include <string.h>

typedef struct ss_mat3 {
    double m[3][3];
} ss_mat3;

static inline ss_mat3 ss_mat3_load(const double *from)
{
    ss_mat3 a;
    memcpy(a.m, from, sizeof a.m);
    return a;
}

static inline void ss_mat3_store(ss_mat3 a, double *to)
{
    memcpy(to, a.m, sizeof a.m);
}

static inline ss_mat3 ss_mat3_diagonal(double x, double y, double z)
{
    return (ss_mat3){{{x, 0.0, 0.0}, {0.0, y, 0.0}, {0.0, 0.0, z}}};
}

static inline ss_mat3 ss_mat3_identity(void)
{
    return ss_mat3_diagonal(1.0, 1.0, 1.0);
}

static inline ss_mat3 ss_mat3_from_rows(ss_vec3 a, ss_vec3 b, ss_vec3 c)
{
    return (ss_mat3){{{a.x, a.y, a.z}, {b.x, b.y, b.z}, {c.x, c.y, c.z}}};
}

static inline ss_mat3 ss_mat3_from_columns(ss_vec3 a, ss_vec3 b, ss_vec3 c)
{
    return (ss_mat3){{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
}

static inline ss_vec3 ss_mat3_row(const ss_mat3 *a, int i)
{
    return (ss_vec3){a->m[i][0], a->m[i][1], a->m[i][2]};
}

static inline ss_vec3 ss_mat3_column(const ss_mat3 *a, int j)
{
    return (ss_vec3){a->m[0][j], a->m[1][j], a->m[2][j]};
}

/* The matrix of v x: skew(v) w = v x w */
static inline ss_mat3 ss_mat3_skew(ss_vec3 v)
{
    return (ss_mat3){{{0.0, -v.z, v.y}, {v.z, 0.0, -v.x}, {-v.y, v.x, 0.0}}};
}

/* a b' */
static inline ss_mat3 ss_mat3_outer(ss_vec3 a, ss_vec3 b)
{
    return ss_mat3_from_rows(ss_vec3_scale(a.x, b), ss_vec3_scale(a.y, b), ss_vec3_scale(a.z, b));
}

/* a + s b */
static inline ss_mat3 ss_mat3_add_scaled(ss_mat3 a, double s, ss_mat3 b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a.m[i][j] += s * b.m[i][j];
    return a;
}

static inline ss_mat3 ss_mat3_scale(double s, ss_mat3 a)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a.m[i][j] *= s;
    return a;
}

static inline ss_mat3 ss_mat3_transpose(ss_mat3 a)
{
    return ss_mat3_from_columns(ss_mat3_row(&a, 0), ss_mat3_row(&a, 1), ss_mat3_row(&a, 2));
}

static inline ss_mat3 ss_mat3_multiply(ss_mat3 a, ss_mat3 b)
{
    ss_mat3 c;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    return c;
}

static inline ss_vec3 ss_mat3_apply(ss_mat3 a, ss_vec3 v)
{
    return (ss_vec3){a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                     a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                     a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z};
}

static inline ss_vec3 ss_mat3_apply_transposed(ss_mat3 a, ss_vec3 v)
{
    return (ss_vec3){a.m[0][0] * v.x + a.m[1][0] * v.y + a.m[2][0] * v.z,
                     a.m[0][1] * v.x + a.m[1][1] * v.y + a.m[2][1] * v.z,
                     a.m[0][2] * v.x + a.m[1][2] * v.y + a.m[2][2] * v.z};
}

static inline double ss_mat3_trace(ss_mat3 a)
{
    return a.m[0][0] + a.m[1][1] + a.m[2][2];
}

static inline double ss_mat3_max_abs(ss_mat3 a)
{
    return fmax(ss_vec3_max_abs(ss_mat3_row(&a, 0)),
                fmax(ss_vec3_max_abs(ss_mat3_row(&a, 1)), ss_vec3_max_abs(ss_mat3_row(&a, 2))));
}

static inline double ss_mat3_determinant(ss_mat3 a)
{
    return ss_vec3_dot(ss_mat3_row(&a, 0), ss_vec3_cross(ss_mat3_row(&a, 1), ss_mat3_row(&a, 2)));
}

/* a x = b by Cramer's rule, for entries whose products neither overflow nor underflow; false when the
 * determinant is zero or not finite */
static inline bool ss_mat3_solve(ss_mat3 a, ss_vec3 b, ss_vec3 *x)
{
    ss_vec3 a0 = ss_mat3_column(&a, 0), a1 = ss_mat3_column(&a, 1), a2 = ss_mat3_column(&a, 2);
    ss_vec3 cross = ss_vec3_cross(a1, a2), with_b = ss_vec3_cross(a0, b);
    double by = 1.0 / ss_vec3_dot(a0, cross);
    if (!isfinite(by)) return false;
    *x = (ss_vec3){by * ss_vec3_dot(b, cross), by * ss_vec3_dot(with_b, a2), -by * ss_vec3_dot(with_b, a1)};
    return true;
}

/* (a + a') / 2: an inertia tensor that was rotated is symmetric but for rounding */
static inline ss_mat3 ss_mat3_symmetric_part(ss_mat3 a)
{
    return ss_mat3_scale(0.5, ss_mat3_add_scaled(a, 1.0, ss_mat3_transpose(a)));
}

/* R a R', made exactly symmetric: an inertia tensor from the body frame to the world */
static inline ss_mat3 ss_mat3_rotate_tensor(ss_mat3 rotation, ss_mat3 a)
{
    ss_mat3 half = ss_mat3_multiply(rotation, a), out;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j <= i; j++) {
            double lower = ss_vec3_dot(ss_mat3_row(&half, i), ss_mat3_row(&rotation, j));
            double upper = i == j ? lower : ss_vec3_dot(ss_mat3_row(&half, j), ss_mat3_row(&rotation, i));
            out.m[i][j] = out.m[j][i] = 0.5 * (lower + upper);
        }
    }
    return out;
}

/* False, with *inverse untouched, when the determinant is zero or not finite. Works for tensors of any unit:
 * the matrix is scaled to entries of at most 1 first, so that 1e-120 kg m^2 does not underflow to singular.
 */
bool ss_mat3_inverse(ss_mat3 a, ss_mat3 *inverse);

/* Positive definite, by the pivots of a Cholesky factorisation; only the lower triangle is read. */
bool ss_mat3_is_positive(ss_mat3 a);

/* Eigenvalues of a symmetric matrix, ascending; column k of *vectors (NULL if not wanted) is the unit
 * eigenvector of values[k], and the three form a right-handed frame. Jacobi rotations: slower than formulas
 * with arc cosines, but accurate also for eigenvalues that are close together or of very different size. Only
 * the lower triangle is read; entries that are not finite give NaN. */
SS_INNER void ss_mat3_eigen(ss_mat3 a, double values[3], ss_mat3 *vectors);

#endif
