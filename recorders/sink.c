/* What all recorders share: which steps, numbers for pointers, a little algebra. */
#include "sink.h"

#include <math.h>
#include <string.h>

bool ss_sink_wants(ss_sink *sink)
{
    int64_t step = ++sink->steps;
    if (sink->broken || step < sink->first || (sink->last > 0 && step > sink->last)) return false;
    return (step - sink->first) % sink->every == 0;
}

/* ---- numbers for pointers --------------------------------------------------------------------------- */

/* Where the key is, or would be: open addressing, never more than half full. */
static int place_of(const ss_numbers *numbers, const void *key)
{
    uint64_t hash = (uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15u;
    int at = (int)(hash >> 33) & (numbers->room - 1);
    while (numbers->key[at] && numbers->key[at] != key) at = (at + 1) & (numbers->room - 1);
    return at;
}

static bool enlarge(ss_numbers *numbers)
{
    int room = numbers->room ? 2 * numbers->room : 64;
    ss_numbers larger = {ss_allocate((size_t)room, sizeof *larger.key),
                         ss_allocate((size_t)room, sizeof *larger.number), numbers->count, room};
    if (!larger.key || !larger.number) {
        ss_numbers_free(&larger);
        return false;
    }
    for (int i = 0; i < numbers->room; i++) {
        if (!numbers->key[i]) continue;
        int at = place_of(&larger, numbers->key[i]);
        larger.key[at] = numbers->key[i];
        larger.number[at] = numbers->number[i];
    }
    ss_numbers_free(numbers);
    *numbers = larger;
    return true;
}

int ss_number_of(ss_numbers *numbers, const void *key, bool *fresh)
{
    if (fresh) *fresh = false;
    if (2 * numbers->count >= numbers->room && !enlarge(numbers)) return 0;
    int at = place_of(numbers, key);
    if (!numbers->key[at]) {
        numbers->key[at] = key;
        numbers->number[at] = ++numbers->count;
        if (fresh) *fresh = true;
    }
    return numbers->number[at];
}

int ss_number_find(const ss_numbers *numbers, const void *key)
{
    return numbers->room && key ? numbers->number[place_of(numbers, key)] : 0;
}

void ss_numbers_clear(ss_numbers *numbers)
{
    if (numbers->room) memset(numbers->key, 0, (size_t)numbers->room * sizeof *numbers->key);
    numbers->count = 0;
}

void ss_numbers_free(ss_numbers *numbers)
{
    ss_release(numbers->key);
    ss_release(numbers->number);
    *numbers = (ss_numbers){0};
}

/* ---- algebra ---------------------------------------------------------------------------------------- */

void ss_quaternion_to_matrix(const double q[4], double R[9])
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    const double matrix[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                              2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                              2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
    memcpy(R, matrix, sizeof matrix);
}

void ss_rotate_tensor(const double R[9], const double I[9], double world[9])
{
    double RI[9];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            RI[3 * i + j] = R[3 * i] * I[j] + R[3 * i + 1] * I[3 + j] + R[3 * i + 2] * I[6 + j];
    for (int i = 0; i < 3; i++)
        for (int j = i; j < 3; j++)
            world[3 * i + j] = world[3 * j + i] =
                RI[3 * i] * R[3 * j] + RI[3 * i + 1] * R[3 * j + 1] + RI[3 * i + 2] * R[3 * j + 2];
}

bool ss_solve_3(double A[9], double b[3])
{
    for (int k = 0; k < 3; k++) {
        int best = k;
        for (int i = k + 1; i < 3; i++)
            if (fabs(A[3 * i + k]) > fabs(A[3 * best + k])) best = i;
        if (A[3 * best + k] == 0.0) return false;
        for (int j = 0; best != k && j < 3; j++) {
            double swap = A[3 * k + j];
            A[3 * k + j] = A[3 * best + j];
            A[3 * best + j] = swap;
        }
        double swap = b[k];
        b[k] = b[best];
        b[best] = swap;
        for (int i = k + 1; i < 3; i++) {
            double factor = A[3 * i + k] / A[3 * k + k];
            for (int j = k; j < 3; j++) A[3 * i + j] -= factor * A[3 * k + j];
            b[i] -= factor * b[k];
        }
    }
    for (int k = 2; k >= 0; k--) {
        for (int j = k + 1; j < 3; j++) b[k] -= A[3 * k + j] * b[j];
        b[k] /= A[3 * k + k];
    }
    return true;
}

static double dot_12(const double *a, const double *b)
{
    double sum = 0.0;
    for (int i = 0; i < 12; i++) sum += a[i] * b[i];
    return sum;
}

/* Gram and Schmidt, each row twice: J' = Q U, then U x = Q' f. */
void ss_row_impulses(int rows, const double (*J)[12], const double f[12], double *x)
{
    enum { MOST = 12 };
    double Q[MOST][12], U[MOST][MOST] = {{0}};
    bool independent[MOST];
    if (rows > MOST) rows = MOST; // more than 12 rows cannot be independent
    for (int r = 0; r < rows; r++) {
        memcpy(Q[r], J[r], sizeof Q[r]);
        double length = sqrt(dot_12(J[r], J[r]));
        for (int pass = 0; pass < 2; pass++) {
            for (int k = 0; k < r; k++) {
                if (!independent[k]) continue;
                double along = dot_12(Q[k], Q[r]);
                for (int i = 0; i < 12; i++) Q[r][i] -= along * Q[k][i];
                U[k][r] += along;
            }
        }
        U[r][r] = sqrt(dot_12(Q[r], Q[r]));
        independent[r] = U[r][r] > 1e-10 * length; // below that it is rounding
        for (int i = 0; independent[r] && i < 12; i++) Q[r][i] /= U[r][r];
    }
    for (int r = rows - 1; r >= 0; r--) {
        x[r] = 0.0;
        if (!independent[r]) continue;
        double sum = dot_12(Q[r], f);
        for (int k = r + 1; k < rows; k++) sum -= U[r][k] * x[k];
        x[r] = sum / U[r][r];
    }
}
