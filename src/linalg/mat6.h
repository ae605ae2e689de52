/* linalg/mat6.h - 6x6 algebra of a rigid body: (linear, angular) in world coordinates about the centre of
 * mass. */
#ifndef SS_LINALG_MAT6_H
#define SS_LINALG_MAT6_H

#include "linalg/mat3.h"

/* blockdiag(linear I, angular): the mass matrix of a body (kg, kg m^2), or its inverse. */
typedef struct ss_mass {
    double linear;
    ss_mat3 angular;
} ss_mass;

/* out = mass * in; they may be the same array */
static inline void ss_mass_apply(const ss_mass *mass, const double in[6], double out[6])
{
    ss_vec3 turning = ss_mat3_apply(mass->angular, ss_vec3_load(in + 3));
    ss_vec3_store(ss_vec3_scale(mass->linear, ss_vec3_load(in)), out);
    ss_vec3_store(turning, out + 3);
}

/* False when it is singular. */
static inline bool ss_mass_inverse(const ss_mass *mass, ss_mass *inverse)
{
    if (!(mass->linear > 0.0)) return false;
    inverse->linear = 1.0 / mass->linear;
    return ss_mat3_inverse(mass->angular, &inverse->angular);
}

typedef struct ss_mat6 {
    double m[6][6];
} ss_mat6;

/* Cholesky factor L, a = L L', of a symmetric positive definite matrix. Reads and writes only the lower
 * triangle; false when a pivot is not positive. */
static inline bool ss_mat6_cholesky(ss_mat6 *a)
{
    for (int j = 0; j < 6; j++) {
        for (int k = 0; k < j; k++) a->m[j][j] -= a->m[j][k] * a->m[j][k];
        if (!(a->m[j][j] > 0.0) || !isfinite(a->m[j][j])) return false;
        a->m[j][j] = sqrt(a->m[j][j]);
        for (int i = j + 1; i < 6; i++) {
            for (int k = 0; k < j; k++) a->m[i][j] -= a->m[i][k] * a->m[j][k];
            a->m[i][j] /= a->m[j][j];
        }
    }
    return true;
}

/* x = a^-1 x with the factor of a */
static inline void ss_mat6_cholesky_solve(const ss_mat6 *factor, double x[6])
{
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < i; k++) x[i] -= factor->m[i][k] * x[k];
        x[i] /= factor->m[i][i];
    }
    for (int i = 5; i >= 0; i--) {
        for (int k = i + 1; k < 6; k++) x[i] -= factor->m[k][i] * x[k];
        x[i] /= factor->m[i][i];
    }
}

/* out = a in; they must not be the same array */
static inline void ss_mat6_apply(const ss_mat6 *a, const double in[6], double out[6])
{
    for (int i = 0; i < 6; i++) {
        out[i] = 0.0;
        for (int j = 0; j < 6; j++) out[i] += a->m[i][j] * in[j];
    }
}

#endif
