#include "linalg/small.h"

#include <math.h>

static inline void exchange(double *a, double *b, int count)
{
    for (int k = 0; k < count; k++) {
        double kept = a[k];
        a[k] = b[k];
        b[k] = kept;
    }
}

__attribute__((always_inline)) static inline bool solve(int n, double *A, int count, double *b)
{
    for (int j = 0; j < n; j++) {
        int pivot = j;
        for (int i = j + 1; i < n; i++) {
            if (fabs(A[i * n + j]) > fabs(A[pivot * n + j])) pivot = i;
        }
        if (!(fabs(A[pivot * n + j]) > 0.0)) return false;
        exchange(A + pivot * n, A + j * n, n);
        exchange(b + pivot * count, b + j * count, count);
        for (int i = j + 1; i < n; i++) {
            double factor = A[i * n + j] / A[j * n + j];
            for (int k = j + 1; k < n; k++) A[i * n + k] -= factor * A[j * n + k];
            for (int k = 0; k < count; k++) b[i * count + k] -= factor * b[j * count + k];
        }
    }
    for (int j = n - 1; j >= 0; j--) {
        for (int k = 0; k < count; k++) {
            double sum = b[j * count + k];
            for (int i = j + 1; i < n; i++) sum -= A[j * n + i] * b[i * count + k];
            b[j * count + k] = sum / A[j * n + j];
        }
    }
    return true;
}

bool ss_small_solve(int n, double *A, int count, double *b)
{
    return solve(n, A, count, b);
}

/* Scaled to a unit diagonal first: which pivot is the largest must not depend on units. */
__attribute__((always_inline)) static inline bool invert(int n, const double *A, double *inverse)
{
    double scaled[SS_SMALL_MAX * SS_SMALL_MAX], unit[SS_SMALL_MAX];
    for (int i = 0; i < n; i++) unit[i] = A[i * n + i] > 0.0 ? sqrt(A[i * n + i]) : 1.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            scaled[i * n + j] = A[i * n + j] / unit[i] / unit[j];
            inverse[i * n + j] = i == j ? 1.0 : 0.0;
        }
    }
    bool regular = solve(n, scaled, n, inverse);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) inverse[i * n + j] /= unit[i] * unit[j];
    }
    return regular;
}

/* The compiler should know the sizes of usual contacts. */
bool ss_small_invert(int n, const double *A, double *inverse)
{
    return n == 3 ? invert(3, A, inverse) : n == 2 ? invert(2, A, inverse) : invert(n, A, inverse);
}

/* r = -A^-1 q, the second time with what the first left over: an inverse is only as good as A's condition. */
void ss_small_balance(int n, const double *A, const double *inverse, const double *q, double *r)
{
    double left[SS_SMALL_MAX];
    for (int i = 0; i < n; i++) r[i] = 0.0;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < n; i++) {
            left[i] = q[i];
            for (int j = 0; j < n; j++) left[i] += A[i * n + j] * r[j];
        }
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) r[i] -= inverse[i * n + j] * left[j];
        }
    }
}
