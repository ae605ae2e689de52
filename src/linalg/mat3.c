#include "linalg/mat3.h"

#include <float.h>

bool ss_mat3_inverse(ss_mat3 a, ss_mat3 *inverse)
{
    double size = ss_mat3_max_abs(a), by_size = 1.0 / size;
    if (!(size > 0.0) || !isfinite(ss_mat3_trace(a) + size + by_size)) return false;
    ss_mat3 scaled = a;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) scaled.m[i][j] *= by_size;
    ss_vec3 r0 = ss_mat3_row(&scaled, 0), r1 = ss_mat3_row(&scaled, 1), r2 = ss_mat3_row(&scaled, 2);
    // The columns of the inverse are the cross products of the rows, over the determinant.
    ss_vec3 c0 = ss_vec3_cross(r1, r2), c1 = ss_vec3_cross(r2, r0), c2 = ss_vec3_cross(r0, r1);
    double determinant = ss_vec3_dot(r0, c0), by_determinant = 1.0 / determinant;
    if (determinant == 0.0 || !isfinite(determinant) || !isfinite(by_determinant)) return false;
    ss_mat3 adjugate = ss_mat3_from_columns(c0, c1, c2);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) inverse->m[i][j] = adjugate.m[i][j] * by_determinant * by_size;
    return true;
}

bool ss_mat3_is_positive(ss_mat3 a)
{
    double l[3][3];
    for (int j = 0; j < 3; j++) {
        double pivot = a.m[j][j];
        for (int k = 0; k < j; k++) pivot -= l[j][k] * l[j][k];
        if (!(pivot > 0.0) || !isfinite(pivot)) return false;
        l[j][j] = sqrt(pivot);
        for (int i = j + 1; i < 3; i++) {
            double sum = a.m[i][j];
            for (int k = 0; k < j; k++) sum -= l[i][k] * l[j][k];
            l[i][j] = sum / l[j][j];
        }
    }
    return true;
}

/* Rotation in the plane (p, q) that makes a[p][q] zero; the smaller of the two angles (Golub, Van
 * Loan 8.5.2). */
static void jacobi_rotate(ss_mat3 *a, ss_mat3 *v, int p, int q)
{
    double off = a->m[p][q];
    if (off == 0.0) return;
    double tau = (a->m[q][q] - a->m[p][p]) / (2.0 * off);
    double t = (tau >= 0.0 ? 1.0 : -1.0) / (fabs(tau) + hypot(1.0, tau));
    double c = 1.0 / sqrt(1.0 + t * t), s = t * c;
    int r = 3 - p - q;
    double rp = a->m[r][p], rq = a->m[r][q];
    a->m[p][p] -= t * off;
    a->m[q][q] += t * off;
    a->m[p][q] = a->m[q][p] = 0.0;
    a->m[r][p] = a->m[p][r] = c * rp - s * rq;
    a->m[r][q] = a->m[q][r] = s * rp + c * rq;
    for (int i = 0; i < 3; i++) {
        double vp = v->m[i][p], vq = v->m[i][q];
        v->m[i][p] = c * vp - s * vq;
        v->m[i][q] = s * vp + c * vq;
    }
}

/* An entry that changes neither of its two eigenvalues any more. */
static bool negligible(const ss_mat3 *a, int p, int q)
{
    double size = fmin(fabs(a->m[p][p]), fabs(a->m[q][q]));
    return fabs(a->m[p][q]) <= 0.01 * DBL_EPSILON * size;
}

static void sort_ascending(double values[3], ss_mat3 *vectors)
{
    for (int pass = 0; pass < 2; pass++)
        for (int j = 0; j < 2 - pass; j++) {
            if (values[j] <= values[j + 1]) continue;
            double value = values[j];
            values[j] = values[j + 1];
            values[j + 1] = value;
            for (int i = 0; i < 3; i++) { // with one sign changed the swap is a rotation: stays right-handed
                double entry = vectors->m[i][j];
                vectors->m[i][j] = vectors->m[i][j + 1];
                vectors->m[i][j + 1] = -entry;
            }
        }
}

void ss_mat3_eigen(ss_mat3 a, double values[3], ss_mat3 *vectors)
{
    const int sweeps = 30; // converges quadratically, in about 5; the bound is for NaN
    ss_mat3 v = ss_mat3_identity();
    for (int i = 0; i < 3; i++)
        for (int j = i + 1; j < 3; j++) a.m[i][j] = a.m[j][i];

    double sum = 0.0; // NaN if an entry is not finite
    for (int i = 0; i < 9; i++) sum += 0.0 * a.m[i / 3][i % 3];
    double size = ss_mat3_max_abs(a) + sum;
    if (size > 0.0) // entries of at most 1: no overflow on the way
        for (int i = 0; i < 9; i++) a.m[i / 3][i % 3] /= size;
    for (int sweep = 0; sweep < sweeps; sweep++) {
        if (negligible(&a, 0, 1) && negligible(&a, 0, 2) && negligible(&a, 1, 2)) break;
        jacobi_rotate(&a, &v, 0, 1);
        jacobi_rotate(&a, &v, 0, 2);
        jacobi_rotate(&a, &v, 1, 2);
    }
    for (int i = 0; i < 3; i++) values[i] = a.m[i][i] * size;
    sort_ascending(values, &v);
    if (vectors) *vectors = v;
}
