#include "solver/local/disc.h"

#include <math.h>

#include "base/memory.h"

/* (B + lambda) y = -c; false when that is singular. */
static bool balance(const double B[4], double lambda, const double c[2], double y[2])
{
    double a = B[0] + lambda, d = B[3] + lambda, determinant = a * d - B[1] * B[2];
    if (!(determinant > 1e-14 * a * d)) return false;
    y[0] = (B[1] * c[1] - d * c[0]) / determinant;
    y[1] = (B[2] * c[0] - a * c[1]) / determinant;
    return true;
}

/* Newton's method on 1 / |y(lambda)|, which is nearly straight: from the left it never goes too far. */
void ss_disc_solve(const double B[4], const double c[2], double radius, double y[2])
{
    enum { STEPS = 50 };
    static const double exact = 1e-15;
    double load = hypot(c[0], c[1]);
    if (balance(B, 0.0, c, y) && hypot(y[0], y[1]) <= radius) return;
    if (!(radius > 0.0) || !(load > 0.0)) {
        y[0] = y[1] = 0.0;
        return;
    }
    double lambda = fmax(load / radius - (fabs(B[0]) + fabs(B[1]) + fabs(B[2]) + fabs(B[3])), 0.0);
    double length = radius;
    for (int k = 0; k < STEPS; k++) {
        double minus[2], slope[2];
        if (!balance(B, lambda, c, y)) { // flat in one direction
            lambda = fmax(2.0 * lambda, 1e-3 * load / radius);
            continue;
        }
        length = hypot(y[0], y[1]);
        minus[0] = -y[0], minus[1] = -y[1];
        balance(B, lambda, minus, slope);
        double along = y[0] * slope[0] + y[1] * slope[1];
        if (!(along > 0.0)) break;
        double change = (length / radius - 1.0) * length * length / along;
        double next = fmax(lambda + change, 0.0);
        if (fabs(next - lambda) <= exact * (lambda + load / radius)) break;
        lambda = next;
    }
    if (!(length > 0.0)) return;
    y[0] *= radius / length;
    y[1] *= radius / length;
}

/* ---- steps of a sweep ------------------------------------------------------------------------------- */

typedef struct tangents {
    const ss_block *block;
    const double *A; // of the contact
} tangents;

/* One disc: components `at` and, but in the plane, the next; `q` is the load of all other contacts. */
static void step_disc(const tangents *of, int at, const double *q, double *r)
{
    int size = of->block->size, count = size == 2 ? 1 : 2;
    double radius = ss_friction_of(of->block, at) * r[0], B[4] = {1.0, 0.0, 0.0, 1.0}, c[2] = {0}, y[2];
    for (int i = 0; i < count; i++) {
        c[i] = q[at + i];
        for (int j = 0; j < size; j++) {
            double a = of->A[size * (at + i) + j];
            if (j >= at && j < at + count)
                B[2 * i + j - at] = a;
            else
                c[i] += a * r[j];
        }
    }
    ss_disc_solve(B, c, radius, y);
    for (int i = 0; i < count; i++) r[at + i] = y[i];
}

static void step_tangents(void *data, const double *q, double *r)
{
    const tangents *of = data;
    for (int at = 1; at < of->block->size; at += 2) {
        if (!isinf(ss_friction_of(of->block, at))) step_disc(of, at, q, r);
    }
}

bool ss_tangents_step_set(const ss_block *block, ss_cell *cell, ss_arena *arena)
{
    tangents *of = ss_arena_take_unset(arena, 1, sizeof *of, "tangents");
    if (!of) return false;
    *of = (tangents){block, cell->own};
    cell->step = step_tangents;
    cell->data = of;
    return true;
}
