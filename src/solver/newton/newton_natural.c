#include "solver/newton/newton_natural.h"

#include <math.h>
#include <string.h>

/* ---- rows ------------------------------------------------------------------------------------------- */

/* Where a row's bounds come from, when they follow a partner. */
static double followed_limit(const ss_newton_space *space, const ss_newton_node *node, int i, const double *p,
                             const double *r, int *own_partner)
{
    int partner = space->partner[i];
    *own_partner = -1;
    if (partner < 0) return INFINITY;
    bool is_own = partner >= node->first && partner < node->first + node->size;
    if (is_own) *own_partner = partner - node->first;
    return space->factor[i] * fabs(is_own ? p[*own_partner] : r[partner]);
}

static void project_rows(const ss_newton_space *space, const ss_newton_node *node, const double *y,
                         const double *r, double *p, double *D)
{
    int n = node->size;
    for (int k = 0; k < n; k++) { // the partner comes first in its node
        int i = node->first + k, partner;
        double limit = followed_limit(space, node, i, p, r, &partner);
        double lower = fmax(space->lower[i], -limit), upper = fmin(space->upper[i], limit);
        p[k] = fmin(fmax(y[k], lower), upper);
        if (!D) continue;
        if (y[k] > lower && y[k] < upper) {
            D[k * n + k] = 1.0;
        } else if (partner >= 0 && fabs(p[k]) == limit) {
            double sense = (p[k] > 0.0) == (p[partner] > 0.0) ? 1.0 : -1.0;
            D[k * n + partner] = sense * space->factor[i] * D[partner * n + partner];
        }
    }
}

/* ---- cones ------------------------------------------------------------------------------------------ */

static double norm(const double *v, int count)
{
    return count == 1 ? fabs(v[0]) : sqrt(v[0] * v[0] + v[1] * v[1]); // pure numbers: no overflow
}

/* p = radius y / |y| on `count` components from `at` on; its derivative in y, and by `slope` in the normal
 * part, whose derivative is row 0 of D. */
static void cut_to_disc(int n, int at, int count, double length, double radius, double slope, const double *y,
                        double *p, double *D)
{
    double share = length > 0.0 ? radius / length : 0.0, t[2] = {0};
    for (int i = 0; i < count; i++) {
        t[i] = length > 0.0 ? y[at + i] / length : 0.0;
        p[at + i] = radius * t[i];
    }
    if (!D) return;
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < n; j++) D[(at + i) * n + j] = slope * t[i] * D[j];
        for (int j = 0; j < count; j++) {
            D[(at + i) * n + at + j] += share * ((i == j ? 1.0 : 0.0) - t[i] * t[j]);
        }
    }
}

static void keep(int n, int at, int count, const double *y, double *p, double *D)
{
    for (int i = 0; i < count; i++) {
        p[at + i] = y[at + i];
        if (D) D[(at + i) * n + at + i] = 1.0;
    }
}

static void project_disc(int n, int at, int count, double mu, const double *y, double *p, double *D)
{
    double length = norm(y + at, count), radius = isinf(mu) ? INFINITY : mu * p[0];
    if (length < radius || isinf(radius))
        keep(n, at, count, y, p, D);
    else
        cut_to_disc(n, at, count, length, radius, mu, y, p, D);
}

static void project_alart_curnier(const ss_newton_node *node, const double *y, double *p, double *D)
{
    int n = node->size;
    p[0] = fmax(0.0, y[0]);
    if (D && y[0] > 0.0) D[0] = 1.0;
    project_disc(n, 1, n == 2 ? 1 : 2, node->mu, y, p, D);
    if (n == 5) project_disc(n, 3, 2, node->mu_rolling, y, p, D);
}

/* The nearest point of K has the height x where (x - y_N) = sum over discs of mu max(0, |y_T| - mu x), see
 * problem/friction_cone.c. Which discs are cut decides it: x = (y_N + sum mu |y_T|) / (1 + sum mu^2). */
static void project_convex(const ss_newton_node *node, const double *y, double *p, double *D)
{
    int n = node->size, discs = n == 5 ? 2 : 1, count = n == 2 ? 1 : 2;
    double mu[2] = {node->mu, node->mu_rolling},
           length[2] = {norm(y + 1, count), n == 5 ? norm(y + 3, 2) : 0.0};
    bool is_cut[2] = {false, false};
    for (int d = 0; d < discs; d++) {
        int other = 1 - d;
        if (isinf(mu[d])) continue;
        double pull = discs == 2 && !isinf(mu[other])
                          ? mu[other] * fmax(0.0, mu[d] * length[other] - mu[other] * length[d])
                          : 0.0;
        is_cut[d] = length[d] - mu[d] * y[0] - pull > 0.0;
    }
    double numerator = y[0], denominator = 1.0;
    for (int d = 0; d < discs; d++) {
        if (!is_cut[d]) continue;
        numerator += mu[d] * length[d];
        denominator += mu[d] * mu[d];
    }
    p[0] = fmax(0.0, numerator / denominator);
    if (D && numerator > 0.0) {
        D[0] = 1.0 / denominator;
        for (int d = 0; d < discs; d++) {
            if (!is_cut[d] || !(length[d] > 0.0)) continue;
            for (int i = 0; i < count; i++)
                D[1 + 2 * d + i] = mu[d] * y[1 + 2 * d + i] / length[d] / denominator;
        }
    }
    for (int d = 0; d < discs; d++) {
        if (isinf(mu[d]) || (!is_cut[d] && p[0] > 0.0))
            keep(n, 1 + 2 * d, count, y, p, D);
        else
            cut_to_disc(n, 1 + 2 * d, count, length[d], fmin(length[d], mu[d] * p[0]), mu[d], y, p, D);
    }
}

/* ---- all of them ------------------------------------------------------------------------------------ */

void ss_newton_project(const ss_newton_space *space, const ss_newton_node *node, const double *y,
                       const double *r, double *p, double *D)
{
    if (D) memset(D, 0, (size_t)(node->size * node->size) * sizeof *D);
    if (node->law == SS_LAW_CONE)
        project_alart_curnier(node, y, p, D);
    else if (node->law == SS_LAW_CONVEX)
        project_convex(node, y, p, D);
    else
        project_rows(space, node, y, r, p, D);
}

void ss_newton_natural(const ss_newton_space *space, const ss_newton_node *node, double rho, const double *r,
                       const double *u, double *phi, double *F, double *B)
{
    int n = node->size;
    double y[SS_NODE_MAX] = {0}, p[SS_NODE_MAX];
    for (int i = 0; i < n; i++) y[i] = r[node->first + i] - rho * u[node->first + i];
    ss_newton_project(space, node, y, r, p, F);
    for (int i = 0; i < n; i++) phi[i] = r[node->first + i] - p[i];
    for (int i = 0; F && i < n * n; i++) {
        B[i] = rho * F[i];
        F[i] = (i % (n + 1) == 0 ? 1.0 : 0.0) - F[i];
    }
}

double ss_newton_residual(const ss_newton_space *space, double rho, const double *r, const double *u,
                          double *phi)
{
    double sum = 0.0;
    for (int k = 0; k < space->node_count; k++) {
        const ss_newton_node *node = &space->nodes[k];
        double own[SS_NODE_MAX];
        ss_newton_natural(space, node, rho, r, u, own, NULL, NULL);
        for (int i = 0; i < node->size; i++) {
            sum += own[i] * own[i];
            if (phi) phi[node->first + i] = own[i];
        }
    }
    return sqrt(sum);
}
