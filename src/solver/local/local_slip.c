/* One spatial contact under Coulomb's law. With the normal row solved for r_N, the law leaves three cases:
 *
 *   take-off  q_N >= 0:  r = 0
 *   stick     r = -A^-1 q lies in the cone
 *   slip      u_N = 0, u_T = -s r_T with s > 0, |r_T| = mu r_N:
 *                 r_T(s) = -(A~ + s I)^-1 q~,  A~ = A_TT - A_TN A_NT / A_NN,  q~ = q_T - A_TN q_N / A_NN,
 *                 r_N(s) = -(q_N + A_NT r_T) / A_NN
 *             leaves one equation for s, psi(s) = mu r_N / |r_T| - 1 = 0. psi(0) < 0 because sticking failed,
 *             psi -> inf as s grows because q_N < 0: a root exists whenever A~ is positive. psi is nearly a
 *             straight line (exactly, for isotropic A~ and A_NT = 0), so that Newton needs few steps, and
 *             with the adjugate, z = adj(A~ + s I) q~ = z_0 + s q~ and d = det(A~ + s I), it needs no
 *             division:
 *                 r_T = -z / d,  psi = g / |z| - 1,  g = mu d r_N = mu (A_NT z - d q_N) / A_NN
 */
#include "solver/local/local_cone.h"

#include <math.h>
#include <string.h>

#include "base/memory.h"
#include "problem/cone.h"

enum { MAX_STEPS = 100 };

/* Rounding in a badly conditioned A may keep a root from being hit to the tolerance: this much is accepted
 * when the steps are used up. */
static const double LOOSE = 1e-6;

/* ---- the contact ------------------------------------------------------------------------------------ */

typedef struct contact {
    ss_stick stick;
    bool is_ready; // what follows from A is there
    double mu, tolerance;
    double tangent[4], trace, determinant; // A~
    double nt[2], tn[2], normal;           // A_NT / A_NN, A_TN / A_NN, 1 / A_NN
    double scale;                          // of s: half the mean of A~
    double s;                              // of the last slip, velocity per impulse
} contact;

/* The root of psi. `c` is q~, `z` is z_0. */
static double slip_rate(const contact *at, double load, const double c[2], const double z[2])
{
    double base = at->mu * (at->nt[0] * z[0] + at->nt[1] * z[1]);
    double rate = at->mu * (at->nt[0] * c[0] + at->nt[1] * c[1]);
    double low = 0.0, high = INFINITY, s = at->s;
    for (int step = 0; step < MAX_STEPS; step++) {
        double z0 = z[0] + s * c[0], z1 = z[1] + s * c[1], square = z0 * z0 + z1 * z1, length = sqrt(square);
        double determinant = at->determinant + s * (at->trace + s);
        double g = load * determinant + base + s * rate, excess = g - length;
        if (fabs(excess) <= at->tolerance * length) break;
        bool usable = determinant > 0.0 && g > 0.0;
        *(excess < 0.0 || !usable ? &low : &high) = s;
        double slope = (load * (at->trace + 2.0 * s) + rate) * square - g * (z0 * c[0] + z1 * c[1]);
        double newton = usable ? s - excess * square / slope : -1.0;
        double next = ss_root_trial(newton, low, high, at->scale);
        if (next == s) break;
        s = next;
        // the error is squared by a step
        if (next == newton && excess * excess <= at->tolerance * square) break;
    }
    return s;
}

static bool slips(contact *at, const double *q, double *r)
{
    const double *A = at->tangent;
    double n0 = -q[0] * at->normal, c[2] = {q[1] - at->tn[0] * q[0], q[2] - at->tn[1] * q[0]};
    double z[2] = {A[3] * c[0] - A[1] * c[1], A[0] * c[1] - A[2] * c[0]};
    double s = slip_rate(at, at->mu * n0, c, z);
    double scale = -1.0 / (at->determinant + s * (at->trace + s));
    double t0 = scale * (z[0] + s * c[0]), t1 = scale * (z[1] + s * c[1]);
    double n = n0 - at->nt[0] * t0 - at->nt[1] * t1, limit = at->mu * n, length = sqrt(t0 * t0 + t1 * t1);
    if (!(n > 0.0) || !(fabs(limit - length) <= LOOSE * length)) return false;
    at->s = s;
    r[0] = n;
    r[1] = t0 * (limit / length);
    r[2] = t1 * (limit / length);
    return true;
}

/* Where no root is found, which takes an A that is not positive: a step of the fixed point r = P(r - u~ / a)
 * from the last impulse. It solves nothing, but it is in the cone, and a sweep can go on. */
static void project(contact *at, const double *q, const double *last, double *r)
{
    const double *a = at->stick.a;
    ss_friction_cone cone = {3, at->mu, 0.0};
    double u[3], step = 1.0 / (fabs(a[0]) + fabs(a[4]) + fabs(a[8]));
    for (int i = 0; i < 3; i++)
        u[i] = q[i] + a[3 * i] * last[0] + a[3 * i + 1] * last[1] + a[3 * i + 2] * last[2];
    ss_friction_cone_shift(cone, u);
    for (int i = 0; i < 3; i++) r[i] = last[i] - step * u[i];
    ss_friction_cone_project(cone, r);
    at->s = at->scale;
}

/* Not before the contact closes: many never do. */
static void prepare(contact *at)
{
    double A[9], *tangent = at->tangent;
    memcpy(A, at->stick.a, sizeof A);
    at->is_ready = true;
    at->stick = ss_stick_of(A);
    at->normal = 1.0 / A[0];
    for (int i = 0; i < 2; i++) {
        at->nt[i] = A[1 + i] / A[0];
        at->tn[i] = A[3 + 3 * i] / A[0];
        for (int j = 0; j < 2; j++) tangent[2 * i + j] = A[4 + 3 * i + j] - at->tn[i] * A[1 + j];
    }
    at->trace = tangent[0] + tangent[3];
    at->determinant = tangent[0] * tangent[3] - tangent[1] * tangent[2];
    at->s = at->scale = 0.25 * at->trace;
}

static void solve_contact(void *data, const double *q, double *r)
{
    contact *at = data;
    if (q[0] >= 0.0) {
        r[0] = r[1] = r[2] = 0.0;
        return;
    }
    if (!at->is_ready) prepare(at);
    double last[3] = {r[0], r[1], r[2]};
    if (!ss_sticks(&at->stick, at->mu, q, r) && !slips(at, q, r)) project(at, q, last, r);
}

bool ss_local_slip_create(const ss_block *block, const double *A, double tolerance, ss_arena *arena,
                          ss_local_cone *cone)
{
    contact *at = ss_arena_take_unset(arena, 1, sizeof *at, "contacts");
    if (!at) return false;
    memcpy(at->stick.a, A, sizeof at->stick.a);
    at->is_ready = false;
    at->mu = block->mu;
    at->tolerance = tolerance;
    *cone = (ss_local_cone){solve_contact, at};
    return true;
}
