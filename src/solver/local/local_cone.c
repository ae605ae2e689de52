/* One contact: the cases with a formula (no friction, planar), and what reduces extreme
 * friction to the usual.
 *
 * Planar Coulomb friction: take-off if q_N >= 0, stick if r = -A^-1 q lies in the cone, else slip against the
 * tangential velocity that a frictionless contact would have, r_T = -sign(q~) mu r_N. The convex law has its
 * minimum in the cone, at 0, or on one of the two edges.
 */
#include "solver/local/local_cone.h"

#include <math.h>
#include <string.h>

#include "problem/laws.h"

/* ---- parts of the others ---------------------------------------------------------------------------- */

ss_stick ss_stick_of(const double A[9])
{
    // (A^-1)_ii a_ii is 1 for a diagonal A, and large where another direction takes most of the load away.
    static const double soft = 1e4;
    ss_stick stick = {0};
    memcpy(stick.a, A, sizeof stick.a);
    ss_small_invert(3, A, stick.inverse);
    for (int i = 0; i < 3; i++) stick.is_soft |= stick.inverse[4 * i] * A[4 * i] > soft;
    return stick;
}

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

/* (B + lambda) y = -c, and the same with y in place of c: minus the slope of y by lambda. False when singular
 * to rounding. */
static bool balance_ball(const double B[9], double lambda, const double c[3], double y[3], double slope[3])
{
    double M[9], side[3];
    memcpy(M, B, sizeof M);
    for (int i = 0; i < 3; i++) M[4 * i] += lambda, side[i] = -c[i];
    if (!ss_small_solve(3, M, 1, side)) return false;
    memcpy(y, side, sizeof side);
    memcpy(M, B, sizeof M);
    for (int i = 0; i < 3; i++) M[4 * i] += lambda;
    if (!ss_small_solve(3, M, 1, side)) return false;
    memcpy(slope, side, sizeof side);
    return isfinite(y[0] + y[1] + y[2] + slope[0] + slope[1] + slope[2]);
}

static double length_of(const double y[3])
{
    return sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]);
}

void ss_ball_solve(const double B[9], const double c[3], double radius, double y[3])
{
    enum { STEPS = 50 };
    static const double exact = 1e-15;
    double load = length_of(c), slope[3], largest = 0.0;
    if (balance_ball(B, 0.0, c, y, slope) && length_of(y) <= radius) return;
    y[0] = y[1] = y[2] = 0.0;
    if (!(radius > 0.0) || !(load > 0.0)) return;

    // as for discs: Newton's method on 1 / |y(lambda)| from the left
    for (int k = 0; k < 9; k++) largest += fabs(B[k]);
    double lambda = fmax(load / radius - largest, 0.0), length = 0.0;
    for (int k = 0; k < STEPS; k++) {
        if (!balance_ball(B, lambda, c, y, slope)) { // flat in one direction
            lambda = fmax(2.0 * lambda, 1e-3 * load / radius);
            continue;
        }
        length = length_of(y);
        double along = y[0] * slope[0] + y[1] * slope[1] + y[2] * slope[2];
        if (!(along > 0.0)) break;
        double next = fmax(lambda + (length / radius - 1.0) * length * length / along, 0.0);
        if (fabs(next - lambda) <= exact * (lambda + load / radius)) break;
        lambda = next;
    }
    for (int i = 0; i < 3 && length > 0.0; i++) y[i] *= radius / length;
}

/* ---- no friction: one number ------------------------------------------------------------------------ */

typedef struct ray {
    double a;
} ray;

static void solve_ray(void *data, const double *q, double *r)
{
    const ray *contact = data;
    r[0] = q[0] < 0.0 ? -q[0] / contact->a : 0.0;
}

/* ---- planar ----------------------------------------------------------------------------------------- */

typedef struct planar {
    double a[4], inverse[4], mu;
} planar;

static bool planar_sticks(const planar *contact, const double *q, double *r)
{
    ss_small_balance(2, contact->a, contact->inverse, q, r);
    return r[0] >= 0.0 && fabs(r[1]) <= contact->mu * r[0];
}

/* r_T = -sign(q~) mu r_N: in the plane the direction of slip is known beforehand. */
static void solve_planar_coulomb(void *data, const double *q, double *r)
{
    const planar *contact = data;
    const double *a = contact->a;
    if (q[0] >= 0.0) {
        r[0] = r[1] = 0.0;
        return;
    }
    if (planar_sticks(contact, q, r)) return;
    double slope = a[0] * q[1] - a[2] * q[0] > 0.0 ? -contact->mu : contact->mu;
    double stiff = a[0] + slope * a[1]; // positive as long as A is
    r[0] = stiff > 0.0 ? -q[0] / stiff : 0.0;
    r[1] = slope * r[0];
}

/* The minimum on each edge (1, +-mu) of the cone; the lower of the two. */
static void solve_planar_convex(void *data, const double *q, double *r)
{
    const planar *contact = data;
    const double *a = contact->a;
    double mu = contact->mu;
    if (q[0] >= mu * fabs(q[1])) {
        r[0] = r[1] = 0.0;
        return;
    }
    if (planar_sticks(contact, q, r)) return;
    double lowest = 0.0;
    for (int side = -1; side <= 1; side += 2) {
        double slope = side * mu, along = q[0] + slope * q[1];
        double n = -along / (a[0] + slope * (a[1] + a[2]) + mu * mu * a[3]);
        if (!(n > 0.0) || n * along >= lowest) continue;
        lowest = n * along;
        r[0] = n;
        r[1] = slope * n;
    }
}

/* ---- which one -------------------------------------------------------------------------------------- */

/* Friction of the usual kind, A regular. */
static bool create_core(const ss_block *block, const double *A, double tolerance, ss_arena *arena,
                        ss_local_cone *cone)
{
    bool is_coulomb = block->law == SS_LAW_CONE;
    if (block->size == 1) {
        ray *contact = ss_arena_take(arena, 1, sizeof *contact, "contacts");
        if (!contact) return false;
        contact->a = A[0];
        *cone = (ss_local_cone){solve_ray, contact};
        return true;
    }
    if (block->size == 2) {
        planar *contact = ss_arena_take(arena, 1, sizeof *contact, "contacts");
        if (!contact) return false;
        memcpy(contact->a, A, sizeof contact->a);
        contact->mu = block->mu;
        ss_small_invert(2, A, contact->inverse);
        *cone = (ss_local_cone){is_coulomb ? solve_planar_coulomb : solve_planar_convex, contact};
        return true;
    }
    if (block->size > 3) return ss_local_newton_create(block, A, tolerance, arena, cone);
    return (is_coulomb ? ss_local_slip_create : ss_local_convex_create)(block, A, tolerance, arena, cone);
}

/* ---- extreme friction, singular A ------------------------------------------------------------------- */

/* Components without friction carry nothing and are left out; those with infinite friction are a
 * bilateral constraint (u = 0) and are solved for; a singular A gets a compliance that the proximal term
 * -c r takes back, so that it does not show in the limit of repeated calls. What remains is a contact of
 * the usual kind. */
typedef struct reduced {
    ss_local_cone core;
    int size, kept_count, stuck_count;
    int kept[SS_CONE_MAX], stuck[SS_CONE_MAX];
    double compliance[SS_CONE_MAX];
    double load[SS_CONE_MAX * SS_CONE_MAX];    // A_KS A_SS^-1, kept x stuck
    double carry[SS_CONE_MAX * SS_CONE_MAX];   // A_SS^-1 A_SK, stuck x kept
    double inverse[SS_CONE_MAX * SS_CONE_MAX]; // A_SS^-1
} reduced;

static void solve_reduced(void *data, const double *q, double *r)
{
    const reduced *contact = data;
    int kept = contact->kept_count, stuck = contact->stuck_count;
    double load[SS_CONE_MAX], core_load[SS_CONE_MAX] = {0}, core[SS_CONE_MAX] = {0};
    for (int i = 0; i < contact->size; i++) load[i] = q[i] - contact->compliance[i] * r[i];
    for (int i = 0; i < kept; i++) {
        core[i] = r[contact->kept[i]];
        core_load[i] = load[contact->kept[i]];
        for (int j = 0; j < stuck; j++)
            core_load[i] -= contact->load[i * stuck + j] * load[contact->stuck[j]];
    }
    contact->core.solve(contact->core.data, core_load, core);
    memset(r, 0, (size_t)contact->size * sizeof *r);
    for (int i = 0; i < kept; i++) r[contact->kept[i]] = core[i];
    for (int i = 0; i < stuck; i++) {
        double sum = 0.0;
        for (int j = 0; j < stuck; j++) sum -= contact->inverse[i * stuck + j] * load[contact->stuck[j]];
        for (int j = 0; j < kept; j++) sum -= contact->carry[i * kept + j] * core[j];
        r[contact->stuck[i]] = sum;
    }
}

/* Below this friction the slip speed s leaves the range of numbers; a force of 1e-100 of the normal one is
 * none. */
static const double NO_FRICTION = 1e-100;

/* Are the pivots of elimination in natural order positive, and more than rounding of the diagonal? */
static inline bool has_positive_pivots(int n, const double *A)
{
    static const double rounding = 1e-13;
    double L[SS_CONE_MAX * SS_CONE_MAX];
    memcpy(L, A, (size_t)(n * n) * sizeof *L);
    for (int j = 0; j < n; j++) {
        if (!(L[j * n + j] > rounding * fabs(A[j * n + j]))) return false;
        for (int i = j + 1; i < n; i++) {
            double factor = L[i * n + j] / L[j * n + j];
            for (int k = j + 1; k < n; k++) L[i * n + k] -= factor * L[j * n + k];
        }
    }
    return true;
}

/* The compiler should know the usual size. */
static bool is_regular(int n, const double *A)
{
    return n == 3 ? has_positive_pivots(3, A) : has_positive_pivots(n, A);
}

static void take_part(int n, const double *A, const int *rows, int row_count, const int *cols, int col_count,
                      double *part)
{
    for (int i = 0; i < row_count; i++) {
        for (int j = 0; j < col_count; j++) part[i * col_count + j] = A[rows[i] * n + cols[j]];
    }
}

/* What create_core does not accept: components without friction or with infinite friction, a singular A. */
static bool create_reduced(const ss_block *block, const double *A, double tolerance, ss_arena *arena,
                           ss_local_cone *cone)
{
    static const double compliance = 1e-8; // of the diagonal
    int n = block->size;
    reduced *contact = ss_arena_take(arena, 1, sizeof *contact, "contacts");
    if (!contact) return false;
    *contact = (reduced){.size = n, .kept_count = 1};
    for (int i = 1; i < n; i++) {
        double mu = ss_block_friction(block, i);
        if (isinf(mu))
            contact->stuck[contact->stuck_count++] = i;
        else if (mu > NO_FRICTION)
            contact->kept[contact->kept_count++] = i;
    }

    // Is the part of A that takes part at all regular?
    int used[SS_CONE_MAX], count = contact->kept_count + contact->stuck_count;
    double part[SS_CONE_MAX * SS_CONE_MAX];
    memcpy(used, contact->kept, sizeof used);
    for (int i = 0; i < contact->stuck_count; i++) used[contact->kept_count + i] = contact->stuck[i];
    take_part(n, A, used, count, used, count, part);
    bool regular = is_regular(count, part);

    double softened[SS_CONE_MAX * SS_CONE_MAX], core[SS_CONE_MAX * SS_CONE_MAX];
    memcpy(softened, A, (size_t)(n * n) * sizeof *A);
    for (int i = 0; i < n && !regular; i++) {
        contact->compliance[i] = compliance * fabs(A[i * n + i]);
        softened[i * n + i] += contact->compliance[i];
    }

    // A_KK - A_KS A_SS^-1 A_SK, and the factors that carry loads and impulses across.
    int kept = contact->kept_count, stuck = contact->stuck_count;
    double ks[SS_CONE_MAX * SS_CONE_MAX], sk[SS_CONE_MAX * SS_CONE_MAX], ss[SS_CONE_MAX * SS_CONE_MAX];
    take_part(n, softened, contact->kept, kept, contact->kept, kept, core);
    take_part(n, softened, contact->kept, kept, contact->stuck, stuck, ks);
    take_part(n, softened, contact->stuck, stuck, contact->kept, kept, sk);
    take_part(n, softened, contact->stuck, stuck, contact->stuck, stuck, ss);
    ss_small_invert(stuck, ss, contact->inverse);
    for (int i = 0; i < stuck; i++) {
        for (int j = 0; j < kept; j++) {
            for (int k = 0; k < stuck; k++) {
                contact->carry[i * kept + j] += contact->inverse[i * stuck + k] * sk[k * kept + j];
                contact->load[j * stuck + i] += ks[j * stuck + k] * contact->inverse[k * stuck + i];
            }
        }
    }
    for (int i = 0; i < kept; i++) {
        for (int j = 0; j < kept; j++) {
            for (int k = 0; k < stuck; k++)
                core[i * kept + j] -= contact->load[i * stuck + k] * sk[k * kept + j];
        }
    }

    // What is left is a contact of the usual kind.
    ss_block inner = *block;
    inner.size = contact->kept_count;
    if (contact->kept_count > 1 && contact->kept[1] > ss_cone_tangents(n)) inner.mu = block->mu_rolling;
    *cone = (ss_local_cone){solve_reduced, contact};
    return create_core(&inner, core, tolerance, arena, &contact->core);
}

bool ss_local_cone_create(const ss_block *block, const double *A, double tolerance, ss_arena *arena,
                          ss_local_cone *cone)
{
    bool is_usual = true;
    for (int i = 1; i < block->size; i++) {
        double mu = ss_block_friction(block, i);
        is_usual &= mu > NO_FRICTION && !isinf(mu);
    }
    return (is_usual && is_regular(block->size, A) ? create_core : create_reduced)(block, A, tolerance, arena,
                                                                                   cone);
}
