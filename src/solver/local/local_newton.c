/* One contact where the slip has no formula in one unknown: the convex law with three components, both laws
 * with rolling friction, K = { |r_T| <= mu r_N, |r_M| <= mu_r r_N }, five components of two units, or with
 * sliding and spinning in one ball, four components or six.
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

#include "linalg/vector.h"
#include "problem/laws.h"

enum { MAX = SS_CONE_MAX, NEWTON_STEPS = 60, HALVINGS = 12, SEARCH_STEPS = 200, DISC_STEPS = 400 };

typedef struct contact {
    ss_law law;
    int size, groups;       // 3 or 4 and 1, 5 or 6 and 2
    int first[2], count[2]; // components of the groups: T with spinning, M
    double tolerance;
    double a[MAX * MAX], inverse[MAX * MAX]; // scaled
    double scale[MAX];                       // square roots of the diagonal
    double mu[2];                            // scaled
    ss_friction_cone cone;                   // scaled
} contact;

static double length_of(const contact *c, const double *x, int group)
{
    const double *own = x + c->first[group];
    return c->count[group] == 3 ? ss_norm(3, own) : hypot(own[0], own[1]);
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
    int n = c->size, first = c->first[group], after = first + c->count[group];
    double limit = c->mu[group] * height, length = length_of(c, y, group);
    for (int i = first; i < after; i++) {
        double *row = J + n * i;
        if (length <= limit) {
            P[i] = y[i];
            row[i] = 1.0;
            continue;
        }
        double direction = y[i] / length;
        P[i] = limit * direction;
        for (int k = 0; k < n; k++) row[k] = c->mu[group] * lift[k] * direction;
        for (int k = first; k < after; k++) {
            row[k] += limit / length * ((i == k ? 1.0 : 0.0) - direction * (y[k] / length));
        }
    }
}

/* The height of the projection under the convex law, and its derivative. */
static double convex_height(const contact *c, const double *y, double *lift)
{
    double P[MAX], weight = 1.0;
    memcpy(P, y, (size_t)c->size * sizeof *P);
    ss_friction_cone_project(c->cone, P);
    if (!(P[0] > 0.0)) return 0.0;
    lift[0] = 1.0;
    for (int group = 0; group < c->groups; group++) {
        double mu = c->mu[group], length = length_of(c, y, group);
        int first = c->first[group];
        if (length <= mu * P[0]) continue;
        weight += mu * mu;
        for (int k = first; k < first + c->count[group]; k++) lift[k] = mu * y[k] / length;
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
    P[0] = c->law == SS_LAW_CONE ? fmax(0.0, y[0]) : convex_height(c, y, lift);
    if (c->law == SS_LAW_CONE) lift[0] = y[0] > 0.0 ? 1.0 : 0.0;
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
    return ss_norm(n, F);
}

/* ---- Newton ----------------------------------------------------------------------------------------- */

/* Ends when |F| is down to the rounding of the terms it is made of. */
static bool newton(const contact *c, const double *q, double *r)
{
    int n = c->size;
    double F[MAX], J[MAX * MAX], trial[MAX], rest[MAX], load = ss_norm(n, q);
    for (int step = 0; step < NEWTON_STEPS; step++) {
        double error = evaluate(c, q, r, F, J), length = 1.0;
        if (error <= c->tolerance * (load + ss_norm(n, r))) return true;
        if (!ss_small_solve(n, J, 1, F)) return false;

        // The longest of 1, 1/2, 1/4, ... that makes |F| smaller.
        int halving = 0;
        for (; halving < HALVINGS; halving++, length *= 0.5) {
            for (int i = 0; i < n; i++) trial[i] = r[i] - length * F[i];
            if (evaluate(c, q, trial, rest, NULL) < (1.0 - 0.1 * length) * error) break;
        }
        if (halving == HALVINGS) return false;
        memcpy(r, trial, (size_t)n * sizeof *r);
    }
    return false;
}

/* ---- nested searches -------------------------------------------------------------------------------- */

/* Friction for a given normal impulse: one disc after the other, the other held. */
static void settle_discs(const contact *c, const double *q, double *r)
{
    int n = c->size;
    for (int pass = 0; pass < DISC_STEPS; pass++) {
        double moved = 0.0;
        for (int group = 0; group < c->groups; group++) {
            int first = c->first[group], count = c->count[group];
            double load[3], old[3], block[9];
            for (int i = 0; i < count; i++) {
                const double *row = c->a + n * (first + i);
                load[i] = q[first + i];
                old[i] = r[first + i];
                for (int j = 0; j < n; j++) {
                    if (j < first || j >= first + count)
                        load[i] += row[j] * r[j];
                    else
                        block[count * i + j - first] = row[j];
                }
            }
            (count == 3 ? ss_ball_solve : ss_disc_solve)(block, load, c->mu[group] * r[0], r + first);
            for (int i = 0; i < count; i++) moved = fmax(moved, fabs(r[first + i] - old[i]));
        }
        if (moved <= c->tolerance * ss_norm(n, r)) return;
    }
}

/* What must vanish: u_N or, under the convex law, u_N - mu |u_T| - mu_r |u_M|. */
static double normal_excess(const contact *c, const double *q, double n, double *r)
{
    double u[MAX];
    r[0] = n;
    settle_discs(c, q, r);
    velocity(c, q, r, u);
    for (int group = 0; group < c->groups && c->law != SS_LAW_CONE; group++) {
        u[0] -= c->mu[group] * length_of(c, u, group);
    }
    return u[0];
}

/* False position, halving the value of the end that stays (Illinois), in a bracket that was doubled open. */
static void search(const contact *c, const double *q, double *r)
{
    double low = 0.0, high = fmax(ss_norm(c->size, q), r[0]);
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

static void solve_contact(void *data, const double *q, double *r)
{
    const contact *c = data;
    int n = c->size;
    double load[MAX] = {0}, start[MAX] = {0}, scaled[MAX] = {0}, needed = 0.0;
    for (int i = 0; i < n; i++) {
        load[i] = q[i] / c->scale[i];
        start[i] = r[i] * c->scale[i];
        r[i] = 0.0;
    }

    // It takes off.
    for (int group = 0; group < c->groups && c->law != SS_LAW_CONE; group++)
        needed += c->mu[group] * length_of(c, load, group);
    if (load[0] >= needed) return;

    // It sticks, or slips.
    ss_small_balance(n, c->a, c->inverse, load, scaled);
    bool inside = scaled[0] >= 0.0;
    for (int group = 0; group < c->groups; group++)
        inside &= length_of(c, scaled, group) <= c->mu[group] * scaled[0];
    if (!inside) {
        memcpy(scaled, start, sizeof scaled);
        if (!newton(c, load, scaled)) {
            double found[MAX];
            ss_friction_cone_project(c->cone, scaled);
            search(c, load, scaled);
            memcpy(found, scaled, sizeof found);
            if (!newton(c, load, scaled)) memcpy(scaled, found, sizeof found);
        }
        ss_friction_cone_project(c->cone, scaled); // rounding
    }
    for (int i = 0; i < n; i++) r[i] = scaled[i] / c->scale[i];
}

bool ss_local_newton_create(const ss_block *block, const double *A, double tolerance, ss_arena *arena,
                            ss_local_cone *cone)
{
    contact *c = ss_arena_take(arena, 1, sizeof *c, "contacts");
    if (!c) return false;
    int n = block->size;
    c->law = block->law;
    c->size = n;
    c->groups = ss_cone_rolls(n) ? 2 : 1;
    c->first[0] = 1, c->count[0] = ss_cone_tangents(n);
    c->first[1] = ss_cone_rolling(n), c->count[1] = 2;
    c->tolerance = tolerance;
    c->scale[0] = sqrt(A[0]);
    for (int group = 0; group < c->groups; group++) {
        int first = c->first[group], after = first + c->count[group];
        double largest = 0.0;
        for (int i = first; i < after; i++) largest = fmax(largest, A[n * i + i]);
        for (int i = first; i < after; i++) c->scale[i] = sqrt(largest);
        c->mu[group] = ss_block_friction(block, first) * (c->scale[first] / c->scale[0]);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) c->a[n * i + j] = A[n * i + j] / c->scale[i] / c->scale[j];
    }
    c->cone = (ss_friction_cone){n, c->mu[0], c->mu[1]};
    ss_small_invert(n, c->a, c->inverse);
    *cone = (ss_local_cone){solve_contact, c};
    return true;
}
