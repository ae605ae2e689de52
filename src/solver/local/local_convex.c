/* One spatial contact under the convex law: u = A r + q, K contains r, K* contains u, u . r = 0.
 *
 *   take-off  q lies in K*:  r = 0
 *   stick     r = -A^-1 q lies in the cone
 *   slip      r = n (1, mu t) on the edge of the cone along a unit vector t. u . r = 0 gives
 *                 n = -(q . k) / (k . A k),  k = (1, mu t)
 *             and u_T has no component across t and none along it, other than against it. The angle of t
 *             comes from Newton's method, started where the contact slipped last.
 *
 * Along the edge there may be a second minimum, inside of which the quadratic is lower still: there u_T
 * points along t. Then, or when Newton strays, the general method of local_newton.c takes over.
 */
#include "solver/local/local_cone.h"

#include <math.h>
#include <string.h>

enum { MAX_STEPS = 8 };

typedef struct contact {
    ss_stick stick;
    double mu, tolerance;
    double t[2]; // direction of the last slip; 0 before the first
    ss_local_cone general;
} contact;

typedef struct edge {
    double n, along, across; // r_N, and the components of u_T
    double slope;            // of `across` by the angle
} edge;

static edge edge_at(const contact *at, const double *q, const double t[2])
{
    const double *a = at->stick.a;
    // k = (1, k1, k2), dk = (0, d1, d2)
    double mu = at->mu, k1 = mu * t[0], k2 = mu * t[1], d1 = -k2, d2 = k1;
    double ak0 = a[0] + a[1] * k1 + a[2] * k2, ad0 = a[1] * d1 + a[2] * d2;
    double ak1 = a[3] + a[4] * k1 + a[5] * k2, ad1 = a[4] * d1 + a[5] * d2;
    double ak2 = a[6] + a[7] * k1 + a[8] * k2, ad2 = a[7] * d1 + a[8] * d2;
    double stiff = ak0 + k1 * ak1 + k2 * ak2;
    double stiff_slope = d1 * ak1 + d2 * ak2 + ad0 + k1 * ad1 + k2 * ad2;
    double n = -(q[0] + q[1] * k1 + q[2] * k2) / stiff;
    double n_slope = -(q[1] * d1 + q[2] * d2 + n * stiff_slope) / stiff;
    double u1 = q[1] + n * ak1, u2 = q[2] + n * ak2;
    double v1 = n_slope * ak1 + n * ad1, v2 = n_slope * ak2 + n * ad2; // du_T
    double along = t[0] * u1 + t[1] * u2;
    return (edge){n, along, t[0] * u2 - t[1] * u1, t[0] * v2 - t[1] * v1 - along};
}

/* `stick` is what sticking would have taken: a first guess of the direction. */
static bool slips(contact *at, const double *q, const double *stick, double *r)
{
    double t[2] = {at->t[0], at->t[1]}, length = hypot(stick[1], stick[2]);
    if (t[0] == 0.0 && t[1] == 0.0) {
        if (!(length > 0.0)) return false;
        t[0] = stick[1] / length;
        t[1] = stick[2] / length;
    }
    edge here = edge_at(at, q, t);
    for (int step = 0; step < MAX_STEPS && here.n > 0.0 && here.slope > 0.0; step++) {
        double angle = -here.across / here.slope;
        double scale = 1.0 / sqrt(1.0 + angle * angle), kept = t[0]; // t turns by about this angle
        t[0] = scale * (kept - angle * t[1]);
        t[1] = scale * (t[1] + angle * kept);
        here = edge_at(at, q, t);
        if (fabs(angle) > sqrt(at->tolerance)) continue; // the error is squared by a step
        if (!(here.n > 0.0 && here.along <= 0.0)) return false;
        memcpy(at->t, t, sizeof t);
        r[0] = here.n;
        r[1] = at->mu * here.n * t[0];
        r[2] = at->mu * here.n * t[1];
        return true;
    }
    return false;
}

static void solve_contact(void *data, const double *q, double *r)
{
    contact *at = data;
    double last[3] = {r[0], r[1], r[2]}, stick[3];
    if (q[0] >= at->mu * sqrt(q[1] * q[1] + q[2] * q[2])) {
        r[0] = r[1] = r[2] = 0.0;
        return;
    }
    if (ss_sticks(&at->stick, at->mu, q, stick)) {
        memcpy(r, stick, sizeof stick);
        return;
    }
    if (slips(at, q, stick, r)) return;
    memcpy(r, last, sizeof last);
    at->general.solve(at->general.data, q, r);
    double length = hypot(r[1], r[2]);
    if (!(length > 0.0)) return;
    at->t[0] = r[1] / length;
    at->t[1] = r[2] / length;
}

bool ss_local_convex_create(const ss_block *block, const double *A, double tolerance, ss_arena *arena,
                            ss_local_cone *cone)
{
    contact *at = ss_arena_take(arena, 1, sizeof *at, "contacts");
    if (!at) return false;
    at->stick = ss_stick_of(A);
    at->mu = block->mu;
    at->tolerance = tolerance;
    *cone = (ss_local_cone){solve_contact, at};
    return ss_local_newton_create(block, A, tolerance, arena, &at->general);
}
