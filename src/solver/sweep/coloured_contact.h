/* solver/sweep/coloured_contact.h - part of coloured_kernel.h: one contact per lane.
 *
 * One contact under Coulomb's law, everything else held fixed (local_slip.c has the derivation):
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

/* A contact per lane of one register, on its way through a visit. */
typedef struct visit {
    kernel_batch *batch;
    number (*impulse)[LANES];
    int at;
    vec twist[2][6], w[3], last[3], r[3];
    vec n0, drift[2];
    mask slips;
} visit;

INLINE void begin_visit(const kernel_batches *batches, int k, int at, visit *v)
{
    v->batch = &batches->items[k];
    v->impulse = batches->r[k];
    v->at = at;
    read_twists(v->batch, at, batches->y, v->twist);
    velocity_of(batches, k, at, v->twist, v->w);
    UNROLL for (int i = 0; i < 3; i++) v->last[i] = GET(v->impulse[i]);
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
