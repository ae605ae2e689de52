/* How the interior point method goes on from a point that others have found. */
#include "solver/interior_parts.h"

#include <math.h>

enum { MAX = SS_LORENTZ_MAX };

void ss_parts_read_friction(ss_parts *parts)
{
    for (int p = 0; p < parts->count; p++) {
        ss_part *part = &parts->part[p];
        const ss_newton_node *node = &parts->space->nodes[part->node];
        if (part->size > 1) part->slope = part->tail == node->first + 1 ? node->mu : node->mu_rolling;
    }
}

/* s of s - z = a, s z = m */
static double split_number(double a, double m)
{
    double root = sqrt(a * a + 4.0 * m);
    return a > 0.0 ? 0.5 * (root + a) : 2.0 * m / (root - a);
}

/* The same in the algebra of the cone: number by number for the eigenvalues of a. */
static void split(ss_part *part, const double *a, double m)
{
    double length = 0.0;
    for (int i = 1; i < part->size; i++) length += a[i] * a[i];
    length = sqrt(length);
    double large = split_number(a[0] + length, m), small = split_number(a[0] - length, m);
    part->s[0] = 0.5 * (large + small);
    part->z[0] = 0.5 * (m / large + m / small);
    for (int i = 1; i < part->size; i++) {
        double along = length > 0.0 ? 0.5 * a[i] / length : 0.0;
        part->s[i] = (large - small) * along;
        part->z[i] = (m / large - m / small) * along;
    }
}

/* The z_0 that stands for the normal velocity of a contact, in units of its slope. */
static double dual_head(const ss_part *part, double normal, const double *tail)
{
    if (!(part->saxce > 0.0)) return normal;
    double square = 0.0;
    for (int i = 0; i < part->size - 1; i++) square += tail[i] * tail[i];
    if (normal < 0.0) return normal + sqrt(square); // no velocity of a solution: outside the cone as it is
    return 0.5 * (normal + sqrt(normal * normal + 4.0 * square));
}

static void resume_disc(ss_part *part, int sharing, double m, double *r, const double *u)
{
    double a[MAX] = {part->s[0] - dual_head(part, u[part->head] / (part->slope * sharing), u + part->tail)};
    for (int i = 1; i < part->size; i++) a[i] = part->s[i] - u[part->tail + i - 1];
    split(part, a, m);
    r[part->head] = fmax(r[part->head], part->s[0] / part->slope);
    for (int i = 1; i < part->size; i++) r[part->tail + i - 1] = part->s[i];
}

/* Where there are two bounds there is always room between them, though less than m may ask for. */
static void resume_bound(const ss_newton_space *space, ss_part *part, double m, double *r, const double *u)
{
    static const double away = 0.05;
    int i = part->head;
    double a[1] = {part->s[0] - part->slope * u[i]};
    split(part, a, m);
    r[i] = (part->s[0] + part->offset) / part->slope;
    double room = away * (space->upper[i] - space->lower[i]);
    if (room > 0.0 && isfinite(room)) r[i] = fmin(fmax(r[i], space->lower[i] + room), space->upper[i] - room);
    part->z[0] = fmax(part->z[0], m / fabs(part->slope * r[i] - part->offset));
}

void ss_parts_resume(ss_parts *parts, double m, double *r, const double *u)
{
    ss_parts_slacks(parts, r);
    for (int k = 0; k < parts->space->node_count; k++) {
        const ss_newton_node *node = &parts->space->nodes[k];
        int sharing = parts->first[k + 1] - parts->first[k];
        if (node->law != SS_LAW_BOX) r[node->first] = 0.0; // grows as its discs ask
        for (int p = parts->first[k]; p < parts->first[k + 1]; p++) {
            ss_part *part = &parts->part[p];
            if (part->size > 1)
                resume_disc(part, sharing, m, r, u);
            else
                resume_bound(parts->space, part, m, r, u);
        }
    }
}
