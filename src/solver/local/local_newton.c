/* One contact where the slip has no formula in one unknown: the convex law with three components, both laws
 * with rolling friction, K = { |r_T| <= mu r_N, |r_M| <= mu_r r_N }, five components of two units.
 *
 * Scaled by the square roots of the diagonal (one number for T, one for M, so that the cone stays one of the
 * same kind) the matrix has entries of order 1, and Newton's method is applied to
 *
 *   Coulomb  r_N - [y_N]+ = 0,  r_g - P_disc(mu_g [y_N]+) y_g = 0  for g = T, M        y = r - u
 *   convex   r - P_K(y) = 0
 *
 * piecewise smooth functions that vanish at the solution only, with a line search on the norm. Where that
 * gets stuck, two nested scalar searches find the neighbourhood: for a given r_N friction is the least of a
 * convex quadratic over two discs (solved disc by disc), and u_N, less mu |u_T| + mu_r |u_M| under the convex
 * law, grows with r_N.
 */
#include "solver/local/local_cone.h"

#include <math.h>
#include <string.h>

#include "problem/cone.h"

enum {
    MAX = SS_CONE_MAX,
    NEWTON_STEPS = 60,
    HALVINGS = 12,
    SEARCH_STEPS = 200,
    DISC_STEPS = 400,
    ROOT_STEPS = 100
};

typedef struct contact {
    ss_law law;
    int size, groups; // 3 and 1, or 5 and 2
    double tolerance;
    double a[MAX * MAX], inverse[MAX * MAX]; // scaled
    double scale[MAX];                       // square roots of the diagonal
    double mu[2];                            // scaled
    ss_friction_cone cone;                   // scaled
    double s[2];                             // of the last slip in each disc
} contact;

static double norm(int n, const double *x)
{
    double sum = 0.0;
    for (int i = 0; i < n; i++) sum += x[i] * x[i];
    return sqrt(sum);
}

static int first_of(int group)
{
    return 1 + 2 * group;
}

static double length_of(const double *x, int group)
{
    return hypot(x[first_of(group)], x[first_of(group) + 1]);
}

static void velocity(const contact *c, const double *q, const double *r, double *u)
{
    for (int i = 0; i < c->size; i++) {
        u[i] = q[i];
        for (int j = 0; j < c->size; j++) u[i] += c->a[c->size * i + j] * r[j];
    }
}

/* ---- the two functions and their derivatives -------------------------------------------------------- */

/* P_g = y_g inside its disc, else (mu_g height) y_g / |y_g|, whose derivative needs that of the height,
 * `lift`. */
static void cut_disc(const contact *c, const double *y, int group, double height, const double *lift,
                     double *P, double *J)
{
    int n = c->size, first = first_of(group);
    double limit = c->mu[group] * height, length = length_of(y, group);
    for (int i = first; i < first + 2; i++) {
        double *row = J + n * i;
        if (length <= limit) {
            P[i] = y[i];
            row[i] = 1.0;
            continue;
        }
        double direction = y[i] / length;
        P[i] = limit * direction;
        for (int k = 0; k < n; k++) row[k] = c->mu[group] * lift[k] * direction;
        for (int k = first; k < first + 2; k++) {
            row[k] += limit / length * ((i == k ? 1.0 : 0.0) - direction * (y[k] / length));
        }
    }
}

/* The height of the projection, and its derivative. */
static double coulomb_height(const double *y, double *lift)
{
    lift[0] = y[0] > 0.0 ? 1.0 : 0.0;
    return fmax(0.0, y[0]);
}

static double convex_height(const contact *c, const double *y, double *lift)
{
    double P[MAX], weight = 1.0;
    memcpy(P, y, (size_t)c->size * sizeof *P);
    ss_friction_cone_project(c->cone, P);
    if (!(P[0] > 0.0)) return 0.0;
    lift[0] = 1.0;
    for (int group = 0; group < c->groups; group++) {
        double mu = c->mu[group], length = length_of(y, group);
        if (length <= mu * P[0]) continue;
        weight += mu * mu;
        for (int k = first_of(group); k < first_of(group) + 2; k++) lift[k] = mu * y[k] / length;
    }
    for (int k = 0; k < c->size; k++) lift[k] /= weight;
    return P[0];
}

/* F = r - P(r - u); with J also its Jacobian I - P' (I - A). Returns |F|. */
static double evaluate(const contact *c, const double *q, const double *r, double *F, double *J)
{
    int n = c->size;
    double u[MAX], y[MAX], P[MAX], lift[MAX] = {0}, slope[MAX * MAX] = {0};
    velocity(c, q, r, u);
    for (int i = 0; i < n; i++) y[i] = r[i] - u[i];
    P[0] = c->law == SS_LAW_CONE ? coulomb_height(y, lift) : convex_height(c, y, lift);
    memcpy(slope, lift, (size_t)n * sizeof *slope);
    for (int group = 0; group < c->groups; group++) cut_disc(c, y, group, P[0], lift, P, slope);
    for (int i = 0; i < n; i++) {
        F[i] = r[i] - P[i];
        for (int j = 0; J && j < n; j++) {
            double sum = (i == j ? 1.0 : 0.0) - slope[n * i + j];
            for (int k = 0; k < n; k++) sum += slope[n * i + k] * c->a[n * k + j];
            J[n * i + j] = sum;
        }
    }
    return norm(n, F);
}

/* ---- Newton ----------------------------------------------------------------------------------------- */

/* The longest of 1, 1/2, 1/4, ... that makes |F| smaller. */
static bool line_search(const contact *c, const double *q, const double *step, double error, double *r)
{
    double length = 1.0, F[MAX], trial[MAX];
    for (int halving = 0; halving < HALVINGS; halving++, length *= 0.5) {
        for (int i = 0; i < c->size; i++) trial[i] = r[i] - length * step[i];
        if (!(evaluate(c, q, trial, F, NULL) < (1.0 - 0.1 * length) * error)) continue;
        memcpy(r, trial, (size_t)c->size * sizeof *r);
        return true;
    }
    return false;
}

/* Ends when |F| is down to the rounding of the terms it is made of. */
static bool newton(const contact *c, const double *q, double *r)
{
    double F[MAX], J[MAX * MAX], load = norm(c->size, q);
    for (int step = 0; step < NEWTON_STEPS; step++) {
        double error = evaluate(c, q, r, F, J);
        if (error <= c->tolerance * (load + norm(c->size, r))) return true;
        if (!ss_small_solve(c->size, J, 1, F) || !line_search(c, q, F, error, r)) return false;
    }
    return false;
}

/* ---- discs ------------------------------------------------------------------------------------------ */

/* r = -(A + s I)^-1 c and its derivative by s */
static void disc_point(const double A[4], const double c[2], double s, double r[2], double slope[2])
{
    double a = A[0] + s, d = A[3] + s, scale = 1.0 / (a * d - A[1] * A[2]);
    r[0] = -scale * (d * c[0] - A[1] * c[1]);
    r[1] = -scale * (a * c[1] - A[2] * c[0]);
    slope[0] = -scale * (d * r[0] - A[1] * r[1]);
    slope[1] = -scale * (a * r[1] - A[2] * r[0]);
}

/* The nearest to -A^-1 c in the disc |r| <= radius, in the norm of A:  A r + c = -s r, s >= 0,
 * s (radius - |r|) = 0. *s is a guess on entry. */
static void disc_solve(const double A[4], const double c[2], double radius, double tolerance, double *s,
                       double r[2])
{
    double slope[2], low = 0.0, high = INFINITY, scale = 0.25 * (A[0] + A[3]);
    if (!(radius > 0.0)) {
        r[0] = r[1] = 0.0;
        return;
    }
    disc_point(A, c, 0.0, r, slope);
    if (r[0] * r[0] + r[1] * r[1] <= radius * radius) {
        *s = 0.0;
        return;
    }
    double trial = *s > 0.0 && isfinite(*s) ? *s : scale;
    for (int step = 0; step < ROOT_STEPS; step++) {
        disc_point(A, c, trial, r, slope);
        double length = hypot(r[0], r[1]), psi = radius / length - 1.0;
        if (fabs(psi) <= tolerance) break;
        *(psi < 0.0 ? &low : &high) = trial;
        double psi_slope = -radius * (r[0] * slope[0] + r[1] * slope[1]) / (length * length * length);
        double next = ss_root_trial(trial - psi / psi_slope, low, high, scale);
        if (next == trial) break;
        trial = next;
    }
    *s = trial;
    double length = hypot(r[0], r[1]);
    r[0] *= radius / length;
    r[1] *= radius / length;
}

/* ---- nested searches -------------------------------------------------------------------------------- */

/* One disc, the other held. Returns how far it moved. */
static double settle_disc(contact *c, const double *q, int group, double *r)
{
    int n = c->size, first = first_of(group);
    double load[2], old[2] = {r[first], r[first + 1]}, block[4];
    for (int i = 0; i < 2; i++) {
        const double *row = c->a + n * (first + i);
        load[i] = q[first + i];
        for (int j = 0; j < n; j++) {
            if (j < first || j > first + 1) load[i] += row[j] * r[j];
        }
        block[2 * i] = row[first];
        block[2 * i + 1] = row[first + 1];
    }
    disc_solve(block, load, c->mu[group] * r[0], c->tolerance, &c->s[group], r + first);
    return fmax(fabs(r[first] - old[0]), fabs(r[first + 1] - old[1]));
}

/* Friction for a given normal impulse. */
static void settle_discs(contact *c, const double *q, double *r)
{
    for (int pass = 0; pass < DISC_STEPS; pass++) {
        double moved = 0.0;
        for (int group = 0; group < c->groups; group++) moved = fmax(moved, settle_disc(c, q, group, r));
        if (moved <= c->tolerance * norm(c->size, r)) return;
    }
}

/* What must vanish: u_N or, under the convex law, u_N - mu |u_T| - mu_r |u_M|. */
static double normal_excess(contact *c, const double *q, double n, double *r)
{
    double u[MAX];
    r[0] = n;
    settle_discs(c, q, r);
    velocity(c, q, r, u);
    for (int group = 0; group < c->groups && c->law != SS_LAW_CONE; group++) {
        u[0] -= c->mu[group] * length_of(u, group);
    }
    return u[0];
}

/* False position, halving the value of the end that stays (Illinois), in a bracket that was doubled open. */
static void search(contact *c, const double *q, double *r)
{
    double low = 0.0, high = fmax(norm(c->size, q), r[0]);
    double low_value = normal_excess(c, q, low, r), high_value = normal_excess(c, q, high, r);
    for (int step = 0; step < SEARCH_STEPS && high_value < 0.0; step++) {
        high *= 2.0;
        high_value = normal_excess(c, q, high, r);
    }
    if (low_value >= 0.0 || high_value < 0.0) return;
    for (int step = 0, side = 0; step < SEARCH_STEPS && high - low > c->tolerance * high; step++) {
        double n = (low * high_value - high * low_value) / (high_value - low_value);
        double value = normal_excess(c, q, n, r);
        if (value == 0.0) return;
        if (value < 0.0) {
            low = n;
            low_value = value;
            if (side < 0) high_value *= 0.5;
            side = -1;
        } else {
            high = n;
            high_value = value;
            if (side > 0) low_value *= 0.5;
            side = 1;
        }
    }
}

/* ---- the solver ------------------------------------------------------------------------------------- */

static bool takes_off(const contact *c, const double *q)
{
    double needed = 0.0;
    for (int group = 0; group < c->groups && c->law != SS_LAW_CONE; group++) {
        needed += c->mu[group] * length_of(q, group);
    }
    return q[0] >= needed;
}

static bool sticks(const contact *c, const double *q, double *r)
{
    ss_small_balance(c->size, c->a, c->inverse, q, r);
    bool inside = r[0] >= 0.0;
    for (int group = 0; group < c->groups; group++) inside &= length_of(r, group) <= c->mu[group] * r[0];
    return inside;
}

static void slips(contact *c, const double *q, double *r)
{
    if (!newton(c, q, r)) {
        ss_friction_cone_project(c->cone, r);
        search(c, q, r);
        double found[MAX];
        memcpy(found, r, (size_t)c->size * sizeof *r);
        if (!newton(c, q, r)) memcpy(r, found, (size_t)c->size * sizeof *r);
    }
    ss_friction_cone_project(c->cone, r); // rounding
}

static void solve_contact(void *data, const double *q, double *r)
{
    contact *c = data;
    double load[MAX] = {0}, start[MAX] = {0}, scaled[MAX] = {0};
    for (int i = 0; i < c->size; i++) {
        load[i] = q[i] / c->scale[i];
        start[i] = r[i] * c->scale[i];
    }
    if (!takes_off(c, load) && !sticks(c, load, scaled)) {
        memcpy(scaled, start, sizeof scaled);
        slips(c, load, scaled);
    }
    for (int i = 0; i < c->size; i++) r[i] = scaled[i] / c->scale[i];
}

bool ss_local_newton_create(const ss_block *block, const double *A, double tolerance, ss_arena *arena,
                            ss_local_cone *cone)
{
    contact *c = ss_arena_take(arena, 1, sizeof *c, "contacts");
    if (!c) return false;
    int n = block->size;
    c->law = block->law;
    c->size = n;
    c->groups = (n - 1) / 2;
    c->tolerance = tolerance;
    c->scale[0] = sqrt(A[0]);
    for (int i = 1; i < n; i += 2) {
        c->scale[i] = c->scale[i + 1] = sqrt(fmax(A[n * i + i], A[n * (i + 1) + i + 1]));
        c->mu[i / 2] = (i == 1 ? block->mu : block->mu_rolling) * (c->scale[i] / c->scale[0]);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) c->a[n * i + j] = A[n * i + j] / c->scale[i] / c->scale[j];
    }
    c->cone = (ss_friction_cone){n, c->mu[0], c->mu[1]};
    ss_small_invert(n, c->a, c->inverse);
    *cone = (ss_local_cone){solve_contact, c};
    return true;
}
