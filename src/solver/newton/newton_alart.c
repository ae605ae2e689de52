#include "solver/newton/newton_alart.h"

#include <math.h>
#include <string.h>

#include "solver/newton/newton_natural.h"

/* ---- steps ------------------------------------------------------------------------------------------ */

/* The largest eigenvalue of the symmetric part of `count` (1 or 2) rows and columns from `at` on. */
static double largest_eigenvalue(const double *A, int size, int at, int count)
{
    double a = A[at * size + at];
    if (count == 1) return a;
    double b = A[(at + 1) * size + at + 1];
    double side = 0.5 * (A[at * size + at + 1] + A[(at + 1) * size + at]);
    return 0.5 * (a + b) + sqrt(0.25 * (a - b) * (a - b) + side * side);
}

bool ss_alart_create(const ss_newton_space *space, ss_alart_variant variant, double rho, ss_arena *arena,
                     ss_alart *alart)
{
    static const double least = 0.05; // a direction that hardly moves need not be pushed at once
    *alart = (ss_alart){.variant = variant, .rho = rho};
    alart->own_inverse = ss_arena_take(arena, (size_t)space->node_count, sizeof *alart->own_inverse, "steps");
    if (!alart->own_inverse) return false;
    for (int k = 0; k < space->node_count; k++) {
        const ss_newton_node *node = &space->nodes[k];
        double own[SS_NODE_MAX * SS_NODE_MAX], *inverse = alart->own_inverse[k];
        for (int part = 0; part < 3; part++) inverse[part] = 1.0;
        if (node->law != SS_LAW_CONE) continue;
        ss_newton_space_own(space, k, own);
        inverse[0] = fmax(own[0], least);
        inverse[1] = fmax(largest_eigenvalue(own, node->size, 1, node->size == 2 ? 1 : 2), least);
        if (node->size == 5) inverse[2] = fmax(largest_eigenvalue(own, node->size, 3, 2), least);
    }
    return true;
}

static double step_of(const ss_alart *alart, int k, int component, double alpha)
{
    int part = component == 0 ? 0 : component < 3 ? 1 : 2;
    return alart->rho / (alart->own_inverse[k][part] + alpha);
}

/* ---- maps ------------------------------------------------------------------------------------------- */

/* The discs of Jean and Moreau follow r_N: D gets the derivative of p by (r_N, y_T, y_M) in all rows
 * but the first. */
static void follow_impulse(const ss_newton_space *space, const ss_newton_node *node, const double *y,
                           const double *r, double *p, double *D)
{
    double mixed[SS_NODE_MAX];
    memcpy(mixed, y, (size_t)node->size * sizeof *y);
    mixed[0] = r[node->first];
    ss_newton_project(space, node, mixed, r, p, D);
    p[0] = fmax(0.0, y[0]);
}

/* Phi = r - p(y), its derivative dr - D (dr - rho du), but for the discs of Jean and Moreau dr -
 * D_N dr_N - ... */
static void alart_curnier(const ss_alart *alart, const ss_newton_space *space, int k, double alpha,
                          const double *r, const double *u, double *phi, double *F, double *B)
{
    const ss_newton_node *node = &space->nodes[k];
    int n = node->size;
    bool is_lagged = alart->variant == SS_JEAN_MOREAU;
    double y[SS_NODE_MAX] = {0}, p[SS_NODE_MAX], rho[SS_NODE_MAX];
    for (int i = 0; i < n; i++) {
        rho[i] = step_of(alart, k, i, alpha);
        y[i] = r[node->first + i] - rho[i] * u[node->first + i];
    }
    if (is_lagged)
        follow_impulse(space, node, y, r, p, F);
    else
        ss_newton_project(space, node, y, r, p, F);
    for (int i = 0; i < n; i++) phi[i] = r[node->first + i] - p[i];
    if (!F) return;
    if (is_lagged) F[0] = y[0] > 0.0 ? 1.0 : 0.0;
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
    double speed = count == 1 ? fabs(u[at]) : sqrt(u[at] * u[at] + u[at + 1] * u[at + 1]);
    if (isinf(mu)) return; // no slip then
    dual[0] += mu * speed;
    for (int i = at; i < at + count; i++) slope[i] = speed > 0.0 ? mu * u[i] / speed : 0.0;
}

static void de_saxce(const ss_alart *alart, const ss_newton_space *space, const ss_newton_node *node,
                     double alpha, const double *r, const double *u, double *phi, double *F, double *B)
{
    int n = node->size;
    double rho = alart->rho / (1.0 + alpha), dual[SS_NODE_MAX], slope[SS_NODE_MAX] = {0};
    ss_newton_node convex = *node;
    convex.law = SS_LAW_CONVEX;
    memcpy(dual, u + node->first, (size_t)n * sizeof *dual);
    add_speed(node->mu, 1, n == 2 ? 1 : 2, u + node->first, dual, slope);
    if (n == 5) add_speed(node->mu_rolling, 3, 2, u + node->first, dual, slope);
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

void ss_newton_alart(const ss_alart *alart, const ss_newton_space *space, int k, double alpha,
                     const double *r, const double *u, double *phi, double *F, double *B)
{
    const ss_newton_node *node = &space->nodes[k];
    if (node->law != SS_LAW_CONE)
        ss_newton_natural(space, node, 1.0 / (1.0 + alpha), r, u, phi, F, B);
    else if (alart->variant == SS_DE_SAXCE)
        de_saxce(alart, space, node, alpha, r, u, phi, F, B);
    else
        alart_curnier(alart, space, k, alpha, r, u, phi, F, B);
}
