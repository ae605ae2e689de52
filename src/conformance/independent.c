#include "conformance/independent.h"

#include <math.h>

/* ---- w = A x + b ------------------------------------------------------------------------------------ */

static void exact_push(const ss_bodies_form *form, int body, const double *row, double x, long double *v)
{
    for (int i = 0; i < 3; i++) {
        v[6 * body + i] += (long double)form->inverse_mass[body] * row[i] * x;
        for (int k = 0; k < 3; k++)
            v[6 * body + 3 + i] += (long double)form->inverse_inertia[body][3 * i + k] * row[3 + k] * x;
    }
}

static int further_from(const ss_bodies_form *form, int row)
{
    return form->further_start ? form->further_start[row] : 0;
}

void ss_independent_w(const ss_problem *problem, const double *x, long double *w)
{
    const ss_sparse *A = problem->A;
    const ss_bodies_form *form = problem->bodies;
    for (int i = 0; i < problem->size; i++) w[i] = problem->b[i];
    if (!form) {
        for (int j = 0; j < A->cols; j++)
            for (int k = A->start[j]; k < A->start[j + 1]; k++)
                w[A->row[k]] += (long double)A->value[k] * x[j];
        return;
    }

    // Of bodies: what all impulses do to velocities, and what a row sees of that.
    long double *v = ss_allocate(6 * (size_t)form->bodies, sizeof *v);
    for (int i = 0; v && i < problem->size; i++) {
        for (int side = 0; side < 2; side++) {
            int body = form->pair[i][side];
            if (body >= 0) exact_push(form, body, form->jacobian[i] + 6 * side, x[i], v);
        }
        for (int e = further_from(form, i); e < further_from(form, i + 1); e++)
            exact_push(form, form->further_body[e], form->further_jacobian[e], x[i], v);
    }
    for (int i = 0; v && i < problem->size; i++) {
        w[i] += (long double)form->compliance[i] * x[i];
        for (int k = 0; k < 12; k++) {
            int body = form->pair[i][k / 6];
            if (body >= 0) w[i] += form->jacobian[i][k] * v[6 * body + k % 6];
        }
        for (int e = further_from(form, i); e < further_from(form, i + 1); e++) {
            for (int k = 0; k < 6; k++)
                w[i] += form->further_jacobian[e][k] * v[6 * form->further_body[e] + k];
        }
    }
    for (int i = 0; !v && i < problem->size; i++) w[i] = NAN; // out of memory: nothing is right then
    ss_release(v);
}

/* ---- conditions ------------------------------------------------------------------------------------- */

long double ss_independent_inverse_mass(const ss_problem *problem, int i)
{
    return problem->diagonal[i] > 0.0 ? problem->diagonal[i] : 1.0L;
}

static void blame(ss_violation *v, int unknown, const char *what, long double error)
{
    if ((double)error <= v->worst) return; // not so for NaN
    *v = (ss_violation){(double)error, unknown, what};
}

/* A speed w and an impulse x of which one has to be zero, as sqrt(J). */
static long double smaller(long double x, long double w, long double a)
{
    return fminl(x * sqrtl(a), w / sqrtl(a));
}

static void judge_row(const ss_problem *problem, const double *x, const long double *w, int i,
                      ss_violation *v)
{
    long double a = ss_independent_inverse_mass(problem, i), root = sqrtl(a), l = problem->lower[i],
                u = problem->upper[i];
    if (problem->partner[i] >= 0) {
        long double limit = (long double)problem->factor[i] * fabsl((long double)x[problem->partner[i]]);
        l = fmaxl(l, -limit);
        u = fminl(u, limit);
    }

    blame(v, i, "lower bound", (l - x[i]) * root);
    blame(v, i, "upper bound", (x[i] - u) * root);
    if (l == u) return;

    bool equation = isinf(l) && isinf(u);
    if (w[i] > 0.0L)
        blame(v, i, equation ? "an equation does not hold" : "positive w away from the lower bound",
              smaller(x[i] - l, w[i], a));
    if (w[i] < 0.0L)
        blame(v, i,
              equation   ? "an equation does not hold"
              : isinf(u) ? "negative w"
                         : "negative w away from the upper bound",
              smaller(u - x[i], -w[i], a));
    if (isnan(x[i]) || isnan(w[i])) blame(v, i, "not a number", INFINITY);
}

static long double length(const long double *t, int count)
{
    long double two = count == 1 ? fabsl(t[0]) : hypotl(t[0], t[1]);
    return count == 3 ? hypotl(two, t[2]) : two;
}

/* Friction of one kind, sliding or rolling: |r| <= mu r_N, and mu r_N u + |u| r = 0. */
static void judge_friction(const double *r, const long double *u, int count, long double mu,
                           long double normal, long double a, int unknown, ss_violation *v)
{
    long double force[3] = {0}, root = sqrtl(a), speed = length(u, count), error[3] = {0};
    for (int i = 0; i < count; i++) force[i] = r[i];
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

static void judge_cone(const ss_problem *problem, const ss_block *block, const double *x,
                       const long double *w, ss_violation *v)
{
    bool rolls = block->size > 4;
    int first = block->first, tangents = rolls ? block->size - 3 : block->size - 1, moments = 1 + tangents;
    const double *r = x + first;
    const long double *u = w + first;
    bool convex = block->law == SS_LAW_CONVEX;
    long double a = ss_independent_inverse_mass(problem, first), lift = 0.0L;
    if (convex && !isinf(block->mu)) lift += block->mu * length(u + 1, tangents);
    if (convex && rolls) lift += block->mu_rolling * length(u + moments, 2);

    long double normal = u[0] - lift;
    blame(v, first, "pull", -r[0] * sqrtl(a));
    blame(v, first, "approach", -normal / sqrtl(a));
    blame(v, first, "force at a contact that opens", smaller(r[0], normal, a));

    judge_friction(r + 1, u + 1, tangents, block->mu, r[0], ss_independent_inverse_mass(problem, first + 1),
                   first + 1, v);
    if (rolls)
        judge_friction(r + moments, u + moments, 2, block->mu_rolling, r[0],
                       ss_independent_inverse_mass(problem, first + moments), first + moments, v);
    for (int i = first; i < first + block->size; i++)
        if (isnan(x[i]) || isnan(w[i])) blame(v, i, "not a number", INFINITY);
}

long double ss_independent_load(const ss_problem *problem)
{
    long double load = 0.0L;
    for (int i = 0; i < problem->size; i++) {
        long double root = sqrtl(ss_independent_inverse_mass(problem, i));
        load = fmaxl(load, fabsl((long double)problem->b[i]) / root);
        if (problem->lower[i] > 0.0) load = fmaxl(load, problem->lower[i] * root);
        if (problem->upper[i] < 0.0) load = fmaxl(load, -problem->upper[i] * root);
    }
    return load > 0.0L ? load : 1.0L;
}

ss_violation ss_independent_judge(const ss_problem *problem, const double *x)
{
    ss_violation v = {0.0, -1, "none"};
    long double *w = ss_allocate((size_t)problem->size, sizeof *w);
    if (!w) return (ss_violation){INFINITY, -1, "out of memory"};
    ss_independent_w(problem, x, w);
    for (int k = 0; k < problem->block_count; k++) {
        const ss_block *block = &problem->blocks[k];
        if (block->law == SS_LAW_CONE || block->law == SS_LAW_CONVEX) {
            judge_cone(problem, block, x, w, &v);
            continue;
        }
        for (int i = block->first; i < block->first + block->size; i++) judge_row(problem, x, w, i, &v);
    }
    ss_release(w);
    v.worst = (double)(v.worst / ss_independent_load(problem));
    return v;
}

/* ---- rays ------------------------------------------------------------------------------------------- */

/* May an impulse grow along y without bound, whatever it was before? */
static const char *leaves_its_law(const ss_problem *problem, const ss_block *block, const double *y,
                                  double slack)
{
    if (block->law == SS_LAW_CONE || block->law == SS_LAW_CONVEX) {
        const double *r = y + block->first;
        bool rolls = block->size > 4;
        int tangents = rolls ? block->size - 3 : block->size - 1, moments = 1 + tangents;
        double tangent = tangents == 1   ? fabs(r[1])
                         : tangents == 2 ? hypot(r[1], r[2])
                                         : hypot(hypot(r[1], r[2]), r[3]);
        if (r[0] < -slack) return "pulls at a contact";
        if (!isinf(block->mu) && tangent > block->mu * r[0] + slack) return "leaves a friction cone";
        if (rolls && hypot(r[moments], r[moments + 1]) > block->mu_rolling * r[0] + slack)
            return "leaves a cone of rolling friction";
        return NULL;
    }
    for (int i = block->first; i < block->first + block->size; i++) {
        double low = problem->lower[i], high = problem->upper[i];
        if (isfinite(low) && y[i] < -slack) return "passes a lower bound";
        if (isfinite(high) && y[i] > slack) return "passes an upper bound";
        if (problem->partner[i] >= 0 &&
            fabs(y[i]) > problem->factor[i] * fabs(y[problem->partner[i]]) + slack)
            return "passes a bound that follows its partner";
    }
    return NULL;
}

const char *ss_independent_ray(const ss_problem *problem, const double *y)
{
    // Six digits of the largest impulse: rays are the limit of iterates.
    const double digits = 1e-6;
    long double largest = 0.0L, work = 0.0L, against = 0.0L, moved = 0.0L;
    long double *w = ss_allocate((size_t)problem->size, sizeof *w);
    if (!w) return "out of memory";
    ss_independent_w(problem, y, w);
    for (int i = 0; i < problem->size; i++) {
        long double root = sqrtl(ss_independent_inverse_mass(problem, i));
        largest = fmaxl(largest, fabsl((long double)y[i]) * root);
        moved = fmaxl(moved, fabsl(w[i] - problem->b[i]) / root);
        work += (long double)problem->b[i] * y[i];
        against += fabsl((long double)problem->b[i] * y[i]);
    }
    ss_release(w);

    if (!(largest > 0.0L) || isinf(largest)) return "zero, or not finite";
    if (!(moved <= digits * largest)) return "moves bodies";
    if (!(work < -digits * against)) return "does not oppose the load";
    double slack = 0.0;
    for (int i = 0; i < problem->size; i++) slack = fmax(slack, digits * fabs(y[i]));
    for (int k = 0; k < problem->block_count; k++) {
        const char *fault = leaves_its_law(problem, &problem->blocks[k], y, slack);
        if (fault) return fault;
    }
    return NULL;
}
