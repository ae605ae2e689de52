/* How far x is from solving a problem, computed from the problem's data in long double and without any code
 * of the library: bounds, signs, complementarity, cones and Coulomb's law, each apart. What the library
 * measures is only worth something if it agrees with this. */
#ifndef STICKSLIP_TEST_INDEPENDENT_H
#define STICKSLIP_TEST_INDEPENDENT_H

#include <stickslip/problem.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct verdict {
    double worst;     /* relative: in units of the load, both as sqrt(J) */
    int unknown;      /* where */
    const char *what; /* which condition */
} verdict;

/* ---- w = A x + b ------------------------------------------------------------------------------------ */

static inline void exact_by_matrix(const ss_problem *problem, const double *x, long double *w)
{
    const ss_sparse *A = problem->A;
    for (int j = 0; j < A->cols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) w[A->row[k]] += (long double)A->value[k] * x[j];
    }
}

static inline void exact_push(const ss_bodies_form *form, int body, const double *row, double x,
                              long double *v)
{
    for (int i = 0; i < 3; i++) {
        v[6 * body + i] += (long double)form->inverse_mass[body] * row[i] * x;
        for (int k = 0; k < 3; k++)
            v[6 * body + 3 + i] += (long double)form->inverse_inertia[body][3 * i + k] * row[3 + k] * x;
    }
}

static inline void exact_by_bodies(const ss_problem *problem, const double *x, long double *w)
{
    const ss_bodies_form *form = problem->bodies;
    long double *v = calloc(6 * (size_t)form->bodies + 1, sizeof *v);
    for (int i = 0; v && i < problem->size; i++) {
        for (int side = 0; side < 2; side++) {
            int body = form->pair[i][side];
            if (body >= 0) exact_push(form, body, form->jacobian[i] + 6 * side, x[i], v);
        }
    }
    for (int i = 0; v && i < problem->size; i++) {
        w[i] += (long double)form->compliance[i] * x[i];
        for (int k = 0; k < 12; k++) {
            int body = form->pair[i][k / 6];
            if (body >= 0) w[i] += form->jacobian[i][k] * v[6 * body + k % 6];
        }
    }
    free(v);
}

/* The bodies form first: A was made from it. */
static inline void exact_w(const ss_problem *problem, const double *x, long double *w)
{
    for (int i = 0; i < problem->size; i++) w[i] = problem->b[i];
    if (problem->bodies)
        exact_by_bodies(problem, x, w);
    else
        exact_by_matrix(problem, x, w);
}

/* ---- conditions ------------------------------------------------------------------------------------- */

/* 1/kg of a row; rows without any, as the sliding speed of Stewart and Trinkle, count as 1. */
static inline long double inverse_mass(const ss_problem *problem, int i)
{
    return problem->diagonal[i] > 0.0 ? problem->diagonal[i] : 1.0L;
}

static inline void blame(verdict *v, int unknown, const char *what, long double error)
{
    if ((double)error <= v->worst) return; // NaN goes on
    *v = (verdict){(double)error, unknown, what};
}

/* A speed w and an impulse x of which one has to be zero, as sqrt(J). */
static inline long double smaller(long double x, long double w, long double a)
{
    return fminl(x * sqrtl(a), w / sqrtl(a));
}

static inline void judge_row(const ss_problem *problem, const double *x, const long double *w, int i,
                             verdict *v)
{
    long double a = inverse_mass(problem, i), root = sqrtl(a), l = problem->lower[i], u = problem->upper[i];
    if (problem->partner[i] >= 0) {
        long double limit = (long double)problem->factor[i] * fabsl((long double)x[problem->partner[i]]);
        l = fmaxl(l, -limit);
        u = fminl(u, limit);
    }
    blame(v, i, "lower bound", (l - x[i]) * root);
    blame(v, i, "upper bound", (x[i] - u) * root);
    if (l == u) return;
    if (w[i] > 0.0L) blame(v, i, "positive w away from the lower bound", smaller(x[i] - l, w[i], a));
    if (w[i] < 0.0L) blame(v, i, "negative w away from the upper bound", smaller(u - x[i], -w[i], a));
    if (isnan(x[i]) || isnan(w[i])) blame(v, i, "not a number", INFINITY);
}

static inline long double length(const long double *t, int count)
{
    return count == 1 ? fabsl(t[0]) : hypotl(t[0], t[1]);
}

/* Friction of one kind, sliding or rolling: |r| <= mu r_N, and mu r_N u + |u| r = 0. */
static inline void judge_friction(const double *r, const long double *u, int count, long double mu,
                                  long double normal, long double a, int unknown, verdict *v)
{
    long double force[2] = {r[0], count > 1 ? r[1] : 0.0}, root = sqrtl(a), speed = length(u, count),
                error[2];
    if (isinf(mu)) {
        blame(v, unknown, "slip under endless friction", speed / root);
        return;
    }
    long double limit = mu * fmaxl(normal, 0.0L);
    blame(v, unknown, "friction outside the cone", (length(force, count) - limit) * root);
    long double size = fmaxl(limit * root, speed / root);
    if (size == 0.0L) return;
    for (int i = 0; i < count; i++) error[i] = (limit * u[i] + speed * force[i]) / size;
    blame(v, unknown, "friction not against the slip", length(error, count));
}

static inline void judge_cone(const ss_problem *problem, const ss_block *block, const double *x,
                              const long double *w, verdict *v)
{
    int first = block->first, tangents = block->size == 2 ? 1 : 2;
    const double *r = x + first;
    const long double *u = w + first;
    bool convex = block->law == SS_LAW_CONVEX;
    long double a = inverse_mass(problem, first), lift = 0.0L;
    if (convex && !isinf(block->mu)) lift += block->mu * length(u + 1, tangents);
    if (convex && block->size == 5) lift += block->mu_rolling * length(u + 3, 2);
    long double normal = u[0] - lift;
    blame(v, first, "pull", -r[0] * sqrtl(a));
    blame(v, first, "approach", -normal / sqrtl(a));
    blame(v, first, "force at a contact that opens", smaller(r[0], normal, a));
    judge_friction(r + 1, u + 1, tangents, block->mu, r[0], inverse_mass(problem, first + 1), first + 1, v);
    if (block->size == 5)
        judge_friction(r + 3, u + 3, 2, block->mu_rolling, r[0], inverse_mass(problem, first + 3), first + 3,
                       v);
    for (int i = first; i < first + block->size; i++)
        if (isnan(x[i]) || isnan(w[i])) blame(v, i, "not a number", INFINITY);
}

/* What has to be undone: the speeds at x = 0, and the impulses that bounds away from zero ask for. */
static inline long double load_of(const ss_problem *problem)
{
    long double load = 0.0L;
    for (int i = 0; i < problem->size; i++) {
        long double root = sqrtl(inverse_mass(problem, i));
        load = fmaxl(load, fabsl((long double)problem->b[i]) / root);
        if (problem->lower[i] > 0.0) load = fmaxl(load, problem->lower[i] * root);
        if (problem->upper[i] < 0.0) load = fmaxl(load, -problem->upper[i] * root);
    }
    return load > 0.0L ? load : 1.0L;
}

/* The worst of all conditions, relative to the load. */
static inline verdict judge_exactly(const ss_problem *problem, const double *x)
{
    verdict v = {0.0, -1, "none"};
    long double *w = calloc((size_t)problem->size + 1, sizeof *w);
    if (!w) return (verdict){INFINITY, -1, "out of memory"};
    exact_w(problem, x, w);
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (block->law == SS_LAW_CONE || block->law == SS_LAW_CONVEX) {
            judge_cone(problem, block, x, w, &v);
            continue;
        }
        for (int i = block->first; i < block->first + block->size; i++) judge_row(problem, x, w, i, &v);
    }
    free(w);
    v.worst = (double)(v.worst / load_of(problem));
    return v;
}

#endif
