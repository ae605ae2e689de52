/* solver/sweep/coloured_lanes.h - part of coloured_kernel.h: a number of every lane in a register, from and
 * to the bodies. */
#include "solver/sweep/coloured.h"

#include <math.h>
#include <string.h>

/* All functions that hand registers to each other are inlined: there is no ABI to keep. */
#pragma GCC diagnostic ignored "-Wpsabi"

#define INLINE KERNEL static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 12")
#endif

/* Numbers of a register, and what batches are made of. */
#ifdef KERNEL_SINGLE
typedef float number;
typedef int32_t whole;
typedef ss_single_batch kernel_batch;
typedef ss_single_batches kernel_batches;
typedef ss_single_twist kernel_twist;
enum { LANES = SS_SINGLE_LANES };
#define KERNEL_LEAST SS_SINGLE_LEAST
/* Numbers that fade away, such as directions of bodies at rest, soon become so small that the machine takes
 * long over them: they are zero instead. Other machines keep them, which changes what lies below 1e-38. */
#ifdef __x86_64__
#define KERNEL_FLUSH                    \
    const unsigned mode = _mm_getcsr(); \
    _mm_setcsr(mode | 0x8040)
#define KERNEL_UNFLUSH _mm_setcsr(mode)
#else
#define KERNEL_FLUSH (void)0
#define KERNEL_UNFLUSH (void)0
#endif
#else
typedef double number;
typedef int64_t whole;
typedef ss_batch kernel_batch;
typedef ss_batches kernel_batches;
typedef ss_scaled_twist kernel_twist;
enum { LANES = SS_LANES };
#define KERNEL_LEAST 0.0
#define KERNEL_FLUSH (void)0
#define KERNEL_UNFLUSH (void)0
#endif
typedef number vec __attribute__((vector_size(sizeof(number) * KERNEL_WIDTH)));
typedef whole mask __attribute__((vector_size(sizeof(number) * KERNEL_WIDTH)));

enum { HALVES = LANES / KERNEL_WIDTH }; // registers for a field of a batch, which are visited together

INLINE vec load(const number *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store(number *to, vec v)
{
    memcpy(to, &v, sizeof v);
}

/* The lanes of a field of a batch that are at hand. */
#define GET(field) load((field) + at)
#define PUT(field, value) store((field) + at, value)

INLINE vec choose(mask which, vec yes, vec no)
{
    return (vec)((which & (mask)yes) | (~which & (mask)no));
}

INLINE vec where(mask which, vec yes)
{
    return (vec)(which & (mask)yes);
}

INLINE vec dot(const vec a[3], const vec b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

#ifdef KERNEL_SINGLE
#include "solver/sweep/coloured_quads.h"
#else
#include "solver/sweep/coloured_pairs.h"
#endif

/* ---- velocities and impulses of a batch ------------------------------------------------------------- */

/* w = J v + C r + b */
INLINE void velocity_of(const kernel_batches *batches, int k, int at, vec twist[2][6], vec w[3])
{
    const kernel_batch *batch = &batches->items[k];
    vec relative[3];
    UNROLL for (int c = 0; c < 3; c++) relative[c] =
        GET(batch->root[1]) * twist[1][c] - GET(batch->root[0]) * twist[0][c];
    UNROLL for (int i = 0; i < 3; i++)
    {
        vec row[3][3];
        UNROLL for (int c = 0; c < 3; c++)
        {
            row[0][c] = GET(batch->direction[i][c]);
            row[1][c] = GET(batch->turn[0][i][c]);
            row[2][c] = GET(batch->turn[1][i][c]);
        }
        w[i] = (GET(batch->load[i]) + dot(row[0], relative)) +
               (dot(row[1], twist[0] + 3) + dot(row[2], twist[1] + 3));
    }
    if (!batches->compliance) return;
    UNROLL for (int i = 0; i < 3; i++) w[i] += GET(batches->compliance[k][i]) * GET(batches->r[k][i]);
}

/* Impulses in the unit of a batch. */
#ifdef KERNEL_SINGLE
#define IMPULSE(value) ((value)*GET(batch->unit))
#else
#define IMPULSE(value) (value)
#endif

INLINE void add_impulse(const kernel_batch *batch, int at, const vec change[3], vec twist[2][6])
{
    vec r[3] = {IMPULSE(change[0]), IMPULSE(change[1]), IMPULSE(change[2])};
    UNROLL for (int c = 0; c < 3; c++)
    {
        vec push = GET(batch->direction[0][c]) * r[0] + GET(batch->direction[1][c]) * r[1] +
                   GET(batch->direction[2][c]) * r[2];
        twist[0][c] -= GET(batch->root[0]) * push;
        twist[1][c] += GET(batch->root[1]) * push;
        UNROLL for (int side = 0; side < 2; side++)
        {
            twist[side][3 + c] += GET(batch->turn[side][0][c]) * r[0] + GET(batch->turn[side][1][c]) * r[1] +
                                  GET(batch->turn[side][2][c]) * r[2];
        }
    }
}
