#include "solver/anderson.h"

#include <string.h>

#include "linalg/dense.h"

enum { MAX_MEMORY = 16 };

struct ss_anderson {
    ss_arena *arena;
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
    *a = (ss_anderson){.arena = arena, .size = size, .memory = memory < MAX_MEMORY ? memory : MAX_MEMORY};
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

static void remember(ss_anderson *a, const double *image)
{
    size_t n = (size_t)a->size, at = (size_t)a->next * n;
    for (size_t i = 0; i < n && a->has_last; i++) {
        a->steps[at + i] = a->step[i] - a->last_step[i];
        a->images[at + i] = image[i] - a->last_image[i];
    }
    if (a->has_last) {
        a->next = (a->next + 1) % a->memory;
        if (a->count < a->memory) a->count++;
    }
    memcpy(a->last_step, a->step, n * sizeof *a->step);
    memcpy(a->last_image, image, n * sizeof *image);
    a->has_last = true;
}

void ss_anderson_next(ss_anderson *a, const double *x, double *image)
{
    static const double independent = 1e-10; // singular values of the differences below that tell nothing
    int n = a->size, m;
    for (int i = 0; i < n; i++) a->step[i] = image[i] - x[i];
    remember(a, image);
    m = a->count;
    if (m == 0 || n == 0) return;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < m; k++) a->columns[i * m + k] = a->steps[(size_t)k * (size_t)n + (size_t)i];
    }
    double share[MAX_MEMORY];
    if (ss_dense_least_squares(n, m, a->columns, a->step, independent, share, NULL, a->arena) != SS_LINALG_OK)
        return;
    ss_dense_apply(m, n, -1.0, a->images, SS_TRANSPOSED, share, 1.0, image);
}
