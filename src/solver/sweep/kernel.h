/* solver/sweep/kernel.h - the inner loops of batches, included once per machine and precision with
 *
 *     #define KERNEL_NAME avx2                       the object is ss_batch_kernel_avx2
 *     #define KERNEL_WIDTH 4                         lanes in a register: a batch is done in one go or in two
 *     #define KERNEL __attribute__((target("avx2"))) of every function
 *     #define KERNEL_ROOT(v)                         square roots
 *     #define KERNEL_ANY(mask)                       is any lane set?
 *     #define KERNEL_SINGLE                          if wanted: floats in batches of eight
 *
 * Registers are in linalg/lanes.h, and how they come from and go to the bodies in lanes.h.
 *
 * Lanes do not meet, and every machine does the same operations in the same order: the results have
 * the same bits.
 */
#include "solver/sweep/lanes.h"

/* ---- the local problem ------------------------------------------------------------------------------ */

/* One contact per lane, under Coulomb's law, everything else held fixed (local_slip.c has the derivation):
 *
 *     n0 = r_N + n.r_T - w_N / A_NN      the normal impulse that would do without friction; open if n0 <= 0
 *     r_T(s) = r_T - (A~ + s I)^-1 (w~ + s r_T),   w~ = w_T - n w_N,   n = A_TN / A_NN,   stick: s = 0
 *     slip: the root s > 0 of |r_T(s)| = mu r_N(s), by Newton's method from the root of the last visit
 *
 * The last step of Newton's method starts within slip_tolerance of the root and squares that; the next visit
 * goes on from there, so that the sweeps converge to the exact root. What is left of the error is in the
 * direction of slip only: the impulse lies on the cone and satisfies the normal equation.
 */

/* g(s) = mu d r_N and |z + s c| = d |r_T|, with d = det(A~ + s I), meet where the contact slips. */
typedef struct slip_curve {
    vec c[2], z[2];         // q~, adj(A~) q~
    vec load, base, rate;   // g = load d + base + s rate
    vec determinant, trace; // of A~
} slip_curve;

/* One step of Newton's method in the lanes asked for, kept in s > 0; returns those that were far off before
 * it. What a lane does must not depend on its neighbours, of which other machines have others. */
INLINE mask improve(const slip_curve *of, number tolerance, mask which, vec *s)
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

/* From here to the next point, and the direction and the last point of the lanes for it (batches.h). */
INLINE vec extrapolated(number beta, size_t at, vec here, number *last, number *direction)
{
    vec step = beta * GET(direction), next = here + step;
    PUT(direction, step + (here - GET(last)));
    PUT(last, next);
    return next;
}

/* A contact per lane of one register, on its way through a visit. */
typedef struct visit {
    kernel_batch *batch;
    number (*impulse)[LANES];
    int at;
    vec twist[2][6], w[3], last[3], r[3];
    vec n0, drift[2];
    mask slips;
} visit;

/* The impulses, as the last visit left them or one step along the conjugate direction further on. */
INLINE void read_impulses(const kernel_batches *batches, bool moves, int k, int at, vec r[3])
{
    UNROLL for (int i = 0; i < 3; i++) r[i] = GET(batches->r[k][i]);
    if (!moves) return;
    UNROLL for (int i = 0; i < 3; i++)
    {
        number *last = batches->last[k][i], *direction = batches->direction[k][i];
        r[i] = extrapolated((number)batches->beta, at, r[i], last, direction);
    }
}

INLINE void begin_visit(const kernel_batches *batches, bool moves, int k, int at, visit *v)
{
    v->batch = &batches->items[k];
    v->impulse = batches->r[k];
    v->at = at;
    read_impulses(batches, moves, k, at, v->last);
    read_twists(v->batch, at, batches->y, v->twist);
    velocity_of(batches, k, at, v->twist, v->last, v->w);
}

/* Open or sticking, or else told in `slips`. */
INLINE void stick(visit *v)
{
    const kernel_batch *batch = v->batch;
    int at = v->at;
    const vec *w = v->w, *last = v->last;
    vec skew[2] = {GET(batch->skew[0]), GET(batch->skew[1])}, inverse = GET(batch->inverse);
    v->n0 = (last[0] + (skew[0] * last[1] + skew[1] * last[2])) - w[0] * GET(batch->normal);
    v->drift[0] = w[1] - skew[0] * w[0];
    v->drift[1] = w[2] - skew[1] * w[0];
    vec t0 =
        last[1] - (GET(batch->tangent[2]) * v->drift[0] - GET(batch->tangent[1]) * v->drift[1]) * inverse;
    vec t1 =
        last[2] - (GET(batch->tangent[0]) * v->drift[1] - GET(batch->tangent[1]) * v->drift[0]) * inverse;
    vec n = v->n0 - (skew[0] * t0 + skew[1] * t1), limit = GET(batch->mu) * n;
    mask closed = v->n0 > KERNEL_LEAST, sticks = (n >= 0.0) & (t0 * t0 + t1 * t1 <= limit * limit);
    v->slips = closed & ~sticks;
    v->r[0] = where(closed, n);
    v->r[1] = where(closed, t0);
    v->r[2] = where(closed, t1);
}

INLINE slip_curve curve_of(const visit *v)
{
    const kernel_batch *batch = v->batch;
    int at = v->at;
    vec A[3] = {GET(batch->tangent[0]), GET(batch->tangent[1]), GET(batch->tangent[2])}, mu = GET(batch->mu);
    vec skew[2] = {GET(batch->skew[0]), GET(batch->skew[1])};
    slip_curve of = {.load = mu * v->n0, .determinant = A[0] * A[2] - A[1] * A[1], .trace = A[0] + A[2]};
    of.c[0] = v->drift[0] - (A[0] * v->last[1] + A[1] * v->last[2]);
    of.c[1] = v->drift[1] - (A[1] * v->last[1] + A[2] * v->last[2]);
    of.z[0] = A[2] * of.c[0] - A[1] * of.c[1];
    of.z[1] = A[0] * of.c[1] - A[1] * of.c[0];
    of.base = mu * (skew[0] * of.z[0] + skew[1] * of.z[1]);
    of.rate = mu * (skew[0] * of.c[0] + skew[1] * of.c[1]);
    return of;
}

INLINE void slip_along(const slip_curve *of, vec s, visit *v)
{
    kernel_batch *batch = v->batch;
    int at = v->at;
    vec mu = GET(batch->mu), z0 = of->z[0] + s * of->c[0], z1 = of->z[1] + s * of->c[1];
    vec length = KERNEL_ROOT(z0 * z0 + z1 * z1);
    // positive: fill() saw to it
    vec scale = v->n0 / (length - mu * (GET(batch->skew[0]) * z0 + GET(batch->skew[1]) * z1));
    vec friction = -mu * scale;
    PUT(batch->slip, s);
    v->r[0] = choose(v->slips, scale * length, v->r[0]);
    v->r[1] = choose(v->slips, friction * z0, v->r[1]);
    v->r[2] = choose(v->slips, friction * z1, v->r[2]);
}

INLINE mask any_of(const mask which[HALVES])
{
    mask any = which[0];
    UNROLL for (int g = 1; g < HALVES; g++) any |= which[g];
    return any;
}

/* Those that slip, together: each waits for roots and quotients, and the others go on meanwhile. */
INLINE void slide(number tolerance, visit v[HALVES])
{
    enum { MOST_STEPS = 30 };
    slip_curve of[HALVES];
    vec s[HALVES];
    mask far[HALVES];
    UNROLL for (int g = 0; g < HALVES; g++)
    {
        int at = v[g].at;
        of[g] = curve_of(&v[g]);
        s[g] = GET(v[g].batch->slip);
        far[g] = v[g].slips;
    }
    for (int step = 0; step < MOST_STEPS && KERNEL_ANY(any_of(far)); step++) {
        UNROLL for (int g = 0; g < HALVES; g++) far[g] = improve(&of[g], tolerance, far[g], &s[g]);
    }
    UNROLL for (int g = 0; g < HALVES; g++) slip_along(&of[g], s[g], &v[g]);
}

/* The same with projected steps (pgs.c): the normal row, then the tangents, which see what the normal did. */
INLINE void project(visit *v)
{
    const kernel_batch *batch = v->batch;
    int at = v->at;
    vec zero = {0}, normal = v->last[0] - GET(batch->normal) * v->w[0], step = GET(batch->inverse);
    normal = where(normal > zero, normal);
    vec change = normal - v->last[0];
    vec t0 = v->last[1] - step * (v->w[1] + GET(batch->skew[0]) * change);
    vec t1 = v->last[2] - step * (v->w[2] + GET(batch->skew[1]) * change);
    vec limit = GET(batch->mu) * normal, square = t0 * t0 + t1 * t1;
    vec share = choose(square > limit * limit, limit / KERNEL_ROOT(square), zero + 1.0);
    v->r[0] = normal;
    v->r[1] = share * t0;
    v->r[2] = share * t1;
}

/* ---- the numbers of a batch from the rows of the problem ---------------------------------------------- */

#ifndef KERNEL_SINGLE
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

/* Without friction tangents stay what they are: zero. Returns the lanes where the solution above could fail:
 * A_cc nearly singular, or friction that acts on the normal row so strongly that 1 + mu n.t may vanish. */
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

/* Steps instead: 1 / A_NN and 1 / lambda_max(A_TT), times the relaxation. Returns the lanes that need
 * something else. */
INLINE mask fill_steps(const vec compliance[3], double relaxation, int at, ss_batch *batch)
{
    vec nn = couple(batch, at, 0, 0) + compliance[0], b = couple(batch, at, 1, 2);
    vec a = couple(batch, at, 1, 1) + compliance[1], d = couple(batch, at, 2, 2) + compliance[2];
    vec half = 0.5 * (a - d), largest = 0.5 * (a + d) + KERNEL_ROOT(half * half + b * b);
    mask usable = (nn > 0.0) & (GET(batch->mu) < HUGE_VAL);
    PUT(batch->normal, where(nn > 0.0, relaxation / nn));
    PUT(batch->skew[0], couple(batch, at, 0, 1));
    PUT(batch->skew[1], couple(batch, at, 0, 2));
    PUT(batch->tangent[0], a);
    PUT(batch->tangent[1], b);
    PUT(batch->tangent[2], d);
    PUT(batch->inverse, where(largest > 0.0, relaxation / largest));
    PUT(batch->slip, nn);
    return ~usable;
}

KERNEL static unsigned fill(const ss_batch_source *from, ss_batch *batch)
{
    unsigned bits = 0;
    for (int at = 0; at < SS_LANES; at += KERNEL_WIDTH) {
        vec compliance[3];
        UNROLL for (int i = 0; i < 3; i++) compliance[i] = GET(from->compliance[i]);
        mask odd = fill_rows(from, at, batch);
        odd |= from->method == SS_BATCH_EXACT ? fill_own(compliance, at, batch)
                                              : fill_steps(compliance, from->relaxation, at, batch);
        for (int lane = 0; lane < KERNEL_WIDTH; lane++) bits |= odd[lane] ? 1u << (at + lane) : 0;
    }
    return bits;
}
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

/* What comes soon, which the machine does not expect because it lies in other pages. It waits in the second
 * cache: into the first only a few lines can be on their way, and those needed at once would have to wait. */
INLINE void ask_for(const void *from, size_t bytes)
{
    enum { LINE = 64 };
    for (size_t i = 0; i < bytes; i += LINE) __builtin_prefetch((const char *)from + i, 0, 2);
}

INLINE void ask_for_batch(const kernel_batches *batches, int k)
{
    ask_for(&batches->items[k], sizeof batches->items[k]);
    ask_for(batches->r[k], sizeof batches->r[k]);
    if (batches->compliance) ask_for(batches->compliance[k], sizeof batches->compliance[k]);
    if (!batches->direction) return;
    ask_for(batches->last[k], sizeof batches->last[k]);
    ask_for(batches->direction[k], sizeof batches->direction[k]);
}

/* Its bodies, when it has come itself: batches that pass through the second cache push them out of it. */
INLINE void ask_for_bodies(const kernel_batches *batches, int k)
{
    for (int lane = 0; lane < LANES; lane++) {
        for (int side = 0; side < 2; side++)
            ask_for(batches->y[batches->items[k].body[side][lane]], sizeof *batches->y);
    }
}

INLINE void begin_visits(const kernel_batches *batches, bool moves, int k, bool backward, visit v[HALVES])
{
    enum { AHEAD = 8, NEXT = 4 };
    int soon = backward ? k - AHEAD : k + AHEAD, next = backward ? k - NEXT : k + NEXT;
    if (batches->is_long && soon >= 0 && soon < batches->count) {
        ask_for_batch(batches, soon);
        ask_for_bodies(batches, next);
    }
    UNROLL for (int g = 0; g < HALVES; g++) begin_visit(batches, moves, k, KERNEL_WIDTH * g, &v[g]);
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
        begin_visits(batches, moves, backward ? end - 1 - i : begin + i, backward, v);  \
        solve(batches, v);                                                              \
        UNROLL for (int g = 0; g < HALVES; g++) sum[g] += end_visit(batches->y, &v[g]); \
    }                                                                                   \
    return 0.25 * sum_of(sum)

INLINE double sweep_exactly(kernel_batches *batches, bool moves, int begin, int end, bool backward)
{
    SWEEP(solve_batch);
}

/* `moves`: every visit begins with a step along the direction; known to each of the two loops. */
KERNEL static double sweep(kernel_batches *batches, int begin, int end, bool backward)
{
    KERNEL_FLUSH;
    double sum = batches->direction ? sweep_exactly(batches, true, begin, end, backward)
                                    : sweep_exactly(batches, false, begin, end, backward);
    KERNEL_UNFLUSH;
    return sum;
}

#ifndef KERNEL_SINGLE
INLINE double project_all(kernel_batches *batches, bool moves, int begin, int end, bool backward)
{
    SWEEP(project_batch);
}

KERNEL static double sweep_projected(kernel_batches *batches, int begin, int end, bool backward)
{
    return batches->direction ? project_all(batches, true, begin, end, backward)
                              : project_all(batches, false, begin, end, backward);
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
        vec twist[2][6], r[3], w[3];
        UNROLL for (int i = 0; i < 3; i++) r[i] = GET(batches->r[k][i]);
        read_twists(&batches->items[k], at, batches->y, twist);
        velocity_of(batches, k, at, twist, r, w);
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
        vec next = extrapolated(beta, at, GET(point), last, direction);
        PUT(point, next);
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
