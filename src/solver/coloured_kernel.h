/* solver/coloured_kernel.h - the inner loops of `coloured`, included once per machine with
 *
 *     #define KERNEL_NAME avx2                       the object is ss_batch_kernel_avx2
 *     #define KERNEL_WIDTH 4                         lanes in a register: a batch is done in one go or in two
 *     #define KERNEL __attribute__((target("avx2"))) of every function
 *     #define KERNEL_ROOT(v)                         square roots
 *     #define KERNEL_ANY(mask)                       is any lane set?
 *
 * Lanes do not meet, and every machine does the same operations in the same order: the results have the same bits.
 *
 * One contact under Coulomb's law, everything else held fixed (local_slip.c has the derivation):
 *
 *     n0 = r_N + n.r_T - w_N / A_NN      the normal impulse that would do without friction; open if n0 <= 0
 *     r_T(s) = r_T - (A~ + s I)^-1 (w~ + s r_T),   w~ = w_T - n w_N,   n = A_TN / A_NN,   stick: s = 0
 *     slip: the root s > 0 of |r_T(s)| = mu r_N(s), by Newton's method from the root of the last visit
 *
 * The last step of Newton's method starts within slip_tolerance of the root and squares that; the next visit goes on
 * from there, so that the sweeps converge to the exact root. What is left of the error is in the direction of slip
 * only: the impulse lies on the cone and satisfies the normal equation.
 */
#include "solver/coloured.h"

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

typedef double vec __attribute__((vector_size(8 * KERNEL_WIDTH)));
typedef int64_t mask __attribute__((vector_size(8 * KERNEL_WIDTH)));
typedef double pair __attribute__((vector_size(16)));

INLINE vec load(const double *from)
{
    vec v;
    memcpy(&v, from, sizeof v);
    return v;
}

INLINE void store(double *to, vec v)
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

/* ---- from and to the bodies ------------------------------------------------------------------------- */

INLINE pair load_pair(const double *from)
{
    pair two;
    memcpy(&two, from, sizeof two);
    return two;
}

/* Two neighbouring numbers of every lane's row, as two registers. */
#if KERNEL_WIDTH == 4
INLINE void gather_pair(const double *const row[], vec out[2])
{
    vec even = __builtin_shufflevector(load_pair(row[0]), load_pair(row[2]), 0, 1, 2, 3);
    vec odd = __builtin_shufflevector(load_pair(row[1]), load_pair(row[3]), 0, 1, 2, 3);
    out[0] = __builtin_shufflevector(even, odd, 0, 4, 2, 6);
    out[1] = __builtin_shufflevector(even, odd, 1, 5, 3, 7);
}

INLINE void scatter_pair(double *const row[], const vec in[2])
{
    vec even = __builtin_shufflevector(in[0], in[1], 0, 4, 2, 6);
    vec odd = __builtin_shufflevector(in[0], in[1], 1, 5, 3, 7);
    _mm_storeu_pd(row[0], _mm256_castpd256_pd128((__m256d)even));
    _mm_storeu_pd(row[1], _mm256_castpd256_pd128((__m256d)odd));
    _mm_storeu_pd(row[2], _mm256_extractf128_pd((__m256d)even, 1));
    _mm_storeu_pd(row[3], _mm256_extractf128_pd((__m256d)odd, 1));
}
#else
INLINE void gather_pair(const double *const row[], vec out[2])
{
    pair first = load_pair(row[0]), second = load_pair(row[1]);
    out[0] = __builtin_shufflevector(first, second, 0, 2);
    out[1] = __builtin_shufflevector(first, second, 1, 3);
}

INLINE void scatter_pair(double *const row[], const vec in[2])
{
    pair two[2] = {__builtin_shufflevector(in[0], in[1], 0, 2), __builtin_shufflevector(in[0], in[1], 1, 3)};
    memcpy(row[0], &two[0], sizeof(pair));
    memcpy(row[1], &two[1], sizeof(pair));
}
#endif

INLINE void gather(const double *const row[], int count, vec *out)
{
    UNROLL for (int k = 0; k < count; k += 2)
    {
        const double *part[KERNEL_WIDTH];
        UNROLL for (int lane = 0; lane < KERNEL_WIDTH; lane++) part[lane] = row[lane] + k;
        gather_pair(part, out + k);
    }
}

INLINE void read_twists(const ss_batch *batch, int at, ss_scaled_twist *y, vec twist[2][6])
{
    UNROLL for (int side = 0; side < 2; side++)
    {
        const double *row[KERNEL_WIDTH];
        UNROLL for (int lane = 0; lane < KERNEL_WIDTH; lane++) row[lane] = y[batch->from[side][at + lane]];
        gather(row, 6, twist[side]);
    }
}

INLINE void write_twists(const ss_batch *batch, int at, ss_scaled_twist *y, vec twist[2][6])
{
    UNROLL for (int side = 0; side < 2; side++)
    {
        UNROLL for (int k = 0; k < 6; k += 2)
        {
            double *row[KERNEL_WIDTH];
            UNROLL for (int lane = 0; lane < KERNEL_WIDTH; lane++) row[lane] =
                y[batch->to[side][at + lane]] + k;
            scatter_pair(row, twist[side] + k);
        }
    }
}

/* ---- velocities and impulses of a batch ------------------------------------------------------------- */

/* w = J v + C r + b */
INLINE void velocity_of(const ss_batches *batches, int k, int at, vec twist[2][6], vec w[3])
{
    const ss_batch *batch = &batches->items[k];
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

INLINE void add_impulse(const ss_batch *batch, int at, const vec r[3], vec twist[2][6])
{
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

/* ---- one contact per lane --------------------------------------------------------------------------- */

/* g(s) = mu d r_N and |z + s c| = d |r_T|, with d = det(A~ + s I), meet where the contact slips. */
typedef struct slip_curve {
    vec c[2], z[2];         // q~, adj(A~) q~
    vec load, base, rate;   // g = load d + base + s rate
    vec determinant, trace; // of A~
} slip_curve;

/* One step of Newton's method in the lanes asked for, kept in s > 0; returns those that were far off before it. What
 * a lane does must not depend on its neighbours, of which other machines have others. */
INLINE mask improve(const slip_curve *of, double tolerance, mask which, vec *s)
{
    vec z0 = of->z[0] + *s * of->c[0], z1 = of->z[1] + *s * of->c[1], square = z0 * z0 + z1 * z1;
    vec length = KERNEL_ROOT(square), determinant = of->determinant + *s * (of->trace + *s);
    vec g = of->load * determinant + of->base + *s * of->rate, excess = g - length;
    vec slope = (of->load * (of->trace + 2.0 * *s) + of->rate) * square - g * (z0 * of->c[0] + z1 * of->c[1]);
    vec next = *s - excess * square / slope, little = tolerance * length;
    mask good = (next > 0.0) & (slope > 0.0) & (g > 0.0), low = (excess < 0.0) | ~(g > 0.0);
    *s = choose(which, choose(good, next, choose(low, 4.0 * *s, 0.25 * *s)), *s);
    return which & (~good | (excess > little) | (excess < -little));
}

INLINE void slide(ss_batch *batch, int at, double tolerance, mask slips, vec n0, const vec drift[2],
                  const vec last[3], vec r[3])
{
    enum { MOST_STEPS = 30 };
    vec A[3] = {GET(batch->tangent[0]), GET(batch->tangent[1]), GET(batch->tangent[2])}, mu = GET(batch->mu);
    vec skew[2] = {GET(batch->skew[0]), GET(batch->skew[1])};
    slip_curve of = {.load = mu * n0, .determinant = A[0] * A[2] - A[1] * A[1], .trace = A[0] + A[2]};
    of.c[0] = drift[0] - (A[0] * last[1] + A[1] * last[2]);
    of.c[1] = drift[1] - (A[1] * last[1] + A[2] * last[2]);
    of.z[0] = A[2] * of.c[0] - A[1] * of.c[1];
    of.z[1] = A[0] * of.c[1] - A[1] * of.c[0];
    of.base = mu * (skew[0] * of.z[0] + skew[1] * of.z[1]);
    of.rate = mu * (skew[0] * of.c[0] + skew[1] * of.c[1]);
    vec s = GET(batch->slip);
    mask far = slips;
    for (int step = 0; step < MOST_STEPS && KERNEL_ANY(far); step++) far = improve(&of, tolerance, far, &s);
    vec z0 = of.z[0] + s * of.c[0], z1 = of.z[1] + s * of.c[1];
    vec length = KERNEL_ROOT(z0 * z0 + z1 * z1);
    vec scale = n0 / (length - mu * (skew[0] * z0 + skew[1] * z1)); // positive: fill() saw to it
    vec friction = -mu * scale;
    PUT(batch->slip, s);
    r[0] = choose(slips, scale * length, r[0]);
    r[1] = choose(slips, friction * z0, r[1]);
    r[2] = choose(slips, friction * z1, r[2]);
}

INLINE void solve_contacts(ss_batch *batch, int at, double tolerance, const vec w[3], const vec last[3],
                           vec r[3])
{
    vec skew[2] = {GET(batch->skew[0]), GET(batch->skew[1])}, inverse = GET(batch->inverse);
    vec n0 = (last[0] + (skew[0] * last[1] + skew[1] * last[2])) - w[0] * GET(batch->normal);
    vec drift[2] = {w[1] - skew[0] * w[0], w[2] - skew[1] * w[0]};
    vec t0 = last[1] - (GET(batch->tangent[2]) * drift[0] - GET(batch->tangent[1]) * drift[1]) * inverse;
    vec t1 = last[2] - (GET(batch->tangent[0]) * drift[1] - GET(batch->tangent[1]) * drift[0]) * inverse;
    vec n = n0 - (skew[0] * t0 + skew[1] * t1), limit = GET(batch->mu) * n;
    mask closed = n0 > 0.0, sticks = (n >= 0.0) & (t0 * t0 + t1 * t1 <= limit * limit);
    mask slips = closed & ~sticks;
    r[0] = where(closed, n);
    r[1] = where(closed, t0);
    r[2] = where(closed, t1);
    if (KERNEL_ANY(slips)) slide(batch, at, tolerance, slips, n0, drift, last, r);
}

/* ---- batches ---------------------------------------------------------------------------------------- */

INLINE vec sweep_batch(ss_batches *batches, int k, int at)
{
    ss_batch *batch = &batches->items[k];
    vec twist[2][6], w[3], last[3], r[3], change[3];
    read_twists(batch, at, batches->y, twist);
    velocity_of(batches, k, at, twist, w);
    UNROLL for (int i = 0; i < 3; i++) last[i] = GET(batches->r[k][i]);
    solve_contacts(batch, at, batches->slip_tolerance, w, last, r);
    UNROLL for (int i = 0; i < 3; i++)
    {
        change[i] = r[i] - last[i];
        PUT(batches->r[k][i], r[i]);
    }
    add_impulse(batch, at, change, twist);
    write_twists(batch, at, batches->y, twist);
    return (GET(batch->tangent[0]) + GET(batch->tangent[2])) * dot(change, change);
}

KERNEL static double sweep(ss_batches *batches, int begin, int end, bool backward)
{
    vec sum[SS_LANES / KERNEL_WIDTH] = {{0}};
    for (int i = 0; i < end - begin; i++) {
        int k = backward ? end - 1 - i : begin + i;
        UNROLL for (int at = 0; at < SS_LANES; at += KERNEL_WIDTH) sum[at / KERNEL_WIDTH] +=
            sweep_batch(batches, k, at);
    }
    double lanes[SS_LANES];
    memcpy(lanes, sum, sizeof lanes);
    return 0.25 * ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3]));
}

KERNEL static void push(ss_batches *batches, int begin, int end)
{
    for (int k = begin; k < end; k++) {
        for (int at = 0; at < SS_LANES; at += KERNEL_WIDTH) {
            vec twist[2][6], r[3];
            UNROLL for (int i = 0; i < 3; i++) r[i] = GET(batches->r[k][i]);
            read_twists(&batches->items[k], at, batches->y, twist);
            add_impulse(&batches->items[k], at, r, twist);
            write_twists(&batches->items[k], at, batches->y, twist);
        }
    }
}

KERNEL static void velocities(const ss_batches *batches, int k, double velocity[3][SS_LANES])
{
    for (int at = 0; at < SS_LANES; at += KERNEL_WIDTH) {
        vec twist[2][6], w[3];
        read_twists(&batches->items[k], at, batches->y, twist);
        velocity_of(batches, k, at, twist, w);
        UNROLL for (int i = 0; i < 3; i++) PUT(velocity[i], w[i]);
    }
}

/* ---- filling ---------------------------------------------------------------------------------------- */

/* j L for the angular part j of a row */
INLINE void scale_turn(const vec *L, const vec j[3], vec scaled[3])
{
    scaled[0] = j[0] * L[0] + j[1] * L[1] + j[2] * L[3];
    scaled[1] = j[1] * L[2] + j[2] * L[4];
    scaled[2] = j[2] * L[5];
}

/* The rows of the lanes, row by row; returns the lanes whose bodies are not pushed by opposite impulses. */
INLINE mask fill_rows(const ss_batch_source *from, int at, ss_batch *batch)
{
    vec root[2][8];
    mask odd = {0};
    gather(from->root[0] + at, 8, root[0]);
    gather(from->root[1] + at, 8, root[1]);
    PUT(batch->root[0], root[0][0]);
    PUT(batch->root[1], root[1][0]);
    mask both = (root[0][0] > 0.0) & (root[1][0] > 0.0), second = root[1][0] > 0.0;
    for (int i = 0; i < 3; i++) {
        const double *row[KERNEL_WIDTH];
        vec j[12], scaled[3];
        UNROLL for (int lane = 0; lane < KERNEL_WIDTH; lane++) row[lane] = from->row[at + lane] + 12 * i;
        gather(row, 12, j);
        UNROLL for (int c = 0; c < 3; c++)
        {
            odd |= both & (j[c] != -j[6 + c]);
            PUT(batch->direction[i][c], choose(second, j[6 + c], -j[c]));
        }
        UNROLL for (int side = 0; side < 2; side++)
        {
            scale_turn(root[side] + 1, j + 6 * side + 3, scaled);
            UNROLL for (int c = 0; c < 3; c++) PUT(batch->turn[side][i][c], scaled[c]);
        }
    }
    return odd;
}

/* A_ij without compliance */
INLINE vec couple(const ss_batch *batch, int at, int i, int j)
{
    vec root[2] = {GET(batch->root[0]), GET(batch->root[1])}, straight = {0}, turned = {0};
    UNROLL for (int c = 0; c < 3; c++)
    {
        straight += GET(batch->direction[i][c]) * GET(batch->direction[j][c]);
        turned += GET(batch->turn[0][i][c]) * GET(batch->turn[0][j][c]) +
                  GET(batch->turn[1][i][c]) * GET(batch->turn[1][j][c]);
    }
    return (root[0] * root[0] + root[1] * root[1]) * straight + turned;
}

/* Without friction tangents stay what they are: zero. Returns the lanes where the solution above could fail: A_cc
 * nearly singular, or friction that acts on the normal row so strongly that 1 + mu n.t may vanish. */
INLINE mask fill_own(const vec compliance[3], int at, ss_batch *batch)
{
    static const double singular = 1e-6, steep = 0.9;
    vec mu = GET(batch->mu);
    mask rough = mu >= SS_NO_FRICTION;
    vec nn = couple(batch, at, 0, 0) + compliance[0];
    mask usable = nn > 0.0;
    vec normal = where(usable, 1.0 / nn);
    vec skew0 = where(rough, couple(batch, at, 0, 1) * normal),
        skew1 = where(rough, couple(batch, at, 0, 2) * normal);
    vec A0 = choose(rough, couple(batch, at, 1, 1) + compliance[1] - skew0 * skew0 * nn, nn);
    vec A1 = where(rough, couple(batch, at, 1, 2) - skew0 * skew1 * nn);
    vec A2 = choose(rough, couple(batch, at, 2, 2) + compliance[2] - skew1 * skew1 * nn, nn);
    vec trace = A0 + A2, determinant = A0 * A2 - A1 * A1, lean = mu * mu * (skew0 * skew0 + skew1 * skew1);
    usable &= (determinant > singular * trace * trace) & (lean < steep * steep) & (mu < HUGE_VAL);
    PUT(batch->normal, normal);
    PUT(batch->skew[0], skew0);
    PUT(batch->skew[1], skew1);
    PUT(batch->tangent[0], A0);
    PUT(batch->tangent[1], A1);
    PUT(batch->tangent[2], A2);
    PUT(batch->inverse, where(usable & rough, 1.0 / determinant));
    PUT(batch->slip, 0.25 * trace);
    return ~usable;
}

KERNEL static unsigned fill(const ss_batch_source *from, ss_batch *batch)
{
    unsigned bits = 0;
    for (int at = 0; at < SS_LANES; at += KERNEL_WIDTH) {
        vec compliance[3];
        UNROLL for (int i = 0; i < 3; i++) compliance[i] = GET(from->compliance[i]);
        mask odd = fill_rows(from, at, batch);
        odd |= fill_own(compliance, at, batch);
        for (int lane = 0; lane < KERNEL_WIDTH; lane++) bits |= odd[lane] ? 1u << (at + lane) : 0;
    }
    return bits;
}

/* ---- directions, for acceleration ------------------------------------------------------------------- */

KERNEL static double overlap(size_t count, const double *point, const double *last, const double *direction)
{
    vec sum[SS_LANES / KERNEL_WIDTH] = {{0}};
    for (size_t i = 0; i < count; i += SS_LANES) {
        UNROLL for (size_t at = 0; at < SS_LANES; at += KERNEL_WIDTH) sum[at / KERNEL_WIDTH] +=
            (GET(point + i) - GET(last + i)) * GET(direction + i);
    }
    double lanes[SS_LANES];
    memcpy(lanes, sum, sizeof lanes);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

KERNEL static void extrapolate(double beta, size_t count, double *point, double *last, double *direction)
{
    size_t at = 0;
    for (; at + KERNEL_WIDTH <= count; at += KERNEL_WIDTH) {
        vec here = GET(point), step = beta * GET(direction), next = here + step;
        PUT(direction, step + (here - GET(last)));
        PUT(point, next);
        PUT(last, next);
    }
    for (; at < count; at++) {
        double step = beta * direction[at];
        direction[at] = step + (point[at] - last[at]);
        last[at] = point[at] += step;
    }
}

#define KERNEL_JOIN(a, b) a##b
#define KERNEL_OBJECT(name) KERNEL_JOIN(ss_batch_kernel_, name)
const ss_batch_kernel KERNEL_OBJECT(KERNEL_NAME) = {fill, push, sweep, velocities, overlap, extrapolate};
