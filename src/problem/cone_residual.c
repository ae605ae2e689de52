/* What follows from r and l by the linear equations, and how far that is from Coulomb's law. */
#include "linalg/vector.h"
#include "problem/cone.h"

#include <math.h>
#include <string.h>

/* The linear part of a problem evaluated at (r, l). Sizes m, m, n, p; v is not used in the local form. */
typedef struct state {
    double *u, *q, *v, *equation;
} state;

static bool make_state(const ss_cone *cone, state *at, ss_error *err)
{
    size_t m = (size_t)ss_cone_size(cone);
    *at = (state){.u = ss_allocate(m, sizeof(double)),
                  .q = ss_allocate(m, sizeof(double)),
                  .v = ss_allocate((size_t)cone->dofs, sizeof(double)),
                  .equation = ss_allocate((size_t)cone->equations, sizeof(double))};
    if (at->u && at->q && at->v && at->equation) return true;
    return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for a point of %d contacts", cone->contacts);
}

static void free_state(state *at)
{
    ss_release(at->u);
    ss_release(at->q);
    ss_release(at->v);
    ss_release(at->equation);
}

static void copy(double *to, const double *from, int count)
{
    if (count) memcpy(to, from, (size_t)count * sizeof *to);
}

/* Local: u = W r + V l + q, equation = V' r + R l + s. Global: q = H' M^-1 f + w; v = M^-1 (H r + G l + f),
 * u = H' v + w, equation = G' v + b. */
static bool evaluate(const ss_cone *cone, const double *r, const double *l, state *at, ss_error *err)
{
    int m = ss_cone_size(cone), n = cone->dofs, p = cone->equations;
    if (cone->form == SS_CONE_LOCAL) {
        copy(at->q, cone->q, m);
        copy(at->u, cone->q, m);
        ss_sparse_apply(cone->W, r, 1.0, at->u);
        if (p == 0) return true;
        ss_sparse_apply(cone->V, l, 1.0, at->u);
        copy(at->equation, cone->s, p);
        ss_sparse_apply_transposed(cone->V, r, 1.0, at->equation);
        ss_sparse_apply(cone->R, l, 1.0, at->equation);
        return true;
    }

    ss_block_lu *mass = ss_cone_factor_mass(cone, err);
    if (!mass) return false;
    copy(at->v, cone->f, n);
    bool good = ss_block_lu_solve(mass, at->v, err);
    copy(at->q, cone->w, m);
    if (good) ss_sparse_apply_transposed(cone->H, at->v, 1.0, at->q);

    copy(at->v, cone->f, n);
    ss_sparse_apply(cone->H, r, 1.0, at->v);
    if (p) ss_sparse_apply(cone->G, l, 1.0, at->v);
    good = good && ss_block_lu_solve(mass, at->v, err);
    ss_block_lu_destroy(mass);
    if (!good) return false;
    copy(at->u, cone->w, m);
    ss_sparse_apply_transposed(cone->H, at->v, 1.0, at->u);
    copy(at->equation, cone->b, p);
    if (p) ss_sparse_apply_transposed(cone->G, at->v, 1.0, at->equation);
    return true;
}

/* ---- residual --------------------------------------------------------------------------------------- */

static double relative(double size, double reference)
{
    return size / (reference > 0.0 ? reference : 1.0);
}

/* |r - P_K(r - u~)|^2 of one contact */
static double natural_map_squared(ss_friction_cone cone, const double *r, const double *u)
{
    double y[SS_CONE_DIMENSION], sum = 0.0;
    for (int i = 0; i < cone.dimension; i++) y[i] = u[i];
    ss_friction_cone_shift(cone, y);
    for (int i = 0; i < cone.dimension; i++) y[i] = r[i] - y[i];
    ss_friction_cone_project(cone, y);
    for (int i = 0; i < cone.dimension; i++) sum += (r[i] - y[i]) * (r[i] - y[i]);
    return sum;
}

static double natural_map(const ss_cone *cone, const double *r, const double *u, int *worst_contact)
{
    double sum = 0.0, worst = -1.0;
    *worst_contact = -1;
    for (int c = 0; c < cone->contacts; c++) {
        int first = c * cone->dimension;
        double square = natural_map_squared(ss_cone_contact(cone, c), r + first, u + first);
        sum += square;
        if (!(square <= worst)) { // NaN is the worst there is
            worst = isnan(square) ? INFINITY : square;
            *worst_contact = c;
        }
    }
    return sqrt(sum);
}

/* |M v - H r - G l - f| / |f| */
static bool balance(const ss_cone *cone, const ss_cone_point *point, double *residual, ss_error *err)
{
    double *defect = ss_allocate((size_t)cone->dofs, sizeof *defect);
    if (!defect) return ss_fail(err, SS_ERROR_RESOURCES, "out of memory for %d dofs", cone->dofs);
    copy(defect, cone->f, cone->dofs);
    ss_sparse_apply(cone->H, point->r, 1.0, defect);
    if (cone->equations) ss_sparse_apply(cone->G, point->l, 1.0, defect);
    ss_sparse_apply(cone->M, point->v, -1.0, defect);
    *residual = relative(ss_norm(cone->dofs, defect), ss_norm(cone->dofs, cone->f));
    ss_release(defect);
    return true;
}

bool ss_cone_residual_of(const ss_cone *cone, const ss_cone_point *point, ss_cone_residual *residual,
                         ss_error *err)
{
    *residual = (ss_cone_residual){.worst_contact = -1};
    if (!point->r || (cone->equations && !point->l))
        return ss_fail(err, SS_ERROR_USAGE, "residual: the point has no %s", point->r ? "l" : "r");
    state at;
    bool good = make_state(cone, &at, err) && evaluate(cone, point->r, point->l, &at, err);
    if (good) {
        int m = ss_cone_size(cone), p = cone->equations;
        const double *constant = cone->form == SS_CONE_GLOBAL ? cone->b : cone->s;
        double q = ss_norm(m, at.q);
        residual->natural_map = relative(natural_map(cone, point->r, at.u, &residual->worst_contact), q);
        residual->bilateral = p ? relative(ss_norm(p, at.equation), ss_norm(p, constant)) : 0.0;
        residual->velocity = point->u ? relative(ss_distance(m, point->u, at.u), q) : 0.0;
    }
    if (good && cone->form == SS_CONE_GLOBAL && point->v)
        good = balance(cone, point, &residual->balance, err);
    free_state(&at);
    return good;
}

/* ---- completing a point from r ---------------------------------------------------------------------- */

/* V' r + R l + s = 0 with l as unknown */
static bool solve_equations(const ss_cone *local, const double *r, double *l, ss_error *err)
{
    ss_block_lu *factor = ss_cone_factor_equations(local->R, SS_REDUNDANT_REGULARIZED, err);
    if (!factor) return false;
    for (int i = 0; i < local->equations; i++) l[i] = -local->s[i];
    ss_sparse_apply_transposed(local->V, r, -1.0, l);
    bool good = ss_block_lu_solve(factor, l, err);
    ss_block_lu_destroy(factor);
    return good;
}

bool ss_cone_point_evaluate(const ss_cone *cone, ss_cone_point *point, ss_error *err)
{
    state at;
    bool good = make_state(cone, &at, err) && evaluate(cone, point->r, point->l, &at, err);
    if (good) {
        copy(point->u, at.u, ss_cone_size(cone));
        if (point->v) copy(point->v, at.v, cone->dofs);
    }
    free_state(&at);
    return good;
}

bool ss_cone_point_complete(const ss_cone *cone, ss_cone_point *point, ss_error *err)
{
    bool good = true;
    if (cone->equations > 0 && cone->form == SS_CONE_LOCAL) {
        good = solve_equations(cone, point->r, point->l, err);
    } else if (cone->equations > 0) {
        ss_cone *local = ss_cone_to_local(cone, false, err);
        good = local && solve_equations(local, point->r, point->l, err);
        ss_cone_destroy(local);
    }
    return good && ss_cone_point_evaluate(cone, point, err);
}
