/* Life and checks of cone problems and their points. */
#include "problem/cone.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>

static double *reals(int count)
{
    return ss_allocate((size_t)count, sizeof(double));
}

static bool check_sizes(ss_cone_form form, int dimension, int contacts, int dofs, int equations,
                        ss_error *err)
{
    if (dimension != 2 && dimension != 3 && dimension != 5)
        return ss_fail(err, SS_ERROR_INPUT, "cone problem: dimension %d, must be 2, 3 or 5", dimension);
    if (contacts < 0 || dofs < 0 || equations < 0)
        return ss_fail(err, SS_ERROR_INPUT, "cone problem: %d contacts, %d dofs, %d equations: negative size",
                       contacts, dofs, equations);
    if (contacts > INT_MAX / dimension)
        return ss_fail(err, SS_ERROR_RESOURCES, "cone problem: %d contacts are too many", contacts);
    if (form == SS_CONE_LOCAL && dofs != 0)
        return ss_fail(err, SS_ERROR_INPUT, "cone problem: the local form has no dofs, got %d", dofs);
    return true;
}

ss_cone *ss_cone_create(ss_cone_form form, int dimension, int contacts, int dofs, int equations,
                        ss_error *err)
{
    if (!check_sizes(form, dimension, contacts, dofs, equations, err)) return NULL;
    ss_cone *cone = ss_allocate(1, sizeof *cone);
    if (cone) {
        *cone = (ss_cone){.form = form,
                          .dimension = dimension,
                          .contacts = contacts,
                          .dofs = dofs,
                          .equations = equations,
                          .mu = reals(contacts),
                          .mu_rolling = dimension == 5 ? reals(contacts) : NULL};
        bool good = cone->mu && (dimension != 5 || cone->mu_rolling);
        int m = ss_cone_size(cone);
        if (form == SS_CONE_LOCAL) {
            cone->q = reals(m);
            cone->s = reals(equations);
            good = good && cone->q && cone->s;
        } else {
            cone->f = reals(dofs);
            cone->w = reals(m);
            cone->b = reals(equations);
            good = good && cone->f && cone->w && cone->b;
        }
        if (good) return cone;
    }
    ss_cone_destroy(cone);
    ss_fail(err, SS_ERROR_RESOURCES, "cone problem: out of memory for %d contacts, %d dofs, %d equations",
            contacts, dofs, equations);
    return NULL;
}

void ss_cone_destroy(ss_cone *cone)
{
    if (!cone) return;
    double *vectors[] = {cone->mu, cone->mu_rolling, cone->q, cone->s, cone->f, cone->w, cone->b};
    ss_sparse *matrices[] = {cone->W, cone->V, cone->R, cone->M, cone->H, cone->G};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) ss_release(vectors[i]);
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) ss_sparse_destroy(matrices[i]);
    ss_release(cone);
}

/* ---- checks ----------------------------------------------------------------------------------------- */

typedef struct checker {
    const char *place;
    ss_findings *findings;
    bool good;
} checker;

SS_PRINTF(3, 4)
static void fault(checker *check, const char *name, const char *format, ...)
{
    char what[400], where[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    snprintf(where, sizeof where, "%s/%s", check->place, name);
    ss_findings_add(check->findings, SS_FINDING_FAULT, where, "%s", what);
    check->good = false;
}

static void fault_at(checker *check, const char *name, int index, double value, const char *must)
{
    char item[64];
    snprintf(item, sizeof item, "vectors/%s[%d]", name, index);
    fault(check, item, "%g, must be %s", value, must);
}

static void check_vector(checker *check, const char *name, const double *values, int count)
{
    char item[64];
    snprintf(item, sizeof item, "vectors/%s", name);
    if (!values) {
        fault(check, item, "is missing");
        return;
    }
    for (int i = 0; i < count; i++) {
        if (!isfinite(values[i])) fault_at(check, name, i, values[i], "finite");
    }
}

static void check_friction(checker *check, const char *name, const double *mu, int contacts)
{
    check_vector(check, name, mu, contacts);
    for (int i = 0; mu && i < contacts; i++) {
        if (isfinite(mu[i]) && mu[i] < 0.0) fault_at(check, name, i, mu[i], "0 or larger");
    }
}

static void check_matrix(checker *check, const char *name, const ss_sparse *matrix, int rows, int cols)
{
    ss_error error = {0};
    if (!matrix)
        fault(check, name, "is missing");
    else if (matrix->rows != rows || matrix->cols != cols)
        fault(check, name, "is %d x %d, must be %d x %d", matrix->rows, matrix->cols, rows, cols);
    else if (!ss_sparse_check(matrix, &error))
        fault(check, name, "%s", error.message);
}

static void check_absent(checker *check, const char *name, const void *part, const char *why)
{
    if (part) fault(check, name, "must be absent %s", why);
}

bool ss_cone_check(const ss_cone *cone, const char *place, ss_findings *findings)
{
    checker check = {place ? place : "", findings, true};
    ss_error error = {0};
    if (!check_sizes(cone->form, cone->dimension, cone->contacts, cone->dofs, cone->equations, &error)) {
        fault(&check, "spacedim", "%s", error.message);
        return false; // the sizes of everything else follow from these
    }
    check_friction(&check, "mu", cone->mu, cone->contacts);
    if (cone->dimension == 5)
        check_friction(&check, "mu_r", cone->mu_rolling, cone->contacts);
    else
        check_absent(&check, "vectors/mu_r", cone->mu_rolling, "unless the dimension is 5");

    int m = ss_cone_size(cone), n = cone->dofs, p = cone->equations;
    if (cone->form == SS_CONE_LOCAL) {
        check_matrix(&check, "W", cone->W, m, m);
        check_vector(&check, "q", cone->q, m);
        if (p == 0) {
            check_absent(&check, "V", cone->V, "without equations");
            check_absent(&check, "R", cone->R, "without equations");
        } else {
            check_matrix(&check, "V", cone->V, m, p);
            check_matrix(&check, "R", cone->R, p, p);
            check_vector(&check, "s", cone->s, p);
        }
    } else {
        check_matrix(&check, "M", cone->M, n, n);
        check_matrix(&check, "H", cone->H, n, m);
        check_vector(&check, "f", cone->f, n);
        check_vector(&check, "w", cone->w, m);
        if (p == 0) {
            check_absent(&check, "G", cone->G, "without equations");
        } else {
            check_matrix(&check, "G", cone->G, n, p);
            check_vector(&check, "b", cone->b, p);
        }
    }
    return check.good;
}

/* ---- points ----------------------------------------------------------------------------------------- */

bool ss_cone_point_create(const ss_cone *cone, ss_cone_point *point, ss_error *err)
{
    int m = ss_cone_size(cone);
    bool has_v = cone->form == SS_CONE_GLOBAL, has_l = cone->equations > 0;
    *point = (ss_cone_point){.u = reals(m),
                             .r = reals(m),
                             .v = has_v ? reals(cone->dofs) : NULL,
                             .l = has_l ? reals(cone->equations) : NULL};
    if (point->u && point->r && (point->v || !has_v) && (point->l || !has_l)) return true;
    ss_cone_point_free(point);
    return ss_fail(err, SS_ERROR_RESOURCES, "cone problem: out of memory for a point of %d contacts",
                   cone->contacts);
}

void ss_cone_point_free(ss_cone_point *point)
{
    ss_release(point->u);
    ss_release(point->r);
    ss_release(point->v);
    ss_release(point->l);
    *point = (ss_cone_point){0};
}
