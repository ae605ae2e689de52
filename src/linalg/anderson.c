#include "linalg/anderson.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "linalg/dense.h"

enum { MAX_MEMORY = 16 };

struct ss_anderson {
    int size, memory;
    int count, next;        // differences at hand; where the next one goes
    bool has_last;          // last_step and last_image hold a point
    double *steps, *images; // differences of G(x) - x, and of G(x): one after the other
    double *last_step, *last_image;
    double *step, *columns; // scratch
};

ss_anderson *ss_anderson_create(int size, int memory, ss_arena *arena)
{
    ss_anderson *a = ss_arena_take(arena, 1, sizeof *a, "mixing");
    if (!a) return NULL;
    size_t n = (size_t)size;
    *a = (ss_anderson){.size = size, .memory = memory < MAX_MEMORY ? memory : MAX_MEMORY};
    size_t m = (size_t)a->memory;
    a->steps = ss_arena_take(arena, m * n, sizeof *a->steps, "mixing steps");
    a->images = ss_arena_take(arena, m * n, sizeof *a->images, "mixing images");
    a->columns = ss_arena_take(arena, m * n, sizeof *a->columns, "mixing columns");
    a->last_step = ss_arena_take(arena, n, sizeof *a->last_step, "mixing step");
    a->last_image = ss_arena_take(arena, n, sizeof *a->last_image, "mixing image");
    a->step = ss_arena_take(arena, n, sizeof *a->step, "mixing step");
    bool good = a->steps && a->images && a->columns && a->last_step && a->last_image && a->step;
    return good ? a : NULL;
}

void ss_anderson_forget(ss_anderson *a)
{
    a->count = a->next = 0;
    a->has_last = false;
}

/* v -= what it has of the rows of Q, which are orthonormal; `part` gets how much. Twice, for
 * once loses digits. */
static void orthogonalize(int n, int rows, const double *Q, double *v, double *part)
{
    double more[MAX_MEMORY];
    ss_dense_apply(rows, n, 1.0, Q, SS_AS_IS, v, 0.0, part);
    ss_dense_apply(rows, n, -1.0, Q, SS_TRANSPOSED, part, 1.0, v);
    ss_dense_apply(rows, n, 1.0, Q, SS_AS_IS, v, 0.0, more);
    ss_dense_apply(rows, n, -1.0, Q, SS_TRANSPOSED, more, 1.0, v);
    for (int k = 0; k < rows; k++) part[k] += more[k];
}

static double length(int n, const double *v)
{
    double square;
    ss_dense_apply(1, n, 1.0, v, SS_AS_IS, v, 0.0, &square);
    return sqrt(square);
}

void ss_anderson_next(ss_anderson *a, const double *x, double *image)
{
    static const double independent = 1e-10,
                        far = 1e5; // far, in steps: no fixed point is worth so slow an approach
    size_t n = (size_t)a->size, bytes = n * sizeof *image;

    // The difference to the last step and its image takes the place of the oldest one.
    for (size_t i = 0; i < n; i++) a->step[i] = image[i] - x[i];
    if (a->has_last) {
        size_t at = (size_t)a->next * n;
        for (size_t i = 0; i < n; i++) {
            a->steps[at + i] = a->step[i] - a->last_step[i];
            a->images[at + i] = image[i] - a->last_image[i];
        }
        a->next = (a->next + 1) % a->memory;
        if (a->count < a->memory) a->count++;
    }
    memcpy(a->last_step, a->step, bytes);
    memcpy(a->last_image, image, bytes);
    a->has_last = true;
    if (a->count == 0 || n == 0) return;

    // The shares of the differences, the newest first, whose sum is nearest to the step: Q R = differences;
    // those that the newer ones make up for get none.
    double R[MAX_MEMORY][MAX_MEMORY], right[MAX_MEMORY], share[MAX_MEMORY], step = length(a->size, a->step);
    int rank = 0, who[MAX_MEMORY];
    for (int k = 0; k < a->count; k++) {
        int from = (a->next + a->memory - 1 - k) % a->memory;
        double *q = a->columns + (size_t)rank * n;
        memcpy(q, a->steps + (size_t)from * n, bytes);
        share[from] = 0.0;
        double before = length(a->size, q);
        orthogonalize(a->size, rank, a->columns, q, R[rank]);
        double size = length(a->size, q);
        if (!(size > independent * before)) continue;
        for (size_t i = 0; i < n; i++) q[i] /= size;
        R[rank][rank] = size;
        who[rank++] = from;
    }
    orthogonalize(a->size, rank, a->columns, a->step, right);
    for (int k = rank - 1; k >= 0; k--) {
        for (int j = k + 1; j < rank; j++) right[k] -= R[j][k] * right[j];
        share[who[k]] = right[k] /= R[k][k];
    }

    // Steps that are all the same, as where there is no fixed point, differ by rounding, and what follows
    // from that is nowhere.
    double sum = 0.0;
    ss_dense_apply(a->count, a->size, -1.0, a->images, SS_TRANSPOSED, share, 1.0, image);
    for (size_t i = 0; i < n; i++) sum += (image[i] - a->last_image[i]) * (image[i] - a->last_image[i]);
    if (sqrt(sum) <= far * step) return;
    memcpy(image, a->last_image, bytes);
    ss_anderson_forget(a);
}

/* ---- for maps with corners -------------------------------------------------------------------------- */

bool ss_safeguarded_anderson_create(int size, int memory, ss_arena *arena, ss_safeguarded_anderson *m)
{
    *m = (ss_safeguarded_anderson){.size = size, .shortest = INFINITY, .first = INFINITY};
    if (memory <= 0) return true;
    m->plain = ss_arena_take_unset(arena, (size_t)size, sizeof *m->plain, "mixing");
    m->anderson = ss_anderson_create(size, memory, arena);
    return m->plain && m->anderson;
}

void ss_safeguarded_anderson_forget(ss_safeguarded_anderson *m)
{
    if (m->anderson) ss_anderson_forget(m->anderson);
    m->shortest = m->first = INFINITY;
    m->tired = 0;
}

void ss_safeguarded_anderson_next(ss_safeguarded_anderson *m, const double *y, double *image)
{
    static const double clearly = 0.9, worth_it = 0.5,
                        astray = 2.0; // astray: a step so much longer than the shortest
    enum { PATIENCE = 8, LONGEST = 64 };
    size_t bytes = (size_t)m->size * sizeof *image;
    if (!m->anderson) return;
    double square = 0.0;
    for (int i = 0; i < m->size; i++) square += (image[i] - y[i]) * (image[i] - y[i]);
    double length = sqrt(square), before = m->shortest;

    // Plain steps after mixing led nowhere; the last one is where it begins again.
    if (m->waiting > 0) {
        if (--m->waiting > 0) return;
        ss_anderson_forget(m->anderson);
        memcpy(m->plain, image, bytes);
        m->shortest = m->first = length;
        m->tired = 0;
        return;
    }

    // It goes well: on from the extrapolation.
    m->tired = length < clearly * m->shortest ? 0 : m->tired + 1;
    if (m->tired == 0) m->shortest = length;
    if (isinf(m->first)) m->first = length;
    if (m->tired <= PATIENCE && length <= astray * m->shortest) {
        memcpy(m->plain, image, bytes);
        ss_anderson_next(m->anderson, y, image);
        return;
    }

    // It does not: plain steps, the more the less the mixing has brought; one that went astray is taken back.
    if (m->shortest < worth_it * m->first) m->wait /= 2;
    m->wait = m->wait < LONGEST ? 2 * m->wait + 1 : LONGEST;
    m->waiting = m->wait;
    if (length > astray * before) memcpy(image, m->plain, bytes);
}
