/* solver/sweep/coloured_kernel.h - the inner loops of `coloured`, included once per machine and precision
 * with
 *
 *     #define KERNEL_NAME avx2                       the object is ss_batch_kernel_avx2
 *     #define KERNEL_WIDTH 4                         lanes in a register: a batch is done in one go or in two
 *     #define KERNEL __attribute__((target("avx2"))) of every function
 *     #define KERNEL_ROOT(v)                         square roots
 *     #define KERNEL_ANY(mask)                       is any lane set?
 *     #define KERNEL_SINGLE                          if wanted: floats in batches of eight
 *
 * in more parts: registers (coloured_lanes.h), from and to the bodies (coloured_pairs.h, coloured_quads.h),
 * the local problems (coloured_contact.h), and making batches (coloured_fill.h).
 *
 * Lanes do not meet, and every machine does the same operations in the same order: the results have
 * the same bits.
 */
#include "solver/sweep/coloured_lanes.h"

#include "solver/sweep/coloured_contact.h"
#ifndef KERNEL_SINGLE
#include "solver/sweep/coloured_fill.h"
#endif

/* ---- batches ---------------------------------------------------------------------------------------- */

INLINE vec end_visit(kernel_twist *y, visit *v)
{
    const kernel_batch *batch = v->batch;
    int at = v->at;
    vec change[3];
    UNROLL for (int i = 0; i < 3; i++)
    {
        change[i] = v->r[i] - v->last[i];
        PUT(v->impulse[i], v->r[i]);
    }
    add_impulse(batch, at, change, v->twist);
    write_twists(batch, at, y, v->twist);
    return (GET(batch->tangent[0]) + GET(batch->tangent[2])) * IMPULSE(dot(change, change));
}

/* What comes soon, which the machine does not expect because it lies in other pages. */
INLINE void ask_for_batch(const kernel_batches *batches, int k)
{
    enum { LINE = 64 };
    const char *batch = (const char *)&batches->items[k];
    for (size_t i = 0; i < sizeof(kernel_batch); i += LINE) __builtin_prefetch(batch + i);
}

INLINE void begin_visits(const kernel_batches *batches, int k, bool backward, visit v[HALVES])
{
    enum { AHEAD = 3 };
    int soon = backward ? k - AHEAD : k + AHEAD;
    if (batches->is_long && soon >= 0 && soon < batches->count) ask_for_batch(batches, soon);
    UNROLL for (int g = 0; g < HALVES; g++) begin_visit(batches, k, KERNEL_WIDTH * g, &v[g]);
}

INLINE void solve_batch(const kernel_batches *batches, visit v[HALVES])
{
    mask slips[HALVES];
    UNROLL for (int g = 0; g < HALVES; g++)
    {
        stick(&v[g]);
        slips[g] = v[g].slips;
    }
    if (KERNEL_ANY(any_of(slips))) slide((number)batches->slip_tolerance, v);
}

#ifndef KERNEL_SINGLE
INLINE void project_batch(const kernel_batches *batches, visit v[HALVES])
{
    (void)batches;
    UNROLL for (int g = 0; g < HALVES; g++) project(&v[g]);
}
#endif

/* In an order that does not depend on the width. */
INLINE double sum_of(const vec sum[HALVES])
{
    number lanes[LANES];
    double pairs[LANES / 2], all = 0.0;
    memcpy(lanes, sum, sizeof lanes);
    UNROLL for (int k = 0; k < LANES / 2; k++) pairs[k] = (double)lanes[2 * k] + lanes[2 * k + 1];
    UNROLL for (int k = 0; k < LANES / 2; k++) all = k ? all + pairs[k] : pairs[k];
    return all;
}

#define SWEEP(solve)                                                                    \
    vec sum[HALVES] = {{0}};                                                            \
    for (int i = 0; i < end - begin; i++) {                                             \
        visit v[HALVES];                                                                \
        begin_visits(batches, backward ? end - 1 - i : begin + i, backward, v);         \
        solve(batches, v);                                                              \
        UNROLL for (int g = 0; g < HALVES; g++) sum[g] += end_visit(batches->y, &v[g]); \
    }                                                                                   \
    return 0.25 * sum_of(sum)

INLINE double sweep_exactly(kernel_batches *batches, int begin, int end, bool backward)
{
    SWEEP(solve_batch);
}

KERNEL static double sweep(kernel_batches *batches, int begin, int end, bool backward)
{
    KERNEL_FLUSH;
    double sum = sweep_exactly(batches, begin, end, backward);
    KERNEL_UNFLUSH;
    return sum;
}

#ifndef KERNEL_SINGLE
KERNEL static double sweep_projected(kernel_batches *batches, int begin, int end, bool backward)
{
    SWEEP(project_batch);
}
#endif

KERNEL static void push(kernel_batches *batches, int begin, int end)
{
    for (int k = begin; k < end; k++) {
        for (int at = 0; at < LANES; at += KERNEL_WIDTH) {
            vec twist[2][6], r[3];
            UNROLL for (int i = 0; i < 3; i++) r[i] = GET(batches->r[k][i]);
            read_twists(&batches->items[k], at, batches->y, twist);
            add_impulse(&batches->items[k], at, r, twist);
            write_twists(&batches->items[k], at, batches->y, twist);
        }
    }
}

#ifndef KERNEL_SINGLE
KERNEL static void velocities(const kernel_batches *batches, int k, double velocity[3][LANES])
{
    for (int at = 0; at < LANES; at += KERNEL_WIDTH) {
        vec twist[2][6], w[3];
        read_twists(&batches->items[k], at, batches->y, twist);
        velocity_of(batches, k, at, twist, w);
        UNROLL for (int i = 0; i < 3; i++) PUT(velocity[i], w[i]);
    }
}
#endif

/* ---- directions, for acceleration ------------------------------------------------------------------- */

KERNEL static double overlap(size_t count, const number *point, const number *last, const number *direction)
{
    vec sum[HALVES] = {{0}};
    KERNEL_FLUSH;
    for (size_t i = 0; i < count; i += LANES) {
        UNROLL for (size_t at = 0; at < LANES; at += KERNEL_WIDTH) sum[at / KERNEL_WIDTH] +=
            (GET(point + i) - GET(last + i)) * GET(direction + i);
    }
    double all = sum_of(sum);
    KERNEL_UNFLUSH;
    return all;
}

INLINE void extrapolate_all(number beta, size_t count, number *point, number *last, number *direction)
{
    size_t at = 0;
    for (; at + KERNEL_WIDTH <= count; at += KERNEL_WIDTH) {
        vec here = GET(point), step = beta * GET(direction), next = here + step;
        PUT(direction, step + (here - GET(last)));
        PUT(point, next);
        PUT(last, next);
    }
    for (; at < count; at++) {
        number step = beta * direction[at];
        direction[at] = step + (point[at] - last[at]);
        last[at] = point[at] += step;
    }
}

/* With single precision a double stands for two floats: conjugate.h knows no others. */
KERNEL static void extrapolate(double beta, size_t count, double *point, double *last, double *direction)
{
    enum { PER_DOUBLE = sizeof(double) / sizeof(number) };
    KERNEL_FLUSH;
    extrapolate_all((number)beta, PER_DOUBLE * count, (number *)point, (number *)last, (number *)direction);
    KERNEL_UNFLUSH;
}

#define KERNEL_JOIN(a, b) a##b
#ifdef KERNEL_SINGLE
#define KERNEL_OBJECT(name) KERNEL_JOIN(ss_single_kernel_, name)
const ss_single_kernel KERNEL_OBJECT(KERNEL_NAME) = {push, sweep, overlap, extrapolate};
#else
#define KERNEL_OBJECT(name) KERNEL_JOIN(ss_batch_kernel_, name)
const ss_batch_kernel KERNEL_OBJECT(KERNEL_NAME) = {fill,       push,    sweep,      sweep_projected,
                                                    velocities, overlap, extrapolate};
#endif
