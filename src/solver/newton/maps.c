#include "solver/newton/maps.h"

#include <math.h>
#include <string.h>

#include "linalg/lorentz.h"
#include "linalg/mat3.h"
#include "solver/core/law.h"

/* ---- natural map: rows ---------------------------------------------------------------------------- */

static void project_rows(const ss_space *space, const ss_node *node, const double *y, const double *r,
                         double *p, double *D)
{
    int n = node->size;
    for (int k = 0; k < n; k++) { // the partner comes first in its node
        int i = node->first + k, follows = space->partner[i], partner = follows - node->first;
        if (follows < 0 || partner < 0 || partner >= n) partner = -1; // not one of this node
        double limit =
            follows < 0 ? INFINITY : space->factor[i] * fabs(partner >= 0 ? p[partner] : r[follows]);
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

/* ---- natural map: cones --------------------------------------------------------------------------- */

static double norm(const double *v, int count)
{
    double third = count == 3 ? v[2] * v[2] : 0.0; // pure numbers: no overflow
    return count == 1 ? fabs(v[0]) : sqrt(v[0] * v[0] + v[1] * v[1] + third);
}

/* p = radius y / |y| on `count` components from `at` on; its derivative in y, and by `slope` in the normal
 * part, whose derivative is row 0 of D. */
static void cut_to_disc(int n, int at, int count, double length, double radius, double slope, const double *y,
                        double *p, double *D)
{
    double share = length > 0.0 ? radius / length : 0.0, t[3] = {0};
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

static void project_alart_curnier(const ss_node *node, const double *y, double *p, double *D)
{
    int n = node->size, m = ss_node_cone(node);
    p[0] = fmax(0.0, y[0]);
    if (D && y[0] > 0.0) D[0] = 1.0;
    project_disc(n, 1, ss_cone_tangents(m), node->mu, y, p, D);
    if (ss_cone_rolls(m)) project_disc(n, ss_cone_rolling(m), 2, node->mu_rolling, y, p, D);
}

/* The nearest point of K has the height x where (x - y_N) = sum over discs of mu max(0, |y_T| - mu x), see
 * problem/friction_cone.c. Which discs are cut decides it: x = (y_N + sum mu |y_T|) / (1 + sum mu^2). */
static void project_convex(const ss_node *node, const double *y, double *p, double *D)
{
    int n = node->size, m = ss_node_cone(node), discs = ss_cone_rolls(m) ? 2 : 1;
    const int first[2] = {1, ss_cone_rolling(m)}, count[2] = {ss_cone_tangents(m), 2};
    double mu[2] = {node->mu, node->mu_rolling},
           length[2] = {norm(y + 1, count[0]), discs == 2 ? norm(y + first[1], 2) : 0.0};
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
            for (int i = first[d]; i < first[d] + count[d]; i++)
                D[i] = mu[d] * y[i] / length[d] / denominator;
        }
    }
    for (int d = 0; d < discs; d++) {
        if (isinf(mu[d]) || (!is_cut[d] && p[0] > 0.0))
            keep(n, first[d], count[d], y, p, D);
        else
            cut_to_disc(n, first[d], count[d], length[d], fmin(length[d], mu[d] * p[0]), mu[d], y, p, D);
    }
}

/* ---- natural map: all of them --------------------------------------------------------------------- */

void ss_newton_project(const ss_space *space, const ss_node *node, const double *y, const double *r,
                       double *p, double *D)
{
    if (D) memset(D, 0, (size_t)(node->size * node->size) * sizeof *D);
    if (node->law == SS_LAW_CONE)
        project_alart_curnier(node, y, p, D);
    else if (node->law == SS_LAW_CONVEX)
        project_convex(node, y, p, D);
    else
        project_rows(space, node, y, r, p, D);
    // torsional friction beside a cone is Coulomb's under either law
    if (node->spins) project_disc(node->size, node->size - 1, 1, node->mu_spin, y, p, D);
}

void ss_newton_natural(const ss_space *space, const ss_node *node, double rho, const double *r,
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

double ss_newton_residual(const ss_space *space, double rho, const double *r, const double *u, double *phi)
{
    double sum = 0.0;
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        double own[SS_NODE_MAX];
        ss_newton_natural(space, node, rho, r, u, own, NULL, NULL);
        for (int i = 0; i < node->size; i++) {
            sum += own[i] * own[i];
            if (phi) phi[node->first + i] = own[i];
        }
    }
    return sqrt(sum);
}

/* ---- Fischer, Burmeister: rows -------------------------------------------------------------------- */

typedef struct fischer {
    double value, da, db;
} fischer;

/* phi(a, b) and an element of its generalised gradient; an infinite a gives b. */
static fischer evaluate(double a, double b)
{
    if (isinf(a)) return (fischer){b, 0.0, 1.0};
    double root = sqrt(a * a + b * b);
    if (!(root > 0.0)) return (fischer){0.0, 1.0 - sqrt(0.5), 1.0 - sqrt(0.5)};
    double value = a > 0.0 && b > 0.0 ? 2.0 * a * b / (a + b + root) : a + b - root;
    return (fischer){value, 1.0 - a / root, 1.0 - b / root};
}

static void rows(const ss_space *space, const ss_node *node, const double *r, const double *u, double *phi,
                 double *F, double *B)
{
    int n = node->size;
    for (int k = 0; k < n; k++) {
        int i = node->first + k, partner = space->partner[i];
        double limit = partner >= 0 ? space->factor[i] * fabs(r[partner]) : INFINITY;
        double lower = fmax(space->lower[i], -limit), upper = fmin(space->upper[i], limit);

        // phi(x - l, -phi(u - x, -w)), and d phi = by_x dx + by_lower dl + by_upper du + by_w dw
        fischer inner = evaluate(upper - r[i], -u[i]), outer = evaluate(r[i] - lower, -inner.value);
        double by_x = outer.da + outer.db * inner.da, by_w = outer.db * inner.db;
        double by_lower = -outer.da, by_upper = -outer.db * inner.da;
        phi[k] = outer.value;
        if (lower == upper) { // a fixed unknown
            phi[k] = r[i] - lower;
            by_x = 1.0, by_lower = -1.0, by_upper = by_w = 0.0;
        }
        if (!F) continue;
        F[k * n + k] = by_x;
        B[k * n + k] = by_w;
        bool is_own = partner >= node->first && partner < node->first + n;
        if (!is_own) continue;
        double slope = r[partner] < 0.0 ? -space->factor[i] : space->factor[i];
        double change = (lower == -limit ? -by_lower : 0.0) + (upper == limit ? by_upper : 0.0);
        F[k * n + partner - node->first] += change * slope;
    }
}

/* ---- Fischer, Burmeister: cones ------------------------------------------------------------------- */

/* (s o s + z o z)^1/2: its eigenvalues, and the unit vector its tail points to. */
typedef struct jordan_root {
    double large, small, axis[SS_LORENTZ_MAX];
} jordan_root;

static jordan_root root_of_squares(int n, const double *s, const double *z)
{
    jordan_root root = {0};
    double head = 0.0, length = 0.0;
    for (int i = 0; i < n; i++) head += s[i] * s[i] + z[i] * z[i];
    for (int i = 1; i < n; i++) {
        root.axis[i] = 2.0 * (s[0] * s[i] + z[0] * z[i]);
        length += root.axis[i] * root.axis[i];
    }
    length = sqrt(length);
    for (int i = 1; i < n; i++) root.axis[i] = length > 0.0 ? root.axis[i] / length : 0.0;
    if (!(head > 0.0)) return root;

    // det(s o s + z o z) as a sum of squares: the small eigenvalue keeps its digits where both points are on
    // the boundary.
    double ds = ss_lorentz_determinant(n, s), dz = ss_lorentz_determinant(n, z), inner = s[0] * z[0],
           mixed = 0.0;
    double cross = 0.0; // |s_1 x z_1|^2
    for (int i = 1; i < n; i++) {
        double part = s[0] * z[i] - z[0] * s[i];
        inner -= s[i] * z[i];
        mixed += part * part;
        for (int j = 1; j < i; j++) cross += (s[j] * z[i] - s[i] * z[j]) * (s[j] * z[i] - s[i] * z[j]);
    }
    double determinant = ds * ds + dz * dz + 2.0 * (inner * inner + mixed + cross);
    root.large = sqrt(head + length);
    root.small = fmin(sqrt(determinant) / root.large, root.large);
    return root;
}

static void vector_of(int n, jordan_root root, double *vector)
{
    vector[0] = 0.5 * (root.large + root.small);
    for (int i = 1; i < n; i++) vector[i] = 0.5 * (root.large - root.small) * root.axis[i];
}

/* x with root o x = a o e_j, for all j: the columns of the derivative of the root. */
static void divide_by_root(int n, jordan_root root, const double *a, double *Q)
{
    double vector[SS_LORENTZ_MAX];
    vector_of(n, root, vector);
    for (int j = 0; j < n; j++) {
        double b[SS_LORENTZ_MAX] = {a[j]}, cross = 0.0;
        if (j > 0) b[j] = a[0];
        for (int i = 1; j == 0 && i < n; i++) b[i] = a[i];
        for (int i = 1; i < n; i++) cross += vector[i] * b[i];
        Q[j] = (vector[0] * b[0] - cross) / (root.large * root.small);
        for (int i = 1; i < n; i++) Q[i * n + j] = (b[i] - Q[j] * vector[i]) / vector[0];
    }
}

static void lorentz(const ss_node *node, const double *r, const double *u, double *phi, double *F, double *B)
{
    int n = node->size;
    double mu = node->mu, s[SS_LORENTZ_MAX] = {mu * r[0]}, z[SS_LORENTZ_MAX] = {0}, t[SS_LORENTZ_MAX] = {0},
           vector[SS_LORENTZ_MAX], speed = 0.0;
    for (int i = 1; i < n; i++) {
        s[i] = r[i];
        z[i] = u[i];
        speed += u[i] * u[i];
    }
    speed = node->law == SS_LAW_CONE ? sqrt(speed) : 0.0;
    z[0] = u[0] / mu + speed;
    jordan_root root = root_of_squares(n, s, z);
    vector_of(n, root, vector);
    for (int i = 0; i < n; i++) phi[i] = s[i] + z[i] - vector[i];
    if (!F) return;

    // On the boundary the derivative does not exist: that of a root a hair inside stands for it.
    static const double hair = 1e-12, nothing = 1e-150;
    double S[SS_LORENTZ_MAX * SS_LORENTZ_MAX], Z[SS_LORENTZ_MAX * SS_LORENTZ_MAX];
    root.large = fmax(root.large, nothing);
    root.small = fmax(root.small, hair * root.large);
    divide_by_root(n, root, s, S);
    divide_by_root(n, root, z, Z);
    for (int i = 1; i < n; i++) t[i] = speed > 0.0 ? u[i] / speed : 0.0;
    for (int i = 0; i < n; i++) {
        double head = (i == 0 ? 1.0 : 0.0) - Z[i * n];
        for (int j = 0; j < n; j++) {
            double one = i == j ? 1.0 : 0.0;
            F[i * n + j] = (one - S[i * n + j]) * (j == 0 ? mu : 1.0);
            B[i * n + j] = j == 0 ? head / mu : one - Z[i * n + j] + head * t[j];
        }
    }
}

/* The natural map, and in a contact under Coulomb's law its normal row replaced. */
static void mixed(const ss_space *space, const ss_node *node, const double *r, const double *u, double *phi,
                  double *F, double *B)
{
    ss_newton_natural(space, node, 1.0, r, u, phi, F, B);
    if (node->law != SS_LAW_CONE) return;
    fischer normal = evaluate(r[node->first], u[node->first]);
    phi[0] = normal.value;
    if (!F) return;
    for (int j = 0; j < node->size; j++) F[j] = B[j] = 0.0;
    F[0] = normal.da;
    B[0] = normal.db;
}

void ss_newton_fischer(const ss_space *space, const ss_node *node, const double *r, const double *u,
                       double *phi, double *F, double *B)
{
    size_t bytes = (size_t)(node->size * node->size) * sizeof *F;
    if (F) memset(F, 0, bytes);
    if (F) memset(B, 0, bytes);
    bool is_lorentz = node->size <= SS_LORENTZ_MAX && !node->spins && node->mu > 0.0 && !isinf(node->mu);
    if (node->law == SS_LAW_BOX)
        rows(space, node, r, u, phi, F, B);
    else if (is_lorentz)
        lorentz(node, r + node->first, u + node->first, phi, F, B);
    else
        mixed(space, node, r, u, phi, F, B);
}

/* ---- Alart, Curnier and others: steps ------------------------------------------------------------- */

/* The largest eigenvalue of the symmetric part of `count` (1 to 3) rows and columns from `at` on. */
static double largest_eigenvalue(const double *A, int size, int at, int count)
{
    double a = A[at * size + at];
    if (count == 1) return a;
    if (count == 3) {
        double part[9], values[3];
        for (int k = 0; k < 9; k++) part[k] = A[(at + k / 3) * size + at + k % 3];
        ss_mat3_eigen(ss_mat3_symmetric_part(ss_mat3_load(part)), values, NULL);
        return values[2];
    }
    double b = A[(at + 1) * size + at + 1];
    double side = 0.5 * (A[at * size + at + 1] + A[(at + 1) * size + at]);
    return 0.5 * (a + b) + sqrt(0.25 * (a - b) * (a - b) + side * side);
}

bool ss_alart_create(const ss_space *space, ss_alart_variant variant, double rho, ss_arena *arena,
                     ss_alart *alart)
{
    static const double least = 0.05; // a direction that hardly moves need not be pushed at once
    *alart = (ss_alart){.variant = variant, .rho = rho};
    alart->own_inverse = ss_arena_take(arena, (size_t)space->node_count, sizeof *alart->own_inverse, "steps");
    if (!alart->own_inverse) return false;
    for (int k = 0; k < space->node_count; k++) {
        const ss_node *node = &space->nodes[k];
        double own[SS_NODE_MAX * SS_NODE_MAX], *inverse = alart->own_inverse[k];
        int m = ss_node_cone(node);
        for (int part = 0; part < SS_ALART_PARTS; part++) inverse[part] = 1.0;
        if (node->law != SS_LAW_CONE) continue;
        ss_space_own(space, k, own);
        inverse[0] = fmax(own[0], least);
        inverse[1] = fmax(largest_eigenvalue(own, node->size, 1, ss_cone_tangents(m)), least);
        if (ss_cone_rolls(m))
            inverse[2] = fmax(largest_eigenvalue(own, node->size, ss_cone_rolling(m), 2), least);
        if (node->spins) inverse[3] = fmax(own[node->size * node->size - 1], least);
    }
    return true;
}

/* ---- Alart, Curnier and others: maps -------------------------------------------------------------- */

/* Phi = r - p(y), its derivative dr - D (dr - rho du), but for the discs of Jean and Moreau dr -
 * D_N dr_N - ... */
static void alart_curnier(const ss_alart *alart, const ss_space *space, int k, double alpha, const double *r,
                          const double *u, double *phi, double *F, double *B)
{
    const ss_node *node = &space->nodes[k];
    int n = node->size, m = ss_node_cone(node);
    bool is_lagged = alart->variant == SS_JEAN_MOREAU;
    double y[SS_NODE_MAX] = {0}, p[SS_NODE_MAX], rho[SS_NODE_MAX];
    for (int i = 0; i < n; i++) {
        int part = i == 0 ? 0 : i <= ss_cone_tangents(m) ? 1 : i < m ? 2 : 3;
        rho[i] = alart->rho / (alart->own_inverse[k][part] + alpha);
        y[i] = r[node->first + i] - rho[i] * u[node->first + i];
    }
    double normal = y[0];
    if (is_lagged) y[0] = r[node->first]; // the discs of Jean and Moreau follow r_N
    ss_newton_project(space, node, y, r, p, F);
    if (is_lagged) p[0] = fmax(0.0, normal);
    for (int i = 0; i < n; i++) phi[i] = r[node->first + i] - p[i];
    if (!F) return;
    if (is_lagged) F[0] = normal > 0.0 ? 1.0 : 0.0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double D = F[i * n + j];
            B[i * n + j] = is_lagged && i > 0 && j == 0 ? 0.0 : D * rho[j];
            F[i * n + j] = (i == j ? 1.0 : 0.0) - D;
        }
    }
}

/* Adds mu |u| of `count` components from `at` on to u~_N; `slope` gets the derivative. */
static void add_speed(double mu, int at, int count, const double *u, double *dual, double *slope)
{
    double speed = norm(u + at, count);
    if (isinf(mu)) return; // no slip then
    dual[0] += mu * speed;
    for (int i = at; i < at + count; i++) slope[i] = speed > 0.0 ? mu * u[i] / speed : 0.0;
}

static void de_saxce(const ss_alart *alart, const ss_space *space, const ss_node *node, double alpha,
                     const double *r, const double *u, double *phi, double *F, double *B)
{
    int n = node->size, m = ss_node_cone(node);
    double rho = alart->rho / (1.0 + alpha), dual[SS_NODE_MAX], slope[SS_NODE_MAX] = {0};
    ss_node convex = *node;
    convex.law = SS_LAW_CONVEX;
    memcpy(dual, u + node->first, (size_t)n * sizeof *dual);
    add_speed(node->mu, 1, ss_cone_tangents(m), u + node->first, dual, slope);
    if (ss_cone_rolls(m)) add_speed(node->mu_rolling, ss_cone_rolling(m), 2, u + node->first, dual, slope);
    double y[SS_NODE_MAX] = {0}, p[SS_NODE_MAX];
    for (int i = 0; i < n; i++) y[i] = r[node->first + i] - rho * dual[i];
    ss_newton_project(space, &convex, y, r, p, F);
    for (int i = 0; i < n; i++) phi[i] = r[node->first + i] - p[i];
    for (int i = 0; F && i < n; i++) {
        double by_normal = F[i * n];
        for (int j = 0; j < n; j++) {
            double D = F[i * n + j];
            B[i * n + j] = rho * (D + by_normal * slope[j]);
            F[i * n + j] = (i == j ? 1.0 : 0.0) - D;
        }
    }
}

void ss_newton_alart(const ss_alart *alart, const ss_space *space, int k, double alpha, const double *r,
                     const double *u, double *phi, double *F, double *B)
{
    const ss_node *node = &space->nodes[k];
    if (node->law != SS_LAW_CONE)
        ss_newton_natural(space, node, 1.0 / (1.0 + alpha), r, u, phi, F, B);
    else if (alart->variant == SS_DE_SAXCE)
        de_saxce(alart, space, node, alpha, r, u, phi, F, B);
    else
        alart_curnier(alart, space, k, alpha, r, u, phi, F, B);
}
