/* How the interior point method goes on from a point that others have found. */
#include "solver/newton/interior_cones.h"

#include <math.h>

enum { MAX = SS_LORENTZ_MAX };

void ss_interior_cones_read_friction(ss_interior_cones *cones)
{
    for (int p = 0; p < cones->count; p++) {
        ss_interior_cone *cone = &cones->cone[p];
        const ss_newton_node *node = &cones->space->nodes[cone->node];
        if (cone->size > 1) cone->slope = cone->tail == node->first + 1 ? node->mu : node->mu_rolling;
    }
}

/* s of s - z = a, s z = m */
static double split_number(double a, double m)
{
    double root = sqrt(a * a + 4.0 * m);
    return a > 0.0 ? 0.5 * (root + a) : 2.0 * m / (root - a);
}

/* The same in the algebra of the cone: number by number for the eigenvalues of a. */
static void split(ss_interior_cone *cone, const double *a, double m)
{
    double length = 0.0;
    for (int i = 1; i < cone->size; i++) length += a[i] * a[i];
    length = sqrt(length);
    double large = split_number(a[0] + length, m), small = split_number(a[0] - length, m);
    cone->s[0] = 0.5 * (large + small);
    cone->z[0] = 0.5 * (m / large + m / small);
    for (int i = 1; i < cone->size; i++) {
        double along = length > 0.0 ? 0.5 * a[i] / length : 0.0;
        cone->s[i] = (large - small) * along;
        cone->z[i] = (m / large - m / small) * along;
    }
}

/* The z_0 that stands for the normal velocity of a contact, in units of its slope. */
static double dual_head(const ss_interior_cone *cone, double normal, const double *tail)
{
    if (!(cone->saxce > 0.0)) return normal;
    double square = 0.0;
    for (int i = 0; i < cone->size - 1; i++) square += tail[i] * tail[i];
    if (normal < 0.0) return normal + sqrt(square); // no velocity of a solution: outside the cone as it is
    return 0.5 * (normal + sqrt(normal * normal + 4.0 * square));
}

static void resume_disc(ss_interior_cone *cone, int sharing, double m, double *r, const double *u)
{
    double a[MAX] = {cone->s[0] - dual_head(cone, u[cone->head] / (cone->slope * sharing), u + cone->tail)};
    for (int i = 1; i < cone->size; i++) a[i] = cone->s[i] - u[cone->tail + i - 1];
    split(cone, a, m);
    r[cone->head] = fmax(r[cone->head], cone->s[0] / cone->slope);
    for (int i = 1; i < cone->size; i++) r[cone->tail + i - 1] = cone->s[i];
}

/* Where there are two bounds there is always room between them, though less than m may ask for. */
static void resume_bound(const ss_newton_space *space, ss_interior_cone *cone, double m, double *r,
                         const double *u)
{
    static const double away = 0.05;
    int i = cone->head;
    double a[1] = {cone->s[0] - cone->slope * u[i]};
    split(cone, a, m);
    r[i] = (cone->s[0] + cone->offset) / cone->slope;
    double room = away * (space->upper[i] - space->lower[i]);
    if (room > 0.0 && isfinite(room)) r[i] = fmin(fmax(r[i], space->lower[i] + room), space->upper[i] - room);
    cone->z[0] = fmax(cone->z[0], m / fabs(cone->slope * r[i] - cone->offset));
}

void ss_interior_cones_resume(ss_interior_cones *cones, double m, double *r, const double *u)
{
    ss_interior_cones_slacks(cones, r);
    for (int k = 0; k < cones->space->node_count; k++) {
        const ss_newton_node *node = &cones->space->nodes[k];
        int sharing = cones->first[k + 1] - cones->first[k];
        if (node->law != SS_LAW_BOX) r[node->first] = 0.0; // grows as its discs ask
        for (int p = cones->first[k]; p < cones->first[k + 1]; p++) {
            ss_interior_cone *cone = &cones->cone[p];
            if (cone->size > 1)
                resume_disc(cone, sharing, m, r, u);
            else
                resume_bound(cones->space, cone, m, r, u);
        }
    }
}
